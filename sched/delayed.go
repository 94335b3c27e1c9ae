package sched

// Delayed dequeue (v6.12 and later, DELAY_DEQUEUE, mechanisms-modern.md 2.5). A
// task that goes to sleep with negative lag, that is, having had more than its
// share, stays queued until its lag is gone. It still counts in nr_running, H
// and the load of its CPU, but does not want to run. When it is woken before
// that, it is runnable again in place: no CPU is chosen, and neither the
// waker's wakee_flips nor its own recent_used_cpu changes.
//
// Lag belongs to EEVDF, so no task becomes delayed by itself here. A driver
// that follows a real kernel says so.

// SetDelayed says that a waiting task, still queued, has in fact gone to sleep
// (on), or that it wants to run again. The driver leaves the task queued when
// it blocks, calls SetDelayed, and either wakes it with [Scheduler.Wake] or
// ends its stay by taking it off with [Scheduler.DropDelayed]. A task that is
// not queued, or runs, is left alone.
func (s *Scheduler) SetDelayed(now int64, t *Task, on bool) {
	s.setNow(now)
	rq := &s.rqs[t.cpu]
	if !t.queued || rq.curr == t || t.delayed == on {
		return
	}
	cfs := t.se.cfs
	s.updateCurr(cfs)
	s.updateLoadAvg(cfs, &t.se, 0)
	change := int32(1)
	if on {
		s.utilEstDequeue(rq, t) // not one of the queued tasks' estimates any more
	} else {
		change = -1
	}
	s.countPreference(rq, t, -1)
	t.delayed = on
	s.countPreference(rq, t, 1)
	if !on {
		s.utilEstEnqueue(rq, t)
	}
	for se := &t.se; se != nil; se = se.parent {
		se.cfs.delayed += change
		if se.cfs.throttled {
			break
		}
	}
}

// DropDelayed takes a delayed task off its queue: now it sleeps for good. Any
// other task is left alone.
func (s *Scheduler) DropDelayed(now int64, t *Task) {
	s.setNow(now)
	if t.delayed {
		s.deactivateTask(&s.rqs[t.cpu], t, dequeueSleep)
	}
}

// Delayed returns how many of a CPU's queued tasks are delayed.
func (s *Scheduler) Delayed(cpu int) int { return int(s.rqs[cpu].cfs.delayed) }

// wakeInPlace makes a delayed task runnable where it is.
func (s *Scheduler) wakeInPlace(t *Task) int {
	s.SetDelayed(s.now, t, false)
	s.checkPreempt(&s.rqs[t.cpu], t, false)
	return int(t.cpu)
}
