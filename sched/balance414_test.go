package sched

import "testing"

// Smoothed loads: load[i] goes 1/2^i of the way at each tick, rounded up when
// it rises. From 0 with a load of 1024: (0+1024+1)/2 = 512, (3·0+1024+3)/4 =
// 256; again: (512+1025)/2 = 768, (768+1027)/4 = 448; load 0: 384, 336.
func TestLoadHistory(t *testing.T) {
	h := loadHistory{at: 9}
	for i, step := range []struct {
		load int64
		want [3]int64
	}{
		{1024, [3]int64{1024, 512, 256}},
		{1024, [3]int64{1024, 768, 448}},
		{0, [3]int64{0, 384, 336}},
	} {
		h.record(int64(10+i), step.load)
		if h.load != step.want {
			t.Errorf("after load %d: %v, want %v", step.load, h.load, step.want)
		}
	}
	// Three jiffies without a tick decay as idle: 384 -> 48, 336 -> 252 -> 189 ->
	// 141; then a tick without load: 24, 105.
	h.record(16, 0)
	if want := [3]int64{0, 24, 105}; h.load != want {
		t.Errorf("after a pause: %v, want %v", h.load, want)
	}
	h.record(100, 0)
	if want := [3]int64{}; h.load != want {
		t.Errorf("after 83 idle jiffies: %v, want none", h.load)
	}
}

// The local group counts the higher, another the lower of the two loads.
func TestLoadEstimatesAreBiased(t *testing.T) {
	h := loadHistory{load: [3]int64{1, 700, 300}}
	for _, c := range []struct {
		idx    int32
		larger bool
		want   int64
	}{{0, true, 500}, {2, true, 700}, {2, false, 500}, {3, true, 500}, {3, false, 300}} {
		if got := h.biased(500, c.idx, c.larger); got != c.want {
			t.Errorf("index %d, larger %v: %d, want %d", c.idx, c.larger, got, c.want)
		}
	}
}

// Which smoothing a pass uses: NUMA busy 3, idle 2 (5.3); newidle none.
func TestLoadIndexByIdleType(t *testing.T) {
	l := newBalanceLab(t, "v4.14", balanceMachine(2, 4, 1))
	for idle, want := range map[IdleType]int32{NotIdle: 3, Idle: 2, NewlyIdle: 0} {
		if got := l.env(0, "NUMA", idle).loadIndex(); got != want {
			t.Errorf("%s: index %d, want %d", idle, got, want)
		}
	}
}

// PREFER_SIBLING: the threads of a core do not keep two tasks when the local
// core has room, although neither core is overloaded by itself.
func TestPreferSiblingMakesOverloaded(t *testing.T) {
	l := newBalanceLab(t, "v4.14", balanceMachine(1, 2, 2)) // cores {0,2} {1,3}
	l.spin(0, 1)
	l.spin(2, 1)
	env := l.env(1, "MC", Idle)
	l.collectDomain414(env, &env.stats414)
	if b := &env.stats414.busiest; !b.full || b.kind != groupOverloaded {
		t.Errorf("core with two tasks is %s", b.kind)
	}
	// With one task here the rule asks for more than one task of difference.
	l.spin(3, 1)
	env = l.env(1, "MC", Idle)
	l.collectDomain414(env, &env.stats414)
	if b := &env.stats414.busiest; b.full || b.kind != groupHasSpare {
		t.Errorf("2 against 1: the core is %s", b.kind)
	}
}

// A zero imbalance makes v4.14 take the source for pinned: nothing is asked,
// it is left out, and the pass ends balanced with a longer interval.
func TestZeroImbalanceLooksPinned(t *testing.T) {
	l := newBalanceLab(t, "v4.14", balanceMachine(1, 4, 1))
	l.spin(1, 2)
	env := l.env(0, "MC", Idle)
	env.src, env.imbalance = &l.rqs[1], 0
	env.flags |= envAllPinned
	if moved := l.pull(env); moved != 0 || !env.has(envAllPinned) {
		t.Errorf("moved %d, flags %04b", moved, env.flags)
	}
}

// Group loads: NUMA busy passes use index 3, load[2]. Here 100 now and 300
// remembered on every CPU: the local node of 4 counts 1200, the other 400.
func TestGroupLoadsAreBiased(t *testing.T) {
	l := newBalanceLab(t, "v4.14", balanceMachine(2, 4, 1))
	for cpu := range l.rqs {
		l.rqs[cpu].cfs.runnableLoadAvg = 100
		l.rqs[cpu].loadHistory.load[2] = 300
	}
	env := l.env(0, "NUMA", NotIdle)
	var gs groupStats414
	for _, c := range []struct {
		group *CPUGroup
		local bool
		want  int64
	}{{env.d.Groups, true, 1200}, {env.d.Groups.Next, false, 400}} {
		l.collectGroup414(env, c.group, &gs, c.local)
		if gs.load != c.want || gs.avgLoad != c.want/4 {
			t.Errorf("local %v: load %d, average %d; want %d", c.local, gs.load, gs.avgLoad, c.want)
		}
	}
}

// The idle load balancer catches up with the smoothed loads of tickless CPUs.
func TestNohzBalanceAgesLoadHistory(t *testing.T) {
	l := newBalanceLab(t, "v4.14", balanceMachine(1, 4, 1))
	h := &l.rqs[2].loadHistory
	h.load, h.at = [3]int64{0, 512, 512}, l.jiffies-1
	l.rqs[0].nohz.flags = kickBalance
	l.NohzBalance(l.now, 0)
	if want := [3]int64{0, 256, 384}; h.load != want {
		t.Errorf("loads %v, want %v", h.load, want)
	}
}
