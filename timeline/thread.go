package timeline

import "github.com/schedlab/schedlab/trace"

// thread is what is known of a thread now.
type thread struct {
	id     Identity
	state  State
	before State
	since  int64
	cpu    int32 // trace.UnknownCPU until an event tells
	sleep  trace.State
	woken  bool
	waker  Waker

	queued   bool  // counted in its CPU's depth
	place    int   // in its CPU's list of waiting threads, while it waits
	partFrom int64 // where the part of its wait begins that is not yet told
}

// thread returns the present holder of a PID, nil when the PID is not told.
func (f *Follower) thread(pid, number int32) *thread {
	if pid < 0 {
		return nil
	}
	key := f.incarnations.Of(pid, number)
	if pid == 0 {
		return f.idleThread(key)
	}
	t := f.holders[pid]
	if t != nil && t.id.Thread != key {
		f.forget(t)
		t = nil
	}
	if t == nil {
		t = newThread(key)
		f.holders[pid] = t
	}
	return t
}

func (f *Follower) idleThread(key trace.Thread) *thread {
	c := f.cpu(key.Incarnation)
	if c == nil {
		return nil
	}
	if c.idler == nil {
		c.idler = newThread(key)
	}
	return c.idler
}

func newThread(key trace.Thread) *thread {
	return &thread{id: Identity{Thread: key, TGID: trace.UnknownPID, Prio: -1}, cpu: trace.UnknownCPU}
}

// named returns the thread that an event names, and notes what it says of it.
func (f *Follower) named(task trace.Task, cpu int32) *thread {
	t := f.thread(task.PID, cpu)
	if t == nil {
		return nil
	}
	if task.Comm != trace.NoName {
		t.id.Comm = task.Comm
	}
	if task.Prio >= 0 {
		t.id.Prio = task.Prio
	}
	return t
}

// turn ends the thread's present interval and begins one of another state.
func (f *Follower) turn(t *thread, to State) {
	f.tell(t, to, f.now)
	t.become(to, f.now)
}

func (t *thread) become(state State, now int64) {
	t.before, t.state, t.since = t.state, state, now
	t.woken, t.waker, t.sleep = false, Waker{}, 0
}

// tell calls back with the thread's present interval. One of no length whose
// beginning nobody saw says nothing.
func (f *Follower) tell(t *thread, after State, end int64) {
	switch t.state {
	case Running, Waiting, Asleep:
	default:
		return
	}
	if f.OnInterval == nil || end < t.since || t.since == end && t.before == Unseen && !t.woken {
		return
	}
	f.interval = Interval{
		Identity: t.id, State: t.state, CPU: t.cpu, From: t.since, To: end, Before: t.before, After: after,
		Sleep: t.sleep, Woken: t.woken, Waker: t.waker,
	}
	f.OnInterval(&f.interval)
}

// run gives a thread the CPU.
func (f *Follower) run(c *cpu, t *thread) {
	if t.state == Running && t.cpu != c.number {
		f.forget(t) // it cannot run in two places
	}
	f.stopWaiting(t)
	f.enqueue(t, c.number)
	t.cpu = c.number
	f.turn(t, Running)
	c.running = t
}

// wait makes a thread that did not wait do so, on a CPU.
func (f *Follower) wait(t *thread, cpu int32) {
	f.turn(t, Waiting)
	t.cpu = cpu
	f.startWaiting(t)
}

// forget makes a thread unseen, because events about it are missing or
// contradict each other. That it ran or waited holds until the last event of its
// CPU; when a sleep ended nobody knows.
func (f *Follower) forget(t *thread) {
	c := f.cpuOf(t)
	switch {
	case c == nil:
	case t.state == Waiting:
		end := max(c.confirmed, t.partFrom) // it may have come here later
		f.unlist(c, t, end)
		f.tell(t, Unseen, end)
	case t.state == Running:
		f.cut(c, c.confirmed)
		c.running = nil
		f.tell(t, Unseen, c.confirmed)
	}
	f.dequeue(t)
	t.become(Unseen, f.now)
}
