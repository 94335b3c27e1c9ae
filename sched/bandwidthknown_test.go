package sched

import (
	"testing"
)

// eightyEight runs 88 threads that each need 1 ms every 100 ms on 44 CPUs, in a
// group with a quota of one CPU, for ten seconds. They need 0.88 CPUs.
func eightyEight(t *testing.T, p *Profile) (used int64, st BandwidthStats) {
	t.Helper()
	l := profileLab(t, machineSpec{nodes: 2, llcs: 1, cores: 22, threads: 1}.build(), p)
	g := l.limited(t, l.Root(), "/service", perPeriod(100))
	for i := range 88 {
		// Threads wake at different times of the period, two on each CPU.
		l.add(TaskSpec{Group: g}, i%44, millisecond, 99*millisecond)
		l.advance(millisecond)
	}
	// Each CPU ends up with 1 ms in reserve: 44 ms, out of the 12 ms that a
	// period has to spare.
	l.advance(second)
	warm := g.BandwidthStats()
	for _, j := range l.jobs {
		used -= l.RunTime(l.clock, j.Task)
	}
	l.advance(10 * second)
	l.verify(t)
	for _, j := range l.jobs {
		used += l.RunTime(l.clock, j.Task)
	}
	st = g.BandwidthStats()
	st.Periods, st.Throttled, st.ThrottledTime = st.Periods-warm.Periods, st.Throttled-warm.Throttled, st.ThrottledTime-warm.ThrottledTime
	return used, st
}

// A known case (issue 5): under v4.18 the 1 ms that each of 44 CPUs keeps when
// its queue empties is void at the end of the period, and while a queue runs
// it holds up to 5 ms; so the group is throttled while it uses less than its
// quota. Without expiry (v5.4) slices last until they are used.
func TestSlicesThatExpireThrottleBelowTheQuota(t *testing.T) {
	const quota = 10 * second
	used, st := eightyEight(t, oldBandwidth(bandwidth418))
	if used >= quota || st.Throttled == 0 {
		t.Errorf("v4.18: used %d of %d ns, throttled in %d of %d periods; want throttled below the quota", used, quota, st.Throttled, st.Periods)
	}
	if st.Throttled < st.Periods*9/10 {
		t.Errorf("v4.18: throttled in %d of %d periods; the reserve is void in each", st.Throttled, st.Periods)
	}
	t.Logf("v4.18: used %.1f %%, throttled in %d of %d periods for %d ms", 100*float64(used)/float64(quota), st.Throttled, st.Periods, st.ThrottledTime/millisecond)
	for _, p := range []*Profile{oldBandwidth(bandwidth54), &v510, &v414} {
		used, st := eightyEight(t, p)
		if st.Throttled != 0 || used < quota*85/100 {
			t.Errorf("%s: used %d of %d ns, throttled in %d of %d periods; want all of 0.88 and no throttling", p.Name, used, quota, st.Throttled, st.Periods)
		}
	}
}

// The same by its feature, as one writes it on a command line.
func TestExpiryFeature(t *testing.T) {
	p := v414
	p.Defaults = p.Defaults.With(BandwidthExpiry)
	if _, st := eightyEight(t, &p); st.Throttled == 0 {
		t.Error("v4.14 with BANDWIDTH_EXPIRY is not throttled")
	}
}
