package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/schedlab/schedlab/trace"
	"github.com/schedlab/schedlab/workload"
)

// eventLog keeps what is recorded of some kinds, in order.
type eventLog []string

func (l *eventLog) Write(e *trace.Event) error {
	what := map[trace.Kind]string{
		trace.KindWakeup: "wakeup", trace.KindTick: "tick", trace.KindSoftirqEntry: "softirq", trace.KindSwitch: "switch",
	}[e.Kind]
	if e.Kind == trace.KindWakeup {
		what = fmt.Sprintf("wakeup %d", e.Wake().PID)
	}
	if what != "" {
		*l = append(*l, what)
	}
	return nil
}

func (l *eventLog) Close() error { return nil }

// mechanisms.md 15.1: what comes to a CPU at the same time is handled in a fixed
// order: its timer wakes task 1, the interrupt queues task 2 from the wake list,
// the tick, the softirq that is raised, the end of task 0's instruction, and last
// the reschedule that they asked for.
func TestOrderOfEventsAtOneTime(t *testing.T) {
	sc := &workload.Scenario{
		Programs: []workload.Program{mustParse(t, "run 1s\nrun 2s\nexit"), mustParse(t, "sleep 1s\nexit"), mustParse(t, "run 1s\nexit")},
		Tasks: []workload.TaskSpec{
			{Name: "runner", Allowed: []int{0}}, {Name: "sleeper", Program: 1, Process: 1, Allowed: []int{0}},
			{Name: "waker", Program: 1, Process: 2, Allowed: []int{0}},
			{Name: "other", Program: 2, Process: 3, Allowed: []int{1}, StartCPU: 1},
		},
	}
	m := simulateWith(t, "2n1c1t", "v5.17", sc, nil)
	m.start()
	const tick = 40_000_000
	c, other := &m.cpus[0], &m.cpus[1]
	for cpu, at := m.queue.next(); at < tick; cpu, at = m.queue.next() {
		m.now = at
		m.step(&m.cpus[cpu])
	}
	if c.task != &m.tasks[0] || c.nextTick != tick || len(c.timers) != 2 {
		t.Fatalf("before 40 ms CPU 0 has task %v, the next tick at %d, %d timers", c.task, c.nextTick, len(c.timers))
	}
	// A moment before, the other CPU wakes task 2; of the two timers task 1's
	// stays. All is due with the tick.
	m.now, m.acting = tick-1, other
	c.timers = slices.DeleteFunc(c.timers, func(tm timer) bool { return tm.task == &m.tasks[2] })
	m.tasks[2].pc++
	m.sched.Wake(m.now, 1, m.tasks[2].sched, false)
	c.timers[0].soft, c.timers[0].hard, c.timerAt, c.ipiAt, c.end = tick, tick, tick, tick, tick
	c.softirq = true // as if balancing were due
	log := &eventLog{}
	m.Record(log, trace.NewNames())
	m.now = tick
	m.step(c)
	pid := m.rec.firstPID
	want := eventLog{fmt.Sprintf("wakeup %d", pid+1), fmt.Sprintf("wakeup %d", pid+2), "tick", "softirq", "switch"}
	if !slices.Equal(*log, want) {
		t.Errorf("handled %q, want %q", *log, want)
	}
	if done := m.tasks[0].pc; done != 1 || c.task == &m.tasks[0] {
		t.Errorf("task 0 is at instruction %d and runs %v; want the first one done and another task running", done, c.task == &m.tasks[0])
	}
}
