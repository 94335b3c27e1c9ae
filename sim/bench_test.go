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

// BenchmarkHogs has five endless loops per CPU: what is left is ticks,
// switches and balancing.
func BenchmarkHogs(b *testing.B) {
	for _, c := range []struct{ name, machine, hogs string }{
		{"8", "1n8c1t", "40"}, {"64", "2n32c1t", "320"}, {"256", "4n64c1t", "1280"},
	} {
		b.Run(c.name+"cpus", func(b *testing.B) {
			var switches int64
			for range b.N {
				b.StopTimer()
				m, _ := build(b, c.machine, "v5.17", "while1", "-n", c.hogs, "--time", "20")
				b.StartTimer()
				switches += run(b, m).Switches
			}
			b.ReportMetric(float64(switches)/b.Elapsed().Seconds(), "switches/s")
		})
	}
}
