package sched

// Two hints that the CPUs of a last-level cache leave in their shared record
// for those who search it. Both may be stale.

// hasIdleCores reads the hint that some core of cpu's cache is wholly idle.
func (s *Scheduler) hasIdleCores(cpu int) bool {
	shared := s.rqs[cpu].llcShared
	return shared != nil && shared.HasIdleCores
}

// forgetIdleCores takes the hint back after a search that found no idle core.
func (s *Scheduler) forgetIdleCores(cpu int) {
	s.work.SharedLineWrite++
	s.rqs[cpu].llcShared.HasIdleCores = false
}

// updateIdleCore sets the hint when a CPU that enters idle completes an idle
// core [__update_idle_core] (mechanisms.md 5.5). While the hint is set nobody
// looks again.
func (s *Scheduler) updateIdleCore(rq *runqueue) {
	if !s.scratch.smt || rq.llcShared == nil || rq.llcShared.HasIdleCores {
		return
	}
	for _, sibling := range s.scratch.siblings[rq.cpu] {
		if sibling != rq.cpu && !s.idle.Has(int(sibling)) {
			return
		}
	}
	s.work.SharedLineWrite++
	rq.llcShared.HasIdleCores = true
}

// updateNrIdleScan sets SIS_UTIL's budget from the utilization of the whole
// cache: the quadratic falls to zero where about 85 % is in use, because a scan
// would hardly find anything there (mechanisms.md 6.5). Periodic balancing of
// domain d calls it; only the LLC domain has a record to write to.
func (s *Scheduler) updateNrIdleScan(d *Domain, sumUtil int64) {
	if !s.features.Has(SISUtil) || d.Shared == nil {
		return
	}
	weight, pct := int64(d.SpanWeight), d.ImbalancePct
	mean := sumUtil / weight
	busy := min(mean*mean*pct*pct/(10000*capacityFull), capacityFull)
	budget := int32((capacityFull - busy) * weight / capacityFull)
	if d.Shared.NrIdleScan != budget {
		s.work.SharedLineWrite++
		d.Shared.NrIdleScan = budget
	}
}
