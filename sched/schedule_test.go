package sched

import "testing"

// In the steady state nothing is allocated: ticks, switches, wakeups, sleeps and
// balancing of a busy machine with groups, after a warm-up.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, p := range Profiles() {
		l := newLab(t, sixteen.build(), p.Name)
		crowd(t, l)
		l.advance(2 * second)
		if n := testing.AllocsPerRun(20, func() { l.advance(10 * millisecond) }); n != 0 {
			t.Errorf("%s: %v allocations in 10 ms of a busy machine", p.Name, n)
		}
	}
}

// A switch counts only when the running task changes, idle included; a switch to
// idle counts as such.
func TestSwitchesAreCounted(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	l.add(TaskSpec{}, 0, millisecond, millisecond)
	l.advance(10*millisecond - 1) // on at 0, 2, 4, 6, 8; off at 1, 3, 5, 7, 9
	wantInt(t, "switches", l.Stats(0).Switches, 10)
	wantInt(t, "to idle", l.Stats(0).SchedIdle, 5)
	l.Schedule(l.clock, 0, false)
	wantInt(t, "idle again: no switch", l.Stats(0).Switches, 10)
	wantInt(t, "wakeups", l.Stats(0).Wakeups, 4)
}
