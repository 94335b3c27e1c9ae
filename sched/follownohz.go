package sched

// Load of CPUs that have stopped their tick, as a recording tells it. Nobody
// updates it but the idle load balancer, which a busy CPU wakes for that every 32 ms
// (mechanisms.md 9.9), and CPUs on their way into idle. A fork compares the utilizations
// of whole groups, so it matters how stale they are.

// StillTicking follows an idle CPU that balances for itself alone: it has not
// stopped its tick, so it has not idled for as long as others of which nothing better is
// known.
func (f *Follower) StillTicking(cpu int) {
	rq := &f.s.rqs[cpu]
	if rq.curr != nil {
		return
	}
	f.s.nohzExit(rq)
	f.ticked[cpu] = f.s.now
	if f.idlesUnknown(rq) {
		rq.idleStamp = stillTicking
	}
}

// tickTurns is for how many ticks a CPU without a sign of one must have idled to
// have stopped its tick: the first may be due and not have been taken yet.
const tickTurns = 2

// noteTickless finds the CPUs that must have stopped their tick.
func (f *Follower) noteTickless() {
	s := f.s
	for cpu := range s.rqs {
		rq := &s.rqs[cpu]
		if rq.idleCPU() && !rq.nohz.tickStopped && s.now-max(rq.idleStamp, f.ticked[cpu]) > tickTurns*f.tickNS {
			s.nohzEnter(rq)
		}
	}
}

// BalancedByOther follows an idle load balancer on cpu that balances for dst:
// dst has stopped its tick. The load of all tickless CPUs decays, once a jiffy.
func (f *Follower) BalancedByOther(cpu, dst int) {
	f.readClock(dst)
	if rq := &f.s.rqs[dst]; rq.idleCPU() && !rq.nohz.tickStopped {
		f.s.nohzEnter(rq)
	}
	f.noteTickless()
	f.decayTickless(cpu)
}

// WokenForLoads follows an idle load balancer on cpu that has found no domain due. It
// decays the load of the tickless CPUs if that is what it was woken for.
func (f *Follower) WokenForLoads(cpu int) {
	f.noteTickless()
	if s := f.s; s.nohz.hasBlocked && s.jiffies > s.nohz.nextBlocked {
		f.decayTickless(cpu)
	}
}

func (f *Follower) decayTickless(cpu int) {
	s := f.s
	blocked := false
	for c := s.nohz.idle.First(); c >= 0; c = s.nohz.idle.Next(c + 1) {
		if rq := &s.rqs[c]; rq.idleCPU() {
			blocked = s.updateNohzStats(rq, false) || blocked
		}
	}
	s.nohz.hasBlocked = blocked || s.rqs[cpu].nohz.hasBlocked
	s.nohz.nextBlocked = s.jiffies + s.msToJiffies(blockedPeriod)
}

// decayOnIdle follows a CPU that found nothing to do without having searched: it
// decays the load of the tickless CPUs if it is time for that and it expects to idle for
// long enough. That leaves no event. Kernels from v5.12 on do it later, from the
// idle loop and if nothing has come up until then, which is not followed.
func (f *Follower) decayOnIdle(rq *runqueue) {
	if f.s.profile.Balance.newidle.updatesWhenTooShort && !f.stamped.Has(int(rq.cpu)) {
		f.noteTickless()
		f.s.updateIdleLoads(rq)
	}
}
