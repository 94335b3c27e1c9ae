package sim

import (
	"testing"

	"github.com/schedlab/schedlab/workload"
)

// v7.2 gathers the threads of a process below one cache; separate processes
// stay where they are. CPUs 0-3 share a cache, and 4-7.
func TestThreadsOfAProcessGather(t *testing.T) {
	for _, c := range []struct {
		kernel    string
		processes [3]int32
		want      int // spinners on the first cache at the end
	}{
		{"v7.2", [3]int32{1, 1, 1}, 3}, {"v7.2", [3]int32{1, 1, 2}, 2}, {"v6.12", [3]int32{1, 1, 1}, 2},
	} {
		sc := &workload.Scenario{
			Programs:  []workload.Program{{{Op: workload.OpRun, N: 1e9}, {Op: workload.OpLoop, N: workload.Forever}}},
			TimeLimit: 1e9,
		}
		for i, cpu := range []int{0, 1, 4} {
			sc.Tasks = append(sc.Tasks, workload.TaskSpec{Name: "spin", StartCPU: cpu, Process: c.processes[i]})
		}
		m := simulate(t, "1n2l4c1t", c.kernel, sc)
		run(t, m)
		got := 0
		for cpu := range 4 {
			got += m.sched.NrRunning(cpu)
		}
		if got != c.want {
			t.Errorf("%s, processes %v: %d spinners on the first cache, want %d", c.kernel, c.processes, got, c.want)
		}
	}
}

// The same seed rolls the same dice, another one others; kernel threads share
// no address space and single tasks need none.
func TestDiceAndAddressSpaces(t *testing.T) {
	a, b, other := newidleDice(7), newidleDice(7), newidleDice(8)
	differ := 0
	for range 100 {
		x := a()
		if x != b() {
			t.Fatal("one seed, two sequences")
		}
		if x != other() {
			differ++
		}
	}
	if differ < 90 {
		t.Errorf("only %d of 100 numbers depend on the seed", differ)
	}
	m, _ := build(t, "1n2c1t", "v7.2", "while1", "-n", "2", "--time", "1")
	spaces := addressSpaces(m.sched, []workload.TaskSpec{
		{Process: 1}, {Process: 1}, {Process: 2}, {Process: 3, Kernel: true}, {Process: 3, Kernel: true}, {Process: 1},
	})
	if len(spaces) != 1 || spaces[1] == nil {
		t.Errorf("spaces of processes %v, want that of 1 alone", spaces)
	}
}
