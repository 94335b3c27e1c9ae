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

func (s *Scheduler) utilEstEnqueue(rq *runqueue, t *Task) { rq.utilEst += t.utilEstimate() }

func (s *Scheduler) utilEstDequeue(rq *runqueue, t *Task) {
	rq.utilEst = subtract(rq.utilEst, t.utilEstimate())
}

// utilEstUpdate takes a new sample when a task goes to sleep. A rise is
// followed at once (FASTUP), a fall with weight 1/4, and changes within 1 %
// of capacity are ignored. A task that slept on another CPU and has run for
// less than a PELT period still shows the utilization that was sampled before,
// only decayed: it is not sampled twice.
func (s *Scheduler) utilEstUpdate(t *Task) {
	if !s.features.Has(UtilEst) || t.se.utilSampled {
		return
	}
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

func within(v, margin int64) bool { return v < margin && v > -margin }
