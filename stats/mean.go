package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Amean is the arithmetic mean, the statistic of things where lower is better
// (times, latencies). It is NaN for no samples.
func Amean(samples []float64) float64 {
	sum := 0.0
	for _, x := range samples {
		sum += x
	}
	return sum / float64(len(samples))
}

// Hmean is the harmonic mean n/Σ(1/x), the statistic of throughputs. A sample
// that is not positive makes it -1, as in mmtests of 2022 (mechanisms.md 13.1).
func Hmean(samples []float64) float64 {
	sum := 0.0
	for _, x := range samples {
		if x <= 0 {
			return -1
		}
		sum += 1 / x
	}
	return float64(len(samples)) / sum
}

// StdDev is the sample standard deviation (n-1) around the arithmetic mean; 0
// for fewer than two samples (mechanisms.md 13.3).
func StdDev(samples []float64) float64 {
	if len(samples) < 2 {
		return 0
	}
	mean := Amean(samples)
	sum := 0.0
	for _, x := range samples {
		sum += float64((x - mean) * (x - mean)) // the conversion forbids a fused multiply-add: same bytes everywhere
	}
	return math.Sqrt(sum / float64(len(samples)-1))
}

// confidence is the level of every interval that schedlab prints.
const confidence = 0.95

// Interval is a confidence interval. Known is false when the samples do not
// determine one (a single sample, or a harmonic mean whose reciprocals reach
// zero).
type Interval struct {
	Low, High float64
	Known     bool
}

// AmeanInterval is the 95 % interval of the arithmetic mean by Student's t.
func AmeanInterval(samples []float64) Interval {
	n := len(samples)
	if n < 2 {
		return Interval{}
	}
	half := tQuantile(n-1) * StdDev(samples) / math.Sqrt(float64(n))
	mean := Amean(samples)
	return Interval{Low: mean - half, High: mean + half, Known: true}
}

// HmeanInterval is the 95 % interval of the harmonic mean: the interval of the
// mean reciprocal, inverted.
func HmeanInterval(samples []float64) Interval {
	reciprocals := make([]float64, len(samples))
	for i, x := range samples {
		if x <= 0 {
			return Interval{}
		}
		reciprocals[i] = 1 / x
	}
	inner := AmeanInterval(reciprocals)
	if !inner.Known || inner.Low <= 0 {
		return Interval{}
	}
	return Interval{Low: 1 / inner.High, High: 1 / inner.Low, Known: true}
}

// tQuantile is the factor that spans the confidence level on both sides.
func tQuantile(degrees int) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(degrees)}
	return t.Quantile(1 - (1-confidence)/2)
}
