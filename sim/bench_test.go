package sim

import (
	"context"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// build makes a simulation of a command on a machine and kernel.
func build(t testing.TB, spec, kernel string, argv ...string) (*Sim, workload.Benchmark) {
	t.Helper()
	mach, err := machine.Parse(spec)
	check(t, err)
	profile, err := sched.LookupProfile(kernel)
	check(t, err)
	rules, err := workload.RulesFor(kernel)
	check(t, err)
	bench, err := workload.Parse(argv)
	check(t, err)
	scenario, err := bench.Build(workload.Shape{CPUs: mach.NumCPUs(), Nodes: len(mach.Nodes)})
	check(t, err)
	costs, err := CostsFor(mach.Name)
	check(t, err)
	m, err := New(Config{
		Sched: sched.NewConfig(mach, profile), Costs: costs, Rules: rules, Scenario: scenario, Seed: 1,
	})
	check(t, err)
	return m, bench
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

// BenchmarkHackbenchPipes is the speed that the project promises: 12 groups
// on 96 CPUs.
func BenchmarkHackbenchPipes(b *testing.B) {
	var switches, messages int64
	for range b.N {
		b.StopTimer()
		m, _ := build(b, "2n24c2t", "v5.17", "hackbench", "-g", "12", "-l", "200", "-P", "-p")
		b.StartTimer()
		r := run(b, m)
		switches += r.Switches
		messages += r.Messages
	}
	b.ReportMetric(float64(switches)/b.Elapsed().Seconds(), "switches/s")
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
}
