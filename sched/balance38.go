package sched

import "math/bits"

// Balancing of v3.2 and v3.8 (mechanisms.md 9.10): loads are the weights queued
// now, smoothed over ticks, and a group is worth pulling from only when it has
// more tasks than it has room for, or holds them unevenly. Where that summary
// leaves something open it is from memory of v3.8 [M].

var balance38 = balanceRules{
	findBusiest: findBusiestGroup38, emptyQueues: true, loadHistory: true, elected: electedFirstIdle,
	interval: intervalRules{newidleGrows: true, successIsBusy: true},
	detach:   detachRules{tooMuch: halfTooMuch, loadFirst: true, fromFront: true, throttled: throttledBetween},
	active:   activeRules{needed: activeNeeded38, pinnedIsAllPinned: true, forcesTask: true, regulated: true, keepsFailures: true},
	newidle:  newidleRules{whole: idleBalance38, longIdleFills: true},
	nohz:     nohzRules{kick: nohzKick38, balance: nohzBalance38, onlyLowest: true},
}

// activeNeeded38 counts failures alone.
func activeNeeded38(_ *Scheduler, env *balanceEnv) bool { return env.failedTooOften() }

// groupStats38 is what these kernels know about a group; h and nr both count
// all runnable tasks.
type groupStats38 struct {
	groupStats
	weighted int64 // Σ weights queued now
	perTask  int64 // average weight of a task
	slots    int64 // tasks that it has room for [group_capacity]
	hasRoom  bool
	uneven   bool // its CPUs differ by more than a task [group_imb]
}

type domainStats38 struct {
	local, busiest groupStats38
	candidate      groupStats38
	busiestGroup   *CPUGroup
	load, capacity int64
	avgLoad        int64
}

func findBusiestGroup38(s *Scheduler, env *balanceEnv) *CPUGroup {
	ds := &env.stats38
	s.collectDomain38(env, ds)
	if ds.busiestGroup == nil || ds.busiest.nr == 0 || !ds.unbalanced(env) {
		return nil
	}
	env.move = moveLoad
	env.imbalance = ds.imbalance(s, env)
	return ds.busiestGroup // also for an imbalance of 0, as in v4.14
}

func (s *Scheduler) collectDomain38(env *balanceEnv, ds *domainStats38) {
	*ds = domainStats38{}
	preferSibling := env.d.Child != nil && env.d.Child.has(FlagPreferSibling)
	for g := env.d.Groups; ; {
		gs := &ds.candidate
		local := g.Span.Has(int(env.dst.cpu))
		if local {
			s.refreshGroupCapacity(env)
			gs = &ds.local
		}
		s.collectGroup38(env, g, gs, local)
		if !local {
			if preferSibling && ds.local.hasRoom {
				gs.slots = min(gs.slots, 1) // its tasks could spread over here
			}
			if gs.avgLoad > ds.busiest.avgLoad && (int64(gs.nr) > gs.slots || gs.uneven) {
				ds.busiest, ds.busiestGroup = *gs, g
			}
		}
		ds.load += gs.load
		ds.capacity += gs.capacity
		if g = g.Next; g == env.d.Groups {
			break
		}
	}
	ds.avgLoad = ds.load * capacityFull / ds.capacity
}

// collectGroup38 sums up a group. The local group's load is taken at its
// higher, another's at its lower estimate, so that tasks stay when in doubt.
func (s *Scheduler) collectGroup38(env *balanceEnv, g *CPUGroup, gs *groupStats38, local bool) {
	*gs = groupStats38{groupStats: groupStats{weight: int32(g.Weight), capacity: g.Cap.Capacity}}
	idx := env.loadIndex()
	var loads, tasks extremes
	for w := range g.Span {
		word := g.Span[w] & env.candidates[w]
		s.work.GroupCPUs += int64(bits.OnesCount64(word))
		gs.idleCPUs += int32(bits.OnesCount64(word & s.idle[w]))
		for ; word != 0; word &= word - 1 {
			rq := &s.rqs[firstBit(w, word)]
			now := s.cpuLoad(rq)
			load := s.biasedLoad(rq, now, idx, local)
			gs.load += load
			gs.weighted += now
			gs.nr += rq.nr
			if !local {
				loads.add(load)
				tasks.add(int64(rq.nr))
			}
		}
	}
	gs.judge(env.d, loads, tasks)
}

// biasedLoad is a CPU's load as a pass compares it.
func (s *Scheduler) biasedLoad(rq *runqueue, now int64, idx int32, larger bool) int64 {
	if !s.features.Has(LBBias) {
		return now
	}
	return rq.loadHistory.biased(now, idx, larger)
}

// judge derives what the sums of a group mean.
func (gs *groupStats38) judge(d *Domain, loads, tasks extremes) {
	gs.h = gs.nr
	gs.avgLoad = gs.loadPerCapacity()
	if gs.nr > 0 {
		gs.perTask = gs.weighted / int64(gs.nr)
	}
	gs.uneven = loads.spread() >= gs.perTask && tasks.spread() > 1
	gs.slots = (gs.capacity + capacityFull/2) / capacityFull
	if gs.slots == 0 && d.has(FlagShareCPUCapacity) {
		gs.slots = 1 // a thread that nobody else takes anything from
	}
	gs.hasRoom = gs.slots > int64(gs.nr)
}

// extremes are the smallest and the largest of some numbers.
type extremes struct {
	min, max int64
	any      bool
}

func (e *extremes) add(v int64) {
	if !e.any {
		*e = extremes{v, v, true}
		return
	}
	e.min, e.max = min(e.min, v), max(e.max, v)
}

func (e *extremes) spread() int64 { return e.max - e.min }

func (ds *domainStats38) unbalanced(env *balanceEnv) bool {
	local, busiest := &ds.local, &ds.busiest
	switch {
	case busiest.uneven:
		return true
	case env.idle == NewlyIdle && local.hasRoom && !busiest.hasRoom:
		return true
	case local.avgLoad >= busiest.avgLoad || local.avgLoad >= ds.avgLoad:
		return false
	case env.idle == Idle:
		return local.idleCPUs > busiest.idleCPUs+1 || busiest.nr > busiest.weight
	default:
		return 100*busiest.avgLoad > env.d.ImbalancePct*local.avgLoad
	}
}

// imbalance is the load to move. Differences are unsigned in the kernel: a
// negative one is a huge one, and the other side decides.
func (ds *domainStats38) imbalance(s *Scheduler, env *balanceEnv) int64 {
	local, busiest := &ds.local, &ds.busiest
	if busiest.uneven {
		busiest.perTask = min(busiest.perTask, ds.avgLoad)
	}
	if busiest.avgLoad < ds.avgLoad {
		return ds.smallImbalance(s, env, 0)
	}
	give := uint64(busiest.avgLoad - ds.avgLoad)
	if !busiest.uneven {
		excess := (int64(busiest.nr) - busiest.slots) * nice0Weight * capacityFull / busiest.capacity
		give = min(give, uint64(excess))
	}
	take := uint64(ds.avgLoad-local.avgLoad) * uint64(local.capacity)
	amount := int64(min(give*uint64(busiest.capacity), take) / capacityFull)
	if amount < busiest.perTask {
		return ds.smallImbalance(s, env, amount)
	}
	return amount
}

// smallImbalance decides about an imbalance below one average task: move one
// if the groups still differ enough, or if more would get done
// [fix_small_imbalance].
func (ds *domainStats38) smallImbalance(s *Scheduler, env *balanceEnv, amount int64) int64 {
	local, busiest := &ds.local, &ds.busiest
	margin := int64(2)
	if local.nr == 0 {
		local.perTask = s.loadPerTask(env.dst)
	} else if busiest.perTask > local.perTask {
		margin = 1
	}
	task := busiest.perTask * capacityFull / busiest.capacity
	if uint64(busiest.avgLoad-local.avgLoad+task) >= uint64(task*margin) || ds.moveGains(task) {
		return busiest.perTask
	}
	return amount
}

// moveGains compares the throughput before and after moving one average task.
func (ds *domainStats38) moveGains(task int64) bool {
	v := domainStats414{
		local:   groupStats414{groupStats: ds.local.groupStats, perTask: ds.local.perTask},
		busiest: groupStats414{groupStats: ds.busiest.groupStats, perTask: ds.busiest.perTask},
	}
	return v.moveGains(task)
}
