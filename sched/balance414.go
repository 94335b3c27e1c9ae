package sched

import "math/bits"

// v4.14's own way to find the busiest group and the imbalance: everything is
// load, compared by averages that lag behind (mechanisms.md 9.10). What that
// summary leaves open is reconstructed from what is known of v4.14 and marked
// [M].

var balance414 = balanceRules{
	findBusiest: findBusiestGroup414, emptyQueues: true, loadHistory: true, elected: electedFirstIdle,
	interval: intervalRules{newidleGrows: true, stickyDecay: true},                                             // [M]
	detach:   detachRules{tooMuch: halfTooMuch, fromFront: true, throttled: throttledBetween},                  // [V 9.6]
	active:   activeRules{needed: activeNeeded510, pinnedIsAllPinned: true, forcesTask: true, regulated: true}, // [M]
	newidle:  newidleRules{tooShort: shorterThanMigration},
	nohz:     nohzRules{kick: nohzKick414, balance: nohzBalance414, followsIdle: true, onlyLowest: true}, // [M]
}

// halfTooMuch is v4.14's task filter.
func halfTooMuch(load, imbalance int64, _ int32) bool { return load/2 > imbalance }

// groupStats414 is what v4.14 knows about a group. h and nr both count the
// tasks of the fair class.
type groupStats414 struct {
	groupStats
	perTask int64 // average load of a task
	full    bool  // more tasks than CPUs, and they use them up
}

type domainStats414 struct {
	local, busiest groupStats414
	candidate      groupStats414
	busiestGroup   *CPUGroup
	tasks          int32
	load, capacity int64
	avgLoad        int64
}

func findBusiestGroup414(s *Scheduler, env *balanceEnv) *CPUGroup {
	ds := &env.stats414
	s.collectDomain414(env, ds)
	if ds.busiestGroup == nil || ds.busiest.h == 0 || !ds.unbalanced(env) {
		return nil
	}
	env.move = moveLoad
	env.imbalance = ds.imbalance(s, env)
	// A zero imbalance goes on: the source is then taken for pinned and the
	// search repeated without it [M].
	return ds.busiestGroup
}

func (s *Scheduler) collectDomain414(env *balanceEnv, ds *domainStats414) {
	*ds = domainStats414{}
	preferSibling := env.d.Child != nil && env.d.Child.has(FlagPreferSibling)
	overload := false
	for g := env.d.Groups; ; {
		gs := &ds.candidate
		local := g.Span.Has(int(env.dst.cpu))
		if local {
			s.refreshGroupCapacity(env)
			gs = &ds.local
		}
		overload = s.collectGroup414(env, g, gs, local) || overload
		if !local {
			if preferSibling && ds.local.hasCapacity(env.d.ImbalancePct) && gs.h > ds.local.h+1 {
				gs.full, gs.kind = true, groupOverloaded
			}
			if gs.kind > ds.busiest.kind || (gs.kind == ds.busiest.kind && gs.avgLoad > ds.busiest.avgLoad) {
				ds.busiest, ds.busiestGroup = *gs, g
			}
		}
		ds.tasks += gs.h
		ds.load += gs.load
		ds.capacity += gs.capacity
		if g = g.Next; g == env.d.Groups {
			break
		}
	}
	if env.d.Parent == nil {
		s.overload = overload
	}
	ds.avgLoad = ds.load * capacityFull / ds.capacity
	s.noteCacheSums(env, ds.tasks, ds.load, ds.capacity)
}

// collectGroup414 sums up a group. The local group's load is taken at its
// higher, another's at its lower estimate, so that tasks stay when in doubt.
func (s *Scheduler) collectGroup414(env *balanceEnv, g *CPUGroup, gs *groupStats414, local bool) (overload bool) {
	*gs = groupStats414{groupStats: groupStats{weight: int32(g.Weight), capacity: g.Cap.Capacity}}
	idx := env.loadIndex()
	var weighted int64
	for w := range g.Span {
		word := g.Span[w] & env.candidates[w]
		s.work.GroupCPUs += int64(bits.OnesCount64(word))
		gs.idleCPUs += int32(bits.OnesCount64(word & s.idle[w]))
		for ; word != 0; word &= word - 1 {
			rq := &s.rqs[firstBit(w, word)]
			load := s.cpuLoad(rq)
			weighted += load
			gs.load += rq.loadHistory.biased(load, idx, local)
			gs.util += s.cpuUtil(rq)
			gs.h += rq.cfs.h
			if rq.nr > 1 {
				overload = true
			}
		}
	}
	gs.judge(env.d.ImbalancePct, g.Cap.Imbalance, weighted)
	return overload
}

// judge classifies a group from its sums; weighted is the plain sum of its
// CPUs' loads.
func (gs *groupStats414) judge(pct int64, imbalanced bool, weighted int64) {
	gs.nr = gs.h
	gs.avgLoad = gs.loadPerCapacity()
	if gs.h > 0 {
		gs.perTask = weighted / int64(gs.h)
	}
	gs.full = gs.overloaded(pct)
	switch {
	case gs.full:
		gs.kind = groupOverloaded
	case imbalanced:
		gs.kind = groupImbalanced
	}
}

// loadIndex says how smoothed the loads are that a pass compares; newidle
// passes take them as they are.
func (env *balanceEnv) loadIndex() int32 {
	switch env.idle {
	case NotIdle:
		return env.d.BusyIdx
	case Idle:
		return env.d.IdleIdx
	default:
		return 0
	}
}

func (ds *domainStats414) unbalanced(env *balanceEnv) bool {
	local, busiest, pct := &ds.local, &ds.busiest, env.d.ImbalancePct
	switch {
	case busiest.kind == groupImbalanced:
		return true
	case env.idle == NewlyIdle && busiest.full && local.hasCapacity(pct):
		return true
	case local.avgLoad >= busiest.avgLoad || local.avgLoad >= ds.avgLoad:
		return false
	case env.idle == Idle:
		return busiest.kind == groupOverloaded || local.idleCPUs > busiest.idleCPUs+1
	default:
		return 100*busiest.avgLoad > pct*local.avgLoad
	}
}

// imbalance is the load to move.
func (ds *domainStats414) imbalance(s *Scheduler, env *balanceEnv) int64 {
	local, busiest := &ds.local, &ds.busiest
	if busiest.kind == groupImbalanced {
		busiest.perTask = min(busiest.perTask, ds.avgLoad) // [M]
	}
	if busiest.avgLoad <= ds.avgLoad || local.avgLoad >= ds.avgLoad {
		return ds.smallImbalance(s, env, 0)
	}
	give := busiest.avgLoad - ds.avgLoad
	if excess, bounded := ds.excess(); bounded {
		give = min(give, excess)
	}
	amount := min(give*busiest.capacity, (ds.avgLoad-local.avgLoad)*local.capacity) / capacityFull
	if amount < busiest.perTask {
		return ds.smallImbalance(s, env, amount)
	}
	return amount
}

// excess is what the busiest group has beyond one nice-0 task a CPU, counted
// when both groups are overloaded [M].
func (ds *domainStats414) excess() (load int64, bounded bool) {
	busiest := &ds.busiest
	wanted := int64(busiest.h) * capacityFull
	if busiest.kind != groupOverloaded || ds.local.kind != groupOverloaded || wanted <= busiest.capacity {
		return 0, false
	}
	return (wanted - busiest.capacity) * nice0Weight / busiest.capacity, true
}

// smallImbalance decides about an imbalance below one average task: move one
// if the groups still differ enough, or if more would get done; otherwise
// leave the amount as it is, which mostly moves nothing.
func (ds *domainStats414) smallImbalance(s *Scheduler, env *balanceEnv, amount int64) int64 {
	local, busiest := &ds.local, &ds.busiest
	margin := int64(2)
	if local.h == 0 {
		local.perTask = 0
		if h := int64(env.dst.cfs.h); h > 0 {
			local.perTask = s.cpuLoad(env.dst) / h
		}
	} else if busiest.perTask > local.perTask {
		margin = 1
	}
	task := busiest.perTask * capacityFull / busiest.capacity
	if busiest.avgLoad+task >= local.avgLoad+task*margin || ds.moveGains(task) {
		return busiest.perTask
	}
	return amount
}

// moveGains compares the throughput, Σ capacity · min(task, load), before and
// after moving one average task.
func (ds *domainStats414) moveGains(task int64) bool {
	local, busiest := &ds.local, &ds.busiest
	now := busiest.capacity*min(busiest.perTask, busiest.avgLoad) + local.capacity*min(local.perTask, local.avgLoad)
	var after int64
	if busiest.avgLoad > task {
		after = busiest.capacity * min(busiest.perTask, busiest.avgLoad-task)
	}
	arriving := busiest.perTask * capacityFull / local.capacity
	if busiest.avgLoad*busiest.capacity < busiest.perTask*capacityFull {
		arriving = busiest.avgLoad * busiest.capacity / local.capacity
	}
	after += local.capacity * min(local.perTask, local.avgLoad+arriving)
	return after/capacityFull > now/capacityFull
}

// loadHistory remembers a CPU's load over ticks: load[i] moves 1/2^i of the
// way to the current load at each tick [cpu_load]. Only the three that domains
// use are kept.
type loadHistory struct {
	load [3]int64
	at   int64 // jiffies
}

// loadForgotten is after how many tickless jiffies load[i] counts as zero.
var loadForgotten = [3]int64{0, 8, 32}

// biased returns the larger or smaller of the load now and the remembered one.
func (h *loadHistory) biased(now int64, idx int32, larger bool) int64 {
	switch {
	case idx == 0:
		return now
	case larger:
		return max(now, h.load[idx-1])
	default:
		return min(now, h.load[idx-1])
	}
}

// record notes the load at a tick; jiffies without a tick count as idle.
func (h *loadHistory) record(jiffy, load int64) {
	missed := max(0, jiffy-h.at-1)
	h.at = jiffy
	h.load[0] = load
	for i := 1; i < len(h.load); i++ {
		share := int64(1)<<i - 1
		old := h.load[i]
		if missed >= loadForgotten[i] {
			old = 0
		}
		for n := missed; n > 0 && old > 0; n-- {
			old = old * share >> i
		}
		rounded := load
		if load > old {
			rounded += share
		}
		h.load[i] = (old*share + rounded) >> i
	}
}

func (s *Scheduler) recordLoad(rq *runqueue) { rq.loadHistory.record(s.jiffies, s.cpuLoad(rq)) }

// recordIdleLoad catches up for a CPU whose tick is stopped.
func (s *Scheduler) recordIdleLoad(rq *runqueue) {
	if s.jiffies > rq.loadHistory.at && s.cpuLoad(rq) == 0 {
		s.recordLoad(rq)
	}
}

// nohzKick414 asks for a balance when there is a reason, at most once a jiffy
// in the long run.
func nohzKick414(s *Scheduler, rq *runqueue) uint8 {
	if s.nohz.count == 0 || s.jiffies < s.nohz.nextBalance || !s.wantsHelp(rq) {
		return 0
	}
	s.nohz.nextBalance++
	return kickBalance
}

// nohzBalance414 balances the other tickless CPUs in increasing order, then
// always the CPU itself.
func nohzBalance414(s *Scheduler, rq *runqueue, _ uint8) {
	next, bounded := s.jiffies+60*s.hz, false
	for c := s.nohz.idle.First(); c >= 0 && !rq.needResched; c = s.nohz.idle.Next(c + 1) {
		other := &s.rqs[c]
		if other == rq || !other.idleCPU() {
			continue
		}
		if s.jiffies >= other.nextBalance {
			s.recordIdleLoad(other)
			s.decayBlocked(other)
			s.rebalance(other, Idle)
		}
		if other.nextBalance < next {
			next, bounded = other.nextBalance, true
		}
	}
	if bounded {
		s.nohz.nextBalance = next
	}
	s.decayBlocked(rq)
	s.rebalance(rq, Idle)
}
