package experiment

import (
	"strings"
	"testing"

	"github.com/schedlab/schedlab/experiments"
	"github.com/schedlab/schedlab/stats"
)

// bandwidthIdle runs the document's four tables of the built-in experiment, with
// its quick repeats and runs of a sixth of their length.
func bandwidthIdle(t *testing.T) []stats.Table {
	t.Helper()
	_, text, err := experiments.File("bandwidth-idle")
	if err != nil {
		t.Fatal(err)
	}
	short := strings.ReplaceAll(string(text), "--time 60", "--time 10")
	plan := mustPlan(t, short, Options{Quick: true, Benchmarks: []string{"cpu-matrix", "while1"}})
	return mustExecute(t, plan, Simulator{}, RunOptions{}).Tables()
}

func TestBandwidthIdle(t *testing.T) {
	tables := bandwidthIdle(t)
	t.Run("tweaks reduce idle time", func(t *testing.T) { tweaksReduceIdleTime(t, tables) })
	t.Run("throttle states carry the step", func(t *testing.T) { throttleStatesCarryTheStep(t, tables) })
}

// In each table and run CPUs idle less with the tweaks, and the step is within a
// factor of 2 of the published one. The tickless balancer on top gains some
// percent over all runs in which CPUs are tickless, and changes nothing in the
// others; in a single short run that can be lost in the noise.
func tweaksReduceIdleTime(t *testing.T, tables []stats.Table) {
	rows := stats.UntestedSteps(tables)
	if len(rows) != 8 {
		t.Fatalf("%d rows stand beside a published line; the document has 4 tables of 2 runs", len(rows))
	}
	gain := 0.0
	for _, row := range rows {
		if len(row.Steps) != 2 {
			t.Fatalf("%+v: want the tweaks and the tweaks with the balancer", row)
		}
		tweaks, balancer := row.Steps[0], row.Steps[1]
		at := tweaks.Benchmark + " " + tweaks.Environment + " " + tweaks.Row
		gain += balancer.Simulated - tweaks.Simulated
		if tweaks.Environment == "nohz=off" && balancer.Simulated != tweaks.Simulated {
			t.Errorf("%s: %+.2f %% with the tweaks, %+.2f %% with the balancer, which has nothing to do", at, tweaks.Simulated, balancer.Simulated)
		}
		if tweaks.Ratio < 0.5 || tweaks.Ratio > 2 {
			t.Errorf("%s: the step is %.2f times the published one; want 0.5 to 2", at, tweaks.Ratio)
		}
	}
	if gain <= 0 {
		t.Errorf("the balancer changes the gain by %+.2f points over all runs; want more than none", gain)
	}
}

// What carries the step: without the throttle states little of it is left, and
// without the mended return it is smaller.
func throttleStatesCarryTheStep(t *testing.T, tables []stats.Table) {
	for _, table := range tables {
		row := &table.Rows[0]
		idle := map[string]float64{}
		for column, entry := range row.Entries {
			idle[table.Columns[column].Variant] = entry.Summary.Mean
		}
		step := idle["tip"] - idle["bandwidth-tweaks"]
		if without := idle["tip"] - idle["without-throttle-states"]; without > step/2 {
			t.Errorf("%s: %.2f points without throttle states, %.2f with them; want less than half", table.Environment, without, step)
		}
		if idle["without-return-fix"] <= idle["bandwidth-tweaks"] {
			t.Errorf("%s: idle %.2f %% without the mended return, %.2f %% with it", table.Environment, idle["without-return-fix"], idle["bandwidth-tweaks"])
		}
	}
}
