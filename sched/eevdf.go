package sched

// EEVDF, the virtual time of v6.6 and later (mechanisms.md 1.12,
// mechanisms-modern.md 2): of those that have not had more than their share, the
// one whose request has the earliest deadline runs. Its parts:
//
//   - eevdfaverage.go: the average virtual time of a queue, and who is eligible
//   - eevdfplace.go: lag when an entity leaves, placement when it joins, new weights
//   - eevdfslice.go: requests, deadlines, and the charge that ends them
//   - eevdfpick.go: the pick, and how the running entity is protected from it
//   - eevdfpreempt.go: wakeup preemption, and sched_yield
//   - delayed.go: sleepers that stay queued until their debt is paid
//   - hrtick.go: the timer that ends a request on time

// eevdfRules is what differs between kernels with EEVDF.
type eevdfRules struct {
	// averageWeight is the weight by which virtual times are averaged, from the
	// stored one.
	averageWeight func(stored int64) int64
	// lagLimit bounds the lag that an entity keeps, in ns of running.
	lagLimit func(s *Scheduler, cfs *cfsRQ, se *Entity) int64
	// protect shields an entity that has just been picked.
	protect func(s *Scheduler, cfs *cfsRQ, se *Entity)
	// protected reports whether the running entity still is.
	protected func(s *Scheduler, se *Entity) bool
	// turnOver reports whether the running entity of a queue with others should
	// be looked at anew; expired says that its request has just ended.
	turnOver func(s *Scheduler, cfs *cfsRQ, curr *Entity, expired bool) bool
	// preempt is wakeup preemption from the point where both entities on their
	// common level are known: it reports whether b runs instead of a.
	preempt func(s *Scheduler, t *Task, a, b *Entity, how wakeHow) bool
	// buddyBeforeTest: a woken task becomes the next buddy before it is known
	// whether it preempts (NEXT_BUDDY).
	buddyBeforeTest bool
	// keepsProtection: a new weight scales what is left of the protection.
	keepsProtection bool
	// lagAtBlock: an entity whose dequeue is delayed notes its lag then, and gains
	// nothing by a lag that gets worse.
	lagAtBlock bool
	// samplesAtBlock: util_est takes its sample when a task blocks, also when its
	// dequeue is delayed.
	samplesAtBlock bool
}

func eevdfTime(rules *eevdfRules) timeRules {
	return timeRules{
		charge:   (*Scheduler).chargeRequest,
		join:     (*Scheduler).joinWithLag,
		leave:    (*Scheduler).leaveWithLag,
		reweigh:  (*Scheduler).reweighRequest,
		eligible: (*Scheduler).isEligible,
		pick:     (*Scheduler).pickDeadline,
		preempt:  (*Scheduler).preemptByDeadline,
		yield:    (*Scheduler).forfeitRequest,
		eevdf:    rules,
	}
}

var eevdfTime612 = eevdfTime(&eevdfRules{
	averageWeight: scaleDown, lagLimit: lagLimit612,
	protect: protectRequest612, protected: protected612, turnOver: turnOver612,
	preempt: (*Scheduler).preempts612, buddyBeforeTest: true,
})

var eevdfTime72 = eevdfTime(&eevdfRules{
	averageWeight: func(stored int64) int64 { return stored }, lagLimit: lagLimit72,
	protect: protectRequest72, protected: protected72, turnOver: turnOver72,
	preempt:         (*Scheduler).preempts72,
	keepsProtection: true, lagAtBlock: true, samplesAtBlock: true,
})
