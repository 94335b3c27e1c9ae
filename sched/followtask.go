package sched

import "github.com/schedlab/schedlab/machine"

// The life of tasks as a recording tells it: switches, wakeups, moves.

// Leaving is the state in which a task leaves its CPU.
type Leaving uint8

// The states: preempted in the kernel, yielding the CPU by itself or at its
// return to user mode, no longer runnable.
const (
	LeavesPreempted Leaving = iota
	LeavesRunnable
	LeavesBlocked
)

// Switch follows a context switch on cpu from prev to next; nil is the idle
// task. how says in which state prev leaves.
func (f *Follower) Switch(cpu int, prev, next *Task, how Leaving) {
	now := f.s.now
	f.s.now, f.s.present = f.switchClock(cpu), now
	f.switchTo(cpu, prev, next, how)
	f.s.now, f.s.present = now, 0
}

func (f *Follower) switchTo(cpu int, prev, next *Task, how Leaving) {
	s := f.s
	rq := &s.rqs[cpu]
	f.ensureRunning(rq, prev)
	if prev != nil && prev.queued {
		switch {
		case how == LeavesBlocked && prev.delayed: // stays queued
		case how == LeavesBlocked:
			f.dequeue(rq, prev, dequeueSleep)
		case how == LeavesPreempted && f.leavesThrottled(prev):
			f.hideTask(prev)
		}
	}
	if next != nil {
		f.ensureQueued(next, cpu)
	}
	f.changeCurrent(rq, next)
	if prev != nil && prev.exiting && !prev.queued {
		s.removeEntityLoad(&prev.se)
		prev.se.avg.last = neverUpdated
	}
	rq.needResched = false
	if next == nil {
		f.enterIdle(rq)
	} else {
		rq.moveLRUFrontIfListed(next)
	}
	f.stamped.Clear(cpu)
}

// enterIdle is what a CPU does when it finds nothing to run.
func (f *Follower) enterIdle(rq *runqueue) {
	s := f.s
	if rq.nr > 0 {
		f.hideRunnable(rq)
	}
	if f.exact {
		f.enterIdleExactly(rq)
		return
	}
	if !f.stamped.Has(int(rq.cpu)) {
		rq.idleStamp = s.now
	}
	f.decayOnIdle(rq)
	s.updateIdleCore(rq)
}

func (rq *runqueue) moveLRUFrontIfListed(t *Task) {
	if !t.other {
		rq.moveLRUFront(t)
	}
}

// Blocked follows a task of which it is known already, before its switch, that
// it no longer is runnable: its CPU looks for other work.
func (f *Follower) Blocked(cpu int) {
	rq := &f.s.rqs[cpu]
	if t := rq.curr; t != nil && t.queued && !t.delayed && rq.nr == 1 {
		f.dequeue(rq, t, dequeueSleep)
	}
}

// changeCurrent makes next the running task of a CPU.
func (f *Follower) changeCurrent(rq *runqueue, next *Task) {
	s, prev := f.s, rq.curr
	if prev == next {
		return
	}
	prevFair, nextFair := prev != nil && !prev.other, next != nil && !next.other
	switch {
	case prevFair && nextFair:
		s.switchEntities(prev, &next.se)
	case prevFair:
		s.putUp(&prev.se)
	case nextFair:
		s.setNextUp(&next.se)
	}
	rq.curr = next
	rq.stats.Switches++
	s.refreshIdle(rq)
}

// ensureRunning mends the model when the recording says that another task ran.
func (f *Follower) ensureRunning(rq *runqueue, t *Task) {
	if rq.curr == t {
		return
	}
	if t != nil {
		f.ensureQueued(t, int(rq.cpu))
	}
	f.changeCurrent(rq, t)
}

// ensureQueued mends the model when the recording shows a task on a CPU where
// the model has not queued it.
func (f *Follower) ensureQueued(t *Task, cpu int) {
	s := f.s
	switch {
	case t.queued && int(t.cpu) == cpu:
	case t.queued:
		f.Move(t, cpu)
	default:
		if int(t.cpu) != cpu {
			s.setTaskCPU(t, cpu)
		}
		f.leaveWakeList(t)
		f.enqueue(&s.rqs[cpu], t, enqueueWakeup)
	}
	f.releaseQueues(t)
}

// enqueue and dequeue count a task of any class.
func (f *Follower) enqueue(rq *runqueue, t *Task, flags enqueueFlag) {
	if !t.other {
		f.s.activateTask(rq, t, flags)
		return
	}
	t.queued = true
	rq.nr++
	f.s.refreshIdle(rq)
}

func (f *Follower) dequeue(rq *runqueue, t *Task, flags enqueueFlag) {
	if !t.other {
		f.s.deactivateTask(rq, t, flags)
		return
	}
	t.queued = false
	rq.nr--
	f.s.refreshIdle(rq)
}

// Placed follows the kernel's choice of a CPU for a sleeping task that is being
// woken from CPU here. Until the wakeup is seen the task may be on that CPU's
// wake list, by the kernel version's rule.
func (f *Follower) Placed(t *Task, here, cpu int) {
	if t.queued {
		return
	}
	f.setCPU(t, cpu)
	if f.s.features.Has(TTWUQueue) && f.s.profile.Wake.queueRemotely(f.s, t, here, cpu) {
		f.joinWakeList(t)
	}
}

// Pending follows a wakeup without choice: the task goes to the wake list of
// the CPU where it was, because it may not run elsewhere or is still being
// switched out there.
func (f *Follower) Pending(t *Task, here int) {
	if t.queued || t.pending {
		return
	}
	if f.s.features.Has(TTWUQueue) && f.s.profile.Wake.queueRemotely(f.s, t, here, int(t.cpu)) {
		f.joinWakeList(t)
	}
}

// NotSent follows a wakee that has been placed but is not on the wake list yet.
func (f *Follower) NotSent(t *Task) { f.leaveWakeList(t) }

func (f *Follower) setCPU(t *Task, cpu int) {
	if int(t.cpu) != cpu {
		f.leaveWakeList(t)
		f.s.setTaskCPU(t, cpu)
		t.wakeMigrated = true
	}
}

func (f *Follower) joinWakeList(t *Task) {
	if t.pending {
		return
	}
	rq := &f.s.rqs[t.cpu]
	t.pending, t.wakeNext = true, nil
	if rq.wakeTail != nil {
		rq.wakeTail.wakeNext = t
	} else {
		rq.wakeHead = t
	}
	rq.wakeTail = t
	rq.wakePending = true
	f.s.refreshIdle(rq)
}

// leaveWakeList takes a task off the wake list that it is on, wherever in it.
func (f *Follower) leaveWakeList(t *Task) {
	if !t.pending {
		return
	}
	rq := &f.s.rqs[t.cpu]
	t.pending = false
	var before *Task
	for x := rq.wakeHead; x != nil; before, x = x, x.wakeNext {
		if x != t {
			continue
		}
		if before == nil {
			rq.wakeHead = t.wakeNext
		} else {
			before.wakeNext = t.wakeNext
		}
		if rq.wakeTail == t {
			rq.wakeTail = before
		}
		break
	}
	t.wakeNext = nil
	rq.wakePending = rq.wakeHead != nil
	f.s.refreshIdle(rq)
}

// Woken follows a task that has been queued on cpu by a wakeup. A task that is
// queued already stays where it is.
func (f *Follower) Woken(t *Task, cpu int) {
	s := f.s
	if t.queued {
		f.leaveWakeList(t)
		if t.delayed {
			s.rejoinInPlace(t)
		}
		return
	}
	f.setCPU(t, cpu)
	f.leaveWakeList(t)
	flags := enqueueWakeup
	if t.wakeMigrated {
		flags |= enqueueMigrated
	}
	t.wakeMigrated = false
	f.enqueue(&s.rqs[cpu], t, flags)
	s.endIdlePeriod(&s.rqs[cpu])
	f.noteQueued(t)
}

// WokenInPlace follows a task that was woken on its own CPU without being
// placed: it had blocked but was still queued (DELAY_DEQUEUE, v6.12,
// mechanisms-modern.md 2.5). Only the wakeup shows that; so what its load, and
// the queue's, gained meanwhile is added now.
func (f *Follower) WokenInPlace(t *Task) {
	if f.s.features.Has(DelayDequeue) && !t.queued && !t.other {
		f.s.makeUpLoad(t.se.cfs, &t.se)
	}
	f.Woken(t, int(t.cpu))
}

// MovedInPlace follows a balancer that moved a task which the model holds for
// asleep: it had blocked but was still queued. On the new CPU it soon is not.
// left is when, in ns, the task left its old CPU.
func (f *Follower) MovedInPlace(t *Task, cpu int, left int64) {
	if !f.s.features.Has(DelayDequeue) || t.queued || t.other || int(t.cpu) == cpu {
		f.moveSince(t, cpu, left)
		return
	}
	f.s.makeUpLoad(t.se.cfs, &t.se)
	f.enqueue(&f.s.rqs[t.cpu], t, enqueueWakeup)
	f.moveSince(t, cpu, left)
	f.dequeue(&f.s.rqs[t.cpu], t, dequeueSleep)
}

// SeenQueued follows a balancer that has looked at a task which the model holds
// for asleep: it had blocked but was still queued.
func (f *Follower) SeenQueued(t *Task) {
	if f.s.features.Has(DelayDequeue) && !t.queued && !t.pending && !t.other {
		f.s.makeUpLoad(t.se.cfs, &t.se)
	}
}

// makeUpLoad brings an entity's averages up to now as if it had been queued,
// without running, since its last update.
func (s *Scheduler) makeUpLoad(cfs *cfsRQ, se *Entity) {
	if se.avg.last == neverUpdated {
		return
	}
	now := s.peltClock(cfs)
	asleep := se.avg
	if asleep.accumulate(now, 0, 0, false) {
		asleep.refresh(s.sumWeight(se))
	}
	if se.avg.accumulate(now, 1, 0, false) {
		se.avg.refresh(s.sumWeight(se))
	}
	s.updateQueueAvg(cfs, now)
	cfs.avg.loadAvg += max(0, se.avg.loadAvg-asleep.loadAvg)
	cfs.avg.loadSum += max(0, se.avg.loadSum-asleep.loadSum) * s.sumWeight(se)
}

// Forked makes child a task that parent has just created on cpu: it inherits
// wakee_flips, group, policy and affinity, and starts with the full load of its
// weight.
func (f *Follower) Forked(parent, child *Task, cpu int) {
	s := f.s
	spec := TaskSpec{ID: child.ID, Ref: child.Ref, CPU: cpu}
	if parent != nil {
		spec.Policy, spec.Nice, spec.Allowed, spec.Group = parent.policy, parent.nice, parent.allowed, parent.group
	}
	s.InitTask(child, spec)
	if parent != nil {
		child.flips, child.flipDecay, child.lastWakee = parent.flips, parent.flipDecay, parent.lastWakee
	}
}

// ForkPlaced follows the kernel's choice for a new task.
func (f *Follower) ForkPlaced(child *Task, cpu int) {
	if !child.queued {
		f.s.attachToQueueOf(child, cpu)
	}
}

// Started follows a new task that has been queued on cpu for the first time.
func (f *Follower) Started(t *Task, cpu int) {
	s := f.s
	if t.queued {
		return
	}
	s.attachToQueueOf(t, cpu)
	t.se.avg.last = neverUpdated
	if !t.other {
		s.initNewTask(t)
	}
	f.enqueue(&s.rqs[cpu], t, enqueueNew)
	f.noteQueued(t)
}

// StartedTooSoon takes back that a new task has been queued: it has not been yet.
// A task that has run already stays.
func (f *Follower) StartedTooSoon(t *Task) {
	rq := &f.s.rqs[t.cpu]
	if !t.queued || rq.curr == t {
		return
	}
	f.dequeue(rq, t, 0)
	if !t.other {
		f.s.detachForMove(&t.se)
	}
	t.se.avg = Avg{last: neverUpdated, loadAvg: seWeight(&t.se)}
}

// Move follows a task to another CPU: a queued one is taken off there and
// queued here, a sleeping one just changes its home.
func (f *Follower) Move(t *Task, cpu int) { f.moveSince(t, cpu, f.s.now) }

// moveSince is Move for a task that left its old CPU at an earlier time.
func (f *Follower) moveSince(t *Task, cpu int, left int64) {
	s := f.s
	if int(t.cpu) == cpu {
		return
	}
	if !t.queued {
		f.setCPU(t, cpu)
		return
	}
	s.present = s.now
	f.At(left, func() {
		src := &s.rqs[t.cpu]
		if src.curr == t {
			f.changeCurrent(src, nil)
		}
		f.readClock(int(src.cpu))
		t.moving = true
		f.dequeue(src, t, 0)
		s.setTaskCPU(t, cpu)
		t.moving = false
	})
	s.present = 0
	f.enqueue(&s.rqs[cpu], t, 0)
	f.noteQueued(t)
}

// SetClass follows a change of the task's priority: other says that it is now
// of a class above the fair one, else nice (-20 to 19) is its nice value.
func (f *Follower) SetClass(t *Task, other bool, nice int8) {
	s := f.s
	if t.other == other && (other || t.nice == nice) {
		return
	}
	rq := &s.rqs[t.cpu]
	queued, running := t.queued, rq.curr == t
	if running {
		f.changeCurrent(rq, nil)
	}
	if queued {
		f.dequeue(rq, t, 0)
	}
	if !t.other && other && t.se.avg.last != neverUpdated {
		s.detachForMove(&t.se)
		t.se.avg.last = neverUpdated
	}
	t.other = other
	if !other {
		f.reweight(t, t.policy, nice)
	}
	if queued {
		f.enqueue(rq, t, 0)
	}
	if running {
		f.changeCurrent(rq, t)
	}
}

// reweight gives a task that is on no queue another weight; its average load
// follows at once [reweight_task].
func (f *Follower) reweight(t *Task, policy Policy, nice int8) {
	t.policy, t.nice = policy, nice
	f.s.reweightTask(t)
}

// SetPolicy follows a change of the scheduling policy within the fair class.
func (f *Follower) SetPolicy(t *Task, policy Policy) {
	if t.policy == policy || t.other {
		return
	}
	rq := &f.s.rqs[t.cpu]
	queued, running := t.queued, rq.curr == t
	if running {
		f.changeCurrent(rq, nil)
	}
	if queued {
		f.dequeue(rq, t, 0)
	}
	f.reweight(t, policy, t.nice)
	if queued {
		f.enqueue(rq, t, 0)
	}
	if running {
		f.changeCurrent(rq, t)
	}
}

// SetAllowed follows a change of the task's affinity. The mask is kept, not
// copied.
func (f *Follower) SetAllowed(t *Task, allowed machine.CPUMask) {
	t.allowed = allowed
	t.nAllowed = int32(allowed.Count())
}

// SetGroup follows a task into another control group.
func (f *Follower) SetGroup(t *Task, g *TaskGroup) {
	if t.group == g {
		return
	}
	if t.other {
		t.group = g
		f.s.attachToQueueOf(t, int(t.cpu))
		return
	}
	f.s.SetGroup(f.s.now, t, g)
}

// SetKthread marks a task as a kernel thread that is bound to one CPU.
func (f *Follower) SetKthread(t *Task) { t.kthread = true }

// Exiting follows a task into its exit path: its wakeups are not sync.
func (f *Follower) Exiting(t *Task) { t.exiting = true }

// Forget drops a task that will not be seen again.
func (f *Follower) Forget(t *Task) {
	rq := &f.s.rqs[t.cpu]
	f.leaveWakeList(t)
	if rq.curr == t {
		f.changeCurrent(rq, nil)
	}
	if t.queued {
		f.dequeue(rq, t, dequeueSleep)
	}
	f.s.removeEntityLoad(&t.se)
	t.se.avg.last = neverUpdated
}

// Sleep follows a task of which a recording does not show how it went to sleep.
func (f *Follower) Sleep(t *Task) {
	if !t.queued {
		return
	}
	rq := &f.s.rqs[t.cpu]
	if rq.curr == t {
		f.changeCurrent(rq, nil)
	}
	f.dequeue(rq, t, dequeueSleep)
}
