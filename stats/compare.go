package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Direction says which way a value is better. Its spelling is the one of the
// long form's "better" column.
type Direction string

// The directions. Neither is for counters and ratios that are shown but not
// compared ("Ops" rows).
const (
	Lower   Direction = "lower"
	Higher  Direction = "higher"
	Neither Direction = ""
)

// PercentChange is the percent column of mmtests: how far value is from base,
// positive when better in both directions, with the special cases of
// mechanisms.md 13.2. It is 0 for Neither.
func PercentChange(better Direction, base, value float64) float64 {
	if base == value {
		return 0
	}
	switch better {
	case Higher:
		return percentHigher(base, value)
	case Lower:
		return percentLower(base, value)
	}
	return 0
}

func percentHigher(base, value float64) float64 {
	switch {
	case value == 0:
		return 0
	case base == 0:
		return 100
	}
	return 100*value/base - 100
}

func percentLower(base, value float64) float64 {
	switch {
	case value == 0:
		return 100
	case base == 0:
		return -99
	}
	return 100 - 100*value/base
}

// SignificanceLevel is the p value below which mmtests of 2022 sets stars.
const SignificanceLevel = 0.10

// PValue is the two-sided p value of the two-sample t test of mechanisms.md
// 13.3: the standard error is not pooled, the degrees of freedom are
// (n1+n2-2). When the standard error is zero it is 0 if the means differ and 1
// if they are equal.
func PValue(a, b Summary) float64 {
	se := standardError(a, b)
	if se == 0 {
		if a.Mean != b.Mean {
			return 0
		}
		return 1
	}
	t := math.Abs(a.Mean-b.Mean) / se
	students := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(a.N + b.N - 2)}
	return 2 * students.Survival(t)
}

// Significant says whether mmtests would put stars around the percentage.
func Significant(a, b Summary) bool { return PValue(a, b) < SignificanceLevel }

func standardError(a, b Summary) float64 {
	return math.Sqrt(a.StdDev*a.StdDev/float64(a.N) + b.StdDev*b.StdDev/float64(b.N))
}

// PercentInterval is the 95 % interval of PercentChange, the standard error and
// degrees of freedom being those of PValue and the base taken as exact. It is
// unknown with fewer than three samples in all.
func PercentInterval(better Direction, base, value Summary) Interval {
	degrees := base.N + value.N - 2
	if better == Neither || degrees < 1 || base.Mean == 0 {
		return Interval{}
	}
	half := 100 * tQuantile(degrees) * standardError(base, value) / math.Abs(base.Mean)
	change := PercentChange(better, base.Mean, value.Mean)
	return Interval{Low: change - half, High: change + half, Known: true}
}
