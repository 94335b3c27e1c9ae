package workload

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Shape is what a benchmark may know of the machine it is built for.
type Shape struct {
	CPUs  int // CPUs are numbered 0 to CPUs-1
	Nodes int // NUMA nodes with CPUs
}

// Observation is what a run hands back for the report.
type Observation struct {
	// Marks are the times in ns of the scenario's marks, -1 for one that was
	// never reached.
	Marks []int64
	// EndTime is the virtual time in ns at which the run ended.
	EndTime int64
	// Messages is how many writes were completed, by whichever task.
	Messages int64
	// Work is the CPU time in ns of each task that is not in the background,
	// in the order of their TaskIDs; nil when it was not recorded.
	Work []int64
	// CPUTime is the time in ns of all CPUs of the run together, IdleTime what
	// of it no task ran.
	CPUTime, IdleTime int64
	// Skipped is the time in ns that the units of work which a [Stretch] left
	// out would have taken; it is not part of EndTime.
	Skipped int64
	// Recorders are the scenario's recorders.
	Recorders []Recorder
	// Activations are the log of OpActivated, in the order in which they ended.
	Activations []Activation
	// LogFull says that the run ended because there were more of them than
	// [MaxActivations].
	LogFull bool
	// Forks are the tasks that OpForkNext started, in that order.
	Forks []TaskID
	// OutOfTasks is 1 + the pool that had no task left, which ends a run; 0
	// when none was.
	OutOfTasks int
	// Requests is what became of the requests of each of the scenario's sources.
	Requests []*RequestCounts
}

// Metric is one figure of a report, in the form of a results row.
type Metric struct {
	Statistic string // Amean for times, Hmean for throughputs, else the tool's name for it
	Label     string // of the row, in place of the experiment's; mostly empty
	Unit      string // as in the published tables: seconds, ops/s
	Better    string // lower or higher
	Value     float64
}

// Report is what a benchmark says about a run.
type Report struct {
	// Text is what the real tool prints on stdout, to the byte.
	Text string
	// Metrics are the figures, the tool's main one first, not rounded to the
	// digits that Text prints.
	Metrics []Metric
	// Notes say how the figures came about, where that is not plain.
	Notes []string
	// Unsimulated names what the workload asks for and the run left out.
	Unsimulated []string
	// Failure is why there is no figure, "" when there is.
	Failure string
}

// LogFile is a file that the real tool would have written.
type LogFile struct {
	Path  string // as the tool names it, from the working directory
	Write func(io.Writer) error
}

// Logger is a benchmark that writes files.
type Logger interface {
	Benchmark
	// LogFolder is where they go, "" if there are none.
	LogFolder() string
	// Logs are the files of a run.
	Logs(obs *Observation) []LogFile
}

// Benchmark is a workload with a name and a result.
type Benchmark interface {
	// Name is what the benchmark is listed as.
	Name() string
	// Build returns the scenario for a machine, or why it cannot run there.
	Build(machine Shape) (*Scenario, error)
	// Report turns the observation of one run of the scenario into the tool's
	// own result.
	Report(obs *Observation) Report
}

// Info describes a benchmark that can be named.
type Info struct {
	Name    string   // as on the real tool's command line
	Aliases []string // other names that mean the same
	Summary string   // one line
	Flags   string   // help, one flag a line
}

// parsable is a benchmark before its command line is read, with the defaults
// of the real tool.
type parsable interface {
	Benchmark
	options() []option
	check() error
}

// operandTaker is a benchmark whose command line holds words that are no flags.
type operandTaker interface {
	operand() option
}

// testFlagTaker is a benchmark with flags that follow a "--".
type testFlagTaker interface {
	testOptions() []option
}

// fileReader is a benchmark whose operand names a file.
type fileReader interface {
	operandTaker
	operandIsFile()
}

// dashReader is a benchmark whose tool takes dashes and underscores for the same.
type dashReader interface {
	dashesAreUnderscores() bool
}

func optionsOf(tool string, b parsable) optionSet {
	set := optionSet{tool: tool, options: b.options()}
	if taker, ok := b.(operandTaker); ok {
		operand := taker.operand()
		set.operand = &operand
	}
	if taker, ok := b.(testFlagTaker); ok {
		set.behind = taker.testOptions()
	}
	if reader, ok := b.(dashReader); ok {
		set.dashes = reader.dashesAreUnderscores()
	}
	return set
}

type registration struct {
	name    string
	aliases []string
	summary string
	create  func() parsable
}

var registry = []registration{
	{
		name:    "hackbench",
		summary: "groups of senders and receivers over sockets or pipes (rt-tests)",
		create:  func() parsable { return newHackbench() },
	},
	{
		name:    "perf bench sched messaging",
		aliases: []string{"messaging"},
		summary: "hackbench as perf has it, 20 senders and 20 receivers a group",
		create:  func() parsable { return newPerfMessaging() },
	},
	{
		name:    "perf bench sched pipe",
		aliases: []string{"perf-pipe"},
		summary: "two tasks that pass a token back and forth through two pipes",
		create:  func() parsable { return newPerfPipe() },
	},
	{
		name:    "rt-app",
		summary: "threads that a JSON file describes: runs, sleeps, timers, locks (rt-app of 2026)",
		create:  func() parsable { return newRTApp() },
	},
	{
		name:    "schbench",
		summary: "wakeup latency of workers that message threads wake in batches (April 2022)",
		create:  func() parsable { return newSchbench() },
	},
	{
		name:    "pgbench",
		summary: "SELECTs by clients of a PostgreSQL server (-S, PostgreSQL 9.2)",
		create:  func() parsable { return newPgbench() },
	},
	{
		name:    "netperf",
		summary: "TCP and UDP over loopback: streams, requests and replies, sendfile (netperf 2.7)",
		create:  func() parsable { return newNetperf() },
	},
	{
		name:    "tbench",
		summary: "the network part of a file server's load over loopback TCP (dbench 4.0)",
		create:  func() parsable { return newTbench() },
	},
	{
		name:    "sysbench",
		summary: "OLTP transactions by clients of a MySQL or PostgreSQL server (sysbench 1.0)",
		create:  func() parsable { return newSysbench() },
	},
	{
		name:    "lu",
		summary: "an OpenMP team that solves equations in a pipeline (NAS Parallel Benchmarks 3.3, GCC)",
		create:  func() parsable { return newLU() },
	},
	{
		name:    "while1",
		summary: "endless loops that never sleep, for a given time",
		create:  func() parsable { return newWhile1() },
	},
	{
		name:    "perf sched cpu-matrix",
		aliases: []string{"cpu-matrix"},
		summary: "matrix multiplications that never sleep (reconstruction of a patch of 2011)",
		create:  func() parsable { return newCPUMatrix() },
	},
	{
		name:    "service",
		summary: "worker threads that answer requests of outside clients, for latencies under a limit",
		create:  func() parsable { return newService() },
	},
}

// List describes every benchmark, in a fixed order.
func List() []Info {
	infos := make([]Info, len(registry))
	for i, r := range registry {
		options := optionsOf("", r.create())
		infos[i] = Info{Name: r.name, Aliases: r.aliases, Summary: r.summary, Flags: options.help()}
	}
	return infos
}

// Parse reads a benchmark's command line, name first, in the real tool's own
// flags: ["hackbench", "-g", "12", "-p"]. The error names what cannot be and
// what can; it is a [*HelpError] when the command line asks for help.
func Parse(argv []string) (Benchmark, error) {
	name, benchmark, args := find(argv)
	if benchmark == nil {
		return nil, unknownBenchmark(argv)
	}
	options := optionsOf(name, benchmark)
	if err := options.parse(args); err != nil {
		return nil, err
	}
	if err := benchmark.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return benchmark, nil
}

// find makes the benchmark that a command line names, nil if none, and returns
// the name as it was written and the words that follow it.
func find(argv []string) (name string, b parsable, args []string) {
	for _, r := range registry {
		for _, name := range append([]string{r.name}, r.aliases...) {
			words := strings.Fields(name)
			if len(argv) >= len(words) && slices.Equal(argv[:len(words)], words) {
				return name, r.create(), argv[len(words):]
			}
		}
	}
	return "", nil, nil
}

// InputFile is the index of the word of a benchmark's command line that names a
// file which the benchmark reads, -1 if there is none.
func InputFile(argv []string) int {
	name, benchmark, args := find(argv)
	if benchmark == nil {
		return -1
	}
	options := optionsOf(name, benchmark)
	if _, reads := benchmark.(fileReader); !reads {
		return -1
	}
	file := ""
	options.operand.set = func(word string) error {
		file = word
		return nil
	}
	if err := options.parse(args); err != nil || file == "" {
		return -1 // Parse says what is wrong
	}
	return slices.Index(argv, file)
}

func unknownBenchmark(argv []string) error {
	var names []string
	for _, r := range registry {
		names = append(append(names, r.name), r.aliases...)
	}
	if len(argv) == 0 {
		return fmt.Errorf("no benchmark is named: there are %s", strings.Join(names, ", "))
	}
	return fmt.Errorf("there is no benchmark %q: there are %s", strings.Join(argv, " "), strings.Join(names, ", "))
}

// between returns the time between two marks, or why there is none. What a
// stretch left out counts.
func (obs *Observation) between(from, to int) (ns int64, failure string) {
	for _, mark := range []int{from, to} {
		if mark >= len(obs.Marks) || obs.Marks[mark] < 0 {
			return 0, fmt.Sprintf("did not finish: after %s of virtual time its clock has not %s",
				secondsText(obs.EndTime), []string{"started", "stopped"}[mark-from])
		}
	}
	ns = obs.Marks[to] - obs.Marks[from] + obs.Skipped
	if ns <= 0 {
		return 0, "took no time at all"
	}
	return ns, ""
}

// secondsText writes a time as seconds and milliseconds, cut off as the tools
// cut it off.
func secondsText(ns int64) string {
	return fmt.Sprintf("%d.%03d s", ns/1e9, ns/1e6%1000)
}
