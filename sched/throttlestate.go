package sched

// Throttle states, a patch of 2011 for v3.2 that was never merged in this form.
// Its text is not at hand: this is a reconstruction from its change log
// (mechanisms.md 4.10, 3).
//
// v3.2 throttles a queue when its running entity is put back, which is after
// the CPU has looked for other work because it has none. So a CPU that runs dry
// by throttling does not look. With the patch a queue that cannot pay is
// THROTTLING at once: its tasks no longer count above, while they stay queued
// until the running one is put back.
//
//	UNLIMITED   bandwidth is nil or not enabled
//	AVAILABLE   neither of the flags below
//	THROTTLING  cfsRQ.throttled: hidden from the counts above
//	THROTTLED   and queueBandwidth.throttled: off the queue above, on the pool's list

// enterThrottling hides the tasks of a queue that cannot pay from the levels
// above.
func (s *Scheduler) enterThrottling(q *cfsRQ) {
	s.countAbove(q, -1)
	q.throttled = true
	s.refreshIdle(q.rq)
}

// leaveThrottling takes that back: there is runtime after all.
func (s *Scheduler) leaveThrottling(q *cfsRQ) {
	q.throttled = false
	s.countAbove(q, +1)
	s.refreshIdle(q.rq)
}

// completeThrottling takes the entity of a queue off the levels above; what
// they count, they have forgotten already.
func (s *Scheduler) completeThrottling(q *cfsRQ) {
	s.countThrottled(q.tg, int(q.rq.cpu), +1)
	for se := q.se; se != nil && se.onRQ; se = se.parent {
		s.work.ThrottleSteps++
		s.dequeueEntity(se.cfs, se, dequeueSleep|dequeueHidden)
		if se.cfs.load != 0 {
			return
		}
	}
}

// throttleEmptied completes the throttling of a queue whose last entity has
// left before the running one was put back.
func (s *Scheduler) throttleEmptied(q *cfsRQ) {
	if b := q.bandwidth; q.throttled && b != nil && !b.throttled && q.nr == 0 {
		s.throttle(q)
	}
}

// countAbove adds sign times the tasks of a queue to what the levels above
// count, up to the first that is hidden itself.
func (s *Scheduler) countAbove(q *cfsRQ, sign int32) {
	h, hIdle := sign*q.h, sign*q.hIdle
	for se := q.se; se != nil; se = se.parent {
		s.work.ThrottleSteps++
		up := se.cfs
		if !se.onRQ {
			return
		}
		if q.idle {
			hIdle = h
		}
		s.updateLoadAvg(up, se, 0)
		snapshotRunnable(se)
		up.h += h
		up.hIdle += hIdle
		up.delayed += sign * q.delayed
		if up.idle {
			hIdle = h
		}
		if up.throttled {
			return
		}
	}
	s.addRunning(q.rq, h)
}
