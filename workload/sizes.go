package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// tableSize is how many equally likely times stand for a distribution. Each is
// the mean of a part of it, taken at partPoints quantiles: what the table hides
// of the tail is beyond 99.99 %. Sums of quantiles lose no digits, so that the
// whole nanoseconds are the same on computers that round differently.
const (
	tableSize  = 8192
	partPoints = 16
)

// Constant is one time, in ns.
func Constant(ns int64) Series { return Series{Table: []int64{ns}} }

// Exponential is the exponential distribution with a mean, in ns.
func Exponential(mean float64) Series {
	return partMeans(func(p float64) float64 { return -mean * math.Log1p(-p) })
}

// Lognormal is the lognormal distribution with a median and a 99th percentile,
// in ns.
func Lognormal(median, p99 float64) Series {
	sigma := math.Log(p99/median) / normalQuantile(0.99)
	return partMeans(func(p float64) float64 { return median * math.Exp(sigma*normalQuantile(p)) })
}

func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

func partMeans(quantile func(p float64) float64) Series {
	s := Series{Table: make([]int64, tableSize)}
	for i := range s.Table {
		sum := 0.0
		for k := range partPoints {
			sum += quantile((float64(i*partPoints+k) + 0.5) / (tableSize * partPoints))
		}
		s.Table[i] = int64(math.Round(sum / partPoints))
	}
	return s
}

// sizeExamples is what a size can be.
const sizeExamples = "2ms, exp:2ms (the mean) or lognormal:1ms,20ms (median and 99th percentile)"

// longestSize is the most work of a request that can be asked for.
const longestSize = 100 * time.Second

// ParseSize reads the distribution of request sizes: a time, exp:MEAN or
// lognormal:MEDIAN,P99.
func ParseSize(text string) (Series, error) {
	kind, rest, named := strings.Cut(text, ":")
	if !named {
		kind, rest = "", text
	}
	var times []float64
	for word := range strings.SplitSeq(rest, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(word))
		if err != nil || d < time.Microsecond || d > longestSize {
			return Series{}, fmt.Errorf("size %q: %q is not a time from 1us to %s; write %s", text, word, longestSize, sizeExamples)
		}
		times = append(times, float64(d))
	}
	switch {
	case kind == "" && len(times) == 1:
		return Constant(int64(times[0])), nil
	case kind == "exp" && len(times) == 1:
		return Exponential(times[0]), nil
	case kind == "lognormal" && len(times) == 2 && times[1] > times[0]:
		return Lognormal(times[0], times[1]), nil
	}
	return Series{}, fmt.Errorf("size %q cannot be read; write %s", text, sizeExamples)
}

// ArrivalKinds are the ways in which requests arrive.
var ArrivalKinds = []string{"poisson", "constant"}

// ParseArrivals returns the times between arrivals of a kind at a rate per
// second.
func ParseArrivals(kind string, rate float64) (Series, error) {
	if math.IsNaN(rate) || rate < 0.001 || rate > 1e6 {
		return Series{}, fmt.Errorf("rate %g is not a number of requests a second from 0.001 to 1000000", rate)
	}
	switch kind {
	case "poisson":
		return Exponential(1e9 / rate), nil
	case "constant":
		return Constant(int64(math.Round(1e9 / rate))), nil
	}
	return Series{}, fmt.Errorf("there are no %q arrivals; choose %s", kind, strings.Join(ArrivalKinds, " or "))
}

// Largest is the longest time of a series, in ns.
func (s *Series) Largest() int64 { return slices.Max(s.Table) }
