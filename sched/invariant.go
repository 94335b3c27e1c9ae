package sched

import (
	"fmt"
	"slices"
)

// CheckInvariants verifies that the scheduler's counters equal what they
// count, that every queued task is in exactly one place, and that virtual time
// keeps its rules. It returns the first violation. It is meant for tests and
// for builds with the invariants tag: its cost grows with everything there is.
func (s *Scheduler) CheckInvariants() error {
	for cpu := range s.rqs {
		if err := s.checkRunqueue(&s.rqs[cpu]); err != nil {
			return fmt.Errorf("CPU %d: %w", cpu, err)
		}
	}
	return s.checkPools()
}

func (s *Scheduler) checkRunqueue(rq *runqueue) error {
	cpu := int(rq.cpu)
	switch {
	case s.idle.Has(cpu) != (rq.online && rq.idleCPU()):
		return fmt.Errorf("idle mask says %v", s.idle.Has(cpu))
	case s.schedIdle.Has(cpu) != rq.schedIdle():
		return fmt.Errorf("sched-idle mask says %v", s.schedIdle.Has(cpu))
	case rq.curr != nil && (!rq.curr.queued || rq.curr.cpu != rq.cpu):
		return fmt.Errorf("running task %d is not queued here", rq.curr.ID)
	case (rq.wakeHead != nil) != rq.wakePending:
		return fmt.Errorf("wake list and pending flag disagree")
	}
	if err := s.checkTaskList(rq); err != nil {
		return err
	}
	for _, g := range s.groups {
		q := g.queues[cpu]
		if err := s.checkQueue(q); err != nil {
			return fmt.Errorf("group %s: %w", g.name, err)
		}
		if err := q.checkLinks(); err != nil {
			return fmt.Errorf("group %s: %w", g.name, err)
		}
	}
	if err := rq.checkRunning(); err != nil {
		return err
	}
	if err := s.checkThrottled(rq); err != nil {
		return err
	}
	if err := s.checkOverloadMask(rq); err != nil {
		return err
	}
	if rq.nr != rq.cfs.h {
		return fmt.Errorf("nr_running %d but %d tasks below the root queue", rq.nr, rq.cfs.h)
	}
	return nil
}

func (s *Scheduler) checkTaskList(rq *runqueue) error {
	n, delayed, estimate := int32(0), int32(0), int64(0)
	for t := rq.lruHead; t != nil; t = t.lruNext {
		if !t.hidden() {
			n++
		}
		if t.delayed {
			if !t.hidden() {
				delayed++
			}
		} else {
			estimate += t.utilEstimate()
		}
		if t.cpu != rq.cpu || !t.queued {
			return fmt.Errorf("task %d is on the migratable list but queued=%v on CPU %d", t.ID, t.queued, t.cpu)
		}
		if !t.se.onRQ {
			return fmt.Errorf("task %d is listed but its entity is not queued", t.ID)
		}
		if n > rq.nr {
			return fmt.Errorf("more than %d tasks on the migratable list", rq.nr)
		}
	}
	if n != rq.nr {
		return fmt.Errorf("%d tasks on the migratable list, nr_running %d", n, rq.nr)
	}
	if err := s.checkPreferences(rq); err != nil {
		return err
	}
	if delayed != rq.cfs.delayed {
		return fmt.Errorf("%d delayed tasks on the migratable list, %d counted", delayed, rq.cfs.delayed)
	}
	if estimate != rq.utilEst {
		return fmt.Errorf("util_est %d, Σ of the queued tasks %d", rq.utilEst, estimate)
	}
	return nil
}

// checkPreferences counts what the queued tasks prefer.
func (s *Scheduler) checkPreferences(rq *runqueue) error {
	if s.llcs == nil {
		return nil
	}
	having, satisfied := int32(0), int32(0)
	byLLC := make([]int32, len(s.llcs.first))
	for t := rq.lruHead; t != nil; t = t.lruNext {
		if t.preferredLLC == noLLC {
			continue
		}
		having++
		byLLC[s.llcs.index[t.preferredLLC]]++
		if t.preferredLLC == rq.llcID && !t.delayed {
			satisfied++
		}
	}
	if c := &s.llcs.cpus[rq.cpu]; c.having != having || c.satisfied != satisfied || !slices.Equal(c.byLLC, byLLC) {
		return fmt.Errorf("preferred caches: %d, %d, %v counted, the queued tasks have %d, %d, %v",
			c.having, c.satisfied, c.byLLC, having, satisfied, byLLC)
	}
	return nil
}

// checkRunning verifies that exactly the chain of entities above the running
// task is current on its queues.
func (rq *runqueue) checkRunning() error {
	for _, q := range rq.leaf {
		if !q.onLeafList {
			return fmt.Errorf("a queue is on the list of queues with load but does not know it")
		}
	}
	if rq.curr == nil {
		if rq.cfs.curr != nil {
			return fmt.Errorf("idle, but an entity is current on the root queue")
		}
		return nil
	}
	for se := &rq.curr.se; se != nil; se = se.parent {
		if se.cfs.curr != se {
			return fmt.Errorf("task %d runs, but %d levels above the root another entity is current",
				rq.curr.ID, se.depth)
		}
	}
	return nil
}

// checkLinks verifies what a queue says about its buddies, its group's entity
// and its own load.
func (q *cfsRQ) checkLinks() error {
	for _, buddy := range [...]*Entity{q.next, q.last, q.skip} {
		if buddy != nil && (buddy.cfs != q || !buddy.onRQ) {
			return fmt.Errorf("a buddy is not queued here")
		}
	}
	a := &q.avg
	switch {
	case q.se != nil && !q.se.emptyDelayed && q.se.onRQ != (q.nr > 0 && !(q.throttled && q.isThrottled())):
		return fmt.Errorf("%d entities queued, but queued=%v of the group's entity", q.nr, q.se.onRQ)
	case q.curr != nil && q.se != nil && q.parent.curr != q.se:
		return fmt.Errorf("an entity is current below a group that is not")
	case q.nr > 0 && !q.onLeafList:
		return fmt.Errorf("queued entities, but not on the list of queues with load")
	case a.loadAvg < 0 || a.utilAvg < 0 || a.runnableAvg < 0 || q.runnableLoadAvg < 0:
		return fmt.Errorf("negative average: load %d, util %d, runnable %d", a.loadAvg, a.utilAvg, a.runnableAvg)
	}
	return nil
}

func (s *Scheduler) checkQueue(q *cfsRQ) error {
	var sum countedQueue
	last := int64(0)
	for i, sl := range q.line.slots {
		se := sl.se
		switch {
		case sl.key != s.lineKey(se):
			return fmt.Errorf("an entity's vruntime or deadline changed while it was on the timeline")
		case i > 0 && sl.key > last:
			return fmt.Errorf("timeline out of order")
		case se.cfs != q || !se.onRQ || se == q.curr:
			return fmt.Errorf("the timeline holds an entity that is elsewhere")
		}
		last = sl.key
		sum.add(s, se)
	}
	// A wakeup puts nobody further back than its credit, and virtual time does
	// not pass whoever waits.
	if s.time.eevdf != nil {
		if err := s.checkVirtualTime(q); err != nil {
			return err
		}
	} else if left := q.line.leftmost(); left != nil && left.vruntime < q.minVruntime-max(s.tun.Latency, s.tun.MinGranularity) {
		return fmt.Errorf("an entity waits at vruntime %d, more than any credit behind min_vruntime %d",
			left.vruntime, q.minVruntime)
	}
	if c := q.curr; c != nil && c.onRQ {
		sum.add(s, c)
	}
	switch {
	case sum.nr != q.nr || sum.idleNr != q.idleNr:
		return fmt.Errorf("counts %d/%d entities, holds %d/%d", q.nr, q.idleNr, sum.nr, sum.idleNr)
	case sum.load != q.load:
		return fmt.Errorf("load weight %d, Σ of its entities %d", q.load, sum.load)
	case sum.h != q.h || sum.hIdle != q.hIdle:
		return fmt.Errorf("counts H %d and Hidle %d, but below are %d and %d", q.h, q.hIdle, sum.h, sum.hIdle)
	}
	return nil
}

// checkOverloadMask compares what a cache's overload mask says with what its
// CPUs say; the first CPU of the cache is asked for all. CPUs that had counted
// themselves before the record was made are missing from the count for good,
// and from the mask until they become overloaded anew (mechanisms.md 10.5
// example 9).
func (s *Scheduler) checkOverloadMask(rq *runqueue) error {
	if s.variants.overload == nil || rq.llcShared == nil || rq.llcID != rq.cpu {
		return nil
	}
	m, said, missing := &rq.llcShared.Overload, int32(0), int32(0)
	for c := rq.llc.Span.First(); c >= 0; c = rq.llc.Span.Next(c + 1) {
		switch {
		case s.rqs[c].overloaded:
			said++
			if !m.CPUs.Has(c) {
				missing++
			}
		case m.CPUs.Has(c):
			return fmt.Errorf("CPU %d is in the overload mask but says it is not overloaded", c)
		}
	}
	switch {
	case missing > m.Stale:
		return fmt.Errorf("%d overloaded CPUs are not in the overload mask, %d of them from before it was made", missing, m.Stale)
	case m.Count != said-m.Stale:
		return fmt.Errorf("the overload count is %d, but %d CPUs say they are overloaded, %d of them from before it was made", m.Count, said, m.Stale)
	case !m.CPUs.SubsetOf(rq.llc.Span):
		return fmt.Errorf("the overload mask holds CPUs of another cache")
	}
	return nil
}

// countedQueue is what a queue's counters should be.
type countedQueue struct {
	nr, idleNr, h, hIdle int32
	load                 int64
}

func (c *countedQueue) add(s *Scheduler, se *Entity) {
	c.nr++
	c.load += se.weight
	if s.idleClassed(se) {
		c.idleNr++
	}
	switch {
	case !se.isTask() && se.my.throttled: // about to leave: not counted any more
	case se.isTask():
		c.h++
		if se.task.policy == PolicyIdle {
			c.hIdle++
		}
	case se.my.idle:
		c.h += se.my.h
		c.hIdle += se.my.h
	default:
		c.h += se.my.h
		c.hIdle += se.my.hIdle
	}
}

// IdleBesideWaiting counts idle CPUs that a task waiting on some other CPU's
// queue may use: how far the machine is from conserving work right now.
func (s *Scheduler) IdleBesideWaiting() int {
	if s.idle.Empty() {
		return 0
	}
	waiting := 0
	idle := s.idle.Count()
	for cpu := range s.rqs {
		rq := &s.rqs[cpu]
		if rq.nr < 2 {
			continue
		}
		for t := rq.lruHead; t != nil && waiting < idle; t = t.lruNext {
			if t != rq.curr && !s.throttledHierarchy(t.se.cfs) && t.allowed.Intersects(s.idle) {
				waiting++
			}
		}
	}
	return waiting
}
