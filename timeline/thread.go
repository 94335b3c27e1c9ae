package timeline

import (
	"math"

	"github.com/schedlab/schedlab/trace"
)

// Thread is what is known of a thread now. Who is given one only reads it.
type Thread struct {
	Identity
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
	changed  int64 // time of the last call of OnChange
}

// thread returns the present holder of a PID, nil when the PID is not told.
func (f *Follower) thread(pid, number int32) *Thread {
	if pid < 0 {
		return nil
	}
	if pid == 0 {
		return f.idleThread(number)
	}
	t := f.holders[pid]
	if t == nil {
		t = newThread(f.incarnations.Of(pid, number))
		f.holders[pid] = t
	}
	return t
}

func (f *Follower) idleThread(number int32) *Thread {
	c := f.cpu(number)
	if c == nil {
		return nil
	}
	if c.idler == nil {
		c.idler = newThread(f.incarnations.Of(0, number))
	}
	return c.idler
}

// born parts with the thread that had a PID before the one whose birth is seen,
// if there was one.
func (f *Follower) born(pid int32) {
	if pid <= 0 {
		return
	}
	t, key := f.holders[pid], f.incarnations.Of(pid, trace.UnknownCPU)
	switch {
	case t == nil || t.Thread == key:
	case t.State == Unseen && t.CPU == trace.UnknownCPU:
		t.Thread = key // only named before, as by the move to its first cgroup
	default:
		f.forget(t)
		delete(f.holders, pid)
	}
}

func newThread(key trace.Thread) *Thread {
	return &Thread{Identity: Identity{Thread: key, TGID: trace.UnknownPID, Prio: -1}, CPU: trace.UnknownCPU, changed: math.MinInt64}
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

// changed calls back with what a thread does from a time on. Known to be queued
// later than known to wait there, it stays so until then.
func (f *Follower) changed(t *Thread, at int64) {
	t.changed = max(t.changed, at)
	if f.OnChange != nil {
		f.OnChange(t, t.changed)
	}
}
