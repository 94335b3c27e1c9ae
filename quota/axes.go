package quota

import (
	"math"
	"slices"

	"github.com/schedlab/schedlab/sched"
)

// Axes are the values that a sweep takes. All are in the order in which tables
// show them.
type Axes struct {
	CPUs    []float64 // limits, in CPUs
	Periods []int64   // ns
	Bursts  []int     // percent of the quota
	Threads []int
}

// leastQuota is what cpu.max takes at least, in ns, and its shortest period.
const leastQuota = 1_000_000

// Settings are all combinations, threads outermost and limits innermost.
// Limits of less than 1 ms in a short period are left out where possible is set.
// A period that is too short itself stays, to be refused.
func (a *Axes) Settings(possible bool) []Setting {
	var settings []Setting
	for _, threads := range a.Threads {
		for _, period := range a.Periods {
			for _, burst := range a.Bursts {
				for _, cpus := range a.CPUs {
					l := LimitOf(cpus, period, burst)
					if possible && l.Quota < leastQuota && l.Period >= leastQuota {
						continue
					}
					settings = append(settings, Setting{Limit: l, Threads: threads})
				}
			}
		}
	}
	return settings
}

// stepsOfNeed are the default limits, in parts of what the requests need.
var stepsOfNeed = []float64{1, 1.1, 1.2, 1.35, 1.5, 2, 3, 4}

// DefaultCPUs are limits around what the requests need, up to most CPUs, in
// steps of at least 0.01.
func DefaultCPUs(need, most float64) []float64 {
	var cpus []float64
	for _, step := range stepsOfNeed {
		c := roundUp(need * step)
		if c >= most {
			break
		}
		cpus = append(cpus, c)
	}
	return slices.Compact(append(cpus, most))
}

// roundUp takes a number of CPUs to two digits.
func roundUp(cpus float64) float64 {
	unit := 0.01
	if cpus >= 10 {
		unit = 1
	} else if cpus >= 1 {
		unit = 0.1
	}
	return math.Round(math.Ceil(cpus/unit-1e-9)*unit*100) / 100
}

// roundNear takes a number of CPUs to a figure that one would write.
func roundNear(cpus float64) float64 {
	const fine, coarse, from = 1000, 100, 0.5
	if cpus < from {
		return math.Round(cpus*fine) / fine
	}
	return math.Round(cpus*coarse) / coarse
}

// HasBurst reports whether a kernel has cpu.max.burst; one that does not exist
// has none.
func HasBurst(kernel string) bool {
	p, err := sched.LookupProfile(kernel)
	return err == nil && p.HasBurst()
}
