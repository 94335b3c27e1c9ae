package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Service describes a service: requests of outside clients, a queue, and worker
// threads that take one request each, work it off and answer.
type Service struct {
	Threads      int    // 1 or more
	Intervals    Series // between arrivals
	Sizes        Series // work of the requests
	Batch        int    // requests that arrive at once, at least 1
	Footprint    int32  // bytes of cache of a thread
	Warmup, Time int64  // ns: requests that arrive in the Time after the Warmup count
}

// drain is how long after the last request that counts a run goes on, so that it
// can be answered, in ns; requests go on to arrive.
const drain = 500_000_000

// DefaultFootprint is the cache of a worker thread, in bytes: an assumption.
const DefaultFootprint = 64 << 10

// Scenario returns what the service runs.
func (v *Service) Scenario() *Scenario {
	s := &Scenario{
		Programs: []Program{{
			{Op: OpReceive},
			{Op: OpServe},
			{Op: OpAnswer},
			{Op: OpLoop, Target: 0, N: Forever},
		}},
		Sources: []Source{{
			Intervals: v.Intervals, Sizes: v.Sizes, Batch: v.Batch, From: v.Warmup, Until: v.Warmup + v.Time,
		}},
		TimeLimit: v.Warmup + v.Time + drain,
	}
	for range v.Threads {
		s.Tasks = append(s.Tasks, TaskSpec{Name: "worker", Footprint: v.Footprint, StartCPU: AnyCPU})
	}
	return s
}

// Check reports what cannot be run.
func (v *Service) Check() error {
	switch {
	case v.Threads < 1 || v.Threads > maxChildren:
		return fmt.Errorf("%d threads are not from 1 to %d", v.Threads, maxChildren)
	case v.Batch < 1 || v.Batch > maxChildren:
		return fmt.Errorf("a batch of %d requests is not from 1 to %d", v.Batch, maxChildren)
	case v.Time <= 0 || v.Warmup < 0:
		return fmt.Errorf("%s after a warm-up of %s are no time to measure in", time.Duration(v.Time), time.Duration(v.Warmup))
	case v.Time > int64(maxRunTime) || v.Warmup > int64(maxRunTime):
		return fmt.Errorf("%s after a warm-up of %s: at most %s of each can be simulated", time.Duration(v.Time), time.Duration(v.Warmup), maxRunTime)
	}
	source := v.Scenario().Sources[0]
	return source.validate()
}

// CPUs is how many CPUs the requests need on average, without the kernel's work.
func (v *Service) CPUs() float64 {
	if interval := v.Intervals.Mean(); interval > 0 {
		return v.Sizes.Mean() / interval
	}
	return 0
}

// serviceBenchmark is a service on a command line of its own.
type serviceBenchmark struct {
	service        Service
	rate           float64
	arrivals, size string
}

func newService() *serviceBenchmark {
	return &serviceBenchmark{
		service: Service{Threads: 8, Batch: 1, Footprint: DefaultFootprint, Warmup: 1e9, Time: 10e9},
		rate:    1000, arrivals: "poisson", size: "exp:1ms",
	}
}

// NewService is a benchmark that runs a service.
func NewService(v Service) (Benchmark, error) {
	if err := v.Check(); err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	return &serviceBenchmark{service: v}, nil
}

// Name implements [Benchmark].
func (b *serviceBenchmark) Name() string { return "service" }

func (b *serviceBenchmark) options() []option {
	v := &b.service
	return []option{
		{"t", "threads", "N", "worker threads (8)", toInt(&v.Threads, 1, maxChildren)},
		{"r", "rate", "NUMBER", "requests a second (1000)", b.setRate},
		{"", "arrivals", "KIND", "poisson, or constant intervals (poisson)", toText(&b.arrivals)},
		{"", "batch", "N", "requests that arrive at once (1)", toInt(&v.Batch, 1, maxChildren)},
		{"s", "size", "SIZE", "work of a request: " + sizeExamples + " (exp:1ms)", toText(&b.size)},
		{"", "footprint", "KB", "cache of a thread (64)", b.setFootprint},
		{"", "warmup", "SECONDS", "before requests count (1)", toSeconds(&v.Warmup)},
		{"", "time", "SECONDS", "in which requests count (10)", toSeconds(&v.Time)},
	}
}

func (b *serviceBenchmark) setRate(arg string) (err error) {
	if b.rate, err = strconv.ParseFloat(arg, 64); err != nil {
		return fmt.Errorf("%q is not a number of requests a second", arg)
	}
	return nil
}

func (b *serviceBenchmark) setFootprint(arg string) error {
	kib := 0
	err := toInt(&kib, 0, math.MaxInt32>>10)(arg)
	b.service.Footprint = int32(kib) << 10
	return err
}

func (b *serviceBenchmark) check() (err error) {
	if b.service.Intervals, err = ParseArrivals(b.arrivals, b.rate); err != nil {
		return err
	}
	if b.service.Sizes, err = ParseSize(b.size); err != nil {
		return err
	}
	return b.service.Check()
}

// Build implements [Benchmark].
func (b *serviceBenchmark) Build(Shape) (*Scenario, error) { return b.service.Scenario(), nil }

// servicePercentiles are those that the report shows.
var servicePercentiles = []float64{50, 90, 99, 99.9}

// Report implements [Benchmark].
func (b *serviceBenchmark) Report(obs *Observation) Report {
	if len(obs.Requests) == 0 || obs.Requests[0].Arrived == 0 {
		return Report{Failure: "no request arrived while requests counted: a longer time or a higher rate would bring some"}
	}
	counts := obs.Requests[0]
	throughput := float64(counts.Answered) / (float64(counts.Over) / 1e9)
	report := Report{Metrics: []Metric{{Statistic: "Throughput", Unit: "requests/s", Better: "higher", Value: throughput}}}
	var text strings.Builder
	fmt.Fprintf(&text, "service: %d threads, %d requests in %s: %d answered, %.1f a second\n",
		b.service.Threads, counts.Arrived, secondsText(counts.Over), counts.Answered, throughput)
	if counts.Unanswered > 0 {
		fmt.Fprintf(&text, "  %d were not answered by the end; their latencies are at least what counts below\n", counts.Unanswered)
	}
	for _, percent := range servicePercentiles {
		us, _ := counts.Latency.Percentile(percent)
		fmt.Fprintf(&text, "  latency p%-5g %12.3f ms\n", percent, float64(us)/1e3)
		report.Metrics = append(report.Metrics, Metric{
			Statistic: fmt.Sprintf("Latency p%g", percent), Unit: "milliseconds", Better: "lower", Value: float64(us) / 1e3,
		})
	}
	report.Text = text.String()
	return report
}
