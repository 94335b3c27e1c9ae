package sched

import (
	"testing"
)

// Worked example 1 of mechanisms.md 1.13.
func Test1_13_1_VirtualTime(t *testing.T) {
	wantInt(t, "nice 5 runs 3 ms: 3000000*1024/335", toVirtual(3_000_000, taskWeight(PolicyNormal, 5)), 9_170_149)
	wantInt(t, "SCHED_IDLE runs 1 ms: 1000000*1024/3", toVirtual(1_000_000, taskWeight(PolicyIdle, 0)), 341_333_333)
	wantInt(t, "nice 0 runs 1 ns", toVirtual(1, taskWeight(PolicyNormal, 0)), 1)
	// A group's weight may be as low as 2 in stored scale, which still counts
	// as 2 in table scale (mechanisms.md 0.3): 1000*1024/2.
	wantInt(t, "a group without share runs 1 us", toVirtual(1_000, minShares), 512_000)
}

// Dividing by a weight must not overflow: 10^15 ns * 88761 exceeds 63 bits.
func TestDeltaOfElevenDaysDoesNotOverflow(t *testing.T) {
	wantInt(t, "10^15 * 88761 / 1024", calcDelta(1_000_000_000_000_000, 88761, 1024), 86_680_664_062_500_000)
}

// Worked example 2 of mechanisms.md 1.13; f = 4, so latency is 24 ms and the
// minimal granularity 3 ms.
func Test1_13_2_Slices(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	a := l.hog(TaskSpec{}, 0)
	b := l.hog(TaskSpec{}, 0)
	wantInt(t, "one of two nice-0 tasks: 24 ms / 2", l.slice(a.se.cfs, &a.se), 12_000_000)
	wantInt(t, "the other one", l.slice(b.se.cfs, &b.se), 12_000_000)

	l = newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	a = l.hog(TaskSpec{}, 0)
	b = l.hog(TaskSpec{Nice: 5}, 0)
	wantInt(t, "nice 0: 24 ms * 1024/1359", l.slice(a.se.cfs, &a.se), 18_083_885)
	wantInt(t, "nice 5: 24 ms * 335/1359", l.slice(b.se.cfs, &b.se), 5_916_114)

	l = newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	for range 10 {
		a = l.hog(TaskSpec{}, 0)
	}
	wantInt(t, "ten tasks: the period is 10 * 3 ms", l.period(10), 30_000_000)
	wantInt(t, "each of ten: 30 ms / 10", l.slice(a.se.cfs, &a.se), 3_000_000)
}

// mechanisms.md 1.6: eight tasks still share one latency, nine do not.
func Test1_6_PeriodGrowsBeyondNrLatency(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	wantInt(t, "period of 8", l.period(8), 24_000_000)
	wantInt(t, "period of 9: 9 * 3 ms", l.period(9), 27_000_000)
}

// mechanisms.md 1.6 steps 1 and 4: two groups with five tasks each. ALT_PERIOD
// counts all ten tasks: the period is 30 ms and each group's half of it is
// shared by five, 3 ms. Without it a task counts its own queue only: 24 ms / 2
// / 5 = 2.4 ms, which BASE_SLICE raises to the minimal granularity of 3 ms.
func Test1_6_AltPeriodAndBaseSlice(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings []string
		want     int64
	}{
		{"both on", nil, 3_000_000},
		{"own queue, with a floor", []string{"NO_ALT_PERIOD"}, 3_000_000},
		{"own queue, no floor", []string{"NO_ALT_PERIOD", "NO_BASE_SLICE"}, 2_400_000},
		{"all tasks, no floor", []string{"NO_BASE_SLICE"}, 3_000_000},
	} {
		l := newLab(t, uniprocessor(), "v5.17", append(c.settings, eightWayTunables...)...)
		wantInt(t, c.name, sliceInOneOfTwoGroups(t, l), c.want)
	}
	for kernel, want := range map[string]int64{
		"v3.2": 2_400_000, "v3.8": 2_400_000, "v4.14": 2_400_000, // know neither feature
		"v5.10": 3_000_000, // a stable tree, which has both (6.7)
	} {
		l := newLab(t, uniprocessor(), kernel, eightWayTunables...)
		wantInt(t, kernel, sliceInOneOfTwoGroups(t, l), want)
	}
}

func sliceInOneOfTwoGroups(t *testing.T, l *lab) int64 {
	var last *Task
	for _, name := range []string{"/a", "/b"} {
		g := l.NewGroup(l.Root(), name)
		for range 5 {
			last = l.hog(TaskSpec{Group: g}, 0)
		}
	}
	checkInvariants(t, l.Scheduler)
	// The two groups were equal when their last tasks came; make them so for
	// the arithmetic.
	for _, g := range l.groups[1:] {
		l.reweight(g.entities[0], nice0Stored)
	}
	return l.slice(last.se.cfs, &last.se)
}

// mechanisms.md 1.6 step 4: an idle-classed entity beside normal ones has the
// lower floor, and alone with its kind the common one.
func Test1_6_FloorOfIdleEntities(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	idle := l.hog(TaskSpec{Policy: PolicyIdle}, 0)
	for range 19 {
		l.hog(TaskSpec{Policy: PolicyIdle}, 0)
	}
	wantInt(t, "among idle tasks: 20 * 3 ms / 20", l.slice(idle.se.cfs, &idle.se), 3_000_000)
	l.hog(TaskSpec{}, 0)
	wantInt(t, "beside a normal task: 63 ms * 3/1084 = 0.17 ms is raised to 0.75 ms",
		l.slice(idle.se.cfs, &idle.se), 750_000)
}

// Worked example 3 of mechanisms.md 1.13, with the whole latency as credit, and
// the halved credit of GENTLE_FAIR_SLEEPERS.
func Test1_13_3_WakeupPlacement(t *testing.T) {
	for _, c := range []struct {
		name        string
		settings    []string
		slept, want int64
	}{
		{"long sleeper", []string{"NO_GENTLE_FAIR_SLEEPERS"}, 500 * millisecond, 976 * millisecond},
		{"long sleeper, half the credit", nil, 500 * millisecond, 988 * millisecond},
		{"short sleeper keeps its time", nil, 995 * millisecond, 995 * millisecond},
	} {
		l := newLab(t, uniprocessor(), "v5.17", append(c.settings, eightWayTunables...)...)
		cfs := &l.rqs[0].cfs
		cfs.minVruntime = second
		se := &l.NewTask(TaskSpec{}).se
		se.vruntime = c.slept
		l.place(cfs, se, false)
		wantInt(t, c.name, se.vruntime, c.want)
	}
}

// Worked example 4 of mechanisms.md 1.13: f = 4, the credit of an idle-classed
// entity is half the minimal granularity, 1.5 ms; v5.10 makes no difference.
func Test1_13_4_IdleEntityGetsLittleCredit(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	g := l.NewGroup(l.Root(), "/batch")
	if err := l.SetIdle(g, true); err != nil {
		t.Fatal(err)
	}
	cfs := &l.rqs[0].cfs
	cfs.minVruntime = second
	l.place(cfs, g.entities[0], false)
	wantInt(t, "1 s - 1.5 ms", g.entities[0].vruntime, 998_500_000)

	// A SCHED_IDLE task is idle-classed by itself; without GENTLE_FAIR_SLEEPERS it
	// has all of the 3 ms.
	for _, c := range []struct {
		kernel   string
		settings []string
		want     int64
	}{
		{"v5.17", nil, 998_500_000},
		{"v5.17", []string{"NO_GENTLE_FAIR_SLEEPERS"}, 997_000_000},
		{"v5.10", nil, 988_000_000},
	} {
		l = newLab(t, uniprocessor(), c.kernel, append(c.settings, eightWayTunables...)...)
		cfs = &l.rqs[0].cfs
		cfs.minVruntime = second
		se := &l.NewTask(TaskSpec{Policy: PolicyIdle}).se
		l.place(cfs, se, false)
		wantInt(t, c.kernel+": SCHED_IDLE task", se.vruntime, c.want)
	}
}

// mechanisms.md 1.7: a new task starts one virtual slice late, or at once
// without START_DEBIT. Beside one nice-0 task that slice is 12 ms.
func Test1_7_NewTaskPaysASlice(t *testing.T) {
	for _, c := range []struct {
		settings []string
		want     int64
	}{{nil, 12_000_000}, {[]string{"NO_START_DEBIT"}, 0}} {
		l := newLab(t, uniprocessor(), "v5.17", append(c.settings, eightWayTunables...)...)
		parent := l.hog(TaskSpec{}, 0)
		l.advance(millisecond)
		child := l.NewTask(TaskSpec{ID: 1})
		l.Fork(l.clock, 0, parent, child)
		wantInt(t, "lag of the child", child.VRuntime()-parent.VRuntime(), c.want)
	}
}

// mechanisms.md 1.6, vslice: what a new task pays is its slice in its own virtual
// time. Nice 5 beside nice 0 has 24 ms * 335/1359 = 5,916,114 ns, which are
// 5916114 * 1024/335 = 18,083,882 ns to it.
func Test1_7_NewTaskPaysInItsOwnTime(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	l.hog(TaskSpec{}, 0)
	l.settle()
	se := &l.NewTask(TaskSpec{Nice: 5}).se
	l.place(&l.rqs[0].cfs, se, true)
	wantInt(t, "ahead of the queue", se.vruntime-l.rqs[0].cfs.minVruntime, 18_083_882)
}

// sched_child_runs_first swaps the two: the child gets the parent's time, the
// parent the later one, and has to make room.
func TestChildRunsFirst(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17", append(eightWayTunables, "child_runs_first=1")...)
	parent := l.hog(TaskSpec{}, 0)
	l.advance(millisecond)
	before := parent.VRuntime() + millisecond // not yet charged
	child := l.NewTask(TaskSpec{ID: 1})
	l.Fork(l.clock, 0, parent, child)
	wantInt(t, "child", child.VRuntime(), before)
	wantInt(t, "parent: a slice of 12 ms later", parent.VRuntime(), before+12_000_000)
	if next := l.Schedule(l.clock, 0, false); next != child {
		t.Error("the child does not run first")
	}
}

// Worked example 5 of mechanisms.md 1.13.
func Test1_13_5_WakeupPreemption(t *testing.T) {
	for _, c := range []struct {
		lead int64
		want preemptReason
	}{{4_000_001, preemptEarlier}, {4_000_000, preemptNo}} {
		l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
		curr, woken := runningAndQueued(l, TaskSpec{}, TaskSpec{})
		curr.se.vruntime = woken.se.vruntime + c.lead
		if got, _, _ := l.preemptVerdict(curr, woken); got != c.want {
			t.Errorf("%d ns ahead: got reason %d, want %d", c.lead, got, c.want)
		}
	}
	// The granularity is scaled by the wakee's weight: 4 ms * 1024/335.
	l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	curr, woken := runningAndQueued(l, TaskSpec{}, TaskSpec{Nice: 5})
	for lead, want := range map[int64]preemptReason{12_226_865: preemptNo, 12_226_866: preemptEarlier} {
		curr.se.vruntime = woken.se.vruntime + lead
		if got, _, _ := l.preemptVerdict(curr, woken); got != want {
			t.Errorf("nice 5, %d ns ahead: got reason %d, want %d", lead, got, want)
		}
	}
}

// runningAndQueued starts two tasks on CPU 0; the first runs, the second waits.
func runningAndQueued(l *lab, running, queued TaskSpec) (curr, waiting *Task) {
	curr = l.hog(running, 0)
	l.settle()
	waiting = l.NewTask(queued)
	l.Start(l.clock, waiting, 0)
	l.rqs[0].needResched = false
	return curr, waiting
}

// Worked example 6 of mechanisms.md 1.13, and the rest of 1.11 steps 3 to 5.
func Test1_13_6_PoliciesAndPreemption(t *testing.T) {
	far := second
	for _, c := range []struct {
		name        string
		curr, woken TaskSpec
		lead        int64 // of the running task's virtual time
		settings    []string
		want        bool
	}{
		{"idle task against nice 19, far behind", TaskSpec{Policy: PolicyIdle}, TaskSpec{Nice: 19}, -far, nil, true},
		{"idle task against batch", TaskSpec{Policy: PolicyIdle}, TaskSpec{Policy: PolicyBatch}, -far, nil, true},
		{"normal task against idle", TaskSpec{}, TaskSpec{Policy: PolicyIdle}, far, nil, false},
		{"normal task against batch", TaskSpec{}, TaskSpec{Policy: PolicyBatch}, far, nil, false},
		{"batch task against normal", TaskSpec{Policy: PolicyBatch}, TaskSpec{}, far, nil, true},
		{"idle task against idle", TaskSpec{Policy: PolicyIdle}, TaskSpec{Policy: PolicyIdle}, far, nil, false},
		{"normal task against normal", TaskSpec{}, TaskSpec{}, far, nil, true},
		{"no wakeup preemption", TaskSpec{}, TaskSpec{}, far, []string{"NO_WAKEUP_PREEMPTION"}, false},
		{"idle task without wakeup preemption", TaskSpec{Policy: PolicyIdle}, TaskSpec{}, far, []string{"NO_WAKEUP_PREEMPTION"}, true},
	} {
		for _, kernel := range []string{"v4.14", "v5.10", "v5.17", "v6.1"} {
			l := newLab(t, uniprocessor(), kernel, c.settings...)
			curr, woken := runningAndQueued(l, c.curr, c.woken)
			curr.se.vruntime = woken.se.vruntime + c.lead
			l.checkPreempt(&l.rqs[0], woken, 0)
			if got := l.NeedResched(0); got != c.want {
				t.Errorf("%s, %s: preempts %v, want %v", kernel, c.name, got, c.want)
			}
		}
	}
}

// mechanisms.md 1.11 steps 1 and 2: a task in a throttled group preempts nobody,
// the running task not itself, and nobody changes anything once a reschedule is
// on its way. The running task is a second ahead in all cases.
func Test1_11_NoPreemption(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(l *lab, curr, woken *Task) *Task // returns who was woken
		resched   bool                                  // afterwards
		nextBuddy bool
	}{
		{"another task", func(_ *lab, _, woken *Task) *Task { return woken }, true, true},
		{"the running task itself", func(_ *lab, curr, _ *Task) *Task { return curr }, false, false},
		{"in a throttled group", func(_ *lab, _, woken *Task) *Task {
			woken.se.cfs.throttledCnt = 1
			return woken
		}, false, false},
		{"a reschedule is due", func(l *lab, _, woken *Task) *Task {
			l.rqs[0].needResched = true
			return woken
		}, true, false},
	} {
		l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
		g := l.NewGroup(l.Root(), "/g")
		curr, woken := runningAndQueued(l, TaskSpec{}, TaskSpec{Group: g})
		curr.se.vruntime = g.entities[0].vruntime + second
		l.rqs[0].cfs.next = nil // the start gave a hint
		l.checkPreempt(&l.rqs[0], c.change(l, curr, woken), 0)
		if got := l.NeedResched(0); got != c.resched {
			t.Errorf("%s: reschedule %v, want %v", c.name, got, c.resched)
		}
		if got := l.rqs[0].cfs.next != nil; got != c.nextBuddy {
			t.Errorf("%s: a next buddy %v, want %v", c.name, got, c.nextBuddy)
		}
	}
}

// mechanisms.md 3.4: no entity of the idle class becomes a buddy, nor does
// anything above it by way of it.
func Test3_4_IdleClassedEntitiesAreNoBuddies(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	normal, idle := l.NewGroup(l.Root(), "/n"), l.NewGroup(l.Root(), "/i")
	mustIdle(t, l.Scheduler, idle, true)
	for _, c := range []struct {
		name        string
		task        *Task
		inGroup, up bool // hint in the task's own queue, and at the root
	}{
		{"normal task of a normal group", l.hog(TaskSpec{Group: normal}, 0), true, true},
		{"SCHED_IDLE task of a normal group", l.hog(TaskSpec{Group: normal, Policy: PolicyIdle}, 0), false, false},
		{"normal task of an idle group", l.hog(TaskSpec{Group: idle}, 0), true, false},
	} {
		root, own := &l.rqs[0].cfs, c.task.se.cfs
		for _, hint := range []struct {
			set       func(*Entity)
			root, own **Entity
		}{{l.setNextBuddy, &root.next, &own.next}, {l.setLastBuddy, &root.last, &own.last}} {
			*hint.root, *hint.own = nil, nil
			hint.set(&c.task.se)
			if (*hint.own != nil) != c.inGroup || (*hint.root != nil) != c.up {
				t.Errorf("%s: hint in its queue %v, at the root %v; want %v, %v",
					c.name, *hint.own != nil, *hint.root != nil, c.inGroup, c.up)
			}
		}
	}
}

// mechanisms.md 1.11 step 5: what counts is the class of the entities on the
// common level. A nice-0 task below an idle group never preempts a normal task,
// however late that is, and is preempted by it at once.
func Test1_11_IdleGroups(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	g := l.NewGroup(l.Root(), "/batch")
	if err := l.SetIdle(g, true); err != nil {
		t.Fatal(err)
	}
	curr, woken := runningAndQueued(l, TaskSpec{}, TaskSpec{Group: g})
	curr.se.vruntime += second
	l.checkPreempt(&l.rqs[0], woken, 0)
	if l.NeedResched(0) {
		t.Error("a task of an idle group preempted a normal one")
	}

	l = newLab(t, uniprocessor(), "v5.17")
	g = l.NewGroup(l.Root(), "/batch")
	if err := l.SetIdle(g, true); err != nil {
		t.Fatal(err)
	}
	_, woken = runningAndQueued(l, TaskSpec{Group: g}, TaskSpec{})
	woken.se.vruntime += second // off the timeline's key, but nobody sorts here
	l.checkPreempt(&l.rqs[0], woken, 0)
	if !l.NeedResched(0) {
		t.Error("a normal task did not preempt one of an idle group")
	}
}

// mechanisms.md 1.11 step 6: the entity on the common level becomes the next
// buddy; inside its group the order stays what it was.
func Test1_11_NextBuddyIsTheEntityOnTheCommonLevel(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	g := l.NewGroup(l.Root(), "/g")
	curr := l.hog(TaskSpec{}, 0)
	l.settle()
	woken := l.hog(TaskSpec{Group: g}, 0)
	leftmost := l.hog(TaskSpec{Group: g}, 0) // its first slice is shorter: a third of the CPU, not half
	l.rqs[0].needResched = false
	curr.se.vruntime += second
	l.checkPreempt(&l.rqs[0], woken, 0)
	if !l.NeedResched(0) || l.rqs[0].cfs.next != g.entities[0] {
		t.Fatal("the group's entity is not the next buddy")
	}
	if g.queues[0].next != nil {
		t.Error("inside the group nobody should be preferred")
	}
	if got := l.Schedule(l.clock, 0, false); got != leftmost {
		t.Errorf("task %d runs, want the group's leftmost", got.ID)
	}
}

// mechanisms.md 1.11 step 7 and 1.9: with nr_latency (8) tasks the preempted one
// becomes the last buddy and is returned to when the wakee sleeps, as long as
// it is not more than a granularity late; with seven it is not.
func Test1_11_LastBuddyNeedsACrowd(t *testing.T) {
	for _, c := range []struct {
		tasks int
		want  bool
	}{{7, false}, {8, true}} {
		l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
		curr, woken := runningAndQueued(l, TaskSpec{}, TaskSpec{ID: 1})
		for range c.tasks - 2 {
			l.hog(TaskSpec{}, 0)
		}
		l.rqs[0].needResched = false
		curr.se.vruntime = woken.se.vruntime + second
		l.checkPreempt(&l.rqs[0], woken, 0)
		if got := l.rqs[0].cfs.last == &curr.se; got != c.want {
			t.Errorf("%d tasks: last buddy set: %v, want %v", c.tasks, got, c.want)
		}
	}
}

// mechanisms.md 1.11: NEXT_BUDDY, off by default, prefers every wakee of a
// crowded queue, preempting or not, but no new task.
func Test1_11_NextBuddyFeature(t *testing.T) {
	for _, c := range []struct {
		settings []string
		how      wakeHow
		want     bool
	}{
		{nil, 0, false},
		{[]string{"NEXT_BUDDY"}, 0, true},
		{[]string{"NEXT_BUDDY"}, wakeNew, false},
	} {
		l := newLab(t, uniprocessor(), "v5.17", append(c.settings, eightWayTunables...)...)
		curr, woken := runningAndQueued(l, TaskSpec{}, TaskSpec{ID: 1})
		for range 6 {
			l.hog(TaskSpec{}, 0)
		}
		curr.se.vruntime = woken.se.vruntime // no preemption
		l.checkPreempt(&l.rqs[0], woken, c.how)
		if got := l.rqs[0].cfs.next == &woken.se; got != c.want {
			t.Errorf("%v, %b: next buddy set: %v, want %v", c.settings, c.how, got, c.want)
		}
	}
}

// mechanisms.md 1.9: when a task blocks, its group becomes the next buddy, so that
// a sibling runs rather than the earlier task outside (within a granularity). The
// group runs already: up to v5.13 the pick uses the hint up all the same, later
// only a switch to another entity does, and the group is preferred once more.
func Test1_9_BlockingMakesTheGroupNext(t *testing.T) {
	for _, c := range []struct {
		kernel string
		kept   bool
	}{{"v4.14", false}, {"v5.10", false}, {"v5.17", true}, {"v6.1", true}} {
		l := newLab(t, uniprocessor(), c.kernel, eightWayTunables...)
		g := l.NewGroup(l.Root(), "/g")
		first := l.hog(TaskSpec{Group: g}, 0)
		l.settle()
		sibling, outside := l.hog(TaskSpec{Group: g}, 0), l.hog(TaskSpec{}, 0)
		if l.Current(0) != first {
			t.Fatalf("%s: the first task does not run", c.kernel)
		}
		root := &l.rqs[0].cfs
		root.line.remove(&outside.se)
		outside.se.vruntime = g.entities[0].vruntime - millisecond
		root.line.insert(&outside.se)
		if got := l.Schedule(l.clock, 0, true); got != sibling {
			t.Errorf("%s: task %d runs, want the sibling", c.kernel, got.ID)
		}
		if kept := root.next == g.entities[0]; kept != c.kept {
			t.Errorf("%s: the group is still next: %v, want %v", c.kernel, kept, c.kept)
		}
		checkInvariants(t, l.Scheduler)
	}
}

// mechanisms.md 1.9: not when the group is throttled.
func Test1_9_BlockingInAThrottledGroup(t *testing.T) {
	for throttled, want := range []bool{true, false} {
		l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
		g := l.NewGroup(l.Root(), "/g")
		first := l.hog(TaskSpec{Group: g}, 0)
		l.hog(TaskSpec{Group: g}, 0)
		g.queues[0].throttledCnt = int32(throttled)
		l.deactivateTask(&l.rqs[0], first, dequeueSleep)
		if got := l.rqs[0].cfs.next == g.entities[0]; got != want {
			t.Errorf("%d throttled ancestors: the group is next: %v, want %v", throttled, got, want)
		}
	}
}

// A hint was given to a chain of entities and is taken back from all of it, up
// to where another hint has taken its place.
func TestDroppedBuddyTakesItsAncestorsAlong(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	outer := l.NewGroup(l.Root(), "/o")
	inner := l.NewGroup(outer, "/o/i")
	a := l.hog(TaskSpec{Group: inner}, 0)
	b := l.hog(TaskSpec{}, 0)
	root := &l.rqs[0].cfs
	l.setNextBuddy(&a.se)
	l.setLastBuddy(&a.se)
	root.last = &b.se
	dropBuddies(&a.se)
	switch {
	case inner.queues[0].next != nil || outer.queues[0].next != nil || root.next != nil:
		t.Error("an ancestor is still next")
	case inner.queues[0].last != nil || outer.queues[0].last != nil:
		t.Error("an ancestor is still last")
	case root.last != &b.se:
		t.Error("another task's hint was taken")
	}
}

// mechanisms.md 1.9 step 2: a buddy may be one granularity later than the
// leftmost, 4 ms here, and no more.
func Test1_9_BuddyMayBeAGranularityLate(t *testing.T) {
	for _, c := range []struct {
		late int64
		want bool
	}{{4_000_000, true}, {4_000_001, false}} {
		l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
		cfs := &l.rqs[0].cfs
		left, buddy := &l.NewTask(TaskSpec{}).se, &l.NewTask(TaskSpec{}).se
		buddy.vruntime = c.late
		cfs.line.insert(left)
		cfs.line.insert(buddy)
		cfs.next = buddy
		if got := l.pickEntity(cfs, nil) == buddy; got != c.want {
			t.Errorf("buddy %d ns late: picked %v, want %v", c.late, got, c.want)
		}
	}
}

// mechanisms.md 1.9: next wins over last, and both over skip.
func Test1_9_OrderOfHints(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	cfs := &l.rqs[0].cfs
	a, b, c := &l.NewTask(TaskSpec{}).se, &l.NewTask(TaskSpec{}).se, &l.NewTask(TaskSpec{}).se
	a.vruntime, b.vruntime, c.vruntime = 0, 1_000, 2_000
	for _, se := range []*Entity{a, b, c} {
		cfs.line.insert(se)
	}
	pick := func(name string, want *Entity) {
		t.Helper()
		if l.pickEntity(cfs, nil) != want {
			t.Errorf("%s: wrong entity", name)
		}
	}
	pick("leftmost", a)
	cfs.skip = a
	pick("leftmost skipped", b)
	b.vruntime = 5_000_000 // beyond a granularity: skipping a would be unfair
	cfs.line = timeline{}
	for _, se := range []*Entity{a, b} {
		cfs.line.insert(se)
	}
	pick("second too late to skip the first", a)
	cfs.line.insert(c)
	cfs.last = c
	pick("last", c)
	cfs.next = a
	pick("next before last", a)
}

// mechanisms.md 1.10: a tick preempts a task that ran longer than its slice (12
// ms of two), not before, and never one that ran less than 3 ms however late it
// is; in between it goes by virtual time.
func Test1_10_TickPreemption(t *testing.T) {
	for _, c := range []struct {
		name      string
		ran, lead int64
		want      bool
	}{
		{"just a slice", 12_000_000, 0, false},
		{"more than a slice", 12_000_001, 0, true},
		{"behind, but hardly ran", 2_999_999, second, false},
		{"a slice ahead of the leftmost", 3_000_000, 12_000_000, false},
		{"more than a slice ahead", 3_000_000, 12_000_001, true},
	} {
		l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
		curr, waiting := runningAndQueued(l, TaskSpec{}, TaskSpec{})
		curr.se.sumExec = curr.se.prevSumExec + c.ran
		curr.se.vruntime = waiting.se.vruntime + c.lead
		l.tickPreempt(&l.rqs[0].cfs, &curr.se)
		if got := l.NeedResched(0); got != c.want {
			t.Errorf("%s: resched %v, want %v", c.name, got, c.want)
		}
	}
}

// mechanisms.md 1.5 step 3: the reference point never goes back, and ignores a
// current entity that is not queued any more.
func Test1_5_MinVruntimeIsMonotonic(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	cfs := &cfsRQ{rq: &l.rqs[0]}
	curr := &Entity{vruntime: 50, onRQ: true}
	cfs.curr = curr
	cfs.advanceMinVruntime()
	wantInt(t, "the running one", cfs.minVruntime, 50)
	cfs.line.insert(&Entity{vruntime: 20})
	cfs.advanceMinVruntime()
	wantInt(t, "an earlier one arrives", cfs.minVruntime, 50)
	curr.onRQ = false
	cfs.line = timeline{}
	cfs.line.insert(&Entity{vruntime: 70})
	cfs.advanceMinVruntime()
	wantInt(t, "the running one has left", cfs.minVruntime, 70)
}

// sched_yield steps back on every level: a task alone in its group makes room
// for a task outside, within one granularity.
func TestYieldReachesOtherGroups(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	g := l.NewGroup(l.Root(), "/g")
	inside := l.hog(TaskSpec{Group: g}, 0)
	l.settle()
	outside := l.hog(TaskSpec{}, 0)
	outside.se.cfs.line.remove(&outside.se)
	outside.se.vruntime = g.entities[0].vruntime + 1_000
	outside.se.cfs.line.insert(&outside.se)
	l.Yield(l.clock, 0)
	if got := l.Schedule(l.clock, 0, false); got != outside {
		t.Errorf("task %d runs after the yield, want the one outside", got.ID)
	}
	if l.Current(0) == inside {
		t.Error("the yielding task still runs")
	}
	checkInvariants(t, l.Scheduler)
}
