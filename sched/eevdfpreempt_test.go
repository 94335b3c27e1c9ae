package sched

import (
	"fmt"
	"testing"
)

// wakesInto starts C, which runs, and a loop that waits besides; P sleeps. It
// then gives them the times of c and wakes P, and reports whether C is asked to
// make room.
type wakeCase struct {
	c, other, p [2]int64 // virtual time and deadline, ms
	slice       int64    // that P asks for, ns; 0: the base slice
	protected   bool     // C is protected
}

func (c *wakeCase) preempts(t *testing.T, kernel string, settings ...string) (bool, *lab, *Task) {
	t.Helper()
	l := newEEVDFLab(t, kernel, settings...)
	all := l.hogs(3)
	running, other, woken := all[0], all[1], all[2]
	if c.slice != 0 {
		if err := l.SetSlice(0, woken, c.slice); err != nil {
			t.Fatal(err)
		}
	}
	for i, at := range [][2]int64{c.c, c.other, c.p} {
		l.setTimes([]*Task{running, other, woken}[i], at[0]*msec, at[1]*msec)
	}
	running.se.protection = running.se.vruntime - 1
	if c.protected {
		running.se.protection = running.se.deadline
	}
	l.rqs[0].needResched = false
	l.checkPreempt(&l.rqs[0], woken, 0)
	return l.NeedResched(0), l, running
}

// mechanisms-modern.md 2.7, example: P has positive lag and an earlier deadline. C
// keeps the CPU while it is eligible and protected.
func TestProtectionAgainstWakeups(t *testing.T) {
	for _, kernel := range eevdfKernels {
		for _, c := range []struct {
			name string
			wakeCase
			want bool
		}{
			{"protected", wakeCase{c: [2]int64{10, 13}, other: [2]int64{14, 20}, p: [2]int64{8, 11}, protected: true}, false},
			{"no longer protected", wakeCase{c: [2]int64{10, 13}, other: [2]int64{14, 20}, p: [2]int64{8, 11}}, true},
			{"protected but not eligible", wakeCase{c: [2]int64{14, 17}, other: [2]int64{10, 20}, p: [2]int64{8, 11}, protected: true}, true},
			{"another is earlier", wakeCase{c: [2]int64{14, 17}, other: [2]int64{10, 10}, p: [2]int64{8, 11}}, false},
			{"P is not eligible", wakeCase{c: [2]int64{10, 13}, other: [2]int64{10, 20}, p: [2]int64{14, 11}}, false},
		} {
			if got, _, _ := c.preempts(t, kernel); got != c.want {
				t.Errorf("%s, %s: preempts: %v", kernel, c.name, got)
			}
			if got, _, _ := c.preempts(t, kernel, "NO_WAKEUP_PREEMPTION"); got {
				t.Errorf("%s, %s: preempts without WAKEUP_PREEMPTION", kernel, c.name)
			}
		}
	}
}

// 2.7: a wakee with a shorter slice takes the protection away, unless
// PREEMPT_SHORT is off. One that does not win by that costs C its protection on
// v6.12 only.
func TestShortSlicePreempts(t *testing.T) {
	wins := wakeCase{c: [2]int64{10, 13}, other: [2]int64{14, 20}, p: [2]int64{8, 11}, slice: msec, protected: true}
	for _, kernel := range eevdfKernels {
		for setting, want := range map[string]bool{"PREEMPT_SHORT": true, "NO_PREEMPT_SHORT": false} {
			if got, _, _ := wins.preempts(t, kernel, setting); got != want {
				t.Errorf("%s %s: preempts: %v", kernel, setting, got)
			}
		}
	}
	for kernel, want := range map[string]bool{"v6.12": false, "v7.2": true} {
		c := wakeCase{c: [2]int64{8, 13}, other: [2]int64{8, 9}, p: [2]int64{8, 11}, slice: msec, protected: true}
		preempted, l, running := c.preempts(t, kernel)
		if preempted || l.time.eevdf.protected(l.Scheduler, &running.se) != want {
			t.Errorf("%s: preempted %v, protected %v", kernel, preempted, !want)
		}
	}
}

// 2.6, example: C asks for 2.8 ms and somebody who waits for 1 ms. v7.2 protects C
// for 1 ms, or for the base slice before scaling, 0.7 ms, without RUN_TO_PARITY;
// v6.12 until its deadline.
func TestProtectionIsSet(t *testing.T) {
	for _, c := range []struct {
		kernel, setting string
		short           bool
		want            int64 // after v
	}{
		{"v7.2", "RUN_TO_PARITY", true, msec}, {"v7.2", "RUN_TO_PARITY", false, 2800 * microsecond},
		{"v7.2", "NO_RUN_TO_PARITY", false, 700 * microsecond},
		{"v6.12", "RUN_TO_PARITY", true, 2800 * microsecond},
	} {
		l := newEEVDFLab(t, c.kernel, c.setting)
		all := l.hogs(2)
		l.Schedule(l.clock, 0, false)
		l.putCurrent(&l.rqs[0])
		if c.short {
			if err := l.SetSlice(0, all[1], msec); err != nil {
				t.Fatal(err)
			}
		}
		l.setTimes(all[0], 10*msec, 12_800*microsecond)
		l.setTimes(all[1], 10*msec, 13*msec)
		l.rqs[0].curr = nil
		if got := l.Schedule(l.clock, 0, false); got != all[0] {
			t.Fatalf("%v: task %d runs", c, got.ID)
		}
		wantTime(t, fmt.Sprint(c), all[0].se.protection-all[0].VRuntime(), c.want)
	}
	l := newEEVDFLab(t, "v6.12", "NO_RUN_TO_PARITY")
	task := l.hogs(2)[0]
	if l.time.eevdf.protected(l.Scheduler, &task.se) {
		t.Error("v6.12 protects without RUN_TO_PARITY")
	}
}

// 2.6: after 1 ms of protection v7.2 asks for a reschedule at the next charge,
// v6.12 not before the deadline.
func TestProtectionEnds(t *testing.T) {
	for kernel, want := range map[string]bool{"v7.2": true, "v6.12": false} {
		l := newEEVDFLab(t, kernel)
		all := l.hogs(2)
		l.setTimes(all[1], 0, 9*msec)
		l.setTimes(all[0], 0, 2800*microsecond)
		all[0].se.protection = map[string]int64{"v7.2": msec, "v6.12": 2800 * microsecond}[kernel]
		l.rqs[0].needResched = false
		l.setNow(msec)
		l.updateCurr(l.root())
		if l.NeedResched(0) != want {
			t.Errorf("%s: asked: %v", kernel, !want)
		}
		l.setNow(2800 * microsecond)
		l.updateCurr(l.root())
		if !l.NeedResched(0) || all[0].se.deadline != 5600*microsecond {
			t.Errorf("%s: at the deadline: %v, next %d", kernel, l.NeedResched(0), all[0].se.deadline)
		}
	}
}

// 2.7: a wakeup that does not preempt leaves C protected for no longer than the
// shortest slice in the queue (v7.2, RUN_TO_PARITY).
func TestWakeupShortensProtection(t *testing.T) {
	for setting, want := range map[string]int64{"RUN_TO_PARITY": msec, "NO_RUN_TO_PARITY": 3 * msec} {
		c := wakeCase{c: [2]int64{10, 13}, other: [2]int64{14, 20}, p: [2]int64{14, 18}, slice: msec, protected: true}
		preempted, _, running := c.preempts(t, "v7.2", setting)
		if preempted {
			t.Errorf("%s: preempted", setting)
		}
		wantTime(t, setting, running.se.protection-running.VRuntime(), want)
	}
}

// mechanisms-modern.md 7, 5: the parent is not eligible, the child's deadline is
// the earliest: v6.12 preempts, v7.2 does not, but for a shorter slice.
func TestForkPreemption(t *testing.T) {
	for _, c := range []struct {
		kernel string
		slice  int64
		want   bool
	}{{"v6.12", 0, true}, {"v7.2", 0, false}, {"v7.2", msec, true}} {
		l := newEEVDFLab(t, c.kernel)
		all := l.hogs(2)
		l.setTimes(all[0], 20*msec, 30*msec)
		l.setTimes(all[1], 10*msec, 40*msec)
		l.rqs[0].needResched = false
		child := l.NewTask(TaskSpec{ID: 9})
		if c.slice != 0 {
			if err := l.SetSlice(0, child, c.slice); err != nil {
				t.Fatal(err)
			}
		}
		l.Fork(l.clock, 0, all[0], child)
		wantTime(t, c.kernel+" child at V", child.VRuntime(), 15*msec)
		if l.NeedResched(0) != c.want {
			t.Errorf("%+v: preempts: %v", c, !c.want)
		}
	}
}

// 2.7: idle-classed tasks give way to others whatever the deadlines, never the
// other way round; batch tasks preempt nobody.
func TestPoliciesAndPreemption(t *testing.T) {
	for _, kernel := range eevdfKernels {
		for _, c := range []struct {
			running, woken Policy
			want           bool
		}{
			{PolicyIdle, PolicyNormal, true}, {PolicyIdle, PolicyBatch, true}, {PolicyNormal, PolicyIdle, false},
			{PolicyNormal, PolicyBatch, false}, {PolicyNormal, PolicyNormal, true}, {PolicyIdle, PolicyIdle, false},
		} {
			l := newEEVDFLab(t, kernel)
			running, woken := l.hog(TaskSpec{Policy: c.running}, 0), (*Task)(nil)
			l.settle()
			woken = l.hog(TaskSpec{Policy: c.woken}, 0)
			l.setTimes(running, 1000*msec, 2000*msec) // not eligible
			l.setTimes(woken, 10*msec, 20*msec)
			l.rqs[0].needResched = false
			l.checkPreempt(&l.rqs[0], woken, 0)
			if l.NeedResched(0) != c.want {
				t.Errorf("%s: %s preempts %s: %v", kernel, c.woken, c.running, !c.want)
			}
		}
	}
}

// 2.6, 2.7: a buddy goes first if it is eligible (PICK_BUDDY); NEXT_BUDDY makes
// every wakee one.
func TestBuddies(t *testing.T) {
	for _, kernel := range eevdfKernels {
		for _, c := range []struct {
			settings []string
			v        int64 // of the buddy; V is 10 ms
			want     bool
		}{
			{[]string{"PICK_BUDDY"}, 9, true}, {[]string{"NO_PICK_BUDDY"}, 9, false}, {[]string{"PICK_BUDDY"}, 14, false},
		} {
			l := newEEVDFLab(t, kernel, c.settings...)
			all := l.hogs(3)
			l.putCurrent(&l.rqs[0])
			l.setTimes(all[0], 30*msec-c.v*msec-10*msec, 12*msec)
			l.setTimes(all[1], 10*msec, 12*msec)
			l.setTimes(all[2], c.v*msec, 90*msec)
			l.root().next = &all[2].se
			if got := l.pickDeadline(l.root(), nil) == &all[2].se; got != c.want {
				t.Errorf("%s %+v: picked: %v", kernel, c, got)
			}
		}
		for setting, want := range map[string]bool{"NEXT_BUDDY": true, "NO_NEXT_BUDDY": false} {
			c := wakeCase{c: [2]int64{10, 13}, other: [2]int64{14, 20}, p: [2]int64{9, 18}, protected: true}
			_, l, _ := c.preempts(t, kernel, setting)
			if got := l.root().next != nil; got != want {
				t.Errorf("%s %s: a buddy: %v", kernel, setting, got)
			}
		}
	}
}

// 2.7: with NEXT_BUDDY a sync wakeup does not preempt a waker that has been charged
// just now.
func TestSyncWakeupWithNextBuddy(t *testing.T) {
	for how, want := range map[wakeHow]bool{0: true, wakeSync: false} {
		l := newEEVDFLab(t, "v7.2", "NEXT_BUDDY")
		all := l.hogs(2)
		l.setTimes(all[0], 20*msec, 30*msec)
		l.setTimes(all[1], 10*msec, 20*msec)
		l.rqs[0].needResched = false
		l.checkPreempt(&l.rqs[0], all[1], how)
		if l.NeedResched(0) != want {
			t.Errorf("%b: preempts: %v", how, !want)
		}
	}
}
