package sched

import "testing"

// mechanisms-modern.md 6.

// ewma 400, sample 300: runnable 305 lets it fall by a quarter of 100, 450 says
// that the task waited. A rise is followed at once, less than 1 % is kept.
func TestModernUtilEst(t *testing.T) {
	for _, c := range []struct {
		name             string
		ewma             int64
		sample, runnable int64
		want12, want72   int64
	}{
		{"falls", 400, 300, 305, 375, 375},
		{"waited", 400, 300, 450, 400, 400},
		{"rises", 300, 400, 900, 400, 400},
		{"within 1 %", 309, 300, 300, 309, 309},
		{"by 1 %", 310, 300, 300, 308, 308}, // 10/4 = 2
		{"more than the CPU has", 900, 600, 600, 900, 825},
	} {
		for kernel, want := range map[string]int64{"v6.12": c.want12, "v7.2": c.want72} {
			l := newBalanceLab(t, kernel, realMachine())
			l.rqs[0].capacityOrig = 512
			task := l.NewTask(TaskSpec{CPU: 0})
			task.utilEstEWMA, task.se.avg.utilAvg, task.se.avg.runnableAvg = c.ewma, c.sample, c.runnable
			l.utilEstUpdate(task)
			wantInt(t, kernel+" "+c.name, task.utilEstEWMA, want)
			wantInt(t, kernel+" estimate", task.utilEstimate(), want)
		}
	}
}

// A new task on a queue with util 512 and load 2048: 512·1024/2049 = 255; with
// the weight not scaled down it was the limit, (1024−512)/2 = 256.
func TestModernForkUtilization(t *testing.T) {
	for kernel, want := range map[string]int64{"v6.1": 256, "v6.12": 255, "v7.2": 255} {
		l := newBalanceLab(t, kernel, realMachine())
		l.rqs[0].cfs.avg = Avg{last: l.now, utilAvg: 512, loadAvg: 2048,
			utilSum: 512 * peltMinDivider, loadSum: 2048 * peltMinDivider}
		task := l.NewTask(TaskSpec{CPU: 0})
		task.se.avg.last = neverUpdated
		l.initNewTask(task)
		wantInt(t, kernel, task.se.avg.utilAvg, want)
	}
}

// A queue tells its group at most once a millisecond.
func TestSlowPublishing(t *testing.T) {
	for kernel, want := range map[string]int64{"v6.1": 2000, "v6.12": 1000, "v7.2": 1000} {
		l := newBalanceLab(t, kernel, realMachine())
		group := l.NewGroup(l.root, "/g")
		q := group.queues[0]
		publish := func(load int64) {
			q.avg.loadAvg = load
			l.publishLoad(q)
		}
		publish(1000)
		l.setNow(l.now + 999_999)
		publish(2000)
		wantInt(t, kernel+" after less than 1 ms", group.loadAvg, want)
		l.setNow(l.now + 1)
		publish(2000)
		wantInt(t, kernel+" after 1 ms", group.loadAvg, 2000)
	}
}

// 2.5: a delayed task is load but not runnable, and no estimate; it leaves at
// the latest when it is picked.
func TestDelayedTaskInTheAverages(t *testing.T) {
	l := newBalanceLab(t, "v7.2", realMachine())
	tasks := l.spin(0, 2)
	sleeper := tasks[1]
	sleeper.utilEstEWMA = 100
	l.rqs[0].utilEst += 100
	l.SetDelayed(l.now, sleeper, true)
	if h, r := l.rqs[0].cfs.h, l.rqs[0].cfs.runnable(); h != 2 || r != 1 || l.NrRunning(0) != 2 {
		t.Errorf("Hq %d, Hr %d, nr %d; want 2, 1, 2", h, r, l.NrRunning(0))
	}
	wantInt(t, "estimates", l.rqs[0].utilEst, 0)
	if runnableOf(&sleeper.se) != 0 || !sleeper.se.onRQ {
		t.Error("a delayed task counts as runnable")
	}
	l.SetDelayed(l.now, l.rqs[0].curr, true)
	wantInt(t, "the running task cannot be", int64(l.Delayed(0)), 1)
	running := l.rqs[0].curr
	l.setNow(l.now + 1_000_000)
	if next := l.Schedule(l.now, 0, true); next != nil || sleeper.queued || sleeper.delayed || l.NrRunning(0) != 0 || running.queued {
		t.Errorf("next %v; the delayed task is queued: %v", next, sleeper.queued)
	}
	wantInt(t, "delayed", int64(l.Delayed(0)), 0)
	if err := l.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

// The count goes up through the groups.
func TestDelayedTaskInAGroup(t *testing.T) {
	l := newBalanceLab(t, "v6.12", realMachine())
	outer := l.NewGroup(l.root, "/a")
	inner := l.NewGroup(outer, "/a/b")
	task := l.spin(0, 3)[2]
	l.SetGroup(l.now, task, inner)
	l.SetDelayed(l.now, task, true)
	for _, q := range []*cfsRQ{inner.queues[0], outer.queues[0], &l.rqs[0].cfs} {
		wantInt(t, "delayed", int64(q.delayed), 1)
	}
	l.SetGroup(l.now, task, outer)
	wantInt(t, "left behind", int64(inner.queues[0].delayed), 0)
	wantInt(t, "taken along", int64(outer.queues[0].delayed), 1)
	l.DropDelayed(l.now, task)
	wantInt(t, "at the end", int64(outer.queues[0].delayed+l.rqs[0].cfs.delayed), 0)
}
