package sched

import "testing"

// mechanisms.md 2, "Unit tests": utilization after one update that covers k
// full periods of running from zero, and after idling from there. 345 periods
// are the kernel's "for ever": the series has converged.
func TestUtilizationAfterFullPeriods(t *testing.T) {
	for _, c := range []struct{ periods, util int64 }{
		{1, 21}, {2, 43}, {4, 85}, {8, 162}, {16, 299}, {32, 512}, {64, 768}, {128, 960}, {345, 1023},
	} {
		a := afterRunning(c.periods)
		if a.utilAvg != c.util {
			t.Errorf("after %d busy periods: util %d, want %d", c.periods, a.utilAvg, c.util)
		}
	}
	for _, c := range []struct{ periods, util int64 }{{1, 1001}, {8, 860}, {16, 723}, {32, 511}, {64, 255}} {
		a := afterRunning(345)
		if a.accumulate(a.last+c.periods<<20, 0, 0, false) {
			a.refresh(nice0Weight)
		}
		if a.utilAvg != c.util {
			t.Errorf("after %d idle periods: util %d, want %d", c.periods, a.utilAvg, c.util)
		}
	}
}

func afterRunning(periods int64) Avg {
	var a Avg
	if a.accumulate(periods<<20, 1, 1, true) { // a period is 2^20 ns
		a.refresh(nice0Weight)
	}
	return a
}

func TestDecayForgetsAfter2016Periods(t *testing.T) {
	if got := decay(1<<40, peltForgotten+1); got != 0 {
		t.Errorf("decay after 2017 periods = %d, want 0", got)
	}
	if got := decay(1<<20, 32); got != 1<<19-1 { // the factor y^0 is stored as 0xffffffff
		t.Errorf("decay after 32 periods = %d, want %d", got, 1<<19-1)
	}
}
