package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// ProportionInterval is the 95 % interval of the share that successes among so
// many trials stand for, by Wilson's score (Wilson 1927): it stays within 0 and
// 1, and has a width where all or none succeed. It is unknown without a trial.
func ProportionInterval(successes, trials int64) Interval {
	if trials <= 0 {
		return Interval{}
	}
	n, p := float64(trials), float64(successes)/float64(trials)
	z := distuv.UnitNormal.Quantile(1 - (1-confidence)/2)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return Interval{Low: max(0, middle-half), High: min(1, middle+half), Known: true}
}
