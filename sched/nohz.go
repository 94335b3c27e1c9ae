package sched

import (
	"math/bits"

	"github.com/schedlab/schedlab/machine"
)

// Balancing for CPUs that have stopped their tick (mechanisms.md 9.9). They
// cannot balance themselves; a busy CPU that sees a reason at its tick kicks
// one of them, the idle load balancer, which does it for all.

// nohzState is what the tickless CPUs have in common.
type nohzState struct {
	idle        machine.CPUMask // CPUs whose tick is stopped
	count       int
	nextBalance int64 // jiffies: no full kick before
	hasBlocked  bool  // some tickless CPU has load to decay
	needsUpdate bool  // a CPU has joined since nextBalance was computed
	nextBlocked int64 // jiffies: when to decay that load
	old         nohz32
}

// What a kick asks the idle load balancer to do.
const (
	kickBalance uint8 = 1 << iota // balance for the idle CPUs
	kickStats                     // decay their blocked load
	kickNext                      // recompute when they are due
)

// blockedPeriod is how often blocked load of tickless CPUs is decayed, in ms:
// PELT's half-life.
const blockedPeriod = 32

// nohzRules is what differs in balancing for tickless CPUs.
type nohzRules struct {
	// kick says what a busy CPU wants done at its tick, 0 being nothing, and
	// keeps the next full kick from coming too soon.
	kick func(s *Scheduler, rq *runqueue) uint8
	// balance does what was asked, on the idle load balancer.
	balance func(s *Scheduler, rq *runqueue, flags uint8)
	// followsIdle: an idle CPU's own run pulls the common due time forward
	// (before v5.12).
	followsIdle bool
	// onlyLowest asks no other CPU than the lowest tickless one.
	onlyLowest bool
	// insists: the idle load balancer starts and goes on while its CPU is idle,
	// also when a reschedule has been asked for, which may just be how the CPU
	// was woken (v6.13, commits ea9cffc0a154 and ff47a0acfcce, and the stable
	// trees of v6.1 and v6.12).
	insists bool

	// What only v3.2 has (nohz32.go); nil or false elsewhere. balancer chooses
	// whom to kick; entered and left hear of CPUs that go tickless and come
	// back, which is when they leave the idle loop instead of at their first
	// busy tick (leavesAtOnce); a kick that finds its CPU busy may stay
	// (keepsLateKick) until the CPU balances idle (inSoftirq).
	balancer      func(s *Scheduler) int
	entered, left func(s *Scheduler, rq *runqueue)
	leavesAtOnce  bool
	keepsLateKick func(s *Scheduler) bool
	inSoftirq     func(s *Scheduler, rq *runqueue, idle IdleType)
}

func (s *Scheduler) initNohz() {
	s.initNohz32()
	s.nohz.idle = machine.NewCPUMask(len(s.rqs))
	s.initBalance()
}

// nohzEnter notes that an idle CPU has stopped its tick.
func (s *Scheduler) nohzEnter(rq *runqueue) {
	rq.nohz.hasBlocked = true
	if !rq.nohz.tickStopped {
		if rq.sd == nil {
			return
		}
		rq.nohz.tickStopped = true
		s.nohz.idle.Set(int(rq.cpu))
		s.nohz.count++
		s.work.SharedLineWrite++
		s.setLLCBusy(rq, false)
		s.nohz.needsUpdate = true
	}
	s.nohz.hasBlocked = true
	if entered := s.profile.Balance.nohz.entered; entered != nil {
		entered(s, rq)
	}
}

// nohzExit ends that state at the CPU's first busy tick.
func (s *Scheduler) nohzExit(rq *runqueue) {
	if !rq.nohz.tickStopped {
		return
	}
	rq.nohz.tickStopped = false
	s.nohz.idle.Clear(int(rq.cpu))
	s.nohz.count--
	s.work.SharedLineWrite++
	s.setLLCBusy(rq, true)
	if left := s.profile.Balance.nohz.left; left != nil {
		left(s, rq)
	}
}

// leaveIdle notes that a CPU has begun to run a task.
func (s *Scheduler) leaveIdle(rq *runqueue) {
	if s.profile.Balance.nohz.leavesAtOnce {
		s.nohzExit(rq)
	}
}

// setLLCBusy counts a CPU in or out of its cache's busy CPUs.
func (s *Scheduler) setLLCBusy(rq *runqueue, busy bool) {
	if rq.llc == nil || rq.llc.nohzIdle == !busy {
		return
	}
	rq.llc.nohzIdle = !busy
	s.work.SharedLineWrite++
	if busy {
		rq.llcShared.NrBusyCPUs++
	} else {
		rq.llcShared.NrBusyCPUs--
	}
}

// wantsHelp reports whether a busy CPU has a reason to wake the idle load
// balancer: tasks wait, the CPU is slowed down, or its cache is shared.
func (s *Scheduler) wantsHelp(rq *runqueue) bool {
	return rq.nr >= 2 ||
		(s.tasksOn(rq) >= 1 && rq.reducedCapacity(rq.sd)) ||
		(rq.llcShared != nil && rq.llcShared.NrBusyCPUs > 1)
}

// nohzKick510 asks for a full balance when there is a reason, for a decay when
// one is due.
func nohzKick510(s *Scheduler, rq *runqueue) uint8 {
	if s.nohz.count == 0 {
		return 0
	}
	if s.jiffies >= s.nohz.nextBalance && s.wantsHelp(rq) {
		s.nohz.nextBalance = s.jiffies + 1
		return kickBalance | kickStats
	}
	if s.nohz.hasBlocked && s.jiffies > s.nohz.nextBlocked {
		return kickStats
	}
	return 0
}

// nohzKick517 also has the due time recomputed when a CPU has gone tickless.
func nohzKick517(s *Scheduler, rq *runqueue) uint8 {
	if s.nohz.count == 0 {
		return 0
	}
	flags := nohzKick510(s, rq)
	if s.nohz.needsUpdate {
		flags |= kickNext
	}
	return flags
}

// kickIdleBalancer interrupts the first tickless CPU that is idle; one that
// has been kicked already just gets the new wishes.
func (s *Scheduler) kickIdleBalancer(rq *runqueue, flags uint8) {
	ilb := s.idleBalancer(rq)
	if ilb < 0 {
		return
	}
	pending := &s.rqs[ilb].nohz.flags
	first := *pending == 0
	*pending |= flags
	if first {
		s.driver.NohzKick(ilb)
	}
}

// idleBalancer returns the CPU that a kick of rq's goes to, -1 if none will do.
func (s *Scheduler) idleBalancer(rq *runqueue) int {
	rules := &s.profile.Balance.nohz
	if rules.balancer != nil {
		return rules.balancer(s)
	}
	ilb := s.firstTickless(int(rq.cpu))
	if rules.onlyLowest && ilb != s.nohz.idle.First() {
		return -1
	}
	return ilb
}

// firstTickless returns the lowest idle CPU with a stopped tick, -1 if none.
func (s *Scheduler) firstTickless(self int) int {
	for w := range s.nohz.idle {
		word := s.nohz.idle[w] & s.idle[w]
		for ; word != 0; word &= word - 1 {
			if c := firstBit(w, word); c != self {
				return c
			}
		}
	}
	return -1
}

// firstBit returns the CPU of the lowest bit in word w of a mask.
func firstBit(w int, word uint64) int { return w<<6 + bits.TrailingZeros64(word) }

// NohzBalance is the idle load balancer at work: cpu, kicked by
// [Driver.NohzKick], balances for the tickless CPUs. It returns false when
// nothing was done because cpu is no longer idle or is about to run a task.
func (s *Scheduler) NohzBalance(now int64, cpu int) bool {
	s.setNow(now)
	rq := &s.rqs[cpu]
	flags := rq.nohz.flags
	rq.idleBalance = rq.idleCPU()
	late := !rq.idleBalance || s.idleWorkOver(rq)
	if keeps := s.profile.Balance.nohz.keepsLateKick; !late || keeps == nil || !keeps(s) {
		rq.nohz.flags = 0
	}
	if flags == 0 || late {
		return false
	}
	s.enterBalancing(rq)
	s.profile.Balance.nohz.balance(s, rq, flags)
	return true
}

// idleWorkOver reports whether a CPU should stop balancing for others.
func (s *Scheduler) idleWorkOver(rq *runqueue) bool {
	return rq.needResched && !(s.profile.Balance.nohz.insists && rq.idleCPU())
}

// nohzBalance517 visits the tickless CPUs from the one after this one, itself
// last, so that the others get a chance to pull first.
func nohzBalance517(s *Scheduler, rq *runqueue, flags uint8) {
	now := s.jiffies
	if flags&kickStats != 0 {
		s.nohz.hasBlocked = false
	}
	if flags&kickNext != 0 {
		s.nohz.needsUpdate = false
	}
	next, bounded, blocked := now+60*s.hz, false, false
	self := int(rq.cpu)
	n := s.nohz.idle.Count()
	for c := self; n > 0; n-- {
		c = s.nextTickless(c)
		other := &s.rqs[c]
		if !other.idleCPU() {
			continue
		}
		if s.idleWorkOver(rq) { // this CPU got work: leave the rest for later
			blocked = blocked || flags&kickStats != 0
			s.nohz.needsUpdate = s.nohz.needsUpdate || flags&kickNext != 0
			s.nohz.hasBlocked = s.nohz.hasBlocked || blocked
			return
		}
		if flags&kickStats != 0 {
			blocked = s.updateNohzStats(other, false) || blocked
		}
		if flags&kickBalance != 0 && s.jiffies >= other.nextBalance {
			s.rebalance(other, Idle)
		}
		if other.nextBalance < next {
			next, bounded = other.nextBalance, true
		}
	}
	if bounded {
		s.nohz.nextBalance = next
	}
	if flags&kickStats != 0 {
		s.nohz.nextBlocked = now + s.msToJiffies(blockedPeriod)
	}
	s.nohz.hasBlocked = s.nohz.hasBlocked || blocked
}

// nextTickless returns the tickless CPU after c, wrapping round.
func (s *Scheduler) nextTickless(c int) int {
	if next := s.nohz.idle.Next(c + 1); next >= 0 {
		return next
	}
	return s.nohz.idle.First()
}

// nohzBalance510 visits the others in increasing order, then balances the CPU
// itself.
func nohzBalance510(s *Scheduler, rq *runqueue, flags uint8) {
	now := s.jiffies
	next, bounded, done := s.decayTickless(rq, flags)
	if !done {
		return
	}
	if bounded {
		s.nohz.nextBalance = next
	}
	s.decayBlocked(rq)
	s.nohz.hasBlocked = s.nohz.hasBlocked || rq.nohz.hasBlocked
	if flags&kickBalance != 0 {
		s.rebalance(rq, Idle)
	}
	s.nohz.nextBlocked = now + s.msToJiffies(blockedPeriod)
}

// decayTickless decays the blocked load of the other tickless CPUs and, when
// asked to, balances those that are due. It returns when the first of them is
// due next; done is false when this CPU got work meanwhile.
func (s *Scheduler) decayTickless(rq *runqueue, flags uint8) (next int64, bounded, done bool) {
	s.nohz.hasBlocked = false
	next = s.jiffies + 60*s.hz
	blocked := false
	for c := s.nohz.idle.First(); c >= 0; c = s.nohz.idle.Next(c + 1) {
		other := &s.rqs[c]
		if other == rq || !other.idleCPU() {
			continue
		}
		if rq.needResched {
			s.nohz.hasBlocked = true
			return next, bounded, false
		}
		blocked = s.updateNohzStats(other, true) || blocked
		if flags&kickBalance != 0 && s.jiffies >= other.nextBalance {
			s.rebalance(other, Idle)
		}
		if other.nextBalance < next {
			next, bounded = other.nextBalance, true
		}
	}
	s.nohz.hasBlocked = s.nohz.hasBlocked || blocked
	return next, bounded, true
}

// updateNohzStats decays a tickless CPU's blocked load, once a jiffy unless
// forced, and reports whether some is left.
func (s *Scheduler) updateNohzStats(rq *runqueue, force bool) bool {
	if !rq.nohz.hasBlocked || !rq.nohz.tickStopped {
		return false
	}
	if !force && s.jiffies <= rq.lastBlockedUpdate {
		return true
	}
	s.decayBlocked(rq)
	return rq.nohz.hasBlocked
}

// decayBlocked brings a CPU's averages up to now and notes when nothing is
// left to decay.
func (s *Scheduler) decayBlocked(rq *runqueue) {
	if s.observer != nil {
		s.observer.Decays(int(rq.cpu))
	}
	s.updateBlockedAverages(rq)
	if !rq.hasBlockedLoad() {
		rq.nohz.hasBlocked = false
	}
}

// updateIdleLoads lets a CPU that found nothing to do, and will idle for a
// while, decay the blocked load of the tickless CPUs; else one of them would
// have to be woken for it.
func (s *Scheduler) updateIdleLoads(rq *runqueue) {
	if rq.avgIdle < s.tun.MigrationCost || !s.nohz.hasBlocked || s.jiffies < s.nohz.nextBlocked {
		return
	}
	if s.profile.Balance.newidle.updatesAtEnd {
		nohzBalance517(s, rq, kickStats)
		return
	}
	now := s.jiffies
	if next, bounded, done := s.decayTickless(rq, kickStats); done {
		if bounded {
			s.nohz.nextBalance = next
		}
		s.nohz.nextBlocked = now + s.msToJiffies(blockedPeriod)
	}
}

// decaysNohzStats reports whether a pass decays the loads of the tickless CPUs
// that it looks at.
func (s *Scheduler) decaysNohzStats(env *balanceEnv) bool {
	return s.profile.Balance.newidle.decaysNohz && env.idle == NewlyIdle && s.nohz.hasBlocked
}

// postponeNohzStats puts the next common decay off when a pass has just seen
// all tickless CPUs.
func (s *Scheduler) postponeNohzStats(env *balanceEnv) {
	if s.nohz.idle.SubsetOf(env.d.Span) {
		s.nohz.nextBlocked = s.jiffies + s.msToJiffies(blockedPeriod)
	}
}
