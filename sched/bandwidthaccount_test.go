package sched

import "testing"

// Eight CPUs, a quota of 20 ms in 100 ms, eight tasks that start together: the
// first four CPUs take 5 ms each, and the pool is empty. The other four are
// throttled at once, 100 ms before the refill, when nobody has run at all; the
// 20 ms are held by the four.
func TestAccountOfABurst(t *testing.T) {
	l := profileLab(t, machineSpec{nodes: 1, llcs: 1, cores: 8, threads: 1}.build(), &v61)
	g := l.limited(t, l.Root(), "/service", perPeriod(20))
	for cpu := range 8 {
		l.add(TaskSpec{Group: g}, cpu, second, 0)
	}
	l.advance(50 * millisecond)
	a := g.Account()
	if a.Exhausted != 1 {
		t.Fatalf("%d periods were exhausted, want 1", a.Exhausted)
	}
	if given := a.Held + a.Parked + a.Used; given < 15*millisecond || given > 21*millisecond {
		t.Errorf("used %d, held %d, parked %d ns; want about the quota of 20 ms", a.Used, a.Held, a.Parked)
	}
	if a.Early < 95*millisecond {
		t.Errorf("throttled %d ns before the refill, want almost the whole period", a.Early)
	}
	if a.Held < 10*millisecond {
		t.Errorf("%d ns are held by other CPUs; want the slices of at least two", a.Held)
	}
	l.advance(10 * second)
	a = g.Account()
	if a.Unused < 0 || a.Unused > 20*millisecond*a.Exhausted {
		t.Errorf("unused %d ns in %d periods of 20 ms", a.Unused, a.Exhausted)
	}
	if a.Expired != 0 {
		t.Errorf("%d ns expired; slices of v6.1 do not", a.Expired)
	}
}

// The known case: what is throttled below its quota under v4.18 has lost it to
// slices that expired, at the end of each period.
func TestAccountOfExpiry(t *testing.T) {
	l := profileLab(t, machineSpec{nodes: 1, llcs: 1, cores: 22, threads: 1}.build(), oldBandwidth(bandwidth418))
	g := l.limited(t, l.Root(), "/service", perPeriod(50))
	for i := range 44 {
		l.add(TaskSpec{Group: g}, i%22, millisecond, 99*millisecond)
		l.advance(2 * millisecond)
	}
	l.advance(5 * second)
	a, st := g.Account(), g.BandwidthStats()
	if st.Throttled == 0 || a.Expired < a.Exhausted*5*millisecond {
		t.Errorf("throttled in %d periods, %d ns expired; want 22 CPUs to lose about 1 ms each, in each", st.Throttled, a.Expired)
	}
}
