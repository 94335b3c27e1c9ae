package sched

// Suppositions: what would the model have chosen if one piece of hidden state
// had been different? They find the cause of a disagreement, and what the
// kernel's choice tells about state that no event shows.

// LoadSide says which of the two CPUs of wake_affine is supposed to have the
// lower load.
type LoadSide uint8

// The sides; LoadsAsTheyAre supposes nothing.
const (
	LoadsAsTheyAre LoadSide = iota
	LoadsFavourHere
	LoadsFavourPrev
)

// Unsupposed is the value of a numeric supposition that supposes nothing.
const Unsupposed = -1

// Supposition is a set of suppositions for one placement.
type Supposition struct {
	Loads     LoadSide
	IdleCores [2]bool // for the cache of here, of prev: the idle-core hint is the opposite
	Scan      int32   // CPUs that a scan may test (nr_idle_scan), or Unsupposed
	Recent    int32   // recent_used_cpu of the wakee, or Unsupposed
	Wide      int8    // 1: wake_wide says yes, 0: no, or Unsupposed
	Busy      int32   // an idle CPU that is supposed not to be, or Unsupposed
	Idle      int32   // a busy CPU that is supposed to be idle, or Unsupposed
	Freshest  int32   // CPU that is supposed to have become idle last, or Unsupposed
	Lightest  int32   // CPU that is supposed to have no load, or Unsupposed
	Feature   int16   // a feature bit that is supposed to be flipped, or Unsupposed
}

// Nothing is the supposition that supposes nothing.
func Nothing() Supposition {
	return Supposition{
		Scan: Unsupposed, Recent: Unsupposed, Wide: Unsupposed, Busy: Unsupposed, Idle: Unsupposed,
		Freshest: Unsupposed, Lightest: Unsupposed, Feature: Unsupposed}
}

// Question is one placement to ask about.
type Question struct {
	Task       *Task
	Prev, Here int
	Kind       Kind
	Sync       bool
	Interrupt  bool // an interrupt handler wakes, not the running task

	asked answered // as Remember found it
}

// answered is what a placement leaves behind in the task and its waker.
type answered struct {
	taskRecent, wakerRecent, wakerFlips int32
	wakerDecay                          int64
	wakerLast                           *Task
}

// Ask places the task of q as the model would, with all consequences that the
// kernel's search has. The record is filled if it is not nil.
func (f *Follower) Ask(q *Question, record *Decision) int {
	s := f.s
	sync := q.Sync
	if waker := s.rqs[q.Here].curr; waker != nil && waker.exiting {
		sync = false
	}
	s.scratch.inInterrupt = q.Interrupt
	s.decision = record
	cpu := s.selectCPU(q.Task, q.Prev, q.Here, q.Kind, sync)
	s.decision = nil
	s.scratch.inInterrupt = false
	return cpu
}

// AskAgain answers q a second time, in the state of the present: the CPU that
// asks stood still since it had begun. What the first answer left behind in the
// task and its waker is taken back; nobody else has changed it meanwhile.
func (f *Follower) AskAgain(q *Question, record *Decision) int {
	waker, was := f.s.waker(q.Here), &q.asked
	q.Task.recentUsed = was.taskRecent
	waker.flips, waker.flipDecay, waker.lastWakee = was.wakerFlips, was.wakerDecay, was.wakerLast
	if waker != q.Task {
		waker.recentUsed = was.wakerRecent
	}
	f.Remember(q)
	return f.Ask(q, record)
}

// memory is the state that a search may change, as it was before.
type memory struct {
	taskRecent                     int32
	taskAvg                        Avg
	wakerFlips, wakerRecent        int32
	wakerDecay                     int64
	wakerLast                      *Task
	hints                          [2]LLCShared
	wakeAvgIdle, wakeStamp, scanNS int64
	caches                         []cachedLoad
}

type cachedLoad struct {
	cfs         *cfsRQ
	load, jiffy int64
}

// Remember keeps the state that a placement may change, for Restore and
// Suppose.
func (f *Follower) Remember(q *Question) {
	s, m := f.s, &f.before
	here := &s.rqs[q.Here]
	waker := s.waker(q.Here)
	m.taskRecent, m.taskAvg = q.Task.recentUsed, q.Task.se.avg
	m.wakerFlips, m.wakerRecent, m.wakerDecay, m.wakerLast = waker.flips, waker.recentUsed, waker.flipDecay, waker.lastWakee
	for i, shared := range f.hints(q) {
		if shared != nil {
			m.hints[i] = *shared
		}
	}
	q.asked = answered{m.taskRecent, m.wakerRecent, m.wakerFlips, m.wakerDecay, m.wakerLast}
	m.wakeAvgIdle, m.wakeStamp = here.wakeAvgIdle, here.wakeStamp
	if here.llc != nil {
		m.scanNS = here.llc.avgScanCost
	}
	m.caches = m.caches[:0]
	for _, se := range [...]*Entity{&q.Task.se, &waker.se} {
		for ; se != nil; se = se.parent {
			m.caches = append(m.caches, cachedLoad{se.cfs, se.cfs.hLoad, se.cfs.hLoadJiffy})
		}
	}
}

// Restore brings the state back that Remember kept.
func (f *Follower) Restore(q *Question) {
	s, m := f.s, &f.before
	here := &s.rqs[q.Here]
	waker := s.waker(q.Here)
	q.Task.recentUsed, q.Task.se.avg = m.taskRecent, m.taskAvg
	waker.flips, waker.flipDecay, waker.lastWakee = m.wakerFlips, m.wakerDecay, m.wakerLast
	if waker != q.Task {
		waker.recentUsed = m.wakerRecent
	}
	for i, shared := range f.hints(q) {
		if shared != nil {
			*shared = m.hints[i]
		}
	}
	here.wakeAvgIdle, here.wakeStamp = m.wakeAvgIdle, m.wakeStamp
	if here.llc != nil {
		here.llc.avgScanCost = m.scanNS
	}
	f.restoreCaches()
}

func (f *Follower) restoreCaches() {
	for _, c := range f.before.caches {
		c.cfs.hLoad, c.cfs.hLoadJiffy = c.load, c.jiffy
	}
}

// hints returns the shared records of the caches of here and prev, the second
// nil when it is the first.
func (f *Follower) hints(q *Question) [2]*LLCShared {
	out := [2]*LLCShared{f.s.rqs[q.Here].llcShared, f.s.rqs[q.Prev].llcShared}
	if out[0] == out[1] {
		out[1] = nil
	}
	return out
}

// Suppose answers q under suppositions. What the search changes stays changed,
// hints that were supposed keep what the search made of them, and everything
// else that was supposed is put back. The state must be as Remember found it.
func (f *Follower) Suppose(q *Question, what Supposition, record *Decision) int {
	s := f.s
	for i, shared := range f.hints(q) {
		if shared != nil && what.IdleCores[i] {
			shared.HasIdleCores = !shared.HasIdleCores
		}
		if shared != nil && what.Scan != Unsupposed {
			shared.NrIdleScan = what.Scan
		}
	}
	if what.Recent != Unsupposed {
		q.Task.recentUsed = what.Recent
	}
	undoBudget := f.supposeBudget(q, what.Scan)
	undoLoads := f.supposeLoads(q, what.Loads)
	undoIdle := f.supposeIdle(&what)
	undoCPU := f.supposeCPU(&what)
	undoFlips := f.supposeWide(q, what.Wide)
	if what.Feature != Unsupposed {
		s.features ^= 1 << what.Feature
	}
	cpu := f.Ask(q, record)
	if what.Feature != Unsupposed {
		s.features ^= 1 << what.Feature
	}
	undoFlips()
	undoCPU()
	undoIdle()
	undoLoads()
	undoBudget()
	return cpu
}

func nothingToUndo() {}

// supposeIdle changes which CPUs look idle.
func (f *Follower) supposeIdle(what *Supposition) (undo func()) {
	s := f.s
	if what.Busy == Unsupposed && what.Idle == Unsupposed {
		return nothingToUndo
	}
	idle, schedIdle := s.idle.Clone(), s.schedIdle.Clone()
	undo = func() {
		s.idle.CopyFrom(idle)
		s.schedIdle.CopyFrom(schedIdle)
	}
	if what.Busy != Unsupposed {
		rq, inner := &s.rqs[what.Busy], undo
		s.idle.Clear(int(what.Busy))
		s.schedIdle.Clear(int(what.Busy))
		rq.nr++
		undo = func() { rq.nr--; inner() }
	}
	if what.Idle != Unsupposed {
		rq, inner := &s.rqs[what.Idle], undo
		curr, nr := rq.curr, rq.nr
		s.idle.Set(int(what.Idle))
		rq.curr, rq.nr = nil, 0
		undo = func() { rq.curr, rq.nr = curr, nr; inner() }
	}
	return undo
}

// supposeCPU makes a CPU the one that became idle last, or one without load.
func (f *Follower) supposeCPU(what *Supposition) (undo func()) {
	undo = nothingToUndo
	if what.Freshest != Unsupposed {
		rq := &f.s.rqs[what.Freshest]
		stamp := rq.idleStamp
		rq.idleStamp = f.s.now + 1
		undo = func() { rq.idleStamp = stamp }
	}
	if what.Lightest != Unsupposed {
		rq, inner := &f.s.rqs[what.Lightest], undo
		avg, runnable, est := rq.cfs.avg, rq.cfs.runnableLoadAvg, rq.utilEst
		rq.cfs.avg.loadAvg, rq.cfs.avg.utilAvg, rq.cfs.avg.runnableAvg = 0, 0, 0
		rq.cfs.runnableLoadAvg, rq.utilEst = 0, 0
		undo = func() {
			rq.cfs.avg, rq.cfs.runnableLoadAvg, rq.utilEst = avg, runnable, est
			inner()
		}
	}
	return undo
}

// supposeBudget makes the scan of kernels with SIS_PROP test n CPUs. It never
// tests fewer than three.
func (f *Follower) supposeBudget(q *Question, n int32) (undo func()) {
	rq := &f.s.rqs[q.Here]
	if n == Unsupposed || rq.llc == nil || !f.s.features.Has(SISProp) {
		return nothingToUndo
	}
	avgIdle, cost := rq.avgIdle, rq.llc.avgScanCost
	rq.llc.avgScanCost = 0
	perCPU := (int64(n) + 1 + int64(rq.llc.SpanWeight) - 1) / int64(rq.llc.SpanWeight)
	rq.avgIdle, rq.wakeAvgIdle = 512*perCPU, perCPU
	return func() { rq.avgIdle, rq.llc.avgScanCost = avgIdle, cost }
}

// supposeLoads makes one of the two CPUs look empty and the other full.
func (f *Follower) supposeLoads(q *Question, side LoadSide) (undo func()) {
	if side == LoadsAsTheyAre {
		return nothingToUndo
	}
	here, prev := &f.s.rqs[q.Here].cfs, &f.s.rqs[q.Prev].cfs
	oldHere, oldPrev := loadsOf(here), loadsOf(prev)
	const full = 1 << 30
	light, heavy := here, prev
	if side == LoadsFavourPrev {
		light, heavy = prev, here
	}
	if light != heavy {
		light.avg.loadAvg, light.runnableLoadAvg = 0, 0
		heavy.avg.loadAvg, heavy.runnableLoadAvg = full, full
	}
	return func() {
		here.avg.loadAvg, here.runnableLoadAvg = oldHere[0], oldHere[1]
		prev.avg.loadAvg, prev.runnableLoadAvg = oldPrev[0], oldPrev[1]
		f.restoreCaches() // computed from supposed loads
	}
}

func loadsOf(cfs *cfsRQ) [2]int64 { return [2]int64{cfs.avg.loadAvg, cfs.runnableLoadAvg} }

// supposeWide makes the flips of waker and wakee say what is supposed.
func (f *Follower) supposeWide(q *Question, wide int8) (undo func()) {
	if wide == Unsupposed {
		return nothingToUndo
	}
	waker, task := f.s.waker(q.Here), q.Task
	oldWaker, oldTask, oldDecay, oldLast := waker.flips, task.flips, waker.flipDecay, waker.lastWakee
	waker.flips, task.flips = 0, 0
	if wide == 1 {
		waker.flips, task.flips = 1<<30, 1<<15
	}
	return func() {
		waker.flips, task.flips, waker.flipDecay, waker.lastWakee = oldWaker, oldTask, oldDecay, oldLast
		if q.Kind == KindWake {
			f.s.recordWakee(waker, task)
		}
	}
}

// ScanBudget returns the CPUs that a scan around a CPU may test at present.
func (f *Follower) ScanBudget(cpu int) int32 {
	if shared := f.s.rqs[cpu].llcShared; shared != nil {
		return shared.NrIdleScan
	}
	return 0
}

// LLCSize returns the number of CPUs in the last-level cache of a CPU.
func (f *Follower) LLCSize(cpu int) int32 { return f.s.rqs[cpu].llcSize }

// LearnIdleSince takes the time at which a CPU began to idle, when it is not
// known yet, to be just behind that of another CPU.
func (f *Follower) LearnIdleSince(cpu, after int) {
	if rq := &f.s.rqs[cpu]; f.idlesUnknown(rq) {
		rq.idleStamp = f.s.rqs[after].idleStamp + stillTicking + 1
	}
}

// LearnScanCost takes the average scan cost of kernels with SIS_PROP to be the
// nearest to the present one with which a scan tests n CPUs.
func (f *Follower) LearnScanCost(q *Question, n int32) {
	rq := &f.s.rqs[q.Here]
	if rq.llc == nil || !f.s.features.Has(SISProp) {
		return
	}
	avgIdle := rq.avgIdle / 512
	span := int64(rq.llc.SpanWeight)
	enough := span * avgIdle / (int64(n) + 1) // the largest cost that allows n tests
	tooMuch := span*avgIdle/(int64(n)+2) + 1  // the smallest that allows no more
	switch cost := rq.scanCost(); {
	case cost > enough:
		rq.llc.avgScanCost = max(0, enough-1)
	case cost < tooMuch:
		rq.llc.avgScanCost = tooMuch
	}
}
