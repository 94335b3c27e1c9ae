package quota

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/schedlab/schedlab/internal/smallfile"
	"github.com/schedlab/schedlab/workload"
)

// Description is a service as its owner describes it.
type Description struct {
	Threads   []int   `yaml:"threads"`   // worker threads; several are compared
	Rate      float64 `yaml:"rate"`      // requests a second
	Arrivals  string  `yaml:"arrivals"`  // poisson or constant
	Batch     int     `yaml:"batch"`     // requests that arrive at once
	Size      string  `yaml:"size"`      // work of a request: see workload.ParseSize
	Footprint int     `yaml:"footprint"` // KiB of cache of a thread
	Machine   string  `yaml:"machine"`
	Kernel    string  `yaml:"kernel"`
	P99       string  `yaml:"p99"` // the latency to keep, "" for none
}

// Default is what a description says that says nothing.
func Default() Description {
	return Description{
		Threads: []int{8}, Rate: 1000, Arrivals: "poisson", Batch: 1, Size: "exp:1ms",
		Footprint: workload.DefaultFootprint >> 10, Machine: "1n8c2t", Kernel: "v6.1",
	}
}

// maxDescriptionBytes is far above any real description.
const maxDescriptionBytes = 64 << 10

const descriptionKeys = "the keys are threads (a list), rate, arrivals, batch, size, footprint, machine, kernel, p99"

// Load reads a description from a YAML file, whose keys are those of [Default].
// Errors name the file and, where the text is wrong, line and column.
func Load(path string) (Description, error) {
	d := Default()
	data, err := smallfile.Read(path, maxDescriptionBytes)
	if err != nil {
		return d, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return d, fmt.Errorf("%s: nothing in it; %s", path, descriptionKeys)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // of an editor
	if err := yaml.UnmarshalWithOptions(data, &d, yaml.Strict()); err != nil {
		first, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		if place, message, ok := strings.Cut(strings.TrimPrefix(first, "["), "] "); ok {
			first = place + ": " + message // as all other messages have it
		}
		return d, fmt.Errorf("%s:%s; %s", path, first, descriptionKeys)
	}
	return d, nil
}

// Target is the latency to keep, 0 for none.
func (d *Description) Target() (time.Duration, error) {
	if d.P99 == "" {
		return 0, nil
	}
	t, err := time.ParseDuration(d.P99)
	if err != nil || t <= 0 {
		return 0, fmt.Errorf("p99 is %q; write a latency such as 20ms", d.P99)
	}
	return t, nil
}

// The measured time: long enough for the percentiles, short enough for an
// answer within a minute.
const (
	mostRequests  = 20_000    // of a simulation
	leastRequests = 2_000     // of a simulation
	allRequests   = 3_000_000 // of all simulations together
	leastTime     = 2 * time.Second
	mostTime      = 60 * time.Second
)

// MeasuredTime is how long requests are counted at a rate per second, in each of
// so many simulations.
func MeasuredTime(rate float64, simulations int) time.Duration {
	requests := min(mostRequests, max(leastRequests, allRequests/max(1, simulations)))
	return min(mostTime, max(leastTime, time.Duration(float64(requests)/rate*float64(time.Second)))).Round(time.Second)
}

// Service is the description as a workload with one number of threads.
func (d *Description) Service(threads int, warmup, measure time.Duration) (workload.Service, error) {
	v := workload.Service{Threads: threads, Batch: d.Batch, Footprint: int32(d.Footprint) << 10, Warmup: int64(warmup), Time: int64(measure)}
	if d.Footprint < 0 || d.Footprint > 1<<20 {
		return v, fmt.Errorf("footprint is %d; write KiB from 0 to %d", d.Footprint, 1<<20)
	}
	var err error
	if v.Intervals, err = workload.ParseArrivals(d.Arrivals, d.Rate); err != nil {
		return v, err
	}
	if v.Sizes, err = workload.ParseSize(d.Size); err != nil {
		return v, err
	}
	return v, v.Check()
}
