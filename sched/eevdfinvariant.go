package sched

import "fmt"

// lineKey is what an entity's place in the line goes by.
func (s *Scheduler) lineKey(se *Entity) int64 {
	if s.time.eevdf != nil {
		return se.deadline
	}
	return se.vruntime
}

// checkVirtualTime verifies that the sums of a queue are those of its entities,
// that their lags cancel out, and that one of them may run.
func (s *Scheduler) checkVirtualTime(q *cfsRQ) error {
	sum, odd := weightedTimes{zero: q.waiting.zero}, int32(0)
	all := make([]*Entity, 0, len(q.line.slots)+1)
	for i := range q.line.slots {
		se := q.line.slots[i].se
		sum.add(se.vruntime, s.time.eevdf.averageWeight(se.weight))
		all = append(all, se)
	}
	if sum != q.waiting {
		return fmt.Errorf("the line counts as %+v, its entities as %+v", q.waiting, sum)
	}
	if c := q.curr; c != nil && c.onRQ {
		all = append(all, c)
	}
	eligible := len(all) == 0
	for _, se := range all {
		eligible = eligible || s.isEligible(q, se)
		if se.slice != s.baseSlice() {
			odd++
		}
		if err := s.checkRequest(se); err != nil {
			return err
		}
	}
	switch {
	case !eligible:
		return fmt.Errorf("none of %d entities is eligible", len(all))
	case odd != q.oddSlices:
		return fmt.Errorf("%d entities with slices of their own, %d counted", odd, q.oddSlices)
	}
	return s.checkLags(q, all)
}

func (s *Scheduler) checkRequest(se *Entity) error {
	switch {
	case se.slice < shortestSlice && se.slice != s.baseSlice():
		return fmt.Errorf("an entity asks for %d ns", se.slice)
	case se.emptyDelayed && (se.my.nr != 0 || !se.onRQ):
		return fmt.Errorf("a group with %d entities, queued=%v, stays for its debt", se.my.nr, se.onRQ)
	case se.keepsDeadline:
		return fmt.Errorf("the deadline of a queued entity is still relative")
	}
	return nil
}

// checkLags: Σ lag·w = 0 but for what rounding V down leaves, which is less than
// Σ w (mechanisms.md 1.12).
func (s *Scheduler) checkLags(q *cfsRQ, all []*Entity) error {
	if len(all) == 0 {
		return nil
	}
	before := q.waiting
	v := s.virtualTime(q)
	q.waiting = before
	var rest, total int64
	for _, se := range all {
		w := s.time.eevdf.averageWeight(se.weight)
		rest += (se.vruntime - v) * w
		total += w
	}
	if rest < 0 || rest >= total {
		return fmt.Errorf("Σ lag·w is %d with weights of %d", -rest, total)
	}
	return nil
}
