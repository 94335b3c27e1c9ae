package sched

// Balancing as a recording tells it. What is moved the recording shows task by
// task; followed here is what a pass leaves behind besides: decayed loads of
// idle CPUs, the scan budget of the cache, group capacities.

// Softirq follows the scheduler's softirq on a CPU, which decays its load.
func (f *Follower) Softirq(cpu int) {
	f.readClock(cpu)
	rq := &f.s.rqs[cpu]
	rq.idleBalance = rq.idleCPU()
	f.s.decayBlocked(rq)
}

// BalancedByOther follows an idle load balancer on cpu that balances for dst:
// dst has stopped its tick. The load of all tickless CPUs decays, once a jiffy.
func (f *Follower) BalancedByOther(cpu, dst int) {
	s := f.s
	f.readClock(dst)
	if rq := &s.rqs[dst]; rq.idleCPU() && !rq.nohz.tickStopped {
		s.nohzEnter(rq)
	}
	for c := s.nohz.idle.First(); c >= 0; c = s.nohz.idle.Next(c + 1) {
		if rq := &s.rqs[c]; c != cpu && rq.idleCPU() {
			s.updateNohzStats(rq, false)
		}
	}
}

// Newidle follows the start of newidle balancing on a CPU.
func (f *Follower) Newidle(cpu int) {
	rq := &f.s.rqs[cpu]
	f.readClock(cpu)
	rq.idleStamp = f.s.now
	f.stamped.Set(cpu)
	f.s.decayBlocked(rq)
}

// Pass follows a balance pass for cpu over its domain of span CPUs.
func (f *Follower) Pass(cpu, span int, idle IdleType) {
	s := f.s
	if s.profile.Balance.busierAmongEquals == nil {
		return // v4.14: its passes leave nothing behind
	}
	rq := &s.rqs[cpu]
	d := rq.sd
	for d != nil && d.SpanWeight != span {
		d = d.Parent
	}
	if d == nil {
		return
	}
	env := s.beginPass(rq, d, idle)
	if !s.elected(env) {
		return
	}
	s.collectDomain(env, &env.stats)
}

// StillTicking follows an idle CPU that balances for itself alone: it has not
// stopped its tick, so it has not idled for as long as others of which nothing better is
// known.
func (f *Follower) StillTicking(cpu int) {
	rq := &f.s.rqs[cpu]
	if rq.curr != nil {
		return
	}
	f.s.nohzExit(rq)
	if f.idlesUnknown(rq) {
		rq.idleStamp = stillTicking
	}
}
