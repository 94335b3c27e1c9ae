package experiment

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/workload"
)

const stretchedExperiment = `machine: 1n2c1t
kernel: v5.17
variants: [{name: vanilla}]
stretch: {warmup: 400ms, measure: 0.3s, quick: {warmup: 0s, measure: 50ms}}
benchmarks:
  - {name: long, run: hackbench -l 10000, rows: {-g: [1]}}
  - {name: own, run: schbench, stretch: {warmup: 5s, measure: 10s}}
  - {name: exempt, run: "while1 --time 0.1", stretch: whole}
quick: {repeats: 1}
repeats: 1
`

func stretches(plan *Plan) map[string]workload.Stretch {
	got := map[string]workload.Stretch{}
	for i := range plan.Cells {
		got[plan.Cells[i].Benchmark] = plan.Cells[i].Stretch
	}
	return got
}

func TestStretchOfTheCells(t *testing.T) {
	of := func(warmup, measure time.Duration) workload.Stretch {
		return workload.Stretch{Warmup: int64(warmup), Measure: int64(measure)}
	}
	own := of(5*time.Second, 10*time.Second)
	for _, c := range []struct {
		quick bool
		long  workload.Stretch
	}{{false, of(400*time.Millisecond, 300*time.Millisecond)}, {true, of(0, 50*time.Millisecond)}} {
		plan := mustPlan(t, stretchedExperiment, Options{Quick: c.quick})
		got := stretches(plan)
		if got["long"] != c.long || got["own"] != own || got["exempt"].Given() {
			t.Errorf("quick %v: %v", c.quick, got)
		}
		if err := plan.Check(Simulator{}); err != nil {
			t.Error(err)
		}
	}
}

func TestWrongStretches(t *testing.T) {
	for stretch, want := range map[string]string{
		"{warmup: 400ms}":                                "stretch has no \"measure\"",
		"{warmup: 400, measure: 1s}":                     "warmup is \"400\"; write a length such as 300ms or 1.5s",
		"{warmup: 1s, measure: 0s}":                      "measure is \"0s\"",
		"{warmup: -1s, measure: 1s}":                     "warmup is \"-1s\"",
		"{warmup: 1s, measure: 1s, qick: {}}":            "unknown key \"qick\"",
		"{warmup: 1s, measure: 1s, quick: {warmup: 0s}}": "the quick stretch has no \"measure\"",
		"hole": "stretch is \"hole\"; write stretch: {warmup: 400ms, measure: 300ms} or stretch: whole",
		"3":    "stretch is not a mapping",
	} {
		text := strings.Replace(stretchedExperiment, "stretch: whole", "stretch: "+stretch, 1)
		_, err := Parse("x.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.yaml:8:") {
			t.Errorf("%s:\n got %v\nwant line 8 and %s", stretch, err, want)
		}
	}
}

func TestStretchOfABenchmarkThatCannotBeScaled(t *testing.T) {
	text := strings.Replace(stretchedExperiment, ", stretch: whole", "", 1)
	err := mustPlan(t, text, Options{}).Check(Simulator{})
	want := "while1 cannot be scaled from a stretch; write stretch: whole in that benchmark"
	if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "small.yaml:4:") {
		t.Errorf("got %v, want line 4 and %s", err, want)
	}
}

// The note of a scaled run reaches the outcome, and so do schbench's labels.
func TestOutcomesOfStretchedRuns(t *testing.T) {
	c := cellOf("1n2c1t", "hackbench", "-g", "1", "-f", "4", "-l", "9000")
	c.Stretch = workload.Stretch{Warmup: 10e6, Measure: 20e6}
	o, err := Simulator{}.Run(context.Background(), &c)
	if err != nil || o.Failed != "" {
		t.Fatal(err, o)
	}
	if len(o.Notes) != 1 || o.Notes[0] != "scaled from a stretch of each run: 10ms of warm-up, then 20ms measured" {
		t.Errorf("notes %q", o.Notes)
	}
	c = cellOf("1n4c1t", "schbench", "-m", "1", "-t", "2")
	c.Stretch = workload.Stretch{Warmup: 1e9, Measure: 2e9}
	o, err = Simulator{}.Run(context.Background(), &c)
	if err != nil || o.Failed != "" {
		t.Fatal(err, o)
	}
	if len(o.Notes) != 1 || len(o.Samples) != 7 || o.Samples[6].Label != "99.9th-qrtle-2" || o.Samples[6].Statistic != "Lat" {
		t.Errorf("notes %q, samples %+v", o.Notes, o.Samples)
	}
}

func TestUnsteadyStretchesAreDoubted(t *testing.T) {
	for _, c := range []struct {
		messages int64 // 100 of them in the first half
		want     string
	}{{205, ""}, {215, "at least 10 %"}, {230, "at least 20 %"}, {400, "at least 50 %"}} {
		o := outcomeOf(workload.Report{}, &sim.Result{Stretch: &sim.StretchResult{FirstHalf: 100, Messages: c.messages}})
		warnings := strings.Join(o.Warnings, "\n")
		if c.want == "" && warnings != "" || !strings.Contains(warnings, c.want) {
			t.Errorf("100 and then %d messages: warnings %q, want %q", c.messages-100, warnings, c.want)
		}
	}
}
