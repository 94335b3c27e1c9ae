package sched

// Wakeup preemption of EEVDF (mechanisms-modern.md 2.7), and sched_yield (2.8).

// preemptByDeadline decides whether a task that has just been queued on a CPU,
// which runs another one, should run there instead.
func (s *Scheduler) preemptByDeadline(rq *runqueue, t *Task, how wakeHow) {
	rules := s.time.eevdf
	if rules.buddyBeforeTest && s.features.Has(NextBuddy) && how&wakeNew == 0 && !t.delayed {
		s.setNextBuddy(&t.se)
	}
	if rq.needResched || !s.features.Has(WakeupPreemption) {
		return
	}
	a, b := commonLevel(&rq.curr.se, &t.se)
	if aIdle, bIdle := s.idleClassed(a), s.idleClassed(b); aIdle != bIdle {
		if aIdle {
			endProtection(a)
			s.resched(rq)
		}
		return
	}
	if t.policy != PolicyNormal {
		return
	}
	s.updateCurr(a.cfs)
	if rules.preempt(s, t, a, b, how) {
		s.resched(rq)
	}
}

// preempts612: a shorter slice takes the protection away, whether or not it wins.
func (s *Scheduler) preempts612(_ *Task, a, b *Entity, _ wakeHow) bool {
	if s.features.Has(PreemptShort) && b.slice < a.slice && s.isEligible(b.cfs, b) &&
		(b.deadline < a.deadline || !s.isEligible(a.cfs, a)) {
		endProtection(a)
	}
	return s.earliestEligible(a.cfs, a, true) == b
}

// preempts72: a shorter slice competes as if nothing were protected; otherwise new
// tasks, and those that sleep, never preempt. Whoever does not leaves the running
// entity no longer protected than the shortest slice in the queue is.
func (s *Scheduler) preempts72(t *Task, a, b *Entity, how wakeHow) bool {
	cfs, short := a.cfs, s.features.Has(PreemptShort) && b.slice < a.slice
	if !short {
		if how&wakeNew != 0 || b.delayed() {
			return false
		}
		if s.features.Has(NextBuddy) && (cfs.next == nil || b.deadline < cfs.next.deadline) {
			s.setNextBuddy(&t.se)
			if how&wakeSync != 0 {
				return s.preemptsSync(a, b, how)
			}
		}
	}
	if s.pickAwake(cfs, a, short) != b {
		if s.features.Has(RunToParity) {
			a.protection = min(a.protection, a.vruntime+toVirtual(s.leastSlice(cfs, a), a.weight))
		}
		return false
	}
	if short {
		endProtection(a)
		dropBuddies(a)
	}
	return true
}

// preemptsSync: a waker that is about to sleep goes at once only if it has run
// for a while since it was last charged, and then for an earlier deadline.
func (s *Scheduler) preemptsSync(a, b *Entity, how wakeHow) bool {
	threshold := s.tun.MigrationCost
	if how&wakeSelected != 0 {
		threshold /= 4
	}
	return b.deadline < a.deadline && s.now-a.execStart >= threshold
}

// pickAwake picks on a level; delayed entities that come first end their stay.
func (s *Scheduler) pickAwake(cfs *cfsRQ, curr *Entity, short bool) *Entity {
	for {
		var chosen *Entity
		if short {
			chosen = s.earliestEligible(cfs, curr, false)
		} else {
			chosen = s.pickDeadline(cfs, curr)
		}
		if chosen == nil || !chosen.delayed() {
			return chosen
		}
		s.endDelay(chosen)
	}
}

// forfeitRequest is sched_yield: an eligible task gives up the rest of its
// request, any other waits already.
func (s *Scheduler) forfeitRequest(t *Task) {
	se := &t.se
	dropBuddies(se)
	s.updateCurr(se.cfs)
	if s.isEligible(se.cfs, se) {
		se.vruntime, se.remainder = se.deadline, 0
		se.deadline += toVirtual(se.slice, se.weight)
	}
}
