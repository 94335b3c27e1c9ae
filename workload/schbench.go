package workload

import (
	"fmt"
	"strings"
)

// schbench is the tool as it was from December 2021 to the end of 2022
// (ipc-and-benchmarks.md 6.3): message threads that wake their workers in
// batches, and workers that measure how long they took to get a CPU, hidden
// behind a spin of wall time.
type schbench struct {
	messageThreads, workers         int
	runtime, warmup, interval, zero int // seconds
	sleep, think, ignored           int // microseconds
	stretch                         Stretch
}

func newSchbench() *schbench {
	return &schbench{
		messageThreads: 2, workers: 16, runtime: 30, warmup: 5, interval: 10,
		sleep: 30000, think: 30000,
	}
}

const (
	maxSeconds = 3600 // the polls of the main thread stay within their second
	maxMicros  = 100_000_000
	// leastSleep: a quarter of the sleep is the range of the jitter, and the
	// tool divides by it.
	leastSleep = 4
)

// Name implements [Benchmark].
func (b *schbench) Name() string { return "schbench" }

func (b *schbench) options() []option {
	return []option{
		{"m", "message-threads", "N", "message threads (2)", toInt(&b.messageThreads, 1, maxChildren/2)},
		{"t", "threads", "N", "workers of each message thread (16)", toInt(&b.workers, 1, maxChildren/2)},
		{"r", "runtime", "SECONDS", "how long to run (30)", toInt(&b.runtime, 1, maxSeconds)},
		{"s", "sleeptime", "USEC", "sleep of the message threads, plus up to a quarter (30000)", toInt(&b.sleep, leastSleep, maxMicros)},
		{"C", "message_cputime", "USEC", "read and ignored, as the tool did: always 30000", toInt(&b.ignored, 0, maxMicros)},
		{"c", "cputime", "USEC", "spin of the workers (30000)", toInt(&b.think, 1, maxMicros)},
		{"w", "warmuptime", "SECONDS", "when to forget the first samples (5)", toInt(&b.warmup, 0, maxSeconds)},
		{"i", "intervaltime", "SECONDS", "between reports on the way (10)", toInt(&b.interval, 1, maxSeconds)},
		{"z", "zerotime", "SECONDS", "how often to forget the samples (never)", toInt(&b.zero, 1, maxSeconds)},
		{"F", "cache_footprint", "KB", "not simulated", notSimulated("matrix work")},
		{"n", "operations", "N", "not simulated", notSimulated("matrix work")},
		{"a", "auto", "", "not simulated", notSimulated("the search for a thread count")},
		{"A", "auto-rps", "PERCENT", "not simulated", notSimulated("requests per second")},
		{"R", "rps", "N", "not simulated", notSimulated("requests per second")},
		{"p", "pipe", "BYTES", "not simulated", notSimulated("pipe mode")},
		{"j", "jitter", "", "not simulated", notSimulated("jitter of the spins")},
	}
}

func (b *schbench) check() error {
	if threads := b.messageThreads * (b.workers + 1); threads > maxChildren {
		return fmt.Errorf("%d threads: at most %d can be simulated", threads, maxChildren)
	}
	return nil
}

// SetStretch implements [Scalable]: the run is that much shorter. Its samples
// are fewer, not scaled; what the scheduler counts is.
func (b *schbench) SetStretch(s Stretch) { b.stretch = s }

// shortened reports whether the stretch is less than the run.
func (b *schbench) shortened() bool {
	return b.stretch.Given() && b.stretch.Warmup+b.stretch.Measure < int64(b.runtime)*1e9
}

// messageSpin is what -C would set if the tool did not ignore it.
const messageSpin = 30_000_000

const schbenchFootprint = 2 * pageSize // the stack and its own part of the heap

// stopFlag is the object number of the word that tells everyone to stop. The
// objects of the message threads follow: see [schbench.objects].
const stopFlag = 0

// objects numbers what message thread m has: the stack of its workers who want
// a post, its own word, and after it one word for each worker.
func (b *schbench) objects(m int) (stack, own int32) {
	stack = int32(1 + m*(b.workers+2))
	return stack, stack + 1
}

// task is the TaskID of worker w of message thread m; -1 is the thread itself.
func (b *schbench) task(m, w int) int64 { return int64(1 + m*(b.workers+1) + 1 + w) }

// Build implements [Benchmark].
func (b *schbench) Build(Shape) (*Scenario, error) {
	s := &Scenario{Recorders: 1, Syncs: []SyncSpec{{Kind: Word}}}
	if b.shortened() {
		s.Marks = 1
		s.Work = &Work{Start: startMark, Lasts: int64(b.runtime) * 1e9}
		s.Stretch = &b.stretch
	}
	add := func(name string, p Program) {
		s.Programs = append(s.Programs, p)
		s.Tasks = append(s.Tasks, TaskSpec{
			Name: name, Program: int32(len(s.Programs) - 1), Forked: len(s.Tasks) > 0,
			Footprint: schbenchFootprint, StartCPU: AnyCPU,
		})
	}
	add("schbench", b.mainProgram())
	for m := range b.messageThreads {
		s.Syncs = append(s.Syncs, SyncSpec{Kind: Stack})
		for range b.workers + 1 {
			s.Syncs = append(s.Syncs, SyncSpec{Kind: Word})
		}
		add("schbench", b.messageProgram(m))
		for w := range b.workers {
			add("schbench", b.workerProgram(m, w))
		}
	}
	return s, nil
}

// mainProgram starts the message threads, looks after the samples once a
// second, and at the end raises the stop flag and posts the message threads.
func (b *schbench) mainProgram() Program {
	var p Program
	for m := range b.messageThreads {
		p = append(p, Instr{Op: OpFork, N: b.task(m, -1)})
	}
	if b.shortened() {
		p = append(p,
			Instr{Op: OpMark, N: startMark},
			Instr{Op: OpSleep, N: b.stretch.Warmup},
			Instr{Op: OpForget},
			Instr{Op: OpSleep, N: b.stretch.Measure})
	} else {
		p = append(p, b.pollProgram()...)
	}
	p = append(p, Instr{Op: OpStore, Chan: stopFlag, N: 1})
	for m := range b.messageThreads {
		_, own := b.objects(m)
		p = append(p, Instr{Op: OpPost, Chan: own})
	}
	return append(p, Instr{Op: OpWaitChildren}, Instr{Op: OpExit})
}

// poll is what the main thread does when it looks up, a little after each
// whole second.
type poll struct {
	warm   bool // the warm-up is over
	report bool
	forget bool
}

// polls lists the looks from the one at the start to the last before the end.
// Each comes a little later than its second, so that a time counted in seconds
// has passed at the poll of that number. At the one that ends the warm-up
// nothing is reported.
func (b *schbench) polls() []poll {
	polls := make([]poll, b.runtime)
	reported, zeroed := 0, 0
	for second := range polls {
		p := &polls[second]
		switch {
		case b.warmup > 0 && second == b.warmup:
			p.warm, p.forget = true, true
			zeroed = second
		case second-reported >= b.interval:
			p.report = true
			reported = second
		}
		if b.zero > 0 && second-zeroed >= b.zero {
			p.forget = true
			zeroed = second
		}
	}
	return polls
}

func (b *schbench) pollProgram() Program {
	var p Program
	for _, poll := range b.polls() {
		if poll.report {
			p = append(p, Instr{Op: OpSnapshot})
		}
		if poll.forget {
			p = append(p, Instr{Op: OpForget})
		}
		p = append(p, Instr{Op: OpSleep, N: 1e9})
	}
	return p
}

// messageProgram wakes all workers that wait, newest first, waits until one is
// back, spins, sleeps, and starts again.
func (b *schbench) messageProgram(m int) Program {
	stack, own := b.objects(m)
	var p Program
	for w := range b.workers {
		p = append(p, Instr{Op: OpFork, N: b.task(m, w)})
	}
	top := int32(len(p))
	sleep := int64(b.sleep) * 1000
	jitter := int64(b.sleep/4-1) * 1000
	p = append(p,
		Instr{Op: OpStore, Chan: own, N: wordBlocked},
		Instr{Op: OpTake, Chan: stack},
		Instr{Op: OpPostTaken, Chan: stack},
		Instr{Op: OpBranch, Chan: stopFlag, N: 1, Target: top + 8},
		Instr{Op: OpAwait, Chan: own},
		Instr{Op: OpSpinWall, N: messageSpin},
		Instr{Op: OpSleepRandom, N: sleep, M: sleep + jitter},
		Instr{Op: OpLoop, Target: top, N: Forever},
		// The end: whoever came meanwhile, then everybody.
		Instr{Op: OpTake, Chan: stack},
		Instr{Op: OpPostTaken, Chan: stack},
	)
	for w := range b.workers {
		p = append(p, Instr{Op: OpPost, Chan: own + 1 + int32(w)})
	}
	return append(p, Instr{Op: OpWaitChildren}, Instr{Op: OpExit})
}

// workerProgram asks for a post, spins once it is there, and takes the sample.
func (b *schbench) workerProgram(m, w int) Program {
	stack, own := b.objects(m)
	word := own + 1 + int32(w)
	think := int64(b.think) * 1000
	return Program{
		{Op: OpBranch, Chan: stopFlag, N: 1, Target: 10},
		{Op: OpStore, Chan: word, N: wordBlocked},
		{Op: OpStamp},
		{Op: OpPush, Chan: stack, N: int64(word)},
		{Op: OpPost, Chan: own},
		{Op: OpBranch, Chan: stopFlag, N: 1, Target: 7},
		{Op: OpAwait, Chan: word},
		{Op: OpSpinWall, N: think},
		{Op: OpSample, N: think},
		{Op: OpLoop, N: Forever},
		{Op: OpExit},
	}
}

// percentiles are those that schbench prints; the starred one is its figure.
var percentiles = []float64{50, 75, 90, 95, 99, 99.5, 99.9}

const starredPercentile = 99

// Report implements [Benchmark]. The text is what the tool prints on stderr;
// it prints nothing on stdout.
func (b *schbench) Report(obs *Observation) Report {
	if len(obs.Recorders) == 0 || obs.Recorders[0].Samples.Count == 0 {
		return Report{Failure: "no worker was woken after the warm-up: the run is too short"}
	}
	recorder := &obs.Recorders[0]
	report := Report{Text: b.text(recorder)}
	for _, percent := range percentiles {
		value, _ := recorder.Samples.Percentile(percent)
		report.Metrics = append(report.Metrics, Metric{
			Statistic: "Lat", Label: fmt.Sprintf("%.1fth-qrtle-%d", percent, b.workers),
			Unit: "microseconds", Better: "lower", Value: float64(value),
		})
	}
	if b.shortened() {
		report.Notes = []string{fmt.Sprintf("a run shorter than -r %d: %s", b.runtime, b.stretch)}
	}
	return report
}

func (b *schbench) text(r *Recorder) string {
	var text strings.Builder
	if !b.shortened() {
		b.writeProgress(&text, r)
	}
	writePercentiles(&text, &r.Samples, b.runtime)
	return text.String()
}

// writeProgress writes what the tool prints on the way.
func (b *schbench) writeProgress(text *strings.Builder, r *Recorder) {
	snapshots := r.Snapshots
	for second, poll := range b.polls() {
		switch {
		case poll.warm:
			text.WriteString("warmup done, zeroing stats\n")
		case poll.report && len(snapshots) > 0:
			writePercentiles(text, &snapshots[0], second)
			snapshots = snapshots[1:]
		}
	}
}

func writePercentiles(text *strings.Builder, h *Histogram, seconds int) {
	fmt.Fprintf(text, "Latency percentiles (usec) runtime %d (s) (%d total samples)\n", seconds, h.Count)
	counted := int64(0)
	for _, percent := range percentiles {
		mark := "  "
		if percent == starredPercentile {
			mark = "* "
		}
		value, below := h.Percentile(percent)
		fmt.Fprintf(text, "\t%s%2.1fth: %-10d (%d samples)\n", mark, percent, value, below-counted)
		counted = below
	}
	fmt.Fprintf(text, "\t  min=%d, max=%d\n", h.Min, h.Max)
}
