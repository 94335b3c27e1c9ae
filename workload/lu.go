package workload

import (
	"fmt"
	"strings"
	"time"
)

// lu is the LU benchmark of NPB 3.3, OpenMP version, built with GCC
// (ipc-and-benchmarks.md 6.9): a team of threads that sweep over a grid in a
// pipeline, each spinning for its neighbour.
type lu struct {
	class   string
	threads int // 0: one per CPU
	team    teamEnvironment
	stretch Stretch
}

func newLU() *lu { return &lu{class: "C"} }

// luClass is a problem size of NPB.
type luClass struct {
	points     int64 // in each of three dimensions, the boundary included
	iterations int
}

// luClasses are the sizes that NPB's setparams knows.
var luClasses = map[string]luClass{
	"S": {12, 50}, "W": {33, 300}, "A": {64, 250}, "B": {102, 250}, "C": {162, 250}, "D": {408, 300},
}

const (
	luStartMark = 0
	luFromMark  = 1 // what a stretch measures
	luToMark    = 2 // the end of the last iteration
	luMarks     = 3

	maxTeam = 1024
)

// Name implements [Benchmark].
func (b *lu) Name() string { return "lu" }

func (b *lu) options() []option {
	return []option{
		{"", "class", "CLASS", "problem size: S, W, A, B, C or D (C)", b.setClass},
	}
}

// operand takes the environment of the program, as env(1) does.
func (b *lu) operand() option {
	return option{arg: "NAME=VALUE", help: "of the environment: OMP_NUM_THREADS (one per CPU), OMP_PROC_BIND, GOMP_CPU_AFFINITY, OMP_WAIT_POLICY, GOMP_SPINCOUNT", set: b.setVariable}
}

func (b *lu) setClass(class string) error {
	if _, known := luClasses[class]; !known {
		return fmt.Errorf("%q is no class: choose S, W, A, B, C or D", class)
	}
	b.class = class
	return nil
}

func (b *lu) setVariable(word string) error {
	name, value, found := strings.Cut(word, "=")
	if !found {
		return fmt.Errorf("unexpected argument %q: want NAME=VALUE of the environment, or --class", word)
	}
	var err error
	if name == "OMP_NUM_THREADS" {
		err = toInt(&b.threads, 1, maxTeam)(value)
	} else {
		err = b.team.set(name, value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (b *lu) check() error { return nil }

func (b *lu) size() luClass { return luClasses[b.class] }

// SetStretch implements [Scalable]: iterations are left out, and those of the
// measured time stand for all.
func (b *lu) SetStretch(s Stretch) { b.stretch = s }

// Report implements [Benchmark].
func (b *lu) Report(obs *Observation) Report {
	ns, failure := obs.between(luStartMark, luToMark)
	if failure != "" {
		return Report{Failure: failure}
	}
	notes := []string{"nothing is computed: the program's verification and what it says of its compilation are left out"}
	iterations := b.size().iterations
	if done := obs.Recorders[0].Tally; b.stretch.Given() && done > 0 && obs.Marks[luFromMark] >= 0 {
		mean := float64(obs.Marks[luToMark]-obs.Marks[luFromMark]) / float64(done)
		ns = int64(mean * float64(iterations))
		notes = append(notes, fmt.Sprintf("scaled from %d of %d iterations: %s of warm-up, then %s or more",
			done, iterations, time.Duration(b.stretch.Warmup), time.Duration(b.stretch.Measure)))
	}
	seconds := float64(ns) / 1e9
	return Report{Text: b.text(seconds), Notes: notes, Metrics: []Metric{
		{Statistic: "time", Unit: "seconds", Better: "lower", Value: seconds},
	}}
}

// luMegaflops is the program's own formula for the operations of a run, in
// millions.
func luMegaflops(points int64, iterations int) float64 {
	n := float64(points)
	return float64(iterations) * (1984.77*n*n*n - 10923.3*n*n + 27770.9*n - 144010) / 1e6
}

func (b *lu) text(seconds float64) string {
	size, threads := b.size(), b.threads
	var text strings.Builder
	fmt.Fprintf(&text, "\n\n NAS Parallel Benchmarks (NPB3.3-OMP) - LU Benchmark\n\n")
	fmt.Fprintf(&text, " Size: %4dx%4dx%4d\n", size.points, size.points, size.points)
	fmt.Fprintf(&text, " Iterations:                  %5d\n", size.iterations)
	fmt.Fprintf(&text, " Number of available threads: %5d\n\n", threads)
	for step := 1; step <= size.iterations; step++ {
		if step == 1 || step%20 == 0 || step == size.iterations {
			fmt.Fprintf(&text, " Time step %4d\n", step)
		}
	}
	mops := luMegaflops(size.points, size.iterations) / seconds
	fmt.Fprintf(&text, "\n\n LU Benchmark Completed.\n")
	fmt.Fprintf(&text, " Class           = %24s\n", b.class)
	fmt.Fprintf(&text, " Size            =           %4dx%4dx%4d\n", size.points, size.points, size.points)
	fmt.Fprintf(&text, " Iterations      = %24d\n", size.iterations)
	fmt.Fprintf(&text, " Time in seconds = %24.2f\n", seconds)
	fmt.Fprintf(&text, " Total threads   = %24d\n Avail threads   = %24d\n", threads, threads)
	fmt.Fprintf(&text, " Mop/s total     = %24.2f\n Mop/s/thread    = %24.2f\n", mops, mops/float64(threads))
	fmt.Fprintf(&text, " Operation type  = %24s\n", "floating point")
	fmt.Fprintf(&text, " Version         = %24s\n", "3.3.1")
	return text.String()
}
