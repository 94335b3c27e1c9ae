package reference

import (
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/trace"
	"github.com/schedlab/schedlab/workload"
)

// Everything that can be named is in its document.
func TestEverythingIsNamed(t *testing.T) {
	pages, err := Pages()
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, p := range pages {
		text[p.File] = p.Text
	}
	need := func(file string, names ...string) {
		for _, name := range names {
			if !strings.Contains(text[file], name) {
				t.Errorf("%s lacks %s", file, name)
			}
		}
	}
	for _, k := range sched.Profiles() {
		need("kernels.md", "| `"+k.Name+"` |")
		for _, name := range k.Known.Names() {
			need("kernels.md", "| `"+name+"` |")
		}
		for _, name := range k.TunableNames() {
			if name != "nohz" { // a boot option, named in the text
				need("kernels.md", "| `"+name+"` |")
			}
		}
	}
	for _, b := range workload.List() {
		need("benchmarks.md", "## "+b.Name+"\n", strings.TrimSpace(b.Flags))
	}
	for _, m := range machine.Presets() {
		need("machines.md", "| `"+m.Name+"` | `"+m.Spec+"` |")
	}
	for _, p := range sim.CostParameters() {
		need("costs.md", "| `"+p.Name+"`")
	}
	for k := trace.KindOther + 1; int(k) < trace.NumKinds; k++ {
		if k != trace.KindLost {
			need("formats.md", "| `"+k.String()+"` |")
		}
	}
}

// What is listed is what simulations use, with its source.
func TestCostsAreThoseOfTheFiles(t *testing.T) {
	pages, err := Pages()
	if err != nil {
		t.Fatal(err)
	}
	var costs string
	for _, p := range pages {
		if p.File == "costs.md" {
			costs = p.Text
		}
	}
	for _, name := range sim.CostNames() {
		_, base, values, err := sim.CostListing(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := sim.LoadCosts(name)
		if err != nil {
			t.Fatal(err)
		}
		if base == "" && len(values) != len(sim.CostParameters()) {
			t.Errorf("%s has no base and lists %d of %d parameters", name, len(values), len(sim.CostParameters()))
		}
		for _, v := range values {
			if got, err := c.Parameter(v.Name); err != nil || got != v.Value {
				t.Errorf("%s: %s is listed as %d, used as %d (%v)", name, v.Name, v.Value, got, err)
			}
			if !strings.Contains(costs, strings.ReplaceAll(v.Source, "|", `\|`)) {
				t.Errorf("%s: the source of %s is missing", name, v.Name)
			}
		}
	}
}

// Bars in a cell must not end it.
func TestTablesEscapeBars(t *testing.T) {
	p := newPage("T", "i")
	p.row("a|b", "c\nd")
	if want := "| a\\|b | c d |\n"; !strings.HasSuffix(p.String(), want) {
		t.Errorf("%q, want it to end in %q", p.String(), want)
	}
}
