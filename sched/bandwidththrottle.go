package sched

// Throttling and unthrottling a group's queue on one CPU (mechanisms.md 4.3,
// 4.4). A throttled queue keeps its tasks, but vanishes from the levels above.

// checkRuntime throttles a queue that has used up its runtime; it is called
// where the running entity is put back and where the next is chosen. It reports
// whether the queue is throttled.
func (s *Scheduler) checkRuntime(q *cfsRQ) bool {
	s.work.BandwidthChecks++
	b := q.bandwidth
	switch {
	case b == nil || !b.enabled || b.remaining > 0:
		return false
	case b.throttled:
		return true
	}
	return s.throttle(q)
}

// checkFirst lets the first entity of a queue that does not run join only if
// there is runtime for it.
func (s *Scheduler) checkFirst(q *cfsRQ) {
	s.work.BandwidthChecks++
	b := q.bandwidth
	if b == nil || !b.enabled || q.curr != nil {
		return
	}
	if b.throttled {
		s.startThrottledClock(b)
		return
	}
	s.pay(q, 0)
	if b.remaining <= 0 && !b.throttled && !s.profile.ThrottlesTasks {
		s.throttle(q)
	}
}

// throttle takes a queue out of the competition unless the pool still has the
// least that lets it run.
func (s *Scheduler) throttle(q *cfsRQ) bool {
	if s.bandwidth.asksOnceMore && s.takeSlice(q, 1) {
		return false
	}
	if s.observer != nil {
		s.observer.Throttled(q.tg, int(q.rq.cpu))
	}
	b, p := q.bandwidth, q.tg.pool
	s.work.PoolLocks++
	s.accountThrottle(q)
	p.enlist(q, s.bandwidth.newestFirst)
	s.startPeriod(p, int(q.rq.cpu)) // or nobody would end its wait
	b.throttled = true
	b.clockRuns = false
	if q.nr > 0 || !s.bandwidth.clockNeedsTasks {
		s.startThrottledClock(b)
	}
	if q.throttled {
		s.completeThrottling(q)
	} else {
		s.hideQueue(q)
	}
	return true
}

func (s *Scheduler) startThrottledClock(b *queueBandwidth) {
	if !b.clockRuns {
		b.throttledAt, b.clockRuns = s.now, true
	}
}

// unthrottle lets a queue compete again.
func (s *Scheduler) unthrottle(q *cfsRQ) {
	if s.profile.ThrottlesTasks {
		s.unthrottleTasks(q)
		return
	}
	s.delist(q)
	s.showQueue(q)
	s.wakeIdle(q.rq)
}

// delist takes a queue off the list of throttled ones.
func (s *Scheduler) delist(q *cfsRQ) {
	if s.observer != nil {
		s.observer.Unthrottled(q.tg, int(q.rq.cpu))
	}
	b, p := q.bandwidth, q.tg.pool
	s.work.PoolLocks++
	p.strike(q)
	b.throttled = false
	if b.clockRuns {
		p.stats.ThrottledTime += s.now - b.throttledAt
		b.clockRuns = false
	}
}

// wakeIdle asks an idle CPU to run what has become runnable there.
func (s *Scheduler) wakeIdle(rq *runqueue) {
	if rq.curr == nil && rq.cfs.nr > 0 {
		s.resched(rq)
	}
}

// enlist puts a queue on the list of throttled ones.
func (p *bandwidthPool) enlist(q *cfsRQ, first bool) {
	b := q.bandwidth
	switch {
	case p.first == nil:
		p.first, p.last = q, q
	case first:
		b.next, p.first.bandwidth.prev, p.first = p.first, q, q
	default:
		b.prev, p.last.bandwidth.next, p.last = p.last, q, q
	}
}

func (p *bandwidthPool) strike(q *cfsRQ) {
	b := q.bandwidth
	if b.prev != nil {
		b.prev.bandwidth.next = b.next
	} else {
		p.first = b.next
	}
	if b.next != nil {
		b.next.bandwidth.prev = b.prev
	} else {
		p.last = b.prev
	}
	b.next, b.prev = nil, nil
}

// hideQueue takes a throttled queue's entity off its CPU, and with it every
// level that has nothing else; its tasks no longer count above.
func (s *Scheduler) hideQueue(q *cfsRQ) {
	rq := q.rq
	s.countThrottled(q.tg, int(rq.cpu), +1)
	h, hIdle := q.h, q.hIdle
	visible := true
	se := q.se
	for dequeue := true; se != nil; se = se.parent {
		s.work.ThrottleSteps++
		up := se.cfs
		if !se.onRQ {
			visible = false
			break
		}
		if q.idle {
			hIdle = h
		}
		if dequeue {
			s.dequeueEntity(up, se, dequeueSleep|dequeueHidden)
		} else {
			s.updateLoadAvg(up, se, 0)
			snapshotRunnable(se)
		}
		up.h -= h
		up.hIdle -= hIdle
		up.delayed -= q.delayed
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

// showQueue puts what hideQueue has taken off back, up to the next throttled
// level, as a wakeup would.
func (s *Scheduler) showQueue(q *cfsRQ) {
	rq := q.rq
	q.throttled = false
	s.countThrottled(q.tg, int(rq.cpu), -1)
	if q.load == 0 {
		return
	}
	h, hIdle := q.h, q.hIdle
	visible := true
	for se := q.se; se != nil; se = se.parent {
		s.work.ThrottleSteps++
		up := se.cfs
		if q.idle {
			hIdle = h
		}
		if se.emptyDelayed { // its stay ends here
			s.dequeueEntity(up, se, dequeueSleep|dequeueHidden)
		}
		if !se.onRQ {
			s.enqueueEntity(up, se, enqueueWakeup)
		} else {
			s.updateLoadAvg(up, se, updateGroupLoad)
			snapshotRunnable(se)
		}
		up.h += h
		up.hIdle += hIdle
		up.delayed += q.delayed
		if up.idle {
			hIdle = h
		}
		if up.throttled {
			visible = false
			break
		}
	}
	if visible {
		s.addRunning(rq, h)
	}
	s.refreshIdle(rq)
}

// addRunning counts tasks that have become visible on a CPU.
func (s *Scheduler) addRunning(rq *runqueue, n int32) {
	if rq.nr < 2 && rq.nr+n >= 2 {
		s.overload = true
	}
	rq.nr += n
}

// countThrottled adds a throttled ancestor to a group's queue and to all below
// it, or takes one away. The first one stops a queue's averages, unless tasks
// may go on running in it: then they stop when the last one has left.
func (s *Scheduler) countThrottled(g *TaskGroup, cpu int, sign int32) {
	s.work.ThrottleSteps++
	q := g.queues[cpu]
	q.throttledCnt += sign
	switch {
	case q.throttledCnt == 0:
		q.thaw(q.rq.clock(s.now))
	case !s.profile.ThrottlesTasks || q.nr == 0:
		q.freeze(q.rq.clock(s.now))
	}
	for _, child := range g.children {
		s.countThrottled(child, cpu, sign)
	}
}

// freeze stops the clock of a queue's averages; thaw lets it go on where it
// stood.
func (cfs *cfsRQ) freeze(now int64) {
	if !cfs.frozen {
		cfs.frozen, cfs.frozenAt = true, now
	}
}

func (cfs *cfsRQ) thaw(now int64) {
	if cfs.frozen {
		cfs.frozen = false
		cfs.frozenTime += now - cfs.frozenAt
	}
}
