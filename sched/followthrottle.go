package sched

// Bandwidth as a recording tells it: which group's queue was throttled on which
// CPU, and when it was set free (mechanisms.md 4.3, 4.4).

// Throttle follows a queue that has used up its quota: its tasks vanish from
// the levels above, and its averages stand still.
//
// The event is the attempt; it has no effect when the group has runtime left
// for the queue. A second attempt without an unthrottling in between shows
// that the first had none.
func (f *Follower) Throttle(g *TaskGroup, cpu int) {
	s, q := f.s, g.queues[cpu]
	if q.se == nil {
		return
	}
	if s.profile.ThrottlesTasks {
		q.attempted = true
		return
	}
	if q.throttled {
		f.Unthrottle(g, cpu)
	}
	rq := q.rq
	s.freeze(g, cpu, +1)
	h, hIdle := q.h, q.hIdle
	visible := true
	se := q.se
	for dequeue := true; se != nil; se = se.parent {
		up := se.cfs
		if !se.onRQ {
			visible = false
			break
		}
		if q.idle {
			hIdle = h
		}
		if dequeue {
			s.dequeueEntity(up, se, dequeueSleep)
		} else {
			s.updateLoadAvg(up, se, 0)
			snapshotRunnable(se)
		}
		up.h -= h
		up.hIdle -= hIdle
		if up.idle {
			hIdle = h
		}
		if up.load != 0 {
			dequeue = false
		}
	}
	q.throttled = true
	if visible {
		rq.nr -= h
	}
	s.refreshIdle(rq)
}

// leavesThrottled reports whether a task that was preempted in the kernel has
// been taken off because its group is out of runtime. Kernels that throttle
// task by task do that at the return to user mode: a user task's turn that is
// merely over ends there too, but counts as given up, not as preempted [T].
func (f *Follower) leavesThrottled(t *Task) bool {
	if !f.s.profile.ThrottlesTasks || t.other {
		return false
	}
	for g := t.group; g != nil; g = g.parent {
		if g.queues[t.cpu].attempted {
			return true
		}
	}
	return false
}

// hideTask takes a runnable task off its queue until its group is unthrottled.
func (f *Follower) hideTask(t *Task) {
	f.dequeue(&f.s.rqs[t.cpu], t, dequeueSleep)
	f.hidden = append(f.hidden, t)
}

// hideRunnable follows a CPU that falls idle although the model holds tasks for
// runnable there: a throttling that no event has shown must have hidden them.
func (f *Follower) hideRunnable(rq *runqueue) {
	for t := rq.lruHead; t != nil; {
		next := t.lruNext
		if !f.s.throttledHierarchy(t.se.cfs) {
			f.hideTask(t)
		}
		t = next
	}
}

// showHidden makes the hidden tasks of a group, and of those below it, runnable
// again on a CPU.
func (f *Follower) showHidden(g *TaskGroup, cpu int) {
	kept := f.hidden[:0]
	for _, t := range f.hidden {
		switch {
		case int(t.cpu) == cpu && !t.queued && t.group.within(g):
			f.enqueue(&f.s.rqs[cpu], t, enqueueWakeup)
		case int(t.cpu) == cpu && t.queued:
		default:
			kept = append(kept, t)
		}
	}
	clear(f.hidden[len(kept):])
	f.hidden = kept
}

// Unthrottle follows a queue that may run again.
func (f *Follower) Unthrottle(g *TaskGroup, cpu int) {
	s, q := f.s, g.queues[cpu]
	f.showHidden(g, cpu)
	if s.profile.ThrottlesTasks {
		q.attempted = false
	}
	if !q.throttled {
		return
	}
	rq := q.rq
	q.throttled = false
	s.freeze(g, cpu, -1)
	if q.load == 0 {
		return
	}
	h, hIdle := q.h, q.hIdle
	visible := true
	for se := q.se; se != nil; se = se.parent {
		up := se.cfs
		if q.idle {
			hIdle = h
		}
		if !se.onRQ {
			s.enqueueEntity(up, se, enqueueWakeup)
		} else {
			s.updateLoadAvg(up, se, updateGroupLoad)
			snapshotRunnable(se)
		}
		up.h += h
		up.hIdle += hIdle
		if up.idle {
			hIdle = h
		}
		if up.throttled {
			visible = false
			break
		}
	}
	if visible {
		rq.nr += h
	}
	s.refreshIdle(rq)
}

// freeze stops or resumes the clock of a group's queue and of all below it.
func (s *Scheduler) freeze(g *TaskGroup, cpu int, sign int32) {
	for _, below := range s.groups {
		if !below.within(g) {
			continue
		}
		q := below.queues[cpu]
		if sign > 0 && q.throttledCnt == 0 {
			q.frozenAt = s.now
		}
		q.throttledCnt += sign
		if sign < 0 && q.throttledCnt == 0 {
			q.frozenTime += s.now - q.frozenAt
		}
	}
}

// within reports whether g is other or lies below it.
func (g *TaskGroup) within(other *TaskGroup) bool {
	for ; g != nil; g = g.parent {
		if g == other {
			return true
		}
	}
	return false
}

// releaseQueues sets the queues above a running task free: it could not run if
// one of them were throttled.
func (f *Follower) releaseQueues(t *Task) {
	for g := t.group; g != nil; g = g.parent {
		if g.queues[t.cpu].throttled {
			f.Unthrottle(g, int(t.cpu))
		}
	}
}
