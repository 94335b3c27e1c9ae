package sched

import "testing"

// mechanisms-modern.md 3.2, example 2: the quota is used up while the task is in
// a system call of 20 ms. It runs on, and owes the time when it returns; the
// refill has to pay that and 1 ns first.
func TestThrottledTaskFinishesItsSystemCall(t *testing.T) {
	l := newLab(t, uniprocessor(), "v7.2")
	g := l.limited(t, l.Root(), "/g", perPeriod(50))
	task := l.hog(TaskSpec{Group: g}, 0)
	l.settle()
	b := g.queues[0].bandwidth
	runTo := func(at int64) { // ticks, but nobody returns to user mode
		for l.clock = l.nextTick(); l.clock < at; l.clock = l.nextTick() {
			l.Tick(l.clock, 0)
		}
		l.clock = at
		l.Tick(at, 0)
	}
	runTo(52 * millisecond) // the tick at 52 ms finds the ten slices of 5 ms used up
	if !g.Throttled(0) || !l.asked.work[0] || b.remaining != -2*millisecond {
		t.Fatalf("at 52 ms: throttled %v, asked to stop the task %v, %d ns left; want yes, yes, -2 ms", g.Throttled(0), l.asked.work[0], b.remaining)
	}
	runTo(72 * millisecond)
	if l.Current(0) != task || l.NrRunning(0) != 1 {
		t.Fatal("a task inside the kernel was stopped")
	}
	l.settle() // the call ends
	l.verify(t)
	if l.Current(0) != nil || !task.limbo || task.Queued() || b.remaining != -22*millisecond {
		t.Fatalf("after the call: running %v, in limbo %v, %d ns left; want none, yes, -22 ms", l.Current(0), task.limbo, b.remaining)
	}
	l.advance(100*millisecond - l.clock + g.pool.next)
	for !task.Queued() && l.clock < 300*millisecond {
		l.advance(millisecond)
	}
	l.verify(t)
	if l.Current(0) != task {
		t.Error("the task does not run again after a refill")
	}
}

// Examples 3 and 4: two loops, A runs and B waits when the quota is used up. v7.2
// stops A, picks B, and stops it at once; then the group's entity leaves and its
// averages stand still. v6.12 takes the group off as A is put back, and B never
// runs.
func TestEachTaskIsStoppedOnItsOwn(t *testing.T) {
	for _, c := range []struct {
		kernel   string
		switches int // from the throttling to idle: to B and to idle, or only to idle
		limbo    bool
	}{{"v7.2", 2, true}, {"v6.12", 1, false}} {
		l := newLab(t, uniprocessor(), c.kernel)
		g := l.limited(t, l.Root(), "/g", perPeriod(20))
		tasks := [2]*Task{l.hog(TaskSpec{Group: g}, 0), l.hog(TaskSpec{Group: g}, 0)}
		l.settle()
		for usedUp := false; !usedUp && l.clock < 100*millisecond; {
			l.settle()
			l.clock = l.nextTick()
			l.Tick(l.clock, 0)
			usedUp = g.queues[0].bandwidth.remaining <= 0
		}
		if want := c.kernel == "v7.2"; g.Throttled(0) != want {
			t.Fatalf("%s: throttled %v by the charge that the pool cannot pay, want %v", c.kernel, g.Throttled(0), want)
		}
		switches := 0
		l.switched = func(int, *Task, *Task) { switches++ }
		l.settle()
		l.verify(t)
		q := g.queues[0]
		if l.Current(0) != nil || switches != c.switches || !q.frozen {
			t.Errorf("%s: runs %v after %d switches, averages frozen %v; want idle after %d, frozen", c.kernel, l.Current(0), switches, q.frozen, c.switches)
		}
		for _, task := range tasks {
			if task.limbo != c.limbo || task.Queued() == c.limbo {
				t.Errorf("%s: a task is in limbo %v, queued %v; want in limbo %v", c.kernel, task.limbo, task.Queued(), c.limbo)
			}
		}
	}
}

// A kernel thread is never stopped: it runs into debt.
func TestKernelThreadsAreNotStopped(t *testing.T) {
	l := newLab(t, uniprocessor(), "v7.2")
	g := l.limited(t, l.Root(), "/g", perPeriod(20))
	task := l.hog(TaskSpec{Group: g, Kthread: true}, 0)
	l.advance(90 * millisecond)
	l.verify(t)
	if l.Current(0) != task || !g.Throttled(0) || g.queues[0].bandwidth.remaining >= 0 {
		t.Errorf("the kernel thread runs: %v, its group is throttled: %v, with %d ns left", l.Current(0) == task, g.Throttled(0), g.queues[0].bandwidth.remaining)
	}
}

// A task that waits in limbo on one CPU and is moved waits on the other one only
// if its group is throttled there too.
func TestLimboMoves(t *testing.T) {
	for _, throttledThere := range []bool{false, true} {
		l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), "v7.2")
		g := l.limited(t, l.Root(), "/g", perPeriod(20))
		task := l.hog(TaskSpec{Group: g}, 0)
		if throttledThere {
			l.hog(TaskSpec{Group: g}, 1)
		}
		for !task.limbo && l.clock < 100*millisecond {
			l.advance(millisecond)
		}
		if throttledThere != g.Throttled(1) {
			t.Fatalf("throttled on CPU 1: %v, want %v", g.Throttled(1), throttledThere)
		}
		l.MigrateQueued(l.clock, task, 1)
		l.verify(t)
		if task.CPU() != 1 || task.limbo != throttledThere || task.Queued() == throttledThere {
			t.Errorf("throttled there %v: on CPU %d, in limbo %v, queued %v", throttledThere, task.CPU(), task.limbo, task.Queued())
		}
	}
}
