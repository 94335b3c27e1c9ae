package sched

// SetPriority changes a task's policy and nice value within the fair class
// [sched_setscheduler, set_user_nice]: a queued task leaves its queue and comes
// back with the other weight, and a running one stays on its CPU, where the
// next reschedule looks at it anew. Its vruntime stays as it is
// (mechanisms.md 1.2).
func (s *Scheduler) SetPriority(now int64, t *Task, policy Policy, nice int8) {
	s.setNow(now)
	if t.policy == policy && t.nice == nice {
		return
	}
	rq := &s.rqs[t.cpu]
	queued, running := t.queued, rq.curr == t
	if queued {
		s.deactivateTask(rq, t, 0)
	}
	if running {
		s.putCurrent(rq)
	}
	t.policy, t.nice = policy, nice
	s.reweightTask(t)
	if queued {
		s.activateTask(rq, t, 0)
	}
	if running {
		rq.curr, rq.arrivedAt = t, now
		s.setNextUp(&t.se)
		s.refreshIdle(rq)
		s.resched(rq)
	}
}

// reweightTask gives a task that is on no queue the weight of its policy and
// nice value; its average load follows at once [reweight_task].
func (s *Scheduler) reweightTask(t *Task) {
	old, w := t.se.weight, taskWeight(t.policy, t.nice)
	switch {
	case w == old:
	case t.se.avg.last != neverUpdated:
		s.reweight(&t.se, w)
	default:
		t.se.weight = w
		t.se.avg.loadAvg = t.se.avg.loadAvg * scaleDown(w) / scaleDown(old)
	}
}
