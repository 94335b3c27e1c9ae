package sched

// Bandwidth as a recording tells it: which group's queue was throttled on which
// CPU, and when it was set free (mechanisms.md 4.3, 4.4).

// Throttle follows a queue that has used up its quota: its tasks vanish from
// the levels above, and its averages stand still. Kernels that throttle task by
// task only mark the queue; the tasks vanish one by one, as they leave the CPU.
func (f *Follower) Throttle(g *TaskGroup, cpu int) {
	s, q := f.s, g.queues[cpu]
	if q.se == nil || q.throttled || q.marked {
		return
	}
	if s.profile.ThrottlesTasks {
		q.marked = true
		s.countThrottled(g, cpu, +1)
		return
	}
	s.hideQueue(q)
}

// leavesThrottled reports whether a task that was preempted in the kernel has
// been taken off because its group is out of runtime. Kernels that throttle
// task by task do that at the return to user mode: a user task's turn that is
// merely over ends there too, but counts as given up, not as preempted [T].
func (f *Follower) leavesThrottled(t *Task) bool {
	return f.s.profile.ThrottlesTasks && !t.other && f.s.throttledHierarchy(t.se.cfs)
}

// hideTask takes a runnable task off its queue until its group is unthrottled.
func (f *Follower) hideTask(t *Task) {
	f.dequeue(&f.s.rqs[t.cpu], t, dequeueSleep|dequeueThrottled)
	f.hidden = append(f.hidden, t)
}

// hideRunnable follows a CPU that falls idle although the model holds tasks for
// runnable there: a throttling that no event has shown must have hidden them.
func (f *Follower) hideRunnable(rq *runqueue) {
	for t := rq.lruHead; t != nil; {
		next := t.lruNext
		if f.s.profile.ThrottlesTasks || !f.s.throttledHierarchy(t.se.cfs) {
			f.hideTask(t)
		}
		t = next
	}
}

// showHidden makes the hidden tasks of a group, and of those below it that are
// not throttled themselves, runnable again on a CPU: the last that went comes
// first (mechanisms-modern.md 3.2).
func (f *Follower) showHidden(g *TaskGroup, cpu int) {
	var shown []*Task
	kept := f.hidden[:0]
	for _, t := range f.hidden {
		switch {
		case int(t.cpu) != cpu:
			kept = append(kept, t)
		case t.queued:
		case t.group.within(g) && !f.s.throttledHierarchy(t.se.cfs):
			shown = append(shown, t)
		default:
			kept = append(kept, t)
		}
	}
	clear(f.hidden[len(kept):])
	f.hidden = kept
	for i := len(shown) - 1; i >= 0; i-- {
		if t := shown[i]; !t.queued { // it may have gone twice
			f.enqueue(&f.s.rqs[cpu], t, enqueueWakeup)
		}
	}
}

// Unthrottle follows a queue that may run again.
func (f *Follower) Unthrottle(g *TaskGroup, cpu int) {
	s, q := f.s, g.queues[cpu]
	if q.marked {
		q.marked = false
		s.countThrottled(g, cpu, -1)
	}
	if q.throttled {
		s.showQueue(q)
	}
	f.showHidden(g, cpu)
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
