package workload

import (
	"fmt"
	"math"
)

// perfMessaging is perf bench sched messaging.
type perfMessaging struct {
	messaging
}

func newPerfMessaging() *perfMessaging {
	return &perfMessaging{messaging{comm: "sched-messaging", groups: 10, pairs: 20, loops: 100, datasize: 100}}
}

// Name implements [Benchmark].
func (p *perfMessaging) Name() string { return "perf bench sched messaging" }

func (p *perfMessaging) options() []option {
	return []option{
		{"g", "group", "N", "groups (10)", toInt(&p.groups, 1, maxChildren/2)},
		{"l", "nr_loops", "N", "messages from each sender to each receiver (100)", toInt(&p.loops, 1, math.MaxInt32)},
		{"p", "pipe", "", "pipes instead of sockets", toBool(&p.pipes, true)},
		{"t", "thread", "", "threads instead of processes", toBool(&p.threads, true)},
	}
}

// Build implements [Benchmark].
func (p *perfMessaging) Build(Shape) (*Scenario, error) { return p.build(), nil }

// Report implements [Benchmark].
func (p *perfMessaging) Report(obs *Observation) Report {
	tasks := "processes"
	if p.threads {
		tasks = "threads"
	}
	text := "# Running 'sched/messaging' benchmark:\n"
	text += fmt.Sprintf("# %d sender and receiver %s per group\n", p.pairs, tasks)
	text += fmt.Sprintf("# %d groups == %d %s run\n\n", p.groups, p.children(), tasks)
	ns, failure := obs.between(startMark, stopMark)
	if failure != "" {
		return Report{Text: text, Failure: failure}
	}
	text += totalTime(ns)
	return Report{Text: text, Metrics: []Metric{elapsed(ns)}, Notes: p.notes(obs)}
}

// totalTime is the line in which perf bench prints a time.
func totalTime(ns int64) string {
	return fmt.Sprintf(" %14s: %d.%03d [sec]\n", "Total time", ns/1e9, ns/1e6%1000)
}
