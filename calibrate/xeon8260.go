package calibrate

import (
	"fmt"
	"slices"
	"time"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/published"
	"github.com/schedlab/schedlab/workload"
)

// Xeon8260 is the machine of the document of April 2022.
const Xeon8260 = "xeon-8260"

// Document is the published table that it is fitted to.
const Document = "sched-idle-balance.csv"

// xeonKnobs are fitted for that machine, in the order of the search. Ranges
// are those of ipc-and-benchmarks.md 7, where it has them.
// They start at the first values given there, the lower ones where it has two, and sockets
// where another machine's search ended (native.json).
var xeonKnobs = []Knob{
	{Parameter: "switch_process", Start: 1200, Low: 1000, High: 2000, Moves: []string{"pipes"}},
	{Parameter: "pipe_write", With: []string{"pipe_read"}, Start: 350, Low: 250, High: 500, Moves: []string{"pipes"}},
	{Parameter: "wake_lines", Start: 2, Low: 2, High: 8, Moves: []string{"pipes", "schbench"}},
	{Parameter: "wakeup", Start: 450, Low: 400, High: 1000, Moves: []string{"pipes", "schbench"}},
	{Parameter: "refill_core", Start: 15, Low: 15, High: 500, Moves: []string{"pipes"}},
	{Parameter: "unix_send", With: []string{"unix_recv"}, Start: 1500, Low: 500, High: 2500, Moves: []string{"sockets"}},
	{Parameter: "unix_lines", Start: 2, Low: 2, High: 3, Moves: []string{"sockets"}},
	{Parameter: "unix_hold", Start: 300, Low: 300, High: 300, Moves: []string{"sockets"}}, // not searched
	{Parameter: "line_memory", Start: 60, Low: 40, High: 120, Moves: []string{"sockets", "pipes"}},
	{Parameter: "idle_states", Start: 2, Low: 2, High: 2, Moves: []string{"schbench"}}, // not searched: no sleep of schbench is deep
	{Parameter: "futex_lines", Start: 4, Low: 3, High: 6, Moves: []string{"schbench"}},
	{Parameter: "idle_shallow", Start: 1000, Low: 500, High: 2000, Moves: []string{"pipes", "schbench"}},
	// Not searched, but derived: the lines of a look at a busy CPU (sched/queuelines.go).
	derived("probe", 5, "first principles: three loads and two branches, lines at hand; their way is priced apart"),
	derived("sibling_probe", 5, "as probe"),
	derived("probe_shared", 30, "first principles: a line from the last-level cache, 70 cycles at 2.4 GHz; three loads that do not wait for each other"),
	derived("probe_modified", 75, "first principles: the same from the core that wrote it, as line_llc"),
	derived("probe_remote", 250, "first principles: the same from the other socket, as line_remote"),
	derived("probe_return", 150, "first principles: twice line_llc: the lock's line by a locked instruction, for which all else waits, then the two others at once"),
	derived("file_lines", 1, "first principles: the counter of references is one word"),
	// Not searched, but fitted by hand to the network rows of the same column.
	{Parameter: "tcp_send", Start: 500, Low: 500, High: 500, Moves: []string{"network"}},
	{Parameter: "tcp_recv", Start: 500, Low: 500, High: 500, Moves: []string{"network"}},
	{Parameter: "loopback_copy", Start: 136, Low: 136, High: 136, Moves: []string{"network"}},
	{Parameter: "tbench_client", Start: 2000, Low: 2000, High: 2000, Moves: []string{"network"}},
	{Parameter: "tbench_server", Start: 700, Low: 700, High: 700, Moves: []string{"network"}},
}

// fittedRows are the rows that the search sees; the rest is predicted.
var fittedRows = map[string][]string{
	"hackbench-process-pipes":   {"1", "7", "12", "30", "48", "110", "SIS Search Efficiency", "SIS Success Rate"},
	"hackbench-process-sockets": {"1", "12", "48", "110"},
	"schbench":                  {"50.0th-qrtle-1", "50.0th-qrtle-16", "50.0th-qrtle-47"},
}

// xeonBenchmarks are the process forms and schbench. The thread forms are left
// out: no parameter is fitted to them.
var xeonBenchmarks = map[string]string{
	"hackbench-process-pipes":   "hackbench -P -p -l 10000 -g %s",
	"hackbench-process-sockets": "hackbench -P -l 10000 -g %s",
	"hackbench-thread-pipes":    "hackbench -T -p -l 10000 -g %s",
	"hackbench-thread-sockets":  "hackbench -T -l 10000 -g %s",
}

// typicalRow stands for the whole run where the document has one figure for it:
// rows in the middle do most of the searching, as they have many messages and a
// wakeup for every second one.
const typicalRow = "30"

// derived is a parameter that is not searched for.
func derived(parameter string, value int64, source string) Knob {
	return Knob{Parameter: parameter, Start: value, Low: value, High: value, Source: source}
}

// XeonKnobs returns what may be fitted for the machine of the document.
func XeonKnobs() []Knob { return slices.Clone(xeonKnobs) }

// XeonFigures reads the document's baseline; hackbench is simulated over the
// given stretch.
func XeonFigures(stretch workload.Stretch) ([]Figure, error) {
	data, err := published.Table(Document)
	if err != nil {
		return nil, err
	}
	measured, err := ReadBaseline(Document, data)
	if err != nil {
		return nil, err
	}
	return xeonFigures(measured, stretch), nil
}

func xeonFigures(measured []Measurement, stretch workload.Stretch) []Figure {
	var figures []Figure
	for _, m := range measured {
		f := Figure{Benchmark: m.Benchmark, Row: m.Row, Measured: m.Value, Unit: m.Unit,
			Fitted: slices.Contains(fittedRows[m.Benchmark], m.Row),
			Cell: experiment.Cell{Machine: Xeon8260, Kernel: "v5.17-tip", Preemption: experiment.DefaultPreemption,
				HZ: experiment.DefaultHZ, Seed: experiment.DefaultSeed, Stretch: stretch}}
		line, hackbench := xeonBenchmarks[m.Benchmark]
		workers := 0
		switch {
		case hackbench && m.Statistic == "Amean":
			f.Cell.Command = commandOf(fmt.Sprintf(line, m.Row))
		case medianOfWorkers(m.Row, &workers):
			f.read = metric(m.Row)
			f.Cell.Command = commandOf(fmt.Sprintf("schbench -m 2 -t %d -r 30", workers))
			f.Cell.Stretch = workload.Stretch{Warmup: int64(4 * time.Second), Measure: int64(4 * time.Second)}
		case hackbench && m.Row == "SIS Search Efficiency":
			f.read = sisRatio(m.Row)
			f.Cell.Command = commandOf(fmt.Sprintf(line, typicalRow))
		case hackbench && m.Row == "SIS Success Rate":
			// A share of failures, so that 4 % of successes are not twice as bad as 2 %.
			f.read, f.Measured, f.Shown = sisShortfall(m.Row), 100-m.Value, "100 - "+m.Row
			f.Cell.Command = commandOf(fmt.Sprintf(line, typicalRow))
		default:
			continue
		}
		figures = append(figures, f)
	}
	return figures
}

// medianOfWorkers reads "50.0th-qrtle-16".
func medianOfWorkers(row string, workers *int) bool {
	n, err := fmt.Sscanf(row, "50.0th-qrtle-%d", workers)
	return n == 1 && err == nil
}
