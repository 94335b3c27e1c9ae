package sched

// remoteRule says whether the waker hands the wakee to cpu's wake list and
// sends an interrupt, instead of taking cpu's lock and queueing it itself
// (mechanisms.md 6.1 step 6, mechanisms-modern.md 1.2). It is asked only while
// TTWU_QUEUE is on. Until the list has been handled its CPU does not count as
// idle.
type remoteRule func(s *Scheduler, t *Task, here, cpu int) bool

// queueToOtherCPU is v3.2: always.
func queueToOtherCPU(_ *Scheduler, _ *Task, here, cpu int) bool { return here != cpu }

// queueToOtherCache is v3.3 to v4.14: never within a last-level cache, where the lock
// is cheap to fetch.
func queueToOtherCache(s *Scheduler, _ *Task, here, cpu int) bool {
	return !s.SharesCache(here, cpu)
}

// queueToOtherCacheOrSwitching is v5.8 to v5.19: also to a CPU that is just
// switching the wakee out and has nothing else to run.
func queueToOtherCacheOrSwitching(s *Scheduler, t *Task, here, cpu int) bool {
	rq := &s.rqs[cpu]
	return !s.SharesCache(here, cpu) || (rq.curr == t && rq.nr <= 1)
}

// queueToOtherCacheOrEmpty is v6.0 and later: also to any CPU without tasks,
// which then does the work of queueing while it wakes up.
func queueToOtherCacheOrEmpty(s *Scheduler, _ *Task, here, cpu int) bool {
	if !s.SharesCache(here, cpu) {
		return true
	}
	return cpu != here && s.rqs[cpu].nr == 0
}
