package sched

// Balancing as a recording tells it. What is moved the recording shows task by
// task; followed here is what a pass leaves behind besides: decayed loads of
// idle CPUs, the scan budget of the cache, group capacities.

// Softirq follows the scheduler's softirq on a CPU, which decays its load.
func (f *Follower) Softirq(cpu int) {
	f.readClock(cpu)
	f.ticked[cpu] = f.s.now
	rq := &f.s.rqs[cpu]
	rq.idleBalance = rq.idleCPU()
	f.s.decayBlocked(rq)
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
