package sched

// idleBalance38 is newidle balancing of v3.2 and v3.8: the CPU's usual idle
// time decides alone, passes have no cost, and the first that pulls a task is
// the last (mechanisms.md 9.8). A CPU that does not search keeps its due time.
func idleBalance38(s *Scheduler, rq *runqueue) int {
	rq.idleStamp = s.now
	if shorterThanMigration(s, rq) {
		return 0
	}
	s.enterBalancing(rq)
	s.decayBlocked(rq)
	next := s.jiffies + s.hz
	pulled := 0
	for d := rq.sd; d != nil && pulled == 0; d = d.Parent {
		s.work.DomainSteps++
		if d.has(FlagBalanceNewidle) {
			pulled = s.balancePass(rq, d, NewlyIdle).moved
		}
		next = min(next, d.lastBalance+s.msToJiffies(d.balanceInterval))
	}
	if pulled > 0 {
		rq.idleStamp = 0
	}
	if pulled > 0 || s.jiffies > rq.nextBalance {
		rq.nextBalance = next
	}
	return pulled
}
