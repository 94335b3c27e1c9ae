package sim

import (
	"slices"
	"strings"

	"github.com/schedlab/schedlab/sched"
)

// Group is one control group of a run.
type Group struct {
	Path   string
	Weight int64       // cpu.weight, 1 to 10000
	Idle   bool        // cpu.idle
	Limit  sched.Limit // cpu.max and cpu.max.burst
	// Usage, in ns, and Bandwidth are cpu.stat as it is now.
	Usage     int64
	Bandwidth sched.BandwidthStats
	Account   sched.BandwidthAccount
}

// Groups lists the control groups of the run, the root left out, by path.
func (m *Sim) Groups() []Group {
	var all []Group
	for _, g := range m.groupList {
		all = append(all, Group{
			Path: g.Name(), Weight: m.weightOf(g.Name()), Idle: g.Idle(), Limit: g.Limit(),
			Usage: m.usage(g), Bandwidth: g.BandwidthStats(), Account: g.Account(),
		})
	}
	slices.SortFunc(all, func(a, b Group) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// defaultWeight is cpu.weight of a group that nobody has set.
const defaultWeight = 100

func (m *Sim) weightOf(path string) int64 {
	if w, set := m.weights[path]; set {
		return w
	}
	return defaultWeight
}
