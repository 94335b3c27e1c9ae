package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// GroupLimit is cpu.max and cpu.max.burst of one cgroup.
type GroupLimit struct {
	Path  string
	Limit sched.Limit
}

// buildLimits sets limits from the root downwards, whatever their order in the
// configuration: a group is compared with those above it.
func (m *Sim) buildLimits(limits []GroupLimit) error {
	ordered := slices.Clone(limits)
	slices.SortStableFunc(ordered, func(a, b GroupLimit) int {
		return strings.Count(strings.Trim(a.Path, "/"), "/") - strings.Count(strings.Trim(b.Path, "/"), "/")
	})
	for _, l := range ordered {
		if err := m.sched.SetLimit(0, m.group(l.Path), l.Limit); err != nil {
			return &LimitError{Path: l.Path, Err: err}
		}
	}
	return nil
}

// scenarioLimits are the limits that come with the workload; those of the
// configuration, set later, replace them.
func scenarioLimits(sc *workload.Scenario) []GroupLimit {
	var limits []GroupLimit
	for _, l := range sc.Limits {
		limits = append(limits, GroupLimit{Path: l.Path, Limit: sched.Limit{Quota: l.Quota, Period: l.Period}})
	}
	return limits
}

// LimitError says which group's limit cannot be.
type LimitError struct {
	Path string // as configured
	Err  error
}

func (e *LimitError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *LimitError) Unwrap() error { return e.Err }

// usage is the CPU time in ns that the tasks of a group, and of those below it,
// have used until now.
func (m *Sim) usage(g *sched.TaskGroup) int64 {
	total := int64(0)
	for i := range m.tasks {
		for up := m.tasks[i].sched.Group(); up != nil; up = up.Parent() {
			if up == g {
				total += m.sched.RunTime(m.now, m.tasks[i].sched)
				break
			}
		}
	}
	return total
}

// Counter is one line of cpu.stat.
type Counter struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// Counters are the lines of the group's cpu.stat that are simulated, by cgroup
// v2's names and in its units.
func (g *Group) Counters() []Counter {
	b := &g.Bandwidth
	return []Counter{
		{"usage_usec", g.Usage / 1000},
		{"nr_periods", b.Periods}, {"nr_throttled", b.Throttled}, {"throttled_usec", b.ThrottledTime / 1000},
		{"nr_bursts", b.Bursts}, {"burst_usec", b.BurstTime / 1000},
	}
}

// CPUStat is the text of the group's cpu.stat.
func (g *Group) CPUStat() string {
	var b strings.Builder
	for _, c := range g.Counters() {
		fmt.Fprintf(&b, "%s %d\n", c.Name, c.Value)
	}
	return b.String()
}
