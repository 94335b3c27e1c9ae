package sched

// What v3.2 and v3.8 know of load: the weights that are queued right now, on
// the table's scale, and for groups the share of them that reaches the top
// (mechanisms.md 2, 3.1, 6.4).

// queueHWeight is the part of its CPU's weight that a queue stands for; once a
// jiffy, like its successor queueHLoad.
func (s *Scheduler) queueHWeight(cfs *cfsRQ) int64 {
	if cfs.hLoadJiffy == s.jiffies+1 {
		return cfs.hLoad
	}
	cfs.hLoadJiffy = s.jiffies + 1
	if cfs.se == nil {
		cfs.hLoad = scaleDown(cfs.load)
	} else {
		cfs.hLoad = s.queueHWeight(cfs.parent) * seWeight(cfs.se) / (scaleDown(cfs.parent.load) + 1)
	}
	return cfs.hLoad
}

// loadPerTask is a CPU's average weight of a task, 0 without tasks
// [cpu_avg_load_per_task].
func (s *Scheduler) loadPerTask(rq *runqueue) int64 {
	if rq.nr == 0 {
		return 0
	}
	return s.cpuLoad(rq) / int64(rq.nr)
}

// minWholeShares and wholeShares are bounds of a group entity's weight on the
// table's scale, which is the only one before v4.7.
const minWholeShares = 2

func wholeShares(g *TaskGroup) int64 { return g.shares >> weightShift }

// groupTotal is the load of a queue's whole group, with what is queued on this
// CPU taken as it is now and the rest as it was published.
func groupTotal(q *cfsRQ) int64 { return q.tg.loadAvg - q.tgContrib + scaleDown(q.load) }

// wholeGroupWeight is a group's weight on one CPU before v4.7.
func wholeGroupWeight(q *cfsRQ) int64 {
	shares := wholeShares(q.tg)
	w := shares * scaleDown(q.load)
	if total := groupTotal(q); total > 0 {
		w /= total
	}
	return min(shares, max(minWholeShares, w)) << weightShift
}

// effectiveLoad is by how much the weight of a CPU would change if a group's
// queue there got heavier by local, and the whole group by total
// [effective_load]. For a task of the root group that is the weight itself; in
// a group the shares that move between its CPUs count.
func effectiveLoad(g *TaskGroup, cpu int, local, total int64) int64 {
	for se := g.entities[cpu]; se != nil; se = se.parent {
		q := se.my
		shares := wholeShares(q.tg)
		queue, group := scaleDown(q.load)+local, groupTotal(q)+total
		w := shares
		if group > 0 && queue < group {
			w = queue * shares / group
		}
		local = max(minWholeShares, w) - seWeight(se)
		total = 0
	}
	return local
}
