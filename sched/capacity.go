package sched

import "github.com/schedlab/schedlab/machine"

// newGroupCapacity returns the record of a group whose CPUs all count in full.
func newGroupCapacity(weight int, balancers machine.CPUMask) *GroupCapacity {
	return &GroupCapacity{
		Capacity: int64(weight) * capacityFull, MinCapacity: capacityFull, MaxCapacity: capacityFull,
		BalanceMask: balancers,
	}
}

// initCapacities sets the capacity of every CPU and of every group. A group's
// first balancer computes it from the level below, so higher CPUs go first.
func (b *domainBuilder) initCapacities() {
	cpus := b.s.online.CPUs()
	for _, cpu := range cpus {
		b.s.initCPUCapacity(cpu, &b.domains[0][cpu], b.rules.smtCapacity)
	}
	for i := len(cpus) - 1; i >= 0; i-- {
		for d := &b.domains[0][cpus[i]]; d != nil; d = d.Parent {
			if d.Groups.Cap.BalanceMask.First() == cpus[i] {
				b.s.updateGroupCapacity(d, cpus[i])
			}
		}
	}
}

// initCPUCapacity applies v4.14's rule that the threads of one core share
// smtCapacity (mechanisms.md 5.4: 1178 for two, 589 each).
func (s *Scheduler) initCPUCapacity(cpu int, lowest *Domain, smtCapacity int64) {
	if smtCapacity == 0 || !lowest.has(FlagShareCPUCapacity) || lowest.SpanWeight == 1 {
		return
	}
	rq := &s.rqs[cpu]
	rq.capacityOrig = rq.capacityOrig * (smtCapacity / int64(lowest.SpanWeight)) / capacityFull
	rq.capacity = rq.capacityOrig
}

// updateGroupCapacity refreshes the capacity of the group that cpu belongs to
// in domain d [update_group_capacity] (mechanisms.md 5.4).
func (s *Scheduler) updateGroupCapacity(d *Domain, cpu int) {
	gc := d.Groups.Cap
	interval := max(1, min(s.msToJiffies(d.balanceInterval), s.maxBalanceInterval()))
	gc.NextUpdate = s.jiffies + interval
	switch {
	case d.Child == nil:
		rq := &s.rqs[cpu]
		rq.capacity = max(1, rq.capacityOrig) // no class above CFS takes any of it
		gc.Capacity, gc.MinCapacity, gc.MaxCapacity = rq.capacity, rq.capacity, rq.capacity
	case d.Child.has(FlagOverlap):
		s.sumCPUCapacities(gc, d.Groups.Span)
	default:
		sumGroupCapacities(gc, d.Child.Groups)
	}
}

// sumCPUCapacities adds up CPU by CPU: the groups of an overlapping child do
// not partition the group.
func (s *Scheduler) sumCPUCapacities(gc *GroupCapacity, span machine.CPUMask) {
	first := s.rqs[span.First()].capacity
	gc.Capacity, gc.MinCapacity, gc.MaxCapacity = 0, first, first
	for c := span.First(); c >= 0; c = span.Next(c + 1) {
		capacity := s.rqs[c].capacity
		gc.Capacity += capacity
		gc.MinCapacity = min(gc.MinCapacity, capacity)
		gc.MaxCapacity = max(gc.MaxCapacity, capacity)
	}
}

func sumGroupCapacities(gc *GroupCapacity, ring *CPUGroup) {
	gc.Capacity, gc.MinCapacity, gc.MaxCapacity = 0, ring.Cap.MinCapacity, ring.Cap.MaxCapacity
	for g := ring; ; {
		gc.Capacity += g.Cap.Capacity
		gc.MinCapacity = min(gc.MinCapacity, g.Cap.MinCapacity)
		gc.MaxCapacity = max(gc.MaxCapacity, g.Cap.MaxCapacity)
		if g = g.Next; g == ring {
			return
		}
	}
}

// maxBalanceInterval is the kernel's upper bound of a balance interval in
// jiffies: a tenth of a second for each online CPU.
func (s *Scheduler) maxBalanceInterval() int64 { return s.hz * int64(s.online.Count()) / 10 }
