package quota

import (
	"fmt"
	"math"
	"strings"
)

// Why a service is throttled that uses less than its limit, in words and with
// the figures that the simulation counted.

// A service is throttled below its limit when it uses less than wellBelow of it
// and is throttled in more than one of rarely periods.
const (
	wellBelow = 0.9
	rarely    = 50
)

// ThrottledBelow is the most telling point: the one with the longest 99th
// percentile where the service keeps up and is throttled although it uses less
// than its limit. It is nil when there is none.
func ThrottledBelow(points []Point) *Point {
	var found *Point
	for i := range points {
		p := &points[i]
		if p.Overloaded() || p.Used >= wellBelow*p.CPUs() || p.Stat.Throttled*rarely < p.Stat.Periods || p.Account.Exhausted == 0 {
			continue
		}
		if found == nil || p.Percentile(99) > found.Percentile(99) {
			found = p
		}
	}
	return found
}

// leastUsed is what the requests take where no limit holds them up.
func leastUsed(points []Point) float64 {
	least := math.Inf(1)
	for i := range points {
		if p := &points[i]; p.Stat.Throttled == 0 && !p.Overloaded() {
			least = math.Min(least, p.Used)
		}
	}
	return least
}

// crowding says what it costs that throttled work piles up, "" when it costs
// little.
func crowding(p *Point, points []Point) string {
	least := leastUsed(points)
	if p.Used < 1.03*least {
		return ""
	}
	return fmt.Sprintf("What piles up costs more: the requests take %.2f CPUs instead of %.2f, since threads that are set free together "+
		"share cores with each other, where a machine has two hardware threads each, and lose what their caches held.", p.Used, least)
}

// Reasons explains a point, one paragraph each.
func Reasons(p *Point) []string {
	a := &p.Account
	if a.Exhausted == 0 {
		return []string{fmt.Sprintf("With %s the service is never throttled; it uses %.2f CPUs of %.2f.", p.describe(), p.Used, p.CPUs())}
	}
	n := float64(a.Exhausted)
	quota := float64(p.Limit.Quota)
	running := float64(a.Running) / n
	reasons := []string{
		fmt.Sprintf("With %s the service uses %.2f CPUs, %.0f %% of its limit, and was throttled in %d of %d periods.",
			p.describe(), p.Used, 100*p.Used/p.CPUs(), p.Stat.Throttled, p.Stat.Periods),
		fmt.Sprintf("The limit counts in every period of %s on its own, not on average. In those periods nothing was left %s before the end, "+
			"when the service had run %s of %s.", ms(p.Limit.Period), msf(float64(a.Early)/n), msf(float64(a.Used)/n), ms(p.Limit.Quota)),
		fmt.Sprintf("Bursts across many CPUs: it had work on %.1f CPUs then. So many use up %s in %s.",
			running, ms(p.Limit.Quota), msf(quota/math.Max(1, running))),
	}
	if parked := float64(a.Parked) / n; parked > 0.01*quota {
		reasons = append(reasons, fmt.Sprintf("Slices parked on idle CPUs: %s of the %s lay on CPUs where it had no work. "+
			"A CPU takes 5 ms at a time and keeps 1 ms of it when it runs out of work.", msf(parked), ms(p.Limit.Quota)))
	}
	if held := float64(a.Held) / n; held > 0.01*quota {
		reasons = append(reasons, fmt.Sprintf("Slices of its other busy CPUs held %s more, which a throttled CPU cannot have.", msf(held)))
	}
	if expired := float64(a.Expired) / float64(max(1, p.Stat.Periods)); expired > 0.01*quota {
		reasons = append(reasons, fmt.Sprintf("Slices that expired: %s a period were lost because their period was over (kernels before v5.4).", msf(expired)))
	}
	return append(reasons, fmt.Sprintf("Wasted: at the end of those periods %s of the quota was unused, %.2f CPUs over the whole run, while requests waited.",
		msf(float64(a.Unused)/n), p.Wasted()))
}

// Remedies compares a point with others: what its throttling costs, and the best
// of each kind with the same limit; one sentence each.
func Remedies(p *Point, points []Point) []string {
	kinds := []struct {
		what  string
		alike func(o *Point) bool
	}{
		{"another period", func(o *Point) bool { return o.burstPercent() == p.burstPercent() && o.Threads == p.Threads }},
		{"a burst", func(o *Point) bool { return o.Limit.Period == p.Limit.Period && o.Threads == p.Threads }},
		{"another number of threads", func(o *Point) bool {
			return o.Limit.Period == p.Limit.Period && o.burstPercent() == p.burstPercent()
		}},
	}
	var remedies []string
	if c := crowding(p, points); c != "" {
		remedies = append(remedies, c)
	}
	for _, kind := range kinds {
		var best *Point
		for i := range points {
			o := &points[i]
			if sameCPUs(o, p) && kind.alike(o) && (best == nil || o.Percentile(99) < best.Percentile(99)) {
				best = o
			}
		}
		if best != nil && best.Percentile(99)*10 <= p.Percentile(99)*9 {
			remedies = append(remedies, fmt.Sprintf("For the same %.2f CPUs, %s helps: with %s the 99th percentile is %s instead of %s.",
				p.CPUs(), kind.what, best.describe(), us(best.Percentile(99)), us(p.Percentile(99))))
		}
	}
	return remedies
}

// sameCPUs compares limits that may be rounded to whole microseconds.
func sameCPUs(a, b *Point) bool { return math.Abs(a.CPUs()-b.CPUs()) < 0.005*b.CPUs() }

// describe names a setting by cgroup v2's files and threads.
func (s *Setting) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, `cpu.max "%s"`, s.Limit.Max())
	if s.Limit.Burst > 0 {
		fmt.Fprintf(&b, `, cpu.max.burst %d`, s.Limit.Burst/1000)
	}
	if s.Threads == 1 {
		b.WriteString(" and 1 thread")
	} else {
		fmt.Fprintf(&b, " and %d threads", s.Threads)
	}
	return b.String()
}

func ms(ns int64) string { return msf(float64(ns)) }

func msf(ns float64) string {
	switch v := ns / 1e6; {
	case v >= 10_000:
		return fmt.Sprintf("%.1f s", v/1e3)
	case v >= 100:
		return fmt.Sprintf("%.0f ms", v)
	case v >= 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + " ms"
	default:
		return fmt.Sprintf("%.2f ms", v)
	}
}

func us(v int64) string { return msf(float64(v) * 1e3) }
