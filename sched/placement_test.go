package sched

import (
	"testing"

	"github.com/schedlab/schedlab/machine"
)

// placementLab is a scheduler whose state a test sets by hand: which CPUs are
// busy, what loads they have, what tasks remember.
type placementLab struct {
	*Scheduler
	t        testing.TB
	decision Decision
}

// topo is a machine of nodes × llcs × cores × threads with the numbering of
// x86: all first threads, node by node, then all second ones.
type topo struct{ nodes, llcs, cores, threads int }

func (tp topo) build() *machine.Machine {
	cores := tp.nodes * tp.llcs * tp.cores
	n := cores * tp.threads
	m := &machine.Machine{Name: "test", CPUs: make([]machine.CPU, n), Nodes: make([]machine.Node, tp.nodes)}
	for i := range m.Nodes {
		m.Nodes[i] = machine.Node{ID: i, CPUs: machine.NewCPUMask(n), Distance: make([]int, tp.nodes)}
		for j := range m.Nodes[i].Distance {
			m.Nodes[i].Distance[j] = 21
		}
		m.Nodes[i].Distance[i] = 10
	}
	for cpu := range m.CPUs {
		core := cpu % cores
		llc := core / tp.cores
		node := llc / tp.llcs
		m.CPUs[cpu] = machine.CPU{Online: true, Core: core, Cluster: -1, LLC: llc, Package: node, Node: node, Capacity: 1024}
		m.Nodes[node].CPUs.Set(cpu)
	}
	return m
}

type nullDriver struct{}

func (nullDriver) Resched(int)                 {}
func (nullDriver) WakeIPI(int)                 {}
func (nullDriver) NohzKick(int)                {}
func (nullDriver) ArmTimer(int, int64, *Timer) {}
func (nullDriver) UnthrottleIPI(int)           {}
func (nullDriver) ThrottleWork(int)            {}
func (nullDriver) ArmSliceEnd(int, int64)      {}
func (nullDriver) StopperKick(int)             {}
func (nullDriver) BalanceSoftirq(int)          {}

func newPlacementLab(t testing.TB, kernel string, tp topo, features ...string) *placementLab {
	t.Helper()
	return newPlacementLabOn(t, kernel, tp.build(), features...)
}

func newPlacementLabOn(t testing.TB, kernel string, m *machine.Machine, features ...string) *placementLab {
	t.Helper()
	profile, err := LookupProfile(kernel)
	if err != nil {
		t.Fatal(err)
	}
	cfg := NewConfig(m, profile)
	for _, f := range features {
		if err := cfg.SetFeature(f); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(cfg, nullDriver{})
	if err != nil {
		t.Fatal(err)
	}
	lab := &placementLab{Scheduler: s, t: t}
	s.Record(&lab.decision)
	return lab
}

// task makes a sleeping task with a load average of 1024 that last ran on
// prev; without allowed CPUs it may run anywhere.
func (l *placementLab) task(prev int, allowed ...int) *Task {
	spec := TaskSpec{ID: 100, CPU: prev}
	if len(allowed) > 0 {
		spec.Allowed = machine.MaskOf(len(l.rqs), allowed...)
	}
	return l.NewTask(spec)
}

// busy puts n tasks on each CPU, one of them running, all the time so far.
func (l *placementLab) busy(n int, cpus ...int) {
	for _, cpu := range cpus {
		rq := &l.rqs[cpu]
		rq.nr, rq.cfs.h, rq.cfs.hIdle = int32(n), int32(n), 0
		rq.curr = l.NewTask(TaskSpec{ID: int32(cpu), CPU: cpu})
		rq.curr.queued = true
		rq.cfs.avg.utilAvg, rq.cfs.avg.runnableAvg = 1024, 1024*int64(n)
		l.refreshIdle(rq)
	}
}

// runsIdleClass puts one SCHED_IDLE task on each CPU.
func (l *placementLab) runsIdleClass(cpus ...int) {
	for _, cpu := range cpus {
		l.busy(1, cpu)
		l.rqs[cpu].cfs.hIdle = 1
		l.refreshIdle(&l.rqs[cpu])
	}
}

func (l *placementLab) idles(cpus ...int) {
	for _, cpu := range cpus {
		rq := &l.rqs[cpu]
		rq.nr, rq.cfs.h, rq.cfs.hIdle, rq.curr = 0, 0, 0, nil
		rq.cfs.avg.utilAvg, rq.cfs.avg.runnableAvg = 0, 0
		l.refreshIdle(rq)
	}
}

func (l *placementLab) allBusy() { l.busy(1, l.online.CPUs()...) }

// load gives a CPU a load average. The factor of its queue is set so that the
// h_load of its tasks equals their own load average.
func (l *placementLab) load(cpu int, load int64) {
	cfs := &l.rqs[cpu].cfs
	cfs.avg.loadAvg, cfs.runnableLoadAvg = load, load
	cfs.hLoad, cfs.hLoadJiffy = load+1, l.jiffies+1
}

// wake places a wakeup without carrying it out.
func (l *placementLab) wake(t *Task, here int, sync bool) int {
	return l.selectCPU(t, int(t.cpu), here, KindWake, sync)
}

func (l *placementLab) wantCPU(got, want int) {
	l.t.Helper()
	if got != want {
		l.t.Errorf("placed on CPU %d, want %d; %+v", got, want, l.decision)
	}
}

func (l *placementLab) wantRule(want Rule) {
	l.t.Helper()
	if l.decision.Rule != want {
		l.t.Errorf("decided by %q, want %q; %+v", l.decision.Rule, want, l.decision)
	}
}

func (l *placementLab) wantAffine(want AffineReason) {
	l.t.Helper()
	if l.decision.Affine != want {
		l.t.Errorf("wake_affine decided by %q, want %q", l.decision.Affine, want)
	}
}

// scanned lists the CPUs that the scan tested.
func (l *placementLab) scanned() []int {
	var cpus []int
	for _, c := range l.decision.Candidates {
		if c.Step == RuleIdleCPU && (c.Verdict == VerdictBusy || c.Verdict == VerdictTaken) {
			cpus = append(cpus, int(c.CPU))
		}
	}
	return cpus
}

// xeon8260 is the machine of document 000: 2 nodes × 24 cores × 2 threads,
// siblings c and c+48.
var xeon8260 = topo{2, 1, 24, 2}
