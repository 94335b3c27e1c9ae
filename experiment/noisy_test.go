package experiment

import (
	"context"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/sim"
)

// The noisy environment of the sched-idle-balance document: one group of
// messaging, for ever, in a cgroup with cpu.idle, beside a benchmark in a cgroup
// of its own.
func noisy(c Cell) *Cell {
	c.Cgroup = "/bench"
	c.Cgroups = []CgroupSetting{{Path: "/bench"}, {Path: "/noise", File: "cpu.idle", Value: "1"}}
	c.Background = []BackgroundJob{{Command: []string{"messaging", "-g", "1"}, Cgroup: "/noise"}}
	return &c
}

func cellOf(machine string, command ...string) Cell {
	return Cell{Machine: machine, Kernel: "v5.17-tip", HZ: 250, Preemption: "voluntary", Seed: 7, Command: command}
}

func simulateCell(t *testing.T, c *Cell) *sim.Result {
	t.Helper()
	s, err := NewSimulation(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func busyShare(r *sim.Result) float64 { return float64(r.BusyNS) / float64(r.BusyNS+r.IdleNS) }

// "Occupies about 20 % of the CPU capacity" of 96 CPUs, says the document. With
// 100 loops the job would be over in a few milliseconds if it ended.
func TestNoiseOccupiesAFifthOfTheMachine(t *testing.T) {
	quiet := cellOf("2n24c2t", "while1", "-n", "1", "--time", "0.4")
	if share := busyShare(simulateCell(t, &quiet)); share > 0.02 {
		t.Errorf("one loop alone keeps %.1f %% of 96 CPUs busy, want 1 %%", 100*share)
	}
	if share := busyShare(simulateCell(t, noisy(quiet))); share < 0.13 || share > 0.30 {
		t.Errorf("with noise %.1f %% of the machine is busy, want about 20 %%", 100*share)
	}
}

// When the benchmark fills the machine an idle cgroup gets the crumbs: weight 3
// against 1024 (mechanisms.md 3), and what is left when the benchmark sleeps.
func TestNoiseYieldsToABusyBenchmark(t *testing.T) {
	c := cellOf("1n4c1t", "hackbench", "-g", "4", "-l", "500", "-P", "-p")
	if share := shareOfOthers(simulateCell(t, &c)); share > 0.04 {
		t.Errorf("without noise others than the benchmark had %.1f %% of the CPU time", 100*share)
	}
	if share := shareOfOthers(simulateCell(t, noisy(c))); share < 0.005 || share > 0.12 {
		t.Errorf("the noise had %.1f %% of the CPU time, want a few", 100*share)
	}
}

func TestBackgroundJobsDoNotEnd(t *testing.T) {
	for job, want := range map[string]string{
		"messaging -l 1": "", "hackbench -g 1": "", "perf-pipe": "", "while1 -n 1": "",
		"schbench -r 1": "background[0]: schbench ends by itself, so it cannot be a background job",
	} {
		c := cellOf("1n2c1t", "while1", "-n", "1", "--time", "0.05")
		c.Background = []BackgroundJob{{Command: strings.Fields(job)}}
		err := Simulator{}.Check(&c)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", job, err, want)
		}
	}
}

// shareOfOthers is what part of the busy time went to no task of the benchmark.
func shareOfOthers(r *sim.Result) float64 {
	own := int64(0)
	for _, ns := range r.Observation.Work {
		own += ns
	}
	return 1 - float64(own)/float64(r.BusyNS)
}
