package workload

import (
	"fmt"
	"slices"
	"strings"
)

// burners are tasks that never sleep, alone or in a tree of cgroups, and what
// is asked of them: how the machine's time went (ipc-and-benchmarks.md 6.10).
type burners struct {
	time  int64 // ns
	label string
	tree  groupTree
}

// timeOptions are the flags that all burners have.
func (b *burners) timeOptions() []option {
	return append([]option{
		{"", "time", "SECONDS", "how long they run (10)", toSeconds(&b.time)},
		{"", "label", "TEXT", "tells runs of a table apart; it changes nothing but their seed", toText(&b.label)},
	}, b.tree.options()...)
}

func toText(target *string) func(string) error {
	return func(arg string) error {
		*target = arg
		return nil
	}
}

// spread puts the tasks of a scenario into the tree's groups, in order, and
// limits these.
func (b *burners) spread(s *Scenario, machine Shape) {
	s.TimeLimit = b.time
	if !b.tree.given() {
		return
	}
	task := 0
	for i, n := range b.tree.counts {
		for k := range n {
			s.Tasks[task].Cgroup = b.tree.taskPath(i, k)
			task++
		}
	}
	s.Limits = b.tree.limits(machine.CPUs)
}

// report says how much of the machine was idle, and how the groups shared the
// rest; the text is that of the script behind the document of 2011 [M].
func (b *burners) report(obs *Observation) Report {
	if len(obs.Work) != b.tree.tasks() || obs.CPUTime <= 0 {
		return Report{Failure: "the CPU time of its tasks was not recorded"}
	}
	idle := 100 * float64(obs.IdleTime) / float64(obs.CPUTime)
	total := max(1, sumOf(obs.Work))
	var text strings.Builder
	fmt.Fprintf(&text, "Average CPU Idle percentage %.5f%%\nBandwidth shared with remaining non-Idle %.5f%%\n", idle, 100-idle)
	metrics := []Metric{
		{Statistic: "Average CPU Idle", Unit: "percent", Better: "lower", Value: idle},
		{Statistic: "Bandwidth shared with remaining non-Idle", Unit: "percent", Better: "higher", Value: 100 - idle},
	}
	first := 0
	for i, n := range b.tree.counts {
		used := sumOf(obs.Work[first : first+n])
		first += n
		share := 100 * float64(used) / float64(total)
		fmt.Fprintf(&text, "Bandwidth of Group %d = %.3f CPUs, %.2f%% of non-Idle CPU time\n", i+1, float64(used)/float64(obs.EndTime), share)
		metrics = append(metrics, Metric{Statistic: fmt.Sprintf("Bandwidth of Group %d", i+1), Unit: "percent", Value: share})
	}
	return Report{Text: text.String(), Metrics: metrics}
}

func sumOf(times []int64) int64 {
	sum := int64(0)
	for _, ns := range times {
		sum += ns
	}
	return sum
}

// leastMeanMost sums up how evenly tasks were served, in seconds.
func leastMeanMost(times []int64) (least, mean, most float64) {
	return float64(slices.Min(times)) / 1e9, float64(sumOf(times)) / float64(len(times)) / 1e9, float64(slices.Max(times)) / 1e9
}
