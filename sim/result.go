package sim

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// Result is what one run measured. Times are virtual nanoseconds.
type Result struct {
	Observation workload.Observation
	End         int64

	Events     int64 // what the main loop handled
	Switches   int64 // changes of the running task, idle included
	Messages   int64 // completed writes
	Wakeups    int64
	Dropped    int64 // datagrams that found the receiver's buffer full
	IPIs       int64
	FutexCalls int64               // waits and wakes, with effect or without
	Migrations [numDistances]int64 // by distance; SameCPU stays 0

	// WakeLatency is from a wakeup to the moment the task runs.
	WakeLatency *hdrhistogram.Histogram

	BusyNS     int64 // Σ over CPUs of the time a task was on it
	IdleNS     int64 // the rest
	KernelNS   int64 // switching, waking, ticks: what was not the tasks' own instructions
	RefillNS   int64 // of that, cold caches
	LockWaitNS int64 // of that, waiting for run-queue locks

	// UnconservedNS is idle CPU time during which a task that could have used
	// it waited on another CPU's queue, sampled at every jiffy.
	UnconservedNS int64

	Sched sched.CPUStats // Σ over CPUs

	// Counters are the scheduler's counters over time: at the first tick after
	// each interval of [Sim.SampleCounters], and at the end.
	Counters []*sched.Snapshot

	// Stretch says what was left out, nil when the run is whole.
	Stretch *StretchResult
}

// WholeCounters are the scheduler's counters for the whole run, scaled where a
// stretch of it was simulated.
func (r *Result) WholeCounters() sched.CPUStats {
	if r.Stretch != nil {
		return r.Stretch.Whole
	}
	return r.Sched
}

// maxLatency bounds the latency histogram: nothing waits longer than 1000 s.
const maxLatency = 1_000_000_000_000

func newResult() Result {
	return Result{WakeLatency: hdrhistogram.New(1, maxLatency, 2)}
}

func (m *Sim) recordLatency(ns int64) {
	// Values are clamped into the histogram's range, so that it cannot fail.
	_ = m.result.WakeLatency.RecordValue(min(max(1, ns), maxLatency))
}

// sampleConservation looks once a jiffy for idle CPUs beside waiting tasks.
func (m *Sim) sampleConservation() {
	if m.now <= m.sampledAt {
		return
	}
	span := m.now - m.sampledAt
	m.sampledAt = m.now
	if idle := m.sched.IdleBesideWaiting(); idle > 0 {
		m.result.UnconservedNS += int64(idle) * span
	}
}

// SampleCounters has the scheduler's counters copied every so many nanoseconds
// of the run, besides at its end; 0 or less: only there. Call it before
// [Sim.Run].
func (m *Sim) SampleCounters(every int64) { m.countersEvery, m.countersAt = every, every }

// Counters returns the scheduler's counters as they are now.
func (m *Sim) Counters() *sched.Snapshot { return m.sched.Snapshot(m.now) }

// sampleCounters copies the scheduler's counters when an interval is over. It
// is called at ticks: while no CPU ticks no counter changes.
func (m *Sim) sampleCounters() {
	if m.countersEvery <= 0 || m.now < m.countersAt {
		return
	}
	m.countersAt = m.now - m.now%m.countersEvery + m.countersEvery
	m.result.Counters = append(m.result.Counters, m.sched.Snapshot(m.now))
}

// finish closes the books at the end of a run.
func (m *Sim) finish() *Result {
	r := &m.result
	r.End = m.now
	for i := range m.cpus {
		c := &m.cpus[i]
		if c.task != nil {
			c.busyNS += m.now - c.busySince
		}
		r.BusyNS += c.busyNS
		r.KernelNS += c.kernelNS
	}
	r.IdleNS = m.now*int64(m.online) - r.BusyNS
	r.Counters = append(r.Counters, m.sched.Snapshot(m.now))
	r.Sched = m.counters()
	r.Stretch = m.stretch.finish(r.Sched)
	o := &r.Observation // has the activations already
	o.Marks, o.EndTime, o.Messages, o.Recorders = m.marks, m.now, r.Messages, m.recorders
	o.CPUTime, o.IdleTime = m.now*int64(m.online), r.IdleNS
	if r.Stretch != nil {
		r.Observation.Skipped = r.Stretch.Skipped
	}
	r.Observation.Requests = m.finishRequests()
	for i := range m.tasks {
		if t := &m.tasks[i]; !t.background {
			r.Observation.Work = append(r.Observation.Work, m.sched.RunTime(m.now, t.sched))
		}
	}
	return r
}
