package sched

// Tick is the scheduler's part of the timer interrupt on one CPU: charge the
// running task, refresh its averages and weights on every level, ask for a
// reschedule when its slice is over, then see to load balancing.
func (s *Scheduler) Tick(now int64, cpu int) {
	s.setNow(now)
	rq := &s.rqs[cpu]
	s.writeQueue(cpu, cpu)
	if curr := rq.curr; curr != nil {
		for se := &curr.se; se != nil; se = se.parent {
			s.tickEntity(se.cfs, se)
		}
	}
	s.tickSpace(rq)
	if v := s.variants.overload; v != nil && (v.idleTicks || rq.curr != nil) {
		s.updateOverloaded(rq)
	}
	s.triggerBalance(rq)
}

func (s *Scheduler) tickEntity(cfs *cfsRQ, curr *Entity) {
	s.updateCurr(cfs)
	s.updateLoadAvg(cfs, curr, updateGroupLoad)
	s.updateGroupWeight(curr)
	if cfs.nr > 1 && s.time.eevdf == nil {
		s.tickPreempt(cfs, curr)
	}
}

// StopsTicks reports whether idle CPUs stop their ticks: not with the boot
// option nohz=off. The driver must not call [Scheduler.StopTick] then.
func (s *Scheduler) StopsTicks() bool { return s.tun.Nohz != 0 }

// StopTick tells the scheduler that an idle cpu has stopped its tick; the
// first tick after it has become busy again ends that state by itself.
func (s *Scheduler) StopTick(now int64, cpu int) {
	s.setNow(now)
	s.nohzEnter(&s.rqs[cpu])
}
