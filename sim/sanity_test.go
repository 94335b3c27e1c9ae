package sim

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// What any kernel developer would check first.

func TestPipePairStaysInOneLLC(t *testing.T) {
	for _, kernel := range []string{"v3.2", "v3.8", "v4.14", "v5.10", "v5.17", "v5.17-tip", "v6.1"} {
		m, _ := build(t, "2n8c2t", kernel, "perf", "bench", "sched", "pipe", "-l", "2000")
		r := run(t, m)
		if crossed := r.Migrations[SameNode] + r.Migrations[OtherNode]; crossed > 2 {
			t.Errorf("%s: the pair of an idle machine left its LLC %d times; only the forks may", kernel, crossed)
		}
	}
}

func TestSpinnersEndOnePerCPU(t *testing.T) {
	for _, kernel := range []string{"v3.2", "v3.8", "v4.14", "v5.10", "v5.17", "v5.17-tip", "v6.1"} {
		for _, spec := range []string{"1n8c1t", "2n4c2t", "4n4c1t"} {
			m, _ := build(t, spec, kernel, "while1", "--time", "1")
			run(t, m)
			for cpu := range m.cpus {
				if n := m.sched.NrRunning(cpu); n != 1 {
					t.Errorf("%s on %s: after one second CPU %d has %d spinners, want 1", kernel, spec, cpu, n)
				}
			}
		}
	}
}

func TestNoIdleCoreBesideASharedOne(t *testing.T) {
	// Not v3.8, which takes four cores with threads for five (sched's
	// TestBusiestGroup38), so that a fifth spinner may stay on a node.
	for _, kernel := range []string{"v3.2", "v5.10", "v5.17", "v5.17-tip", "v6.1"} {
		// As many spinners as cores: after a second every core has one.
		m, _ := build(t, "2n4c2t", kernel, "while1", "-n", "8", "--time", "1")
		run(t, m)
		for cpu := range 8 { // the first threads of the cores; siblings are cpu+8
			if n := m.sched.NrRunning(cpu) + m.sched.NrRunning(cpu+8); n != 1 {
				t.Errorf("%s: core of CPU %d has %d spinners, want 1", kernel, cpu, n)
			}
		}
	}
}

// With nohz=off idle CPUs balance at their own ticks, and a run in which nothing
// but ticks is left ends all the same.
func TestIdleCPUsKeepTheirTicks(t *testing.T) {
	for _, p := range sched.Profiles() {
		m := simulateWith(t, "2n4c1t", p.Name, scenarioOf(t, "2n4c1t", "while1", "--time", "1"), withoutNohz)
		run(t, m)
		for cpu := range m.cpus {
			if n := m.sched.NrRunning(cpu); n != 1 {
				t.Errorf("%s: after one second CPU %d has %d spinners, want 1", p.Name, cpu, n)
			}
		}
		sleeper := &workload.Scenario{
			Programs: []workload.Program{mustParse(t, "read c0 100\nexit")},
			Channels: []workload.ChannelSpec{{Kind: workload.Pipe}},
			Tasks:    []workload.TaskSpec{{Name: "sleeper", Process: 1}},
		}
		stuck := simulateWith(t, "2n4c1t", p.Name, sleeper, withoutNohz)
		if _, err := stuck.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "deadlock") {
			t.Errorf("%s: a reader without a writer: %v", p.Name, err)
		}
	}
}

func withoutNohz(c *Config) { c.Sched.Tunables.Nohz = 0 }

// Two hogs of nice 0 and 5 on one CPU share it 1024:335 (mechanisms.md 1.2).
func TestNiceSharesOneCPU(t *testing.T) {
	sc := &workload.Scenario{
		Programs: []workload.Program{{{Op: workload.OpRun, N: 1e9}, {Op: workload.OpLoop, N: workload.Forever}}},
		Tasks: []workload.TaskSpec{
			{Name: "nice0", StartCPU: 0, Process: 1},
			{Name: "nice5", StartCPU: 0, Process: 2, Nice: 5},
		},
		TimeLimit: 20e9,
	}
	for _, p := range sched.Profiles() {
		m := simulate(t, "1n1c1t", p.Name, sc)
		r := run(t, m)
		ratio := float64(r.Observation.Work[1]) / float64(r.Observation.Work[0])
		if want := 335.0 / 1024; ratio < want*0.98 || ratio > want*1.02 {
			t.Errorf("%s: nice 5 got %.4f of what nice 0 got, want %.4f within 2 %%", p.Name, ratio, want)
		}
	}
}

// A message costs more time when the two tasks run on SMT siblings.
func TestBusySiblingsSlowMessagesDown(t *testing.T) {
	perMessage := func(reader int) int64 {
		sc := &workload.Scenario{
			Programs: []workload.Program{
				mustParse(t, "top:\nwrite c0 100\nloop top 20000\nexit"),
				mustParse(t, "top:\nread c0 100\nloop top 20000\nexit"),
			},
			Channels: []workload.ChannelSpec{{Kind: workload.Pipe}},
			Tasks: []workload.TaskSpec{
				{Name: "writer", Program: 0, Process: 1, Allowed: []int{0}},
				{Name: "reader", Program: 1, Process: 2, Allowed: []int{reader}, StartCPU: reader},
			},
		}
		return run(t, simulate(t, "1n2c2t", "v5.17", sc)).End / 20000
	}
	apart, siblings := perMessage(1), perMessage(2) // CPUs 0 and 2 are one core
	if siblings <= apart {
		t.Errorf("a message takes %d ns between siblings and %d ns between cores; siblings must be slower", siblings, apart)
	}
}

// 100 more groups are 4,000 more tasks; what they take includes their share of
// programs and channels.
func TestTaskTakesAtMostOneKiB(t *testing.T) {
	small, large := heapOf(t, "1"), heapOf(t, "101")
	if per := (large - small) / 4000; per > 1024 {
		t.Errorf("a task takes %d bytes, want at most 1024", per)
	} else {
		t.Logf("a task takes %d bytes", per)
	}
}

// heapOf measures what a built simulation of that many groups holds.
func heapOf(t *testing.T, groups string) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m, _ := build(t, "1n2c1t", "v5.17", "hackbench", "-g", groups, "-P", "-p")
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(m)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// The steady state allocates nothing. What a longer run allocates more are the
// few times that some CPU's timeline grows beyond its longest so far.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	shortAllocs, shortSwitches := runAllocations(t, "50")
	longAllocs, longSwitches := runAllocations(t, "1000")
	more, switches := int64(longAllocs-shortAllocs), longSwitches-shortSwitches
	if more*1000 > switches {
		t.Errorf("%d more switches allocate %d more times, want less than one in 1000", switches, more)
	}
}

// runAllocations counts the allocations of one run, without those of building
// the simulation.
func runAllocations(t *testing.T, loops string) (allocations uint64, switches int64) {
	m, _ := build(t, "2n4c2t", "v5.17", "hackbench", "-g", "2", "-l", loops, "-P", "-p")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := run(t, m)
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, r.Switches
}
