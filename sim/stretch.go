package sim

import (
	"math/bits"
	"reflect"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// A stretch simulates the beginning of a long benchmark and its end, and
// measures in between how fast the work goes. When the time to measure is over
// each source of work ends soon after where it is, and whoever drains it when
// nothing is left; the messages that are left out count as much time as they
// would have taken at the measured rate. So start, warm-up and exits are as in
// the whole run. What is not: how far the tasks drift apart until then, so that
// at the end of a long run the last ones have the machine for themselves. A run
// that ends before the measuring does is simply whole.
//
// Work that ends by the clock (workload.Work.Lasts) is not cut: its program ends
// when the measuring does. What the scheduler counted meanwhile stands for the
// rest of its time, so that the forks of the start weigh what they do in the
// whole run.
type stretch struct {
	work     *workload.Work
	spec     workload.Stretch
	workers  []worker
	phase    stretchPhase
	settling settling
	progress int64          // at the start of the measuring
	counters sched.CPUStats // at that time, later what was counted since
	result   StretchResult
}

// worker is a task and a loop of its that counts units of work.
type worker struct {
	task *task
	loop workload.WorkLoop
}

type stretchPhase uint8

const (
	stretchStarting stretchPhase = iota
	stretchWarming
	stretchFirstHalf
	stretchSecondHalf
	stretchOver
)

// StretchResult says what a stretch left out of a run. Times are virtual ns.
type StretchResult struct {
	// From and To bound the time in which the rate was measured.
	From, To int64
	// Messages is how many were written in it, FirstHalf how many in its first
	// half.
	Messages, FirstHalf int64
	// SkippedMessages is how many writes of the benchmark were not simulated.
	SkippedMessages int64
	// Skipped is the time they would have taken at the measured rate, or what
	// was left out of work that ends by the clock.
	Skipped int64
	// Whole is what the scheduler's counters would be for the whole run.
	Whole sched.CPUStats
}

// leastMeasured is how many messages the measured time must have; with fewer
// the run goes on to its end.
const leastMeasured = 100

func (m *Sim) buildStretch(sc *workload.Scenario) {
	if sc.Stretch == nil {
		return
	}
	m.stretch = &stretch{work: sc.Work, spec: *sc.Stretch}
	if sc.Work.Lasts > 0 {
		m.stretch.spec.Settle = 0 // its program's clock has been set
	}
	loops := make([][]workload.WorkLoop, len(sc.Programs))
	for _, l := range sc.Work.Loops {
		loops[l.Program] = append(loops[l.Program], l)
	}
	for i := range m.tasks {
		for _, l := range loops[sc.Tasks[i].Program] {
			m.stretch.workers = append(m.stretch.workers, worker{&m.tasks[i], l})
		}
	}
}

// mark records a moment; the work of a stretch may begin there.
func (m *Sim) mark(n int64) {
	m.marks[n] = m.now
	if s := m.stretch; s != nil && s.phase == stretchStarting && int64(s.work.Start) == n {
		s.phase = stretchWarming
		m.pause = min(m.limit, s.beginWarmup(m.now))
	}
}

// passes handles the next boundary of the stretch. It reports false when there
// is none before the time limit.
func (s *stretch) passes(m *Sim) bool {
	if m.pause == m.limit || s == nil {
		return false
	}
	m.now = m.pause
	switch s.phase {
	case stretchWarming:
		if s.spec.Settle > 0 && s.settling.goesOn(m, s.spec.Measure) {
			m.pause = min(m.limit, m.now+s.spec.Measure)
			return true
		}
		s.phase = stretchFirstHalf
		s.result.From, s.progress = m.now, m.progress
		s.counters = m.counters()
		m.pause = min(m.limit, m.now+(s.spec.Measure+1)/2)
	case stretchFirstHalf:
		s.phase = stretchSecondHalf
		s.result.FirstHalf = m.progress - s.progress
		m.pause = min(m.limit, s.result.From+s.spec.Measure)
	case stretchSecondHalf:
		s.phase = stretchOver
		s.result.To, s.result.Messages = m.now, m.progress-s.progress
		before := s.counters
		s.counters = m.counters()
		combine(&s.counters, &before, func(now, then int64) int64 { return now - then })
		m.pause = m.limit
		s.cut()
	}
	return true
}

// DriftPercent is how much faster or slower the work went in the second half of
// the measured time than in the first, in percent of the slower one.
func (r *StretchResult) DriftPercent() int64 {
	second := r.Messages - r.FirstHalf
	slower := min(r.FirstHalf, second)
	return 100 * (r.Messages - 2*slower) / max(1, slower)
}

// cut lets each source of work end two turns after those that it has completed:
// it is within the next, and the one behind that is sure to have something for
// everybody who waits. Who drains a group's work ends with the last of it.
func (s *stretch) cut() {
	if s.work.Lasts > 0 {
		s.result.Skipped = max(0, s.work.Lasts-s.spec.Warmup-s.spec.Measure)
		return
	}
	if s.result.Messages < leastMeasured {
		return
	}
	turnsOf := make([]int64, s.work.Groups) // of a group's sources, together
	for i := range s.workers {
		w := &s.workers[i]
		if w.loop.Drains {
			continue
		}
		turns := s.work.Units * w.loop.PerUnit
		end := min(w.completed(turns)+2, turns)
		w.endAfter(end)
		turnsOf[w.loop.Group] += end
		s.result.SkippedMessages += (turns - end) * w.loop.Messages
	}
	for i := range s.workers {
		if w := &s.workers[i]; w.loop.Drains {
			w.endAfter(turnsOf[w.loop.Group])
		}
	}
	s.result.Skipped = mulDiv(s.result.SkippedMessages, s.result.To-s.result.From, s.result.Messages)
}

// completed is how many turns of all the task has done.
func (w *worker) completed(all int64) int64 {
	if w.task.exited || w.task.pc > w.loop.At {
		return all
	}
	return w.task.loops[w.task.prog[w.loop.At].Slot]
}

// endAfter gives the task a program of its own with that many turns.
func (w *worker) endAfter(turns int64) {
	w.task.prog = append(workload.Program(nil), w.task.prog...)
	w.task.prog[w.loop.At].N = turns
}

// finish returns the result, nil if the whole run was simulated.
func (s *stretch) finish(total sched.CPUStats) *StretchResult {
	if s == nil || s.result.Skipped == 0 && s.result.SkippedMessages == 0 {
		return nil
	}
	r := s.result
	left, of := r.SkippedMessages, r.Messages
	if s.work.Lasts > 0 {
		left, of = r.Skipped, r.To-r.From
	}
	r.Whole = total
	combine(&r.Whole, &s.counters, func(simulated, measured int64) int64 {
		return simulated + mulDiv(measured, left, of)
	})
	return &r
}

// counters sums the scheduler's counters over the CPUs.
func (m *Sim) counters() sched.CPUStats {
	var sum sched.CPUStats
	for i := range m.cpus {
		sum.Add(m.sched.Stats(i))
	}
	return sum
}

// combine applies f to each pair of counters, storing into a.
func combine(a, b *sched.CPUStats, f func(a, b int64) int64) {
	combineValues(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem(), f)
}

func combineValues(a, b reflect.Value, f func(a, b int64) int64) {
	switch a.Kind() {
	case reflect.Int64:
		a.SetInt(f(a.Int(), b.Int()))
	case reflect.Struct:
		for i := range a.NumField() {
			combineValues(a.Field(i), b.Field(i), f)
		}
	case reflect.Array:
		for i := range a.Len() {
			combineValues(a.Index(i), b.Index(i), f)
		}
	}
}

// longest is where times that are computed stop to grow: 146 years.
const longest = 1 << 62

// mulDiv is a*b/c of numbers that are not negative, at most longest.
func mulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return longest
	}
	quotient, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(longest, quotient))
}
