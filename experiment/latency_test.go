package experiment

import (
	"context"
	"testing"

	"github.com/schedlab/schedlab/stats"
)

// Each repeat waits 10 ns once, and variant "new" once more for 1 ms: two repeats
// make two and four latencies. A repeat without a histogram leaves the variant
// without one.
func TestLatenciesArePooledOverRepeats(t *testing.T) {
	runner := &fakeRunner{run: func(_ context.Context, c *Cell) (*Outcome, error) {
		o := fakeOutcome(c)
		if c.Row == "2" && c.Variant == "old" && c.Repeat == 2 {
			return o, nil
		}
		o.Latency = &stats.Latency{}
		o.Latency.Add(10, 1)
		if c.Variant == "new" {
			o.Latency.Add(1_000_000, 1)
		}
		return o, nil
	}}
	tables := mustExecute(t, mustPlan(t, sisExperiment, Options{}), runner, RunOptions{}).Tables()
	lines := tables[0].Latencies
	if len(lines) != 2 || lines[0].Label != "1" || lines[1].Label != "2" {
		t.Fatalf("%+v", lines)
	}
	first := lines[0].ByColumn
	if first[0].Count() != 2 || first[0].Max() != 10 || first[1].Count() != 4 || first[1].Max() != 1_000_000 {
		t.Errorf("%d up to %d ns, %d up to %d ns", first[0].Count(), first[0].Max(), first[1].Count(), first[1].Max())
	}
	if second := lines[1].ByColumn; second[0] != nil || second[1] == nil {
		t.Errorf("row 2: %v", second)
	}
}

// The journal keeps what a simulation says of its wakeups: as many as the
// simulator counts, none longer than the run.
func TestSimulationsKeepTheirLatencies(t *testing.T) {
	plan := mustPlan(t, sisExperiment, Options{})
	cell := &plan.Cells[0]
	o, err := Simulator{}.Run(context.Background(), cell)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSimulation(cell)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if o.Latency.Count() != result.WakeLatency.TotalCount() || o.Latency.Count() == 0 {
		t.Errorf("%d latencies of %d", o.Latency.Count(), result.WakeLatency.TotalCount())
	}
	if o.Span != result.End || o.Latency.Max() > o.Span {
		t.Errorf("%d ns simulated of %d, longest wait %d", o.Span, result.End, o.Latency.Max())
	}
	for _, percent := range []float64{50, 90, 99} {
		exact := float64(result.WakeLatency.ValueAtQuantile(percent))
		if got := float64(o.Latency.Percentile(percent)); got < exact*0.99 || got > exact*(1+1.0/16)*1.01 {
			t.Errorf("%v percent within %v ns, the histogram says %v", percent, got, exact)
		}
	}
}
