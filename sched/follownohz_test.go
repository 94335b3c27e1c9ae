package sched

import "testing"

// halfLife is that of averages, in ns.
const halfLife = peltHalfLife * peltPeriod << 10

// blockedLoad makes CPU 2 idle since 1,000 ms with a load of 1,024 that has
// blocked, seen as busy until then.
func blockedLoad(t *testing.T, kernel string) *Follower {
	t.Helper()
	f := newFollowed(t, kernel)
	f.TickByHand()
	p := f.runner(1, 2)
	f.SetHidden(p, Hidden{Load: 1024, Util: 1024}, true)
	f.SetLoad(2, 1024)
	f.Switch(2, p, nil, LeavesBlocked)
	return f
}

func near(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got < want-12 || got > want+12 {
		t.Errorf("%s: load %d, want about %d", what, got, want)
	}
}

// An idle load balancer that has nothing to balance was woken for the loads:
// a half-life halves that of CPU 2, which has stopped its tick. The next such softirq
// after half of one was for something else.
func TestAnIdleBalancerWithoutPassesDecaysLoads(t *testing.T) {
	f := blockedLoad(t, "v6.1")
	f.Advance(1_000*msec + halfLife)
	near(t, "before", f.s.Load(2), 1024)
	f.WokenForLoads(0)
	near(t, "after a half-life", f.s.Load(2), 512)
	f.Advance(1_000*msec + 3*halfLife/2)
	f.WokenForLoads(0)
	near(t, "half of one later", f.s.Load(2), 512)
	f.Advance(1_000*msec + 3*halfLife)
	f.WokenForLoads(0)
	near(t, "two later", f.s.Load(2), 128)
	check(t, f)
}

// A CPU whose tick goes on updates its load itself.
func TestATickingCPUIsLeftAlone(t *testing.T) {
	f := blockedLoad(t, "v6.1")
	f.Advance(1_016 * msec)
	f.Softirq(2)
	f.Advance(1_020 * msec)
	f.WokenForLoads(0)
	if f.s.rqs[2].nohz.tickStopped {
		t.Error("CPU 2 had its tick 4 ms before")
	}
	f.Advance(1_000*msec + halfLife)
	f.BalancedByOther(0, 1)
	if !f.s.rqs[2].nohz.tickStopped {
		t.Error("CPU 2 has shown no tick for 16 ms")
	}
	near(t, "after a half-life", f.s.Load(2), 512)
}

// On v5.10 a CPU that falls idle without a search does it, too.
func TestFallingIdleDecaysLoads(t *testing.T) {
	for kernel, want := range map[string]int64{"v5.10": 512, "v6.1": 1024} {
		f := blockedLoad(t, kernel)
		f.s.rqs[0].avgIdle = 10 * msec
		q := f.runner(2, 0)
		f.Advance(1_000*msec + halfLife)
		f.noteTickless()
		f.Switch(0, q, nil, LeavesBlocked)
		near(t, kernel, f.s.Load(2), want)
	}
}
