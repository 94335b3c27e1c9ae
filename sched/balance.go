package sched

import "github.com/schedlab/schedlab/machine"

// Load balancing (mechanisms.md 9). A CPU pulls: at its tick it walks its
// domains from the bottom up ([Scheduler.rebalance]) and in each domain that
// is due makes one pass ([Scheduler.balancePass]): find the busiest group
// (imbalance.go), its busiest CPU, and take tasks from there (detach.go). When
// that fails too often, the busiest CPU is made to push its running task
// (active.go). A CPU about to go idle does the same at once (newidle.go), and
// one idle CPU does it for all whose tick is stopped (nohz.go).

// balanceRules is what differs in balancing between kernel versions.
type balanceRules struct {
	// findBusiest chooses the group to pull from, nil when the domain is
	// balanced, and says in env how much of what to move.
	findBusiest func(s *Scheduler, env *balanceEnv) *CPUGroup
	// spread turns the difference of tasks (or idle CPUs) between two groups
	// into the number of tasks to move; NUMA domains allow small differences.
	spread func(env *balanceEnv, local, busiest *groupStats, difference int64) int64
	// siblingDifference compares groups of which the tasks should spread.
	siblingDifference differenceRule
	// busierAmongEquals compares two groups of one type.
	busierAmongEquals func(c, best *groupStats, first bool) bool
	// elected reports whether a CPU that is not newly idle is the one of its
	// group that balances the domain.
	elected func(s *Scheduler, env *balanceEnv) bool
	// balancesCores: remote cores on which several tasks run are a group type.
	balancesCores bool
	// skipsDelayed: tasks that wait for their delayed dequeue do not count as
	// tasks to move.
	skipsDelayed bool
	// fillAboveAverage: a local group that is not overloaded takes load even
	// when it is above the domain's average (a bug of v5.17, mended later and in
	// the stable trees of v5.10).
	fillAboveAverage bool
	// emptyQueues: a CPU without tasks whose blocked load is the largest can
	// be taken for the busiest (before v5.12).
	emptyQueues bool
	// loadHistory: groups are compared by loads smoothed over ticks.
	loadHistory bool

	interval intervalRules
	detach   detachRules
	active   activeRules
	newidle  newidleRules
	nohz     nohzRules
}

// intervalRules say how often a domain is balanced (mechanisms.md 9.2).
type intervalRules struct {
	// schedIdleIsIdle: a CPU that runs only SCHED_IDLE work balances as often
	// as an idle one.
	schedIdleIsIdle bool
	// busyLead shortens busy intervals, in jiffies, so that those of different
	// levels are no multiples of each other.
	busyLead int64
	// locksInPass: the lock of SERIALIZE domains is taken inside the pass, of
	// newidle balancing too, and a pass that does not get it counts as balanced;
	// otherwise the periodic walk takes it and skips the domain.
	locksInPass bool
	// newidleGrows: a newidle pass without result lengthens the interval too.
	newidleGrows bool
	// stickyDecay: one domain whose newidle cost decayed is enough for the
	// walk to go on and refresh the CPU's own limit; later only the last one
	// visited counts.
	stickyDecay bool
	// successIsBusy: after a pass that moved something the CPU counts as busy,
	// also when the tasks went elsewhere; the domain's own next pass keeps the
	// interval that was meant before (v3.8).
	successIsBusy bool
}

// Section 6.7 tells only part of v5.10; the rest of its values were checked
// against v5.10.228, of which the later change to the utilization filter is
// left out. v4.14 is in balance414.go.
var balance510 = balanceRules{
	findBusiest: findBusiestGroup, spread: spread510, emptyQueues: true,
	siblingDifference: taskDifference, busierAmongEquals: busier510, elected: electedFirstIdle,
	interval: intervalRules{schedIdleIsIdle: true, busyLead: 1, stickyDecay: true},
	detach:   detachRules{tooMuch: tooMuchFor, leastLoad: 1, smtSiblingsCold: true, kthreadsStay: true, throttled: throttledBetween},
	active:   activeRules{needed: activeNeeded510, pinnedIsAllPinned: true, forcesTask: true, regulated: true},
	newidle:  newidleRules{tooShort: shorterThanMigration, updatesWhenTooShort: true, decaysNohz: true},
	nohz:     nohzRules{kick: nohzKick510, balance: nohzBalance510, followsIdle: true},
}

var balance517 = balanceRules{
	findBusiest: findBusiestGroup, spread: spread517, fillAboveAverage: true,
	siblingDifference: taskDifference, busierAmongEquals: busier510, elected: electedFirstIdle,
	interval: intervalRules{schedIdleIsIdle: true, busyLead: 1},
	detach:   detachRules{tooMuch: tooMuchFor, leastLoad: 1, smtSiblingsCold: true, kthreadsStay: true, throttled: throttledBetween},
	active:   activeRules{needed: activeNeeded517, ignoresHeat: true},
	newidle: newidleRules{tooShort: shorterThanLowestDomain, seesPending: true, chargesUpdate: true,
		costRestartsDecay: true, updatesAtEnd: true},
	nohz: nohzRules{kick: nohzKick517, balance: nohzBalance517},
}

var balance517tip = func() balanceRules {
	r := balance517
	r.spread = spread517tip
	return r
}()

var balance61 = func() balanceRules {
	r := balance517
	r.spread = spread61
	r.fillAboveAverage = false
	r.detach.shiftsUtil = true
	r.newidle.refusesWork = true
	// 6.1.192 lists NI_RANDOM; that its rule is that of 6.12 is taken for granted.
	r.newidle.rollsDice = func(*Domain) bool { return true }
	r.nohz.insists = true
	return r
}()

// moveType says what a pass moves and counts (mechanisms.md 9.5).
type moveType uint8

const (
	moveLoad moveType = iota
	moveUtil
	moveTask
	moveLLCTask // tasks that prefer the destination's cache

	numCountedMoves = moveLLCTask // schedstat has no column for it
)

// String returns the word used in reports.
func (m moveType) String() string { return [...]string{"load", "util", "task", "LLC task"}[m] }

// envFlag is what a pass has learned about affinity, and its mode.
type envFlag uint8

const (
	envSomePinned envFlag = 1 << iota // a task was not allowed on dst
	envAllPinned                      // no task so far was allowed on dst
	envDstPinned                      // such a task may run on newDst, in dst's group
	envNeedBreak                      // give the source's lock back, then go on
	envActive                         // the stopper pushes: the task may have been running
	envLLCPinned                      // a task stayed because of its preferred cache
	envLocked                         // the pass holds the lock of SERIALIZE domains
)

// balanceEnv is the state of one pass over one domain. The scheduler has one
// and uses it again for every pass: passes never nest.
type balanceEnv struct {
	d    *Domain
	idle IdleType
	// here is the CPU that executes the pass, owner the one it is made for
	// (another one when an idle CPU balances for others), dst the one that
	// tasks go to (another one of its group when they may not run on it).
	here, owner, dst, src *runqueue
	newDst                int
	candidates            machine.CPUMask // CPUs of the domain that may be looked at
	flags                 envFlag
	move                  moveType
	imbalance             int64 // still to move, in units of move
	loop                  int64 // tasks examined
	loopBreak             int64
	loopMax               int64
	detached              []*Task
	stats                 domainStats
	stats414              domainStats414
	stats38               domainStats38
}

func (env *balanceEnv) has(f envFlag) bool { return env.flags&f != 0 }

// balanceState is the balancer's part of the [Scheduler].
type balanceState struct {
	env balanceEnv
	// entered is the cost of the work done before the call that balances now; with it the
	// balancer knows how far into the call it is.
	entered int64
	// serializedUntil is when the CPU that balances a SERIALIZE domain gives
	// the global lock back.
	serializedUntil int64
}

func (s *Scheduler) initBalance() {
	s.lb.env.candidates = machine.NewCPUMask(len(s.rqs))
}

// triggerBalance is the tick's part of balancing: note whether the CPU idles,
// ask for a balance run when one is due, and see whether tickless CPUs should
// be woken to help (mechanisms.md 9.1).
func (s *Scheduler) triggerBalance(rq *runqueue) {
	rules := &s.profile.Balance
	rq.idleBalance = rq.idleCPU()
	if rules.loadHistory {
		s.recordLoad(rq)
	}
	if rq.sd == nil {
		return
	}
	if s.jiffies >= rq.nextBalance {
		s.driver.BalanceSoftirq(int(rq.cpu))
	}
	if rq.idleBalance {
		return
	}
	s.nohzExit(rq)
	if flags := rules.nohz.kick(s, rq); flags != 0 {
		s.kickIdleBalancer(rq, flags)
	}
}

// BalanceSoftirq balances the domains of cpu that are due. The driver calls it
// at the end of the interrupt in which [Driver.BalanceSoftirq] was raised.
func (s *Scheduler) BalanceSoftirq(now int64, cpu int) {
	s.setNow(now)
	rq := &s.rqs[cpu]
	s.enterBalancing(rq)
	idle := NotIdle
	if rq.idleBalance {
		idle = Idle
	}
	s.decayBlocked(rq)
	s.rebalance(rq, idle)
	if more := s.profile.Balance.nohz.inSoftirq; more != nil {
		more(s, rq, idle)
	}
}

// enterBalancing notes where the call that balances started, and its CPU.
func (s *Scheduler) enterBalancing(here *runqueue) {
	s.lb.entered = s.spent()
	s.lb.env.here = here
}

// balanceClock is the time as the balancing CPU sees it: it has worked since
// the call began.
func (s *Scheduler) balanceClock() int64 { return s.now + s.elapsed(s.lb.entered) }

// rebalance makes a pass over each of a CPU's domains that is due
// (mechanisms.md 9.2).
func (s *Scheduler) rebalance(rq *runqueue, idle IdleType) {
	rules := &s.profile.Balance.interval
	next := s.jiffies + 60*s.hz
	bounded, decayed := false, false
	stopped := s.variants.pull != nil && s.variants.pull.beforeRebalance(s, rq)
	var totalCost int64
	for d := rq.sd; d != nil; d = d.Parent {
		s.work.DomainSteps++
		decayed = decayNewidleCost(s, d) || (decayed && rules.stickyDecay)
		totalCost += d.maxNewidleCost
		if stopped {
			if decayed {
				continue
			}
			break
		}
		interval := s.interval(rq, d, idle)
		if s.jiffies >= d.lastBalance+interval && (rules.locksInPass || s.lockSerialized(d)) {
			res := s.balancePass(rq, d, idle)
			if !rules.locksInPass {
				s.unlockSerialized(d)
			}
			stopped = res.outcome == passNotElected
			if res.moved > 0 {
				idle = NotIdle
				if rq.idleCPU() && !rules.successIsBusy {
					idle = Idle
				}
			}
			d.lastBalance = s.jiffies
			if !rules.successIsBusy {
				interval = s.interval(rq, d, idle)
			}
		}
		if due := d.lastBalance + interval; due < next {
			next, bounded = due, true
		}
	}
	if decayed {
		s.setMaxIdleBalanceCost(rq, max(s.tun.MigrationCost, totalCost))
	}
	if bounded {
		s.setNextBalance(rq, next, idle)
	}
}

func (s *Scheduler) setNextBalance(rq *runqueue, next int64, idle IdleType) {
	rq.nextBalance = next
	if s.profile.Balance.nohz.followsIdle && idle == Idle {
		s.nohz.nextBalance = min(s.nohz.nextBalance, next)
	}
}

// interval is how many jiffies lie between two passes over a domain.
func (s *Scheduler) interval(rq *runqueue, d *Domain, idle IdleType) int64 {
	rules := &s.profile.Balance.interval
	busy := idle != Idle && !(rules.schedIdleIsIdle && rq.schedIdle())
	ms := d.balanceInterval
	if busy {
		ms *= d.BusyFactor
	}
	jiffies := s.msToJiffies(ms)
	if busy {
		jiffies -= rules.busyLead
	}
	return min(max(1, jiffies), s.maxBalanceInterval())
}

// idleInterval is the interval that newidle balancing plans with.
func (s *Scheduler) idleInterval(d *Domain) int64 {
	return min(max(1, s.msToJiffies(d.balanceInterval)), s.maxBalanceInterval())
}

// lockSerialized takes the machine-wide lock under which NUMA domains are
// balanced; a CPU that finds it taken leaves the domain for its next run.
func (s *Scheduler) lockSerialized(d *Domain) bool {
	return !d.has(FlagSerialize) || s.balanceClock() >= s.lb.serializedUntil
}

// lockForPass takes the lock once for all tries of a pass.
func (s *Scheduler) lockForPass(env *balanceEnv) bool {
	if !env.d.has(FlagSerialize) || env.has(envLocked) {
		return true
	}
	if !s.lockSerialized(env.d) {
		return false
	}
	env.flags |= envLocked
	return true
}

func (s *Scheduler) unlockSerialized(d *Domain) {
	if d.has(FlagSerialize) {
		s.lb.serializedUntil = s.balanceClock()
	}
}

// decayNewidleCost lets a domain's newidle cost fall by 1.2 % once a second,
// so that one expensive pass is forgotten.
func decayNewidleCost(s *Scheduler, d *Domain) bool {
	if s.jiffies <= d.lastDecay+s.hz {
		return false
	}
	d.maxNewidleCost = d.maxNewidleCost * 253 / 256
	d.lastDecay = s.jiffies
	return true
}

// BalanceStats returns the counters of the CPU's passes over the domain.
func (d *Domain) BalanceStats() *BalanceStats { return &d.balanced }

// passOutcome says how a pass ended.
type passOutcome uint8

const (
	passBalanced      passOutcome = iota
	passNotElected                // another CPU of the group balances this domain
	passMoved                     // tasks were moved
	passFailed                    // none of the source's tasks could be moved
	passActive                    // failed, and the source was told to push its running task
	passAllPinned                 // every source had only tasks that may not run here
	passCurrentPinned             // active balancing refused: the running task may not run here
)

// String returns a short phrase for reports.
func (o passOutcome) String() string {
	return [...]string{"balanced", "not elected", "moved", "failed", "active", "all pinned", "current pinned"}[o]
}

// passResult is what one pass decided and did.
type passResult struct {
	outcome   passOutcome
	src       int32 // CPU it pulled from, -1 when none was found
	move      moveType
	imbalance int64 // what was to be moved, in units of move
	moved     int   // tasks
}

// balancePass balances one domain for one CPU [load_balance]. Every pass, of
// whatever kind of balancing, goes through here and through closePass.
func (s *Scheduler) balancePass(rq *runqueue, d *Domain, idle IdleType) passResult {
	env := s.beginPass(rq, d, idle)
	s.observePass(env)
	d.balanced.Passes[idle]++
	res, again := s.tryPull(env)
	for again {
		res, again = s.tryPull(env)
	}
	if res.outcome == passFailed {
		s.afterFailure(env, &res)
	}
	s.closePass(env, &res)
	if env.has(envLocked) {
		s.unlockSerialized(d)
	}
	s.observePassEnd(env, res.moved)
	return res
}

func (s *Scheduler) beginPass(rq *runqueue, d *Domain, idle IdleType) *balanceEnv {
	env := &s.lb.env
	env.d, env.idle, env.owner, env.dst, env.src = d, idle, rq, rq, nil
	env.flags, env.loop, env.loopBreak = 0, 0, detachBatch
	env.candidates.CopyFrom(d.Span)
	env.candidates.And(s.online)
	return env
}

// tryPull looks for a source and pulls from it. again asks for another try
// without that source, whose tasks may all not run here.
func (s *Scheduler) tryPull(env *balanceEnv) (res passResult, again bool) {
	res.src = -1
	if !s.elected(env) {
		res.outcome = passNotElected
		return res, false
	}
	if s.profile.Balance.interval.locksInPass && !s.lockForPass(env) {
		return res, false
	}
	group := s.profile.Balance.findBusiest(s, env)
	if group == nil {
		env.d.balanced.NoBusyGroup[env.idle]++
		return res, false
	}
	env.src = s.busiestQueue(env, group)
	if env.src == nil {
		env.d.balanced.NoBusyQueue[env.idle]++
		return res, false
	}
	if env.move < numCountedMoves {
		env.d.balanced.Imbalance[env.idle][env.move] += env.imbalance
	}
	res.src, res.move, res.imbalance = env.src.cpu, env.move, env.imbalance
	res.outcome = passFailed
	env.flags |= envAllPinned
	if env.src.nr <= 1 {
		return res, false
	}
	if res.moved = s.pull(env); res.moved > 0 {
		res.outcome = passMoved
	}
	s.markImbalance(env)
	if !env.has(envAllPinned) {
		return res, false
	}
	env.candidates.Clear(int(env.src.cpu))
	if !env.candidates.SubsetOf(env.d.Groups.Span) {
		env.loop, env.loopBreak = 0, detachBatch
		return res, true
	}
	res.outcome = passAllPinned
	return res, false
}

// elected reports whether dst is the one CPU of its group that balances this
// domain [should_we_balance].
func (s *Scheduler) elected(env *balanceEnv) bool {
	dst := int(env.dst.cpu)
	if !env.candidates.Has(dst) {
		return false
	}
	if env.idle == NewlyIdle {
		return !s.profile.Balance.newidle.refusesWork || (env.dst.nr == 0 && !env.dst.wakePending)
	}
	return s.profile.Balance.elected(s, env)
}

// electedFirstIdle: the first idle CPU, or else the group's first.
func electedFirstIdle(s *Scheduler, env *balanceEnv) bool {
	dst := int(env.dst.cpu)
	balancers := env.d.Groups.Cap.BalanceMask
	for w := range balancers {
		if idle := balancers[w] & env.candidates[w] & s.idle[w]; idle != 0 {
			return firstBit(w, idle) == dst
		}
	}
	return balancers.First() == dst
}

// tasksOn is how many tasks of a CPU count for balancing.
func (s *Scheduler) tasksOn(rq *runqueue) int32 {
	if s.profile.Balance.skipsDelayed {
		return rq.cfs.runnable()
	}
	return rq.cfs.h
}

// busiestQueue chooses the CPU of a group to pull from (mechanisms.md 9.5).
func (s *Scheduler) busiestQueue(env *balanceEnv, group *CPUGroup) *runqueue {
	var busiest *runqueue
	var most int64
	capacityOfMost := int64(1)
	for c := group.Span.First(); c >= 0; c = group.Span.Next(c + 1) {
		rq := &s.rqs[c]
		if !env.candidates.Has(c) || (s.tasksOn(rq) == 0 && !s.profile.Balance.emptyQueues) {
			continue
		}
		s.work.GroupCPUs++
		switch env.move {
		case moveLoad:
			load := s.cpuLoad(rq)
			if s.tasksOn(rq) == 1 && load > env.imbalance && !rq.reducedCapacity(env.d) {
				continue
			}
			if load*capacityOfMost > most*rq.capacity {
				busiest, most, capacityOfMost = rq, load, rq.capacity
			}
		case moveUtil:
			if util := s.cpuUtil(rq); s.tasksOn(rq) > 1 && util > most {
				busiest, most = rq, util
			}
		case moveTask:
			if h := int64(s.tasksOn(rq)); h > most {
				busiest, most = rq, h
			}
		case moveLLCTask:
			if n := int64(s.prefers(rq, env.dst)); n > most {
				busiest, most = rq, n
			}
		}
	}
	return busiest
}

// reducedCapacity reports whether interrupts or other classes take a
// noticeable part of the CPU [check_cpu_capacity].
func (rq *runqueue) reducedCapacity(d *Domain) bool {
	return rq.capacity*d.ImbalancePct < rq.capacityOrig*100
}

// markImbalance tells the level above that affinity kept this one from being
// balanced, so that it may look for other tasks there.
func (s *Scheduler) markImbalance(env *balanceEnv) {
	if env.d.Parent != nil && env.has(envSomePinned) && env.imbalance > 0 {
		env.d.Parent.Groups.Cap.Imbalance = true
	}
}

// maxPinnedInterval bounds, in ms, the interval of a domain whose tasks are
// all pinned.
const maxPinnedInterval = 512

// closePass keeps the books of a pass: failures, intervals, and the flag of the
// level above (mechanisms.md 9.6).
func (s *Scheduler) closePass(env *balanceEnv, res *passResult) {
	d := env.d
	switch res.outcome {
	case passMoved:
		d.balanced.Moved[env.idle] += int64(res.moved)
		d.nrBalanceFailed = 0
		d.balanceInterval = d.MinInterval
	case passFailed:
		d.balanceInterval = d.MinInterval
	case passActive:
		s.settleActive(env)
	case passCurrentPinned:
		s.growInterval(env)
	default:
		if res.outcome != passAllPinned && d.Parent != nil && !env.has(envAllPinned) {
			d.Parent.Groups.Cap.Imbalance = false
		}
		d.balanced.Balanced[env.idle]++
		d.nrBalanceFailed = 0
		s.growInterval(env)
	}
}

// growInterval doubles the time until a domain that gave nothing is looked at
// again.
func (s *Scheduler) growInterval(env *balanceEnv) {
	if env.idle == NewlyIdle && !s.profile.Balance.interval.newidleGrows {
		return
	}
	d := env.d
	if d.balanceInterval < d.MaxInterval || (env.has(envAllPinned) && d.balanceInterval < maxPinnedInterval) {
		d.balanceInterval *= 2
	}
}
