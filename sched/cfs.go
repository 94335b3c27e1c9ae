package sched

// Virtual time: accounting, placement, picking and preemption of the
// completely fair scheduler (mechanisms.md 1.5 to 1.11).

// updateCurr charges the running entity of one queue for the time since it
// was last charged.
func (s *Scheduler) updateCurr(cfs *cfsRQ) {
	curr := cfs.curr
	if curr == nil {
		return
	}
	d := s.now - curr.execStart
	if d <= 0 {
		return
	}
	curr.execStart = s.now
	curr.sumExec += d
	if s.time.charge != nil {
		s.time.charge(s, cfs, curr, d)
	} else {
		curr.vruntime += toVirtual(d, curr.weight)
		cfs.advanceMinVruntime()
	}
	if s.hooked {
		s.pay(cfs, d)
	}
	if t := curr.task; t != nil && t.space != nil {
		s.chargeSpace(cfs.rq, t, d)
	}
}

// advanceMinVruntime moves the queue's reference point up to its earliest
// entity, never back.
func (cfs *cfsRQ) advanceMinVruntime() {
	v := cfs.minVruntime
	found := false
	if c := cfs.curr; c != nil && c.onRQ {
		v, found = c.vruntime, true
	}
	if left := cfs.line.leftmost(); left != nil && (!found || left.vruntime < v) {
		v = left.vruntime
	}
	cfs.minVruntime = max(cfs.minVruntime, v)
}

// idleClassed is Entity.idleClassed on kernels that know cpu.idle.
func (s *Scheduler) idleClassed(se *Entity) bool { return s.profile.GroupIdle && se.idleClassed() }

// period is the time in which n entities should each run once.
func (s *Scheduler) period(n int64) int64 {
	if n > s.tun.NrLatency {
		return n * s.tun.MinGranularity
	}
	return s.tun.Latency
}

// slice is the wall time an entity may run before another gets its turn.
func (s *Scheduler) slice(cfs *cfsRQ, se *Entity) int64 {
	n := int64(cfs.nr)
	if s.features.Has(AltPeriod) {
		n = int64(cfs.rq.cfs.h)
	}
	if !se.onRQ {
		n++
	}
	d := s.period(n)
	for level, q := se, cfs; ; level, q = level.parent, level.parent.cfs {
		total := q.load
		if !level.onRQ {
			total += level.weight
		}
		d = calcDelta(d, scaleDown(level.weight), scaleDown(total))
		if level.parent == nil {
			break
		}
	}
	if s.features.Has(BaseSlice) {
		floor := s.tun.MinGranularity
		if s.idleClassed(se) && cfs.nr > cfs.idleNr {
			floor = s.tun.IdleMinGranularity
		}
		d = max(d, floor)
	}
	return d
}

// place sets the virtual time at which an entity joins the queue: a new task
// pays one slice, a woken one gets a credit, and neither gains by it.
func (s *Scheduler) place(cfs *cfsRQ, se *Entity, initial bool) {
	v := cfs.minVruntime
	if initial {
		if s.features.Has(StartDebit) {
			v += toVirtual(s.slice(cfs, se), se.weight)
		}
	} else {
		credit := s.tun.Latency
		if s.idleClassed(se) {
			credit = s.tun.MinGranularity
		}
		if s.features.Has(GentleFairSleepers) {
			credit >>= 1
		}
		v -= credit
	}
	se.vruntime = max(se.vruntime, v)
}

type enqueueFlag uint8

const (
	enqueueWakeup enqueueFlag = 1 << iota
	enqueueMigrated
	enqueueNew // has never run
	dequeueSleep
	dequeueThrottled // to be throttled: never delayed
	dequeueHidden    // its whole queue is throttled: never delayed
)

// enqueueEntity puts an entity on its queue. One that does not come from a
// plain wakeup carries a vruntime relative to its old queue.
func (s *Scheduler) enqueueEntity(cfs *cfsRQ, se *Entity, flags enqueueFlag) {
	relative := flags&enqueueWakeup == 0 || flags&enqueueMigrated != 0
	isCurr := cfs.curr == se
	if relative && isCurr {
		se.vruntime += cfs.minVruntime
	}
	s.updateCurr(cfs)
	if relative && !isCurr {
		se.vruntime += cfs.minVruntime
	}
	join := s.time.join

	s.updateLoadAvg(cfs, se, updateGroupLoad|attachDetached)
	snapshotRunnable(se)
	if s.profile.RunnableLoad {
		s.addRunnableLoad(cfs, se)
	}
	s.updateGroupWeight(se)
	if join != nil {
		join(s, cfs, se, flags)
	}
	s.accountEnqueue(cfs, se)

	if flags&enqueueWakeup != 0 && join == nil {
		s.place(cfs, se, false)
	}
	if !isCurr {
		s.lineUp(cfs, se)
	}
	se.onRQ = true
	if s.profile.ThrottlesTasks {
		cfs.thaw(cfs.rq.clock(s.now))
	}
	if s.hooked && cfs.nr == 1 {
		s.checkFirst(cfs)
	}
	if !cfs.onLeafList {
		cfs.rq.addLeaf(cfs)
	}
}

func (s *Scheduler) accountEnqueue(cfs *cfsRQ, se *Entity) {
	cfs.load += se.weight
	if se.isTask() {
		cfs.rq.pushLRU(se.task)
		s.countPreference(cfs.rq, se.task, 1)
	}
	cfs.nr++
	if s.idleClassed(se) {
		cfs.idleNr++
	}
	s.countSlice(cfs, se, +1)
}

// dequeueEntity takes an entity off its queue; unless it goes to sleep its
// vruntime becomes relative to the queue it leaves. It reports whether the entity
// has left: a group may be delayed instead (delayed.go).
func (s *Scheduler) dequeueEntity(cfs *cfsRQ, se *Entity, flags enqueueFlag) bool {
	s.updateCurr(cfs)
	if s.time.eevdf != nil && !se.isTask() && s.delaysEmpty(cfs, se, flags) {
		return false
	}
	how := updateGroupLoad
	if se.isTask() && se.task.moving && s.profile.DetachesInDequeue {
		how |= detachLeaving
	}
	s.updateLoadAvg(cfs, se, how)
	snapshotRunnable(se)
	if s.profile.RunnableLoad {
		s.subRunnableLoad(cfs, se)
	}
	dropBuddies(se)
	if s.time.leave != nil {
		s.time.leave(s, cfs, se, flags)
	}
	if cfs.curr != se {
		s.stepOut(cfs, se)
	}
	se.emptyDelayed = false
	se.onRQ = false
	s.accountDequeue(cfs, se)
	if flags&dequeueSleep == 0 {
		se.vruntime -= cfs.minVruntime
	}
	if s.hooked {
		s.giveBack(cfs)
	}
	s.updateGroupWeight(se)
	cfs.advanceMinVruntime()
	if s.profile.ThrottlesTasks && cfs.nr == 0 && s.throttledHierarchy(cfs) {
		cfs.freeze(cfs.rq.clock(s.now))
	}
	return true
}

func (s *Scheduler) accountDequeue(cfs *cfsRQ, se *Entity) {
	cfs.load -= se.weight
	if se.isTask() {
		cfs.rq.removeLRU(se.task)
		s.countPreference(cfs.rq, se.task, -1)
	}
	cfs.nr--
	if s.idleClassed(se) {
		cfs.idleNr--
	}
	s.countSlice(cfs, se, -1)
}

// dropBuddies forgets the hints that point at an entity. A hint was given to a
// whole chain of ancestors, so it is taken back from them too, up to the first
// that points elsewhere by now.
func dropBuddies(se *Entity) {
	cfs := se.cfs
	if cfs.last != se && cfs.next != se && cfs.skip != se {
		return
	}
	for level := se; level != nil && level.cfs.last == level; level = level.parent {
		level.cfs.last = nil
	}
	for level := se; level != nil && level.cfs.next == level; level = level.parent {
		level.cfs.next = nil
	}
	for level := se; level != nil && level.cfs.skip == level; level = level.parent {
		level.cfs.skip = nil
	}
}

// setNextBuddy makes an entity's chain the preferred next pick; idle-classed
// entities never become one.
func (s *Scheduler) setNextBuddy(se *Entity) {
	for level := se; level != nil && s.maybeBuddy(level); level = level.parent {
		level.cfs.next = level
	}
}

// setLastBuddy makes the chain of a preempted task the one to return to.
func (s *Scheduler) setLastBuddy(se *Entity) {
	for level := se; level != nil && s.maybeBuddy(level); level = level.parent {
		level.cfs.last = level
	}
}

// maybeBuddy: neither idle tasks, on any kernel, nor idle groups are favoured.
func (s *Scheduler) maybeBuddy(se *Entity) bool {
	return !s.idleClassed(se) && (!se.isTask() || se.task.policy != PolicyIdle)
}

// wakeupOK tells how much later a is than b in b's wakeup granularity: −1 not
// later, 0 within it, 1 beyond (mechanisms.md 1.9).
func (s *Scheduler) wakeupOK(a, b *Entity) int {
	d := a.vruntime - b.vruntime
	if d <= 0 {
		return -1
	}
	if d > toVirtual(s.tun.WakeupGranularity, b.weight) {
		return 1
	}
	return 0
}

// pickEntity chooses the entity of one queue that should run: the leftmost,
// unless a buddy is hardly later.
func (s *Scheduler) pickEntity(cfs *cfsRQ, curr *Entity) *Entity {
	left := cfs.line.leftmost()
	if left == nil || (curr != nil && curr.vruntime < left.vruntime) {
		left = curr
	}
	chosen := left
	if cfs.skip == chosen && chosen != nil {
		second := s.afterSkipped(cfs, chosen, curr)
		if second != nil && s.wakeupOK(second, left) < 1 {
			chosen = second
		}
	}
	if cfs.next != nil && s.wakeupOK(cfs.next, left) < 1 {
		chosen = cfs.next
	} else if cfs.last != nil && s.wakeupOK(cfs.last, left) < 1 {
		chosen = cfs.last
	}
	if s.profile.PickDropsBuddies && chosen != nil {
		dropBuddies(chosen)
	}
	return chosen
}

// afterSkipped returns the entity that would follow a skipped candidate.
func (s *Scheduler) afterSkipped(cfs *cfsRQ, skipped, curr *Entity) *Entity {
	if skipped == curr {
		return cfs.line.leftmost()
	}
	second := cfs.line.second()
	if second == nil || (curr != nil && curr.vruntime < second.vruntime) {
		second = curr
	}
	return second
}

// setNext makes an entity the running one of its queue.
func (s *Scheduler) setNext(cfs *cfsRQ, se *Entity) {
	dropBuddies(se)
	if se.onRQ {
		s.stepOut(cfs, se)
		s.updateLoadAvg(cfs, se, updateGroupLoad)
	}
	se.execStart = s.now
	if s.time.eevdf != nil {
		s.time.eevdf.protect(s, cfs, se)
	}
	cfs.curr = se
	se.prevSumExec = se.sumExec
}

// putPrev ends an entity's turn; it goes back into the timeline if it is
// still runnable.
func (s *Scheduler) putPrev(cfs *cfsRQ, se *Entity) {
	if se.onRQ {
		s.updateCurr(cfs)
	}
	if s.hooked && !s.profile.ThrottlesTasks {
		s.checkRuntime(cfs)
	}
	if se.onRQ {
		s.lineUp(cfs, se)
		s.updateLoadAvg(cfs, se, 0)
	}
	cfs.curr = nil
}

// tickPreempt asks for a reschedule when the running entity of one queue has
// had its slice, or is a slice ahead of the leftmost (mechanisms.md 1.10).
func (s *Scheduler) tickPreempt(cfs *cfsRQ, curr *Entity) {
	ideal := s.slice(cfs, curr)
	ran := curr.sumExec - curr.prevSumExec
	if ran > ideal {
		s.resched(cfs.rq)
		dropBuddies(curr)
		return
	}
	if ran < s.tun.MinGranularity {
		return
	}
	left := cfs.line.leftmost()
	if left != nil && curr.vruntime-left.vruntime > ideal {
		s.resched(cfs.rq)
	}
}

// checkPreempt decides whether a task that has just been queued on a CPU
// should run there instead of the current one.
func (s *Scheduler) checkPreempt(rq *runqueue, t *Task, how wakeHow) {
	curr := rq.curr
	switch {
	case curr == nil:
		s.resched(rq)
	case curr != t && !s.throttledHierarchy(t.se.cfs):
		s.time.preempt(s, rq, t, how)
	}
}

// preemptByGranularity is CFS's wakeup preemption (mechanisms.md 1.11).
func (s *Scheduler) preemptByGranularity(rq *runqueue, t *Task, how wakeHow) {
	curr := rq.curr
	crowded := int64(curr.se.cfs.nr) >= s.tun.NrLatency
	buddySet := s.features.Has(NextBuddy) && how&wakeNew == 0 && crowded
	if buddySet {
		s.setNextBuddy(&t.se)
	}
	if rq.needResched {
		return
	}
	reason, a, b := s.preemptVerdict(curr, t)
	switch reason {
	case preemptNo:
		return
	case preemptEarlier:
		if !buddySet {
			s.setNextBuddy(b)
		}
	}
	s.resched(rq)
	if s.features.Has(LastBuddy) && crowded && a.isTask() && a.onRQ {
		s.setLastBuddy(a)
	}
}

type preemptReason uint8

const (
	preemptNo preemptReason = iota
	preemptIdleClass
	preemptEarlier
)

// preemptVerdict compares the running task with a woken one, on the level
// where they, or groups of theirs, share a queue: it returns those two as well.
func (s *Scheduler) preemptVerdict(curr, t *Task) (reason preemptReason, a, b *Entity) {
	if curr.policy == PolicyIdle && t.policy != PolicyIdle {
		return preemptIdleClass, &curr.se, &t.se
	}
	if t.policy != PolicyNormal || !s.features.Has(WakeupPreemption) {
		return preemptNo, nil, nil
	}
	a, b = commonLevel(&curr.se, &t.se)
	if aIdle, bIdle := s.idleClassed(a), s.idleClassed(b); aIdle != bIdle {
		if aIdle {
			return preemptIdleClass, a, b
		}
		return preemptNo, a, b
	}
	s.updateCurr(b.cfs)
	if s.wakeupOK(a, b) != 1 {
		return preemptNo, a, b
	}
	return preemptEarlier, a, b
}

// commonLevel walks two entities up until they are on the same queue.
func commonLevel(a, b *Entity) (*Entity, *Entity) {
	for a.depth > b.depth {
		a = a.parent
	}
	for b.depth > a.depth {
		b = b.parent
	}
	for a.cfs != b.cfs {
		a, b = a.parent, b.parent
	}
	return a, b
}

// resched asks the CPU to call Schedule.
func (s *Scheduler) resched(rq *runqueue) {
	if rq.needResched {
		return
	}
	rq.needResched = true
	s.driver.Resched(int(rq.cpu))
}

// throttledHierarchy reports whether a queue lies behind a throttled one.
func (s *Scheduler) throttledHierarchy(cfs *cfsRQ) bool { return cfs.throttledCnt > 0 }
