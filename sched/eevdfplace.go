package sched

// Lag and placement of EEVDF (mechanisms-modern.md 2.3, 2.4, 2.10). An entity's
// lag is how far it is behind V. It keeps that when it leaves its queue and comes
// back, so that nobody gains or loses by sleeping.

// lagLimit612 is two slices, or a tick.
func lagLimit612(s *Scheduler, _ *cfsRQ, se *Entity) int64 { return max(2*se.slice, s.tickTime()) }

// lagLimit72 is the longest slice in the queue and a tick.
func lagLimit72(s *Scheduler, cfs *cfsRQ, se *Entity) int64 {
	return max(s.greatestSlice(cfs), se.slice) + s.tickTime()
}

// tickTime is the time between two ticks in ns.
func (s *Scheduler) tickTime() int64 { return 1_000_000_000 / s.hz }

// takeLag notes the lag of a queued entity, within its limit.
func (s *Scheduler) takeLag(cfs *cfsRQ, se *Entity) {
	limit := toVirtual(s.time.eevdf.lagLimit(s, cfs, se), se.weight)
	lag := min(limit, max(-limit, s.virtualTime(cfs)-se.vruntime))
	if se.delayed() && s.time.eevdf.lagAtBlock {
		lag = max(lag, se.lag)
	}
	if se.delayed() && s.features.Has(DelayZero) {
		lag = min(lag, 0)
	}
	se.lag = lag
}

// leaveWithLag notes an entity's lag. One that does not sleep keeps what is left
// of its request as well.
func (s *Scheduler) leaveWithLag(cfs *cfsRQ, se *Entity, flags enqueueFlag) {
	s.takeLag(cfs, se)
	if flags&dequeueSleep == 0 && s.features.Has(PlaceRelDeadline) {
		se.deadlineKept = se.deadline - se.vruntime
		se.keepsDeadline = true
	}
}

// joinWithLag places an entity so that its lag, once it has joined, is what it
// was when it left: its own weight moves V towards it. A queue without others
// is where it is. A new task starts without lag, and with half a request
// (PLACE_DEADLINE_INITIAL), which eases it in.
func (s *Scheduler) joinWithLag(cfs *cfsRQ, se *Entity, flags enqueueFlag) {
	v, lag := s.virtualTime(cfs), int64(0)
	if s.features.Has(PlaceLag) && cfs.nr > 0 && se.lag != 0 {
		others := max(1, s.competing(cfs).weights)
		lag = scaled(se.lag, others+s.time.eevdf.averageWeight(se.weight), others)
	}
	if !se.customSlice {
		se.slice = s.baseSlice()
	}
	se.vruntime, se.remainder = v-lag, 0
	if se.keepsDeadline {
		se.deadline, se.keepsDeadline = se.deadlineKept+se.vruntime, false
		return
	}
	request := toVirtual(se.slice, se.weight)
	if flags&enqueueNew != 0 && s.features.Has(PlaceDeadlineInitial) {
		request /= 2
	}
	se.deadline = se.vruntime + request
}

// reweighRequest keeps V where it is: in real time, lag and what is left of the
// request stay what they were.
func (s *Scheduler) reweighRequest(cfs *cfsRQ, se *Entity, weight int64) {
	old := se.weight
	if !se.onRQ {
		se.lag = scaled(se.lag, old, weight)
		se.deadlineKept = scaled(se.deadlineKept, old, weight)
		return
	}
	s.takeLag(cfs, se)
	v := s.virtualTime(cfs)
	waits := cfs.curr != se
	if waits {
		s.stepOutByDeadline(cfs, se)
	}
	protection := scaled(se.protection-se.vruntime, old, weight)
	se.lag = scaled(se.lag, old, weight)
	se.vruntime, se.remainder = v-se.lag, 0
	se.deadline = v + scaled(se.deadline-v, old, weight)
	if s.time.eevdf.keepsProtection && protection > 0 {
		se.protection = se.vruntime + protection
	}
	if waits {
		s.lineUpByDeadline(cfs, se, weight)
	}
}

// replace has a queued entity join its queue anew with the lag that it has noted.
func (s *Scheduler) replace(cfs *cfsRQ, se *Entity) {
	waits := cfs.curr != se
	if waits {
		s.stepOutByDeadline(cfs, se)
	}
	cfs.nr--
	se.onRQ = false
	s.joinWithLag(cfs, se, 0)
	se.onRQ = true
	cfs.nr++
	if waits {
		s.lineUpByDeadline(cfs, se, se.weight)
	}
}
