package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"custom-placement": main})
}

// The scripts compare the rule with the kernel's as the comment of main.go says.
func TestScripts(t *testing.T) {
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLE", folder)
			env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/cache")
			return nil
		},
	})
}

// quiet is a driver that lets nothing happen.
type quiet struct{}

func (quiet) Resched(int)                       {}
func (quiet) WakeIPI(int)                       {}
func (quiet) NohzKick(int)                      {}
func (quiet) ArmTimer(int, int64, *sched.Timer) {}
func (quiet) UnthrottleIPI(int)                 {}
func (quiet) ThrottleWork(int)                  {}
func (quiet) ArmSliceEnd(int, int64)            {}
func (quiet) StopperKick(int)                   {}
func (quiet) BalanceSoftirq(int)                {}

// scheduler has one cache with four CPUs, on which so many tasks each run.
func scheduler(t *testing.T, rule sched.PlacementRule, running [4]int) *sched.Scheduler {
	t.Helper()
	m, err := machine.Parse("1n4c1t")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := sched.LookupProfile("v6.1")
	if err != nil {
		t.Fatal(err)
	}
	config := sched.NewConfig(m, profile)
	config.Placement = rule
	s, err := sched.New(config, quiet{})
	if err != nil {
		t.Fatal(err)
	}
	for cpu, n := range running {
		for range n {
			s.Start(0, s.NewTask(sched.TaskSpec{CPU: cpu}), cpu)
		}
		s.Schedule(0, cpu, false)
	}
	return s
}

func TestShortestQueue(t *testing.T) {
	tests := []struct {
		name    string
		running [4]int
		prev    int
		want    int
	}{
		{"nothing idle: CPU 2 has one task", [4]int{2, 2, 1, 3}, 0, 2},
		{"nothing idle: the target wins a tie", [4]int{2, 2, 2, 2}, 1, 1},
		{"the previous CPU is idle: the kernel takes it", [4]int{2, 2, 0, 3}, 2, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := scheduler(t, shortestQueue{}, test.running)
			woken := s.NewTask(sched.TaskSpec{CPU: test.prev})
			if got := s.Wake(1_000_000, test.prev, woken, false); got != test.want {
				t.Errorf("placed on CPU %d, want %d", got, test.want)
			}
		})
	}
}

// Looking at the three other CPUs of the cache must cost three probes more
// than the kernel's own search.
func TestShortestQueuePaysForItsProbes(t *testing.T) {
	probes := func(rule sched.PlacementRule) int64 {
		s := scheduler(t, rule, [4]int{2, 2, 1, 3})
		woken := s.NewTask(sched.TaskSpec{})
		before := s.Work()
		s.Wake(1_000_000, 0, woken, false)
		return s.Work().Probes - before.Probes
	}
	if extra := probes(shortestQueue{}) - probes(nil); extra != 3 {
		t.Errorf("%d probes more than the kernel's rule, want 3", extra)
	}
}
