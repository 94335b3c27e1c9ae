package sched

// timeRules are a kernel's virtual time: what running costs an entity, where one
// joins a queue, and who is to run. A rule that is nil is CFS's own (cfs.go,
// mechanisms.md 1.5 to 1.11).
type timeRules struct {
	// charge adds d ns of running to the virtual time of a queue's running entity.
	charge func(s *Scheduler, cfs *cfsRQ, curr *Entity, d int64)
	// join gives an entity its virtual time on the queue that it is about to join.
	join func(s *Scheduler, cfs *cfsRQ, se *Entity, flags enqueueFlag)
	// leave notes what an entity takes along from the queue that it leaves.
	leave func(s *Scheduler, cfs *cfsRQ, se *Entity, flags enqueueFlag)
	// reweigh adapts the times of an entity, queued or not, to a new weight.
	reweigh func(s *Scheduler, cfs *cfsRQ, se *Entity, weight int64)
	// eligible reports whether an entity has had no more than its share.
	eligible func(s *Scheduler, cfs *cfsRQ, se *Entity) bool
	// pick chooses the entity of a queue that should run; curr is the running one
	// if it is still queued.
	pick func(s *Scheduler, cfs *cfsRQ, curr *Entity) *Entity
	// preempt has a task that has just been queued run instead of the current one
	// if it should.
	preempt func(s *Scheduler, rq *runqueue, t *Task, how wakeHow)
	// yield has the running task step back.
	yield func(s *Scheduler, t *Task)

	eevdf *eevdfRules // what differs between kernels with EEVDF; nil: not EEVDF
}

// cfsTime is that of the completely fair scheduler (before v6.6).
var cfsTime = timeRules{
	eligible: func(_ *Scheduler, cfs *cfsRQ, se *Entity) bool { return cfs.eligible(se) },
	pick:     (*Scheduler).pickEntity,
	preempt:  (*Scheduler).preemptByGranularity,
	yield:    (*Scheduler).skipYielding,
}

// followedLag is EEVDF's virtual time as far as it can be followed along the
// recording of a real kernel (lag.go).
var followedLag = timeRules{
	join: func(s *Scheduler, cfs *cfsRQ, se *Entity, _ enqueueFlag) { s.placeByLag(cfs, se) },
	leave: func(s *Scheduler, cfs *cfsRQ, se *Entity, flags enqueueFlag) {
		s.noteLag(cfs, se)
		se.delayable = flags&dequeueSleep != 0 && flags&dequeueThrottled == 0 && s.features.Has(DelayDequeue)
	},
	reweigh: func(s *Scheduler, cfs *cfsRQ, se *Entity, weight int64) {
		if se.onRQ {
			s.moveInTime(cfs, se, s.reweightLag(cfs, se, weight))
		} else {
			se.lag = scaled(se.lag, se.weight, weight)
		}
	},
	eligible: cfsTime.eligible,
	pick:     cfsTime.pick,
	preempt:  cfsTime.preempt,
	yield:    cfsTime.yield,
}

// wakeHow says how a task came onto the queue where it may preempt.
type wakeHow uint8

const (
	wakeNew      wakeHow = 1 << iota // forked, it has never run
	wakeSync                         // its waker is about to sleep
	wakeSelected                     // its CPU was chosen: it may run on more than one
)

// lineUp puts a queued entity, which does not run, into its queue's line, and
// stepOut takes it out: in the order of virtual time, or of deadlines.
func (s *Scheduler) lineUp(cfs *cfsRQ, se *Entity) {
	if s.time.eevdf != nil {
		s.lineUpByDeadline(cfs, se, se.weight)
		return
	}
	cfs.line.insert(se)
}

func (s *Scheduler) stepOut(cfs *cfsRQ, se *Entity) {
	if s.time.eevdf != nil {
		s.stepOutByDeadline(cfs, se)
		return
	}
	cfs.line.remove(se)
}
