package sched

import "testing"

// mechanisms.md 2, "Unit tests": utilization after k full periods of running
// from zero, then of idling.
func TestUtilizationAfterFullPeriods(t *testing.T) {
	const period = 1 << 20 // ns
	run := map[int]int64{1: 21, 2: 43, 4: 85, 8: 162, 16: 299, 32: 512, 64: 768, 128: 960}
	idle := map[int]int64{1: 1001, 8: 860, 16: 723, 32: 511, 64: 255}
	var a Avg
	now := int64(0)
	for k := 1; k <= 4096; k++ {
		now += period
		if a.accumulate(now, 1, 1, true) {
			a.refresh(nice0Weight)
		}
		if want, ok := run[k]; ok && a.utilAvg != want {
			t.Errorf("after %d busy periods: util %d, want %d", k, a.utilAvg, want)
		}
	}
	if a.utilAvg != 1023 {
		t.Errorf("in the limit: util %d, want 1023", a.utilAvg)
	}
	for k := 1; k <= 64; k++ {
		now += period
		if a.accumulate(now, 0, 0, false) {
			a.refresh(nice0Weight)
		}
		if want, ok := idle[k]; ok && a.utilAvg != want {
			t.Errorf("after %d idle periods: util %d, want %d", k, a.utilAvg, want)
		}
	}
}

func TestDecayForgetsAfter2016Periods(t *testing.T) {
	if got := decay(1<<40, peltForgotten+1); got != 0 {
		t.Errorf("decay after 2017 periods = %d, want 0", got)
	}
	if got := decay(1<<20, 32); got != 1<<19-1 { // the factor y^0 is stored as 0xffffffff
		t.Errorf("decay after 32 periods = %d, want %d", got, 1<<19-1)
	}
}
