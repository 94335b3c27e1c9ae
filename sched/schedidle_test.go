package sched

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/schedlab/schedlab/machine"
)

// newPatchLab is a balance lab of v5.17-tip with patches.
func newPatchLab(t testing.TB, m *machine.Machine, features ...string) *balanceLab {
	t.Helper()
	cfg := NewConfig(m, &v517tip)
	for _, f := range features {
		if err := cfg.SetFeature(f); err != nil {
			t.Fatal(err)
		}
	}
	l := &balanceLab{t: t, driver: &balanceDriver{}}
	var err error
	if l.Scheduler, err = New(cfg, l.driver); err != nil {
		t.Fatal(err)
	}
	l.setNow(labStart)
	for cpu := range l.rqs {
		l.StopTick(labStart, cpu)
	}
	return l
}

// start makes a task runnable on a CPU and lets the CPU react.
func (l *balanceLab) start(cpu int, spec TaskSpec) *Task {
	l.nextID++
	spec.ID, spec.CPU = l.nextID, cpu
	task := l.NewTask(spec)
	l.Start(l.now, task, cpu)
	l.react()
	return task
}

func (l *balanceLab) startIdleClass(cpu int) *Task { return l.start(cpu, TaskSpec{Policy: PolicyIdle}) }

// ages lets time pass on a CPU without any tick, so that waiting tasks are no
// longer cache hot.
func (l *balanceLab) ages(ms int64) { l.setNow(l.now + ms*1_000_000) }

// inMask reports whether a CPU's cache counts it as overloaded.
func (l *balanceLab) inMask(cpu int) bool { return l.rqs[cpu].llcShared.Overload.CPUs.Has(cpu) }

func (l *balanceLab) checkInvariants() {
	l.t.Helper()
	if err := l.CheckInvariants(); err != nil {
		l.t.Fatal(err)
	}
}

// mechanisms.md 10.5 example 2.
func TestExample2WhatOverloadedIs(t *testing.T) {
	groupOf := func(l *balanceLab, name string, idle bool) *TaskGroup {
		g := l.NewGroup(l.root, name)
		if idle {
			if err := l.SetIdle(g, true); err != nil {
				t.Fatal(err)
			}
		}
		return g
	}
	t.Run("1 normal and 5 SCHED_IDLE", func(t *testing.T) {
		l := newPatchLab(t, balanceMachine(1, 4, 1), "SIS_FILTER")
		l.start(0, TaskSpec{})
		for range 5 {
			l.startIdleClass(0)
		}
		l.Tick(l.now, 0)
		if l.inMask(0) {
			t.Error("overloaded")
		}
		l.checkInvariants()
	})
	t.Run("2 normal in different groups", func(t *testing.T) {
		l := newPatchLab(t, balanceMachine(1, 4, 1), "SIS_FILTER")
		l.start(0, TaskSpec{Group: groupOf(l, "/a", false)})
		l.start(0, TaskSpec{Group: groupOf(l, "/b", false)})
		if l.inMask(0) {
			t.Error("overloaded before the tick")
		}
		l.Tick(l.now, 0)
		if !l.inMask(0) || l.rqs[0].llcShared.Overload.Count != 1 {
			t.Error("not overloaded after the tick")
		}
		l.checkInvariants()
	})
	t.Run("2 normal, one below an idle group", func(t *testing.T) {
		l := newPatchLab(t, balanceMachine(1, 4, 1), "SIS_FILTER")
		l.start(0, TaskSpec{})
		l.start(0, TaskSpec{Group: l.NewGroup(groupOf(l, "/i", true), "/i/below")})
		l.Tick(l.now, 0)
		if l.inMask(0) {
			t.Error("overloaded")
		}
		l.checkInvariants()
	})
}

// mechanisms.md 10.5 example 3: a CPU that runs empty leaves the mask when its
// newidle search has failed, not when that has pulled a task.
func TestExample3EmptyCPULeavesMask(t *testing.T) {
	for _, pulls := range []bool{false, true} {
		l := newPatchLab(t, balanceMachine(1, 2, 1), "SIS_FILTER")
		tasks := []*Task{l.start(0, TaskSpec{}), l.start(0, TaskSpec{})}
		l.Tick(l.now, 0)
		if !l.inMask(0) {
			t.Fatal("two tasks are not overloaded")
		}
		if pulls {
			l.start(1, TaskSpec{})
			l.start(1, TaskSpec{})
		}
		l.ages(10)
		for range tasks {
			l.Schedule(l.now, 0, true)
		}
		if got := l.NrRunning(0) > 0; got != pulls {
			t.Fatalf("pulled %v, want %v", got, pulls)
		}
		if got := l.inMask(0); got != pulls {
			t.Errorf("newidle pulled: %v; still in the mask: %v", pulls, got)
		}
		l.checkInvariants()
	}
}

// pullScene is example 5: CPU 0 runs two idle-class tasks, CPU 3 has A (normal,
// running), B (normal) and C (idle-class, the tail of the list).
type pullScene struct {
	*balanceLab
	a, b, c *Task
}

func newPullScene(t testing.TB, features ...string) *pullScene {
	l := newPatchLab(t, balanceMachine(1, 4, 1), features...)
	s := &pullScene{balanceLab: l}
	s.c = l.startIdleClass(3)
	s.b = l.start(3, TaskSpec{})
	s.a = l.start(3, TaskSpec{})
	l.startIdleClass(0)
	l.startIdleClass(0)
	for l.Current(3) != s.a { // newly started tasks wait a slice
		l.ages(12)
		l.Tick(l.now, 3)
		l.Schedule(l.now, 3, false)
	}
	// B ran before A; C has not run for longest.
	l.rqs[3].moveLRUFront(s.b)
	l.rqs[3].moveLRUFront(s.a)
	l.Tick(l.now, 3)
	if !l.inMask(3) {
		t.Fatal("CPU 3 is not overloaded")
	}
	l.ages(1)
	return s
}

// mechanisms.md 10.5 example 5: C is passed over because it is idle-class, A
// because it runs; B goes, and CPU 3, with one normal task left, leaves the mask.
func TestExample5PullsWaitingNormalTask(t *testing.T) {
	s := newPullScene(t, "SIS_FILTER", "SCHED_IDLE_BALANCE")
	dst := &s.rqs[0]
	s.enterBalancing(dst)
	if !s.pullNormal(dst) {
		t.Fatal("nothing was pulled")
	}
	if s.b.CPU() != 0 || s.a.CPU() != 3 || s.c.CPU() != 3 {
		t.Errorf("A, B, C on %s, want 3 0 3", on([]*Task{s.a, s.b, s.c}))
	}
	if s.inMask(3) {
		t.Error("CPU 3 is still in the mask")
	}
	if got := dst.llc.balanced.Moved[SchedIdle]; got != 1 {
		t.Errorf("counted %d tasks moved, want 1", got)
	}
	s.checkInvariants()
}

// RFC v1 leaves the source in the mask until its next tick.
func TestPullV1LeavesSourceInMask(t *testing.T) {
	s := newPullScene(t, "SIS_FILTER_V1", "SCHED_IDLE_BALANCE_V1")
	s.enterBalancing(&s.rqs[0])
	if !s.pullNormal(&s.rqs[0]) || s.b.CPU() != 0 {
		t.Fatalf("B is on CPU %d", s.b.CPU())
	}
	if !s.inMask(3) {
		t.Error("CPU 3 has left the mask")
	}
	s.checkInvariants()
}

// PATCH v3's tracking sees a move at once, on both sides.
func TestV3SeesMovedTasks(t *testing.T) {
	l := newPatchLab(t, balanceMachine(1, 2, 1), "SIS_FILTER_V3")
	l.spin(0, 4)
	l.Tick(l.now, 0)
	l.ages(10)
	l.Schedule(l.now, 1, false) // newidle
	if l.NrRunning(1) != 2 || !l.inMask(1) || !l.inMask(0) {
		t.Errorf("tasks %s, mask %v", l.counts(), l.rqs[0].llcShared.Overload.CPUs.CPUs())
	}
	l.checkInvariants()
}

// mechanisms.md 10.5 example 6: src has one normal task, dst one, too: the
// normal task stays, an idle-class one may go. It holds for every kind of
// balancing; where dst has none the normal task may go; mixed capacities lift
// the refusal; a pull takes no idle-class task. RFC v1 keeps the last normal
// task whatever dst has.
func TestExample6LastNormalTaskStays(t *testing.T) {
	for _, c := range []struct {
		feature  string
		dstBusy  bool
		mixed    bool
		idle     IdleType
		normal   migrateVerdict
		idleTask migrateVerdict
	}{
		{"SCHED_IDLE_BALANCE", true, false, NotIdle, migrateLastNormal, migrateCold},
		{"SCHED_IDLE_BALANCE", true, false, Idle, migrateLastNormal, migrateCold},
		{"SCHED_IDLE_BALANCE", true, false, NewlyIdle, migrateLastNormal, migrateCold},
		{"SCHED_IDLE_BALANCE", false, false, NotIdle, migrateCold, migrateCold},
		{"SCHED_IDLE_BALANCE", true, true, NotIdle, migrateCold, migrateCold},
		{"SCHED_IDLE_BALANCE", false, false, SchedIdle, migrateCold, migrateIdleClass},
		{"SCHED_IDLE_BALANCE_V1", true, false, NotIdle, migrateLastNormal, migrateCold},
		{"SCHED_IDLE_BALANCE_V1", false, false, NotIdle, migrateLastNormal, migrateCold},
		{"SCHED_IDLE_BALANCE_V1", false, true, SchedIdle, migrateLastNormal, migrateIdleClass},
	} {
		l := newPatchLab(t, balanceMachine(1, 2, 1), c.feature)
		if c.dstBusy {
			l.start(0, TaskSpec{})
		}
		running := l.startIdleClass(1)
		idleTask := l.startIdleClass(1)
		normal := l.queue(1) // waits: the CPU has not reacted
		if l.Current(1) != running {
			t.Fatal("the wrong task runs")
		}
		l.ages(1)
		l.scratch.mixed = c.mixed
		env := l.env(0, "MC", c.idle)
		env.src = &l.rqs[1]
		env.flags = envAllPinned
		if got := l.consider(env, normal); got != c.normal {
			t.Errorf("%+v: normal task: %s", c, got)
		}
		// The refusal comes before the test of affinity (mechanisms.md 10.3).
		if stays := env.has(envAllPinned); stays != (c.normal == migrateLastNormal) {
			t.Errorf("%+v: all pinned %v after the normal task", c, stays)
		}
		if got := l.consider(env, idleTask); got != c.idleTask {
			t.Errorf("%+v: idle-class task: %s", c, got)
		}
	}
}

// A source that is left only for such refusals counts as all pinned, although
// its running task is what keeps the balancer from moving anything
// (mechanisms.md 10.3).
func TestRefusedSourceCountsAsPinned(t *testing.T) {
	for _, c := range []struct {
		features  []string
		allPinned bool
	}{{nil, false}, {[]string{"SCHED_IDLE_BALANCE"}, true}} {
		l := newPatchLab(t, balanceMachine(1, 2, 1), c.features...)
		l.start(0, TaskSpec{})
		l.start(1, TaskSpec{})
		l.start(1, TaskSpec{Policy: PolicyIdle, Allowed: machine.MaskOf(2, 1)})
		env := l.env(0, "MC", NotIdle)
		env.src, env.move, env.imbalance, env.flags = &l.rqs[1], moveTask, 1, envAllPinned
		if moved := l.pull(env); moved != 0 {
			t.Fatalf("%v: moved %d tasks", c.features, moved)
		}
		if got := env.has(envAllPinned); got != c.allPinned {
			t.Errorf("%v: all pinned %v, want %v", c.features, got, c.allPinned)
		}
	}
}

// mechanisms.md 10.5 example 7.
func TestExample7PullEndsRebalance(t *testing.T) {
	for _, c := range []struct {
		features []string
		passes   bool // load balancing goes on after the pull
	}{
		{[]string{"SIS_FILTER", "SCHED_IDLE_BALANCE"}, false},
		{[]string{"SIS_FILTER_V1", "SCHED_IDLE_BALANCE_V1"}, true},
	} {
		s := newPullScene(t, c.features...)
		rq := &s.rqs[0]
		s.ages(1000) // all domains are due
		rq.nextBalance = s.jiffies - 3
		s.enterBalancing(rq)
		s.rebalance(rq, NotIdle)
		if s.b.CPU() != 0 {
			t.Fatalf("%v: B was not pulled", c.features)
		}
		passes := rq.llc.balanced.Passes[NotIdle] > 0
		if passes != c.passes {
			t.Errorf("%v: load balancing went on: %v", c.features, passes)
		}
		if unchanged := rq.nextBalance == s.jiffies-3; unchanged == c.passes {
			t.Errorf("%v: next_balance unchanged: %v", c.features, unchanged)
		}
	}
}

// mechanisms.md 10.2: after a pull the domains are visited for the decay of their
// costs alone, as far as these decay: SMT's and MC's are due, 25600 to 25300, the
// CPU's own limit follows.
func TestPullLeavesOnlyTheDecay(t *testing.T) {
	for _, c := range []struct {
		name           string
		smt, mc        bool // decay is due
		wantSMT, want  int64
		wantOwnChanged bool
	}{
		{"both due", true, true, 25_300, 25_300, true},
		{"the lower one alone", true, false, 25_300, 25_600, false},
		{"the lower one is not: no further", false, true, 25_600, 25_600, false},
	} {
		s := newPullScene(t, "SIS_FILTER", "SCHED_IDLE_BALANCE")
		rq := &s.rqs[0]
		s.ages(3000)
		low := &Domain{Name: "below", Span: rq.llc.Span, Parent: rq.llc, lastBalance: s.jiffies}
		rq.sd = low
		rq.maxIdleBalanceCost = 9_000_000
		for d, due := range map[*Domain]bool{low: c.smt, rq.llc: c.mc} {
			d.maxNewidleCost, d.lastDecay = 25_600, s.jiffies
			if due {
				d.lastDecay -= 2 * s.hz
			}
		}
		s.enterBalancing(rq)
		s.rebalance(rq, NotIdle)
		if s.b.CPU() != 0 || rq.llc.balanced.Passes[NotIdle] != 0 {
			t.Fatalf("%s: B on CPU %d, %d passes", c.name, s.b.CPU(), rq.llc.balanced.Passes[NotIdle])
		}
		wantInt(t, c.name+": cost of the lower domain", low.maxNewidleCost, c.wantSMT)
		wantInt(t, c.name+": cost of MC", rq.llc.maxNewidleCost, c.want)
		if changed := rq.maxIdleBalanceCost == s.tun.MigrationCost; changed != c.wantOwnChanged {
			t.Errorf("%s: the CPU's own limit is %d", c.name, rq.maxIdleBalanceCost)
		}
	}
}

// mechanisms.md 3.5, task_h_idle: by its policy, or by any group above it.
func TestHierarchicallyIdle(t *testing.T) {
	l := newPatchLab(t, balanceMachine(1, 2, 1), "SCHED_IDLE_BALANCE")
	normal, idle := l.NewGroup(l.root, "/n"), l.NewGroup(l.root, "/i")
	if err := l.SetIdle(idle, true); err != nil {
		t.Fatal(err)
	}
	below := l.NewGroup(idle, "/i/b")
	for _, c := range []struct {
		name string
		spec TaskSpec
		want bool
	}{
		{"normal task", TaskSpec{}, false},
		{"normal task of a normal group", TaskSpec{Group: normal}, false},
		{"batch task of a normal group", TaskSpec{Group: normal, Policy: PolicyBatch}, false},
		{"SCHED_IDLE task of a normal group", TaskSpec{Group: normal, Policy: PolicyIdle}, true},
		{"normal task of an idle group", TaskSpec{Group: idle}, true},
		{"normal task below an idle group", TaskSpec{Group: below}, true},
	} {
		task := l.NewTask(c.spec)
		if got := task.hierarchicallyIdle(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		// 10.3: a pull takes no such task, any other kind of balancing does.
		env := l.env(0, "MC", SchedIdle)
		env.src = &l.rqs[1]
		want := migrateCold
		if c.want {
			want = migrateIdleClass
		}
		if got := keepLastBesideBusy(l.Scheduler, env, task); got != want {
			t.Errorf("%s, pull: %s, want %s", c.name, got, want)
		}
		env.idle = Idle
		if got := keepLastBesideBusy(l.Scheduler, env, task); got != migrateCold {
			t.Errorf("%s, idle: %s, want %s", c.name, got, migrateCold)
		}
	}
}

// Without a pull the run goes on as ever.
func TestRebalanceGoesOnWithoutPull(t *testing.T) {
	l := newPatchLab(t, balanceMachine(1, 4, 1), "SCHED_IDLE_BALANCE")
	l.startIdleClass(0)
	l.ages(1000)
	l.enterBalancing(&l.rqs[0])
	l.rebalance(&l.rqs[0], NotIdle)
	if l.rqs[0].llc.balanced.Passes[NotIdle] != 1 {
		t.Error("no pass was made")
	}
}

// mechanisms.md 10.5 example 8: B ran 0.3 ms ago. With as many failures as
// cache_nice_tries of the LLC (1) it stays; with one more it goes.
func TestExample8CacheHotTaskStays(t *testing.T) {
	for _, failed := range []int32{1, 2} {
		s := newPullScene(t, "SIS_FILTER", "SCHED_IDLE_BALANCE")
		s.b.se.execStart = s.now - 300_000
		dst := &s.rqs[0]
		dst.llc.nrBalanceFailed = failed
		s.enterBalancing(dst)
		if pulled := s.pullNormal(dst); pulled != (failed > 1) {
			t.Errorf("%d failures: pulled %v", failed, pulled)
		}
	}
}

// mechanisms.md 10.5 example 9: after a rebuild the mask is empty and the
// cached bit is 1. The first change takes back what the record never got, the
// second one writes again.
func TestExample9DomainRebuild(t *testing.T) {
	l := newPatchLab(t, balanceMachine(1, 2, 1), "SIS_FILTER")
	tasks := l.spin(0, 2)
	l.Tick(l.now, 0)
	l.buildDomains()
	state := func(when string, inMask, cached bool, count int32) {
		t.Helper()
		rq := &l.rqs[0]
		if l.inMask(0) != inMask || rq.overloaded != cached || rq.llcShared.Overload.Count != count {
			t.Errorf("%s: mask %v, cached %v, count %d; want %v %v %d",
				when, l.inMask(0), rq.overloaded, rq.llcShared.Overload.Count, inMask, cached, count)
		}
		l.checkInvariants()
	}
	l.Tick(l.now, 0)
	state("still overloaded", false, true, 0)
	waiting := tasks[0]
	if l.Current(0) == waiting {
		waiting = tasks[1]
	}
	l.deactivateTask(&l.rqs[0], waiting, dequeueSleep)
	l.Tick(l.now, 0)
	state("not overloaded any more", false, false, -1)
	l.activateTask(&l.rqs[0], waiting, enqueueWakeup)
	l.Tick(l.now, 0)
	state("overloaded again", true, true, 0)
}

// A CPU that another one is pulling from is left alone until that pull is over.
func TestPullsFromOneCPUDoNotOverlap(t *testing.T) {
	s := newPullScene(t, "SIS_FILTER", "SCHED_IDLE_BALANCE")
	s.queue(3)
	dst := &s.rqs[1] // idle
	s.rqs[3].pulledUntil = s.now + 10
	s.enterBalancing(dst)
	before := s.work.PullProbes
	s.prices = Prices{} // work takes no time here
	if s.pullNormal(dst) || s.work.PullProbes != before+1 {
		t.Error("pulled from a CPU that another one holds")
	}
	s.setNow(s.now + 10)
	s.enterBalancing(dst)
	if !s.pullNormal(dst) {
		t.Error("nothing pulled after that")
	}
}

// The search starts behind the CPU that pulls and goes round.
func TestPullStartsBehindTheCPU(t *testing.T) {
	l := newPatchLab(t, balanceMachine(1, 4, 1), "SCHED_IDLE_BALANCE")
	for _, cpu := range []int{1, 3} {
		l.spin(cpu, 3)
		l.Tick(l.now, cpu)
		*l.driver = balanceDriver{} // no idle balancer meanwhile
	}
	l.ages(10)
	for _, c := range []struct {
		dst  int
		want string
	}{{2, "0 3 1 2"}, {0, "1 2 1 2"}} {
		l.enterBalancing(&l.rqs[c.dst])
		l.pullNormal(&l.rqs[c.dst])
		if got := l.counts(); got != c.want {
			t.Errorf("after the pull of CPU %d: %s, want %s", c.dst, got, c.want)
		}
	}
}

// The idle load balancer pulls on behalf of tickless CPUs.
func TestIdleBalancerPulls(t *testing.T) {
	l := newPatchLab(t, balanceMachine(1, 4, 1), "SIS_FILTER", "SCHED_IDLE_BALANCE")
	l.spin(0, 4)
	l.run(40)
	if got := l.counts(); got != "1 1 1 1" {
		t.Errorf("tasks %s after 40 ms, want 1 1 1 1", got)
	}
	moved := int64(0)
	for cpu := range l.rqs {
		moved += l.rqs[cpu].llc.balanced.Moved[SchedIdle]
	}
	if moved == 0 {
		t.Error("no task was moved by a sched-idle pull")
	}
	l.checkInvariants()
}

// newidle with an idle-class task at hand: with overloaded CPUs in the cache
// RFC v2 goes on to the next domain for a normal one, without it stops.
func TestNewidleInsistsOnNormalTask(t *testing.T) {
	idleClass := func(l *balanceLab) *runqueue {
		l.startIdleClass(0)
		return &l.rqs[0]
	}
	l := newPatchLab(t, balanceMachine(1, 2, 1), "SCHED_IDLE_BALANCE")
	rq := idleClass(l)
	for _, c := range []struct {
		done   func(*runqueue, int, bool) bool
		pulled int
		nearby bool
		want   bool
	}{
		{hasNormalTask, 1, true, false}, {hasNormalTask, 1, false, true},
		{hasNormalTask, 0, false, false}, // came by a wakeup: vanilla stops, v2 does not
		{hasAnyTask, 0, false, true}, {hasAnyTask, 1, true, true},
	} {
		if got := c.done(rq, c.pulled, c.nearby); got != c.want {
			t.Errorf("pulled %d, overload nearby %v: done %v, want %v", c.pulled, c.nearby, got, c.want)
		}
	}
	l.start(0, TaskSpec{})
	if !hasNormalTask(rq, 0, true) {
		t.Error("a normal task does not end the search")
	}
}

// RFC v1 5/5: for an idle-class task a CPU with idle-class tasks only is no
// better than a busy one; it takes the idle CPU.
func TestIdleTasksIgnoreSchedIdleInV1(t *testing.T) {
	for _, c := range []struct {
		feature string
		policy  Policy
		want    int
	}{
		{"SCHED_IDLE_BALANCE", PolicyIdle, 1}, {"SCHED_IDLE_BALANCE_V1", PolicyIdle, 2},
		{"SCHED_IDLE_BALANCE_V1", PolicyNormal, 1},
	} {
		l := newPatchLab(t, balanceMachine(1, 4, 1), c.feature)
		l.start(0, TaskSpec{})
		l.startIdleClass(1)
		l.start(3, TaskSpec{})
		group := &CPUGroup{Span: machine.MaskOf(4, 0, 1, 2, 3), Weight: 4}
		if got := l.idlestCPU(group, l.NewTask(TaskSpec{Policy: c.policy}), 0); got != c.want {
			t.Errorf("%s, %s: CPU %d, want %d", c.feature, c.policy, got, c.want)
		}
	}
}

// Whatever happens, each cache's mask, its count and its CPUs' notes agree, and
// a CPU is in the mask exactly if it was overloaded when it last looked.
func TestMasksStayConsistent(t *testing.T) {
	combinations := [][]string{
		{"SIS_FILTER"}, {"SIS_FILTER_V3"}, {"SIS_CORE"}, {"SCHED_IDLE_BALANCE"},
		{"SIS_FILTER", "SCHED_IDLE_BALANCE"}, {"SIS_FILTER_V1", "SCHED_IDLE_BALANCE_V1"},
		{"SIS_CORE", "SCHED_IDLE_BALANCE"}, {"SIS_FILTER_V3", "SCHED_IDLE_BALANCE"},
	}
	for _, features := range combinations {
		t.Run(fmt.Sprint(features), func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				m := newMaskModel(t, r, features)
				for range rapid.IntRange(1, 40).Draw(r, "steps") {
					m.step(r)
					if err := m.lab.CheckInvariants(); err != nil {
						r.Fatal(err)
					}
				}
			})
		})
	}
}

// maskModel drives a small machine at random.
type maskModel struct {
	lab    *balanceLab
	asleep []*Task
	groups []*TaskGroup
}

func newMaskModel(t *testing.T, r *rapid.T, features []string) *maskModel {
	shape := rapid.SampledFrom([][3]int{{1, 4, 1}, {2, 2, 2}}).Draw(r, "machine")
	m := &maskModel{lab: newPatchLab(t, balanceMachine(shape[0], shape[1], shape[2]), features...)}
	idle := m.lab.NewGroup(m.lab.root, "/idle")
	if err := m.lab.SetIdle(idle, true); err != nil {
		r.Fatal(err)
	}
	m.groups = []*TaskGroup{m.lab.root, m.lab.NewGroup(m.lab.root, "/a"), idle, m.lab.NewGroup(idle, "/idle/b")}
	return m
}

func (m *maskModel) step(r *rapid.T) {
	l := m.lab
	cpu := rapid.IntRange(0, l.NumCPUs()-1).Draw(r, "cpu")
	switch rapid.IntRange(0, 6).Draw(r, "step") {
	case 0, 1:
		spec := TaskSpec{Group: rapid.SampledFrom(m.groups).Draw(r, "group")}
		if rapid.IntRange(0, 3).Draw(r, "policy") == 0 {
			spec.Policy = PolicyIdle
		}
		l.start(cpu, spec)
	case 2:
		if t := l.Current(cpu); t != nil {
			m.asleep = append(m.asleep, t)
			if l.Schedule(l.now, cpu, true) == nil {
				l.StopTick(l.now, cpu)
			}
		}
	case 3:
		if len(m.asleep) > 0 {
			t := m.asleep[0]
			m.asleep = m.asleep[1:]
			to := l.Wake(l.now, cpu, t, false)
			l.HandleWakeList(l.now, to)
		}
	case 4, 5:
		l.run(4)
		m.checkFresh(r)
	case 6:
		l.ages(rapid.Int64Range(1, 30).Draw(r, "ms"))
	}
	l.react()
}

// checkFresh: right after all busy CPUs have ticked, the mask is what the CPUs
// are, but for those that have changed during these ticks.
func (m *maskModel) checkFresh(r *rapid.T) {
	l := m.lab
	if l.variants.overload == nil {
		return
	}
	for cpu := range l.rqs {
		rq := &l.rqs[cpu]
		if rq.curr != nil {
			l.Tick(l.now, cpu)
			l.driver.softirq = false
			if rq.overloaded != l.variants.overload.overloaded(rq) || l.inMask(cpu) != rq.overloaded {
				r.Fatalf("CPU %d right after its tick: %d normal tasks, in the mask %v", cpu, rq.normalTasks(), l.inMask(cpu))
			}
		}
	}
}

// With every patch off nothing of them is counted or kept.
func TestPatchesOffCostNothing(t *testing.T) {
	l := newPatchLab(t, balanceMachine(2, 4, 2))
	l.spin(0, 12)
	l.run(100)
	var p Prices
	p.MaskUpdate, p.MaskLookup, p.MaskFetch, p.MaskFetchRemote, p.PullProbe = 1, 1, 1, 1, 1
	if cost := p.Cost(&l.work); cost != 0 {
		t.Errorf("%d units of work of the patches", cost)
	}
	for cpu := range l.rqs {
		if m := l.rqs[cpu].llcShared; m.Overload.CPUs != nil || m.IdleCPUs.CPUs != nil {
			t.Fatal("a mask was made")
		}
	}
}

// PATCH v3's tracking also sees what the stopper pushes.
func TestV3SeesPushedTask(t *testing.T) {
	l := newPatchLab(t, balanceMachine(1, 2, 1), "SIS_FILTER_V3")
	l.spin(0, 2)
	l.Tick(l.now, 0)
	*l.driver = balanceDriver{}
	l.start(1, TaskSpec{})
	l.ages(10)
	l.rqs[0].activeBalance, l.rqs[0].pushCPU = true, 1
	l.ActiveBalance(l.now, 0)
	if l.counts() != "1 2" || l.inMask(0) || !l.inMask(1) {
		t.Errorf("tasks %s; in the mask: CPU 0 %v, CPU 1 %v", l.counts(), l.inMask(0), l.inMask(1))
	}
	l.checkInvariants()
}

// RFC v1 pulls at the start of a newidle search and pays for it out of the
// CPU's idle time: a pull that takes longer than that leaves none for passes.
func TestV1PullCountsAsNewidleCost(t *testing.T) {
	for _, c := range []struct {
		moveCost int64
		passes   int64
	}{{0, 1}, {2_000_000, 0}} {
		l := newPatchLab(t, balanceMachine(1, 2, 1), "SCHED_IDLE_BALANCE_V1")
		l.spin(0, 3)
		l.Tick(l.now, 0)
		*l.driver = balanceDriver{}
		l.ages(10)
		l.prices = Prices{TaskMoved: c.moveCost}
		rq := &l.rqs[1] // idles 1 ms on average
		l.Schedule(l.now, 1, false)
		if l.NrRunning(1) == 0 {
			t.Fatal("nothing was pulled")
		}
		if got := rq.llc.balanced.Passes[NewlyIdle]; got != c.passes {
			t.Errorf("a move of %d ns: %d passes, want %d", c.moveCost, got, c.passes)
		}
		if got := rq.maxIdleBalanceCost; got != max(500_000, c.moveCost) {
			t.Errorf("a move of %d ns: max_idle_balance_cost %d", c.moveCost, got)
		}
	}
}
