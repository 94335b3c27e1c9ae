package stats

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Up to 31 every value is its own class; from 32 on sixteen classes share a
// power of two: 32 and 33 are one, up to 33, and 1000 is in 992 to 1023
// (512 + 15·32 = 992).
func TestLatencyClasses(t *testing.T) {
	for ns, want := range map[int64]int64{0: 0, 1: 1, 31: 31, 32: 33, 33: 33, 34: 35, 1000: 1023, 1 << 40: 1<<40 + 1<<36 - 1} {
		if got := upper(classOf(ns)); got != want {
			t.Errorf("%d ns is in the class up to %d, want %d", ns, got, want)
		}
	}
}

func TestLatencyClassesAreNarrowAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(0, 1<<50).Draw(t, "ns")
		class := classOf(ns)
		if top := upper(class); top < ns || float64(top) > float64(ns)*(1+1.0/16) {
			t.Fatalf("%d ns is in the class up to %d", ns, top)
		}
		if classOf(upper(class)) != class || classOf(upper(class)+1) != class+1 {
			t.Fatalf("class %d does not end at %d", class, upper(class))
		}
	})
}

// Of 10, 20, 30 and 1000 ns half are within 20 and three quarters within 30.
func TestLatencyCurveAndPercentiles(t *testing.T) {
	var l Latency
	for _, ns := range []int64{1000, 10, 30, 20} {
		l.Add(ns, 1)
	}
	want := []LatencyPoint{{25, 10}, {50, 20}, {75, 30}, {100, 1000}}
	if diff := cmp.Diff(want, l.Curve()); diff != "" {
		t.Error(diff)
	}
	for percent, want := range map[float64]int64{0: 10, 25: 10, 50: 20, 51: 30, 99: 1000, 100: 1000} {
		if got := l.Percentile(percent); got != want {
			t.Errorf("%v percent within %d ns, want %d", percent, got, want)
		}
	}
	if (&Latency{}).Percentile(50) != 0 {
		t.Error("nothing counted, and a percentile")
	}
}

func TestLatencyReadsBackAndMerges(t *testing.T) {
	var a, b, back Latency
	a.Add(5, 2)
	a.Add(70_000, 1)
	data, err := json.Marshal(&a)
	if err != nil {
		t.Fatal(err)
	}
	// 70,000 = 65,536 + 1·4096 + ...: class 12<<4 + 17 = 209.
	if want := `{"max_ns":70000,"counts":[5,2,209,1]}`; string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	b.Add(1, 1)
	b.Merge(&back)
	if b.Count() != 4 || b.Max() != 70_000 || b.Percentile(75) != 5 {
		t.Errorf("%d latencies, up to %d ns, 75 %% within %d", b.Count(), b.Max(), b.Percentile(75))
	}
	for _, bad := range []string{`{"max_ns":10,"counts":[1]}`, `{"max_ns":10,"counts":[1,-2]}`, `{"max_ns":10,"counts":[400,2]}`, `{"max_ns":10,"counts":[-1,2]}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// Wilson's interval of 8 of 10 at z = 1.96: middle (0.8 + 0.19207)/1.38414 =
// 0.71674, half width 1.96/1.38414·√(0.016 + 0.009604) = 0.22659. Of 20 of 20 the
// lower end is 1/(1 + 3.8415/20) = 0.83887.
func TestProportionInterval(t *testing.T) {
	for _, c := range []struct {
		successes, trials int64
		low, high         float64
	}{{8, 10, 0.49016, 0.94333}, {20, 20, 0.83887, 1}, {0, 20, 0, 0.16113}} {
		in := ProportionInterval(c.successes, c.trials)
		if !in.Known || math.Abs(in.Low-c.low) > 2e-5 || math.Abs(in.High-c.high) > 2e-5 {
			t.Errorf("%d of %d: %+v, want %v to %v", c.successes, c.trials, in, c.low, c.high)
		}
	}
	if ProportionInterval(0, 0).Known {
		t.Error("an interval of nothing")
	}
}

func TestStandings(t *testing.T) {
	table := func(values ...float64) Table {
		samples := [][]float64{{1, 1.01, 0.99}}
		for _, v := range values {
			samples = append(samples, []float64{v, v + 0.01, v - 0.01})
		}
		columns := []Column{{Variant: "base"}, {Variant: "x"}, {Variant: "y"}}
		return Table{Machine: "m", Benchmark: "b", Environment: "e", Columns: columns[:len(samples)], Rows: []Row{NewRow("Amean", "1", "seconds", Lower, samples)}}
	}
	got := Standings([]Table{table(0.5, 2), table(0.6, 0.5), table(1)})
	var texts []string
	var judgements []Judgement
	for _, s := range got {
		texts, judgements = append(texts, s.String()), append(judgements, s.Judgement())
	}
	want := []string{"x against base, of 3 tables: better in 2, not significantly different in 1", "y against base, of 2 tables: better in 1, worse in 1"}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Judgement{IsBetter, IsMixed}, judgements); diff != "" {
		t.Error(diff)
	}
	single := []Table{table(0.5)}
	if v := single[0].Verdicts()[0]; Standings(single)[0].String() != v.String() {
		t.Error("of one table the sentence is not its verdict")
	}
}
