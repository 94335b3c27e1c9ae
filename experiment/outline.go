package experiment

import (
	"fmt"

	"github.com/schedlab/schedlab/internal/suggest"
	"github.com/schedlab/schedlab/stats"
)

// Benchmarks lists the names of the experiment's benchmarks, in the order of the
// file.
func (x *Experiment) Benchmarks() []string { return x.benchmarkNames() }

// Outline lists the tables that the experiment makes, in their order, without
// their rows and columns.
func (x *Experiment) Outline() []stats.Table {
	plan := Plan{experiment: x}
	var tables []stats.Table
	for _, m := range plan.machines() {
		for b := range x.benchmarks {
			if !x.benchmarks[b].runsOn(m) {
				continue
			}
			for e := range x.environments {
				tables = append(tables, stats.Table{Machine: machineLabel(m.value), Benchmark: x.benchmarks[b].name.value,
					Environment: x.environments[e].name.value})
			}
		}
	}
	return tables
}

// AttachPublished puts the published lines beside a table that was rebuilt from
// results of this experiment. The error is for a variant that the experiment
// does not have.
func (x *Experiment) AttachPublished(t *stats.Table) error {
	for _, c := range t.Columns {
		if names := x.variantNames(); !contains(names, c.Variant) {
			return fmt.Errorf("%s [%s] has a variant %q, which %s has not; %s",
				t.Benchmark, t.Environment, c.Variant, x.Name(), suggest.DidYouMean(c.Variant, names))
		}
	}
	if x.published != nil {
		x.published.attach(t)
	}
	return nil
}
