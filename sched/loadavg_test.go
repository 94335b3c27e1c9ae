package sched

import "testing"

// mechanisms.md 2, "Unit tests": two nice-0 tasks share a CPU half and half for
// a second. Each is always runnable and runs half of the time; the queue's load
// is that of both. With slices of 4 ms the utilization swings by what decays
// and accrues in one of them, about 512 * (1 - y^4) = 42.
func Test2_TwoTasksSharingACPU(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	a, b := l.hog(TaskSpec{}, 0), l.hog(TaskSpec{}, 0)
	l.advance(second)
	for _, task := range []*Task{a, b} {
		l.updateEntityAvg(task.se.cfs, &task.se, l.clock)
		wantNear(t, "utilization of one", task.UtilAvg(), 512, 90)
		wantNear(t, "runnable of one", task.se.avg.runnableAvg, 1023, 1)
		wantNear(t, "load of one", task.LoadAvg(), 1023, 1)
	}
	cfs := &l.rqs[0].cfs
	l.updateQueueAvg(cfs, l.clock)
	wantNear(t, "queue load", cfs.avg.loadAvg, 2047, 1)
	wantNear(t, "queue runnable", cfs.avg.runnableAvg, 2047, 1)
	wantNear(t, "queue utilization", cfs.avg.utilAvg, 1023, 1)
	wantNear(t, "Σ utilization", a.UtilAvg()+b.UtilAvg(), 1023, 5)
}

// mechanisms.md 2, "New task": on an idle CPU half of its capacity; beside
// utilization u half of what is left, because the bound by density,
// u * 2^20/(load+1), is larger whenever the load is below 1024 * u.
func Test2_NewTaskUtilization(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	first := l.hog(TaskSpec{}, 0)
	wantInt(t, "on an idle CPU: 1024/2", first.UtilAvg(), 512)
	wantInt(t, "runnable", first.se.avg.runnableAvg, 512)
	wantInt(t, "load: the weight", first.LoadAvg(), 1024)
	next := l.hog(TaskSpec{Nice: 5}, 0)
	wantInt(t, "beside 512: (1024-512)/2", next.UtilAvg(), 256)
	wantInt(t, "load of nice 5", next.LoadAvg(), 335)

	// Bound by density: u = 1 beside a load of 88761 (nice -20) and a weight of
	// 15 << 10 (nice 19): 1*15360/88762 = 0.
	l = newLab(t, uniprocessor(), "v5.17")
	cfs := &l.rqs[0].cfs
	cfs.avg.utilAvg, cfs.avg.loadAvg = 1, 88761
	wantInt(t, "little density", l.hog(TaskSpec{Nice: 19}, 0).UtilAvg(), 0)

	// Nothing left: no utilization at all.
	l = newLab(t, uniprocessor(), "v5.17")
	l.rqs[0].cfs.avg.utilAvg = 1024
	wantInt(t, "full CPU", l.hog(TaskSpec{}, 0).UtilAvg(), 0)
}

// What is attached can be detached again: the queue is back where it was, and
// in between holds exactly the sum.
func Test2_AttachAndDetachCancel(t *testing.T) {
	for _, kernel := range []string{"v4.14", "v5.17"} {
		l := newLab(t, uniprocessor(), kernel)
		l.hog(TaskSpec{}, 0)
		l.advance(100 * millisecond)
		cfs := &l.rqs[0].cfs
		l.updateQueueAvg(cfs, l.clock)
		before := cfs.avg
		guest := &l.NewTask(TaskSpec{Nice: -5}).se
		guest.avg = Avg{last: neverUpdated, loadAvg: 3121, utilAvg: 300, runnableAvg: 400}
		l.attachEntity(cfs, guest)
		wantInt(t, kernel+": load with the guest", cfs.avg.loadAvg, before.loadAvg+3121)
		wantInt(t, kernel+": utilization with the guest", cfs.avg.utilAvg, before.utilAvg+300)
		wantInt(t, kernel+": runnable with the guest", cfs.avg.runnableAvg, before.runnableAvg+400)
		wantInt(t, kernel+": utilization sum", cfs.avg.utilSum, before.utilSum+300*before.divider())
		l.detachEntity(cfs, guest)
		if cfs.avg != before {
			t.Errorf("%s: after the guest has left: %+v, was %+v", kernel, cfs.avg, before)
		}
	}
}

// mechanisms.md 2: a task that is woken on another CPU leaves its load in the
// old queue's "removed" bucket; it goes at that queue's next update.
func Test2_LoadOfAMigratedWakeeIsRemovedLater(t *testing.T) {
	l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), "v5.17")
	task := l.hog(TaskSpec{}, 0)
	l.advance(100 * millisecond)
	l.Schedule(l.clock, 0, true)
	old := &l.rqs[0].cfs
	before := old.avg
	l.setTaskCPU(task, 1)
	if old.avg != before {
		t.Error("the old queue changed although nobody holds its lock")
	}
	wantInt(t, "load in the bucket", old.removed.load, task.LoadAvg())
	l.activateTask(&l.rqs[1], task, enqueueWakeup|enqueueMigrated)
	wantInt(t, "load at the new CPU", l.rqs[1].cfs.avg.loadAvg, task.LoadAvg())
	l.updateQueueAvg(old, l.clock)
	wantInt(t, "load left behind", old.avg.loadAvg, 0)
	wantInt(t, "utilization left behind", old.avg.utilAvg, 0)
}

// A task that has exited does not linger in the averages of its CPU.
func TestDeadTaskTakesItsLoadAway(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	task := l.hog(TaskSpec{}, 0)
	l.advance(100 * millisecond)
	task.MarkExiting()
	l.Schedule(l.clock, 0, true)
	l.updateBlockedAverages(&l.rqs[0])
	wantInt(t, "load", l.Load(0), 0)
	wantInt(t, "utilization", l.Util(0), 0)
}

// mechanisms.md 2: runnable_load_avg (v4.14) loses a task when it sleeps,
// load_avg keeps it and lets it decay. One half-life later half is left.
func Test2_RunnableLoadHasNoSleepers(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   int64
	}{{"v4.14", 0}, {"v5.17", 511}} {
		l := newLab(t, uniprocessor(), c.kernel)
		l.hog(TaskSpec{}, 0)
		l.advance(second)
		wantNear(t, c.kernel+": load while it runs", l.Load(0), 1023, 2)
		l.Schedule(l.clock, 0, true)
		l.setNow(l.clock + 32<<20)
		l.updateBlockedAverages(&l.rqs[0])
		wantNear(t, c.kernel+": load 32 periods after it went to sleep", l.Load(0), c.want, 3)
		wantNear(t, c.kernel+": load_avg", l.rqs[0].cfs.avg.loadAvg, 511, 3)
	}
}

// v4.14 weighs its load sums inside: a new weight shows only as the average
// follows. From v4.15 on it shows at once (mechanisms.md 2, 3.1).
func Test2_ReweightByVersion(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   int64
	}{{"v4.14", 1023}, {"v5.17", 511}} {
		l := newLab(t, uniprocessor(), c.kernel)
		task := l.hog(TaskSpec{}, 0)
		l.advance(second)
		l.Tick(l.clock, 0)
		l.reweight(&task.se, 512<<weightShift)
		wantNear(t, c.kernel+": load right after the change", task.LoadAvg(), c.want, 2)
		wantNear(t, c.kernel+": queue", l.rqs[0].cfs.avg.loadAvg, c.want, 2)
		l.advance(second)
		wantNear(t, c.kernel+": load a second later", task.LoadAvg(), 511, 4)
		wantNear(t, c.kernel+": queue a second later", l.rqs[0].cfs.avg.loadAvg, 511, 4)
	}
}

// mechanisms.md 2, h_load: a task alone in a group beside a task in the root.
// Both group and task carry half of the root's 2047; the group's task carries
// all of the group's.
func Test2_HierarchicalLoad(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	g := l.NewGroup(l.Root(), "/g")
	inside, outside := l.hog(TaskSpec{Group: g}, 0), l.hog(TaskSpec{}, 0)
	l.advance(second)
	wantNear(t, "load of the root queue", l.rqs[0].cfs.avg.loadAvg, 2047, 3)
	wantNear(t, "task in the group: 1023 * (2047*1023/2048) / 1024", l.taskHLoad(inside), 1022, 5)
	wantNear(t, "task outside: 1023 * 2047/2048", l.taskHLoad(outside), 1022, 5)

	// The factor is computed once a jiffy.
	factor := l.queueHLoad(g.queues[0])
	g.entities[0].avg.loadAvg *= 2
	wantInt(t, "within the jiffy", l.queueHLoad(g.queues[0]), factor)
	l.setNow(l.clock + 4*millisecond)
	wantNear(t, "in the next one", l.queueHLoad(g.queues[0]), 2*factor, 2)
}

// mechanisms.md 2, h_load, to the digit: h of the root is its load, 3000; of the
// group 3000 · 1000/(3000+1) = 999; of its task 500 · 999/(2000+1) = 249.
func Test2_HierarchicalLoadByTheFormula(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	g := l.NewGroup(l.Root(), "/g")
	task := l.NewTask(TaskSpec{Group: g})
	l.rqs[0].cfs.avg.loadAvg, g.entities[0].avg.loadAvg = 3000, 1000
	g.queues[0].avg.loadAvg, task.se.avg.loadAvg = 2000, 500
	wantInt(t, "group", l.queueHLoad(g.queues[0]), 999)
	wantInt(t, "task", l.taskHLoad(task), 249)
}

// mechanisms.md 2, "Group propagation", load: an entity of weight 1024 whose load
// sum is 40000 of 46718: 1024·40000/46718 = 876.
func Test2_PropagatedLoad(t *testing.T) {
	for _, c := range []struct {
		name             string
		change           int64 // of the group's sum
		weight, groupSum int64 // queued in the group afterwards, and its load sum
		utilSum          int64 // of the entity
		wantSum, wantAvg int64
	}{
		{"5000 arrive", 5_000, 1024, 0, 0, 45_000, 986},
		{"more arrives than there is time", 10_000, 1024, 0, 0, 46_718, 1024},
		{"a task leaves: what stays was runnable for 30000", -20_000, 2048, 2048 * 30_000, 0, 30_000, 657},
		{"what stays was runnable for longer: no more than before", -20_000, 2048, 2048 * 45_000, 0, 40_000, 876},
		{"not less than it ran: 35000", -20_000, 2048, 2048 * 30_000, 35_000<<10 + 1023, 35_000, 767},
		{"the last one leaves", -40_000, 0, 0, 0, 0, 0},
	} {
		cfs := &cfsRQ{}
		se := &Entity{weight: nice0Stored, cfs: cfs}
		se.avg.loadSum, se.avg.loadAvg, se.avg.utilSum = 40_000, 876, c.utilSum
		cfs.avg.loadSum, cfs.avg.loadAvg = 1024*(40_000+10_000), 876+219
		group := &cfsRQ{load: c.weight << weightShift}
		group.avg.loadSum = c.groupSum
		propagateLoad(cfs, se, group, c.change)
		wantInt(t, c.name+": sum of the entity", se.avg.loadSum, c.wantSum)
		wantInt(t, c.name+": load of the entity", se.avg.loadAvg, c.wantAvg)
		wantInt(t, c.name+": load of the queue above, with 219 of others", cfs.avg.loadAvg, c.wantAvg+219)
		// The queue's sum counts with the weight, and covers its average at least.
		wantInt(t, c.name+": sum of the queue above", cfs.avg.loadSum, max(1024*(c.wantSum+10_000), (c.wantAvg+219)*peltMinDivider))
	}
}

// A group's utilization and runnable are its entity's, on every level, and
// move with a task that enters or leaves (mechanisms.md 2, "Group propagation").
func Test2_Propagation(t *testing.T) {
	l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), "v5.17")
	outer := l.NewGroup(l.Root(), "/o")
	inner := l.NewGroup(outer, "/o/i")
	task := l.hog(TaskSpec{Group: inner, Allowed: maskOf(2, 0)}, 0)
	l.advance(200 * millisecond)
	l.MigrateRunning(l.clock, 0, 1)
	checkInvariants(t, l.Scheduler)
	for _, g := range []*TaskGroup{outer, inner} {
		wantInt(t, g.Name()+": utilization left behind", g.entities[0].avg.utilAvg, 0)
		wantInt(t, g.Name()+": utilization moved along", g.entities[1].avg.utilAvg, task.UtilAvg())
	}
	wantInt(t, "root left", l.rqs[0].cfs.avg.utilAvg, 0)
	wantInt(t, "root entered", l.rqs[1].cfs.avg.utilAvg, task.UtilAvg())
}

// Blocked load of a group decays on all levels and the queues then leave the
// list of those that have any, children first.
func Test2_BlockedGroupsDecayAndLeaveTheList(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	outer := l.NewGroup(l.Root(), "/o")
	inner := l.NewGroup(outer, "/o/i")
	l.hog(TaskSpec{Group: inner}, 0)
	l.advance(second)
	l.Schedule(l.clock, 0, true)
	rq := &l.rqs[0]
	wantInt(t, "queues with load", int64(len(rq.leaf)), 3)
	l.setNow(l.clock + 32<<20)
	l.updateBlockedAverages(rq)
	for _, g := range []*TaskGroup{outer, inner} {
		wantNear(t, g.Name()+": utilization of the entity after a half-life", g.entities[0].avg.utilAvg, 511, 3)
		wantNear(t, g.Name()+": load of the entity after a half-life", g.entities[0].avg.loadAvg, 511, 3)
	}
	wantNear(t, "root load after a half-life", rq.cfs.avg.loadAvg, 511, 3)
	l.setNow(l.clock + 3*second) // 2^-89 of it is left
	l.updateBlockedAverages(rq)
	wantInt(t, "queues with load at the end", int64(len(rq.leaf)), 1)
	wantInt(t, "root load at the end", rq.cfs.avg.loadAvg, 0)
}

// Statistics of a CPU as they would be without a task that counts there.
func TestCPUWithoutATask(t *testing.T) {
	l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), "v5.17")
	a, b := l.hog(TaskSpec{Allowed: maskOf(2, 0)}, 0), l.hog(TaskSpec{Allowed: maskOf(2, 0)}, 0)
	l.advance(second)
	rq := &l.rqs[0]
	l.updateQueueAvg(&rq.cfs, l.clock)
	wantNear(t, "load without a", l.cpuLoadWithout(rq, a), l.taskHLoad(b), 5)
	wantInt(t, "runnable without a", l.cpuRunnableWithout(rq, a), rq.cfs.avg.runnableAvg-a.se.avg.runnableAvg)
	wantInt(t, "utilization without a", l.cpuUtilWithout(rq, a), rq.cfs.avg.utilAvg-a.UtilAvg())
	other := &l.rqs[1]
	wantInt(t, "another CPU's load", l.cpuLoadWithout(other, a), other.cfs.avg.loadAvg)
	wantInt(t, "another CPU's utilization", l.cpuUtilWithout(other, a), l.cpuUtil(other))
}

// A task sleeps for 32 PELT periods of 2^20 ns, which halves its load of 1024,
// and is then woken on another CPU. Nobody has updated the queue of its idle CPU
// meanwhile: before v6.0 the task brings its old load along. A busy CPU is taken
// to be up to date, so there every version goes by the queue's last update,
// here that of its running task's enqueue.
func TestAWakeeThatLeavesAnIdleCPUDecays(t *testing.T) {
	for _, c := range []struct {
		kernel string
		busy   bool
		want   int64
	}{
		{"v5.10", false, 1024}, {"v5.17", false, 1024},
		{"v6.1", false, 512}, {"v6.12", false, 512}, {"v7.2", false, 512},
		{"v6.1", true, 1024},
	} {
		f := newFollowed(t, c.kernel)
		p := f.runner(1, 0)
		p.se.avg.loadAvg = 1024
		f.s.rebuildSums(&p.se)
		f.Switch(0, p, nil, LeavesBlocked)
		if c.busy {
			f.runner(2, 0)
		}
		f.TickByHand()
		f.Advance(f.Now() + 32<<20)
		f.Placed(p, 4, 4)
		if got := p.se.avg.loadAvg; got < c.want-1 || got > c.want+1 {
			t.Errorf("%s, busy %v: load %d, want %d", c.kernel, c.busy, got, c.want)
		}
	}
}

// Group /g has two tasks of load 1024 on CPU 0 and one on CPU 1; one of the two
// moves to CPU 2. Leaving takes it off the load of /g on CPU 0 before its entity
// there is weighed: 1024·1024/(1024+1024) = 512. Up to v6.0 the load left
// afterwards: 1024·2048/(2048+1024) = 682, until the next update.
func TestAMovedTaskLeavesBeforeItsGroupIsWeighed(t *testing.T) {
	for kernel, want := range map[string]int64{"v5.10": 682, "v5.17": 682, "v6.1": 512, "v6.12": 512, "v7.2": 512} {
		l := newBalanceLab(t, kernel, realMachine())
		group := l.NewGroup(l.root, "/g")
		var tasks [3]*Task
		for i, cpu := range [...]int{0, 0, 1} {
			tasks[i] = l.NewTask(TaskSpec{ID: int32(i + 1), CPU: cpu, Group: group})
			tasks[i].se.avg = Avg{last: neverUpdated, loadAvg: 1024}
			l.activateTask(&l.rqs[cpu], tasks[i], 0)
			l.setNow(l.now + 2_000_000)
			l.updateLoadAvg(group.queues[cpu], &tasks[i].se, updateGroupLoad)
		}
		wantNear(t, kernel+" load of the group", group.loadAvg, 3072, 2)
		l.moveQueued(&l.rqs[0], tasks[0], 2)
		wantNear(t, kernel+" weight on CPU 0", seWeight(group.entities[0]), want, 3)
		wantNear(t, kernel+" load of the group's queue on CPU 0", group.queues[0].avg.loadAvg, 1024, 2)
		wantNear(t, kernel+" load of the group's queue on CPU 2", group.queues[2].avg.loadAvg, 1024, 2)
		checkInvariants(t, l.Scheduler)
	}
}
