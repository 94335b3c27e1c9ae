package sched

// Moving tasks from the busiest CPU to the one that balances
// (mechanisms.md 9.6).

// detachBatch is how many tasks are examined under one hold of the source's
// lock.
const detachBatch = 32

// detachRules is what differs in the choice of tasks.
type detachRules struct {
	// tooMuch reports whether a task's load is more than should be moved after
	// that many failed passes.
	tooMuch func(load, imbalance int64, failed int32) bool
	// leastLoad is what a task without load counts as.
	leastLoad int64
	// fromFront examines the migratable tasks from the front of their list and
	// puts refused ones at its end; otherwise the least recently picked comes
	// first.
	fromFront bool
	// loadFirst: a task that is too big is passed over before anything else
	// about it is looked at, its affinity included (before v3.10 [M]).
	loadFirst bool
	// oneDestination: tasks that may not run on the destination are not offered
	// to another CPU of its group (before v3.7 [M]).
	oneDestination bool
	// smtSiblingsCold: moving between the threads of a core loses no cache.
	smtSiblingsCold bool
	// kthreadsStay refuses per-CPU kernel threads before their affinity is
	// looked at, so that they do not count as pinned.
	kthreadsStay bool
	// shiftsUtil: failed passes also halve the utilization that is compared
	// (v6.8, in the stable trees of v6.1).
	shiftsUtil bool
	// throttled reports whether throttling keeps a task from being moved.
	throttled func(s *Scheduler, env *balanceEnv, t *Task) bool
	// delayedOnlyForLoad: a task that waits for its delayed dequeue is moved
	// only where load is to be moved; it would not use a CPU (v7.2).
	delayedOnlyForLoad bool
	// keepsIneligible: in a first attempt only tasks that could be picked are
	// moved to a queue that is not empty (v7.2, PLACE_LAG).
	keepsIneligible bool
}

// tooMuchFor halves the load with every failed pass (v5.5 and later).
func tooMuchFor(load, imbalance int64, failed int32) bool { return load>>uint(failed) > imbalance }

// migrateVerdict says whether and why one task may be moved.
type migrateVerdict uint8

const (
	migrateThrottled  migrateVerdict = iota // its group is throttled on one of the CPUs
	migrateDelayed                          // it sleeps, and its load is not wanted
	migrateIneligible                       // it has had more than its share here
	migrateKthread                          // per-CPU kernel thread
	migrateIdleClass                        // a sched-idle pull is after normal tasks
	migrateLastNormal                       // it would leave a CPU without a normal task for one that has some
	migratePinned                           // not allowed on the destination
	migrateRunning
	migrateLLC // its preferred cache speaks against it
	migrateHot
	migrateCold   // moved: nothing speaks against it
	migrateForced // moved although hot: too many passes have failed
	migrateActive // moved: the stopper does not ask for heat
)

// moves reports whether the verdict lets the task go.
func (v migrateVerdict) moves() bool { return v >= migrateCold }

// String returns a short phrase for reports.
func (v migrateVerdict) String() string {
	return [...]string{"throttled", "delayed", "not eligible", "per-CPU kthread", "idle-class", "last normal task",
		"not allowed", "running", "preferred cache", "cache hot",
		"cold", "hot, but forced", "active balance"}[v]
}

// canMigrate judges one task of env.src for a move to env.dst. It changes
// nothing; consider draws the conclusions.
func (s *Scheduler) canMigrate(env *balanceEnv, t *Task) migrateVerdict {
	rules := &s.profile.Balance
	switch {
	case rules.detach.delayedOnlyForLoad && t.delayed && env.move != moveLoad:
		return migrateDelayed
	case t.group != s.root && rules.detach.throttled(s, env, t):
		return migrateThrottled
	case rules.detach.keepsIneligible && s.waitsForItsShare(env, t):
		return migrateIneligible
	case t.kthread && rules.detach.kthreadsStay:
		return migrateKthread
	}
	if s.variants.pull != nil {
		if v := s.variants.pull.refuse(s, env, t); v != migrateCold {
			return v
		}
	}
	switch {
	case !t.allowed.Has(int(env.dst.cpu)):
		return migratePinned
	case env.src.curr == t:
		return migrateRunning
	case env.has(envActive) && env.move == moveLLCTask && t.preferredLLC != env.dst.llcID:
		return migrateLLC
	case env.has(envActive) && rules.active.ignoresHeat:
		return migrateActive
	case s.staysForLLC(env, t):
		return migrateLLC
	case !s.cacheHot(env, t):
		return migrateCold
	case env.d.nrBalanceFailed > env.d.CacheNiceTries:
		return migrateForced
	default:
		return migrateHot
	}
}

// throttledBetween: on either of the two CPUs.
func throttledBetween(s *Scheduler, env *balanceEnv, t *Task) bool {
	return s.throttledHierarchy(t.group.queues[env.src.cpu]) || throttledAtDestination(s, env, t)
}

func throttledAtDestination(s *Scheduler, env *balanceEnv, t *Task) bool {
	return s.throttledHierarchy(t.group.queues[env.dst.cpu])
}

// waitsForItsShare: the task is not eligible where it is, so it would not run
// there soon, and its move would only let it evade the wait.
func (s *Scheduler) waitsForItsShare(env *balanceEnv, t *Task) bool {
	return env.d.nrBalanceFailed == 0 && s.features.Has(PlaceLag) &&
		t.group.queues[env.dst.cpu].nr > 0 && !s.time.eligible(s, t.se.cfs, &t.se)
}

// cacheHot guesses whether a task would miss the cache of its CPU [task_hot].
func (s *Scheduler) cacheHot(env *balanceEnv, t *Task) bool {
	switch {
	case t.policy == PolicyIdle:
		return false
	case env.d.has(FlagShareCPUCapacity) && s.profile.Balance.detach.smtSiblingsCold:
		return false
	case s.features.Has(CacheHotBuddy) && env.dst.nr > 0 && t.isBuddy():
		return true
	case s.tun.MigrationCost < 0:
		return true
	}
	return s.now-t.se.execStart < s.tun.MigrationCost
}

// isBuddy reports whether the task is about to be picked.
func (t *Task) isBuddy() bool { return t.se.cfs.next == &t.se || t.se.cfs.last == &t.se }

// consider judges a task and notes what the verdict says about affinity. All
// verdicts pass through here.
func (s *Scheduler) consider(env *balanceEnv, t *Task) migrateVerdict {
	s.work.TasksExamined++
	v := s.canMigrate(env, t)
	s.observeJudgement(env, t, v)
	switch v {
	case migrateThrottled, migrateDelayed, migrateIneligible, migrateKthread, migrateIdleClass, migrateLastNormal:
	case migratePinned:
		env.flags |= envSomePinned
		if env.idle != NewlyIdle && !env.has(envDstPinned|envActive) && !s.profile.Balance.detach.oneDestination {
			s.findOtherDestination(env, t)
		}
	case migrateLLC:
		env.flags &^= envAllPinned
		if env.move != moveLLCTask {
			env.flags |= envLLCPinned
		}
	default:
		env.flags &^= envAllPinned
		if v == migrateForced {
			env.d.balanced.HotMoved[env.idle]++
		}
	}
	return v
}

// findOtherDestination remembers a CPU of the destination's group on which a
// task that may not run on dst could run.
func (s *Scheduler) findOtherDestination(env *balanceEnv, t *Task) {
	span := env.d.Groups.Span
	for w := range span {
		if word := span[w] & env.candidates[w] & t.allowed[w]; word != 0 {
			env.newDst = firstBit(w, word)
			env.flags |= envDstPinned
			return
		}
	}
}

// pull moves tasks from env.src until the imbalance is gone or nothing more
// can be taken, also to other CPUs of the destination's group that pinned
// tasks may run on.
func (s *Scheduler) pull(env *balanceEnv) int {
	env.loopMax = min(s.tun.NrMigrate, int64(env.src.nr))
	moved := 0
	for {
		s.work.RemoteLocks++
		s.detachTasks(env)
		moved += len(env.detached)
		if len(env.detached) > 0 {
			s.noteMoved(env.src)
			s.attachTasks(env)
		}
		if env.has(envNeedBreak) {
			env.flags &^= envNeedBreak
			continue
		}
		if !env.has(envDstPinned) || env.imbalance <= 0 {
			return moved
		}
		env.candidates.Clear(int(env.dst.cpu))
		env.dst = &s.rqs[env.newDst]
		env.flags &^= envDstPinned
		env.loop, env.loopBreak = 0, detachBatch
	}
}

// detachTasks takes tasks off the source into env.detached.
func (s *Scheduler) detachTasks(env *balanceEnv) {
	src, rules := env.src, &s.profile.Balance.detach
	env.detached = env.detached[:0]
	if src.nr <= 1 {
		env.flags &^= envAllPinned // emptied meanwhile: nobody was asked
		return
	}
	for env.imbalance > 0 {
		t := src.nextMigratable(rules.fromFront)
		if t == nil || (env.idle != NotIdle && src.nr <= 1) {
			return
		}
		env.loop++
		if env.loop > env.loopMax {
			return
		}
		if env.loop > env.loopBreak {
			env.loopBreak += detachBatch
			env.flags |= envNeedBreak
			return
		}
		if rules.loadFirst && s.tooBig(env, t) || !s.consider(env, t).moves() || !s.withinImbalance(env, t) {
			src.postpone(t, rules.fromFront)
			continue
		}
		s.detachTask(env, t)
		env.detached = append(env.detached, t)
		if env.idle == NewlyIdle && s.preemptKernel {
			return // a preemptible kernel keeps newidle balancing short
		}
	}
}

// tooBig reports whether a task's load is more than should be moved.
func (s *Scheduler) tooBig(env *balanceEnv, t *Task) bool {
	return s.profile.Balance.detach.tooMuch(s.taskHLoad(t), env.imbalance, env.d.nrBalanceFailed)
}

// withinImbalance takes the task's share off the imbalance, unless the task is
// too big for it.
func (s *Scheduler) withinImbalance(env *balanceEnv, t *Task) bool {
	amount := int64(1)
	switch env.move {
	case moveLoad:
		amount = max(s.taskHLoad(t), s.profile.Balance.detach.leastLoad)
		if s.features.Has(LBMin) && amount < 16 && env.d.nrBalanceFailed == 0 {
			return false
		}
		if s.profile.Balance.detach.tooMuch(amount, env.imbalance, env.d.nrBalanceFailed) {
			return false
		}
	case moveUtil:
		amount = s.taskUtilEst(t)
		compared := amount
		if s.profile.Balance.detach.shiftsUtil {
			compared >>= uint(env.d.nrBalanceFailed)
		}
		if compared > env.imbalance {
			return false
		}
	}
	env.imbalance -= amount
	return true
}

// nextMigratable returns the task to examine next.
func (rq *runqueue) nextMigratable(fromFront bool) *Task {
	if fromFront {
		return rq.lruHead
	}
	return rq.lruTail
}

// postpone moves a refused task to the far end of the list.
func (rq *runqueue) postpone(t *Task, fromFront bool) {
	if !fromFront {
		rq.moveLRUFront(t)
		return
	}
	rq.removeLRU(t)
	t.lruPrev = rq.lruTail
	if rq.lruTail != nil {
		rq.lruTail.lruNext = t
	} else {
		rq.lruHead = t
	}
	rq.lruTail = t
}

// detachTask takes a waiting task off the source; its load goes along.
func (s *Scheduler) detachTask(env *balanceEnv, t *Task) {
	s.work.TasksMoved++
	t.moving = true
	s.deactivateTask(env.src, t, 0)
	s.setTaskCPU(t, int(env.dst.cpu))
	t.moving = false
}

// attachTasks queues the detached tasks on the destination, the one detached
// last first.
func (s *Scheduler) attachTasks(env *balanceEnv) {
	if env.dst != env.here {
		s.work.RemoteLocks++
	}
	for i := len(env.detached) - 1; i >= 0; i-- {
		s.attachTask(env.dst, env.detached[i])
		env.detached[i] = nil
	}
	s.noteMoved(env.dst)
}

func (s *Scheduler) attachTask(dst *runqueue, t *Task) {
	s.activateTask(dst, t, 0)
	if s.observer != nil {
		s.observer.Arrives(t)
	}
	s.checkPreempt(dst, t, 0)
}
