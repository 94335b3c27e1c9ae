package sched

import (
	"fmt"
	"testing"
)

// 7.12 and 4.1: cores {0 busy, 1 idle} and {2 busy, 3 idle}, MC, group {0,1}.
func TestModernElection(t *testing.T) {
	for _, c := range []struct {
		name, kernel string
		busy         []int
		domain       string
		want         string // CPUs of node 0 that may balance
	}{
		{"halves of busy cores: the first idle one of each group", "v7.2", []int{0, 2}, "MC", "1 3"},
		{"halves of busy cores: not the busy first CPU either", "v6.12", []int{0, 2}, "MC", "1 3"},
		{"an idle half in v6.1 too", "v6.1", []int{0, 2}, "MC", "1 3"},
		{"an idle core goes before an earlier half", "v6.12", []int{0}, "NUMA", "2"},
		{"v6.1 takes the half", "v6.1", []int{0}, "NUMA", "1"},
		{"halves only: the first", "v7.2", []int{0, 2}, "NUMA", "1"},
		{"inside a core its half", "v7.2", []int{0, 2}, "SMT", "1 3"},
		{"nothing idle: the first", "v6.12", []int{0, 1, 2, 3}, "NUMA", "0"},
	} {
		l := newBalanceLab(t, c.kernel, realMachine())
		for _, cpu := range c.busy {
			l.spin(cpu, 1, cpu)
		}
		got := ""
		for cpu := range 4 {
			env := l.env(cpu, c.domain, NotIdle)
			// In SMT domains a group is one CPU: only idle ones are of interest.
			if c.domain == "SMT" && !l.Idle(cpu) {
				continue
			}
			if l.elected(env) {
				got += fmt.Sprintf(" %d", cpu)
			}
		}
		wantString(t, c.kernel+", "+c.name, got, " "+c.want)
	}
}

// 4.2: choice among groups of one type.
func TestBusiestGroupAmongEquals66(t *testing.T) {
	for _, c := range []struct {
		name       string
		old, young groupStats
		first      bool
		want       bool
	}{
		{"overloaded, more load", groupStats{kind: groupOverloaded, avgLoad: 5}, groupStats{kind: groupOverloaded, avgLoad: 6}, false, true},
		{"overloaded, same load", groupStats{kind: groupOverloaded, avgLoad: 6}, groupStats{kind: groupOverloaded, avgLoad: 6}, false, false},
		{"fully busy: the last", groupStats{kind: groupFullyBusy}, groupStats{kind: groupFullyBusy}, false, true},
		{"fully busy: but a core is kept", groupStats{kind: groupFullyBusy, smt: true}, groupStats{kind: groupFullyBusy}, false, false},
		{"shared cores, full: kept", groupStats{kind: groupSMTBalance, smt: true}, groupStats{kind: groupSMTBalance, smt: true, nr: 9}, false, false},
		{"shared cores, one has idle CPUs: more tasks", groupStats{kind: groupSMTBalance, smt: true, idleCPUs: 1, nr: 2}, groupStats{kind: groupSMTBalance, smt: true, idleCPUs: 1, nr: 3}, false, true},
		{"shared cores: fewer idle CPUs", groupStats{kind: groupSMTBalance, smt: true, idleCPUs: 1, nr: 3}, groupStats{kind: groupSMTBalance, smt: true, nr: 2}, false, true},
		{"spare: a core with one task never replaces CPUs", groupStats{idleCPUs: 9}, groupStats{smt: true, h: 1}, false, false},
		{"spare: with two it does", groupStats{}, groupStats{smt: true, h: 2, idleCPUs: 9}, false, true},
		{"spare: CPUs replace a core", groupStats{smt: true}, groupStats{h: 1, idleCPUs: 9}, false, true},
		{"spare: the first core", groupStats{idleCPUs: 9}, groupStats{smt: true, h: 1, idleCPUs: 1}, true, true},
		{"spare: fewer idle", groupStats{idleCPUs: 2, nr: 9}, groupStats{idleCPUs: 1, nr: 1}, false, true},
		{"imbalanced: the first", groupStats{kind: groupImbalanced}, groupStats{kind: groupImbalanced}, false, false},
		{"LLC balance: more tasks that prefer dst's cache", groupStats{kind: groupLLCBalance, prefersDst: 1, nr: 9}, groupStats{kind: groupLLCBalance, prefersDst: 2, nr: 2}, false, true},
		{"LLC balance: as many", groupStats{kind: groupLLCBalance, prefersDst: 2}, groupStats{kind: groupLLCBalance, prefersDst: 2, nr: 9}, false, false},
	} {
		if got := busier66(&c.young, &c.old, c.first); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// 4.3 end to end: two tasks on core A, an idle CPU of core B pulls one.
func TestModernSharedCoreIsSplit(t *testing.T) {
	for _, kernel := range modernKernels {
		l := newBalanceLab(t, kernel, realMachine())
		l.spin(0, 2)
		l.spin(1, 1)
		d := l.domain(2, "MC")
		res := l.balancePass(&l.rqs[2], d, Idle)
		if res.outcome != passMoved || res.move != moveTask || res.imbalance != 1 || l.counts() != "1 1 1 0 0 0 0 0" {
			t.Errorf("%s: %+v, CPUs run %s", kernel, res, l.counts())
		}
	}
}

// 7.13 and 4.4: CPU 0 runs C; P waits with lag −1 ms, Q with lag +1 ms. CPU 1
// has a task. v7.2 takes Q only, v6.12 the tail of the list, here P.
func TestIneligibleTaskIsNotMoved(t *testing.T) {
	for _, c := range []struct {
		kernel  string
		failed  int32
		dstBusy bool
		off     FeatureSet
		want    string // CPUs of P and Q
	}{
		{"v7.2", 0, true, 0, "0 1"}, {"v6.12", 0, true, 0, "1 0"},
		{"v7.2", 1, true, 0, "1 0"},  // only in a first attempt
		{"v7.2", 0, false, 0, "1 0"}, // only to a queue that is not empty
		{"v7.2", 0, true, Features(PlaceLag), "1 0"},
	} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 2, 1))
		l.features &^= c.off
		if c.dstBusy {
			l.spin(1, 1)
		}
		tasks := l.spin(0, 3)
		running, p, q := l.rqs[0].curr, tasks[1], tasks[2]
		for _, x := range []struct {
			task *Task
			v    int64
		}{{p, 11_000_000}, {q, 9_000_000}} {
			l.stepOut(&l.rqs[0].cfs, &x.task.se)
			x.task.se.vruntime = x.v
			l.lineUp(&l.rqs[0].cfs, &x.task.se)
		}
		running.se.vruntime = 10_000_000 // the average of 9, 10 and 11 ms
		l.rqs[0].moveLRUFront(q)         // P is at the tail, C at the front
		l.rqs[0].moveLRUFront(running)
		env := l.env(1, "MC", NotIdle)
		env.d.nrBalanceFailed = c.failed
		env.src, env.move, env.imbalance = &l.rqs[0], moveTask, 1
		l.now += 10_000_000 // nobody is cache hot
		l.pull(env)
		wantString(t, fmt.Sprintf("%s, %d failures, dst busy %v", c.kernel, c.failed, c.dstBusy), on([]*Task{p, q}), c.want)
	}
}

// 2.1: eligible is Σ(v_j−v0)·w_j ≥ (v−v0)·W, the running entity included.
func TestEligible(t *testing.T) {
	heavy, light := &Entity{weight: 2048 << 10, vruntime: 10, onRQ: true}, &Entity{weight: 1024 << 10, vruntime: 16, onRQ: true}
	var q cfsRQ
	q.line.insert(heavy)
	q.line.insert(light)
	// V = (2·10+16)/3 = 12.
	for v, want := range map[int64]bool{11: true, 12: true, 13: false} {
		third := &Entity{weight: 1, vruntime: v, onRQ: true}
		if got := q.eligible(third); got != want {
			t.Errorf("v %d: %v", v, got)
		}
	}
	if !q.eligible(heavy) || q.eligible(light) {
		t.Error("10 is before the average, 16 after it")
	}
	q.curr = &Entity{weight: 3072 << 10, vruntime: 1 << 60, onRQ: true} // the products need 128 bits
	if !q.eligible(light) || q.eligible(q.curr) {
		t.Error("the running entity does not count")
	}
}

// 4.4: a delayed task goes only where load is to be moved, and its source looks
// pinned.
func TestDelayedTaskAndTheBalancer(t *testing.T) {
	for _, c := range []struct {
		kernel string
		move   moveType
		want   migrateVerdict
	}{
		{"v7.2", moveTask, migrateDelayed}, {"v7.2", moveUtil, migrateDelayed},
		{"v7.2", moveLoad, migrateCold}, {"v6.12", moveTask, migrateCold},
	} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 2, 1))
		task := l.spin(0, 2)[1]
		l.SetDelayed(l.now, task, true)
		l.now += 10_000_000
		env := l.env(1, "MC", Idle)
		env.src, env.move, env.flags = &l.rqs[0], c.move, envAllPinned
		if got := l.consider(env, task); got != c.want || env.has(envAllPinned) != !got.moves() {
			t.Errorf("%s, %s: %s, flags %b", c.kernel, c.move, got, env.flags)
		}
		if !c.want.moves() {
			continue
		}
		l.detachTask(env, task)
		if l.Delayed(0) != 0 || l.Delayed(1) != 0 {
			t.Errorf("%s: detached, but %d and %d delayed", c.kernel, l.Delayed(0), l.Delayed(1))
		}
		l.attachTask(env.dst, task)
		if !task.delayed || l.Delayed(1) != 1 || l.NrRunning(1) != 1 {
			t.Errorf("%s: not delayed any more after its move", c.kernel)
		}
		if err := l.CheckInvariants(); err != nil {
			t.Errorf("%s: %v", c.kernel, err)
		}
	}
}

// 4.2: v6.12 counts delayed tasks as tasks, v7.2 does not; both have them in
// nr_running.
func TestGroupSumsAndDelayedTasks(t *testing.T) {
	for kernel, want := range map[string]int32{"v6.12": 3, "v7.2": 2} {
		l := newBalanceLab(t, kernel, realMachine())
		task := l.spin(0, 3)[2]
		l.SetDelayed(l.now, task, true)
		env := l.env(2, "MC", Idle)
		var gs groupStats
		l.collectGroup(env, l.domain(0, "MC").Groups, &gs)
		if gs.h != want || gs.nr != 3 {
			t.Errorf("%s: h %d, want %d; nr %d", kernel, gs.h, want, gs.nr)
		}
		env.move = moveTask
		wantInt(t, kernel+" tasks on CPU 0", int64(l.tasksOn(&l.rqs[0])), int64(want))
	}
}

// 4.4: only the destination's throttling matters in v7.2.
func TestThrottledSource(t *testing.T) {
	for _, c := range []struct {
		kernel   string
		src, dst int32
		want     migrateVerdict
	}{
		{"v6.12", 1, 0, migrateThrottled}, {"v6.12", 0, 1, migrateThrottled},
		{"v7.2", 1, 0, migrateCold}, {"v7.2", 0, 1, migrateThrottled},
	} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 2, 1))
		group := l.NewGroup(l.root, "/g")
		task := l.spin(0, 2)[1]
		l.SetGroup(l.now, task, group)
		l.now += 10_000_000
		group.queues[0].throttledCnt, group.queues[1].throttledCnt = c.src, c.dst
		env := l.env(1, "MC", Idle)
		env.src = &l.rqs[0]
		if got := l.canMigrate(env, task); got != c.want {
			t.Errorf("%s, throttled %d and %d: %s, want %s", c.kernel, c.src, c.dst, got, c.want)
		}
	}
}

// 4.4: v6.12 leaves a SERIALIZE domain alone while the lock is taken; in v7.2
// the pass counts as balanced, that of newidle balancing too.
func TestSerializeLock(t *testing.T) {
	for _, c := range []struct {
		kernel   string
		idle     IdleType
		balanced int64
		failed   int32
		interval int64
	}{
		{"v6.12", Idle, 0, 2, 8}, {"v7.2", Idle, 1, 0, 16}, {"v7.2", NewlyIdle, 1, 0, 8},
	} {
		l := newBalanceLab(t, c.kernel, realMachine())
		d := l.domain(0, "NUMA")
		d.nrBalanceFailed = 2
		l.lb.serializedUntil = l.now + 1_000_000_000
		if c.idle == NewlyIdle {
			l.enterBalancing(&l.rqs[0])
			l.balancePass(&l.rqs[0], d, NewlyIdle)
		} else {
			l.rqs[0].idleBalance = true
			for x := l.rqs[0].sd; x != nil; x = x.Parent {
				x.lastBalance = l.jiffies - 1000
			}
			l.BalanceSoftirq(l.now, 0)
		}
		if got := d.balanced.Balanced[c.idle]; got != c.balanced || d.nrBalanceFailed != c.failed || d.balanceInterval != c.interval {
			t.Errorf("%s, %s: %d balanced passes, %d failures, interval %d ms", c.kernel, c.idle,
				got, d.nrBalanceFailed, d.balanceInterval)
		}
	}
}

// The lock is held to the end of a pass that got it, and not taken by a CPU
// that was not elected.
func TestSerializeLockIsReleased(t *testing.T) {
	l := newBalanceLab(t, "v7.2", realMachine())
	l.enterBalancing(&l.rqs[0])
	if res := l.balancePass(&l.rqs[1], l.domain(1, "NUMA"), Idle); res.outcome != passNotElected || l.lb.serializedUntil != 0 {
		t.Errorf("%s, lock until %d", res.outcome, l.lb.serializedUntil)
	}
	l.balancePass(&l.rqs[0], l.domain(0, "NUMA"), Idle)
	if l.lb.serializedUntil != l.balanceClock() || l.lb.serializedUntil == l.now {
		t.Errorf("lock until %d, the pass ends at %d", l.lb.serializedUntil, l.balanceClock())
	}
}

// 7.14 and 4.6: ratio 512 lets (512+2)/1024 of the calls through and counts a
// success (1024+256)/513 = 2; ratio 0 2/1024 and 1024.
func TestNewidleDice(t *testing.T) {
	for _, c := range []struct {
		kernel        string
		ratio         int64
		passes        int // of 1024 rolls
		weight, calls int64
	}{
		{"v6.12", 512, 514, 2, 510}, {"v6.12", 0, 2, 1024, 1022}, {"v6.12", 1024, 1024, 1, 0},
		{"v7.2", 512, 514, 2, 510}, {"v7.2", 1023, 1024, 1, 0}, {"v7.2", 1024, 1024, 1, 0},
		{"v6.1", 512, 514, 2, 510}, {"v5.17", 0, 1024, 1, 0},
	} {
		l := newBalanceLab(t, c.kernel, realMachine())
		rolls := uint32(0)
		l.dice = func() uint32 { rolls++; return rolls - 1 } // each side once
		d := l.rqs[0].sd
		d.newidle.calls = 0
		passes := 0
		for range 1024 {
			d.newidle = newidleRate{ratio: c.ratio, calls: d.newidle.calls}
			weight, skip := l.rollDice(d)
			if skip {
				continue
			}
			passes++
			wantInt(t, "weight of a success", weight, c.weight)
		}
		if passes != c.passes || d.newidle.calls != c.calls {
			t.Errorf("%s, ratio %d: %d of 1024 pass, %d counted", c.kernel, c.ratio, passes, d.newidle.calls)
		}
		if c.kernel == "v7.2" && c.ratio == 1024 && rolls != 0 {
			t.Error("v7.2 rolls dice although success is sure")
		}
	}
}

// 4.6: an evaluation every 512 calls once the first 512 are counted. NI_RATE
// adds what 512 calls took in units of 2^22 ns: 2 s are 476, 0.1 s 23, 4.3 s
// and more make it sure.
func TestNewidleRatio(t *testing.T) {
	for _, c := range []struct {
		kernel    string
		took      int64
		successes int64
		want      int64
	}{
		{"v7.2", 2_000_000_000, 100, 576}, {"v7.2", 100_000_000, 100, 123}, {"v7.2", 4_300_000_000, 0, 1024},
		{"v6.12", 2_000_000_000, 100, 100},
	} {
		l := newBalanceLab(t, c.kernel, realMachine())
		d := l.rqs[0].sd
		d.newidle = newidleRate{calls: 512, ratio: 512, since: l.now}
		l.setNow(l.now + c.took)
		for i := range int64(512) {
			if d.newidle.ratio != 512 {
				t.Fatalf("%s: evaluated after %d calls", c.kernel, i)
			}
			success := int64(0)
			if i < c.successes {
				success = 1
			}
			l.countNewidle(d, success)
		}
		want := newidleRate{calls: 512, successes: c.successes / 2, ratio: c.want, since: d.newidle.since}
		if d.newidle != want || (c.kernel == "v7.2") != (d.newidle.since == l.now) {
			t.Errorf("%s, %d ns, %d successes: %+v, want %+v", c.kernel, c.took, c.successes, d.newidle, want)
		}
	}
}

// A domain that the dice leave out costs nothing and ends nothing: here the
// core and the cache are left out, and the node, tried, pulls.
func TestNewidleGoesOnAfterTheDice(t *testing.T) {
	l := newBalanceLab(t, "v7.2", realMachine())
	l.spin(4, 4)
	sides := []uint32{1023, 1023, 0}
	l.dice = func() uint32 { r := sides[0]; sides = sides[1:]; return r }
	l.rqs[0].avgIdle = 1_000_000_000
	l.overload = true
	if l.newidleBalance(&l.rqs[0]); l.domain(0, "SMT").newidlePasses() != 0 || l.domain(0, "MC").newidlePasses() != 0 || l.domain(0, "NUMA").newidlePasses() != 1 {
		t.Error("passes were not made by the dice")
	}
	if d := l.domain(0, "SMT"); d.newidle.calls != 513 || d.newidle.successes != 256 || d.maxNewidleCost != 0 {
		t.Errorf("a domain left out: %+v", d.newidle)
	}
	if d := l.domain(0, "NUMA"); d.newidle.calls != 513 || d.newidle.successes != 258 { // a success counts 2
		t.Errorf("the domain that pulled: %+v, CPUs run %s", d.newidle, l.counts())
	}
}

// Two schedulers without a driver's dice roll the same.
func TestFixedDice(t *testing.T) {
	a, b := fixedDice(), fixedDice()
	different := 0
	for range 100 {
		x := a()
		if x != b() {
			t.Fatal("the sequences differ")
		}
		if x%diceSides != 0 {
			different++
		}
	}
	if different < 50 {
		t.Errorf("only %d of 100 rolls are not 0", different)
	}
}

// 4.7: the idle load balancer goes on while its CPU idles.
func TestIdleBalancerInsists(t *testing.T) {
	for kernel, want := range map[string]bool{"v5.17": false, "v6.1": true, "v6.12": true, "v7.2": true} {
		l := newBalanceLab(t, kernel, realMachine())
		l.rqs[2].nohz.flags, l.rqs[2].needResched = kickBalance, true
		if got := l.NohzBalance(l.now, 2); got != want {
			t.Errorf("%s: balances %v", kernel, got)
		}
		l.queue(2)
		l.rqs[2].nohz.flags = kickBalance
		if l.NohzBalance(l.now, 2) {
			t.Errorf("%s: balances with work of its own", kernel)
		}
	}
}

// 4.2: the ranks of the types, and the order of the tests for them. A group of
// two CPUs with everything that could be said of it.
func TestGroupTypesOf72(t *testing.T) {
	rising := []groupType{groupHasSpare, groupFullyBusy, groupMisfit, groupSMTBalance, groupAsymPacking, groupImbalanced, groupLLCBalance, groupOverloaded}
	for i, kind := range rising {
		wantInt(t, kind.String(), int64(kind), int64(i))
	}
	g := groupStats{weight: 2, capacity: 2048, nr: 3, util: 2048, runnable: 4096, wantsLLC: true, sharesCore: true}
	for _, c := range []struct {
		what       string
		change     func()
		imbalanced bool
		want       groupType
	}{
		{"more tasks than CPUs, and they want more", func() {}, true, groupOverloaded},
		{"no more tasks than CPUs", func() { g.nr = 2 }, true, groupLLCBalance},
		{"none prefers dst's cache", func() { g.wantsLLC = false }, true, groupImbalanced},
		{"the lower level has no trouble", func() {}, false, groupSMTBalance},
		{"its CPUs are no core", func() { g.sharesCore = false }, false, groupFullyBusy},
		{"a CPU idles", func() { g.nr = 1 }, false, groupHasSpare},
	} {
		c.change()
		if got := g.classify(117, c.imbalanced); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// 4.2: a core counts as shared only for a CPU that idles, from outside, and with
// more than one task that wants to run; before v6.6 there is no such type.
func TestSharedCoreIsAType(t *testing.T) {
	for _, c := range []struct {
		kernel string
		tasks  int
		idle   IdleType
		want   groupType
	}{
		{"v7.2", 2, Idle, groupSMTBalance}, {"v6.12", 2, NewlyIdle, groupSMTBalance}, {"v7.2", 2, NotIdle, groupFullyBusy},
		{"v7.2", 1, Idle, groupHasSpare}, {"v6.1", 2, Idle, groupFullyBusy},
	} {
		l := newBalanceLab(t, c.kernel, realMachine())
		l.spin(0, c.tasks)
		l.rqs[0].cfs.avg.utilAvg, l.rqs[1].cfs.avg.utilAvg = 1024, 1024
		env := l.env(2, "MC", c.idle)
		var gs groupStats
		l.collectGroup(env, l.domain(0, "MC").Groups, &gs)
		if gs.kind != c.want {
			t.Errorf("%s, %d tasks, dst %s: %s, want %s", c.kernel, c.tasks, c.idle, gs.kind, c.want)
		}
	}
}

// 4.3: where siblings should spread, tasks that prefer the spare local group's
// cache are fetched although the idle CPUs speak against it; elsewhere they are not.
func TestLLCBalanceForcesBetweenSiblings(t *testing.T) {
	for _, c := range []struct {
		name   string
		prefer bool
		local  groupType
		idle   IdleType
		want   bool
	}{
		{"siblings, spare", true, groupHasSpare, NotIdle, true},
		{"siblings, full", true, groupFullyBusy, Idle, false},
		{"no siblings: idle CPUs 1 <= 0+1", false, groupHasSpare, Idle, false},
		{"no siblings, busy", false, groupHasSpare, NotIdle, false},
	} {
		ds := domainStats{
			local:         groupStats{kind: c.local, weight: 2, nr: 1, h: 1, cores: 2, idleCPUs: 1},
			busiest:       groupStats{kind: groupLLCBalance, weight: 2, nr: 2, h: 2, cores: 2},
			preferSibling: c.prefer,
		}
		env := balanceEnv{d: &Domain{ImbalancePct: 117}, idle: c.idle}
		if got := ds.unbalanced(&env, coreDifference); got != c.want {
			t.Errorf("%s: unbalanced %v, want %v", c.name, got, c.want)
		}
	}
}

// 4.4: the verdicts before the affinity test leave a source pinned: without
// another one the pass ends as one over pinned tasks, and its interval doubles.
// A running task that gets past them is enough to clear that.
func TestRefusedSourceLooksPinned(t *testing.T) {
	for _, c := range []struct {
		kernel   string
		name     string
		kthreads int // of the three tasks, the running one last
		outcome  passOutcome
		interval int64
	}{
		{"v7.2", "kernel threads all", 3, passAllPinned, 4}, {"v6.12", "kernel threads all", 3, passAllPinned, 4},
		{"v7.2", "those that wait", 2, passFailed, 2},
	} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 2, 1)) // MC of two CPUs: 2 to 4 ms
		l.spin(1, 1)
		tasks := l.spin(0, 3)
		for i := range c.kthreads {
			tasks[2-i].kthread = true
		}
		for cpu, load := range []int64{3072, 512} { // overloaded, and more than 117 %
			avg := &l.rqs[cpu].cfs.avg
			avg.loadAvg, avg.utilAvg, avg.runnableAvg = load, 1024, load
		}
		d := l.domain(1, "MC")
		l.enterBalancing(&l.rqs[1])
		if res := l.balancePass(&l.rqs[1], d, NotIdle); res.outcome != c.outcome || d.balanceInterval != c.interval {
			t.Errorf("%s, %s: %s, interval %d ms; want %s, %d", c.kernel, c.name, res.outcome, d.balanceInterval, c.outcome, c.interval)
		}
	}
}
