package sched

import "fmt"

// checkPools verifies that no runtime appears or vanishes, and that exactly the
// queues that are throttled are on their pool's list.
func (s *Scheduler) checkPools() error {
	for _, g := range s.groups {
		if g.pool == nil {
			continue
		}
		if err := s.checkPool(g); err != nil {
			return fmt.Errorf("group %s: %w", g.name, err)
		}
	}
	return nil
}

func (s *Scheduler) checkPool(g *TaskGroup) error {
	p := g.pool
	left, throttled := p.runtime, 0
	for _, q := range g.queues {
		left += q.bandwidth.remaining
		if q.bandwidth.throttled {
			throttled++
		}
	}
	listed := 0
	for q := p.first; q != nil; q = q.bandwidth.next {
		listed++
		if !q.bandwidth.throttled {
			return fmt.Errorf("CPU %d is on the list of throttled queues but is not throttled", q.rq.cpu)
		}
	}
	books, st := &p.books, &p.stats
	switch {
	case listed != throttled:
		return fmt.Errorf("%d queues are throttled, %d on the list", throttled, listed)
	case p.runtime < 0:
		return fmt.Errorf("the pool has %d ns", p.runtime)
	case left != books.filled-books.taken-books.lost:
		return fmt.Errorf("pool and slices hold %d ns, but %d were filled in, %d taken, %d lost", left, books.filled, books.taken, books.lost)
	case p.first != nil && p.limit.Quota != Unlimited && !p.active:
		return fmt.Errorf("queues are throttled but no timer will end the period")
	case st.Periods < 0 || st.Throttled < 0 || st.Throttled > st.Periods || st.ThrottledTime < 0 || st.Bursts < 0 || st.BurstTime < 0:
		return fmt.Errorf("impossible counters %+v", *st)
	}
	return nil
}

// checkThrottled verifies that a CPU runs no task of a throttled group, unless
// it is about to stop, and that the counts of throttled ancestors are right.
func (s *Scheduler) checkThrottled(rq *runqueue) error {
	for _, g := range s.groups {
		q := g.queues[rq.cpu]
		above := int32(0)
		for up := q; up != nil; up = up.parent {
			if up.isThrottled() {
				above++
			}
		}
		switch {
		case q.throttledCnt != above:
			return fmt.Errorf("group %s: %d throttled ancestors counted, there are %d", g.name, q.throttledCnt, above)
		case q.frozen && q.throttledCnt == 0:
			return fmt.Errorf("group %s: averages stand still without reason", g.name)
		case q.frozen && q.nr > 0 && s.profile.ThrottlesTasks:
			return fmt.Errorf("group %s: averages of a queue with tasks stand still", g.name)
		case q.limbo != nil && q.throttledCnt == 0:
			return fmt.Errorf("group %s: task %d is in limbo without reason", g.name, q.limbo.ID)
		}
	}
	t := rq.curr
	if t == nil || s.profile.ThrottlesTasks || rq.needResched {
		return nil
	}
	for q := t.se.cfs; q != nil; q = q.parent {
		if q.isThrottled() {
			return fmt.Errorf("task %d runs although %s is throttled", t.ID, q.tg.name)
		}
	}
	return nil
}

// isThrottled reports whether the queue itself is throttled: in a simulation its
// pool says so, while a recording is followed only the queue does.
func (cfs *cfsRQ) isThrottled() bool {
	if cfs.bandwidth != nil {
		return cfs.bandwidth.throttled
	}
	return cfs.throttled || cfs.marked
}

// hidden reports whether a queued task is invisible at the root: one of the
// queues above it is throttled, or about to be.
func (t *Task) hidden() bool {
	for q := t.se.cfs; q != nil; q = q.parent {
		if q.throttled {
			return true
		}
	}
	return false
}
