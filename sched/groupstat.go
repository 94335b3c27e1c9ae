package sched

// groupType ranks how busy a sched group is. The order matters: load is moved
// from a higher type to a lower one (mechanisms.md 9.3).
type groupType uint8

const (
	groupHasSpare groupType = iota
	groupFullyBusy
	groupMisfit      // asymmetric capacities only: never chosen here
	groupSMTBalance  // several tasks share a core (v6.6)
	groupAsymPacking // like misfit
	groupImbalanced  // a lower level could not balance because of affinity
	groupLLCBalance  // holds tasks that prefer dst's cache (v7.2)
	groupOverloaded
	numGroupTypes
)

// String returns a short phrase for reports.
func (t groupType) String() string {
	return [numGroupTypes]string{"has spare", "fully busy", "misfit", "SMT balance", "asym packing", "imbalanced", "LLC balance", "overloaded"}[t]
}

// groupStats sums up the CPUs of one group for load balancing and for the slow
// path of placement (mechanisms.md 7.1, 9.3).
type groupStats struct {
	load       int64 // Σ CPU load
	util       int64 // Σ CPU utilization
	runnable   int64 // Σ runnable averages
	capacity   int64 // of the group record
	avgLoad    int64 // load per capacity, 1024 = load equals capacity; only where the rules ask for it
	weight     int32 // CPUs in the group
	nr         int32 // Σ runnable tasks, those of other classes included
	h          int32 // Σ H
	idleCPUs   int32
	kind       groupType
	sharesCore bool  // a remote core with several tasks, seen by an idle CPU (v6.6)
	smt        bool  // the group is one core with threads
	prefersDst int32 // tasks that prefer dst's cache
	wantsLLC   bool  // and it should take them (v7.2)
	cores      int32
}

// loadPerCapacity returns load scaled to the group's capacity.
func (g *groupStats) loadPerCapacity() int64 { return g.load * capacityFull / g.capacity }

// classify returns the type of a group from its sums; pct is the domain's
// imbalance_pct, imbalanced the group record's flag. The tests for misfit and
// asymmetric packing belong to machines of unequal capacities and are left out.
func (g *groupStats) classify(pct int64, imbalanced bool) groupType {
	switch {
	case g.overloaded(pct):
		return groupOverloaded
	case g.wantsLLC:
		return groupLLCBalance
	case imbalanced:
		return groupImbalanced
	case g.sharesCore:
		return groupSMTBalance
	case !g.hasCapacity(pct):
		return groupFullyBusy
	default:
		return groupHasSpare
	}
}

// overloaded reports whether the group has more tasks than CPUs and they want
// more than it can give. One task per CPU is never overload.
func (g *groupStats) overloaded(pct int64) bool {
	return g.nr > g.weight &&
		(g.capacity*100 < g.util*pct || g.runnableExceeds(pct))
}

// hasCapacity reports whether the group could run one more task.
func (g *groupStats) hasCapacity(pct int64) bool {
	return g.nr < g.weight ||
		(!g.runnableExceeds(pct) && g.capacity*100 > g.util*pct)
}

// runnableExceeds reports whether tasks wait for CPUs: the runnable average
// counts the waiting, utilization only the running.
func (g *groupStats) runnableExceeds(pct int64) bool { return g.capacity*pct < g.runnable*100 }

// numaImbalanceMin is the number of tasks that one node may have more than
// another: a pair that communicates stays together.
const numaImbalanceMin = 2
