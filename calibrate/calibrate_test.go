package calibrate

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlab/schedlab/published"
	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/workload"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func table(t *testing.T) []byte { return tableNamed(t, Document) }

func tableNamed(t *testing.T, name string) []byte {
	t.Helper()
	data, err := published.Table(name)
	check(t, err)
	return data
}

// mutated is the published table with every figure and percentage of a patched
// column replaced; it fails the test when there are fewer than expected.
func mutated(t *testing.T) []byte { return mutatedTable(t, table(t), "vanilla", 100) }

func mutatedTable(t *testing.T, table []byte, baseline string, atLeast int) []byte {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	check(t, err)
	const variant, value, delta = 5, 8, 9
	changed := 0
	for _, line := range lines[1:] {
		if line[variant] == baseline {
			continue
		}
		changed++
		line[value] = fmt.Sprint(1000 + changed)
		if line[delta] != "" {
			line[delta] = fmt.Sprint(-changed % 90)
		}
	}
	if changed < atLeast {
		t.Fatalf("only %d patched figures were found", changed)
	}
	var out bytes.Buffer
	check(t, csv.NewWriter(&out).WriteAll(lines))
	return out.Bytes()
}

// A calibration over a table in which every patched figure is another one comes
// to the same cost file, byte for byte, and predicts the same.
func TestNoPatchedFigureReachesTheCosts(t *testing.T) {
	var files, predicted [2]string
	for i, data := range [][]byte{table(t), mutated(t)} {
		files[i], predicted[i] = smallCalibration(t, data)
	}
	if diff := cmp.Diff(files[0], files[1]); diff != "" {
		t.Errorf("the cost file depends on a patched figure: %s", diff)
	}
	if diff := cmp.Diff(predicted[0], predicted[1]); diff != "" {
		t.Errorf("the predictions depend on a patched figure: %s", diff)
	}
}

// The counterpart: a baseline figure that is another one does change them.
func TestBaselineFiguresDoReachTheCosts(t *testing.T) {
	file, _ := smallCalibration(t, table(t))
	slower := bytes.Replace(table(t), []byte("Amean,1,vanilla,seconds,lower,0.3077"), []byte("Amean,1,vanilla,seconds,lower,0.6154"), 1)
	if other, _ := smallCalibration(t, slower); other == file {
		t.Error("with a figure twice as high the same costs were found")
	}
}

// smallCalibration fits one parameter to one group of pipes.
func smallCalibration(t *testing.T, data []byte) (costFile, predictions string) {
	t.Helper()
	measured, err := ReadBaseline(Document, data)
	check(t, err)
	var figures []Figure
	for _, f := range xeonFigures(measured, workload.Stretch{Warmup: 2e6, Measure: 2e6}) {
		if f.Benchmark == "hackbench-process-pipes" && f.Row == "1" {
			figures = append(figures, f)
		}
	}
	base, err := BaseCosts()
	check(t, err)
	knobs := []Knob{{Parameter: "pipe_write", Start: 350, Low: 100, High: 2000}}
	search := Search{Knobs: knobs, Figures: figures, Evaluations: 4, Workers: 1, Log: t.Logf}
	tried := 0
	search.Tried = func() { tried++ }
	costs, err := search.Fit(context.Background(), base)
	check(t, err)
	if tried < 1 || tried > search.Evaluations {
		t.Errorf("%d points tried, of %d", tried, search.Evaluations)
	}
	text, err := CostFile("", costs, knobs, "test", "calibrated")
	check(t, err)
	found, err := Predict(context.Background(), costs, []*Figure{&figures[0]}, 1)
	check(t, err)
	var out bytes.Buffer
	check(t, Print(&out, found))
	return string(text), out.String()
}

// The table has 15 rows in each of four hackbench forms and 49 schbench
// latencies under quiet vanilla, besides other benchmarks; nothing else passes.
func TestReadBaselineKeepsTheBaselineOnly(t *testing.T) {
	measured, err := ReadBaseline(Document, table(t))
	check(t, err)
	counts := map[string]int{}
	for _, m := range measured {
		if m.Statistic != "Ops" {
			counts[m.Benchmark]++
		}
	}
	for name, want := range map[string]int{"hackbench-process-pipes": 15, "hackbench-thread-sockets": 15, "schbench": 49} {
		if counts[name] != want {
			t.Errorf("%s: %d baseline figures, want %d", name, counts[name], want)
		}
	}
	if first := measured[0]; first.Value != 0.3077 {
		t.Errorf("the first figure is %v, the document says 0.3077", first.Value)
	}
	patched := "source,benchmark,environment,statistic,row,variant,unit,better,value,delta_pct,significant\n" +
		"x,b,quiet,Amean,1,filter,seconds,lower,1,2.00,1\n"
	if _, err := ReadBaseline(Document, []byte(patched)); err == nil {
		t.Error("a table of patched figures alone was accepted")
	}
}

// Prices that only patched kernels pay cannot be fitted.
func TestFrozenParametersAreRefused(t *testing.T) {
	base, err := BaseCosts()
	check(t, err)
	frozen := 0
	for _, p := range sim.CostParameters() {
		if !p.Frozen {
			continue
		}
		frozen++
		search := Search{Knobs: []Knob{{Parameter: p.Name, Start: 1, Low: 1, High: 2}},
			Figures: []Figure{{Fitted: true}}, Evaluations: 1, Log: t.Logf}
		if _, err := search.Fit(context.Background(), base); err == nil || !strings.Contains(err.Error(), "frozen") {
			t.Errorf("%s: error %v, want a refusal", p.Name, err)
		}
	}
	if frozen != 6 {
		t.Errorf("%d parameters are frozen, want 6: mask_update, mask_lookup, mask_fetch, mask_fetch_remote, pull_probe, map_lookup", frozen)
	}
	for _, knobs := range [][]Knob{XeonKnobs(), MapKnobs(), NativeKnobs()} {
		for _, k := range knobs {
			if _, err := base.With(k.Parameter, k.Start); err != nil || k.Start < k.Low || k.Start > k.High {
				t.Errorf("%s starts at %d within %d-%d: %v", k.Parameter, k.Start, k.Low, k.High, err)
			}
		}
	}
}

// The built-in file of the machine keeps what is frozen as the default has it.
func TestCalibratedFilesKeepFrozenPrices(t *testing.T) {
	base, err := BaseCosts()
	check(t, err)
	for _, name := range sim.CostNames() {
		costs, err := sim.LoadCosts(name)
		check(t, err)
		for _, p := range sim.CostParameters() {
			want, _ := base.Parameter(p.Name)
			if have, _ := costs.Parameter(p.Name); p.Frozen && have != want {
				t.Errorf("%s: %s is %d, the default has %d", name, p.Name, have, want)
			}
		}
	}
}

// A part can be fitted anew when its parameters matter to nothing else that is
// fitted to: those of sockets do, those of pipes are schbench's too.
func TestApart(t *testing.T) {
	known, err := XeonFigures(workload.Stretch{Warmup: 1e6, Measure: 1e6})
	check(t, err)
	of := func(benchmark string) (figures []Figure) {
		for _, f := range known {
			if f.Benchmark == benchmark {
				figures = append(figures, f)
			}
		}
		return figures
	}
	for benchmark, want := range map[string][]string{
		"hackbench-process-sockets": {"unix_send", "unix_lines"},
		"hackbench-process-pipes":   {"switch_process", "pipe_write", "refill_core"},
		"schbench":                  {"futex_lines"},
	} {
		var names []string
		knobs, err := Apart(XeonKnobs(), of(benchmark), known)
		check(t, err)
		for _, k := range knobs {
			names = append(names, k.Parameter)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s: %s", benchmark, diff)
		}
	}
	if knobs, err := Apart(XeonKnobs(), of("hackbench-thread-pipes"), known); err == nil {
		t.Errorf("nothing is fitted to threads, yet %v is to be", knobs)
	}
}

// A search may begin where another one ended, within the ranges.
func TestStartAt(t *testing.T) {
	base, err := BaseCosts()
	check(t, err)
	costs, err := base.With("unix_send", 1800)
	check(t, err)
	knobs, err := StartAt(costs, []Knob{{Parameter: "unix_send", Start: 700, Low: 500, High: 2500}, {Parameter: "unix_recv", Start: 1, Low: 800, High: 900}})
	check(t, err)
	if knobs[0].Start != 1800 || knobs[1].Start != 800 { // the default's 600 is below its range
		t.Errorf("starts at %d and %d, want 1800 and 800", knobs[0].Start, knobs[1].Start)
	}
}

const timings = `benchmark,parameters,command,runs,median_s
hackbench-process-pipes,-g 1 -l 400,hackbench -P -p -g 1 -l 400,5,0.1640
hackbench-process-pipes,-g 2 -l 400,hackbench -P -p -g 2 -l 400,5,0.2490
perf-bench-pipe-pinned,-l 200000,taskset -c 0 perf bench sched pipe -l 200000,5,1.2840
hackbench-process-pipes,-g 1 -f 4 -l 20000,hackbench -P -p -g 1 -f 4 -l 20000,5,0.1920
`

func TestNativeFigures(t *testing.T) {
	figures, err := NativeFigures("timings.csv", strings.NewReader(timings))
	check(t, err)
	var fitted, pinned []bool
	for _, f := range figures {
		fitted, pinned = append(fitted, f.Fitted), append(pinned, len(f.Cell.CPUs) == 1)
	}
	if diff := cmp.Diff([]bool{true, false, true, false}, fitted); diff != "" {
		t.Errorf("which are fitted to: %s", diff)
	}
	if diff := cmp.Diff([]bool{false, false, true, false}, pinned); diff != "" {
		t.Errorf("which are pinned: %s", diff)
	}
	if got := strings.Join(figures[2].Cell.Command, " "); got != "perf bench sched pipe -l 200000" {
		t.Errorf("the pinned command is %q", got)
	}
	counted := strings.NewReplacer("median_s", "median_s,context_switches", "0.1640", "0.1640,19553", "0.2490", "0.2490,x").Replace(timings[:strings.Index(timings, "perf")])
	for text, want := range map[string]string{
		counted:                          `timings.csv:3: context_switches is "x"`,
		"benchmark,parameters,command\n": "there is no column median_s",
		"":                               "is empty",
		strings.Replace(timings, "0.2490", "", 1): `timings.csv:3: median_s is ""`,
	} {
		if _, err := NativeFigures("timings.csv", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// All rows of the shared timings can be simulated, where the file is at hand.
func TestSharedTimingsCanBeRead(t *testing.T) {
	folder := os.Getenv("SCHEDLAB_SHARED")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared")
	}
	file, err := os.Open(filepath.Join(folder, "native", "timings.csv"))
	if err != nil {
		t.Logf("left out: %v", err)
		return
	}
	defer func() { _ = file.Close() }()
	figures, err := NativeFigures("timings.csv", file)
	check(t, err)
	if len(figures) != 48 {
		t.Errorf("%d figures, the file has 24 times and as many numbers of switches", len(figures))
	}
}

// A run's switches stand beside its time, are never fitted to, and count as good
// within a factor of 2: of 40,000, 10,000 and 8,000 for 19,553 the last is not.
func TestSwitchesAreCheckedAndNotFitted(t *testing.T) {
	figures, err := NativeFigures("timings.csv", strings.NewReader("benchmark,parameters,command,median_s,context_switches\n"+
		"hackbench-process-pipes,-g 1 -l 400,hackbench -P -p -g 1 -l 400,0.1640,19553\n"))
	check(t, err)
	if len(figures) != 2 || !figures[0].Fitted || figures[1].Fitted || figures[1].Measured != 19553 {
		t.Fatalf("figures %+v", figures)
	}
	f := &figures[1]
	got := ScoreOf([]Prediction{{f, 39106}, {f, 10000}, {f, 8000}}, (*Figure).countsSwitches)
	if got.N != 3 || got.Close != 2 {
		t.Errorf("got %+v, want 2 of 3", got)
	}
	found, err := Predict(context.Background(), mustCosts(t), []*Figure{f}, 1)
	check(t, err)
	if found[0].Simulated < 1000 { // 40 tasks start, wait for each other and end
		t.Errorf("%v switches", found[0].Simulated)
	}
}

func mustCosts(t *testing.T) *sim.Costs {
	t.Helper()
	costs, err := BaseCosts()
	check(t, err)
	return costs
}

// Of 0.8, 1.3 and 2 the first is within 25 %, the last off by a factor of 2.
func TestScore(t *testing.T) {
	figure := &Figure{Measured: 10}
	got := ScoreOf([]Prediction{{figure, 8}, {figure, 13}, {figure, 20}}, func(*Figure) bool { return true })
	if want := (Score{N: 3, Close: 1, Worst: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
