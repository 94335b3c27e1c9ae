package sched

// wake_affine: shall the wakee go to the waker's CPU or stay where it was?
// (mechanisms.md 6.4)
//
// Three questions came and went over the years, each with a feature bit:
//
//	WA_IDLE    is one of the two CPUs free right now?
//	WA_WEIGHT  on which would the load be lower with the wakee on it?
//	WA_BIAS    how much lower must it be here before it pays to leave prev?

// affineRule decides for p.Here or p.Prev; d is the lowest affine domain that
// holds both. AffineUndecided means that no question had an answer: the wakee
// then stays at prev.
type affineRule func(s *Scheduler, d *Domain, p *Placement) (cpu int, why AffineReason)

// wakeAffine applies the kernel version's rule and counts the outcome.
func (s *Scheduler) wakeAffine(d *Domain, p *Placement) int {
	s.work.AffineChecks++
	cpu, why := s.profile.Wake.affine(s, d, p)
	s.noteAffine(why)
	if why == AffineSyncBalanced {
		return cpu // v3.8 returns before it counts
	}
	stats := &s.rqs[p.Here].stats
	stats.AffineTries++
	if cpu == p.Here || (why != AffineUndecided && s.profile.Wake.affineCountsPrev) {
		stats.Affine++
		d.moveAffine++
	}
	return cpu
}

// affineByNodes is 3fed382b46ba: CPUs that share a cache are always affine;
// otherwise the sums of the two nodes decide, taken anew at each wakeup. A node
// may be lightly loaded while the waker's CPU is not, and the other way round.
func affineByNodes(s *Scheduler, d *Domain, p *Placement) (int, AffineReason) {
	if s.SharesCache(p.Prev, p.Here) {
		return p.Here, AffineCache
	}
	hereLoad, hereCap := s.nodeLoad(p.Here)
	prevLoad, prevCap := s.nodeLoad(p.Prev)
	if p.Sync {
		hereLoad = max(0, hereLoad-s.taskHLoad(s.waker(p.Here)))
	}
	if hereLoad == 0 {
		return p.Here, AffineNode
	}
	wakee := s.taskHLoad(p.Task)
	here := 100 * prevCap * (hereLoad + wakee)
	prev := biasPercent(d) * hereCap * (prevLoad - wakee)
	if here <= prev {
		return p.Here, AffineNode
	}
	return p.Prev, AffineNode
}

// nodeLoad sums load and capacity over the CPUs of cpu's node.
func (s *Scheduler) nodeLoad(cpu int) (load, capacity int64) {
	cpus := s.machine.Nodes[s.scratch.nodeOf[cpu]].CPUs
	for c := cpus.First(); c >= 0; c = cpus.Next(c + 1) {
		s.work.GroupCPUs++
		load += s.cpuLoad(&s.rqs[c])
		capacity += s.rqs[c].capacity
	}
	return load, capacity
}

// affine414 is v4.14: an idle waker's CPU attracts even from another cache,
// and when the loads would be equal the wakee moves.
func affine414(s *Scheduler, d *Domain, p *Placement) (int, AffineReason) {
	if s.features.Has(WAIdle) {
		if s.idle.Has(p.Here) {
			return p.Here, AffineIdleHere
		}
		if s.wakerLeavesCPUFree(p) {
			return p.Here, AffineSync
		}
	}
	if s.features.Has(WAWeight) {
		if here, prev := s.affineLoads(d, p); here <= prev {
			return p.Here, AffineWeight
		}
		return p.Prev, AffineWeight
	}
	return p.Prev, AffineUndecided
}

// affine510 is v5.10: an idle waker's CPU attracts only within the cache (the
// waker may be an interrupt, which can strike anywhere), and then an idle prev
// is better still. Equal loads do not move the wakee, unless the waker sleeps.
func affine510(s *Scheduler, d *Domain, p *Placement) (int, AffineReason) {
	if s.features.Has(WAIdle) {
		if cpu, why := s.idleOfTwo(p); why != AffineUndecided {
			return cpu, why
		}
	}
	return s.affineByWeight(d, p)
}

// affine517 is v5.11 and later: as v5.10, and an idle prev in another cache
// keeps its task without a comparison of loads.
func affine517(s *Scheduler, d *Domain, p *Placement) (int, AffineReason) {
	if s.features.Has(WAIdle) {
		if cpu, why := s.idleOfTwo(p); why != AffineUndecided {
			return cpu, why
		}
		if s.idle.Has(p.Prev) {
			return p.Prev, AffineIdlePrev
		}
	}
	return s.affineByWeight(d, p)
}

// idleOfTwo is the part of WA_IDLE that v5.10 and v5.17 share.
func (s *Scheduler) idleOfTwo(p *Placement) (int, AffineReason) {
	if s.idle.Has(p.Here) && s.SharesCache(p.Here, p.Prev) {
		if s.idle.Has(p.Prev) {
			return p.Prev, AffineIdlePrev
		}
		return p.Here, AffineIdleHere
	}
	if s.wakerLeavesCPUFree(p) {
		return p.Here, AffineSync
	}
	return p.Prev, AffineUndecided
}

// wakerLeavesCPUFree reports whether the waker is about to sleep and is alone
// on its CPU. Tasks that only wait there for their delayed dequeue do not count
// (v6.12; before, there are none).
func (s *Scheduler) wakerLeavesCPUFree(p *Placement) bool {
	rq := &s.rqs[p.Here]
	return p.Sync && rq.nr-rq.cfs.delayed == 1
}

// affineByWeight is WA_WEIGHT of v5.10 and later: strictly less load here.
func (s *Scheduler) affineByWeight(d *Domain, p *Placement) (int, AffineReason) {
	if s.features.Has(WAWeight) {
		here, prev := s.affineLoads(d, p)
		if p.Sync {
			prev++ // equality moves a wakee whose waker makes room
		}
		if here < prev {
			return p.Here, AffineWeight
		}
	}
	return p.Prev, AffineUndecided
}

// affineLoads returns what WA_WEIGHT compares: the load of each CPU with the
// wakee here and not at prev, times the other one's capacity (that is: load
// per capacity, without a division), with prev's raised by WA_BIAS. A sync
// waker's own load does not count; if it is more than the CPU's whole load,
// which the two averages' different ages allow, this CPU wins outright.
func (s *Scheduler) affineLoads(d *Domain, p *Placement) (here, prev int64) {
	hereRQ, prevRQ := &s.rqs[p.Here], &s.rqs[p.Prev]
	here = s.cpuLoad(hereRQ)
	if p.Sync {
		waker := s.taskHLoad(s.waker(p.Here))
		if waker > here {
			return -1, 0
		}
		here -= waker
	}
	wakee := s.taskHLoad(p.Task)
	here += wakee
	prev = s.cpuLoad(prevRQ) - wakee // may be negative
	if s.features.Has(WABias) {
		here *= 100
		prev *= biasPercent(d)
	}
	return here * prevRQ.capacity, prev * hereRQ.capacity
}

// biasPercent is half of what a domain tolerates as imbalance: a domain of
// imbalance_pct 117 gives 108.
func biasPercent(d *Domain) int64 { return 100 + (d.ImbalancePct-100)/2 }
