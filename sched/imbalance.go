package sched

import "math/bits"

// Which group is the busiest, and how much to take from it: kernels since
// v5.5 (mechanisms.md 9.3 to 9.5). v4.14 has its own in balance414.go.
//
// Machines of unequal capacities are balanced by the same rules: the misfit
// and asymmetric-packing cases are left out, as in placement.

// domainStats is what a pass learns about a domain's groups.
type domainStats struct {
	local, busiest groupStats
	candidate      groupStats // the group being looked at
	busiestGroup   *CPUGroup
	load, capacity int64
	util           int64
	avgLoad        int64 // load per capacity of the whole domain
	preferSibling  bool  // children prefer that tasks spread over the groups
	overload       bool  // some CPU has more than one task
	decaysNohz     bool  // the pass decays the loads of tickless CPUs
	blockedLeft    bool  // and one of them has some left
}

// findBusiestGroup chooses the group to pull from; nil when the domain is
// balanced as it is.
func findBusiestGroup(s *Scheduler, env *balanceEnv) *CPUGroup {
	ds := &env.stats
	s.collectDomain(env, ds)
	if ds.busiestGroup == nil || !ds.unbalanced(env, s.profile.Balance.siblingDifference) {
		return nil
	}
	s.computeImbalance(env, ds)
	if env.imbalance == 0 {
		return nil
	}
	return ds.busiestGroup
}

// collectDomain sums up every group and keeps the local and the busiest one.
func (s *Scheduler) collectDomain(env *balanceEnv, ds *domainStats) {
	*ds = domainStats{
		preferSibling: env.d.Child != nil && env.d.Child.has(FlagPreferSibling),
		decaysNohz:    s.decaysNohzStats(env),
	}
	ds.busiest.idleCPUs = 1<<31 - 1
	for g := env.d.Groups; ; {
		gs := &ds.candidate
		local := g.Span.Has(int(env.dst.cpu))
		if local {
			s.refreshGroupCapacity(env)
			gs = &ds.local
		}
		s.collectGroup(env, g, gs)
		if !local && ds.busierThanBusiest(s.profile.Balance.busierAmongEquals) {
			ds.busiest, ds.busiestGroup = ds.candidate, g
		}
		ds.load += gs.load
		ds.util += gs.util
		ds.capacity += gs.capacity
		if g = g.Next; g == env.d.Groups {
			break
		}
	}
	if ds.blockedLeft {
		s.postponeNohzStats(env)
	}
	if env.d.Parent == nil {
		s.overload = ds.overload
	}
	if env.idle != NewlyIdle {
		s.updateNrIdleScan(env.d, ds.util)
	}
}

// refreshGroupCapacity renews the local group's record: always in a periodic
// pass, now and then in a newidle one.
func (s *Scheduler) refreshGroupCapacity(env *balanceEnv) {
	if env.idle != NewlyIdle || s.jiffies >= env.d.Groups.Cap.NextUpdate {
		s.updateGroupCapacity(env.d, int(env.dst.cpu))
	}
}

// collectGroup sums up one group's CPUs and classifies it.
func (s *Scheduler) collectGroup(env *balanceEnv, g *CPUGroup, gs *groupStats) {
	ds := &env.stats
	*gs = groupStats{weight: int32(g.Weight), capacity: g.Cap.Capacity, cores: int32(g.Cores),
		smt: g.Flags&FlagShareCPUCapacity != 0}
	for w := range g.Span {
		word := g.Span[w] & env.candidates[w]
		s.work.GroupCPUs += int64(bits.OnesCount64(word))
		gs.idleCPUs += int32(bits.OnesCount64(word & s.idle[w]))
		for ; word != 0; word &= word - 1 {
			rq := &s.rqs[firstBit(w, word)]
			if ds.decaysNohz && s.updateNohzStats(rq, false) {
				ds.blockedLeft = true
			}
			gs.load += s.cpuLoad(rq)
			gs.util += s.cpuUtil(rq)
			gs.runnable += s.cpuRunnable(rq)
			gs.h += s.tasksOn(rq)
			gs.nr += rq.nr
			gs.prefersDst += s.prefers(rq, env.dst)
			if rq.nr > 1 {
				ds.overload = true
			}
		}
	}
	s.recordLLCUse(env, g, gs)
	gs.wantsLLC = gs != &ds.local && s.wantsLLC(env, g, gs)
	gs.sharesCore = s.profile.Balance.balancesCores && gs != &ds.local && env.sharesCore(gs)
	gs.kind = gs.classify(env.d.ImbalancePct, g.Cap.Imbalance)
	if gs.kind == groupOverloaded {
		gs.avgLoad = gs.loadPerCapacity()
	}
}

// busierThanBusiest compares the candidate with the busiest group so far: the
// busier type wins, then what that type is about.
func (ds *domainStats) busierThanBusiest(amongEquals func(c, best *groupStats, first bool) bool) bool {
	c, b := &ds.candidate, &ds.busiest
	if c.h == 0 || c.kind < b.kind {
		return false
	}
	return c.kind > b.kind || amongEquals(c, b, ds.busiestGroup == nil)
}

// busier510 compares two groups of one type; first says that there is no best
// one yet.
func busier510(c, b *groupStats, _ bool) bool {
	switch c.kind {
	case groupOverloaded, groupFullyBusy:
		return c.avgLoad > b.avgLoad
	case groupHasSpare:
		return c.lessRoomThan(b)
	default:
		return false // of several imbalanced groups the first
	}
}

// lessRoomThan: fewer idle CPUs, or as many and more tasks.
func (g *groupStats) lessRoomThan(b *groupStats) bool {
	return g.idleCPUs < b.idleCPUs || (g.idleCPUs == b.idleCPUs && g.nr > b.nr)
}

// unbalanced decides whether the busiest group should give something
// (mechanisms.md 9.4).
func (ds *domainStats) unbalanced(env *balanceEnv, siblingDifference differenceRule) bool {
	local, busiest := &ds.local, &ds.busiest
	switch {
	case busiest.kind == groupImbalanced:
		return true
	case local.kind > busiest.kind:
		return false
	case local.kind == groupOverloaded && !ds.loadDiffers(env.d.ImbalancePct):
		return false
	case ds.preferSibling && local.kind == groupHasSpare && siblingDifference(env, local, busiest) > 1:
		return true
	case ds.preferSibling && local.kind == groupHasSpare && busiest.kind == groupLLCBalance:
		return true
	case busiest.kind == groupOverloaded:
		return true
	case env.idle == NotIdle:
		return false
	case busiest.kind == groupSMTBalance && local.smt != busiest.smt:
		return true // a CPU without siblings helps a shared core
	case busiest.weight > 1 && local.idleCPUs <= busiest.idleCPUs+1:
		return false
	default:
		return busiest.h != 1
	}
}

// loadDiffers compares two overloaded groups by load.
func (ds *domainStats) loadDiffers(pct int64) bool {
	local, busiest := &ds.local, &ds.busiest
	if local.avgLoad >= busiest.avgLoad {
		return false
	}
	ds.avgLoad = ds.load * capacityFull / ds.capacity
	return local.avgLoad < ds.avgLoad && 100*busiest.avgLoad > pct*local.avgLoad
}

// computeImbalance sets what to move and how much (mechanisms.md 9.5).
func (s *Scheduler) computeImbalance(env *balanceEnv, ds *domainStats) {
	local, busiest := &ds.local, &ds.busiest
	switch {
	case busiest.kind == groupImbalanced || busiest.kind == groupSMTBalance:
		env.move, env.imbalance = moveTask, 1
	case busiest.kind == groupLLCBalance:
		env.move, env.imbalance = moveLLCTask, 1
	case local.kind == groupHasSpare && busiest.kind > groupFullyBusy && !env.d.has(FlagShareLLC):
		fillSpareCapacity(env, local)
	case local.kind == groupHasSpare:
		s.evenOut(env, ds)
	default:
		s.evenLoad(env, ds)
	}
}

// fillSpareCapacity takes as much utilization as the local group has room for.
func fillSpareCapacity(env *balanceEnv, local *groupStats) {
	env.move = moveUtil
	env.imbalance = max(0, local.capacity-local.util)
	if env.imbalance == 0 && env.idle != NotIdle {
		// Migrations left utilization behind, yet this CPU idles and a task
		// waits over there.
		env.move, env.imbalance = moveTask, 1
	}
}

// evenOut evens the number of tasks, or else of idle CPUs.
func (s *Scheduler) evenOut(env *balanceEnv, ds *domainStats) {
	local, busiest := &ds.local, &ds.busiest
	difference := int64(local.idleCPUs - busiest.idleCPUs)
	if busiest.weight == 1 || ds.preferSibling {
		difference = s.profile.Balance.siblingDifference(env, local, busiest)
	}
	env.move = moveTask
	env.imbalance = s.profile.Balance.spread(env, local, busiest, max(0, difference))
}

// differenceRule says how many tasks the busiest of two groups whose tasks
// should spread has too many; a single one is no reason to move any.
type differenceRule func(env *balanceEnv, local, busiest *groupStats) int64

func taskDifference(_ *balanceEnv, local, busiest *groupStats) int64 {
	return int64(busiest.nr - local.nr)
}

// evenLoad brings both groups towards the domain's average load.
func (s *Scheduler) evenLoad(env *balanceEnv, ds *domainStats) {
	local, busiest := &ds.local, &ds.busiest
	env.move, env.imbalance = moveLoad, 0
	if local.kind < groupOverloaded {
		local.avgLoad = local.loadPerCapacity()
		if local.avgLoad >= busiest.avgLoad {
			return
		}
		ds.avgLoad = ds.load * capacityFull / ds.capacity
		if local.avgLoad >= ds.avgLoad && !s.profile.Balance.fillAboveAverage {
			return
		}
	}
	// Differences are unsigned in the kernel: a negative one is a huge one, and
	// the other side decides (v5.17).
	give := uint64(busiest.avgLoad-ds.avgLoad) * uint64(busiest.capacity)
	take := uint64(ds.avgLoad-local.avgLoad) * uint64(local.capacity)
	env.imbalance = int64(min(give, take) / capacityFull)
}

// spread510 lets a pair stay where it is.
func spread510(env *balanceEnv, _, busiest *groupStats, difference int64) int64 {
	if env.d.has(FlagNUMA) && busiest.nr <= numaImbalanceMin {
		return 0
	}
	return difference / 2
}

// spread517 allows small differences while the busy node is less than a
// quarter full (v5.17-rc5).
func spread517(env *balanceEnv, _, busiest *groupStats, difference int64) int64 {
	amount := difference / 2
	if env.d.has(FlagNUMA) && busiest.nr < busiest.weight/4 && amount <= numaImbalanceMin {
		return 0
	}
	return amount
}

// spread517tip allows them while the local node has no more tasks than the
// topology allows to stay (commit e496132ebedd).
func spread517tip(env *balanceEnv, local, _ *groupStats, difference int64) int64 {
	amount := difference / 2
	if env.allowsNUMAImbalance(local) && amount <= numaImbalanceMin {
		return 0
	}
	return amount
}

// spread61 is spread517tip with the filter before the halving.
func spread61(env *balanceEnv, local, _ *groupStats, difference int64) int64 {
	if env.allowsNUMAImbalance(local) && difference <= numaImbalanceMin {
		return 0
	}
	return difference / 2
}

func (env *balanceEnv) allowsNUMAImbalance(local *groupStats) bool {
	return env.d.has(FlagNUMA) && int64(local.nr)+1 <= env.d.ImbNUMANr
}
