package sched

// Questions about a decision of the kernel, and the hidden state that a
// recording may give.

// Hidden is state of a task that the ordinary events do not show.
type Hidden struct {
	Flips  int64 // wakee_flips
	Decay  int64 // jiffies of their last halving
	Recent int64 // recent_used_cpu
	Load   int64 // load average
	Util   int64 // utilization
}

// SetHidden gives a task its start values. When fresh, nothing of the task has
// been followed before: its load is taken to be part already of the load of the
// queue where it was; otherwise that load is corrected by the difference.
func (f *Follower) SetHidden(t *Task, h Hidden, fresh bool) {
	s := f.s
	t.flips, t.flipDecay, t.recentUsed = int32(h.Flips), h.Decay, int32(h.Recent)
	a, cfs := &t.se.avg, t.se.cfs
	loadBefore, utilBefore := a.loadAvg, a.utilAvg
	a.loadAvg, a.utilAvg = h.Load, h.Util
	a.runnableAvg = max(a.runnableAvg, h.Util)
	switch {
	case a.last != neverUpdated:
		s.rebuildSums(&t.se)
		cfs.addToAverages(h.Load-loadBefore, h.Util-utilBefore)
	case fresh && !t.queued:
		s.adoptEntity(cfs, &t.se)
	}
}

// rebuildSums makes the sums of an entity fit its averages.
func (s *Scheduler) rebuildSums(se *Entity) {
	a := &se.avg
	d := a.divider()
	a.utilSum, a.runnableSum = a.utilAvg*d, a.runnableAvg*d
	a.loadSum = max(1, a.loadAvg*d/s.sumWeight(se))
}

// addToAverages corrects a queue's averages by what an entity on it was wrong.
func (cfs *cfsRQ) addToAverages(load, util int64) {
	a := &cfs.avg
	a.loadAvg, a.utilAvg = max(0, a.loadAvg+load), max(0, a.utilAvg+util)
	a.loadSum, a.utilSum = a.loadAvg*a.divider(), a.utilAvg*a.divider()
}

// adoptEntity attaches an entity whose averages its queue holds already.
func (s *Scheduler) adoptEntity(cfs *cfsRQ, se *Entity) {
	a := &se.avg
	if cfs.avg.last <= 0 {
		cfs.avg.last = s.peltClock(cfs) >> 10 << 10
	}
	a.last, a.contrib = cfs.avg.last, cfs.avg.contrib
	s.rebuildSums(se)
}

// Rested makes a task one that has slept for so long that it has no load left.
func (f *Follower) Rested(t *Task) {
	if t.se.avg.last == neverUpdated {
		t.se.avg.loadAvg = 0
	}
}

// Hidden returns the task's present values.
func (f *Follower) Hidden(t *Task) Hidden {
	return Hidden{
		Flips: int64(t.flips), Decay: t.flipDecay, Recent: int64(t.recentUsed),
		Load: t.se.avg.loadAvg, Util: t.se.avg.utilAvg,
	}
}

// SetLoad gives a CPU's root queue its start value.
func (f *Follower) SetLoad(cpu int, load int64) { f.setLoad(&f.s.rqs[cpu].cfs, load) }

// SetQueueLoad gives the queue that a task is or was on its start value.
func (f *Follower) SetQueueLoad(t *Task, load int64) { f.setLoad(t.se.cfs, load) }

func (f *Follower) setLoad(cfs *cfsRQ, load int64) {
	if cfs.avg.last <= 0 {
		cfs.avg.last = f.s.now >> 10 << 10
	}
	cfs.avg.loadAvg, cfs.avg.loadSum = load, load*cfs.avg.divider()
}

// SetAvgIdle gives a CPU's average idle time in ns.
func (f *Follower) SetAvgIdle(cpu int, ns int64) {
	rq := &f.s.rqs[cpu]
	rq.avgIdle = ns
	rq.maxIdleBalanceCost = max(rq.maxIdleBalanceCost, ns/2) // or it could not be so high
}

// MeasuredScan replaces what the model takes a search to have cost by the time
// that the recording shows for it, in ns. Kernels before v6.0 bound the next
// scans by it (SIS_PROP, mechanisms.md 6.5). It belongs right behind [Follower.Ask].
func (f *Follower) MeasuredScan(q *Question, ns int64) {
	d := f.s.rqs[q.Here].llc
	if d == nil {
		return
	}
	d.avgScanCost = f.before.scanNS
	if d.avgScanCost == 0 {
		d.avgScanCost = ns
		return
	}
	d.learnScanCost(ns)
}

// NewidleCost follows a CPU that has spent ns on newidle balancing: that bounds
// its average idle time.
func (f *Follower) NewidleCost(cpu int, ns int64) {
	rq := &f.s.rqs[cpu]
	rq.maxIdleBalanceCost = max(rq.maxIdleBalanceCost, ns)
}

// KnowsWakee reports whether the task's last wakee is known: it has woken one
// since its history began, or its parent had before.
func (f *Follower) KnowsWakee(t *Task) bool { return t.lastWakee != nil }

// TakeBackFlip lowers the task's wakee_flips by one: a first wakeup that was
// counted was of the unknown last wakee after all.
func (f *Follower) TakeBackFlip(t *Task) { t.flips-- }

// Waker returns the task that counts as the waker on a CPU, the CPU's idle task
// when nothing runs.
func (f *Follower) Waker(cpu int) *Task { return f.s.waker(cpu) }

// Weight returns the task's load weight, 1024 for nice 0.
func (f *Follower) Weight(t *Task) int64 { return seWeight(&t.se) }

// NiceWithin returns the nice value nearest to 0 whose weight lies between
// least and most, if there is one.
func NiceWithin(least, most int64) (nice int8, ok bool) {
	within := func(n int) bool { w := niceWeights[n+20]; return least <= w && w <= most }
	for n := 0; n <= 20; n++ {
		switch {
		case n < 20 && within(n):
			return int8(n), true
		case within(-n):
			return int8(-n), true
		}
	}
	return 0, false
}
