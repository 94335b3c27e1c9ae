package calibrate

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlab/schedlab/experiment"
)

// Native is the small machine whose timings come in a file: two CPUs of one
// node, without SMT, in a virtual machine.
const Native = "native"

// NativeMachine is its shape, and NativeKernel the nearest profile to the
// kernel it ran (6.18 [M]: EEVDF, no HRTICK, which v7.2 has).
const (
	NativeMachine = "1n2c1t"
	NativeKernel  = "v6.12"
)

// nativeKnobs start from a virtual machine: an idle CPU has halted, and leaves
// that state through the hypervisor.
var nativeKnobs = []Knob{
	{Parameter: "idle_monitor", Start: 0, Low: 0, High: 0}, // not searched: a halted virtual CPU is woken by an interrupt
	{Parameter: "idle_states", Start: 2, Low: 2, High: 2},  // not searched: it has no deeper state of its own
	{Parameter: "idle_shallow", Start: 30000, Low: 20000, High: 40000},
	{Parameter: "pipe_write", Start: 350, Low: 150, High: 800, Moves: []string{"pipe"}},
	{Parameter: "pipe_read", Start: 350, Low: 150, High: 800, Moves: []string{"pipe"}},
	{Parameter: "unix_send", With: []string{"unix_recv"}, Start: 700, Low: 400, High: 2500, Moves: []string{"sockets"}},
	{Parameter: "unix_hold", Start: 300, Low: 300, High: 300, Moves: []string{"sockets"}}, // not searched
	{Parameter: "switch_thread", Start: 1200, Low: 600, High: 2500},
	{Parameter: "switch_process", Start: 1500, Low: 700, High: 2500},
	{Parameter: "wakeup", Start: 450, Low: 200, High: 1000},
	{Parameter: "exit_process", Start: 45000, Low: 20000, High: 200000},
	{Parameter: "reap", Start: 15000, Low: 5000, High: 60000},
	{Parameter: "refill_core", Start: 60, Low: 15, High: 300},
}

// NativeKnobs returns what may be fitted for the small machine.
func NativeKnobs() []Knob { return slices.Clone(nativeKnobs) }

// The columns of a file of timings that are read.
const (
	columnBenchmark  = "benchmark"
	columnParameters = "parameters"
	columnCommand    = "command"
	columnMedian     = "median_s"
	columnSwitches   = "context_switches" // may be missing
)

// NativeFigures reads a file of timings: which command, its median in seconds,
// and how many context switches it made. The times of the pinned runs and of
// those of one group with all its tasks are fitted to; the rest is predicted.
func NativeFigures(name string, r io.Reader) ([]Figure, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s is empty; its first line names the columns", name)
	}
	columns := map[string]int{}
	for i, title := range lines[0] {
		columns[title] = i
	}
	for _, wanted := range []string{columnBenchmark, columnParameters, columnCommand, columnMedian} {
		if _, known := columns[wanted]; !known {
			return nil, fmt.Errorf("%s:1: there is no column %s", name, wanted)
		}
	}
	var figures []Figure
	for i, line := range lines[1:] {
		seconds, err := strconv.ParseFloat(line[columns[columnMedian]], 64)
		if err != nil || seconds <= 0 {
			return nil, fmt.Errorf("%s:%d: %s is %q; write seconds, more than 0", name, i+2, columnMedian, line[columns[columnMedian]])
		}
		time := nativeFigure(line[columns[columnBenchmark]], line[columns[columnParameters]], line[columns[columnCommand]], seconds)
		figures = append(figures, time)
		at, counted := columns[columnSwitches]
		if !counted {
			continue
		}
		switches, err := strconv.ParseInt(line[at], 10, 64)
		if err != nil || switches <= 0 {
			return nil, fmt.Errorf("%s:%d: %s is %q; write a whole number, more than 0", name, i+2, columnSwitches, line[at])
		}
		figures = append(figures, time.switches(switches))
	}
	return figures, nil
}

// switches is the figure of the context switches that the same run made. It is
// never fitted to: whether messages come singly or in batches makes it twice as
// large from run to run, on the real machine too.
func (f Figure) switches(measured int64) Figure {
	f.Measured, f.Unit, f.Fitted, f.read = float64(measured), unitSwitches, false, contextSwitches
	return f
}

func nativeFigure(benchmark, parameters, command string, seconds float64) Figure {
	f := Figure{Benchmark: benchmark, Row: parameters, Measured: seconds, Unit: "seconds"}
	argv, pinned := strings.CutPrefix(command, "taskset -c 0 ")
	f.Fitted = pinned || strings.HasPrefix(parameters, "-g 1 -l ")
	f.Cell = experiment.Cell{Machine: NativeMachine, Kernel: NativeKernel, Preemption: "none", HZ: experiment.DefaultHZ,
		Seed: experiment.DefaultSeed, Command: commandOf(argv)}
	if pinned {
		f.Cell.CPUs = []int{0}
	}
	return f
}
