package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/stats"
)

// Published +10 % (starred) and -2 %, simulated +5 % and +1 %: the starred
// sign is right, the ratio 0.5; the baseline 1.0 s of 1.1 s is within 25 %.
func TestPredictionSummary(t *testing.T) {
	table := stats.Table{Benchmark: "hackbench-process-pipes", Environment: "quiet",
		Columns: []stats.Column{{Variant: "vanilla"}, {Variant: "filter"}}}
	for _, c := range []struct {
		label                string
		simulated, published float64
		starred              bool
	}{{"12", 0.95, 10, true}, {"48", 0.99, -2, false}} {
		row := stats.NewRow("Amean", c.label, "seconds", stats.Lower, [][]float64{{1}, {c.simulated}})
		row.Attach(stats.Beside{Unit: "seconds", Better: stats.Lower, Figures: []stats.Published{
			{Column: 0, Variant: "vanilla", Value: 1.1, Baseline: true},
			{Column: 1, Variant: "filter", Value: 1, Delta: c.published, HasDelta: true, Significant: c.starred}}})
		table.Rows = append(table.Rows, row)
	}
	var out bytes.Buffer
	if err := Prediction(&out, []stats.Table{table}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "  Right sign: starred cells of the document (without stars: ") {
		t.Errorf("the notes are not wrapped at the page's width:\n%s", out.String())
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"hackbench-process-pipes [quiet] 2 of 2 1.10 ",
		"hackbench-process-pipes [quiet] filter 1/1 100% 1/1 100% - +0.50 ",
		"hackbench-process-pipes [quiet] 12 filter *+10.00 % +5.00 % ",
		"hackbench-process-pipes [quiet] 48 filter -2.00 % +1.00 %",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

// Without published lines there is nothing to say.
func TestPredictionSummaryOfNothing(t *testing.T) {
	var out bytes.Buffer
	table := stats.Table{Columns: []stats.Column{{}}, Rows: []stats.Row{stats.NewRow("Amean", "1", "seconds", stats.Lower, [][]float64{{1}})}}
	if err := Prediction(&out, []stats.Table{table}); err != nil || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
}
