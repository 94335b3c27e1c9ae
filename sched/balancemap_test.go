package sched

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/schedlab/schedlab/machine"
)

// checkBalanceMaps compares every map with the walk that it replaces: for each
// pair of CPUs the first affine domain of the one that holds the other, for
// each kind and level the domain of that level that places at it, and above the
// highest one that again (mechanisms.md 8.2, 8.3).
func checkBalanceMaps(t rapid.TB, s *Scheduler) {
	for _, here := range s.online.CPUs() {
		m := s.rqs[here].sbm
		if m == nil {
			t.Fatalf("CPU %d has no map", here)
		}
		for prev := range s.rqs {
			if got, want := m.affine[prev], affineByWalk(s, here, prev); got != want {
				t.Fatalf("affine domain of %d and %d: %v, the walk finds %v", here, prev, got, want)
			}
		}
		for kind, flag := range kindFlags {
			var top *Domain
			byLevel := map[int]*Domain{}
			for d := s.Domains(here); d != nil; d = d.Parent {
				if d.has(flag) {
					top, byLevel[d.Level] = d, d
				}
			}
			for level, got := range m.starts[kind] {
				want := byLevel[level]
				if top != nil && level > top.Level {
					want = top
				}
				if got != want {
					t.Fatalf("CPU %d, kind %d, level %d: %v, want %v", here, kind, level, got, want)
				}
			}
		}
	}
}

func affineByWalk(s *Scheduler, here, prev int) *Domain {
	for d := s.Domains(here); d != nil; d = d.Parent {
		if d.has(FlagWakeAffine) && d.Span.Has(prev) {
			return d
		}
	}
	return nil
}

func TestBalanceMapIsTheWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newMapScheduler(t, randomMachine(t), rapid.SampledFrom(mapVersions).Draw(t, "version"))
		checkBalanceMaps(t, s)
	})
}

var mapVersions = []string{"SCHED_BALANCE_MAP", "SCHED_BALANCE_MAP_V2", "SCHED_BALANCE_MAP_V1"}

func newMapScheduler(t rapid.TB, m *machine.Machine, features ...string) *Scheduler {
	cfg := NewConfig(m, &v38)
	for _, f := range features {
		if err := cfg.SetFeature(f); err != nil {
			t.Fatal(err)
		}
	}
	asked := newRequests(m.NumCPUs())
	s, err := New(cfg, &asked)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// With a map of any version, on any machine in any state, no placement of any
// kind leaves the CPUs that the task may use.
func TestBalanceMapKeepsToAllowedCPUs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		features := []string{rapid.SampledFrom(mapVersions).Draw(t, "version")}
		if rapid.Bool().Draw(t, "wake balance") {
			features = append(features, "SBM_WAKE_BALANCE")
		}
		if rapid.Bool().Draw(t, "without wake_affine") {
			features = append(features, "NO_SBM_WAKE_AFFINE")
		}
		s := newMapScheduler(t, randomMachine(t), features...)
		online := s.online.CPUs()
		anyCPU := rapid.SampledFrom(online)
		for i := range rapid.IntRange(0, 2*len(online)).Draw(t, "tasks") {
			cpu := anyCPU.Draw(t, "busy")
			s.Start(0, s.NewTask(TaskSpec{ID: int32(i), CPU: cpu}), cpu)
			s.Schedule(0, cpu, false)
		}
		for range 10 {
			allowed := machine.NewCPUMask(s.NumCPUs())
			for _, cpu := range rapid.SliceOfN(anyCPU, 1, 4).Draw(t, "allowed") {
				allowed.Set(cpu)
			}
			prev, here := anyCPU.Draw(t, "prev"), anyCPU.Draw(t, "here")
			kind := rapid.SampledFrom([]Kind{KindWake, KindFork, KindExec}).Draw(t, "kind")
			if kind != KindWake {
				prev = here
			}
			task := s.NewTask(TaskSpec{Allowed: allowed, CPU: prev})
			if cpu := s.selectCPU(task, prev, here, kind, rapid.Bool().Draw(t, "sync")); !allowed.Has(cpu) {
				t.Fatalf("%s from %d to %d goes to %d, allowed are %s", kind, prev, here, cpu, allowed)
			}
		}
	})
}

// mapCase is a state and the placement that mechanisms.md 8.5 asks for: two
// caches of two cores with two threads, CPUs 0 to 3 and 4 to 7; neighbours share
// a core. Busy CPUs run as many tasks as said.
type mapCase struct {
	name       string
	busy       map[int]int
	prev, here int
	features   []string
	far        bool // the caches are nodes that are too far from each other
	want       int
	affine     AffineReason
}

func TestBalanceMapExamples(t *testing.T) {
	leftFull := map[int]int{0: 1, 1: 1, 2: 1, 3: 1}
	with := func(more map[int]int) map[int]int {
		all := map[int]int{}
		for _, m := range []map[int]int{leftFull, more} {
			for cpu, n := range m {
				all[cpu] = n
			}
		}
		return all
	}
	for _, c := range []mapCase{
		{name: "prev idle: prev, wake_affine not asked", busy: map[int]int{4: 1}, prev: 1, here: 4, want: 1},
		{name: "prev busy, an idle core beside it, waker's CPU idle (an interrupt): that core",
			busy: map[int]int{1: 1}, prev: 1, here: 4, want: 2},
		// The waker (1024, not sync) and the wakee here are 2048·100 against
		// 1024·(100+25/2 = 112) there, the wakee not being counted: no. Nor is
		// 1024 + 1024 at most the average task.
		{name: "prev's cache full, idle CPU near the waker, wake_affine against it: prev",
			busy: with(map[int]int{4: 1}), prev: 1, here: 4, want: 1, affine: AffineUndecided},
		// prev has three tasks, 3072 + 1024: 204800 against 4096·112.
		{name: "the same, prev's CPU crowded: the idle core near the waker",
			busy: with(map[int]int{1: 3, 4: 1}), prev: 1, here: 4, want: 6, affine: AffineBalanced},
		{name: "the same without the question", busy: with(map[int]int{4: 1}), prev: 1, here: 4,
			features: []string{"NO_SBM_WAKE_AFFINE"}, want: 6},
		{name: "no affine domain: prev", busy: with(map[int]int{1: 3, 4: 1}), prev: 1, here: 4, far: true, want: 1},
		{name: "no idle CPU anywhere: prev", busy: with(map[int]int{4: 1, 5: 1, 6: 1, 7: 1}), prev: 1, here: 4, want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 2, adjacent: true}
			if c.far {
				spec.distance = [][]int{{10, 40}, {40, 10}}
			}
			s := newMapScheduler(t, spec.build(), append([]string{"SCHED_BALANCE_MAP"}, c.features...)...)
			occupy(s, c.busy)
			var d Decision
			s.Record(&d)
			task := s.NewTask(TaskSpec{ID: 99, CPU: c.prev})
			got := s.selectCPU(task, c.prev, c.here, KindWake, false)
			if got != c.want || d.Affine != c.affine {
				t.Errorf("placed on %d (wake_affine: %s), want %d (%s)", got, d.Affine, c.want, c.affine)
			}
		})
	}
}

// occupy starts that many nice-0 tasks on each CPU, in CPU order.
func occupy(s *Scheduler, busy map[int]int) {
	for cpu := range s.rqs {
		for range busy[cpu] {
			s.Start(0, s.NewTask(TaskSpec{CPU: cpu}), cpu)
		}
		if busy[cpu] > 0 {
			s.Schedule(0, cpu, false)
		}
	}
}

// Versions 1 and 2 differ from 3 where no CPU is idle: they balance, which does
// nothing as long as no domain balances at wakeups.
func TestOlderMapsBalanceAtWakeups(t *testing.T) {
	busy := map[int]int{0: 1, 1: 2, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1}
	for _, c := range []struct {
		features []string
		want     int
	}{
		{[]string{"SCHED_BALANCE_MAP"}, 1},
		{[]string{"SCHED_BALANCE_MAP_V2"}, 1},
		{[]string{"SCHED_BALANCE_MAP_V2", "SBM_WAKE_BALANCE"}, 4},
		{[]string{"SCHED_BALANCE_MAP", "SBM_WAKE_BALANCE"}, 1},
		{[]string{"SCHED_BALANCE_MAP_V1", "SBM_WAKE_BALANCE"}, 4},
	} {
		// Four threads are 4·589 = 2356: prev's node has 5120·1024/2356 = 2225,
		// the other 4096·1024/2356 = 1738, and 222500 >= 112·1738. Of its equally
		// loaded CPUs the first is 4. The level below NUMA was dropped, and with
		// this hole the descent ends.
		s := newMapScheduler(t, machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 2, adjacent: true}.build(), c.features...)
		occupy(s, busy)
		got := s.selectCPU(s.NewTask(TaskSpec{ID: 99, CPU: 1}), 1, 1, KindWake, false)
		if got != c.want {
			t.Errorf("%v: placed on %d, want %d", c.features, got, c.want)
		}
	}
}

func TestBalanceMapVersionsExcludeEachOther(t *testing.T) {
	cfg := NewConfig(machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), &v38)
	cfg.Features = cfg.Features.With(SchedBalanceMap).With(SchedBalanceMapV2)
	_, err := New(cfg, nil)
	wantError(t, err, "features SCHED_BALANCE_MAP and SCHED_BALANCE_MAP_V2 are versions of one patch; choose one")
}

// What a placement costs the machine that runs this, with the map and with the
// walk, when every CPU is busy and the waker sits in another cache if there is
// one: 12 CPUs are the machine of the 2013 document.
func BenchmarkPlacement38(b *testing.B) {
	for _, spec := range []struct {
		name string
		machineSpec
	}{
		{"12", machineSpec{nodes: 1, llcs: 1, cores: 6, threads: 2}},
		{"96", machineSpec{nodes: 2, llcs: 1, cores: 24, threads: 2}},
		{"1024", machineSpec{nodes: 16, llcs: 2, cores: 16, threads: 2}},
	} {
		for _, rule := range []string{"walk", "map"} {
			for _, state := range []string{"idle", "busy"} {
				b.Run(fmt.Sprintf("%s/%s/%s", spec.name, rule, state), func(b *testing.B) {
					benchmarkPlacement38(b, spec.build(), rule == "map", state == "busy")
				})
			}
		}
	}
}

func benchmarkPlacement38(b *testing.B, m *machine.Machine, withMap, busy bool) {
	var features []string
	if withMap {
		features = []string{"SCHED_BALANCE_MAP"}
	}
	s := newMapScheduler(b, m, features...)
	for cpu := range s.rqs {
		if busy || cpu == 0 {
			s.Start(0, s.NewTask(TaskSpec{CPU: cpu}), cpu)
			s.Schedule(0, cpu, false)
		}
	}
	prev := m.NumCPUs() / 2
	task := s.NewTask(TaskSpec{CPU: prev})
	before := s.Work()
	s.TakeCost()
	b.ResetTimer()
	for b.Loop() {
		s.selectCPU(task, prev, 0, KindWake, true)
	}
	b.ReportMetric(float64(s.TakeCost())/float64(b.N), "kernel-ns/op")
	after := s.Work()
	b.ReportMetric(float64(after.Probes-before.Probes)/float64(b.N), "probes/op")
}
