package sched

// Schedule is the context switch of one CPU: the running task, if block is
// set, goes to sleep; the next task is chosen, after newidle balancing if
// there would be none. It returns the task that runs now, nil for idle.
func (s *Scheduler) Schedule(now int64, cpu int, block bool) *Task {
	s.setNow(now)
	rq := &s.rqs[cpu]
	prev := rq.curr
	s.writeQueue(cpu, cpu)
	if block && prev != nil {
		s.block(rq, prev)
	}
	next := s.pickNext(rq, prev)
	s.blocked = nil
	rq.needResched = false
	rq.stats.Schedules++
	if next != prev {
		rq.stats.Switches++
		if prev != nil {
			rq.depart(prev, now)
		}
		if next != nil {
			rq.arrive(next, now)
		}
		if prev == nil {
			s.leaveIdle(rq)
		}
	}
	rq.curr = next
	s.armSliceEnd(rq)
	if s.hooked && s.profile.ThrottlesTasks && next != nil && next != prev {
		s.armIfThrottled(next)
	}
	if block && prev != nil && prev.exiting {
		s.removeEntityLoad(&prev.se) // dead: it will not come back for its load
		prev.se.avg.last = neverUpdated
		if prev.space != nil {
			prev.space.threads--
		}
	}
	if next == nil {
		if prev != nil {
			rq.stats.SchedIdle++
		}
		s.refreshIdle(rq)
		if s.variants.core {
			s.recordIdleCPU(rq)
		}
		s.updateIdleCore(rq)
	} else {
		s.refreshIdle(rq)
	}
	if s.observer != nil {
		s.observer.Scheduled(cpu, prev, next, block)
	}
	return next
}

// pickNext chooses the next task and moves the queues from prev to it.
func (s *Scheduler) pickNext(rq *runqueue, prev *Task) *Task {
	if s.hooked && !s.bandwidth.throttlesAtPick {
		return s.pickAfterPut(rq, prev)
	}
	if rq.cfs.nr == 0 {
		if pulled := s.newidleBalance(rq); pulled <= 0 || rq.cfs.nr == 0 {
			if s.variants.overload != nil {
				s.updateOverloaded(rq)
			}
			if prev != nil {
				s.putUp(&prev.se)
			}
			return nil
		}
	}
	cfs := &rq.cfs
	var se *Entity
	for cfs != nil {
		curr := cfs.curr
		if curr != nil {
			if curr.onRQ {
				s.updateCurr(cfs)
			} else {
				curr = nil
			}
			if s.hooked && !s.profile.ThrottlesTasks && s.checkRuntime(cfs) {
				return s.pickAnew(rq, prev)
			}
		}
		se = s.time.pick(s, cfs, curr)
		if se.delayed() { // its stay ends here
			s.endDelay(se)
			return s.pickNext(rq, prev)
		}
		cfs = se.my
	}
	next := se.task
	if next != prev {
		s.switchEntities(prev, se)
	}
	if !s.profile.Balance.detach.fromFront { // v4.14 leaves the order of arrival (mechanisms.md 9.6)
		rq.moveLRUFront(next)
	}
	return next
}

// pickAnew chooses again after a queue of the running task was throttled on the
// way: that task is put back first.
func (s *Scheduler) pickAnew(rq *runqueue, prev *Task) *Task {
	if rq.cfs.nr > 0 && prev != nil {
		s.putUp(&prev.se)
		prev = nil
	}
	return s.pickNext(rq, prev)
}

// pickAfterPut is the order of kernels before v3.15: a CPU that runs dry looks
// for work first, then the running task is put back, and only that throttles
// its queues. A CPU that runs dry by it does not look (mechanisms.md 4.9).
func (s *Scheduler) pickAfterPut(rq *runqueue, prev *Task) *Task {
	if rq.nr == 0 {
		s.newidleBalance(rq)
	}
	if prev != nil {
		s.putUp(&prev.se)
	}
	if rq.cfs.nr == 0 {
		return nil
	}
	var se *Entity
	for cfs := &rq.cfs; cfs != nil; cfs = se.my {
		se = s.time.pick(s, cfs, nil)
		if se.delayed() { // its stay ends here
			s.endDelay(se)
			return s.pickAfterPut(rq, nil)
		}
	}
	s.setNextUp(se)
	if !s.profile.Balance.detach.fromFront {
		rq.moveLRUFront(se.task)
	}
	return se.task
}

// switchEntities puts prev's entities and sets next's, leaving alone the
// levels that both share.
func (s *Scheduler) switchEntities(prev *Task, se *Entity) {
	if prev == nil {
		s.setNextUp(se)
		return
	}
	pse := &prev.se
	for se.cfs != pse.cfs {
		d := se.depth - pse.depth
		if d <= 0 {
			s.putPrev(pse.cfs, pse)
			pse = pse.parent
		}
		if d >= 0 {
			s.setNext(se.cfs, se)
			se = se.parent
		}
	}
	s.putPrev(pse.cfs, pse)
	s.setNext(se.cfs, se)
}

// setNextUp makes an entity and all its ancestors the running ones.
func (s *Scheduler) setNextUp(se *Entity) {
	for ; se != nil; se = se.parent {
		s.setNext(se.cfs, se)
	}
}

// putUp ends the turn of an entity and all its ancestors.
func (s *Scheduler) putUp(se *Entity) {
	for ; se != nil; se = se.parent {
		s.putPrev(se.cfs, se)
	}
}

// putCurrent takes the running task off the CPU without choosing another; it
// stays queued. The stopper does this to the task it interrupts.
func (s *Scheduler) putCurrent(rq *runqueue) {
	if rq.curr == nil {
		return
	}
	s.putUp(&rq.curr.se)
	rq.depart(rq.curr, s.now)
	rq.curr = nil
	s.refreshIdle(rq)
}

// interruptCurrent is the migration thread taking the CPU.
func (s *Scheduler) interruptCurrent(rq *runqueue) {
	if s.observer != nil {
		s.observer.Interrupted(int(rq.cpu), rq.curr)
	}
	s.putCurrent(rq)
}

// Yield is sched_yield: the running task of cpu steps back behind the next
// one at the coming Schedule call.
func (s *Scheduler) Yield(now int64, cpu int) {
	s.setNow(now)
	rq := &s.rqs[cpu]
	curr := rq.curr
	rq.stats.Yields++
	if curr != nil && rq.nr > 1 {
		s.time.yield(s, curr)
	}
}

// skipYielding has CFS pass over the task, and over the groups above, at the
// next pick.
func (s *Scheduler) skipYielding(curr *Task) {
	dropBuddies(&curr.se)
	if curr.policy != PolicyBatch {
		s.updateCurr(curr.se.cfs)
	}
	for se := &curr.se; se != nil && se.onRQ; se = se.parent { // a throttled group's entity is off its queue
		se.cfs.skip = se
	}
}

// RunTime returns how long a task has run until now, in nanoseconds; a running
// task's current turn is included. Asking changes nothing.
func (s *Scheduler) RunTime(now int64, t *Task) int64 {
	if s.rqs[t.cpu].curr != t {
		return t.se.sumExec
	}
	return t.se.sumExec + max(0, now-t.se.execStart)
}
