package sched

// Active balancing: when passes keep failing because the only task worth
// moving is running, the busiest CPU's stopper thread interrupts it and pushes
// it (mechanisms.md 9.7).

// activeRules is what differs in active balancing.
type activeRules struct {
	// needed reports whether a failed pass calls for it.
	needed func(s *Scheduler, env *balanceEnv) bool
	// ignoresHeat: the stopper takes a task also when it is cache hot.
	ignoresHeat bool
	// pinnedIsAllPinned: a running task that may not run here lengthens the
	// interval as if all tasks were pinned.
	pinnedIsAllPinned bool
	// forcesTask sets the failure count so that the stopper's own pass
	// overrides heat.
	forcesTask bool
	// regulated: starting it for the sake of failures alone lengthens the
	// interval; otherwise every start shortens it.
	regulated bool
	// keepsFailures: a push that works does not reset the count.
	keepsFailures bool
}

// activeNeeded510 starts after enough failures, whatever was to be moved.
func activeNeeded510(s *Scheduler, env *balanceEnv) bool {
	return s.singleOnReducedCPU(env) || env.failedTooOften()
}

// activeNeeded517 counts failures only when tasks were to be spread.
func activeNeeded517(s *Scheduler, env *balanceEnv) bool {
	return s.singleOnReducedCPU(env) || (env.move == moveTask && env.failedTooOften())
}

func (env *balanceEnv) failedTooOften() bool {
	return env.d.nrBalanceFailed > env.d.CacheNiceTries+2
}

// singleOnReducedCPU: the destination idles and the source's only task has
// less of a CPU than it would have here.
func (s *Scheduler) singleOnReducedCPU(env *balanceEnv) bool {
	return env.idle != NotIdle && s.tasksOn(env.src) == 1 && env.src.reducedCapacity(env.d) &&
		env.src.capacity*env.d.ImbalancePct < env.dst.capacity*100
}

// afterFailure counts a pass that found a source but moved nothing, and starts
// active balancing when that has happened often enough.
func (s *Scheduler) afterFailure(env *balanceEnv, res *passResult) {
	d, src, rules := env.d, env.src, &s.profile.Balance.active
	d.balanced.Failed[env.idle]++
	if env.idle != NewlyIdle && !env.has(envLLCPinned) {
		d.nrBalanceFailed++
	}
	if !rules.needed(s, env) {
		return
	}
	s.work.RemoteLocks++
	if src.curr == nil || !src.curr.allowed.Has(int(env.owner.cpu)) { // the idle task never may
		if rules.pinnedIsAllPinned {
			env.flags |= envAllPinned
		}
		res.outcome = passCurrentPinned
		return
	}
	env.flags &^= envAllPinned
	if rules.forcesTask {
		d.nrBalanceFailed = d.CacheNiceTries + 1
	}
	if src.activeBalance {
		return
	}
	src.activeBalance, src.pushCPU, src.pushForLLC = true, env.owner.cpu, env.move == moveLLCTask
	s.driver.StopperKick(int(src.cpu))
	res.outcome = passActive
}

// settleActive sets the interval of a domain in which active balancing has
// been started.
func (s *Scheduler) settleActive(env *balanceEnv) {
	d := env.d
	switch {
	case !s.profile.Balance.active.regulated || s.singleOnReducedCPU(env):
		d.balanceInterval = d.MinInterval
	case d.balanceInterval < d.MaxInterval:
		d.balanceInterval *= 2
	}
}

// ActiveBalance is the stopper of cpu at work: it takes the running task off
// and pushes one of the CPU's tasks to the CPU that asked. The driver calls it
// after [Driver.StopperKick]; cpu is then asked to reschedule.
func (s *Scheduler) ActiveBalance(now int64, cpu int) {
	s.setNow(now)
	src := &s.rqs[cpu]
	if !src.activeBalance {
		return
	}
	src.activeBalance = false
	s.enterBalancing(src)
	s.interruptCurrent(src)
	if src.nr > 0 {
		s.pushOne(src, &s.rqs[src.pushCPU])
	}
	s.resched(src)
}

// pushOne moves one task from src to dst, in the lowest domain of dst that
// holds both.
func (s *Scheduler) pushOne(src, dst *runqueue) {
	d := s.lowestWith(int(dst.cpu), int(src.cpu))
	if d == nil {
		return
	}
	d.balanced.ActiveTries++
	env := s.beginPass(dst, d, Idle)
	env.src, env.flags, env.move = src, envActive, moveLoad
	if src.pushForLLC {
		env.move = moveLLCTask
	}
	t := s.firstMovable(env)
	if t == nil {
		return
	}
	s.detachTask(env, t)
	if !s.profile.Balance.active.keepsFailures {
		d.nrBalanceFailed = 0
	}
	d.balanced.ActivePushes++
	d.balanced.Moved[env.idle]++
	s.work.RemoteLocks++
	s.attachTask(dst, t)
	s.noteMoved(src)
	s.noteMoved(dst)
}

// firstMovable returns the first task of the source that may be moved.
func (s *Scheduler) firstMovable(env *balanceEnv) *Task {
	if s.profile.Balance.detach.fromFront {
		for t := env.src.lruHead; t != nil; t = t.lruNext {
			if s.consider(env, t).moves() {
				return t
			}
		}
		return nil
	}
	for t := env.src.lruTail; t != nil; t = t.lruPrev {
		if s.consider(env, t).moves() {
			return t
		}
	}
	return nil
}
