package timeline

import "github.com/schedlab/schedlab/trace"

// Thread is what is known of a thread now. Who is given one only reads it.
type Thread struct {
	Identity
	Number int // of the thread, in the order in which they were met
	State  State
	CPU    int32 // where it runs, waits or ran last; trace.UnknownCPU until an event tells
	Queued bool  // counted in its CPU's depth: it runs, or waits and is not on its way any more

	before State
	since  int64
	sleep  trace.State
	woken  bool
	waker  Waker
	wakeup Wakeup // the one under way, without a wakee when none is

	place    int   // in its CPU's list of waiting threads, while it waits
	partFrom int64 // where the part of its wait begins that is not yet told
}

// thread returns the present holder of a PID, nil when the PID is not told.
func (f *Follower) thread(pid, number int32) *Thread {
	if pid < 0 {
		return nil
	}
	key := f.incarnations.Of(pid, number)
	if pid == 0 {
		return f.idleThread(key)
	}
	t := f.holders[pid]
	switch {
	case t == nil || t.Thread == key:
	case t.State == Unseen && t.CPU == trace.UnknownCPU:
		t.Thread = key // named before its first wakeup, as by the move to its first cgroup
	default:
		f.forget(t)
		t = nil
	}
	if t == nil {
		t = f.meet(key)
		f.holders[pid] = t
	}
	return t
}

func (f *Follower) idleThread(key trace.Thread) *Thread {
	c := f.cpu(key.Incarnation)
	if c == nil {
		return nil
	}
	if c.idler == nil {
		c.idler = f.meet(key)
	}
	return c.idler
}

func (f *Follower) meet(key trace.Thread) *Thread {
	f.met++
	return &Thread{Identity: Identity{Thread: key, TGID: trace.UnknownPID, Prio: -1}, Number: f.met - 1, CPU: trace.UnknownCPU}
}

// named returns the thread that an event names, and notes what it says of it.
func (f *Follower) named(task trace.Task, cpu int32) *Thread {
	t := f.thread(task.PID, cpu)
	if t == nil {
		return nil
	}
	if task.Comm != trace.NoName {
		t.Comm = task.Comm
	}
	if task.Prio >= 0 {
		t.Prio = task.Prio
	}
	return t
}

// turn ends the thread's present interval and begins one of another state.
func (f *Follower) turn(t *Thread, to State) {
	f.tell(t, to, f.now)
	t.become(to, f.now)
}

func (t *Thread) become(state State, now int64) {
	t.before, t.State, t.since = t.State, state, now
	t.woken, t.waker, t.sleep = false, Waker{}, 0
}

// tell calls back with the thread's present interval. One of no length whose
// beginning nobody saw says nothing.
func (f *Follower) tell(t *Thread, after State, end int64) {
	switch t.State {
	case Running, Waiting, Asleep:
	default:
		return
	}
	if f.OnInterval == nil || end < t.since || t.since == end && t.before == Unseen && !t.woken {
		return
	}
	f.interval = Interval{
		Identity: t.Identity, State: t.State, CPU: t.CPU, From: t.since, To: end, Before: t.before, After: after,
		Sleep: t.sleep, Woken: t.woken, Waker: t.waker,
	}
	f.OnInterval(&f.interval)
}

// run gives a thread the CPU.
func (f *Follower) run(c *cpu, t *Thread) {
	if t.State == Running && t.CPU != c.number {
		f.forget(t) // it cannot run in two places
	}
	f.stopWaiting(t)
	f.enqueue(t, c.number)
	t.CPU = c.number
	f.turn(t, Running)
	c.running, c.seen = t, true
	f.changed(t, f.now)
}

// wait makes a thread that did not wait do so, on a CPU.
func (f *Follower) wait(t *Thread, cpu int32) {
	f.turn(t, Waiting)
	t.CPU = cpu
	f.startWaiting(t)
}

// forget makes a thread unseen, because events about it are missing or
// contradict each other. That it ran or waited holds until the last event of its
// CPU; when a sleep ended nobody knows.
func (f *Follower) forget(t *Thread) {
	c, until := f.cpuOf(t), f.now
	switch {
	case c == nil:
	case t.State == Waiting:
		until = max(c.confirmed, t.partFrom) // it may have come here later
		f.unlist(c, t, until)
		f.tell(t, Unseen, until)
	case t.State == Running:
		until = c.confirmed
		f.cut(c, until)
		c.running = nil
		f.tell(t, Unseen, until)
	}
	f.dequeue(t)
	t.become(Unseen, f.now)
	t.wakeup = Wakeup{}
	f.changed(t, until)
}

func (f *Follower) changed(t *Thread, at int64) {
	if f.OnChange != nil {
		f.OnChange(t, at)
	}
}
