package sched

import "math/bits"

// Sched-idle balance (mechanisms.md 10.2): a CPU without normal tasks, idle or
// running only idle-class ones, takes a waiting normal task from an overloaded
// CPU of its cache, at once and without looking for an imbalance.

// pullRules is what differs between the versions of the patch.
type pullRules struct {
	// beforeRebalance is the hook at the start of a CPU's periodic balancing;
	// true ends it.
	beforeRebalance func(s *Scheduler, rq *runqueue) bool
	// beforeNewidle is the hook at the start of a newidle search; it reports
	// whether the CPU's cache has overloaded CPUs.
	beforeNewidle func(s *Scheduler, rq *runqueue) bool
	// chargesNewidle: the time of that hook counts as time spent by the search.
	chargesNewidle bool
	newidleDone    func(rq *runqueue, pulled int, overloadNearby bool) bool
	// refuse judges a task for any move between two CPUs; migrateCold is no
	// objection.
	refuse func(s *Scheduler, env *balanceEnv, t *Task) migrateVerdict
	// updatesSource brings the mask up to date with the CPU pulled from.
	updatesSource bool
	// idleTasksIgnoreSchedIdle: in the slow path a CPU with idle-class tasks
	// only is no better than a busy one for yet another idle-class task.
	idleTasksIgnoreSchedIdle bool
}

var pullRFCv2 = pullRules{
	beforeRebalance: pullOrRebalance,
	beforeNewidle:   overloadInCache,
	newidleDone:     hasNormalTask,
	refuse:          keepLastBesideBusy,
	updatesSource:   true,
}

// RFC v1 looks at the source once more under its lock; between the two looks
// nothing can happen here.
var pullRFCv1 = pullRules{
	beforeRebalance:          pullThenRebalance,
	beforeNewidle:            pullFirst,
	chargesNewidle:           true,
	newidleDone:              hasAnyTask,
	refuse:                   keepLast,
	idleTasksIgnoreSchedIdle: true,
}

// needsNormal reports whether the CPU has no normal task; it may have none at
// all.
func (rq *runqueue) needsNormal() bool { return rq.normalTasks() == 0 }

// pullOrRebalance: after a pull the CPU has its work, and the run ends. It has
// not found out when the domains are due, so the CPU tries again at its next
// tick.
func pullOrRebalance(s *Scheduler, rq *runqueue) bool {
	return rq.needsNormal() && s.pullNormal(rq)
}

func pullThenRebalance(s *Scheduler, rq *runqueue) bool {
	pullOrRebalance(s, rq)
	return false
}

func overloadInCache(s *Scheduler, rq *runqueue) bool {
	if rq.llcShared == nil {
		return false
	}
	s.readMask(&rq.llcShared.Overload.Line, s.lb.env.here, rq)
	return rq.llcShared.Overload.Count != 0
}

func pullFirst(s *Scheduler, rq *runqueue) bool {
	s.pullNormal(rq)
	return false
}

// hasAnyTask ends a newidle search with the first task, of whatever kind.
func hasAnyTask(rq *runqueue, pulled int, _ bool) bool { return pulled > 0 || rq.nr > 0 }

// hasNormalTask goes on, while there are overloaded CPUs, until a normal task
// has been found.
func hasNormalTask(rq *runqueue, pulled int, overloadNearby bool) bool {
	return (pulled > 0 && !overloadNearby) || rq.nr > rq.cfs.hIdle
}

// keepLastBesideBusy is RFC v2: a CPU's last normal task does not go where it
// would meet another one. On machines of mixed CPUs it may have to.
func keepLastBesideBusy(s *Scheduler, env *balanceEnv, t *Task) migrateVerdict {
	switch {
	case t.hierarchicallyIdle():
		return refuseIdleClass(env)
	case !s.scratch.mixed && env.src.normalTasks() == 1 && !env.dst.needsNormal():
		return migrateLastNormal
	}
	return migrateCold
}

// keepLast is RFC v1: a CPU's last normal task stays.
func keepLast(_ *Scheduler, env *balanceEnv, t *Task) migrateVerdict {
	switch {
	case t.hierarchicallyIdle():
		return refuseIdleClass(env)
	case !hasWaitingNormal(env.src):
		return migrateLastNormal
	}
	return migrateCold
}

func refuseIdleClass(env *balanceEnv) migrateVerdict {
	if env.idle == SchedIdle {
		return migrateIdleClass
	}
	return migrateCold
}

// hierarchicallyIdle reports whether the task is idle-class by its policy or
// by a group above it.
func (t *Task) hierarchicallyIdle() bool {
	if t.policy == PolicyIdle {
		return true
	}
	for se := &t.se; se != nil; se = se.parent {
		if se.cfs.idle {
			return true
		}
	}
	return false
}

// pullNormal takes one normal task from an overloaded CPU of dst's cache, the
// nearest behind dst that has one to give [sched_idle_balance].
func (s *Scheduler) pullNormal(dst *runqueue) bool {
	if dst.llc == nil {
		return false
	}
	m := &dst.llcShared.Overload
	s.readMask(&m.Line, s.lb.env.here, dst)
	if m.Count == 0 {
		return false
	}
	self := int(dst.cpu)
	for walk := wrapFrom(s.scratch.llcWords[self], self+1); walk.next(); {
		for word := walk.bits & m.CPUs[walk.index]; word != 0; word &= word - 1 {
			c := walk.index<<6 + bits.TrailingZeros64(word)
			if c != self && s.pullFrom(dst, &s.rqs[c]) {
				return true
			}
		}
	}
	return false
}

// pullFrom takes one normal task from src, unless src is not overloaded any
// more or another CPU is pulling from it.
func (s *Scheduler) pullFrom(dst, src *runqueue) bool {
	s.work.PullProbes++
	if !hasWaitingNormal(src) || s.balanceClock() < src.pulledUntil {
		return false
	}
	s.work.RemoteLocks++
	env := s.beginPass(dst, dst.llc, SchedIdle)
	env.src, env.flags = src, envDstPinned // look for no other destination
	t := s.firstMovable(env)
	if t != nil {
		s.detachTask(env, t)
		env.d.balanced.Moved[SchedIdle]++
		s.updateSource(src)
	}
	src.pulledUntil = s.balanceClock()
	if t == nil {
		return false
	}
	if dst != env.here {
		s.work.RemoteLocks++
	}
	s.attachTask(dst, t)
	s.noteMoved(dst)
	return true
}

func (s *Scheduler) updateSource(src *runqueue) {
	if s.variants.pull.updatesSource {
		s.updateOverloaded(src)
	} else {
		s.noteMoved(src)
	}
}
