package sched

import (
	"math"
	"testing"
)

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

// mechanisms.md 2, "Constants": y^n as a 32-bit fraction, y = (1/2)^(1/32). The
// entries that the text prints, and each rounded down from (2^32-1)·y^n.
func Test2_DecayFactors(t *testing.T) {
	for n, want := range map[int]uint32{
		0: 0xffffffff, 1: 0xfa83b2da, 2: 0xf5257d14, 3: 0xefe4b99a, 16: 0xb504f333, 31: 0x82cd8698,
	} {
		if decayFactors[n] != want {
			t.Errorf("y^%d is %08x, want %08x", n, decayFactors[n], want)
		}
	}
	for n, got := range decayFactors {
		exact := math.MaxUint32 * math.Exp2(-float64(n)/peltHalfLife)
		if want := uint32(exact); got != want {
			t.Errorf("y^%d is %d, want %d of %.2f", n, got, want, exact)
		}
	}
}

// mechanisms.md 2, "Constants": 47742 is where the series Σ 1024·y^n comes to
// rest in integers, each step losing what it truncates; the smallest divider
// lacks the current period.
func Test2_SeriesLimit(t *testing.T) {
	sum := int64(peltPeriod)
	for last := int64(0); sum != last; {
		last, sum = sum, decay(sum, 1)+peltPeriod
	}
	wantInt(t, "limit of the series", sum, 47742)
	wantInt(t, "which the averages are divided by", peltMax, 47742)
	wantInt(t, "smallest divider", peltMinDivider, 46718)
	wantInt(t, "periods until a value is nothing: 63·32", peltForgotten, 2016)
}

// mechanisms.md 2, "Update", steps 1 to 4, by hand. Time is counted in units of
// 1024 ns.
func Test2_UpdateSteps(t *testing.T) {
	var a Avg
	if a.accumulate(1023, 5, 2, true) || a.last != 0 || a.loadSum != 0 {
		t.Errorf("less than a unit: %+v, want nothing", a)
	}
	// 100 units within the first period: load 5·100, runnable 2·100·1024, 1024
	// for what runs.
	if a.accumulate(100<<10+7, 5, 2, true) {
		t.Error("no period has ended")
	}
	wantInt(t, "last moves by whole units", a.last, 100<<10)
	wantInt(t, "contributed so far", a.contrib, 100)
	wantInt(t, "load sum", a.loadSum, 500)
	wantInt(t, "runnable sum", a.runnableSum, 2*100<<10)
	wantInt(t, "utilization sum", a.utilSum, 100<<10)
	// 2000 units later: 2100 in all, two periods and 52. The 924 that filled the
	// first period are two periods old, y² = 0xf5257d14/2^32 = 0.957603; the one
	// full period between is 47742 - 47742·y² - 1024 = 47742-45717-1024 = 1001.
	// Of the old 500 478 are left.
	if !a.accumulate(2100<<10, 1, 1, false) {
		t.Error("periods have ended")
	}
	wantInt(t, "contributed to the third", a.contrib, 52)
	wantInt(t, "load sum: 478 + 884 + 1001 + 52", a.loadSum, 2415)
	// Runs no more: 102400 decays and nothing comes.
	wantInt(t, "utilization sum: 102400·y²", a.utilSum, 98_058)
	a.refresh(1024)
	// Dividers are 46718 + 52.
	wantInt(t, "load: 1024·2415/46770", a.loadAvg, 52)
	wantInt(t, "utilization: 98058/46770", a.utilAvg, 2)
	// A load of 0 neither waits nor runs, whatever else is said.
	before := a
	a.accumulate(2110<<10, 0, 7, true)
	if a.loadSum != before.loadSum || a.runnableSum != before.runnableSum || a.utilSum != before.utilSum || a.contrib != 62 {
		t.Errorf("without load: %+v, was %+v", a, before)
	}
	// A clock that runs back starts anew from there and changes no sum.
	if a.accumulate(5<<10, 1, 1, true) || a.last != 5<<10 || a.loadSum != before.loadSum || a.contrib != 62 {
		t.Errorf("back in time: %+v", a)
	}
}
