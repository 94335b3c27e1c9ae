package sim

import (
	"context"
	"math"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// runService simulates a service on a machine of one CPU a core, without the
// noise of kernel threads.
func runService(t *testing.T, cpus string, v workload.Service, limits ...GroupLimit) (*workload.RequestCounts, []Group) {
	t.Helper()
	mach, err := machine.Resolve(cpus)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := sched.LookupProfile("v6.1")
	if err != nil {
		t.Fatal(err)
	}
	costs, err := LoadCosts("default")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := workload.RulesFor("v6.1")
	if err != nil {
		t.Fatal(err)
	}
	scenario := v.Scenario()
	scenario.SetCgroup("/service")
	s, err := New(Config{Sched: sched.NewConfig(mach, profile), Costs: costs, Rules: rules, Scenario: scenario, Limits: limits, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return result.Observation.Requests[0], s.Groups()
}

func poisson(t *testing.T, rate float64) workload.Series {
	t.Helper()
	s, err := workload.ParseArrivals("poisson", rate)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func percentileMS(c *workload.RequestCounts, percent float64) float64 {
	us, _ := c.Latency.Percentile(percent)
	return float64(us) / 1000
}

// One thread on one CPU, Poisson arrivals and exponential sizes are M/M/1: with
// a load of 0.5 and a mean of 4 ms the latency is exponential with mean
// 4 / (1 - 0.5) = 8 ms, so its median is 8 ln 2 = 5.55 ms and its 99th percentile
// 8 ln 100 = 36.8 ms.
func TestOneWorkerIsMM1(t *testing.T) {
	counts, _ := runService(t, "1n1c1t", workload.Service{
		Threads: 1, Intervals: poisson(t, 125), Sizes: workload.Exponential(4e6), Batch: 1, Warmup: 1e9, Time: 400e9,
	})
	for percent, want := range map[float64]float64{50: 5.55, 99: 36.8} {
		if got := percentileMS(counts, percent); math.Abs(got-want) > 0.06*want {
			t.Errorf("p%g is %.2f ms, want %.2f within 6 %%", percent, got, want)
		}
	}
}

// Eight workers on eight CPUs, with a load of 2, hardly ever wait: the latency is
// the size, exponential with mean 4 ms: median 2.77, 99th percentile 18.4 ms.
func TestWorkersThatDoNotWaitTakeTheSize(t *testing.T) {
	counts, _ := runService(t, "1n8c1t", workload.Service{
		Threads: 8, Intervals: poisson(t, 500), Sizes: workload.Exponential(4e6), Batch: 1, Warmup: 1e9, Time: 40e9,
	})
	for percent, want := range map[float64]float64{50: 2.77, 99: 18.4} {
		if got := percentileMS(counts, percent); math.Abs(got-want) > 0.06*want {
			t.Errorf("p%g is %.2f ms, want %.2f within 6 %%", percent, got, want)
		}
	}
}

// Arrivals are an open loop: a limit that the service cannot keep up with does
// not slow them down, and what it leaves counts. 400 requests of 10 ms a second
// need 4 CPUs; a limit of 1 lets 100 a second through.
func TestALimitDoesNotSlowArrivals(t *testing.T) {
	v := workload.Service{Threads: 8, Intervals: workload.Constant(2_500_000), Sizes: workload.Constant(10_000_000), Batch: 1, Warmup: 1e9, Time: 4e9}
	free, _ := runService(t, "1n8c1t", v)
	limit := sched.NoLimit()
	limit.Quota = limit.Period
	limited, groups := runService(t, "1n8c1t", v, GroupLimit{Path: "/service", Limit: limit})
	if free.Arrived != 1600 || limited.Arrived != 1600 {
		t.Errorf("%d arrived without a limit, %d with one; want 1600, 4 s at 400 a second", free.Arrived, limited.Arrived)
	}
	if free.Unanswered != 0 || limited.Arrived != limited.Answered+limited.Unanswered {
		t.Errorf("without a limit %d were left; with one %d of %d were answered and %d left", free.Unanswered, limited.Answered, limited.Arrived, limited.Unanswered)
	}
	// Answered are 100 a second in the 5.5 s of the run, of which the first 400
	// arrived in the warm-up: at most 150.
	if limited.Answered > 160 {
		t.Errorf("%d were answered; at 1 CPU 5.5 s are enough for 550, 400 of them from the warm-up", limited.Answered)
	}
	if used := float64(groups[0].Usage) / 5.5e9; used > 1.06 || used < 0.97 {
		t.Errorf("the group used %.3f CPUs of its 1", used)
	}
	if groups[0].Account.Exhausted == 0 || groups[0].Bandwidth.Throttled == 0 {
		t.Errorf("the group was never throttled: %+v", groups[0].Bandwidth)
	}
}

// A batch comes at one moment and is worked off by as many threads: with a CPU
// for each the whole batch takes as long as one request.
func TestABatchIsSpreadOverThreads(t *testing.T) {
	counts, _ := runService(t, "1n8c1t", workload.Service{
		Threads: 8, Intervals: workload.Constant(25_000_000), Sizes: workload.Constant(10_000_000), Batch: 4, Warmup: 1e9, Time: 4e9,
	})
	if got := percentileMS(counts, 99); counts.Arrived != 160 || got < 10 || got > 11 {
		t.Errorf("%d arrived, p99 %.2f ms; want 160 (4 every 100 ms) and little more than 10 ms", counts.Arrived, got)
	}
}
