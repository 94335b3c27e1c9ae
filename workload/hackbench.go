package workload

import (
	"fmt"
	"math"
)

// hackbench is the tool of rt-tests 2.4.
type hackbench struct {
	messaging
}

func newHackbench() *hackbench {
	return &hackbench{messaging{comm: "hackbench", groups: 10, pairs: 20, loops: 100, datasize: 100}}
}

// Name implements [Benchmark].
func (h *hackbench) Name() string { return "hackbench" }

func (h *hackbench) options() []option {
	return []option{
		{"f", "fds", "NUM", "senders, and receivers, in a group (20)", toInt(&h.pairs, 1, maxChildren/2)},
		{"F", "fifo", "", "not simulated", notSimulated("SCHED_FIFO")},
		{"g", "groups", "NUM", "groups (10)", toInt(&h.groups, 1, maxChildren/2)},
		{"l", "loops", "LOOPS", "messages from each sender to each receiver (100)", toInt(&h.loops, 1, math.MaxInt32)},
		{"p", "pipe", "", "pipes instead of sockets", toBool(&h.pipes, true)},
		{"i", "inet", "", "not simulated", notSimulated("hackbench over TCP")},
		{"s", "datasize", "SIZE", "bytes in a message (100)", toInt(&h.datasize, 1, maxTransfer)},
		{"T", "threads", "", "threads instead of processes", toBool(&h.threads, true)},
		{"P", "process", "", "processes (the default)", toBool(&h.threads, false)},
	}
}

// Build implements [Benchmark].
func (h *hackbench) Build(Shape) (*Scenario, error) { return h.build(), nil }

// Report implements [Benchmark].
func (h *hackbench) Report(obs *Observation) Report {
	mode := "process"
	if h.threads {
		mode = "threaded"
	}
	text := fmt.Sprintf("Running in %s mode with %d groups using %d file descriptors each (== %d tasks)\n",
		mode, h.groups, 2*h.pairs, h.children())
	text += fmt.Sprintf("Each sender will pass %d messages of %d bytes\n", h.loops, h.datasize)
	ns, failure := obs.between(startMark, stopMark)
	if failure != "" {
		return Report{Text: text, Failure: failure}
	}
	text += fmt.Sprintf("Time: %d.%03d\n", ns/1e9, ns/1e6%1000)
	return Report{Text: text, Metrics: []Metric{elapsed(ns)}, Notes: h.notes(obs)}
}
