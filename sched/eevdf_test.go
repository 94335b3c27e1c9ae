package sched

import (
	"fmt"
	"slices"
	"testing"
)

var eevdfKernels = []string{"v6.12", "v7.2"}

// newEEVDFLab is one CPU with the base slice of machines with eight or more,
// 2.8 ms.
func newEEVDFLab(t *testing.T, kernel string, settings ...string) *lab {
	t.Helper()
	return newLab(t, uniprocessor(), kernel, append([]string{"base_slice_ns=2800000"}, settings...)...)
}

// hogs starts n endless loops, the first of which runs.
func (l *lab) hogs(n int) []*Task {
	var all []*Task
	for range n {
		all = append(all, l.hog(TaskSpec{}, 0))
	}
	l.settle()
	return all
}

// setTimes gives a queued task another virtual time and deadline.
func (l *lab) setTimes(t *Task, v, deadline int64) {
	cfs := t.se.cfs
	waits := cfs.curr != &t.se
	if waits {
		l.stepOut(cfs, &t.se)
	}
	t.se.vruntime, t.se.deadline = v, deadline
	if waits {
		l.lineUp(cfs, &t.se)
	}
}

func (l *lab) root() *cfsRQ { return &l.rqs[0].cfs }

// wantTime fails unless two virtual times are equal.
func wantTime(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d ns, want %d", what, got, want)
	}
}

// mechanisms.md 1.13, 1: 3 ms at nice 5 are 3e6·1024/335 = 9170149 ns, 1 ms of a
// SCHED_IDLE task 1e6·1024/3 = 341333333 ns, in however many parts they are charged.
func TestChargeIsWeighted(t *testing.T) {
	for _, kernel := range eevdfKernels {
		for _, c := range []struct {
			spec      TaskSpec
			ran, want int64
		}{{TaskSpec{Nice: 5}, 3 * msec, 9_170_149}, {TaskSpec{Policy: PolicyIdle}, msec, 341_333_333}} {
			for _, parts := range []int64{1, 7, 1000} {
				l := newEEVDFLab(t, kernel)
				task := l.hog(c.spec, 0)
				l.settle()
				from := task.VRuntime()
				for i := range parts {
					l.setNow(c.ran * (i + 1) / parts)
					l.updateCurr(l.root())
				}
				wantTime(t, fmt.Sprint(kernel, " in ", parts), task.VRuntime()-from, c.want)
			}
		}
	}
}

// mechanisms.md 1.13, 7: at 0, 10 and 20 V is 10, the third is not eligible, and of
// the others the second has the earlier deadline.
func TestEarliestEligibleDeadline(t *testing.T) {
	for _, kernel := range eevdfKernels {
		l := newEEVDFLab(t, kernel)
		all := l.hogs(3)
		l.putCurrent(&l.rqs[0])
		for i, at := range [][2]int64{{0, 30}, {10, 15}, {20, 1}} {
			l.setTimes(all[i], at[0], at[1])
		}
		wantTime(t, kernel+" V", l.virtualTime(l.root()), 10)
		for i, want := range []bool{true, true, false} {
			if got := l.isEligible(l.root(), &all[i].se); got != want {
				t.Errorf("%s: entity %d eligible: %v", kernel, i, got)
			}
		}
		if got := l.pickDeadline(l.root(), nil); got != &all[1].se {
			t.Errorf("%s: picked %d", kernel, got.task.ID)
		}
	}
}

// mechanisms-modern.md 2.1: V = Σ v·w/Σ w, rounded down; the kernels weigh alike.
func TestVirtualTimeRoundsDown(t *testing.T) {
	for _, kernel := range eevdfKernels {
		for _, c := range []struct {
			at   []int64
			want int64
		}{{[]int64{0, 0, 1}, 0}, {[]int64{-1, 0, 0}, -1}, {[]int64{100, 300}, 200}, {[]int64{1 << 50, 0}, 1 << 49}} {
			l := newEEVDFLab(t, kernel)
			all := l.hogs(len(c.at))
			for i, v := range c.at {
				l.root().waiting.rebase(c.want) // the kernel keeps its zero near V
				l.setTimes(all[i], v, v+1)
			}
			wantTime(t, fmt.Sprint(kernel, " ", c.at), l.virtualTime(l.root()), c.want)
		}
	}
}

// mechanisms.md 1.13, 8, and mechanisms-modern.md 2.3: with one runner of the same
// weight a lag of 1 ms places 2 ms before V, with two 1.5 ms; afterwards the lag is
// 1 ms. A new task has none.
func TestPlacementKeepsLag(t *testing.T) {
	for _, kernel := range eevdfKernels {
		for _, c := range []struct{ runners, lag, before, after int64 }{
			{1, msec, 2 * msec, msec}, {2, msec, 1500 * microsecond, msec}, {1, -msec, -2 * msec, -msec}, {2, 0, 0, 0},
		} {
			l := newEEVDFLab(t, kernel)
			for i, task := range l.hogs(int(c.runners)) {
				l.setTimes(task, 100*msec+int64(i), 200*msec)
			}
			v := l.virtualTime(l.root())
			task := l.NewTask(TaskSpec{ID: 9})
			task.se.lag = c.lag
			l.activateTask(&l.rqs[0], task, enqueueWakeup)
			what := fmt.Sprintf("%s, %d runners, lag %d", kernel, c.runners, c.lag)
			wantTime(t, what+": before V", v-task.VRuntime(), c.before)
			wantTime(t, what+": lag afterwards", l.virtualTime(l.root())-task.VRuntime(), c.after)
			wantTime(t, what+": request", task.se.deadline-task.se.vruntime, 2800*microsecond)
		}
	}
}

// 2.3: a new task asks for half a slice, 1.4 ms, unless PLACE_DEADLINE_INITIAL is
// off; PLACE_LAG off makes no difference by lag.
func TestPlacementFeatures(t *testing.T) {
	for _, kernel := range eevdfKernels {
		for setting, want := range map[string]int64{"PLACE_DEADLINE_INITIAL": 1400 * microsecond, "NO_PLACE_DEADLINE_INITIAL": 2800 * microsecond} {
			l := newEEVDFLab(t, kernel, setting)
			l.hogs(1)
			task := l.hog(TaskSpec{}, 0)
			wantTime(t, kernel+" "+setting, task.se.deadline-task.se.vruntime, want)
		}
		for setting, want := range map[string]int64{"PLACE_LAG": 2 * msec, "NO_PLACE_LAG": 0} {
			l := newEEVDFLab(t, kernel, setting)
			l.hogs(1)
			v := l.virtualTime(l.root())
			task := l.NewTask(TaskSpec{ID: 9})
			task.se.lag = msec
			l.activateTask(&l.rqs[0], task, enqueueWakeup)
			wantTime(t, kernel+" "+setting, v-task.VRuntime(), want)
		}
	}
}

// 2.4: a task that is moved keeps what is left of its request, here 1 ms, unless
// PLACE_REL_DEADLINE is off: then it has a new one.
func TestMoveKeepsTheRequest(t *testing.T) {
	for _, kernel := range eevdfKernels {
		for setting, want := range map[string]int64{"PLACE_REL_DEADLINE": msec, "NO_PLACE_REL_DEADLINE": 1400 * microsecond} {
			l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), kernel, "base_slice_ns=1400000", setting)
			l.hog(TaskSpec{}, 0)
			l.settle()
			task := l.hog(TaskSpec{}, 0)
			l.hog(TaskSpec{}, 1)
			l.settle()
			l.setTimes(task, 50*msec, 51*msec)
			l.MigrateQueued(l.clock, task, 1)
			wantTime(t, kernel+" "+setting, task.se.deadline-task.se.vruntime, want)
		}
	}
}

// 2.4: the limits are 2·2.8 = 5.6 ms on v6.12 and 2.8 + 4 = 6.8 ms on v7.2 at
// nice 0 and HZ 250; at nice 5 the latter is 6.8·1024/335 = 20.785 ms.
func TestLagLimits(t *testing.T) {
	for _, c := range []struct {
		kernel string
		nice   int8
		want   int64
	}{{"v6.12", 0, 5_600_000}, {"v7.2", 0, 6_800_000}, {"v7.2", 5, 20_785_671}} {
		l := newEEVDFLab(t, c.kernel)
		l.hogs(1)
		task := l.hog(TaskSpec{Nice: c.nice}, 0)
		for _, side := range []int64{1, -1} {
			l.setTimes(task, l.root().curr.vruntime-side*1000*msec, 0)
			l.takeLag(l.root(), &task.se)
			wantTime(t, fmt.Sprint(c.kernel, " nice ", c.nice), task.se.lag, side*c.want)
		}
	}
}

// 2.10: 10 and 14 ms; the second gets twice the weight. V stays at 12 ms, its lag of
// −2 ms becomes −1 ms, and 4 ms from V to its deadline become 2 ms.
func TestReweighKeepsVirtualTime(t *testing.T) {
	for _, kernel := range eevdfKernels {
		l := newEEVDFLab(t, kernel)
		all := l.hogs(2)
		l.setTimes(all[0], 10*msec, 20*msec)
		l.setTimes(all[1], 14*msec, 16*msec)
		l.reweight(&all[1].se, 2*nice0Stored)
		wantTime(t, kernel+" v", all[1].VRuntime(), 13*msec)
		wantTime(t, kernel+" deadline", all[1].se.deadline, 14*msec)
		wantTime(t, kernel+" V", l.virtualTime(l.root()), 12*msec)
	}
}

// 2.10: v7.2 scales what is left of the running task's protection, v6.12 has none
// left when the deadline changes.
func TestReweighAndProtection(t *testing.T) {
	for _, kernel := range eevdfKernels {
		l := newEEVDFLab(t, kernel)
		all := l.hogs(2)
		l.setTimes(all[1], 0, 9*msec)
		l.setTimes(all[0], 0, 4*msec)
		all[0].se.protection = 4 * msec
		l.reweight(&all[0].se, 2*nice0Stored)
		wantTime(t, kernel+" deadline", all[0].se.deadline, 2*msec)
		if want := kernel == "v7.2"; l.time.eevdf.protected(l.Scheduler, &all[0].se) != want {
			t.Errorf("%s: protected: %v", kernel, !want)
		}
		if kernel == "v7.2" {
			wantTime(t, "protection", all[0].se.protection, 2*msec)
		}
	}
}

// 2.8, example: v = 10, deadline 12.8, slice 2.8, V = 11: v becomes 12.8, the
// deadline 15.6. Who is not eligible stays as it is.
func TestYieldForfeitsTheRequest(t *testing.T) {
	for _, kernel := range eevdfKernels {
		for _, c := range []struct{ other, v, deadline int64 }{{12, 12_800, 15_600}, {8, 10_000, 12_800}} {
			l := newEEVDFLab(t, kernel)
			all := l.hogs(2)
			l.setTimes(all[0], 10*msec, 12_800*microsecond)
			l.setTimes(all[1], c.other*msec, 20*msec)
			l.Yield(l.clock, 0)
			wantTime(t, kernel+" v", all[0].VRuntime(), c.v*microsecond)
			wantTime(t, kernel+" deadline", all[0].se.deadline, c.deadline*microsecond)
		}
		alone := newEEVDFLab(t, kernel)
		task := alone.hogs(1)[0]
		v := task.VRuntime()
		alone.Yield(0, 0)
		wantTime(t, kernel+" alone", task.VRuntime(), v)
	}
}

// turns lets l run and returns how long the turns on CPU 0 were.
func (l *lab) turns(d int64) []int64 {
	var all []int64
	last := l.clock
	l.switched = func(int, *Task, *Task) {
		all = append(all, l.clock-last)
		last = l.clock
	}
	l.advance(d)
	l.switched = nil
	return all
}

// 2.9: two loops with slices of 2.8 ms take turns of 2.8 ms with HRTICK, on by
// default in v7.2; without, of 4 ms at HZ 250 and of 3 ms at HZ 1000.
func TestSlicesEnd(t *testing.T) {
	for _, c := range []struct {
		kernel, hz, hrtick string
		want               int64
	}{
		{"v7.2", "hz=250", "HRTICK", 2800 * microsecond}, {"v7.2", "hz=250", "NO_HRTICK", 4 * msec}, {"v7.2", "hz=1000", "NO_HRTICK", 3 * msec},
		{"v6.12", "hz=250", "NO_HRTICK", 4 * msec}, {"v6.12", "hz=1000", "NO_HRTICK", 3 * msec}, {"v6.12", "hz=250", "HRTICK", 2800 * microsecond},
	} {
		l := newEEVDFLab(t, c.kernel, c.hz, c.hrtick)
		l.hogs(2)
		turns := l.turns(second)
		slices.Sort(turns)
		wantTime(t, fmt.Sprint(c), turns[len(turns)/2], c.want)
	}
}

// A lone task has no timer, one that gets company has one from then on, and an
// idle CPU none.
func TestSliceTimerNeedsCompany(t *testing.T) {
	l := newEEVDFLab(t, "v7.2")
	task := l.hogs(1)[0]
	wantTime(t, "alone", l.asked.sliceEnd[0], 0)
	l.advance(msec)
	other := l.hog(TaskSpec{}, 0)
	// 1.4 ms initially, of which 1 is over.
	wantTime(t, "with another", l.asked.sliceEnd[0], 1400*microsecond)
	l.Schedule(l.clock, 0, true)
	if l.Current(0) != other || task.Queued() && !task.delayed {
		t.Error("the other does not run")
	}
	l.Schedule(l.clock, 0, true)
	if l.Current(0) != nil || l.asked.sliceEnd[0] != 0 {
		t.Errorf("idle, but a slice ends at %d", l.asked.sliceEnd[0])
	}
}

// A nice-0 and a nice-5 loop share as 1024 to 335, a SCHED_IDLE one gets 3 parts.
func TestSharesFollowWeights(t *testing.T) {
	for _, kernel := range eevdfKernels {
		l := newEEVDFLab(t, kernel)
		a, b := l.hog(TaskSpec{}, 0), l.hog(TaskSpec{Nice: 5}, 0)
		l.advance(20 * second)
		checkInvariants(t, l.Scheduler)
		wantNear(t, kernel+" nice 0", l.RunTime(l.clock, a), 20*second*1024/1359, 20)
		wantNear(t, kernel+" nice 5", l.RunTime(l.clock, b), 20*second*335/1359, 20)
	}
}

// Nobody starves: over any second each of many loops gets its share, give or take
// the lag that the kernel lets anybody have and what a tick is late.
func TestNobodyStarves(t *testing.T) {
	nices := []int8{-10, -5, 0, 0, 3, 5, 10}
	total := int64(0)
	for _, n := range nices {
		total += niceWeights[n+20]
	}
	for _, kernel := range eevdfKernels {
		l := newEEVDFLab(t, kernel)
		var all []*Task
		for _, n := range nices {
			all = append(all, l.hog(TaskSpec{Nice: n}, 0))
		}
		before := make([]int64, len(all))
		for range 10 {
			l.advance(second)
			checkInvariants(t, l.Scheduler)
			for i, task := range all {
				ran := l.RunTime(l.clock, task)
				share := second * niceWeights[nices[i]+20] / total
				if d := ran - before[i] - share; d > 14*msec || -d > 14*msec {
					t.Errorf("%s: nice %d ran %d ns in a second, its share is %d", kernel, nices[i], ran-before[i], share)
				}
				before[i] = ran
			}
		}
	}
}

// Two loops take turns for hours, and nobody joins or leaves: the sums stay small,
// for each request's end measures them anew. Σ v·w of both would be 10 h · 2^20 =
// 3.8e19, beyond 64 bits.
func TestSumsStaySmall(t *testing.T) {
	for _, kernel := range eevdfKernels {
		l := newEEVDFLab(t, kernel)
		all := l.hogs(2)
		for now := second; now <= 36_000*second; now += 9 * second {
			l.Schedule(now, 0, false)
		}
		checkInvariants(t, l.Scheduler)
		ran := all[0].SumExec()
		wantNear(t, kernel+" half the time", ran, 18_000*second, 10)
	}
}
