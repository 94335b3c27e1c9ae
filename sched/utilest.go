package sched

// util_est (mechanisms.md 2, v4.17+): what a task used when it last went to
// sleep, so that its utilization does not have to be learned again.

const utilEstMargin = capacityFull / 100

// taskUtil is a task's own decaying utilization.
func (s *Scheduler) taskUtil(t *Task) int64 { return t.se.avg.utilAvg }

// taskUtilEst is the larger of the last and the smoothed estimate, or the
// plain utilization on kernels without util_est.
func (s *Scheduler) taskUtilEst(t *Task) int64 {
	est := t.se.avg.utilAvg
	if s.profile.Known.Has(UtilEst) {
		est = max(est, t.utilEstimate())
	}
	return est
}

func (t *Task) utilEstimate() int64 { return max(t.utilEstEWMA, t.utilEstEnqueued) }

// A task that is only waiting for its delayed dequeue does not count.

func (s *Scheduler) utilEstEnqueue(rq *runqueue, t *Task) {
	if !t.delayed {
		rq.utilEst += t.utilEstimate()
	}
}

func (s *Scheduler) utilEstDequeue(rq *runqueue, t *Task) {
	if !t.delayed {
		rq.utilEst = subtract(rq.utilEst, t.utilEstimate())
	}
}

// utilEstRule takes a sample when a task goes to sleep.
type utilEstRule func(s *Scheduler, t *Task)

// utilEstUpdate takes a sample, unless none of the averages has moved since the
// last one: a task that slept on another CPU and has run for less than a PELT
// period still shows the utilization that was sampled before, only decayed.
func (s *Scheduler) utilEstUpdate(t *Task) {
	if s.features.Has(UtilEst) && !t.se.utilSampled {
		s.profile.UtilEst(s, t)
	}
}

// utilEst510 keeps the last sample and a smoothed value. A rise is followed at
// once (FASTUP), a fall with weight 1/4, and changes within 1 % of capacity are
// ignored.
func utilEst510(s *Scheduler, t *Task) {
	sample, last := t.se.avg.utilAvg, t.utilEstEnqueued
	change := sample - t.utilEstEWMA
	switch {
	case change > 0 && s.features.Has(UtilEstFastup):
		t.utilEstEWMA = sample
	case within(change, utilEstMargin):
		if within(last-sample, utilEstMargin) {
			return
		}
	case sample > t.se.cfs.rq.capacityOrig:
		return
	default:
		t.utilEstEWMA += change >> 2
	}
	t.utilEstEnqueued = sample
	t.se.utilSampled = true
}

// utilEst612 keeps the smoothed value alone (v6.8), and does not let it fall
// when the task had to wait: it would have used more (mechanisms-modern.md 6).
func utilEst612(s *Scheduler, t *Task) {
	sample := t.se.avg.utilAvg
	if t.utilEstEWMA-sample >= utilEstMargin && sample > t.se.cfs.rq.capacityOrig {
		return // no idle time on this CPU: the task may want less than it shows
	}
	utilEst72(s, t)
}

// utilEst72 does not ask for the CPU's capacity.
func utilEst72(_ *Scheduler, t *Task) {
	a := &t.se.avg
	t.se.utilSampled = true
	fall := t.utilEstEWMA - a.utilAvg
	switch {
	case fall <= 0:
		t.utilEstEWMA = a.utilAvg
	case fall >= utilEstMargin && a.utilAvg+utilEstMargin >= a.runnableAvg:
		t.utilEstEWMA -= fall / 4
	}
}

func within(v, margin int64) bool { return v < margin && v > -margin }
