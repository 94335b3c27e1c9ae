package workload

import "fmt"

// while1 is a number of endless loops that run for a time
// (ipc-and-benchmarks.md 6.10).
type while1 struct {
	burners
	tasks  int // 0: one per CPU
	nice   int
	pinned bool
	groups []int // loops in each of the cgroups g1, g2, ...; nil: all in one
}

func newWhile1() *while1 { return &while1{burners: burners{time: 10e9}} }

const (
	// spinChunk is how much work the loop does between two looks of the
	// simulator at its program; it cannot be seen from outside.
	spinChunk     = 1e9
	spinFootprint = 1024
)

// Name implements [Benchmark].
func (w *while1) Name() string { return "while1" }

func (w *while1) options() []option {
	return append([]option{
		{"n", "", "N", "loops (one per CPU, or those of --tree)", toInt(&w.tasks, 1, maxChildren)},
		{"", "nice", "K", "nice value of all of them (0)", toInt(&w.nice, -20, 19)},
		{"", "groups", "N,N,...", "loops in the cgroups g1, g2, ... below the benchmark's: in each, a process forks them, and each ends after its own SECONDS", toInts(&w.groups, 1, maxChildren)},
		{"", "pin", "", "loop i runs on CPU i only, counting around", toBool(&w.pinned, true)},
	}, w.timeOptions()...)
}

func (w *while1) check() error {
	if w.groups != nil && (w.tasks != 0 || w.pinned) {
		return fmt.Errorf("while1: --groups says how many loops there are and lets them run anywhere: leave -n and --pin out")
	}
	if w.tree.given() && (w.tasks != 0 || w.groups != nil) {
		return fmt.Errorf("-n, --groups and --tree each say how many loops there are: leave all but one out")
	}
	return w.tree.check()
}

// Build implements [Benchmark].
func (w *while1) Build(machine Shape) (*Scenario, error) {
	if machine.CPUs < 1 {
		return nil, fmt.Errorf("while1: a machine with %d CPUs runs nothing", machine.CPUs)
	}
	if w.groups != nil {
		return w.buildGroups(), nil
	}
	s := &Scenario{Programs: []Program{{{Op: OpRun, N: spinChunk}, {Op: OpLoop, Target: 0, N: Forever}}}}
	for i := range w.count(machine) {
		task := TaskSpec{Name: "while1", Process: int32(i), Nice: w.nice, Footprint: spinFootprint, StartCPU: AnyCPU}
		if w.pinned {
			task.StartCPU = i % machine.CPUs
			task.Allowed = []int{task.StartCPU}
		}
		s.Tasks = append(s.Tasks, task)
	}
	w.spread(s, machine)
	return s, nil
}

func (w *while1) count(machine Shape) int {
	switch {
	case w.tree.given():
		return w.tree.tasks()
	case w.tasks != 0:
		return w.tasks
	}
	return machine.CPUs
}

// buildGroups has a process in each group that forks its loops and waits for
// them; it is not a loop itself and counts as background.
func (w *while1) buildGroups() *Scenario {
	s := &Scenario{Programs: []Program{{{Op: OpSpinWall, N: w.time}, {Op: OpExit}}}}
	spec := TaskSpec{Name: "while1", Nice: w.nice, Footprint: spinFootprint, StartCPU: AnyCPU}
	for i, loops := range w.groups {
		var leader Program
		spec := spec
		spec.Cgroup = fmt.Sprintf("g%d", i+1)
		for range loops {
			child := spec
			child.Forked, child.Process = true, int32(len(s.Tasks)) // a process of its own
			leader = append(leader, Instr{Op: OpFork, N: int64(len(s.Tasks))})
			s.Tasks = append(s.Tasks, child)
		}
		spec.Program, spec.Background, spec.Process = int32(len(s.Programs)), true, int32(len(s.Tasks))
		s.Programs = append(s.Programs, append(leader, Instr{Op: OpWaitChildren}, Instr{Op: OpExit}))
		s.Tasks = append(s.Tasks, spec)
	}
	return s
}

// Report implements [Benchmark]. The real loop prints nothing; how fairly its
// copies were served is what one wants to know of it.
func (w *while1) Report(obs *Observation) Report {
	if w.tree.given() {
		return w.report(obs)
	}
	if len(obs.Work) == 0 {
		return Report{Failure: "the CPU time of its tasks was not recorded"}
	}
	least, mean, most := leastMeanMost(obs.Work)
	text := fmt.Sprintf("while1: %d loops for %s; CPU seconds each: least %.3f, mean %.3f, most %.3f\n",
		len(obs.Work), secondsText(obs.EndTime), least, mean, most)
	return Report{Text: text, Metrics: []Metric{
		{Statistic: "Amean", Unit: "seconds of CPU", Better: "higher", Value: mean},
	}}
}
