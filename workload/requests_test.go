package workload

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func fixedSource() *Scenario {
	return &Scenario{Sources: []Source{{Intervals: Constant(1000), Sizes: Series{Table: []int64{10, 20, 30}, InOrder: true}, Batch: 1, From: 2000, Until: 4000}}}
}

// Requests at 1, 2, 3 and 4 us; those at 2 and 3 count. One worker takes them in
// their order: the first is answered at 5 us, the second 6, the third 7, so the
// latencies of those that count are 4 and 4 us. The fourth is left.
func TestRequestsAreServedInOrder(t *testing.T) {
	r := &NewRequests(fixedSource(), 1)[0]
	var out Outcome
	for now := int64(1000); now <= 4000; now += 1000 {
		r.Arrive(now, &out)
		if len(out.Wakes) != 0 {
			t.Fatalf("woke %v, but nobody sleeps", out.Wakes)
		}
	}
	for i, work := range []int64{10, 20, 30} {
		q := r.Receive(0, &out)
		if q.Work != work || q.Arrived != int64(i+1)*1000 || out.Blocked {
			t.Fatalf("request %d is %+v, want %d ns of work", i, q, work)
		}
		r.Answer(int64(5+i)*1000, q)
	}
	counts := r.Finish(9000, nil)
	if counts.Arrived != 2 || counts.Answered != 2 || counts.Unanswered != 0 || counts.Over != 2000 {
		t.Errorf("got %d arrived, %d answered, %d not, over %d ns", counts.Arrived, counts.Answered, counts.Unanswered, counts.Over)
	}
	if l := &counts.Latency; l.Count != 2 || l.Min != 4 || l.Max != 4 {
		t.Errorf("%d latencies from %d to %d us, want two of 4", l.Count, l.Min, l.Max)
	}
}

// The worker that has slept longest is woken; a request that another takes
// first leaves it asleep again, behind the others.
func TestRequestsWakeTheLongestSleeper(t *testing.T) {
	r := &NewRequests(fixedSource(), 1)[0]
	var out Outcome
	for _, worker := range []TaskID{7, 8} {
		if r.Receive(worker, &out); !out.Blocked {
			t.Fatal("there is no request: the worker must sleep")
		}
	}
	r.Arrive(1000, &out)
	if want := []Wake{{Task: 7}}; !slices.Equal(out.Wakes, want) {
		t.Fatalf("woke %v, want %v", out.Wakes, want)
	}
	if q := r.Receive(9, &out); !q.Given() {
		t.Fatal("a worker that runs may take the request")
	}
	if r.Receive(7, &out); !out.Blocked {
		t.Fatal("nothing is left for the one that was woken")
	}
	r.Arrive(2000, &out)
	if want := []Wake{{Task: 8}}; !slices.Equal(out.Wakes, want) {
		t.Errorf("woke %v, want %v", out.Wakes, want)
	}
}

// What is still waiting or being worked at when the run ends counts as a latency
// of at least that long.
func TestRequestsLeftAtTheEndCount(t *testing.T) {
	r := &NewRequests(fixedSource(), 1)[0]
	var out Outcome
	r.Arrive(2000, &out)
	r.Arrive(3000, &out)
	q := r.Receive(0, &out)
	counts := r.Finish(103_000, []Request{q})
	if counts.Unanswered != 2 || counts.Latency.Min != 100 || counts.Latency.Max != 101 {
		t.Errorf("%d left, latencies %d to %d us; want 2, 100 to 101", counts.Unanswered, counts.Latency.Min, counts.Latency.Max)
	}
}

// Nothing is lost, whatever the order: arrived = answered + left.
func TestRequestsAreConserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := fixedSource()
		s.Sources[0].From, s.Sources[0].Until = 0, math.MaxInt64
		s.Sources[0].Batch = rapid.IntRange(1, 4).Draw(t, "batch")
		r := &NewRequests(s, 1)[0]
		var out Outcome
		var working []Request
		for now := range int64(rapid.IntRange(1, 60).Draw(t, "steps")) {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				r.Arrive(now, &out)
			case 1:
				if q := r.Receive(TaskID(now), &out); !out.Blocked {
					working = append(working, q)
				}
			default:
				if len(working) > 0 {
					r.Answer(now, working[0])
					working = working[1:]
				}
			}
		}
		counts := r.Finish(100, working)
		if counts.Arrived != counts.Answered+counts.Unanswered || counts.Latency.Count != counts.Arrived {
			t.Fatalf("%d arrived, %d answered, %d left, %d latencies", counts.Arrived, counts.Answered, counts.Unanswered, counts.Latency.Count)
		}
	})
}

// quantile is the time below which a share of a table's times lie.
func quantile(s *Series, share float64) float64 {
	sorted := slices.Sorted(slices.Values(s.Table))
	return float64(sorted[int(share*float64(len(sorted)))])
}

// The exponential distribution with mean 2 ms: median 2 ln 2 = 1.386 ms, 99th
// percentile 2 ln 100 = 9.21 ms. The lognormal with median 1 ms and 99th
// percentile 20 ms: sigma = ln 20 / 2.3263 = 1.2878, mean exp(sigma^2 / 2) = 2.291 ms.
func TestSizesHaveTheirMeanAndPercentiles(t *testing.T) {
	for text, want := range map[string]struct{ mean, median, p99 float64 }{
		"2ms":                {2, 2, 2},
		"exp:2ms":            {2, 1.386, 9.21},
		"lognormal:1ms,20ms": {2.291, 1, 20},
	} {
		s, err := ParseSize(text)
		if err != nil {
			t.Fatal(err)
		}
		for what, pair := range map[string][2]float64{
			"mean": {s.Mean() / 1e6, want.mean}, "median": {quantile(&s, 0.5) / 1e6, want.median}, "p99": {quantile(&s, 0.99) / 1e6, want.p99},
		} {
			if math.Abs(pair[0]-pair[1]) > 0.005*pair[1] {
				t.Errorf("%s: %s is %.4f ms, want %.4f", text, what, pair[0], pair[1])
			}
		}
	}
}

func TestSizesAndArrivalsRefuseWhatCannotBe(t *testing.T) {
	for _, text := range []string{"", "2", "-1ms", "exp:", "exp:1ms,2ms", "lognormal:5ms,1ms", "gamma:1ms", "1ns", "1h"} {
		if _, err := ParseSize(text); err == nil {
			t.Errorf("size %q is accepted", text)
		}
	}
	for _, rate := range []float64{0, -1, 1e7, math.NaN(), math.Inf(1)} {
		if _, err := ParseArrivals("poisson", rate); err == nil {
			t.Errorf("rate %g is accepted", rate)
		}
	}
	if _, err := ParseArrivals("bursty", 1); err == nil {
		t.Error("bursty arrivals are accepted")
	}
}

func FuzzParseSize(f *testing.F) {
	for _, text := range []string{"2ms", "exp:2ms", "lognormal:1ms,20ms", "lognormal:,", ":", "exp:1us"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSize(text)
		if err == nil && s.validate("sizes") != nil {
			t.Errorf("%q gives a table that cannot be: %v", text, s.validate("sizes"))
		}
	})
}

func TestHistogramsMerge(t *testing.T) {
	var a, b, both Histogram
	for i := range int64(100) {
		a.Add(i)
		b.Add(1000 + 7*i)
		both.Add(i)
		both.Add(1000 + 7*i)
	}
	var merged Histogram
	merged.Merge(&a)
	merged.Merge(&Histogram{})
	merged.Merge(&b)
	if merged != both {
		t.Error("merged histograms differ from one of all samples")
	}
}
