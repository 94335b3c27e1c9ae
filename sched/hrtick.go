package sched

// HRTICK ends a request on time instead of at the tick after it
// (mechanisms-modern.md 2.9, v7.2 [V]).

const (
	shortestSliceTimer = 10_000 // ns
	sliceTimerSlack    = 5_000  // ns; a timer is not moved by less
)

// armSliceEnd has the CPU interrupted when the running task has had its request,
// as long as there are others that want to run.
func (s *Scheduler) armSliceEnd(rq *runqueue) {
	if !s.endsSlices {
		return
	}
	if rq.curr == nil || rq.cfs.h <= 1 {
		s.setSliceTimer(rq, 0)
		return
	}
	at := s.now + max(s.sliceLeft(&rq.curr.se), shortestSliceTimer)
	if d := at - rq.sliceEnd; d > sliceTimerSlack || -d > sliceTimerSlack {
		s.setSliceTimer(rq, at)
	}
}

// watchSlice arms the timer of a CPU that has had none when a task joins it.
func (s *Scheduler) watchSlice(rq *runqueue) {
	switch {
	case !s.endsSlices || rq.sliceEnd != 0 || rq.curr == nil || rq.cfs.h <= 1:
	case s.sliceLeft(&rq.curr.se) <= 0:
		s.resched(rq)
	default:
		s.armSliceEnd(rq)
	}
}

// sliceLeft is how long a running task may go on until its deadline, in ns.
func (s *Scheduler) sliceLeft(se *Entity) int64 {
	return scaled(se.deadline-se.vruntime, scaleDown(se.weight), nice0Weight) - (s.now - se.execStart)
}

func (s *Scheduler) setSliceTimer(rq *runqueue, at int64) {
	if rq.sliceEnd != at {
		rq.sliceEnd = at
		s.driver.ArmSliceEnd(int(rq.cpu), at)
	}
}

// SliceEnd charges the running task of cpu, whose request is over, and asks for a
// reschedule. The driver calls it at the time that [Driver.ArmSliceEnd] named.
func (s *Scheduler) SliceEnd(now int64, cpu int) {
	s.setNow(now)
	rq := &s.rqs[cpu]
	rq.sliceEnd = 0
	if rq.curr == nil {
		return
	}
	for se := &rq.curr.se; se != nil; se = se.parent {
		s.updateCurr(se.cfs)
	}
	s.resched(rq)
}
