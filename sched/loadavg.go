package sched

// How the averages of entities and queues are kept together: attach, detach,
// removal by a wakeup elsewhere, and propagation through groups
// (mechanisms.md 2, "Queue averages vs. entity averages").

type loadUpdate uint8

const (
	updateGroupLoad loadUpdate = 1 << iota // publish the queue's load to its group
	attachDetached                         // attach an entity that arrives from another queue
	detachLeaving                          // detach an entity that moves to another CPU
	skipAging                              // leave the entity's own averages alone
)

// seWeight is the entity's weight on the table scale.
func seWeight(se *Entity) int64 { return scaleDown(se.weight) }

// weightedSums: the load sum of an entity counts weight times time, so that a
// new weight shows only as the average follows. Kernels from v4.15 on count
// time alone and apply the weight afterwards (mechanisms.md 2, "v4.14
// differences").
func (s *Scheduler) weightedSums() bool { return s.profile.RunnableLoad }

// sumWeight is what one unit of an entity's load sum counts in its queue's.
func (s *Scheduler) sumWeight(se *Entity) int64 {
	if s.weightedSums() {
		return 1
	}
	return seWeight(se)
}

// runnableOf is an entity's contribution to runnable: its tasks.
func runnableOf(se *Entity) int64 {
	if se.my != nil {
		return se.runnableWeight
	}
	if se.onRQ && !se.task.delayed {
		return 1
	}
	return 0
}

// snapshotRunnable takes Hr of a group's queue at an enqueue or dequeue point.
func snapshotRunnable(se *Entity) {
	if se.my != nil {
		se.runnableWeight = int64(se.my.runnable())
	}
}

// peltClock is the time base of a queue's averages. It stands still while the
// queue is throttled (mechanisms.md 2); where tasks are throttled one by one,
// while it is throttled and empty (mechanisms-modern.md 3.2).
func (s *Scheduler) peltClock(cfs *cfsRQ) int64 {
	if cfs.frozen {
		return cfs.frozenAt - cfs.frozenTime
	}
	return cfs.rq.clock(s.now) - cfs.frozenTime
}

// clock is a CPU's own clock, which never runs back, whatever time its last
// reader had [update_rq_clock].
func (rq *runqueue) clock(now int64) int64 {
	rq.clockRead = max(rq.clockRead, now)
	return rq.clockRead
}

func (s *Scheduler) updateEntityAvg(cfs *cfsRQ, se *Entity, now int64) {
	var load int64
	factor := seWeight(se)
	if se.onRQ {
		load = 1
	}
	if s.weightedSums() {
		load, factor = load*factor, 1
	}
	if se.avg.accumulate(now, load, runnableOf(se), cfs.curr == se) {
		se.avg.refresh(factor)
		se.utilSampled = false
	}
}

// updateLoadAvg brings an entity and its queue up to now.
func (s *Scheduler) updateLoadAvg(cfs *cfsRQ, se *Entity, how loadUpdate) {
	now := s.peltClock(cfs)
	if se.avg.last != neverUpdated && how&skipAging == 0 {
		s.updateEntityAvg(cfs, se, now)
	}
	changed := s.updateQueueAvg(cfs, now)
	if s.profile.WindowShares {
		s.foldWindow(cfs, false)
	}
	if s.propagateGroup(cfs, se) {
		changed = true
	}
	switch {
	case se.avg.last == neverUpdated && how&attachDetached != 0:
		s.attachEntity(cfs, se)
		s.publishLoad(cfs)
	case how&detachLeaving != 0:
		s.detachEntity(cfs, se)
		s.publishLoad(cfs)
	case changed && how&updateGroupLoad != 0:
		s.publishLoad(cfs)
	}
}

// updateQueueAvg subtracts what was removed meanwhile and brings the queue's
// own averages up to now.
func (s *Scheduler) updateQueueAvg(cfs *cfsRQ, now int64) bool {
	changed := false
	a := &cfs.avg
	if cfs.removed.n > 0 {
		r := cfs.removed
		cfs.removed = removedLoad{}
		d := a.divider()
		a.loadAvg = subtract(a.loadAvg, r.load)
		a.loadSum = max(subtract(a.loadSum, r.load*d), a.loadAvg*peltMinDivider)
		a.utilAvg = subtract(a.utilAvg, r.util)
		a.utilSum = max(subtract(a.utilSum, r.util*d), a.utilAvg*peltMinDivider)
		a.runnableAvg = subtract(a.runnableAvg, r.runnable)
		a.runnableSum = max(subtract(a.runnableSum, r.runnable*d), a.runnableAvg*peltMinDivider)
		cfs.markPropagate(-(r.runnable * d) >> 10)
		changed = true
	}
	if s.profile.RunnableLoad {
		s.updateRunnableLoad(cfs, now)
	}
	if a.accumulate(now, scaleDown(cfs.load), int64(cfs.runnable()), cfs.curr != nil) {
		a.refresh(1)
		changed = true
	}
	return changed
}

// updateRunnableLoad ages runnable_load_avg, which shares the clock of the
// queue's other averages but loses an entity when it sleeps (v4.14).
func (s *Scheduler) updateRunnableLoad(cfs *cfsRQ, now int64) {
	shadow := Avg{last: cfs.avg.last, contrib: cfs.avg.contrib, loadSum: cfs.runnableLoadSum}
	if shadow.accumulate(now, scaleDown(cfs.load), 0, false) {
		cfs.runnableLoadAvg = shadow.loadSum / shadow.divider()
	}
	cfs.runnableLoadSum = shadow.loadSum
}

func (cfs *cfsRQ) markPropagate(runnableSum int64) {
	cfs.propagate = true
	cfs.propSum += runnableSum
}

// addLoad and subLoad move an entity's load in and out of its queue's average.
func (s *Scheduler) addLoad(cfs *cfsRQ, se *Entity) {
	cfs.avg.loadAvg += se.avg.loadAvg
	cfs.avg.loadSum += s.sumWeight(se) * se.avg.loadSum
}

func (s *Scheduler) subLoad(cfs *cfsRQ, se *Entity) {
	cfs.avg.loadAvg = subtract(cfs.avg.loadAvg, se.avg.loadAvg)
	cfs.avg.loadSum = max(subtract(cfs.avg.loadSum, s.sumWeight(se)*se.avg.loadSum), cfs.avg.loadAvg*peltMinDivider)
}

// addRunnableLoad and subRunnableLoad do the same to runnable_load_avg, which
// holds only what is queued.
func (s *Scheduler) addRunnableLoad(cfs *cfsRQ, se *Entity) {
	cfs.runnableLoadAvg += se.avg.loadAvg
	cfs.runnableLoadSum += s.sumWeight(se) * se.avg.loadSum
}

func (s *Scheduler) subRunnableLoad(cfs *cfsRQ, se *Entity) {
	cfs.runnableLoadAvg = subtract(cfs.runnableLoadAvg, se.avg.loadAvg)
	cfs.runnableLoadSum = subtract(cfs.runnableLoadSum, s.sumWeight(se)*se.avg.loadSum)
}

// attachEntity adds an entity's averages to its queue. The sums are rebuilt
// from the averages because the queue's period started at another moment.
func (s *Scheduler) attachEntity(cfs *cfsRQ, se *Entity) {
	a, q := &se.avg, &cfs.avg
	d := q.divider()
	a.last, a.contrib = q.last, q.contrib
	a.utilSum = a.utilAvg * d
	a.runnableSum = a.runnableAvg * d
	a.loadSum = max(1, a.loadAvg*d/s.sumWeight(se))
	s.addLoad(cfs, se)
	q.utilAvg += a.utilAvg
	q.utilSum += a.utilSum
	q.runnableAvg += a.runnableAvg
	q.runnableSum += a.runnableSum
	cfs.markPropagate(a.loadSum)
}

// detachEntity takes an entity's averages out of its queue.
func (s *Scheduler) detachEntity(cfs *cfsRQ, se *Entity) {
	a, q := &se.avg, &cfs.avg
	s.subLoad(cfs, se)
	q.utilAvg = subtract(q.utilAvg, a.utilAvg)
	q.utilSum = max(subtract(q.utilSum, a.utilSum), q.utilAvg*peltMinDivider)
	q.runnableAvg = subtract(q.runnableAvg, a.runnableAvg)
	q.runnableSum = max(subtract(q.runnableSum, a.runnableSum), q.runnableAvg*peltMinDivider)
	cfs.markPropagate(-a.loadSum)
}

// syncEntityLoad decays a sleeping task's averages to the time of its queue's
// last update, so that the two can be subtracted.
func (s *Scheduler) syncEntityLoad(se *Entity) {
	if se.avg.last == neverUpdated {
		return
	}
	if se.avg.accumulate(se.cfs.avg.last, 0, 0, false) {
		se.avg.refresh(s.sumWeight(se))
	}
}

// removeEntityLoad notes that a task is being woken on another CPU; the queue
// forgets it at its next update (its lock is not held now).
func (s *Scheduler) removeEntityLoad(se *Entity) {
	if se.avg.last == neverUpdated {
		return
	}
	s.syncEntityLoad(se)
	r := &se.cfs.removed
	r.n++
	r.load += se.avg.loadAvg
	r.util += se.avg.utilAvg
	r.runnable += se.avg.runnableAvg
}

// decayIdleLag brings a task that leaves an idle CPU up to now. Nobody has
// updated that CPU's queue since the CPU fell idle, so the task, aligned to it,
// would come to its new CPU with the load that it had when it went to sleep. A
// busy CPU is taken to be up to date; a queue behind a throttled one stands still
// [migrate_se_pelt_lag, V v6.1].
func (s *Scheduler) decayIdleLag(se *Entity) {
	cfs := se.cfs
	if !s.profile.DecaysIdleLag || se.avg.last == neverUpdated || cfs.rq.curr != nil || cfs.frozen {
		return
	}
	if se.avg.accumulate(max(s.peltClock(cfs), se.avg.last), 0, 0, false) {
		se.avg.refresh(s.sumWeight(se))
	}
}

// detachForMove takes a queued task's averages off its CPU for a move by the
// balancer, up through its groups.
func (s *Scheduler) detachForMove(se *Entity) {
	cfs := se.cfs
	how := loadUpdate(0)
	if !s.features.Has(AttachAgeLoad) {
		how = skipAging
	}
	s.updateLoadAvg(cfs, se, how)
	s.detachEntity(cfs, se)
	s.publishLoad(cfs)
	s.propagateUp(se)
}

// attachAfterMove adds a task's averages to the queue of the group that it has
// just entered, up through the groups above.
func (s *Scheduler) attachAfterMove(se *Entity) {
	cfs := se.cfs
	s.updateLoadAvg(cfs, se, skipAging)
	s.attachEntity(cfs, se)
	s.publishLoad(cfs)
	s.propagateUp(se)
}

// propagateUp carries a change of a group queue to all queues above. All of
// them now hold load that has to decay.
func (s *Scheduler) propagateUp(se *Entity) {
	for p := se.parent; p != nil; p = p.parent {
		if !p.my.onLeafList {
			p.my.rq.addLeaf(p.my)
		}
		s.updateLoadAvg(p.cfs, p, updateGroupLoad)
	}
}

// initNewTask gives a forked task its first utilization: half of what the CPU
// has left, limited by the queue's average density (mechanisms.md 2).
func (s *Scheduler) initNewTask(t *Task) {
	se, cfs := &t.se, t.se.cfs
	limit := (cfs.rq.capacityOrig - cfs.avg.utilAvg) / 2
	a := &se.avg
	if limit > 0 {
		if cfs.avg.utilAvg != 0 {
			weight := se.weight
			if s.profile.PlainForkUtil {
				weight = seWeight(se)
			}
			a.utilAvg = min(limit, cfs.avg.utilAvg*weight/(cfs.avg.loadAvg+1))
		} else {
			a.utilAvg = limit
		}
	}
	a.runnableAvg = a.utilAvg
	s.attachAfterMove(se)
}

// updateBlockedAverages decays what sleeping tasks left on a CPU.
func (s *Scheduler) updateBlockedAverages(rq *runqueue) {
	rq.lastBlockedUpdate = s.jiffies
	rq.blockedAt = s.now
	kept := rq.leaf[:0]
	for _, cfs := range rq.leaf {
		if cfs.frozen { // the kernel has taken it off the list
			kept = append(kept, cfs)
			continue
		}
		s.work.BlockedUpdates++
		if s.updateQueueAvg(cfs, s.peltClock(cfs)) {
			s.publishLoad(cfs)
		}
		if cfs.se == nil {
			kept = append(kept, cfs)
			continue
		}
		if s.profile.WindowShares {
			s.updateWindowShares(cfs)
		}
		if a := &cfs.se.avg; cfs.propagate || a.loadAvg != 0 || a.utilAvg != 0 {
			s.updateLoadAvg(cfs.parent, cfs.se, updateGroupLoad)
		}
		if cfs.decayed() {
			cfs.onLeafList = false
			continue
		}
		cfs.parent.childKeptAt = s.now
		kept = append(kept, cfs)
	}
	clear(rq.leaf[len(kept):])
	rq.leaf = kept
}

// decayed reports whether a group's queue holds nothing worth decaying, and
// none of its children, which are looked at first, does.
func (cfs *cfsRQ) decayed() bool {
	a := &cfs.avg
	return cfs.load == 0 && a.loadSum == 0 && a.utilSum == 0 && a.runnableSum == 0 &&
		cfs.childKeptAt != cfs.rq.blockedAt
}

// hasBlockedLoad reports whether any average of the CPU is still above zero.
func (rq *runqueue) hasBlockedLoad() bool {
	a := &rq.cfs.avg
	return a.loadAvg != 0 || a.utilAvg != 0
}

// addLeaf puts a queue on the CPU's list of queues with load, deepest first.
func (rq *runqueue) addLeaf(cfs *cfsRQ) {
	cfs.onLeafList = true
	depth := int32(0)
	if cfs.se != nil {
		depth = cfs.se.depth + 1
	}
	i := 0
	for ; i < len(rq.leaf); i++ {
		other := rq.leaf[i]
		if other.se == nil || other.se.depth+1 < depth {
			break
		}
	}
	rq.leaf = append(rq.leaf, nil)
	copy(rq.leaf[i+1:], rq.leaf[i:])
	rq.leaf[i] = cfs
}

// cpuLoad is a CPU's load for placement and balancing: load_avg with blocked
// tasks, runnable_load_avg before v5.5, the weights queued now before v3.11.
func (s *Scheduler) cpuLoad(rq *runqueue) int64 {
	switch {
	case s.profile.WeightLoad:
		return scaleDown(rq.cfs.load)
	case s.profile.RunnableLoad:
		return rq.cfs.runnableLoadAvg
	}
	return rq.cfs.avg.loadAvg
}

func (s *Scheduler) cpuRunnable(rq *runqueue) int64 { return rq.cfs.avg.runnableAvg }

// cpuUtil is a CPU's utilization, limited to its original capacity. With
// UTIL_EST the estimate of the tasks queued now counts when it is larger.
func (s *Scheduler) cpuUtil(rq *runqueue) int64 {
	util := rq.cfs.avg.utilAvg
	if s.features.Has(UtilEst) {
		util = max(util, rq.utilEst)
	}
	return min(util, rq.capacityOrig)
}

// sumsInto reports whether the task's averages are part of the CPU's.
func sumsInto(rq *runqueue, t *Task) bool {
	return t.cpu == rq.cpu && t.se.avg.last != neverUpdated
}

func (s *Scheduler) cpuLoadWithout(rq *runqueue, t *Task) int64 {
	load := s.cpuLoad(rq)
	if sumsInto(rq, t) && (!s.profile.RunnableLoad || t.queued) {
		load = subtract(load, s.taskHLoad(t))
	}
	return load
}

func (s *Scheduler) cpuRunnableWithout(rq *runqueue, t *Task) int64 {
	r := rq.cfs.avg.runnableAvg
	if sumsInto(rq, t) {
		r = subtract(r, t.se.avg.runnableAvg)
	}
	return r
}

func (s *Scheduler) cpuUtilWithout(rq *runqueue, t *Task) int64 {
	if !sumsInto(rq, t) {
		return s.cpuUtil(rq)
	}
	util := subtract(rq.cfs.avg.utilAvg, t.se.avg.utilAvg)
	if s.features.Has(UtilEst) {
		est := rq.utilEst
		if t.queued {
			est = subtract(est, t.utilEstimate())
		}
		util = max(util, est)
	}
	return min(util, rq.capacityOrig)
}

// taskHLoad is a task's share of its CPU's root load; the factor of its queue
// is computed once a jiffy (mechanisms.md 2). It goes by the averages with
// blocked tasks on every kernel that has averages.
func (s *Scheduler) taskHLoad(t *Task) int64 {
	cfs := t.se.cfs
	if s.profile.WeightLoad {
		return seWeight(&t.se) * s.queueHWeight(cfs) / (scaleDown(cfs.load) + 1)
	}
	return t.se.avg.loadAvg * s.queueHLoad(cfs) / (cfs.avg.loadAvg + 1)
}

func (s *Scheduler) queueHLoad(cfs *cfsRQ) int64 {
	if cfs.hLoadJiffy == s.jiffies+1 {
		return cfs.hLoad
	}
	cfs.hLoadJiffy = s.jiffies + 1 // the zero value means "never"
	if cfs.se == nil {
		cfs.hLoad = cfs.avg.loadAvg
	} else {
		cfs.hLoad = s.queueHLoad(cfs.parent) * cfs.se.avg.loadAvg / (cfs.parent.avg.loadAvg + 1)
	}
	return cfs.hLoad
}
