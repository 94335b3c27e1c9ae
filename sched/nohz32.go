package sched

// Tickless balancing of v3.2 (mechanisms.md 4.11, 9.9): the first CPU that goes
// tickless is nominated to balance for all, and only two busy CPUs at a time
// may ask for it. Our model of an improved balancer mends four weaknesses, each
// under a feature of its own; it is no patch that anybody sent:
//
//	NOHZ_FIX_PICKS   any CPU on which tasks wait may ask
//	NOHZ_FIX_KICK    a kick that came too late does not swallow the next ones
//	NOHZ_FIX_DUE     who goes tickless brings the common due time forward
//	NOHZ_FIX_CLOCK   the loads of the CPU that is balanced are brought up to
//	                 date, not those of the CPU that does the work
//
// NOHZ_IDLE_FIX is all of them.

var nohzFixes = Features(NohzFixPicks, NohzFixKick, NohzFixDue, NohzFixClock)

// nohz32 is the state that only v3.2 has. A CPU number of noCPU is nobody.
type nohz32 struct {
	balancer                int // the nominated balancer
	firstPick, secondPick   int // who may ask for a balance
	picks, kick, due, clock bool
}

func (s *Scheduler) initNohz32() {
	all := s.features.Has(NohzIdleFix)
	s.nohz.old = nohz32{
		balancer: noCPU, firstPick: noCPU, secondPick: noCPU,
		picks: all || s.features.Has(NohzFixPicks),
		kick:  all || s.features.Has(NohzFixKick),
		due:   all || s.features.Has(NohzFixDue),
		clock: all || s.features.Has(NohzFixClock),
	}
}

// nohzEntered32 gives up the right to ask, and nominates the CPU if nobody is.
func nohzEntered32(s *Scheduler, rq *runqueue) {
	n, cpu := &s.nohz.old, int(rq.cpu)
	if n.firstPick == cpu {
		n.firstPick = noCPU
	}
	if n.secondPick == cpu {
		n.secondPick = noCPU
	}
	if n.balancer == noCPU {
		n.balancer = cpu
	}
	if n.due {
		s.nohz.nextBalance = min(s.nohz.nextBalance, rq.nextBalance)
	}
}

// nohzLeft32: a CPU that becomes busy is no longer nominated.
func nohzLeft32(s *Scheduler, rq *runqueue) {
	if s.nohz.old.balancer == int(rq.cpu) {
		s.nohz.old.balancer = noCPU
	}
}

// nohzKick32 asks only at ticks at which the CPU does not balance itself.
func nohzKick32(s *Scheduler, rq *runqueue) uint8 {
	if s.jiffies >= rq.nextBalance || s.jiffies < s.nohz.nextBalance || !s.nohz.old.mayAsk(rq) {
		return 0
	}
	s.nohz.nextBalance++
	return kickBalance
}

// mayAsk takes one of the two places, if one is free, and reports whether the
// CPU has a reason to ask: the first needs a waiting task, the second just one
// that runs.
func (n *nohz32) mayAsk(rq *runqueue) bool {
	cpu := int(rq.cpu)
	if n.picks && rq.nr > 1 {
		return true
	}
	switch {
	case n.firstPick == noCPU || n.firstPick == cpu:
		n.firstPick = cpu
		if n.secondPick == cpu {
			n.secondPick = noCPU
		}
		return rq.nr > 1
	case n.secondPick == noCPU || n.secondPick == cpu:
		n.secondPick = cpu
		return rq.nr > 0
	}
	return false
}

// nominated32 returns the CPU to kick: the nominated one, or else the lowest
// tickless one; whether it idles is not asked.
func nominated32(s *Scheduler) int {
	if n := s.nohz.old.balancer; n != noCPU {
		return n
	}
	return s.nohz.idle.First()
}

// nohzBalance32 balances the CPU itself, then the other tickless ones.
func nohzBalance32(s *Scheduler, rq *runqueue, _ uint8) {
	s.decayBlocked(rq)
	s.rebalance(rq, Idle)
	s.balanceTickless32(rq)
}

// balanceTickless32 does the part of it that is for others.
func (s *Scheduler) balanceTickless32(rq *runqueue) {
	for c := s.nohz.idle.First(); c >= 0 && !rq.needResched; c = s.nohz.idle.Next(c + 1) {
		other := &s.rqs[c]
		if other == rq {
			continue
		}
		if s.nohz.old.clock {
			s.recordIdleLoad(other)
		} else {
			s.recordIdleLoad(rq)
		}
		s.decayBlocked(other)
		s.rebalance(other, Idle)
		rq.nextBalance = min(rq.nextBalance, other.nextBalance)
	}
	s.nohz.nextBalance = rq.nextBalance
	rq.nohz.flags = 0
}

// nohzInSoftirq32 makes good for a kick that arrived when the CPU was busy, at
// the CPU's next balance while it idles.
func nohzInSoftirq32(s *Scheduler, rq *runqueue, idle IdleType) {
	if idle == Idle && rq.nohz.flags != 0 {
		s.balanceTickless32(rq)
	}
}

var balance32 = func() balanceRules {
	r := balance38
	r.detach.oneDestination = true
	r.nohz = nohzRules{
		kick: nohzKick32, balance: nohzBalance32, balancer: nominated32,
		entered: nohzEntered32, left: nohzLeft32, leavesAtOnce: true,
		keepsLateKick: func(s *Scheduler) bool { return !s.nohz.old.kick }, inSoftirq: nohzInSoftirq32,
	}
	return r
}()
