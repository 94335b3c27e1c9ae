package sched

import "testing"

// remotePair is a machine with one CPU in each of two nodes: every wakeup from
// the other CPU goes through the wake list.
func remotePair(t *testing.T, kernel string, settings ...string) *lab {
	t.Helper()
	return newLab(t, machineSpec{nodes: 2, llcs: 1, cores: 1, threads: 1}.build(), kernel, settings...)
}

// mechanisms.md 1.8: a task that is woken on another CPU keeps its distance to
// the queue's virtual time; the old queue's is taken off when the CPU changes,
// the new one's is added when the task is queued.
func Test1_8_WakeupOnAnotherCPU(t *testing.T) {
	for _, p := range Profiles() {
		if p.Time.eevdf != nil {
			continue // it keeps its lag instead
		}
		l := remotePair(t, p.Name)
		task := l.hog(TaskSpec{Allowed: maskOf(2, 0, 1)}, 0)
		l.advance(50 * millisecond)
		l.Schedule(l.clock, 0, true)
		l.rqs[0].cfs.minVruntime, task.se.vruntime = 60*millisecond, 61*millisecond
		l.rqs[1].cfs.minVruntime = 900 * millisecond
		l.SetAffinity(task, maskOf(2, 1))
		if cpu := l.Wake(l.clock, 0, task, false); cpu != 1 {
			t.Fatalf("%s: woken on CPU %d", p.Name, cpu)
		}
		wantInt(t, p.Name+": on the way, 1 ms ahead of nothing", task.VRuntime(), millisecond)
		l.settle()
		wantInt(t, p.Name+": 1 ms ahead of the new queue", task.VRuntime(), 901*millisecond)
		checkInvariants(t, l.Scheduler)
	}
}

// mechanisms.md 1.8: the same for a move of a queued task.
func Test1_8_MoveOfAQueuedTask(t *testing.T) {
	l := remotePair(t, "v5.17")
	l.hog(TaskSpec{Allowed: maskOf(2, 0)}, 0)
	l.settle()
	task := l.hog(TaskSpec{Allowed: maskOf(2, 0, 1)}, 0)
	ahead := task.VRuntime() - l.rqs[0].cfs.minVruntime
	l.rqs[1].cfs.minVruntime = 900 * millisecond
	l.MigrateQueued(l.clock, task, 1)
	wantInt(t, "distance", task.VRuntime()-900*millisecond, ahead)
	wantInt(t, "task_hot starts anew", task.se.execStart, 0)
	checkInvariants(t, l.Scheduler)
}

// mechanisms.md 6.1 step 6: while a task waits on its wake list a CPU does not
// count as idle; the list is handled oldest first and empties itself.
func Test6_1_WakeList(t *testing.T) {
	l := remotePair(t, "v5.17")
	var woken []*Task
	for range 3 {
		task := l.NewTask(TaskSpec{ID: int32(len(woken)), Allowed: maskOf(2, 1), CPU: 1})
		l.Start(l.clock, task, 1)
		woken = append(woken, task)
	}
	l.settle()
	for range woken {
		l.Schedule(l.clock, 1, true)
	}
	if !l.Idle(1) {
		t.Fatal("CPU 1 should idle")
	}
	l.asked = newRequests(2)
	for i, task := range woken {
		l.Wake(l.clock, 0, task, false)
		if l.Idle(1) || task.Queued() || !l.WakeListPending(1) {
			t.Fatal("a task is on its way, so the CPU is not idle, nor is the task queued")
		}
		if take(&l.asked.wakeIPI[1]) != (i == 0) {
			t.Errorf("wakeup %d: only the first on an empty list sends an interrupt", i)
		}
		l.Wake(l.clock, 0, task, false) // no second time
	}
	l.HandleWakeList(l.clock, 1)
	wantInt(t, "tasks queued", int64(l.NrRunning(1)), 3)
	for i, task := 0, l.rqs[1].lruTail; task != nil; i, task = i+1, task.lruPrev {
		wantInt(t, "order of queueing", int64(task.ID), int64(i))
	}
	checkInvariants(t, l.Scheduler)
}

// mechanisms.md 6.1 step 6: within a cache, or with NO_TTWU_QUEUE, the waker
// queues the task itself.
func Test6_1_DirectWakeup(t *testing.T) {
	for _, c := range []struct {
		sharesCache bool
		settings    []string
	}{{true, nil}, {false, []string{"NO_TTWU_QUEUE"}}} {
		spec := machineSpec{nodes: 2, llcs: 1, cores: 1, threads: 1}
		if c.sharesCache {
			spec = machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}
		}
		l := newLab(t, spec.build(), "v5.17", c.settings...)
		task := l.add(TaskSpec{Allowed: maskOf(2, 1)}, 1, millisecond, second)
		l.advance(2 * millisecond)
		l.Wake(l.clock, 0, task.Task, false)
		if !task.Queued() || l.WakeListPending(1) {
			t.Errorf("%+v: the task should be queued at once", c)
		}
	}
}

// mechanisms.md 6.1 step 7, initial values and the cap: avg_idle starts at 1 ms;
// the task's sleep of 500 us makes it 1 ms + (0.5-1)/8; one of 100 ms is capped
// at twice the maximal balance cost, 1 ms.
func Test6_1_IdleHistory(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	rq := &l.rqs[0]
	wantInt(t, "avg_idle at the start", rq.avgIdle, millisecond)
	wantInt(t, "wake_avg_idle at the start", rq.wakeAvgIdle, millisecond)
	l.add(TaskSpec{}, 0, millisecond, 500*microsecond)
	l.advance(1500 * microsecond)
	wantInt(t, "after 500 us of idleness", rq.avgIdle, 937_500)
	wantInt(t, "wake_avg_idle is half of it", rq.wakeAvgIdle, 468_750)
	wantInt(t, "no idle period runs", rq.idleStamp, 0)

	l = newLab(t, uniprocessor(), "v5.17")
	l.add(TaskSpec{}, 0, millisecond, 100*millisecond)
	l.advance(102 * millisecond)
	wantInt(t, "after 100 ms of idleness", l.rqs[0].avgIdle, millisecond)
}

// mechanisms.md 6.1, step 7: the cap is twice what balancing costs the CPU when it
// falls idle, at the start twice 0.5 ms; with 1.5 ms 10 ms of idleness make 1 ms
// + (10-1)/8 = 2.125 ms, and 1 s of it 3 ms.
func Test6_1_IdleHistoryIsCapped(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	rq := &l.rqs[0]
	wantInt(t, "max_idle_balance_cost at the start", rq.maxIdleBalanceCost, 500_000)
	l.setNow(2 * second)
	rq.maxIdleBalanceCost = 1_500_000
	for _, c := range []struct{ idled, want int64 }{{10 * millisecond, 2_125_000}, {second, 3_000_000}} {
		rq.avgIdle, rq.idleStamp = millisecond, l.now-c.idled
		l.endIdlePeriod(rq)
		wantInt(t, "avg_idle", rq.avgIdle, c.want)
		wantInt(t, "wake_avg_idle", rq.wakeAvgIdle, c.want/2)
		wantInt(t, "wake_stamp: 2 s at 250 Hz", rq.wakeStamp, 500)
	}
	l.endIdlePeriod(rq) // no idle period has begun
	wantInt(t, "avg_idle without an idle period", rq.avgIdle, 3_000_000)
}

// mechanisms.md 6.3: a child inherits its parent's wakee_flips and stamp.
func Test6_3_ChildInheritsFlips(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	parent := l.hog(TaskSpec{}, 0)
	l.settle()
	parent.flips, parent.flipDecay = 17, 3
	child := l.NewTask(TaskSpec{ID: 1})
	l.Fork(l.clock, 0, parent, child)
	wantInt(t, "flips", int64(child.Flips()), 17)
	wantInt(t, "stamp", child.flipDecay, 3)
	wantInt(t, "recent_used_cpu: where it was made", int64(child.RecentUsedCPU()), 0)
}

// A task that exits does not give its place to whom it wakes: sync is ignored.
func Test6_2_ExitingWakerIsNotSync(t *testing.T) {
	for _, exiting := range []bool{false, true} {
		l := remotePair(t, "v5.17")
		waker := l.hog(TaskSpec{Allowed: maskOf(2, 0)}, 0)
		sleeper := l.add(TaskSpec{Allowed: maskOf(2, 0, 1)}, 1, millisecond, 10*second)
		l.hog(TaskSpec{Allowed: maskOf(2, 1)}, 1) // the sleeper's CPU is busy
		l.advance(100 * millisecond)
		if exiting {
			waker.MarkExiting()
		}
		var d Decision
		l.Record(&d)
		l.Wake(l.clock, 0, sleeper.Task, true)
		if d.Sync != !exiting {
			t.Errorf("exiting %v: decided with sync %v", exiting, d.Sync)
		}
	}
}

// A task whose affinity changes while it is on a wake list ends where it may
// run.
func TestMigrateAPendingTask(t *testing.T) {
	l := remotePair(t, "v5.17")
	task := l.add(TaskSpec{Allowed: maskOf(2, 1)}, 1, millisecond, 10*second)
	l.advance(2 * millisecond)
	l.Wake(l.clock, 0, task.Task, false)
	if !l.SetAffinity(task.Task, maskOf(2, 0)) {
		t.Fatal("the task waits on CPU 1, where it may not run")
	}
	l.MigrateQueued(l.clock, task.Task, 0)
	l.settle()
	if l.Current(0) != task.Task {
		t.Error("the task does not run on CPU 0")
	}
	checkInvariants(t, l.Scheduler)
}

// Exec of nobody stays where it is; migrating nobody, or to the same CPU, does
// nothing.
func TestCallsWithoutATask(t *testing.T) {
	l := remotePair(t, "v5.17")
	wantInt(t, "exec on an idle CPU", int64(l.Exec(0, 1)), 1)
	l.MigrateRunning(0, 0, 1)
	l.Yield(0, 0)
	if l.Schedule(0, 0, true) != nil {
		t.Error("somebody runs")
	}
	checkInvariants(t, l.Scheduler)
}

// Asking for a run time includes the current turn and changes nothing.
func TestRunTime(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	task := l.hog(TaskSpec{}, 0)
	l.advance(3 * millisecond)
	before := task.VRuntime()
	wantInt(t, "run time", l.RunTime(l.clock, task), 3*millisecond)
	wantInt(t, "charged so far", task.SumExec(), 0)
	wantInt(t, "vruntime", task.VRuntime(), before)
}
