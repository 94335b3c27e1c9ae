package reference

import (
	"strconv"
	"strings"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/workload"
)

func benchmarksPage() Page {
	p := newPage("Benchmarks",
		"Command lines of the real tools, for `schedlab run`, an experiment's `run:` and its background jobs. What each simulates is\nin [workload.md](../workload.md) and [ipc-and-benchmarks.md](../ipc-and-benchmarks.md).")
	for _, b := range workload.List() {
		p.heading("%s", b.Name)
		p.line("%s", b.Summary)
		if len(b.Aliases) > 0 {
			p.line("\nAlso called %s.", codes(b.Aliases))
		}
		if strings.TrimSpace(b.Flags) != "" {
			p.line("")
			p.block(b.Flags)
		}
	}
	return Page{"benchmarks.md", "Benchmarks", "their flags, which are those of the real tools", p.String()}
}

func machinesPage() Page {
	p := newPage("Machines",
		"What `--machine` and an experiment's `machine:` take: a spec, a preset or a file. `2n24c2t` is 2 nodes, 24 cores a node and 2\n"+
			"threads a core; `2n4l6c2t` has 4 last-level caches a node with 6 cores each. Files are in [machine.md](../machine.md).\n")
	p.table("preset", "spec", "where its figures come from")
	for _, m := range machine.Presets() {
		p.row(code(m.Name), code(m.Spec), m.Source)
	}
	return Page{"machines.md", "Machines", "presets of published measurements, and how any other is named", p.String()}
}

func costsPage() (Page, error) {
	p := newPage("Cost parameters",
		"What everything costs that is not a task's own work: `--costs` takes a file of these names or one of your own, `--cost NAME=VALUE`\n"+
			"changes one. A cost file named after a machine is that machine's, `default` is all others'. When a number may change is in\n"+
			"[RATIONALE.md](../../RATIONALE.md#costs-and-when-they-may-change); parameters marked * are paid by patched kernels alone and are never fitted.")
	for _, name := range sim.CostNames() {
		description, base, values, err := sim.CostListing(name)
		if err != nil {
			return Page{}, err
		}
		p.heading("%s", name)
		p.line("%s", description)
		if base != "" {
			p.line("\nWhat is not in the table is as in `%s`.", base)
		}
		p.line("")
		p.table("parameter", "value", "unit", "source")
		for _, v := range values {
			parameter := code(v.Name)
			if v.Frozen {
				parameter += " *"
			}
			p.row(parameter, strconv.FormatInt(v.Value, 10), v.Unit, v.Source)
		}
	}
	return Page{"costs.md", "Cost parameters", "every number that time depends on, with its unit and source", p.String()}, nil
}
