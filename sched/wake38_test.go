package sched

import (
	"testing"

	"github.com/schedlab/schedlab/machine"
)

// mechanisms.md 6.5, v3.8. Cores are {0,1} {2,3} {4,5}.
func TestIdleSibling38(t *testing.T) {
	threeCores := machineSpec{nodes: 1, llcs: 1, cores: 3, threads: 2, adjacent: true}
	for _, c := range []struct {
		name       string
		busy       map[int]int
		allowed    []int
		prev, here int
		want       int
		rule       Rule
	}{
		{"prev idle", map[int]int{0: 1}, nil, 1, 0, 1, RulePrevIdle},
		{"idle core before an idle sibling", map[int]int{0: 1, 2: 1}, nil, 0, 0, 4, RuleIdleCore},
		{"first allowed CPU of the idle core", map[int]int{0: 1, 2: 1}, []int{0, 3, 5}, 0, 0, 5, RuleIdleCore},
		{"idle siblings of other cores are not seen", map[int]int{0: 1, 1: 1, 2: 1, 4: 1}, nil, 0, 0, 0, RuleTarget},
		{"idle sibling of the target", map[int]int{0: 1, 2: 1, 4: 1}, nil, 0, 0, 1, RuleIdleCPU},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newMapScheduler(t, threeCores.build())
			occupy(s, c.busy)
			spec := TaskSpec{ID: 99, CPU: c.prev}
			if c.allowed != nil {
				spec.Allowed = machine.MaskOf(6, c.allowed...)
			}
			wantPlacement(t, s, spec, c.here, false, c.want, c.rule)
		})
	}
}

func wantPlacement(t *testing.T, s *Scheduler, spec TaskSpec, here int, sync bool, want int, rule Rule) {
	t.Helper()
	var d Decision
	s.Record(&d)
	got := s.selectCPU(s.NewTask(spec), spec.CPU, here, KindWake, sync)
	if got != want || d.Rule != rule {
		t.Errorf("CPU %d (%s), want %d (%s)", got, d.Rule, want, rule)
	}
}

// Without an affine domain, or when the waker's CPU is not allowed, v3.8 leaves
// the wakee at prev and does not look for an idle CPU.
func TestNoSearchWithoutAffineDomain38(t *testing.T) {
	spec := machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 1, distance: [][]int{{10, 40}, {40, 10}}}
	s := newMapScheduler(t, spec.build())
	occupy(s, map[int]int{0: 1, 2: 1})
	wantPlacement(t, s, TaskSpec{ID: 99, CPU: 0}, 2, false, 0, RuleNoAffine)

	s = newMapScheduler(t, machineSpec{nodes: 1, llcs: 1, cores: 3, threads: 1}.build())
	occupy(s, map[int]int{0: 1, 2: 1})
	wantPlacement(t, s, TaskSpec{ID: 99, CPU: 0, Allowed: machine.MaskOf(3, 0, 1)}, 2, false, 0, RuleNoAffine)
}

// mechanisms.md 7.3: a fork leaves for a group with clearly less load, for its
// least loaded CPU, but stays among equals.
func TestSlowPath38(t *testing.T) {
	m := machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 1}.build()
	for _, c := range []struct {
		name string
		busy map[int]int
		want int
	}{
		// The other node's first CPU is 2; below, 3 is as empty, and 0 < 112·0
		// does not keep the task.
		{"other node idle", map[int]int{0: 1}, 3},
		// Nodes: 1024 each: 102400 < 112·1024. Within the node CPU 1 is idle.
		{"nodes alike", map[int]int{0: 1, 3: 1}, 1},
		{"all alike", map[int]int{0: 1, 1: 1, 2: 1, 3: 1}, 0},
		// Node 0 has three tasks, node 1 two, for the same capacity:
		// 307200 >= 112·2048. Within node 1 102400 < 112·1024.
		{"node 1 clearly less", map[int]int{0: 2, 1: 1, 2: 1, 3: 1}, 2},
	} {
		s := newMapScheduler(t, m)
		occupy(s, c.busy)
		task := s.NewTask(TaskSpec{ID: 99})
		if got := s.selectCPU(task, 0, 0, KindFork, false); got != c.want {
			t.Errorf("%s: CPU %d, want %d", c.name, got, c.want)
		}
	}
}

// v3.2 leaves the queueing of every wakee to its CPU; v3.8 only across caches.
func TestRemoteQueueing38(t *testing.T) {
	for _, c := range []struct {
		kernel        string
		inside, other bool
	}{{"v3.2", true, true}, {"v3.8", false, true}} {
		l := newLab(t, machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 1}.build(), c.kernel)
		rule := l.profile.Wake.queueRemotely
		if got := rule(l.Scheduler, nil, 0, 1); got != c.inside {
			t.Errorf("%s within the cache: %v", c.kernel, got)
		}
		if got := rule(l.Scheduler, nil, 0, 2); got != c.other {
			t.Errorf("%s to another cache: %v", c.kernel, got)
		}
		if rule(l.Scheduler, nil, 0, 0) {
			t.Errorf("%s queues remotely to itself", c.kernel)
		}
	}
}

// mechanisms.md 5.3: chain and parameters; NUMA far away neither forks nor wakes.
func TestDomains38(t *testing.T) {
	far := machineSpec{nodes: 2, llcs: 2, cores: 2, threads: 2, adjacent: true, distance: [][]int{{10, 40}, {40, 10}}}.build()
	for _, c := range []struct {
		kernel, chain string
		mcPrefers     bool
		numaAffine    bool
		numaMin       int64
	}{
		{"v3.2", "SMT 0-1 | MC 0-3 | CPU 0-7 | NUMA 0-15", true, true, 8},
		{"v3.8", "SMT 0-1 | MC 0-3 | CPU 0-7 | NUMA 0-15", false, false, 16},
	} {
		s := newDomainScheduler(t, far, c.kernel)
		wantString(t, c.kernel, chainOf(s, 0), c.chain)
		for d := s.Domains(0); d != nil; d = d.Parent {
			want := map[string]Domain{
				"SMT":  {ImbalancePct: 110, BusyFactor: 64, MinInterval: 1, MaxInterval: 2},
				"MC":   {ImbalancePct: 125, BusyFactor: 64, MinInterval: 1, MaxInterval: 4, CacheNiceTries: 1, BusyIdx: 2},
				"CPU":  {ImbalancePct: 125, BusyFactor: 64, MinInterval: 1, MaxInterval: 4, CacheNiceTries: 1, BusyIdx: 2, IdleIdx: 1},
				"NUMA": {ImbalancePct: 125, BusyFactor: 32, MinInterval: c.numaMin, MaxInterval: 32, CacheNiceTries: 2, BusyIdx: 3, IdleIdx: 2},
			}[d.Name]
			got := Domain{ImbalancePct: d.ImbalancePct, BusyFactor: d.BusyFactor, MinInterval: d.MinInterval, MaxInterval: d.MaxInterval,
				CacheNiceTries: d.CacheNiceTries, BusyIdx: d.BusyIdx, IdleIdx: d.IdleIdx}
			if got.ImbalancePct != want.ImbalancePct || got.BusyFactor != want.BusyFactor || got.MinInterval != want.MinInterval ||
				got.MaxInterval != want.MaxInterval || got.CacheNiceTries != want.CacheNiceTries ||
				got.BusyIdx != want.BusyIdx || got.IdleIdx != want.IdleIdx {
				t.Errorf("%s %s: %+v, want %+v", c.kernel, d.Name, got, want)
			}
			prefers := map[string]bool{"MC": c.mcPrefers, "CPU": true}[d.Name]
			if d.has(FlagPreferSibling) != prefers {
				t.Errorf("%s %s: PREFER_SIBLING %v", c.kernel, d.Name, !prefers)
			}
			if affine := d.Name != "NUMA" || c.numaAffine; d.has(FlagWakeAffine) != affine || d.has(FlagBalanceFork) != affine {
				t.Errorf("%s %s: flags %s", c.kernel, d.Name, d.Flags)
			}
		}
	}
}

// v3.8 does not hand PREFER_SIBLING down: on one cache a node, CPU goes and MC
// does not get it. v4.14 gives it to MC.
func TestPreferenceIsForgotten38(t *testing.T) {
	m := machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 1}.build()
	for kernel, want := range map[string]bool{"v3.8": false, "v4.14": true} {
		if got := newDomainScheduler(t, m, kernel).Domains(0).has(FlagPreferSibling); got != want {
			t.Errorf("%s: MC prefers siblings: %v", kernel, got)
		}
	}
}
