package quota

import (
	"context"
	"math"
	"slices"
	"time"
)

// Meets reports whether a point keeps its 99th percentile within target, in
// every repeat, and answers what arrives.
func (p *Point) Meets(target time.Duration) bool {
	return !p.Overloaded() && p.WorstP99 <= target.Microseconds()
}

// Smallest is the point with the smallest limit that meets the target; among
// equal ones the first with the smallest burst and then the longest period, which
// costs the fewest timers. It is nil when none does.
func Smallest(points []Point, target time.Duration) *Point {
	var best *Point
	for i := range points {
		if p := &points[i]; p.Meets(target) && (best == nil || p.cheaper(best)) {
			best = p
		}
	}
	return best
}

func (p *Point) cheaper(o *Point) bool {
	switch {
	case math.Abs(p.CPUs()-o.CPUs()) > 1e-9:
		return p.CPUs() < o.CPUs()
	case p.Limit.Burst != o.Limit.Burst:
		return p.Limit.Burst < o.Limit.Burst
	case p.Limit.Period != o.Limit.Period:
		return p.Limit.Period > o.Limit.Period
	}
	return p.Threads < o.Threads
}

const (
	refinements = 4    // halvings of the gap between two limits
	fineEnough  = 0.02 // of a limit: less is no use to anybody
)

// Refine looks between the limits of a sweep: for each period, burst and number
// of threads it halves the gap below the smallest limit that meets the target.
// It returns the points that it ran.
func (s *Sweep) Refine(ctx context.Context, points []Point, target time.Duration, done func()) ([]Point, error) {
	gaps := gapsOf(points, target)
	var ran []Point
	for range refinements {
		var settings []Setting
		var open []*gap
		for i := range gaps {
			if g := &gaps[i]; g.worthwhile() {
				settings, open = append(settings, g.middle()), append(open, g)
			}
		}
		if len(settings) == 0 {
			break
		}
		tried, err := s.Run(ctx, settings, done)
		if err != nil {
			return nil, err
		}
		for i := range tried {
			open[i].narrow(&tried[i], target)
		}
		ran = append(ran, tried...)
	}
	return ran, nil
}

// gap is the largest limit that fails and the smallest above it that does not,
// alike in all else.
type gap struct {
	fails, meets Setting
	burstPercent int
}

func (g *gap) worthwhile() bool { return g.meets.CPUs()-g.fails.CPUs() > fineEnough*g.meets.CPUs() }

func (g *gap) middle() Setting {
	cpus := roundNear((g.fails.CPUs() + g.meets.CPUs()) / 2)
	return Setting{Limit: LimitOf(cpus, g.meets.Limit.Period, g.burstPercent), Threads: g.meets.Threads}
}

func (g *gap) narrow(p *Point, target time.Duration) {
	if p.Meets(target) {
		g.meets = p.Setting
	} else {
		g.fails = p.Setting
	}
}

// gapsOf finds the gap of each series of limits that has one and could give a
// smaller limit than the best point.
func gapsOf(points []Point, target time.Duration) []gap {
	best := Smallest(points, target)
	if best == nil {
		return nil
	}
	var gaps []gap
	for _, series := range seriesOf(points) {
		meets := slices.IndexFunc(series, func(p *Point) bool { return p.Meets(target) })
		if meets <= 0 || series[meets-1].CPUs() >= best.CPUs() {
			continue
		}
		gaps = append(gaps, gap{fails: series[meets-1].Setting, meets: series[meets].Setting, burstPercent: series[meets].burstPercent()})
	}
	return gaps
}

func (s *Setting) burstPercent() int {
	return int(math.Round(100 * float64(s.Limit.Burst) / float64(s.Limit.Quota)))
}

// seriesOf groups points that differ in their limit only, smallest limit first.
// The series are in the order of their first points.
func seriesOf(points []Point) [][]*Point {
	type key struct {
		period         int64
		burst, threads int
	}
	index := map[key]int{}
	var series [][]*Point
	for i := range points {
		p := &points[i]
		k := key{p.Limit.Period, p.burstPercent(), p.Threads}
		at, known := index[k]
		if !known {
			at = len(series)
			index[k] = at
			series = append(series, nil)
		}
		series[at] = append(series[at], p)
	}
	for _, list := range series {
		slices.SortStableFunc(list, func(a, b *Point) int {
			switch {
			case a.CPUs() < b.CPUs():
				return -1
			case a.CPUs() > b.CPUs():
				return 1
			}
			return 0
		})
	}
	return series
}
