package sched

import "github.com/schedlab/schedlab/machine"

// Making tasks runnable: wakeups, forks, and the moves between CPUs
// (mechanisms.md 6.1, 1.8, 3.2).

// Wake makes a sleeping task runnable; the task running on cpu here, or an
// interrupt there, does it. sync says that the waker is about to sleep. A task
// that is already runnable or pending is left alone; one whose dequeue was
// delayed is runnable again where it is. It returns the CPU that was chosen.
func (s *Scheduler) Wake(now int64, here int, t *Task, sync bool) int {
	s.setNow(now)
	if t.delayed {
		return s.wakeInPlace(t, here, sync)
	}
	if t.queued || t.pending || t.limbo {
		return int(t.cpu)
	}
	prev := int(t.cpu)
	if waker := s.rqs[here].curr; waker != nil && waker.exiting {
		sync = false
	}
	cpu := s.selectCPU(t, prev, here, KindWake, sync)
	stats := &s.rqs[here].stats
	stats.Wakeups++
	if cpu == here {
		stats.WakeupsLocal++
	} else if d := s.lowestWith(here, cpu); d != nil {
		d.wakeRemote++
	}
	migrated := cpu != prev
	if migrated {
		stats.Migrations++
		s.setTaskCPU(t, cpu)
	}
	if s.features.Has(TTWUQueue) && s.profile.Wake.queueRemotely(s, t, here, cpu) {
		s.appendWakeList(&s.rqs[cpu], t, sync, migrated)
		return cpu
	}
	if cpu != here {
		s.work.RemoteLocks++
	}
	s.writeQueue(here, cpu)
	s.finishWakeup(&s.rqs[cpu], t, sync, migrated)
	return cpu
}

// lowestWith returns the lowest domain of a CPU that holds another one, nil if
// none does.
func (s *Scheduler) lowestWith(cpu, other int) *Domain {
	d := s.rqs[cpu].sd
	for d != nil && !d.Span.Has(other) {
		d = d.Parent
	}
	return d
}

func (s *Scheduler) appendWakeList(rq *runqueue, t *Task, sync, migrated bool) {
	t.pending, t.wakeSync, t.wakeMigrated, t.wakeNext = true, sync, migrated, nil
	if rq.wakeTail != nil {
		rq.wakeTail.wakeNext = t
	} else {
		rq.wakeHead = t
	}
	rq.wakeTail = t
	first := !rq.wakePending
	rq.wakePending = true
	s.refreshIdle(rq)
	if first {
		s.driver.WakeIPI(int(rq.cpu))
	}
}

// HandleWakeList queues the tasks that other CPUs have put on cpu's wake list,
// oldest first. The driver calls it when a WakeIPI arrives.
func (s *Scheduler) HandleWakeList(now int64, cpu int) {
	s.setNow(now)
	rq := &s.rqs[cpu]
	t := rq.wakeHead
	rq.wakeHead, rq.wakeTail = nil, nil
	rq.wakePending = false
	s.writeQueue(cpu, cpu)
	for t != nil {
		next := t.wakeNext
		t.pending, t.wakeNext = false, nil
		s.finishWakeup(rq, t, t.wakeSync, t.wakeMigrated)
		t = next
	}
	s.refreshIdle(rq)
}

// OnWakeList reports whether a woken task waits for its CPU to queue it.
func (t *Task) OnWakeList() bool { return t.pending }

// WakeListPending reports whether cpu's wake list waits to be handled.
func (s *Scheduler) WakeListPending(cpu int) bool { return s.rqs[cpu].wakePending }

func (s *Scheduler) finishWakeup(rq *runqueue, t *Task, sync, migrated bool) {
	flags := enqueueWakeup
	if migrated {
		flags |= enqueueMigrated
	}
	s.activateTask(rq, t, flags)
	if s.observer != nil {
		s.observer.Queued(t, false)
	}
	how := wakeHow(0)
	if sync {
		how |= wakeSync
	}
	if t.nAllowed > 1 {
		how |= wakeSelected
	}
	s.checkPreempt(rq, t, how)
	s.endIdlePeriod(rq)
}

// endIdlePeriod learns how long the CPU was idle before this wakeup.
func (s *Scheduler) endIdlePeriod(rq *runqueue) {
	if rq.idleStamp == 0 {
		return
	}
	idled, most := s.now-rq.idleStamp, 2*rq.maxIdleBalanceCost
	if idled > most && s.profile.Balance.newidle.longIdleFills {
		rq.avgIdle = most
	} else {
		rq.avgIdle = min(rq.avgIdle+(idled-rq.avgIdle)/8, most)
	}
	rq.wakeStamp = s.jiffies
	rq.wakeAvgIdle = rq.avgIdle / 2
	rq.idleStamp = 0
}

// Fork makes child runnable for the first time; parent is the task that runs
// on cpu here and creates it. The child inherits the parent's wakee_flips
// and last wakee (mechanisms.md 6.3) and starts a slice behind (1.7).
func (s *Scheduler) Fork(now int64, here int, parent, child *Task) int {
	s.setNow(now)
	child.flips, child.flipDecay, child.lastWakee = parent.flips, parent.flipDecay, parent.lastWakee
	child.recentUsed = int32(here)
	s.attachToQueueOf(child, here)
	s.placeForked(child)

	cpu := s.selectCPU(child, here, here, KindFork, false)
	if cpu != here {
		s.work.RemoteLocks++
	}
	s.writeQueue(here, cpu)
	s.activateNew(child, cpu)
	return cpu
}

// Start makes a task runnable on cpu without choosing a CPU for it: the way
// the first tasks of a run come into being.
func (s *Scheduler) Start(now int64, t *Task, cpu int) {
	s.setNow(now)
	s.attachToQueueOf(t, cpu)
	s.placeForked(t)
	s.activateNew(t, cpu)
}

func (s *Scheduler) activateNew(t *Task, cpu int) {
	s.attachToQueueOf(t, cpu)
	t.se.avg.last = neverUpdated
	s.initNewTask(t)
	rq := &s.rqs[cpu]
	s.activateTask(rq, t, enqueueNew)
	if s.observer != nil {
		s.observer.Queued(t, true)
	}
	s.checkPreempt(rq, t, wakeNew)
}

// placeForked gives a child its virtual time relative to the queue of the CPU
// where it is created.
func (s *Scheduler) placeForked(child *Task) {
	se, cfs := &child.se, child.se.cfs
	if s.time.join != nil {
		return // it is placed as it joins
	}
	curr := cfs.curr
	se.vruntime = 0
	s.updateCurr(cfs)
	if curr != nil {
		se.vruntime = curr.vruntime
	}
	s.place(cfs, se, true)
	if s.tun.ChildRunsFirst != 0 && curr != nil && curr.vruntime < se.vruntime {
		curr.vruntime, se.vruntime = se.vruntime, curr.vruntime
		s.resched(cfs.rq)
	}
	se.vruntime -= cfs.minVruntime
}

// Exec rebalances the running task of cpu at exec: it returns the CPU that the
// kernel would choose. The driver moves the task there with
// [Scheduler.MigrateRunning] when it differs.
func (s *Scheduler) Exec(now int64, cpu int) int {
	s.setNow(now)
	t := s.rqs[cpu].curr
	if t == nil {
		return cpu
	}
	return s.selectCPU(t, cpu, cpu, KindExec, false)
}

// activateTask queues a task on a CPU and counts it on every level.
func (s *Scheduler) activateTask(rq *runqueue, t *Task, flags enqueueFlag) {
	s.utilEstEnqueue(rq, t)
	t.queuedAt = s.now
	idle := int32(0)
	if t.policy == PolicyIdle {
		idle = 1
	}
	se := &t.se
	visible := true
	for ; se != nil && !se.onRQ; se = se.parent {
		cfs := se.cfs
		s.passSliceUp(se)
		s.enqueueEntity(cfs, se, flags)
		idle = cfs.count(1, idle, t)
		if cfs.throttled {
			visible = false
			break
		}
		flags = enqueueWakeup
	}
	if visible {
		if se != nil && se.emptyDelayed {
			s.requeueDelayed(se)
		}
		for ; se != nil; se = se.parent {
			cfs := se.cfs
			s.updateLoadAvg(cfs, se, updateGroupLoad)
			snapshotRunnable(se)
			s.updateGroupWeight(se)
			s.passSliceUp(se)
			idle = cfs.count(1, idle, t)
			if cfs.throttled {
				visible = false
				break
			}
		}
	}
	t.queued = true
	if visible {
		rq.nr++
		if rq.nr == 2 {
			s.overload = true
		}
	}
	s.refreshIdle(rq)
	s.watchSlice(rq)
}

// count adds sign times the task t, of which sign·idle are hierarchically idle,
// and returns whether it counts as idle one level up.
func (cfs *cfsRQ) count(sign, idle int32, t *Task) int32 {
	cfs.h += sign
	cfs.hIdle += sign * idle
	if t.delayed {
		cfs.delayed += sign
	}
	if cfs.idle {
		return 1
	}
	return idle
}

// deactivateTask takes a task off its CPU.
func (s *Scheduler) deactivateTask(rq *runqueue, t *Task, flags enqueueFlag) {
	s.utilEstDequeue(rq, t)
	if !t.delayed {
		rq.leaveQueue(t, s.now)
	}
	wasSchedIdle := rq.schedIdle()
	sleep := flags&dequeueSleep != 0
	idle := int32(0)
	if t.policy == PolicyIdle {
		idle = 1
	}
	se := &t.se
	visible := true
	for ; se != nil; se = se.parent {
		cfs := se.cfs
		if !s.dequeueEntity(cfs, se, flags) {
			break // a group that stays for its debt: the levels above keep it
		}
		idle = cfs.count(-1, idle, t)
		if cfs.throttled {
			s.throttleEmptied(cfs)
			visible = false
			break
		}
		if cfs.load != 0 { // siblings stay: the levels above keep their entity
			se = se.parent
			if sleep && se != nil && !s.throttledHierarchy(cfs) {
				s.setNextBuddy(se)
			}
			break
		}
		flags |= dequeueSleep
	}
	if visible {
		for ; se != nil; se = se.parent {
			cfs := se.cfs
			s.updateLoadAvg(cfs, se, updateGroupLoad)
			snapshotRunnable(se)
			s.updateGroupWeight(se)
			s.passSliceUp(se)
			idle = cfs.count(-1, idle, t)
			if cfs.throttled {
				visible = false
				break
			}
		}
	}
	t.queued = false
	if visible {
		rq.nr--
	}
	// The last normal task left: balance at the next tick (mechanisms.md 3.5).
	if !wasSchedIdle && rq.schedIdle() && s.knowsSchedIdle() {
		rq.nextBalance = s.jiffies
	}
	if sleep {
		if !t.delayed || !s.samplesAtBlock() {
			s.utilEstUpdate(t)
		}
		t.delayed = false
	}
	s.refreshIdle(rq)
}

// knowsSchedIdle: a CPU with nothing but idle tasks counts as nearly idle. That
// came shortly after runnable_load_avg went (v5.4 to v5.6).
func (s *Scheduler) knowsSchedIdle() bool { return !s.profile.RunnableLoad }

// setTaskCPU re-homes a task that is on no queue. A sleeping one is made
// relative to the queue it leaves and its load is removed there later; one
// that the balancer has just dequeued takes its load along.
func (s *Scheduler) setTaskCPU(t *Task, cpu int) {
	if s.observer != nil {
		s.observer.Moves(t, cpu)
	}
	se := &t.se
	switch {
	case t.moving && s.profile.DetachesInDequeue && !t.other:
	case t.moving:
		s.detachForMove(se)
	default:
		se.vruntime -= se.cfs.minVruntime
		s.removeEntityLoad(se)
		s.decayIdleLag(se)
	}
	s.attachToQueueOf(t, cpu)
	se.avg.last = neverUpdated
	se.execStart = 0 // no longer cache hot
}

// SetAffinity changes where a task may run. It reports whether the task runs
// or waits on a CPU that it may no longer use: the driver then moves it with
// [Scheduler.MigrateRunning] or [Scheduler.MigrateQueued].
func (s *Scheduler) SetAffinity(t *Task, allowed machine.CPUMask) (misplaced bool) {
	t.allowed = allowed
	t.nAllowed = int32(allowed.Count())
	return (t.queued || t.pending || t.limbo) && !allowed.Has(int(t.cpu))
}

// MigrateRunning takes the running task of cpu to another CPU, as the
// migration thread does for exec and affinity changes.
func (s *Scheduler) MigrateRunning(now int64, cpu, to int) {
	s.setNow(now)
	rq := &s.rqs[cpu]
	t := rq.curr
	if t == nil || to == cpu {
		return
	}
	s.interruptCurrent(rq)
	s.moveQueued(rq, t, to)
	s.resched(rq)
}

// MigrateQueued moves a waiting task to another CPU, as the migration thread
// does when its affinity has changed. One that is still on a wake list is
// queued first. A running or sleeping task is left alone.
func (s *Scheduler) MigrateQueued(now int64, t *Task, to int) {
	s.setNow(now)
	if t.pending {
		s.HandleWakeList(now, int(t.cpu))
	}
	rq := &s.rqs[t.cpu]
	if t.limbo {
		s.takeFromLimbo(t)
		s.setTaskCPU(t, to)
		t.se.vruntime += t.se.cfs.minVruntime
		s.rejoin(t)
		return
	}
	if !t.queued || rq.curr == t || int(t.cpu) == to {
		return
	}
	s.moveQueued(rq, t, to)
}

// moveQueued moves a queued task that is not running to another CPU.
func (s *Scheduler) moveQueued(rq *runqueue, t *Task, to int) {
	t.moving = true
	s.deactivateTask(rq, t, 0)
	s.setTaskCPU(t, to)
	t.moving = false
	dst := &s.rqs[to]
	s.work.RemoteLocks++
	s.activateTask(dst, t, 0)
	if s.observer != nil {
		s.observer.Arrives(t)
	}
	s.checkPreempt(dst, t, 0)
}
