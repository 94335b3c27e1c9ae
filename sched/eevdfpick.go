package sched

// The pick of EEVDF (mechanisms-modern.md 2.6): among the eligible entities the
// one with the earliest deadline. The line is in the order of deadlines, so that
// the first eligible one in it is the earliest; some entity always is eligible,
// as not all can be behind their average.

// pickDeadline follows a buddy hint first (PICK_BUDDY), if that entity may run.
func (s *Scheduler) pickDeadline(cfs *cfsRQ, curr *Entity) *Entity {
	if next := cfs.next; next != nil && s.features.Has(PickBuddy) && s.isEligible(cfs, next) {
		return next
	}
	return s.earliestEligible(cfs, curr, true)
}

// earliestEligible is the pick without buddies. The running entity, if it is
// eligible, keeps the CPU while it is protected, if shielded says that this
// counts, and after that only with a deadline earlier than all others'.
func (s *Scheduler) earliestEligible(cfs *cfsRQ, curr *Entity, shielded bool) *Entity {
	n := len(cfs.line.slots)
	if n == 0 {
		return curr
	}
	all := s.competing(cfs)
	eligible := func(se *Entity) bool { return !less(all.times, se.vruntime-all.zero, all.weights) }
	if curr != nil && (!curr.onRQ || !eligible(curr)) {
		curr = nil
	}
	if curr != nil && shielded && s.time.eevdf.protected(s, curr) {
		return curr
	}
	for i := n - 1; i >= 0; i-- {
		slot := &cfs.line.slots[i]
		if curr != nil && curr.deadline < slot.key {
			return curr
		}
		if eligible(slot.se) {
			return slot.se
		}
	}
	return curr
}

// protectRequest612: the running entity is safe until its deadline changes.
func protectRequest612(_ *Scheduler, _ *cfsRQ, se *Entity) { se.protection = se.deadline }

func protected612(s *Scheduler, se *Entity) bool {
	return s.features.Has(RunToParity) && se.protection == se.deadline
}

// protectRequest72: the running entity is safe for its slice, or for the shortest
// one that another entity asks for; without RUN_TO_PARITY for the base slice
// before it is scaled to the number of CPUs.
func protectRequest72(s *Scheduler, cfs *cfsRQ, se *Entity) {
	safe := s.profile.Tunables.slice
	if s.features.Has(RunToParity) {
		safe = s.leastSlice(cfs, nil)
	}
	se.protection = se.deadline
	if safe < se.slice {
		se.protection = min(se.deadline, se.vruntime+toVirtual(safe, se.weight))
	}
}

func protected72(_ *Scheduler, se *Entity) bool { return se.vruntime < se.protection }

// endProtection leaves the running entity without protection.
func endProtection(se *Entity) { se.protection = min(se.protection, se.vruntime, se.deadline-1) }
