package sim

import (
	"fmt"
	"math"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/workload"
)

// stretched runs a command with a stretch, or whole when there is none, and
// returns its main figure.
func stretched(t *testing.T, spec string, stretch workload.Stretch, argv ...string) (float64, *Result) {
	t.Helper()
	bench, err := workload.Parse(argv)
	check(t, err)
	if stretch.Given() {
		bench.(workload.Scalable).SetStretch(stretch)
	}
	mach, err := machine.Parse(spec)
	check(t, err)
	sc, err := bench.Build(workload.Shape{CPUs: mach.NumCPUs(), Nodes: len(mach.Nodes)})
	check(t, err)
	r := run(t, simulateWith(t, spec, "v5.17", sc, func(c *Config) { c.Check = alwaysCheck }))
	report := bench.Report(&r.Observation)
	if report.Failure != "" {
		t.Fatalf("%v, stretch %v: %s", argv, stretch, report.Failure)
	}
	if scaled := r.Stretch != nil; scaled != (len(report.Notes) > 0) {
		t.Errorf("%v, stretch %v: scaled %v, but the notes are %q", argv, stretch, scaled, report.Notes)
	}
	return report.Metrics[0].Value, r
}

func wantWithin(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got/want-1) > share {
		t.Errorf("%s: %.4f s, want %.4f s within %.1f %%", what, got, want, 100*share)
	}
}

const ms = 1_000_000

// Two tasks that only pass a token have no phases: any stretch tells the whole.
func TestStretchOfASteadyBenchmarkIsExact(t *testing.T) {
	argv := []string{"perf", "bench", "sched", "pipe", "-l", "50000"}
	exact, whole := stretched(t, "1n4c1t", workload.Stretch{}, argv...)
	scaled, r := stretched(t, "1n4c1t", workload.Stretch{Warmup: 10 * ms, Measure: 20 * ms}, argv...)
	wantWithin(t, "perf pipe", scaled, exact, 0.005)
	if r.Stretch == nil || r.End > 40*ms {
		t.Fatalf("simulated %d ns for a stretch of 30 ms", r.End)
	}
	if drift := r.Stretch.DriftPercent(); drift > 0 {
		t.Errorf("the halves of a steady stretch differ by %d %%", drift)
	}
	wakeups, want := float64(r.WholeCounters().Wakeups), float64(whole.WholeCounters().Wakeups)
	if math.Abs(wakeups/want-1) > 0.005 {
		t.Errorf("%v wakeups in the whole run, scaled, want %v within 0.5 %%", wakeups, want)
	}
}

// Past the warm-up (PELT forgets in 350 ms) hackbench is stationary but for what
// chance does in a few hundred ms: a stretch, the double stretch and the whole
// run give the same time within a few per cent.
func TestTwiceTheStretchGivesTheSameFigure(t *testing.T) {
	argv := []string{"hackbench", "-g", "2", "-l", "3000", "-P"}
	exact, _ := stretched(t, "1n4c1t", workload.Stretch{}, argv...)
	once, r := stretched(t, "1n4c1t", workload.Stretch{Warmup: 400 * ms, Measure: 200 * ms}, argv...)
	twice, s := stretched(t, "1n4c1t", workload.Stretch{Warmup: 400 * ms, Measure: 400 * ms}, argv...)
	if r.Stretch == nil || s.Stretch == nil {
		t.Fatal("the run is too short for a stretch")
	}
	wantWithin(t, "the stretch against the whole run", once, exact, 0.08)
	wantWithin(t, "twice the stretch against the whole run", twice, exact, 0.08)
	wantWithin(t, "twice the stretch against the stretch", twice, once, 0.08)
}

// A run that is over before its stretch is the run itself.
func TestRunWithinTheStretchIsWhole(t *testing.T) {
	argv := []string{"hackbench", "-g", "1", "-l", "50", "-P", "-p"}
	exact, _ := stretched(t, "1n4c1t", workload.Stretch{}, argv...)
	got, r := stretched(t, "1n4c1t", workload.Stretch{Warmup: 400 * ms, Measure: 300 * ms}, argv...)
	if got != exact || r.Stretch != nil {
		t.Errorf("%v s, want the exact %v s", got, exact)
	}
}

// Wherever a run is cut, everybody gets to its end: no receiver waits for a
// message that is not sent any more, no sender for space.
func TestCutRunsEnd(t *testing.T) {
	for _, form := range []string{"-p", "-P", "-T"} {
		for measure := range int64(12) {
			stretch := workload.Stretch{Warmup: measure * measure * 50_000, Measure: (measure + 1) * ms}
			_, r := stretched(t, "2n2c1t", stretch, "hackbench", "-g", "2", "-f", "4", "-l", "6000", form)
			if r.Stretch == nil {
				t.Errorf("%s %s: the run of 6000 loops was not cut", form, stretch)
				continue
			}
			// Besides the data every child writes that it is ready, main the go.
			sent := r.Messages - 2*8 - 1
			if want := int64(2*4*4*6000) - r.Stretch.SkippedMessages; sent != want {
				t.Errorf("%s %s: %d messages were sent, want the %d that were not skipped", form, stretch, sent, want)
			}
		}
	}
}

// The scenario itself stays as it is.
func TestCutLeavesTheScenarioAlone(t *testing.T) {
	bench, err := workload.Parse([]string{"hackbench", "-g", "1", "-f", "2", "-l", "9000"})
	check(t, err)
	bench.(workload.Scalable).SetStretch(workload.Stretch{Measure: 5 * ms})
	sc, err := bench.Build(workload.Shape{CPUs: 4, Nodes: 1})
	check(t, err)
	before := fmt.Sprint(sc.Programs)
	if r := run(t, simulate(t, "1n4c1t", "v5.17", sc)); r.Stretch == nil {
		t.Fatal("not cut")
	}
	if fmt.Sprint(sc.Programs) != before {
		t.Error("cutting the run changed the scenario's programs")
	}
}

func TestMulDivDoesNotOverflow(t *testing.T) {
	for _, c := range []struct{ a, b, c, want int64 }{
		{7, 3, 2, 10}, {math.MaxInt64, 2, 4, math.MaxInt64 / 2}, {math.MaxInt64, math.MaxInt64, 1, longest}, {1 << 62, 4, 2, longest},
	} {
		if got := mulDiv(c.a, c.b, c.c); got != c.want {
			t.Errorf("%d * %d / %d = %d, want %d", c.a, c.b, c.c, got, c.want)
		}
	}
}

func TestDriftComparesTheHalves(t *testing.T) {
	for _, c := range []struct{ first, all, want int64 }{
		{100, 200, 0}, {100, 220, 20}, {120, 220, 20}, {0, 10, 1000}, {0, 0, 0},
	} {
		r := StretchResult{FirstHalf: c.first, Messages: c.all}
		if got := r.DriftPercent(); got != c.want {
			t.Errorf("%d of %d messages in the first half: drift %d %%, want %d", c.first, c.all, got, c.want)
		}
	}
}

// Schbench ends by the clock. Its stretch simulates the start, with its many
// forks, once, and lets what is counted per second stand for the 30 s of the
// tool: S1's cycle of 93.8 ms has 3 wakeups, main has 1 a second.
func TestStretchOfABenchmarkThatEndsByTheClock(t *testing.T) {
	argv := []string{"schbench", "-m", "1", "-t", "1", "-w", "0"}
	_, whole := stretched(t, "1n4c1t", workload.Stretch{}, argv...)
	_, r := stretched(t, "1n4c1t", workload.Stretch{Warmup: 500 * ms, Measure: 5000 * ms}, argv...)
	if r.End > 5600*ms {
		t.Errorf("simulated %d ns for a stretch of 5.5 s and the end of a cycle", r.End)
	}
	if r.Stretch.Skipped != 30_000*ms-5500*ms {
		t.Errorf("%d ns were left out, want 24.5 s", r.Stretch.Skipped)
	}
	// Main's 30 wakeups a run come once a second; a stretch has one of them.
	got, want := float64(r.WholeCounters().Wakeups), float64(whole.WholeCounters().Wakeups-30)
	if math.Abs(got/want-1) > 0.02 {
		t.Errorf("%v wakeups in the whole run, scaled, want %v within 2 %%", got, want)
	}
}

// While two windows in a row differ by more than 5 %, the warm-up goes on. The
// first comparison is at its end, and then one every window.
func TestWarmupGoesOnUntilSteady(t *testing.T) {
	argv := []string{"perf", "bench", "sched", "pipe", "-l", "50000"}
	_, fixed := stretched(t, "1n4c1t", workload.Stretch{Warmup: 10 * ms, Measure: 4 * ms}, argv...)
	_, steady := stretched(t, "1n4c1t", workload.Stretch{Warmup: 10 * ms, Measure: 4 * ms, Settle: 100 * ms}, argv...)
	if steady.Stretch.From != fixed.Stretch.From {
		t.Errorf("two tasks that pass a token are steady at once: measured from %d ns on, want %d", steady.Stretch.From, fixed.Stretch.From)
	}

	argv = []string{"hackbench", "-g", "8", "-l", "20000", "-P", "-p"}
	_, r := stretched(t, "1n8c2t", workload.Stretch{Warmup: 2 * ms, Measure: 2 * ms, Settle: 60 * ms}, argv...)
	hackbench := r.Stretch
	_, at := stretched(t, "1n8c2t", workload.Stretch{Warmup: 2 * ms, Measure: 2 * ms}, argv...)
	windows := (hackbench.From - at.Stretch.From) / (2 * ms)
	if windows < 1 || windows > 30 || (hackbench.From-at.Stretch.From)%(2*ms) != 0 {
		t.Errorf("measured %d ns after the warm-up, want 1 to 30 windows of 2 ms", hackbench.From-at.Stretch.From)
	}

	// A settle shorter than a window leaves the warm-up as it is.
	_, short := stretched(t, "1n8c2t", workload.Stretch{Warmup: 2 * ms, Measure: 2 * ms, Settle: ms}, argv...)
	if short.Stretch.From > at.Stretch.From+ms {
		t.Errorf("measured %d ns after the warm-up, want 1 ms at most", short.Stretch.From-at.Stretch.From)
	}

	g, m := settling{until: 500}, &Sim{}
	for i, c := range []struct {
		now, messages, wakeups int64
		goesOn                 bool
	}{
		{100, 500, 50, true},    // the first has no beginning
		{200, 1500, 150, true},  // 1000 messages and 100 wakeups, nothing to compare with
		{300, 2510, 256, true},  // 1010 after 1000, but 106 wakeups after 100: 5.7 %
		{400, 3560, 361, false}, // 1050 after 1010 are 3.8 %, 105 after 106 less
		{450, 9999, 999, false}, // the next would end after 500
	} {
		m.now, m.progress, m.result.Wakeups = c.now, c.messages, c.wakeups
		if got := g.goesOn(m, 100); got != c.goesOn {
			t.Errorf("window %d: goes on %v, want %v", i, got, c.goesOn)
		}
	}
}
