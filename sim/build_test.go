package sim

import (
	"context"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// build makes a simulation of a benchmark's command on a machine and kernel.
func build(t testing.TB, spec, kernel string, argv ...string) (*Sim, workload.Benchmark) {
	t.Helper()
	bench, err := workload.Parse(argv)
	check(t, err)
	mach, err := machine.Parse(spec)
	check(t, err)
	scenario, err := bench.Build(workload.Shape{CPUs: mach.NumCPUs(), Nodes: len(mach.Nodes)})
	check(t, err)
	return simulate(t, spec, kernel, scenario), bench
}

// simulate makes a simulation of a scenario; tests check the invariants after
// every event, benchmarks do not.
func simulate(t testing.TB, spec, kernel string, sc *workload.Scenario) *Sim {
	t.Helper()
	return simulateWith(t, spec, kernel, sc, nil)
}

// simulateWith lets edit, if not nil, change the run before it is built.
func simulateWith(t testing.TB, spec, kernel string, sc *workload.Scenario, edit func(*Config)) *Sim {
	t.Helper()
	mach, err := machine.Parse(spec)
	check(t, err)
	profile, err := sched.LookupProfile(kernel)
	check(t, err)
	rules, err := workload.RulesFor(kernel)
	check(t, err)
	costs, err := CostsFor(mach.Name)
	check(t, err)
	cfg := Config{
		Sched: sched.NewConfig(mach, profile), Costs: costs, Rules: rules, Scenario: sc, Seed: 1,
		Check: isTest(t),
	}
	if edit != nil {
		edit(&cfg)
	}
	m, err := New(cfg)
	check(t, err)
	return m
}

func isTest(t testing.TB) bool {
	_, ok := t.(*testing.T)
	return ok
}

func mustParse(t testing.TB, text string) workload.Program {
	t.Helper()
	p, err := workload.ParseProgram(text)
	check(t, err)
	return p
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func run(t testing.TB, m *Sim) *Result {
	t.Helper()
	r, err := m.Run(context.Background())
	check(t, err)
	return r
}

// tokenRings gives every CPU a pinned pair of tasks that pass a byte back and
// forth through two pipes.
func tokenRings(t testing.TB, spec string) *Sim {
	t.Helper()
	mach, err := machine.Parse(spec)
	check(t, err)
	sc := &workload.Scenario{TimeLimit: 50e6}
	for cpu := range mach.NumCPUs() {
		ping, pong := int32(2*cpu), int32(2*cpu+1)
		sc.Channels = append(sc.Channels, workload.ChannelSpec{Kind: workload.Pipe}, workload.ChannelSpec{Kind: workload.Pipe})
		sc.Programs = append(sc.Programs,
			workload.Program{
				{Op: workload.OpWrite, Chan: ping, N: 1}, {Op: workload.OpRead, Chan: pong, N: 1},
				{Op: workload.OpLoop, N: workload.Forever},
			},
			workload.Program{
				{Op: workload.OpRead, Chan: ping, N: 1}, {Op: workload.OpWrite, Chan: pong, N: 1},
				{Op: workload.OpLoop, N: workload.Forever},
			})
		for i := range int32(2) {
			sc.Tasks = append(sc.Tasks, workload.TaskSpec{
				Name: "ring", Program: ping + i, Process: ping + i, Allowed: []int{cpu}, StartCPU: cpu,
			})
		}
	}
	return simulate(t, spec, "v5.17", sc)
}
