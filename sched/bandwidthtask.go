package sched

// Throttling task by task (mechanisms-modern.md 3.2, v7.2): a queue without
// runtime stays where it is, and each of its tasks leaves it when it is about
// to return to user mode. So nothing is held up by a task that is throttled
// inside the kernel, and the time until then becomes debt. The tasks wait in
// limbo, on a list of their queue.

// throttleTasks throttles a queue that cannot pay, unless the pool has a slice
// for whoever runs there, or the least for others.
func (s *Scheduler) throttleTasks(q *cfsRQ) {
	target := int64(1)
	running := q.curr != nil && q.curr.onRQ
	if running {
		target = s.bandwidthSlice()
	}
	if s.takeSlice(q, target) {
		return
	}
	if s.observer != nil {
		s.observer.Throttled(q.tg, int(q.rq.cpu))
	}
	s.accountThrottle(q)
	b := q.bandwidth
	q.tg.pool.enlist(q, false)
	b.throttled, b.clockRuns = true, false
	if q.nr > 0 {
		s.startThrottledClock(b)
	}
	s.countThrottled(q.tg, int(q.rq.cpu), +1)
	if running {
		s.armThrottle(q.rq)
	}
}

// armThrottle has the running task stopped at its return to user mode.
func (s *Scheduler) armThrottle(rq *runqueue) {
	if t := rq.curr; t != nil && s.mayThrottle(t) {
		s.driver.ThrottleWork(int(rq.cpu))
	}
}

// mayThrottle reports whether a task will be stopped at its next return to user
// mode. Kernel threads never return there, exiting tasks not again.
func (s *Scheduler) mayThrottle(t *Task) bool {
	return !t.kthread && !t.exiting && s.throttledHierarchy(t.se.cfs)
}

// ThrottleCurrent puts the task running on cpu, which is about to return to
// user mode, into limbo if its group is throttled. It reports whether it has;
// the driver then calls [Scheduler.Schedule]. The driver calls it after
// [Driver.ThrottleWork].
func (s *Scheduler) ThrottleCurrent(now int64, cpu int) bool {
	s.setNow(now)
	rq := &s.rqs[cpu]
	t := rq.curr
	if t == nil || !t.queued || !s.mayThrottle(t) {
		return false
	}
	s.deactivateTask(rq, t, dequeueSleep|dequeueThrottled)
	s.putInLimbo(t)
	s.resched(rq)
	return true
}

func (s *Scheduler) putInLimbo(t *Task) {
	q := t.se.cfs
	t.limbo, t.limboNext, q.limbo = true, q.limbo, t
}

// takeFromLimbo removes a task that is moved or regrouped meanwhile.
func (s *Scheduler) takeFromLimbo(t *Task) {
	for at := &t.se.cfs.limbo; *at != nil; at = &(*at).limboNext {
		if *at == t {
			*at = t.limboNext
			break
		}
	}
	t.limbo, t.limboNext = false, nil
}

// rejoin puts a task taken from limbo onto the queue that it belongs to now,
// or into limbo there.
func (s *Scheduler) rejoin(t *Task) {
	if s.throttledHierarchy(t.se.cfs) {
		s.putInLimbo(t)
		return
	}
	rq := &s.rqs[t.cpu]
	s.activateTask(rq, t, enqueueWakeup)
	s.wakeIdle(rq)
}

// armIfThrottled charges the queues of a task that has just got the CPU, and
// has it stopped again if one of them is throttled.
func (s *Scheduler) armIfThrottled(t *Task) {
	s.payAll(t)
	if s.mayThrottle(t) {
		s.driver.ThrottleWork(int(t.cpu))
	}
}

// unthrottleTasks lets the tasks of a queue run again, unless it has run into
// debt meanwhile.
func (s *Scheduler) unthrottleTasks(q *cfsRQ) {
	if q.curr != nil {
		s.updateCurr(q)
	}
	if b := q.bandwidth; b.enabled && b.remaining <= 0 {
		return
	}
	s.delist(q)
	s.releaseTasks(q.tg, int(q.rq.cpu))
	s.wakeIdle(q.rq)
}

// releaseTasks takes tasks out of limbo, the latest first, on a group's queue
// and all below it that no other throttled queue holds.
func (s *Scheduler) releaseTasks(g *TaskGroup, cpu int) {
	s.work.ThrottleSteps++
	for _, child := range g.children {
		s.releaseTasks(child, cpu)
	}
	q := g.queues[cpu]
	q.throttledCnt--
	if q.throttledCnt > 0 {
		return
	}
	q.thaw(q.rq.clock(s.now))
	for q.limbo != nil && q.throttledCnt == 0 {
		t := q.limbo
		q.limbo, t.limbo, t.limboNext = t.limboNext, false, nil
		s.activateTask(q.rq, t, enqueueWakeup)
	}
}
