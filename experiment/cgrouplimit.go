package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/sim"
)

// The files of a cgroup that limit its CPU time.
const (
	fileMax   = "cpu.max"
	fileBurst = "cpu.max.burst"
)

// cgroupLimits reads cpu.max and cpu.max.burst of every cgroup that has one of
// them, in the order of their first mention.
func cgroupLimits(c *Cell) ([]sim.GroupLimit, error) {
	var limits []sim.GroupLimit
	for i, s := range c.Cgroups {
		if s.File != fileMax && s.File != fileBurst {
			continue
		}
		at := slices.IndexFunc(limits, func(l sim.GroupLimit) bool { return l.Path == s.Path })
		if at < 0 {
			at = len(limits)
			limits = append(limits, sim.GroupLimit{Path: s.Path, Limit: sched.NoLimit()})
		}
		write := limits[at].Limit.WriteMax
		if s.File == fileBurst {
			write = limits[at].Limit.WriteBurst
		}
		if err := write(s.Value); err != nil {
			return nil, &FieldError{fmt.Sprintf("cgroups[%d]", i), fmt.Errorf("cgroup %s: %w", s.Path, err)}
		}
	}
	return limits, nil
}

// limitField is the setting of a cell that a limit comes from.
func limitField(c *Cell, path string) string {
	for _, file := range []string{fileMax, fileBurst} {
		for i, s := range c.Cgroups {
			if s.Path == path && s.File == file {
				return fmt.Sprintf("cgroups[%d]", i)
			}
		}
	}
	return "cgroups"
}

// cpuStats are the counters of cpu.stat of the groups that the cell limits, as
// rows of their own that are not compared. Groups that a benchmark makes and
// limits itself, perhaps dozens, are its own to report.
func cpuStats(c *Cell, groups []sim.Group) []Sample {
	var samples []Sample
	for _, g := range groups {
		if g.Limit.Quota == sched.Unlimited || !slices.ContainsFunc(c.Cgroups, func(s CgroupSetting) bool { return samePath(s.Path, g.Path) }) {
			continue
		}
		label := g.Path
		if c.Row != "" && c.Row != NoRow {
			label += "-" + c.Row
		}
		for _, counter := range g.Counters() {
			unit := ""
			if strings.HasSuffix(counter.Name, "_usec") {
				unit = "us"
			}
			samples = append(samples, Sample{Statistic: counter.Name, Label: label, Unit: unit, Value: float64(counter.Value)})
		}
	}
	return samples
}

// samePath compares paths of cgroups as they are written with the canonical.
func samePath(written, path string) bool { return "/"+strings.Trim(written, "/") == path }
