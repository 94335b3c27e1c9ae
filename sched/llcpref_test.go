package sched

import (
	"testing"

	"github.com/schedlab/schedlab/machine"
)

// twoCaches has one node of two LLCs with four cores each: CPUs 0-3 and 4-7.
func twoCaches() *machine.Machine {
	return machineSpec{nodes: 1, llcs: 2, cores: 4, threads: 1}.build()
}

// thread starts a task of a process that spins on cpu.
func (l *balanceLab) thread(space *AddressSpace, cpu int, allowed ...int) *Task {
	l.nextID++
	spec := TaskSpec{ID: l.nextID, CPU: cpu, Space: space}
	if len(allowed) > 0 {
		spec.Allowed = machine.MaskOf(len(l.rqs), allowed...)
	}
	task := l.NewTask(spec)
	l.Start(l.now, task, cpu)
	l.react()
	return task
}

// mechanisms-modern.md 4.5, "Policy": percent of capacity after moving u.
func TestLLCPolicy(t *testing.T) {
	for _, c := range []struct {
		toPreferred bool
		src, dst    int64
		want        llcVerdict
	}{
		{true, 30, 60, llcNo},    // 60 does not fit, 6000 > 3600
		{true, 40, 60, llcNo},    // 6000 > 4800
		{true, 40, 45, llcYes},   // fits
		{true, 49, 55, llcYes},   // 5500 > 5880 is false
		{true, 55, 60, llcFree},  // neither fits
		{false, 60, 30, llcYes},  // 6000 > 3600
		{false, 60, 45, llcYes},  // 6000 > 5400
		{false, 60, 50, llcFree}, // neither fits
		{false, 40, 30, llcNo},   // the source fits
		{false, 55, 48, llcNo},   // 5500 > 5760 is false
	} {
		l := newBalanceLab(t, "v7.2", machineSpec{nodes: 1, llcs: 2, cores: 4, threads: 2, adjacent: true}.build())
		from, to := l.rqs[0].llcShared, l.rqs[8].llcShared
		if got := l.llcPolicy(0, 8, 0, c.toPreferred); got != llcFree {
			t.Errorf("without records: %s", got)
		}
		const u = 5
		*from, *to = LLCShared{Util: c.src + u, Capacity: 100}, LLCShared{Util: c.dst - u, Capacity: 100}
		if got := l.llcPolicy(0, 8, u, c.toPreferred); got != c.want {
			t.Errorf("to preferred %v, source %d %%, destination %d %%: %s, want %s", c.toPreferred, c.src, c.dst, got, c.want)
		}
	}
	// Without SMT three quarters fit: 60 % as well.
	l := newBalanceLab(t, "v7.2", twoCaches())
	*l.rqs[0].llcShared, *l.rqs[4].llcShared = LLCShared{Util: 30, Capacity: 100}, LLCShared{Util: 60, Capacity: 100}
	if got := l.llcPolicy(0, 4, 0, true); got != llcYes {
		t.Errorf("without SMT: %s", got)
	}
}

// 4.5: an LLC of 48 CPUs with SMT2 takes up to 19 running threads:
// 19·2560 = 48640 < 49152 ≤ 51200 = 20·2560. The recorded machine's of 4: 1.
func TestTooManyThreads(t *testing.T) {
	for _, c := range []struct {
		m       *machine.Machine
		threads int32
		avg     int64
		want    bool
	}{
		{doc000.build(), 40, 19, false}, {doc000.build(), 40, 20, true},
		{realMachine(), 40, 1, false}, {realMachine(), 40, 2, true},
		{doc000.build(), 1, 0, true}, {doc000.build(), 2, 0, false},
	} {
		l := newBalanceLab(t, "v7.2", c.m)
		space := l.NewAddressSpace()
		space.threads, space.runningAvg = c.threads, c.avg
		if got := l.tooManyThreads(space, 0); got != c.want {
			t.Errorf("%d CPUs, %d threads, %d running: %v", len(c.m.CPUs), c.threads, c.avg, got)
		}
	}
}

// 4.5: occupancies of 300 (current) and 600 change nothing, 601 does.
func TestPreferenceChangesWhenTwiceAsGood(t *testing.T) {
	for _, c := range []struct {
		other int64
		want  int32
	}{{600, 1}, {601, 6}} {
		l := newBalanceLab(t, "v7.2", twoCaches())
		space := l.NewAddressSpace()
		space.threads, space.cpu = 2, 1
		for cpu := range l.rqs {
			c, _ := l.atCurrentEpoch(space, cpu)
			c.runtime = 1<<20 - 1 // the share is the process's runtime
		}
		space.cpus[1].runtime, space.cpus[2].runtime = 200, 100
		space.cpus[5].runtime, space.cpus[6].runtime = 100, c.other-100
		l.scanSpace(&l.rqs[1], space)
		if space.cpu != c.want {
			t.Errorf("300 and %d: CPU %d, want %d", c.other, space.cpu, c.want)
		}
	}
}

// An epoch is HZ/100 jiffies, 8 ms; runtimes halve with each.
func TestEpochsHalveRuntime(t *testing.T) {
	l := newBalanceLab(t, "v7.2", twoCaches())
	space := l.NewAddressSpace()
	c, own := l.atCurrentEpoch(space, 0)
	c.runtime, own.runtime = 1000, 800
	epoch := c.epoch
	l.setNow(l.now + 8_000_000)
	l.atCurrentEpoch(space, 0)
	l.setNow(l.now + 8_000_000)
	l.atCurrentEpoch(space, 0)
	if c.epoch-epoch > 2 || c.runtime != 1000>>uint(c.epoch-epoch) || own.runtime != 800>>uint(c.epoch-epoch) || c.runtime > 500 {
		t.Errorf("%d epochs later: %d of %d ns", c.epoch-epoch, own.runtime, c.runtime)
	}
}

// 4.5: HZ/100 jiffies are 2 at 250 Hz, 8 ms, 10 at 1000 Hz, and never none.
func TestEpochPeriod(t *testing.T) {
	for hz, want := range map[int64]int64{100: 1, 250: 2, 300: 3, 1000: 10} {
		cfg := NewConfig(twoCaches(), &v72)
		cfg.HZ = hz
		s, err := New(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantInt(t, "jiffies of an epoch", s.llcs.period, want)
	}
}

// 4.5: a preference is forgotten when the epoch of the last scan lies more than 5
// back, or when the process has too many threads.
func TestPreferenceIsForgotten(t *testing.T) {
	for _, c := range []struct {
		behind  int64
		threads int32
		want    int32
	}{{5, 2, 0}, {6, 2, noLLC}, {0, 1, noLLC}} {
		l := newBalanceLab(t, "v7.2", twoCaches())
		space := l.NewAddressSpace()
		task := l.thread(space, 4)
		space.cpu, space.threads = 1, c.threads
		at, _ := l.atCurrentEpoch(space, 4)
		space.epoch = at.epoch - c.behind
		l.chargeSpace(&l.rqs[4], task, 1_000_000)
		if task.preferredLLC != c.want {
			t.Errorf("%d epochs later, %d threads: prefers LLC %d, want %d", c.behind, c.threads, task.preferredLLC, c.want)
		}
	}
}

// 4.5: a charge adds to what the process ran on the CPU and to what all did there.
func TestChargesOfAProcess(t *testing.T) {
	l := newBalanceLab(t, "v7.2", twoCaches())
	space, other := l.NewAddressSpace(), l.NewAddressSpace()
	a, b := l.thread(space, 4), l.thread(other, 4)
	l.chargeSpace(&l.rqs[4], a, 3_000)
	l.chargeSpace(&l.rqs[4], b, 500)
	all, own := l.atCurrentEpoch(space, 4)
	wantInt(t, "all on the CPU", all.runtime, 3_500)
	wantInt(t, "the process", own.runtime, 3_000)
	wantInt(t, "the process on another CPU", space.cpus[0].runtime, 0)
}

// 4.5: the average of threads that run at once moves by a quarter of the cache's
// CPUs, at least a half, at most an eighth: (6-2)/2 = 2, (6-2)/4 = 1, (18-2)/8 = 2.
func TestAverageOfRunningThreads(t *testing.T) {
	for _, c := range []struct {
		cores   int
		running int
		want    int64
	}{{8, 6, 4}, {16, 6, 3}, {64, 18, 4}} {
		l := newBalanceLab(t, "v7.2", machineSpec{nodes: 1, llcs: 2, cores: c.cores, threads: 1}.build())
		space := l.NewAddressSpace()
		for cpu := range c.running {
			l.thread(space, cpu)
		}
		l.thread(space, 0) // waits: does not count
		space.runningAvg = 2
		l.scanSpace(&l.rqs[0], space)
		wantInt(t, "average", space.runningAvg, c.want)
	}
}

// 4.5: until the next epoch nobody else scans, and a process with too many threads
// loses what it prefers instead.
func TestScanOncePerEpoch(t *testing.T) {
	l := newBalanceLab(t, "v7.2", twoCaches())
	space := l.NewAddressSpace()
	l.thread(space, 5)
	l.thread(space, 6)
	l.atCurrentEpoch(space, 5)
	space.cpus[5].runtime = 1_000_000
	l.scanSpace(&l.rqs[5], space)
	wantInt(t, "prefers CPU", int64(space.cpu), 5)
	space.cpu = noLLC
	l.setNow(l.now + 4_000_000) // a jiffy: half an epoch
	l.scanSpace(&l.rqs[5], space)
	wantInt(t, "within the epoch", int64(space.cpu), noLLC)
	space.cpu, space.threads = 5, 1
	l.setNow(l.now + 4_000_000)
	l.scanSpace(&l.rqs[5], space)
	wantInt(t, "a single thread prefers", int64(space.cpu), noLLC)
}

// The third thread of a process comes to the two others; a process of its own
// does not, and no kernel before v7.2 does it. (Two threads alone would keep no
// CPU busy beside another, so nobody would wake an idle balancer.)
func TestThreadsGather(t *testing.T) {
	for _, c := range []struct {
		name, kernel string
		spaces       int
		want         bool
	}{{"one process", "v7.2", 1, true}, {"two processes", "v7.2", 2, false}, {"before", "v6.12", 1, false}} {
		l := newBalanceLab(t, c.kernel, twoCaches())
		spaces := []*AddressSpace{l.NewAddressSpace(), l.NewAddressSpace()}
		a, b := l.thread(spaces[0], 0), l.thread(spaces[c.spaces-1], 4)
		l.thread(spaces[0], 1)
		l.run(400)
		if got := l.SharesCache(a.CPU(), b.CPU()); got != c.want {
			t.Errorf("%s on %s: on CPUs %s; preferences %d and %d", c.name, c.kernel, on([]*Task{a, b}), a.preferredLLC, b.preferredLLC)
		}
		if (b.preferredLLC == 0) != c.want || !c.want && b.preferredLLC != noLLC {
			t.Errorf("%s on %s: preferred cache %d", c.name, c.kernel, b.preferredLLC)
		}
		if err := l.CheckInvariants(); err != nil {
			t.Errorf("%s on %s: %v", c.name, c.kernel, err)
		}
	}
}

// A process whose last thread but one has exited has no preference any more.
func TestPreferenceEndsWithTheThreads(t *testing.T) {
	l := newBalanceLab(t, "v7.2", twoCaches())
	space := l.NewAddressSpace()
	a, b := l.thread(space, 0), l.thread(space, 1)
	l.run(100)
	if a.preferredLLC != 0 || b.preferredLLC != 0 {
		t.Fatalf("preferences %d and %d, want LLC 0", a.preferredLLC, b.preferredLLC)
	}
	b.MarkExiting()
	l.Schedule(l.now, b.CPU(), true)
	l.run(100)
	if space.threads != 1 || a.preferredLLC != noLLC || space.cpu != noLLC {
		t.Errorf("%d threads, preference %d", space.threads, a.preferredLLC)
	}
	if err := l.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

// llcLab has a task preferring LLC 0 waiting on CPU 4 behind another, judged
// for a move to CPU 0.
func llcLab(t *testing.T, preferred int32) (*balanceLab, *balanceEnv, *Task) {
	l := newBalanceLab(t, "v7.2", twoCaches())
	space := l.NewAddressSpace()
	l.thread(space, 4)
	task := l.thread(space, 4)
	space.cpu = preferred
	l.setPreference(&l.rqs[4], task, preferred)
	env := l.env(0, "PKG", Idle)
	env.src, env.move = &l.rqs[4], moveTask
	env.d.nrBalanceFailed = 1 // lag does not count any more
	l.now += 10_000_000
	return l, env, task
}

// 4.5, use 2: the filter of single tasks.
func TestPreferredCacheAndMigration(t *testing.T) {
	for _, c := range []struct {
		name      string
		preferred int32
		move      moveType
		failed    int32
		src, dst  int64 // percent of use
		want      migrateVerdict
	}{
		{"to the preferred cache, which has room", 0, moveTask, 0, 40, 45, migrateCold},
		{"which is full", 0, moveTask, 0, 30, 90, migrateLLC},
		{"out of it, and it has room", 4, moveTask, 0, 40, 30, migrateLLC},
		{"out of it, and it is full", 4, moveTask, 0, 90, 30, migrateCold},
		{"nobody knows", 4, moveTask, 0, 0, 0, migrateCold},
		{"a pass for tasks that prefer LLC 0", 4, moveLLCTask, 0, 90, 30, migrateLLC},
		{"after two failures any", 4, moveLLCTask, 2, 90, 30, migrateCold}, // PKG: 1 try, 2 < 1+1 is false
	} {
		l, env, task := llcLab(t, c.preferred)
		env.move, env.d.nrBalanceFailed = c.move, max(c.failed, 1)
		env.flags = envAllPinned
		if c.src+c.dst > 0 {
			*l.rqs[4].llcShared = LLCShared{Util: c.src * 10, Capacity: 1000}
			*l.rqs[0].llcShared = LLCShared{Util: c.dst * 10, Capacity: 1000}
		}
		task.se.avg.utilAvg = 0
		if got := l.consider(env, task); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if pinned := c.want == migrateLLC && c.move != moveLLCTask; env.has(envLLCPinned) != pinned || env.has(envAllPinned) {
			t.Errorf("%s: flags %b", c.name, env.flags)
		}
	}
}

// 4.4: a pass in which preferences kept tasks back is no failure.
func TestLLCPinnedPassIsNoFailure(t *testing.T) {
	for pinned, want := range map[bool]int32{true: 1, false: 2} {
		l, env, _ := llcLab(t, 0)
		if pinned {
			env.flags |= envLLCPinned
		}
		l.afterFailure(env, &passResult{outcome: passFailed})
		wantInt(t, "failures", int64(env.d.nrBalanceFailed), int64(want))
	}
}

// 4.5, use 1: a group with tasks that prefer dst's cache is of its own type,
// below overloaded, and gives one task.
func TestLLCBalanceGroup(t *testing.T) {
	l, env, task := llcLab(t, 0)
	group := env.d.Groups.Next
	env.d.nrBalanceFailed = 0
	env.owner.llcShared.Capacity, l.rqs[4].llcShared.Capacity = 4096, 4096
	var gs groupStats
	l.collectGroup(env, group, &gs)
	if gs.kind != groupLLCBalance || gs.prefersDst != 1 {
		t.Fatalf("%s, %d tasks prefer LLC 0", gs.kind, gs.prefersDst)
	}
	// Recorded by the pass: LLC 1 is used by two tasks.
	if shared := l.rqs[4].llcShared; shared.Util != gs.util || shared.Capacity != 4096 {
		t.Errorf("record %+v, util %d", *shared, gs.util)
	}
	res := l.balancePass(&l.rqs[0], env.d, Idle)
	if res.outcome != passMoved || res.move != moveLLCTask || res.imbalance != 1 || task.CPU() != 0 {
		t.Errorf("pass %+v, the task is on CPU %d", res, task.CPU())
	}
	// After two failures the type is not used: 2 < 1+1 is false.
	env = l.env(0, "PKG", Idle)
	env.d.nrBalanceFailed = 2
	l.setPreference(&l.rqs[4], l.rqs[4].curr, 0)
	if l.collectGroup(env, group, &gs); gs.kind == groupLLCBalance {
		t.Error("still LLC balance after two failures")
	}
}

// 4.5, use 3: no active balance away from the cache that all tasks prefer.
func TestActiveBalanceKeepsPreferences(t *testing.T) {
	for _, c := range []struct {
		name      string
		preferred int32
		src, dst  int64
		move      moveType
		alone     bool
		want      bool
	}{
		{"all are where they like to be", 4, 40, 30, moveTask, false, false},
		{"but their cache is full", 4, 90, 30, moveTask, false, true},
		{"one of them is not", 0, 40, 30, moveTask, false, true},
		{"it wants to go: at once", 0, 40, 30, moveLLCTask, false, true},
		{"a task alone is kept whatever the use", 4, 90, 30, moveTask, true, false},
	} {
		l, env, task := llcLab(t, c.preferred)
		if c.alone {
			l.deactivateTask(&l.rqs[4], task, dequeueSleep)
		}
		l.setPreference(&l.rqs[4], l.rqs[4].curr, 4)
		*l.rqs[4].llcShared = LLCShared{Util: c.src * 10, Capacity: 1000}
		*l.rqs[0].llcShared = LLCShared{Util: c.dst * 10, Capacity: 1000}
		l.rqs[4].curr.se.avg.utilAvg = 0
		env.move = c.move
		env.d.nrBalanceFailed = 4 // more than 1+2
		if c.move == moveLLCTask {
			env.d.nrBalanceFailed = 0
		}
		if got := activeNeeded72(l.Scheduler, env); got != c.want {
			t.Errorf("%s: %v, want %v; task prefers %d", c.name, got, c.want, task.preferredLLC)
		}
	}
}

// A delayed task is counted with what it prefers, but not as one that is where
// it likes to be.
func TestDelayedTaskIsNotSatisfied(t *testing.T) {
	l, _, task := llcLab(t, 4)
	c := &l.llcs.cpus[4]
	for _, delayed := range []bool{true, false} {
		l.SetDelayed(l.now, task, delayed)
		// Of the two tasks only this one has got a preference so far.
		if want := map[bool]int32{true: 0, false: 1}[delayed]; c.satisfied != want || c.having != 1 || c.byLLC[1] != 1 {
			t.Errorf("delayed %v: %d satisfied, %d of %v have a preference", delayed, c.satisfied, c.having, c.byLLC)
		}
	}
}

// The stopper of such a balance pushes only a task that prefers the
// destination.
func TestStopperPushesForTheCache(t *testing.T) {
	for _, c := range []struct {
		preferred int32
		want      int
	}{{0, 0}, {4, 4}} {
		l, _, task := llcLab(t, c.preferred)
		l.setPreference(&l.rqs[4], l.rqs[4].curr, 4)
		src := &l.rqs[4]
		src.activeBalance, src.pushCPU, src.pushForLLC = true, 0, true
		l.ActiveBalance(l.now, 4)
		if task.CPU() != c.want || l.NrRunning(4) != 1+c.want/4 {
			t.Errorf("prefers %d: on CPU %d, %d left", c.preferred, task.CPU(), l.NrRunning(4))
		}
	}
}

// A machine with one cache, and older kernels, know no preferences.
func TestPreferencesNeedSeveralCaches(t *testing.T) {
	for name, s := range map[string]*Scheduler{
		"one cache": newDomainScheduler(t, machineSpec{nodes: 1, llcs: 1, cores: 4, threads: 2}.build(), "v7.2"),
		"v6.12":     newDomainScheduler(t, twoCaches(), "v6.12"),
	} {
		if s.llcs != nil || s.NewAddressSpace().cpus != nil {
			t.Errorf("%s: preferred caches", name)
		}
	}
	if s := newDomainScheduler(t, realMachine(), "v7.2"); s.llcs == nil || len(s.llcs.first) != 2 {
		t.Error("two nodes of one cache each have none")
	}
}
