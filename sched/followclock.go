package sched

// The runqueue's clock. The scheduler reads it when it locks a queue, with one
// exception: when something was queued and the running task is to be
// rescheduled, the next schedule() does not read it again, because that is
// supposed to follow at once [wakeup_preempt, rq_clock_skip_update; M, T on all
// kernels from v5.10 on]. The time from the wakeup to the switch then belongs to the task that is
// switched to, as running, not as waiting, unless something else reads the
// clock in between, such as a tick or a balance pass. Where an interrupt takes
// long to arrive, that is milliseconds.

// queueClock is what is known of a CPU's clock.
type queueClock struct {
	read int64 // ns when the queue's clock was last read
	kept bool  // the next switch does not read it
}

// readClock notes that a CPU's queue has read its clock.
func (f *Follower) readClock(cpu int) { f.clocks[cpu].read = f.s.now }

// noteQueued notes that t has just been queued on its CPU: by a wakeup, as a new
// task or by a balancer. An idle CPU will switch to it, and so will one whose
// task is of a lower class; whether it preempts another fair task only the CPU
// itself may say (SeenResched).
func (f *Follower) noteQueued(t *Task) {
	rq := &f.s.rqs[t.cpu]
	f.readClock(int(t.cpu))
	if rq.curr == nil || t.other && !rq.curr.other {
		f.keepClock(rq)
	}
}

// SeenResched follows a CPU that has queued something and says that its running
// task is to be rescheduled.
func (f *Follower) SeenResched(cpu int) { f.keepClock(&f.s.rqs[cpu]) }

// keepClock: the next switch does not read the clock, except on a CPU whose
// running task has left its queue. That one is switching already.
func (f *Follower) keepClock(rq *runqueue) {
	switching := f.stamped.Has(int(rq.cpu)) || rq.curr != nil && !rq.curr.queued
	if !switching {
		f.clocks[rq.cpu].kept = true
	}
}

// switchClock returns the time at which a switch on a CPU is charged, and has
// the next one read the clock again.
func (f *Follower) switchClock(cpu int) int64 {
	k := f.clocks[cpu]
	f.clocks[cpu] = queueClock{read: f.s.now}
	if k.kept && !f.exact {
		return max(k.read, f.s.rqs[cpu].cfs.avg.last)
	}
	return f.s.now
}
