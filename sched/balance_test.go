package sched

import (
	"testing"

	"pgregory.net/rapid"
)

// 9.2: LLC of 48, HZ 250. Idle 48 ms = 12 jiffies; busy 16 times that, 768 ms
// = 192, less one. v4.14: 32 times, 1536 ms = 384, and nothing taken off.
func TestBalanceIntervals(t *testing.T) {
	for _, c := range []struct {
		kernel string
		idle   IdleType
		want   int64
	}{
		{"v5.17", Idle, 12}, {"v5.17", NotIdle, 191}, {"v6.1", NotIdle, 191}, {"v5.10", NotIdle, 191},
		{"v4.14", Idle, 12}, {"v4.14", NotIdle, 384},
		// v3.8's caches begin with 1 ms: busy 64 ms = 16 jiffies.
		{"v3.8", Idle, 1}, {"v3.8", NotIdle, 16}, {"v3.2", NotIdle, 16},
	} {
		l := newBalanceLab(t, c.kernel, balanceMachine(2, 24, 2))
		if got := l.interval(&l.rqs[0], l.domain(0, "MC"), c.idle); got != c.want {
			t.Errorf("%s, %s: %d jiffies, want %d", c.kernel, c.idle, got, c.want)
		}
	}
}

// A tenth of a second a CPU is the longest: 4 CPUs, HZ 250: 100 jiffies. The
// shortest is one jiffy: an idle core's 1 ms.
func TestBalanceIntervalIsClamped(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
	d := l.domain(0, "MC")
	d.balanceInterval = 512 // busy: 8192 ms = 2048 jiffies
	if got := l.interval(&l.rqs[0], d, NotIdle); got != 100 {
		t.Errorf("longest %d, want 100", got)
	}
	d.balanceInterval = 1
	if got := l.interval(&l.rqs[0], d, Idle); got != 1 {
		t.Errorf("shortest %d, want 1", got)
	}
}

// 9.2: next_balance becomes that of the domain that is due first. Without a
// domain, or with none that is due within a minute, it stays.
func TestNextBalanceIsOfTheDomainDueFirst(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 1, 1))
	l.rqs[0].nextBalance = 7
	l.BalanceSoftirq(l.now, 0)
	wantInt(t, "next_balance without a domain", l.rqs[0].nextBalance, 7)

	l = newBalanceLab(t, "v5.17", balanceMachine(1, 4, 2))
	smt, mc := l.domain(0, "SMT"), l.domain(0, "MC")
	smt.lastBalance, mc.lastBalance = l.jiffies, l.jiffies
	l.rqs[0].idleBalance = true
	l.BalanceSoftirq(l.now, 0) // SMT 2 ms: 1 jiffy; MC 8 ms: 2
	wantInt(t, "SMT is due first", l.rqs[0].nextBalance-l.jiffies, 1)
	smt.lastBalance = l.jiffies + 1
	l.BalanceSoftirq(l.now, 0)
	wantInt(t, "both at once", l.rqs[0].nextBalance-l.jiffies, 2)
	smt.lastBalance, mc.lastBalance = l.jiffies+60*l.hz, l.jiffies+60*l.hz
	l.rqs[0].nextBalance = 7
	l.BalanceSoftirq(l.now, 0)
	wantInt(t, "none within a minute", l.rqs[0].nextBalance, 7)
}

// A CPU with only SCHED_IDLE work is balanced as often as an idle one, except
// in v4.14 and before.
func TestSchedIdleCPUBalancesAsIdle(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   int64
	}{{"v5.17", 1}, {"v4.14", 32}, {"v3.8", 16}} { // 4 ms; v4.14 busy: 128 ms, v3.8: 64 ms
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 4, 1))
		rq := &l.rqs[0]
		rq.nr, rq.cfs.hIdle = 1, 1
		if got := l.interval(rq, l.domain(0, "MC"), NotIdle); got != c.want {
			t.Errorf("%s: %d jiffies, want %d", c.kernel, got, c.want)
		}
	}
}

// 9.11: the interval doubles from 48 to 96 and no further; movement resets it.
func TestIntervalDoublesWhenBalanced(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(2, 24, 2))
	rq, d := &l.rqs[0], l.domain(0, "MC")
	for _, want := range []int64{96, 96} {
		if res := l.balancePass(rq, d, Idle); res.outcome != passBalanced {
			t.Fatalf("an idle cache is %s", res.outcome)
		}
		if d.balanceInterval != want {
			t.Errorf("interval %d ms, want %d", d.balanceInterval, want)
		}
	}
	l.spin(1, 4)
	d.nrBalanceFailed = 1
	// Core {1,49} has 4 tasks, core {0,48} none: (4-0)/2 move.
	res := l.balancePass(rq, d, Idle)
	if res.outcome != passMoved || res.moved != 2 || res.imbalance != 2 || res.move != moveTask || res.src != 1 {
		t.Errorf("pass %+v, want 2 tasks moved from CPU 1", res)
	}
	if d.balanceInterval != 48 || d.nrBalanceFailed != 0 {
		t.Errorf("after movement: interval %d ms, %d failures; want 48 and 0", d.balanceInterval, d.nrBalanceFailed)
	}
}

// 5.4: periodic passes renew the local group's capacity, newidle ones only when
// its time has come.
func TestPassRenewsGroupCapacity(t *testing.T) {
	for _, c := range []struct {
		idle  IdleType
		later int64 // jiffies until the next update
		want  int64
	}{{Idle, 100, 1024}, {NewlyIdle, 100, 7}, {NewlyIdle, 0, 1024}} {
		l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
		d := l.domain(0, "MC")
		d.Groups.Cap.Capacity, d.Groups.Cap.NextUpdate = 7, l.jiffies+c.later
		l.balancePass(&l.rqs[0], d, c.idle)
		if got := d.Groups.Cap.Capacity; got != c.want {
			t.Errorf("%s, due in %d: capacity %d, want %d", c.idle, c.later, got, c.want)
		}
	}
}

// A newidle pass without result leaves the interval alone, except in v4.14.
func TestNewidleDoesNotGrowTheInterval(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   int64
	}{{"v5.17", 4}, {"v5.10", 4}, {"v4.14", 8}} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 4, 1))
		d := l.domain(0, "MC")
		l.balancePass(&l.rqs[0], d, NewlyIdle)
		if d.balanceInterval != c.want {
			t.Errorf("%s: interval %d ms, want %d", c.kernel, d.balanceInterval, c.want)
		}
	}
}

// 9.6: the first idle CPU of the group balances, or else its first CPU.
func TestElection(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 2)) // cores {0,4} {1,5} ...
	elected := func(cpu int, idle IdleType) bool { return l.elected(l.env(cpu, "MC", idle)) }
	l.spin(0, 1, 0)
	if elected(0, NotIdle) || !elected(4, Idle) {
		t.Error("CPU 0 busy, 4 idle: 4 balances for core {0,4}")
	}
	l.spin(4, 1, 4)
	if !elected(0, NotIdle) || elected(4, NotIdle) {
		t.Error("both busy: 0 balances for core {0,4}")
	}
	if !elected(4, NewlyIdle) {
		t.Error("a newidle pass needs no election")
	}
}

// v6.1 gives a newidle pass up once the CPU has work.
func TestNewidlePassRefusedWithWork(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   bool
	}{{"v5.17", true}, {"v6.1", false}} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 4, 1))
		l.queue(0)
		if got := l.elected(l.env(0, "MC", NewlyIdle)); got != c.want {
			t.Errorf("%s: elected %v, want %v", c.kernel, got, c.want)
		}
	}
}

// A CPU that is not elected stops climbing; it counts as balanced.
func TestNotElectedStopsClimbing(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(2, 4, 2)) // node 0: cores {0,8} {1,9} ...
	for _, cpu := range []int{0, 8} {
		l.spin(cpu, 1, cpu)
	}
	smt, mc, numa := l.domain(8, "SMT"), l.domain(8, "MC"), l.domain(8, "NUMA")
	for _, d := range []*Domain{smt, mc, numa} {
		d.lastBalance = 0
	}
	mc.nrBalanceFailed = 2
	l.enterBalancing(&l.rqs[8])
	l.rebalance(&l.rqs[8], NotIdle)
	if smt.lastBalance != l.jiffies || mc.lastBalance != l.jiffies || numa.lastBalance != 0 {
		t.Errorf("balanced at SMT %d, MC %d, NUMA %d; now %d", smt.lastBalance, mc.lastBalance, numa.lastBalance, l.jiffies)
	}
	if mc.nrBalanceFailed != 0 || mc.balanceInterval != 16 {
		t.Errorf("MC failures %d, interval %d ms; want 0 and 16", mc.nrBalanceFailed, mc.balanceInterval)
	}
	// SMT: 2 ms busy = 32 ms, 8-1 = 7 jiffies; its interval doubled to 4 ms when
	// it was found balanced: 64 ms, 16-1.
	if want := l.jiffies + 15; l.rqs[8].nextBalance != want {
		t.Errorf("next balance %d, want %d", l.rqs[8].nextBalance, want)
	}
}

// 9.2: the machine-wide lock of NUMA domains. A CPU that finds it taken leaves
// the domain for later.
func TestSerializedDomainIsSkippedWhileLocked(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(2, 4, 1))
	numa := l.domain(0, "NUMA")
	numa.lastBalance = 0
	l.lb.serializedUntil = l.now + 1_000_000
	l.BalanceSoftirq(l.now, 0)
	if numa.lastBalance != 0 {
		t.Error("balanced although the lock was taken")
	}
	l.BalanceSoftirq(l.now+1_000_000, 0)
	if numa.lastBalance != l.jiffies {
		t.Error("not balanced although the lock was free")
	}
	// The pass held the lock while it looked at 8 CPUs and more.
	if held := l.lb.serializedUntil - l.now; held < 8*l.prices.GroupCPU {
		t.Errorf("lock held for %d ns", held)
	}
}

// Affinity on the SMT level: both tasks of CPU 4 may run only there. The pass
// of CPU 0 marks their core as imbalanced for the level above; another core
// then looks for a task there whatever the sums say.
func TestPinnedTasksMarkTheirCore(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 2))
	l.spin(4, 2, 4)
	smt, mc := l.domain(0, "SMT"), l.domain(0, "MC")
	res := l.balancePass(&l.rqs[0], smt, Idle)
	if res.outcome != passAllPinned || !mc.Groups.Cap.Imbalance {
		t.Fatalf("pass %s, flag %v; want all pinned and the flag set", res.outcome, mc.Groups.Cap.Imbalance)
	}
	env := l.env(1, "MC", NotIdle)
	group := findBusiestGroup(l.Scheduler, env)
	if group != mc.Groups || env.move != moveTask || env.imbalance != 1 {
		t.Errorf("CPU 1 takes %s %d of %v, want 1 task of the marked core", env.move, env.imbalance, group)
	}
	// When the level below finds balance without affinity in the way, the mark
	// goes.
	l.deactivateTask(&l.rqs[4], l.rqs[4].lruTail, 0)
	l.balancePass(&l.rqs[0], smt, Idle)
	if mc.Groups.Cap.Imbalance {
		t.Error("the mark stays after a balanced pass")
	}
}

// 9.6: a source whose tasks are all pinned is left out and the rest tried.
func TestAllPinnedSourceIsLeftOut(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
	l.spin(1, 4, 1)
	l.spin(2, 3)
	res := l.balancePass(&l.rqs[0], l.domain(0, "MC"), Idle)
	// CPU 1 has the most tasks and is tried first; then (3-0)/2 from CPU 2.
	if res.src != 2 || res.moved != 1 || l.counts() != "1 4 2 0" {
		t.Errorf("pass %+v, CPUs run %s", res, l.counts())
	}
}

// With nothing but pinned tasks the interval grows to 512 ms and beyond once:
// 4, 8, 16 ... 512.
func TestPinnedIntervalGrows(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
	l.spin(1, 4, 1)
	d := l.domain(0, "MC")
	for i := 0; i < 10; i++ {
		l.balancePass(&l.rqs[0], d, Idle)
	}
	if d.balanceInterval != 512 {
		t.Errorf("interval %d ms, want 512", d.balanceInterval)
	}
}

// 9.6 dst_pinned: tasks that may not run on CPU 0 go to its sibling.
func TestPinnedTasksGoToTheOtherCPUOfTheGroup(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 2))
	l.spin(1, 4, 1, 4)
	res := l.balancePass(&l.rqs[0], l.domain(0, "MC"), Idle)
	if res.moved != 2 || l.counts() != "0 2 0 0 2 0 0 0" {
		t.Errorf("moved %d, CPUs run %s", res.moved, l.counts())
	}
}

// A pass without a movable task counts as failed, unless it is newidle.
func TestFailuresAreCounted(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 2, 2)) // cores {0,2} {1,3}
	l.spin(0, 1)
	l.spin(2, 1)
	d := l.domain(1, "MC")
	for _, c := range []struct {
		idle IdleType
		want int32
	}{{Idle, 1}, {Idle, 2}, {NewlyIdle, 2}} {
		if res := l.balancePass(&l.rqs[1], d, c.idle); res.outcome != passFailed {
			t.Fatalf("outcome %s: both tasks run, none can move", res.outcome)
		}
		if d.nrBalanceFailed != c.want {
			t.Errorf("%s: %d failures, want %d", c.idle, d.nrBalanceFailed, c.want)
		}
	}
	if b := d.balanced; b.Failed[Idle] != 2 || b.Failed[NewlyIdle] != 1 || b.Passes[Idle] != 2 {
		t.Errorf("statistics %+v", b)
	}
}

// The overload flag, the gate of newidle balancing, falls when a pass over the
// top domain sees no CPU with two tasks.
func TestOverloadIsSeenAtTheTop(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(2, 4, 1))
	l.spin(1, 2, 1)
	if !l.overload {
		t.Fatal("not set by the second task")
	}
	l.deactivateTask(&l.rqs[1], l.rqs[1].lruTail, 0)
	l.balancePass(&l.rqs[0], l.domain(0, "MC"), Idle)
	if !l.overload {
		t.Error("cleared below the top domain")
	}
	l.balancePass(&l.rqs[0], l.domain(0, "NUMA"), Idle)
	if l.overload {
		t.Error("still set after a pass over the top domain")
	}
}

// SIS_UTIL's budget is written by periodic passes over the LLC, not by newidle
// ones: nothing used, 8 CPUs: 8.
func TestPeriodicPassWritesTheScanBudget(t *testing.T) {
	l := newBalanceLab(t, "v6.1", balanceMachine(2, 4, 2))
	shared := l.rqs[0].llcShared
	l.balancePass(&l.rqs[0], l.domain(0, "MC"), NewlyIdle)
	if shared.NrIdleScan != 0 {
		t.Errorf("newidle pass wrote %d", shared.NrIdleScan)
	}
	l.balancePass(&l.rqs[0], l.domain(0, "MC"), Idle)
	if shared.NrIdleScan != 8 {
		t.Errorf("budget %d, want 8", shared.NrIdleScan)
	}
}

// 9.5, busiest queue by move type. CPU 1: one task of load 3000; CPU 2: two
// tasks, load 2000, util 900; CPU 3: three tasks, load 1000, util 950.
func TestBusiestQueue(t *testing.T) {
	for _, c := range []struct {
		move      moveType
		imbalance int64
		want      int32
	}{
		{moveLoad, 3000, 1}, // the single task fits the imbalance
		{moveLoad, 2999, 2}, // it does not, and moving it would swap the problem
		{moveUtil, 500, 3},
		{moveTask, 1, 3},
	} {
		l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
		for cpu, state := range [][3]int64{{0, 0, 0}, {1, 3000, 1000}, {2, 2000, 900}, {3, 1000, 950}} {
			l.spin(cpu, int(state[0]))
			l.rqs[cpu].cfs.avg.loadAvg, l.rqs[cpu].cfs.avg.utilAvg = state[1], state[2]
		}
		env := l.env(0, "MC", NotIdle)
		env.move, env.imbalance = c.move, c.imbalance
		whole := &CPUGroup{Span: env.d.Span}
		if got := l.busiestQueue(env, whole); got == nil || got.cpu != c.want {
			t.Errorf("%s %d: source %v, want CPU %d", c.move, c.imbalance, got, c.want)
		}
	}
}

// v5.10 can take an empty CPU with much blocked load for the busiest; v5.17
// skips CPUs without tasks.
func TestEmptyQueueAsSource(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   int32
	}{{"v5.10", 1}, {"v5.17", 2}} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 4, 1))
		l.spin(2, 2)
		l.rqs[1].cfs.avg.loadAvg, l.rqs[2].cfs.avg.loadAvg = 5000, 2000
		env := l.env(0, "MC", NotIdle)
		env.move, env.imbalance = moveLoad, 1000
		if got := l.busiestQueue(env, &CPUGroup{Span: env.d.Span}); got == nil || got.cpu != c.want {
			t.Errorf("%s: source %v, want CPU %d", c.kernel, got, c.want)
		}
	}
}

// 9.3: among equal groups. Overloaded: the higher load; spare: fewer idle
// CPUs, then more tasks; fully busy and imbalanced: the first.
func TestBusiestGroupAmongEquals(t *testing.T) {
	for _, c := range []struct {
		name       string
		old, young groupStats
		want       bool
	}{
		{"overloaded, more load", groupStats{kind: groupOverloaded, avgLoad: 5}, groupStats{kind: groupOverloaded, avgLoad: 6, h: 1}, true},
		{"overloaded, same load", groupStats{kind: groupOverloaded, avgLoad: 6}, groupStats{kind: groupOverloaded, avgLoad: 6, h: 1}, false},
		{"spare, fewer idle", groupStats{idleCPUs: 2, nr: 9}, groupStats{idleCPUs: 1, h: 1, nr: 1}, true},
		{"spare, as idle, more tasks", groupStats{idleCPUs: 2, nr: 1}, groupStats{idleCPUs: 2, h: 2, nr: 2}, true},
		{"spare, as idle, as many", groupStats{idleCPUs: 2, nr: 2}, groupStats{idleCPUs: 2, h: 2, nr: 2}, false},
		{"fully busy", groupStats{kind: groupFullyBusy}, groupStats{kind: groupFullyBusy, h: 5}, false},
		{"imbalanced", groupStats{kind: groupImbalanced}, groupStats{kind: groupImbalanced, h: 5}, false},
		{"without tasks", groupStats{}, groupStats{kind: groupImbalanced}, false},
		{"busier type", groupStats{kind: groupFullyBusy}, groupStats{kind: groupImbalanced, h: 1}, true},
		{"less busy type", groupStats{kind: groupFullyBusy}, groupStats{h: 9, nr: 9}, false},
	} {
		ds := &domainStats{busiest: c.old, candidate: c.young}
		if got := ds.busierThanBusiest(busier510); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBalancingAllocatesNothing(t *testing.T) {
	for _, kernel := range balanceKernels {
		l := newBalanceLab(t, kernel, balanceMachine(2, 4, 2))
		l.spin(0, 20)
		l.run(200)
		if n := testing.AllocsPerRun(20, func() { l.run(8) }); n != 0 {
			t.Errorf("%s: %v allocations per 8 ms", kernel, n)
		}
	}
}

// Whatever the machine, the kernel, the affinities: no task is lost, queued
// twice, or taken to a CPU where it may not run (checkCounts runs after every
// tick).
func TestBalancingKeepsTasksAndAffinity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kernel := rapid.SampledFrom(balanceKernels).Draw(rt, "kernel")
		m := balanceMachine(rapid.IntRange(1, 3).Draw(rt, "nodes"), rapid.IntRange(1, 4).Draw(rt, "cores"), rapid.IntRange(1, 2).Draw(rt, "threads"))
		l := newBalanceLab(t, kernel, m)
		n := len(m.CPUs)
		var tasks []*Task
		for i, count := 0, rapid.IntRange(1, 3*n).Draw(rt, "tasks"); i < count; i++ {
			cpu := rapid.IntRange(0, n-1).Draw(rt, "cpu")
			allowed := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(rt, "allowed")
			if len(allowed) > 0 {
				allowed = append(allowed, cpu)
			}
			tasks = append(tasks, l.queue(cpu, allowed...))
		}
		l.react()
		l.run(int64(rapid.IntRange(4, 300).Draw(rt, "ms")))
		total := 0
		for cpu := range l.rqs {
			total += l.NrRunning(cpu)
		}
		if total != len(tasks) {
			rt.Fatalf("%d tasks on CPUs %s, %d were started", total, l.counts(), len(tasks))
		}
		for _, task := range tasks {
			if !task.AllowedOn(task.CPU()) {
				rt.Fatalf("task %d on CPU %d, allowed %s", task.ID, task.CPU(), task.Allowed())
			}
		}
	})
}

func BenchmarkNewidleOn96CPUs(b *testing.B) {
	l := newBalanceLab(b, "v5.17", balanceMachine(2, 24, 2))
	for cpu := 1; cpu < 96; cpu++ {
		l.spin(cpu, 1)
	}
	rq := &l.rqs[0]
	b.ReportAllocs()
	for b.Loop() {
		l.overload = true
		rq.avgIdle = 1_000_000
		l.newidleBalance(rq)
	}
}
