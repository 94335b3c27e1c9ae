package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// groupTree are groups side by side below a path, each with a number of tasks
// and a limit in proportion to it.
type groupTree struct {
	counts []int  // tasks of each group
	under  string // "/l1/l2/l3"
	// quota is the percentage of the machine that all limits together amount
	// to; 0: there are none.
	quota  int
	period int64 // ns
	own    bool  // each task has a group of its own in its group, limited too
}

// CgroupLimit is cpu.max of a group that a benchmark makes itself, in ns.
type CgroupLimit struct {
	Path          string
	Quota, Period int64
}

const maxTreeGroups = 1000

func (g *groupTree) options() []option {
	g.under, g.period = "/l1/l2/l3", 100_000_000
	return []option{
		{"", "tree", "N,N,...", "tasks of each of several cgroups, side by side (no cgroups)", g.setCounts},
		{"", "under", "PATH", "where the cgroups are (/l1/l2/l3)", g.setPath},
		{"", "quota", "PERCENT", "limits that together are so much of the machine, each group's by its tasks (none)", toInt(&g.quota, 0, 100_000)},
		{"", "period", "SECONDS", "of the limits (0.1)", toSeconds(&g.period)},
		{"", "own", "", "each task in a cgroup of its own below, with its part of the limit", toBool(&g.own, true)},
	}
}

func (g *groupTree) given() bool { return len(g.counts) > 0 }

func (g *groupTree) tasks() int {
	sum := 0
	for _, n := range g.counts {
		sum += n
	}
	return sum
}

func (g *groupTree) setCounts(arg string) error {
	g.counts = nil
	for word := range strings.SplitSeq(arg, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > maxChildren {
			return fmt.Errorf("%q is not a list of numbers of tasks, such as 2,2,4,8,16", arg)
		}
		g.counts = append(g.counts, n)
	}
	if len(g.counts) > maxTreeGroups || g.tasks() > maxChildren {
		return fmt.Errorf("%d groups with %d tasks: at most %d and %d can be simulated", len(g.counts), g.tasks(), maxTreeGroups, maxChildren)
	}
	return nil
}

func (g *groupTree) setPath(arg string) error {
	if !strings.HasPrefix(arg, "/") || strings.Trim(arg, "/") == "" {
		return fmt.Errorf("%q is not the path of a cgroup, such as /l1/l2/l3", arg)
	}
	g.under = "/" + strings.Trim(arg, "/")
	return nil
}

func (g *groupTree) check() error {
	if !g.given() && (g.quota != 0 || g.own) {
		return fmt.Errorf("--quota and --own need --tree")
	}
	return nil
}

// path is where group i is, counted from 0.
func (g *groupTree) path(i int) string { return fmt.Sprintf("%s/g%d", g.under, i+1) }

// taskPath is where task k of group i is.
func (g *groupTree) taskPath(i, k int) string {
	if g.own {
		return fmt.Sprintf("%s/t%d", g.path(i), k+1)
	}
	return g.path(i)
}

// limits divides the quota of the whole machine by tasks.
func (g *groupTree) limits(cpus int) []CgroupLimit {
	if g.quota == 0 {
		return nil
	}
	all, tasks := g.period*int64(cpus)*int64(g.quota)/100, int64(g.tasks())
	var limits []CgroupLimit
	for i, n := range g.counts {
		limits = append(limits, CgroupLimit{Path: g.path(i), Quota: all * int64(n) / tasks, Period: g.period})
		if g.own {
			for k := range n {
				limits = append(limits, CgroupLimit{Path: g.taskPath(i, k), Quota: all / tasks, Period: g.period})
			}
		}
	}
	return limits
}
