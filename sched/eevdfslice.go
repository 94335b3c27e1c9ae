package sched

import (
	"fmt"
	"math"
)

// Requests of EEVDF (mechanisms-modern.md 2.2): an entity asks for a slice of
// running time, and its deadline is when it would have had that at its share.

// The shortest and longest slice that a task may ask for, in ns.
const (
	shortestSlice = 100_000
	longestSlice  = 100_000_000
)

// noSlice is the shortest slice among none.
const noSlice = int64(math.MaxInt64)

// baseSlice is the slice of whoever has not asked for another.
func (s *Scheduler) baseSlice() int64 { return s.tun.MinGranularity }

// SetSlice has a task ask for slices of ns nanoseconds, 100,000 to 100,000,000,
// from its next request on; 0 returns it to base_slice_ns [sched_setattr's
// runtime]. Kernels without EEVDF refuse.
func (s *Scheduler) SetSlice(now int64, t *Task, ns int64) error {
	switch {
	case s.time.eevdf == nil:
		return fmt.Errorf("kernel %s has no slices of one's own; v6.12 and v7.2 do", s.profile.Name)
	case ns != 0 && (ns < shortestSlice || ns > longestSlice):
		return fmt.Errorf("a slice must be between %d and %d ns, or 0 for base_slice_ns, not %d", int64(shortestSlice), int64(longestSlice), ns)
	}
	s.setNow(now)
	slice := ns
	if ns == 0 {
		slice = s.baseSlice()
	}
	s.setSlice(&t.se, slice, ns != 0)
	return nil
}

// setSlice changes what an entity asks for next. Its queue counts those that do
// not ask for the base slice.
func (s *Scheduler) setSlice(se *Entity, slice int64, custom bool) {
	if se.onRQ {
		s.countSlice(se.cfs, se, -1)
	}
	se.slice, se.customSlice = slice, custom
	if se.onRQ {
		s.countSlice(se.cfs, se, +1)
	}
}

func (s *Scheduler) countSlice(cfs *cfsRQ, se *Entity, sign int32) {
	if se.slice != s.baseSlice() {
		cfs.oddSlices += sign
	}
}

// leastSlice is the shortest slice that the entities in a queue's line ask for,
// or curr if it is given; noSlice if there are none.
func (s *Scheduler) leastSlice(cfs *cfsRQ, curr *Entity) int64 {
	least := noSlice
	if curr != nil && curr.onRQ {
		least = curr.slice
	}
	if cfs.oddSlices == 0 && len(cfs.line.slots) > 0 {
		return min(least, s.baseSlice())
	}
	for i := range cfs.line.slots {
		least = min(least, cfs.line.slots[i].se.slice)
	}
	return least
}

// greatestSlice is the longest slice that a queue's entities ask for, the
// running one included.
func (s *Scheduler) greatestSlice(cfs *cfsRQ) int64 {
	most := int64(0)
	if c := cfs.curr; c != nil && c.onRQ {
		most = c.slice
	}
	if cfs.oddSlices == 0 && len(cfs.line.slots) > 0 {
		return max(most, s.baseSlice())
	}
	for i := range cfs.line.slots {
		most = max(most, cfs.line.slots[i].se.slice)
	}
	return most
}

// passSliceUp has a group ask for the shortest slice below it.
func (s *Scheduler) passSliceUp(se *Entity) {
	if s.time.eevdf == nil || se.my == nil {
		return
	}
	if least := s.leastSlice(se.my, se.my.curr); least != noSlice {
		s.setSlice(se, least, true)
	}
}

// chargeRequest advances the running entity by d ns. What the division by its
// weight leaves over is kept for the next time: so it does not matter how often
// an entity is charged.
func (s *Scheduler) chargeRequest(cfs *cfsRQ, curr *Entity, d int64) {
	if curr.weight == nice0Stored {
		curr.vruntime += d
	} else {
		w := scaleDown(curr.weight)
		owed := d*nice0Weight + curr.remainder
		curr.vruntime += owed / w
		curr.remainder = owed % w
	}
	expired := s.renewRequest(curr)
	if expired {
		s.virtualTime(cfs) // keeps the sums small where nobody joins or leaves
	}
	if cfs.nr > 1 && curr.onRQ && s.time.eevdf.turnOver(s, cfs, curr, expired) {
		s.resched(cfs.rq)
		dropBuddies(curr)
	}
}

// renewRequest begins a new request if the entity's deadline has passed, and
// reports whether it had.
func (s *Scheduler) renewRequest(se *Entity) bool {
	if se.vruntime < se.deadline {
		return false
	}
	if !se.customSlice {
		se.slice = s.baseSlice()
	}
	se.deadline = se.vruntime + toVirtual(se.slice, se.weight)
	return true
}

// turnOver612: the request has ended, or a task with a shorter slice has taken
// the protection away and there are others to whom the CPU belongs by now.
func turnOver612(s *Scheduler, cfs *cfsRQ, curr *Entity, expired bool) bool {
	return expired || s.features.Has(PreemptShort) && !protected612(s, curr) && !s.isEligible(cfs, curr)
}

// turnOver72: the request or its protection has ended.
func turnOver72(_ *Scheduler, _ *cfsRQ, curr *Entity, expired bool) bool {
	return expired || curr.vruntime >= curr.protection
}
