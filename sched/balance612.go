package sched

// Load balancing of v6.12 and v7.2 where it differs from v6.1
// (mechanisms-modern.md 4). Both know a core with several tasks as a type of
// group, compare cores and not CPUs when tasks should spread, and do not let
// the idle half of a busy core balance before an idle core. v7.2's preferred
// caches are in llcbalance.go.

var balance612 = func() balanceRules {
	r := balance61
	r.siblingDifference = coreDifference
	r.busierAmongEquals = busier66
	r.elected = electedIdleCore
	r.balancesCores = true
	return r
}()

var balance72 = func() balanceRules {
	r := balance612
	r.skipsDelayed = true
	r.interval.locksInPass = true
	r.detach.throttled = throttledAtDestination
	r.detach.delayedOnlyForLoad = true
	r.detach.keepsIneligible = true
	r.newidle.rollsDice = func(d *Domain) bool { return d.newidle.ratio < diceSides }
	r.active.needed = activeNeeded72
	return r
}()

// sharesCore reports whether a remote group is a core with several tasks, one
// of which an idle CPU could run.
func (env *balanceEnv) sharesCore(remote *groupStats) bool {
	return remote.smt && env.idle != NotIdle && remote.h > 1
}

// electedIdleCore: the first CPU of an idle core, or else the first idle CPU,
// or else the group's first. (The groups inside a core are single CPUs.)
func electedIdleCore(s *Scheduler, env *balanceEnv) bool {
	dst := int(env.dst.cpu)
	balancers := env.d.Groups.Cap.BalanceMask
	firstIdle := noCPU
	for w := range balancers {
		for word := balancers[w] & env.candidates[w] & s.idle[w]; word != 0; word &= word - 1 {
			cpu := firstBit(w, word)
			if s.siblingsIdle(cpu) {
				return cpu == dst
			}
			if firstIdle == noCPU {
				firstIdle = cpu
			}
		}
	}
	if firstIdle != noCPU {
		return firstIdle == dst
	}
	return balancers.First() == dst
}

// siblingsIdle reports whether the other threads of cpu's core idle.
func (s *Scheduler) siblingsIdle(cpu int) bool {
	for _, sibling := range s.scratch.siblings[cpu] {
		if int(sibling) != cpu && !s.idle.Has(int(sibling)) {
			return false
		}
	}
	return true
}

// coreDifference relates the tasks of two groups to their cores: it rounds to
// the nearest number that would have to move for equal shares, times two. Only
// an idle CPU pulls for the sake of spreading.
func coreDifference(env *balanceEnv, local, busiest *groupStats) int64 {
	if env.idle == NotIdle || busiest.nr == 0 {
		return 0
	}
	cl, cb, nl, nb := int64(local.cores), int64(busiest.cores), int64(local.nr), int64(busiest.nr)
	if cl == cb {
		return max(0, nb-nl)
	}
	difference := (2*max(0, cl*nb-cb*nl) + cl + cb) / (cl + cb)
	if difference <= 1 && nl == 0 && nb > 1 {
		return 2 // idle cores beside one that is shared
	}
	return difference
}

// busier66 compares two groups of one type; first says that there is no best
// one yet.
func busier66(c, b *groupStats, first bool) bool {
	switch c.kind {
	case groupOverloaded:
		return c.avgLoad > b.avgLoad
	case groupSMTBalance:
		if c.idleCPUs != 0 || b.idleCPUs != 0 {
			return c.lessRoomThan(b)
		}
		return busierWhenFull(c, b)
	case groupLLCBalance:
		return c.prefersDst > b.prefersDst
	case groupFullyBusy:
		return busierWhenFull(c, b)
	case groupHasSpare:
		if !first && c.smt != b.smt {
			return !c.smt || c.h > 1 // the only task of a core has it to itself
		}
		return c.lessRoomThan(b)
	default:
		return false // of several imbalanced groups the first
	}
}

// busierWhenFull: nobody has computed the load of such groups, so it is equal;
// a core with threads is kept, because its tasks gain most by leaving.
func busierWhenFull(c, b *groupStats) bool {
	if c.avgLoad != b.avgLoad {
		return c.avgLoad > b.avgLoad
	}
	return !b.smt
}
