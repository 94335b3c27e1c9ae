package cli

import (
	"fmt"
	"strings"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/sim"
)

// parseCgroups reads the --cgroup flags into the cell. The benchmark runs in the
// first group that they name.
func parseCgroups(words []string, cell *experiment.Cell) error {
	for _, word := range words {
		path, setting, isSet := strings.Cut(word, ":")
		file, value, hasValue := strings.Cut(setting, "=")
		if !strings.HasPrefix(path, "/") || strings.Trim(path, "/") == "" || isSet != hasValue {
			return fmt.Errorf(`--cgroup %q must be PATH or PATH:FILE=VALUE, such as "/service:cpu.max=50000 100000"`, word)
		}
		if name := badGroupName(path); name != "" {
			return fmt.Errorf("--cgroup %q: %q cannot be the name of a cgroup", word, name)
		}
		for _, have := range cell.Cgroups {
			if isSet && strings.TrimSuffix(have.Path, "/") == strings.TrimSuffix(path, "/") && have.File == file && have.Value != value {
				return fmt.Errorf("--cgroup: %s of %s is set to %q and to %q; keep one", file, path, have.Value, value)
			}
		}
		if cell.Cgroup == "" {
			cell.Cgroup = path
		}
		cell.Cgroups = append(cell.Cgroups, experiment.CgroupSetting{Path: path, File: file, Value: value})
	}
	return nil
}

// badGroupName is a part of the path that no folder can be called; "" if all can.
// An empty part would name no group: it is shown as //.
func badGroupName(path string) string {
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		switch name {
		case "":
			return "//"
		case ".", "..":
			return name
		}
	}
	return ""
}

// groupReport is what a group with a limit came to, by cgroup v2's names.
type groupReport struct {
	Path  string        `json:"path"`
	Max   string        `json:"cpu.max"`
	Burst int64         `json:"cpu.max.burst"`
	Stat  []sim.Counter `json:"cpu.stat"`
}

func groupReports(groups []sim.Group) []groupReport {
	var reports []groupReport
	for _, g := range groups {
		if g.Limit.Quota != sched.Unlimited {
			reports = append(reports, groupReport{g.Path, g.Limit.Max(), g.Limit.Burst / 1000, g.Counters()})
		}
	}
	return reports
}

// text is the group's part of a report: its limit and a line for each counter.
func (g *groupReport) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: cpu.max %s", g.Path, g.Max)
	if g.Burst > 0 {
		fmt.Fprintf(&b, ", cpu.max.burst %d", g.Burst)
	}
	b.WriteByte('\n')
	for _, c := range g.Stat {
		fmt.Fprintf(&b, "  %-24s %14d\n", c.Name, c.Value)
	}
	return b.String()
}
