package sched

import (
	"slices"
	"testing"
)

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

// Example 1: 50 of 100 ms for one loop are ten slices of 5 ms, the eleventh is
// refused, and the loop stops at once: it is in user mode. Who enters an empty queue
// asks for 1 ns, so the first tick after it has 1 ms of debt to pay as well, and the
// last slice is what is left, 50−6−8·5 = 4 ms.
func TestTenSlicesThenLimbo(t *testing.T) {
	l := newLab(t, uniprocessor(), "v7.2", "hz=1000")
	g := l.limited(t, l.Root(), "/g", perPeriod(50))
	g.pool.next, l.asked.timers = second, nil // the period does not end meanwhile
	task := l.hog(TaskSpec{Group: g}, 0)
	l.settle()
	given := []int64{50*millisecond - g.pool.runtime}
	for pool := g.pool.runtime; !task.limbo && l.clock < 100*millisecond; pool = g.pool.runtime {
		l.advance(millisecond)
		if g.pool.runtime != pool {
			given = append(given, pool-g.pool.runtime)
		}
	}
	l.verify(t)
	want := []int64{1, 5_999_999, 5_000_000, 5_000_000, 5_000_000, 5_000_000, 5_000_000, 5_000_000, 5_000_000, 5_000_000, 4_000_000}
	if !slices.Equal(given, want) {
		t.Errorf("slices %v, want %v", given, want)
	}
	if l.clock != 50*millisecond || l.Current(0) != nil || task.Queued() || g.queues[0].bandwidth.remaining != 0 {
		t.Errorf("at %d ns: runs %v, queued %v, %d ns left; want the end at 50 ms, in limbo, with nothing", l.clock, l.Current(0) != nil, task.Queued(), g.queues[0].bandwidth.remaining)
	}
}

// Example 2: a debt of 20 ms needs 20 ms and 1 ns. (v6.12 pays the same way.)
func TestDebtIsPaidToTheNanosecond(t *testing.T) {
	for _, kernel := range []string{"v6.12", "v7.2"} {
		for _, c := range []struct {
			pool, left int64
			freed      bool
		}{{20_000_000, 0, false}, {20_000_001, 0, true}, {20_000_002, 1, true}} {
			l := newLab(t, uniprocessor(), kernel)
			g := l.limited(t, l.Root(), "/g", perPeriod(50))
			q, p := g.queues[0], g.pool
			p.runtime = 0
			q.bandwidth.remaining = -20 * millisecond
			if kernel == "v7.2" {
				l.throttleTasks(q)
			} else {
				l.throttle(q)
			}
			if !g.Throttled(0) {
				t.Fatalf("%s: a queue in debt is not throttled", kernel)
			}
			p.runtime = c.pool
			l.distribute(p, 0)
			if g.Throttled(0) == c.freed || p.runtime != c.left {
				t.Errorf("%s, %d ns to pay with: throttled %v, %d ns left; want %v and %d", kernel, c.pool, g.Throttled(0), p.runtime, !c.freed, c.left)
			}
		}
	}
}

// 3.2: a queue in which a task runs asks for a whole slice, another one for 1 ns.
func TestWhatAQueueAsksFor(t *testing.T) {
	for _, running := range []bool{true, false} {
		l := newLab(t, uniprocessor(), "v7.2")
		g := l.limited(t, l.Root(), "/g", perPeriod(50))
		q := g.queues[0]
		if running {
			l.hog(TaskSpec{Group: g}, 0)
			l.settle()
		}
		q.bandwidth.remaining, g.pool.runtime = -2*millisecond, 50*millisecond
		l.pay(q, 0)
		want := map[bool]int64{true: 5 * millisecond, false: 1}[running]
		if q.bandwidth.remaining != want || g.pool.runtime != 48*millisecond-want {
			t.Errorf("running %v: the queue has %d ns, the pool %d; want %d and the rest", running, q.bandwidth.remaining, g.pool.runtime, want)
		}
	}
}

// 3.2: limbo is a stack: who went there last is enqueued first, so that who went
// there first ends at the front of the CPU's list.
func TestLimboIsNewestFirst(t *testing.T) {
	l := newLab(t, uniprocessor(), "v7.2")
	g := l.limited(t, l.Root(), "/g", perPeriod(20))
	tasks := [2]*Task{l.hog(TaskSpec{Group: g}, 0), l.hog(TaskSpec{Group: g}, 0)}
	l.settle()
	for !g.Throttled(0) && l.clock < 100*millisecond {
		l.settle()
		l.clock = l.nextTick()
		l.Tick(l.clock, 0)
	}
	first, second := tasks[0], tasks[1]
	if l.Current(0) == second {
		first, second = second, first
	}
	l.settle() // the one that runs goes to limbo, then the other
	q := g.queues[0]
	if q.limbo != second || second.limboNext != first {
		t.Fatal("limbo does not begin with the task that came last")
	}
	l.refill(g.pool)
	l.distribute(g.pool, 0)
	l.verify(t)
	if l.rqs[0].lruHead != first || first.lruNext != second {
		t.Error("the task that came to limbo first is not at the front of the CPU's list")
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
