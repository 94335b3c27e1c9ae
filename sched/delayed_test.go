package sched

import (
	"fmt"
	"testing"
)

// sleeperWithDebt is a queue of A, which runs, and D, which has blocked with a lag
// of −2 ms: they are at 8 and 12 ms.
func sleeperWithDebt(t *testing.T, kernel string, settings ...string) (l *lab, a, d *Task) {
	t.Helper()
	l = newEEVDFLab(t, kernel, settings...)
	all := l.hogs(2)
	d, a = all[0], all[1]
	l.setTimes(d, 12*msec, 14*msec)
	l.setTimes(a, 8*msec, 20*msec)
	l.Schedule(l.clock, 0, true)
	if l.Current(0) != a {
		t.Fatal("A does not run")
	}
	return l, a, d
}

// mechanisms-modern.md 2.5: D stays queued, counted in nr_running, but not
// runnable; with DELAY_DEQUEUE off, or without debt, it leaves.
func TestSleepWithDebtIsDelayed(t *testing.T) {
	for _, kernel := range eevdfKernels {
		l, _, d := sleeperWithDebt(t, kernel)
		if !d.delayed || !d.queued || l.Delayed(0) != 1 || l.NrRunning(0) != 2 || l.root().runnable() != 1 {
			t.Errorf("%s: delayed %v, queued %v, %d delayed of %d", kernel, d.delayed, d.queued, l.Delayed(0), l.NrRunning(0))
		}
		checkInvariants(t, l.Scheduler)
		l, _, d = sleeperWithDebt(t, kernel, "NO_DELAY_DEQUEUE")
		if d.queued || l.NrRunning(0) != 1 {
			t.Errorf("%s: delayed without DELAY_DEQUEUE", kernel)
		}
		wantTime(t, kernel+": its lag", d.se.lag, -2*msec)

		l = newEEVDFLab(t, kernel)
		all := l.hogs(2)
		l.setTimes(all[0], 8*msec, 14*msec)
		l.setTimes(all[1], 12*msec, 20*msec)
		if l.Schedule(l.clock, 0, true); all[0].queued {
			t.Errorf("%s: delayed without debt", kernel)
		}
	}
}

// 2.5, example: D is woken when V − v is −0.5 ms: it stays in place. At −3 ms v7.2
// holds it to −2 ms, at V + 2·(W+w)/W, and at +1 ms it is at V without lag, unless
// DELAY_ZERO is off: that keeps the 1 ms.
func TestWakingADelayedTask(t *testing.T) {
	for _, c := range []struct {
		kernel, setting string
		a, want         int64 // us: where A is by then, where D is afterwards
	}{
		{"v7.2", "DELAY_ZERO", 11_000, 12_000}, // V = 11.5
		{"v7.2", "DELAY_ZERO", 6_000, 10_000},  // V = 9; V of A alone is 6, 6 + 2·2
		{"v7.2", "DELAY_ZERO", 14_000, 14_000}, // V = 13
		{"v7.2", "NO_DELAY_ZERO", 14_000, 12_000},
		{"v6.12", "DELAY_ZERO", 11_000, 12_000},
		{"v6.12", "DELAY_ZERO", 6_000, 12_000},
		{"v6.12", "DELAY_ZERO", 14_000, 14_000},
		{"v6.12", "NO_DELAY_ZERO", 14_000, 12_000},
	} {
		l, a, d := sleeperWithDebt(t, c.kernel, c.setting)
		l.setTimes(a, c.a*microsecond, 30*msec)
		wakeups, flips := l.Stats(0).Wakeups, a.Flips()
		if cpu := l.Wake(l.clock, 0, d, false); cpu != 0 || d.delayed || l.Delayed(0) != 0 {
			t.Errorf("%+v: CPU %d, delayed %v", c, cpu, d.delayed)
		}
		wantTime(t, fmt.Sprint(c), d.VRuntime(), c.want*microsecond)
		wantInt(t, "flips", int64(a.Flips()), int64(flips))
		wantInt(t, "wakeups", l.Stats(0).Wakeups, wakeups+1)
		checkInvariants(t, l.Scheduler)
	}
}

// 2.5: when D is picked it leaves. On v6.12 it has the lag of then, clamped, and
// no positive one (DELAY_ZERO); on v7.2 none worse than when it blocked either.
func TestDelayedTaskIsPicked(t *testing.T) {
	for _, c := range []struct {
		kernel, setting string
		a, want         int64 // us: where A is by then, D's lag afterwards
	}{
		{"v7.2", "DELAY_ZERO", 13_000, 0}, {"v6.12", "DELAY_ZERO", 13_000, 0},
		{"v7.2", "NO_DELAY_ZERO", 13_000, 500}, {"v6.12", "NO_DELAY_ZERO", 13_000, 500},
	} {
		l, a, d := sleeperWithDebt(t, c.kernel, c.setting)
		l.setTimes(a, c.a*microsecond, 30*msec)
		a.se.protection = 0
		l.setTimes(d, 12*msec, 20*msec) // earlier than A's
		if l.Schedule(l.clock, 0, false); l.Current(0) != a || d.queued || d.delayed || l.NrRunning(0) != 1 {
			t.Errorf("%+v: queued %v, delayed %v", c, d.queued, d.delayed)
		}
		wantTime(t, fmt.Sprint(c), d.se.lag, c.want*microsecond)
	}
}

// 2.5: when the others are gone a delayed task is picked and leaves too, so that an
// idle CPU holds none.
func TestIdleCPUHoldsNoDelayedTask(t *testing.T) {
	for _, kernel := range eevdfKernels {
		l, a, d := sleeperWithDebt(t, kernel)
		if l.Schedule(l.clock, 0, true); l.Current(0) != nil || a.queued || d.queued || !l.Idle(0) {
			t.Errorf("%s: A queued %v, D queued %v", kernel, a.queued, d.queued)
		}
		checkInvariants(t, l.Scheduler)
	}
}

// A group whose last task has left stays for its debt as a task does: it keeps
// its weight, is in place for a task that comes, and leaves when picked.
func TestEmptyGroupIsDelayed(t *testing.T) {
	for _, kernel := range eevdfKernels {
		for _, comes := range []bool{true, false} {
			l := newEEVDFLab(t, kernel)
			g := l.NewGroup(l.Root(), "/g")
			inner := l.hog(TaskSpec{Group: g}, 0)
			l.settle()
			outer := l.hog(TaskSpec{}, 0)
			l.setTimes(outer, 8*msec, 20*msec)
			se := g.entities[0]
			se.vruntime, se.deadline = 12*msec, 14*msec
			weight := se.weight
			l.Schedule(l.clock, 0, true)
			if inner.queued || !se.onRQ || !se.emptyDelayed || l.NrRunning(0) != 1 || l.Current(0) != outer || se.weight != weight {
				t.Fatalf("%s: task queued %v, group queued %v, delayed %v", kernel, inner.queued, se.onRQ, se.emptyDelayed)
			}
			checkInvariants(t, l.Scheduler)
			if comes {
				l.Wake(l.clock, 0, inner, false)
				if se.emptyDelayed || !inner.queued || l.NrRunning(0) != 2 {
					t.Errorf("%s: the group does not compete again", kernel)
				}
			} else if l.Schedule(l.clock, 0, true); se.onRQ || se.emptyDelayed || l.Current(0) != nil {
				t.Errorf("%s: the group is still queued", kernel)
			}
			checkInvariants(t, l.Scheduler)
		}
	}
}

// 2.2: a group asks for the shortest slice below it.
func TestGroupsAskForShortSlices(t *testing.T) {
	l := newEEVDFLab(t, "v7.2")
	g := l.NewGroup(l.Root(), "/g")
	inner := l.NewGroup(g, "/g/inner")
	l.hog(TaskSpec{Group: inner}, 0)
	l.settle()
	wantTime(t, "as the base", g.entities[0].slice, 2800*microsecond)
	short := l.NewTask(TaskSpec{ID: 8, Group: inner})
	if err := l.SetSlice(0, short, msec); err != nil {
		t.Fatal(err)
	}
	l.Start(l.clock, short, 0)
	wantTime(t, "/g/inner", inner.entities[0].slice, msec)
	wantTime(t, "/g", g.entities[0].slice, msec)
	checkInvariants(t, l.Scheduler)
}

func TestSetSliceRefuses(t *testing.T) {
	l := newEEVDFLab(t, "v7.2")
	task := l.hogs(1)[0]
	wantError(t, l.SetSlice(0, task, 99_999), "a slice must be between 100000 and 100000000 ns, or 0 for base_slice_ns, not 99999")
	if err := l.SetSlice(0, task, msec); err != nil || task.se.slice != msec {
		t.Errorf("%v, slice %d", err, task.se.slice)
	}
	if err := l.SetSlice(0, task, 0); err != nil || task.se.slice != 2800*microsecond || task.se.customSlice {
		t.Errorf("%v, slice %d", err, task.se.slice)
	}
	old := newLab(t, uniprocessor(), "v6.1")
	wantError(t, old.SetSlice(0, old.hog(TaskSpec{}, 0), msec), "kernel v6.1 has no slices of one's own; v6.12 and v7.2 do")
}
