package sched

// Times of tasks on and before a CPU, as schedstat counts them [sched_info].

// arrive notes that a waiting task gets the CPU.
func (rq *runqueue) arrive(t *Task, now int64) {
	rq.arrivedAt = now
	rq.stats.RunDelay += now - t.queuedAt
	rq.stats.Slices++
}

// depart notes that the task which has the CPU loses it; it waits from now on,
// unless it sleeps.
func (rq *runqueue) depart(t *Task, now int64) {
	rq.stats.RunTime += now - rq.arrivedAt
	t.queuedAt = now
}

// leaveQueue notes that a task leaves the CPU's queue; one that has been
// waiting for the CPU has waited in vain.
func (rq *runqueue) leaveQueue(t *Task, now int64) {
	if rq.curr != t {
		rq.stats.RunDelay += now - t.queuedAt
	}
}
