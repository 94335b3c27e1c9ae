package sched

// Delayed dequeue (v6.12 and later, DELAY_DEQUEUE, mechanisms-modern.md 2.5). A
// task that goes to sleep with negative lag, that is, having had more than its
// share, stays queued until it is picked, by when the others have caught up. It
// still counts in nr_running, H and the load of its CPU, but does not want to
// run. When it is woken before that, it is runnable again in place: no CPU is
// chosen, and neither the waker's wakee_flips nor its own recent_used_cpu
// changes. A group whose last task has left stays in the same way.
//
// Only EEVDF knows lag. A driver that follows a recording of a real kernel says
// itself when a task is delayed.

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
	s.updateCurr(t.se.cfs)
	if on && s.time.eevdf != nil {
		s.noteLagAtBlock(&t.se)
	}
	s.markDelayed(rq, t, on)
}

func (s *Scheduler) markDelayed(rq *runqueue, t *Task, on bool) {
	s.updateLoadAvg(t.se.cfs, &t.se, 0)
	change := int32(1)
	if on {
		s.utilEstDequeue(rq, t) // not one of the queued tasks' estimates any more
		if s.samplesAtBlock() {
			s.utilEstUpdate(t)
		}
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

func (s *Scheduler) samplesAtBlock() bool {
	return s.time.eevdf != nil && s.time.eevdf.samplesAtBlock
}

// block puts the running task of a CPU to sleep, or delays that.
func (s *Scheduler) block(rq *runqueue, t *Task) {
	if s.time.eevdf == nil || t.exiting || !s.features.Has(DelayDequeue) {
		s.deactivateTask(rq, t, dequeueSleep)
		return
	}
	se := &t.se
	s.updateCurr(se.cfs)
	if s.isEligible(se.cfs, se) {
		s.deactivateTask(rq, t, dequeueSleep)
		s.blocked = t
		return
	}
	s.delayTask(rq, t)
}

func (s *Scheduler) delayTask(rq *runqueue, t *Task) {
	dropBuddies(&t.se)
	rq.leaveQueue(t, s.now)
	s.noteLagAtBlock(&t.se)
	s.markDelayed(rq, t, true)
	if s.observer != nil {
		s.observer.Blocks(t, true)
	}
}

func (s *Scheduler) noteLagAtBlock(se *Entity) {
	if s.time.eevdf.lagAtBlock {
		s.takeLag(se.cfs, se)
	}
}

// delaysEmpty keeps the entity of a group queued that has lost its last task, if
// it has had more than its share. It reports whether it has.
func (s *Scheduler) delaysEmpty(cfs *cfsRQ, se *Entity, flags enqueueFlag) bool {
	if flags&dequeueSleep == 0 || flags&(dequeueThrottled|dequeueHidden) != 0 || se.emptyDelayed ||
		!s.features.Has(DelayDequeue) || s.isEligible(cfs, se) {
		return false
	}
	dropBuddies(se)
	s.noteLagAtBlock(se)
	s.updateLoadAvg(cfs, se, 0)
	se.emptyDelayed = true
	return true
}

// wakeInPlace makes a delayed task runnable where it is.
func (s *Scheduler) wakeInPlace(t *Task, here int, sync bool) int {
	cpu := int(t.cpu)
	if s.observer != nil {
		s.observer.WakesInPlace(t, here)
	}
	stats := &s.rqs[here].stats
	stats.Wakeups++
	if cpu == here {
		stats.WakeupsLocal++
	} else {
		s.work.RemoteLocks++
		if d := s.lowestWith(here, cpu); d != nil {
			d.wakeRemote++
		}
	}
	s.writeQueue(here, cpu)
	s.rejoinInPlace(t)
	if s.observer != nil {
		s.observer.Queued(t, false)
	}
	how := wakeHow(0)
	if sync {
		how |= wakeSync
	}
	s.checkPreempt(&s.rqs[cpu], t, how)
	return cpu
}

func (s *Scheduler) rejoinInPlace(t *Task) {
	s.updateCurr(t.se.cfs)
	if s.time.eevdf != nil {
		s.clearDebt(&t.se)
	}
	s.markDelayed(&s.rqs[t.cpu], t, false)
	t.queuedAt = s.now
}

// requeueDelayed has an empty group that stayed for its debt compete again: a
// task has joined it.
func (s *Scheduler) requeueDelayed(se *Entity) {
	s.clearDebt(se)
	se.emptyDelayed = false
}

// clearDebt places a delayed entity anew where its lag, by the rules for delayed
// ones, is not what its virtual time says.
func (s *Scheduler) clearDebt(se *Entity) {
	cfs := se.cfs
	if !s.time.eevdf.lagAtBlock && !s.features.Has(DelayZero) {
		return
	}
	had := s.virtualTime(cfs) - se.vruntime
	s.takeLag(cfs, se)
	switch {
	case s.time.eevdf.lagAtBlock && se.lag != had, had > 0:
		s.replace(cfs, se)
	}
}

// endDelay takes a delayed entity off its queue when it is picked.
func (s *Scheduler) endDelay(se *Entity) {
	rq := se.cfs.rq
	if s.observer != nil {
		if s.blocked != nil {
			s.observer.Blocks(s.blocked, false)
			s.blocked = nil
		}
		s.observer.DelayEnds(int(rq.cpu), se.task, groupOf(se))
	}
	if t := se.task; t != nil {
		s.deactivateTask(rq, t, dequeueSleep)
		return
	}
	s.dropEmpty(se)
}

func groupOf(se *Entity) *TaskGroup {
	if se.my == nil {
		return nil
	}
	return se.my.tg
}

// dropEmpty takes the entity of a group without tasks off its queue, and so those
// above that have nothing else.
func (s *Scheduler) dropEmpty(se *Entity) {
	for ; se != nil; se = se.parent {
		cfs := se.cfs
		if !s.dequeueEntity(cfs, se, dequeueSleep) {
			break
		}
		if cfs.load != 0 {
			se = se.parent
			if se != nil && !s.throttledHierarchy(cfs) {
				s.setNextBuddy(se)
			}
			break
		}
	}
	for ; se != nil; se = se.parent {
		s.updateLoadAvg(se.cfs, se, updateGroupLoad)
		snapshotRunnable(se)
		s.updateGroupWeight(se)
		s.passSliceUp(se)
	}
}
