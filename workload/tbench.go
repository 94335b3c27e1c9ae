package workload

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// tbench is tbench of dbench 4.0 with its server on the same machine
// (ipc-and-benchmarks.md 6.4): for each client a process and a server process,
// which pass requests and replies back and forth over TCP.
type tbench struct {
	clients  int
	duration int // seconds
	loadFile string
	words    int // operands read
	ignored  bool
	stretch  Stretch
}

const maxTbenchClients = 4096

// tbenchLoads are the names under which the one load is known.
var tbenchLoads = []string{"client.txt", "client-tiny.txt", "client-tiny"}

func newTbench() *tbench { return &tbench{duration: 600, loadFile: tbenchLoads[0]} }

// Name implements [Benchmark].
func (b *tbench) Name() string { return "tbench" }

func (b *tbench) options() []option {
	return []option{
		{"t", "timelimit", "SECONDS", "length of the run, after a warm-up of a fifth (600)", toInt(&b.duration, 1, maxSeconds)},
		{"c", "loadfile", "FILE", "client.txt or client-tiny: either is mmtests' client-tiny", b.setLoad},
		{"s", "sync", "", "read and ignored: of dbench", toBool(&b.ignored, true)},
		{"S", "sync-dir", "", "read and ignored: of dbench", toBool(&b.ignored, true)},
		{"D", "directory", "DIR", "read and ignored: of dbench", toBool(&b.ignored, true)},
		{"T", "tcp-options", "OPTIONS", "not simulated", notSimulated("another set of TCP options")},
		{"R", "target-rate", "RATE", "not simulated", notSimulated("a given rate")},
		{"", "clients-per-process", "N", "not simulated", notSimulated("more than one client in a process")},
		{"", "run-once", "", "not simulated", notSimulated("a single pass over the load")},
	}
}

// operand implements operandTaker.
func (b *tbench) operand() option {
	return option{"", "", "NPROCS [SERVER]", "clients, and localhost or 127.0.0.1", b.setOperand}
}

func (b *tbench) setOperand(word string) error {
	b.words++
	switch {
	case b.words == 1:
		if err := toInt(&b.clients, 1, maxTbenchClients)(word); err != nil {
			return fmt.Errorf("NPROCS: %w", err)
		}
	case b.words > 2:
		return fmt.Errorf("unexpected word %q behind NPROCS and SERVER", word)
	case word != "localhost" && word != "127.0.0.1":
		return fmt.Errorf("server %q: there is only this machine, localhost or 127.0.0.1", word)
	}
	return nil
}

func (b *tbench) setLoad(file string) error {
	if !slices.Contains(tbenchLoads, path.Base(file)) {
		return fmt.Errorf("load file %q: there is one load only, under the names %s", file, strings.Join(tbenchLoads, ", "))
	}
	b.loadFile = file
	return nil
}

func (b *tbench) check() error {
	if b.words == 0 {
		return fmt.Errorf("you need to specify NPROCS, the number of clients")
	}
	return nil
}

// SetStretch implements [Scalable]: the run is that much shorter.
func (b *tbench) SetStretch(s Stretch) { b.stretch = s }

func (b *tbench) shortened() bool {
	return b.stretch.Given() && b.stretch.Warmup+b.stretch.Measure < int64(b.warmup()+b.duration)*1e9
}

// warmup is the tool's own, in seconds.
func (b *tbench) warmup() int { return b.duration / 5 }

// Report implements [Benchmark]. The text is what the tool prints on stdout, but
// for the lines of each second.
func (b *tbench) Report(obs *Observation) Report {
	from, to := obs.Marks[tbFromMark], obs.Marks[tbToMark]
	if from < 0 || to <= from {
		return Report{Failure: "did not finish"}
	}
	bytes := obs.Recorders[tbBytes].Tally
	if bytes == 0 {
		return Report{Failure: "no file data was moved: the run is too short"}
	}
	worst := int64(0) // us
	for kind := range tbenchKinds {
		worst = max(worst, obs.Recorders[kind].Samples.Max)
	}
	throughput := float64(bytes) / 1e6 / (float64(to-from) / 1e9)
	report := Report{Text: b.text(obs, throughput, worst), Metrics: []Metric{
		{Statistic: "Hmean", Unit: "MB/s", Better: "higher", Value: throughput},
		{Statistic: "max_latency", Unit: "milliseconds", Better: "lower", Value: float64(worst) / 1000},
	}}
	if b.shortened() {
		report.Notes = []string{fmt.Sprintf("a run shorter than -t %d: %s", b.duration, b.stretch)}
	}
	return report
}

func (b *tbench) text(obs *Observation, throughput float64, worst int64) string {
	var text strings.Builder
	text.WriteString("dbench version 4.00 - Copyright Andrew Tridgell 1999-2004\n\n")
	fmt.Fprintf(&text, "Running for %d seconds with load '%s' and minimum warmup %d secs\n", b.duration, b.loadFile, b.warmup())
	fmt.Fprintf(&text, "%d of %d processes prepared for launch   0 sec\nreleasing clients\n\n", b.clients, b.clients)
	text.WriteString(" Operation                Count    AvgLat    MaxLat\n --------------------------------------------------\n")
	for kind, name := range tbenchKinds {
		if h := &obs.Recorders[kind].Samples; h.Count > 0 {
			fmt.Fprintf(&text, " %-22s %7d %9.03f %9.03f\n", name, h.Count, float64(h.Sum)/float64(h.Count)/1000, float64(h.Max)/1000)
		}
	}
	fmt.Fprintf(&text, "\nThroughput %s MB/sec  %d clients  %d procs  max_latency=%.03f ms\n",
		sixDigits(throughput), b.clients, b.clients, float64(worst)/1000)
	return text.String()
}

// sixDigits writes a number as C's %g does.
func sixDigits(value float64) string { return fmt.Sprintf("%.6g", value) }
