package report

import (
	"fmt"

	"github.com/schedlab/schedlab/stats"
)

// steps writes how large each published change is beside the simulated one, for
// a document without significance tests, and whether the variants stand in the
// document's order.
func (t *textWriter) steps(rows []stats.StepRow) {
	const layout = "%-36s %-8s %-27s %10s %10s %7s"
	t.line("")
	t.line(fmt.Sprintf(layout, "change, simulated : published", "row", "variant", "published", "simulated", "ratio"))
	for i := range rows {
		for _, s := range rows[i].Steps {
			t.line(fmt.Sprintf(layout, place(s.Benchmark, s.Environment), shownLabel(s.Row), s.Variant,
				fmt.Sprintf("%+.2f %%", s.Published), fmt.Sprintf("%+.2f %%", s.Simulated), ratio(s.Ratio)))
		}
	}
	t.wrapped(stepSentence(rows), "  ")
}

func stepSentence(rows []stats.StepRow) string {
	all := stats.TotalSteps(rows)
	return fmt.Sprintf("%d of %d changes are within a factor of 2 of the document's. In %d of %d rows no variant is worse "+
		"than the one before it, in the document's order (in the document itself: %d).",
		all.Within, all.Steps, all.Kept, all.Rows, all.Published)
}
