package stats

import (
	"math"
	"testing"
)

// published 4 -> 2 -> 1 (50 and 75 %), simulated 10 -> 6 -> 7 (40 and 30 %): the
// second column is worse than the first, so the order is not kept.
func TestUntestedSteps(t *testing.T) {
	row := NewRow("Average CPU Idle", "run 1", "percent", Lower, [][]float64{{10}, {6}, {7}})
	row.Attach(Beside{Benchmark: "while1", Better: Lower, Figures: []Published{
		{Column: 0, Value: 4, Baseline: true}, {Column: 1, Value: 2, Delta: 50, HasDelta: true}, {Column: 2, Value: 1, Delta: 75, HasDelta: true},
	}})
	table := Table{Benchmark: "while1", Environment: "nohz=on", Columns: []Column{{Variant: "tip"}, {Variant: "tweaks"}, {Variant: "nohz"}}, Rows: []Row{row}}
	rows := UntestedSteps([]Table{table})
	if len(rows) != 1 || len(rows[0].Steps) != 2 {
		t.Fatalf("got %+v", rows)
	}
	if rows[0].Kept || !rows[0].Published {
		t.Errorf("order kept: %v simulated, %v published; want only the published", rows[0].Kept, rows[0].Published)
	}
	for i, want := range []float64{0.8, 0.4} { // 40/50 and 30/75
		if got := rows[0].Steps[i]; math.Abs(got.Ratio-want) > 1e-9 || got.Environment != "nohz=on" {
			t.Errorf("step %d: %+v, want ratio %g", i, got, want)
		}
	}
}
