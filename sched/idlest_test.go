package sched

import (
	"testing"

	"github.com/schedlab/schedlab/machine"
)

// The state of idle CPUs decides among them: shallowest, then latest idle.
func TestIdlestCPUPrefersShallowThenRecentIdle(t *testing.T) {
	for _, c := range []struct {
		name  string
		exit  [4]int64 // exit latency
		stamp [4]int64
		want  int
	}{
		{"no idle driver: latest idle", [4]int64{}, [4]int64{10, 30, 20, 30}, 1},
		{"never ran: the first", [4]int64{}, [4]int64{}, 0},
		{"shallowest state, though idle for long", [4]int64{50, 2, 50, 50}, [4]int64{10, 5, 30, 40}, 1},
		{"same state: latest idle", [4]int64{2, 50, 2, 2}, [4]int64{10, 50, 30, 20}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newPlacementLab(t, "v5.17", oneCache)
			for cpu := range 4 {
				lab.SetIdleState(cpu, c.exit[cpu])
				lab.rqs[cpu].idleStamp = c.stamp[cpu]
			}
			g := &CPUGroup{Span: machine.MaskOf(4, 0, 1, 2, 3), Weight: 4}
			lab.wantCPU(lab.idlestCPU(g, lab.task(0), 0), c.want)
		})
	}
}

func TestIdlestCPUWithoutAnIdleOne(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", oneCache)
	lab.allBusy()
	for cpu, load := range []int64{900, 700, 700, 800} {
		lab.load(cpu, load)
	}
	all := &CPUGroup{Span: machine.MaskOf(4, 0, 1, 2, 3), Weight: 4}
	lab.wantCPU(lab.idlestCPU(all, lab.task(0), 0), 1) // ties: the first
	lab.wantCPU(lab.idlestCPU(all, lab.task(0, 2, 3), 0), 2)
	one := &CPUGroup{Span: machine.MaskOf(4, 3), Weight: 1}
	lab.wantCPU(lab.idlestCPU(one, lab.task(0, 1), 0), 3) // not even affinity is tested
}

// 7.1: a domain in which the task may use no CPU: it stays at prev, and the
// fallback moves it. Beyond the reclaim distance NUMA has no fork balancing,
// so that the widest domain is the node of CPUs 0 to 3.
func TestSlowPathOutsideTheDomain(t *testing.T) {
	m := twoNodes.build()
	m.Nodes[0].Distance[1], m.Nodes[1].Distance[0] = 40, 40
	s, err := New(NewConfig(m, &v517), nullDriver{})
	if err != nil {
		t.Fatal(err)
	}
	lab := &placementLab{Scheduler: s, t: t}
	s.Record(&lab.decision)
	task := lab.task(0, 5, 6)
	lab.wantCPU(lab.KernelPlacement(&Placement{Task: task, Prev: 0, Here: 0, Kind: KindFork}), 0)
	lab.wantCPU(lab.selectCPU(task, 0, 0, KindFork, false), 5)
	lab.wantRule(RuleFallback)
}

// 7.1: of groups of one type, the rules for overloaded ones at NUMA level.
// imbalance_pct 117: margin 1024·17/100 = 174.
func TestRemotePays(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", oneCache)
	numa := &Domain{ImbalancePct: 117, Flags: FlagNUMA, SpanWeight: 8}
	plain := &Domain{ImbalancePct: 117, SpanWeight: 8}
	for _, c := range []struct {
		name          string
		d             *Domain
		kind          groupType
		local, remote int64
		want          bool
	}{
		{"remote + margin not below local", numa, groupOverloaded, 1174, 1000, false},              // 1000+174 ≥ 1174
		{"just below: pays", numa, groupOverloaded, 1175, 1000, true},                              // 117500 > 117000
		{"small difference inside the node: pays by ratio", plain, groupFullyBusy, 600, 500, true}, // 60000 > 58500
		{"ratio not reached", plain, groupFullyBusy, 585, 500, false},                              // 58500 > 58500 no
		{"remote much heavier", plain, groupFullyBusy, 100, 274, false},
		{"imbalanced groups are not compared", plain, groupImbalanced, 9000, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			local := &groupChoice{groupStats: groupStats{kind: c.kind, avgLoad: c.local}}
			remote := &groupChoice{groupStats: groupStats{kind: c.kind, avgLoad: c.remote}}
			if got := lab.remotePays(c.d, lab.task(0), local, remote); got != c.want {
				t.Errorf("local %d, remote %d: pays = %v", c.local, c.remote, got)
			}
		})
	}
}

// Which remote group is best (7.1).
func TestIdlerThan(t *testing.T) {
	for _, c := range []struct {
		name    string
		g, best groupStats
		want    bool
	}{
		{"lower type", groupStats{kind: groupFullyBusy, avgLoad: 9}, groupStats{kind: groupOverloaded, avgLoad: 1}, true},
		{"higher type", groupStats{kind: groupOverloaded, avgLoad: 1}, groupStats{kind: groupHasSpare}, false},
		{"busy: less load", groupStats{kind: groupFullyBusy, avgLoad: 1}, groupStats{kind: groupFullyBusy, avgLoad: 2}, true},
		{"busy: equal load keeps the first", groupStats{kind: groupFullyBusy, avgLoad: 2}, groupStats{kind: groupFullyBusy, avgLoad: 2}, false},
		{"spare: more idle CPUs", groupStats{idleCPUs: 2, util: 9}, groupStats{idleCPUs: 1}, true},
		{"spare: as many, less utilization", groupStats{idleCPUs: 2, util: 8}, groupStats{idleCPUs: 2, util: 9}, true},
		{"spare: all equal keeps the first", groupStats{idleCPUs: 2, util: 9}, groupStats{idleCPUs: 2, util: 9}, false},
		{"imbalanced: keeps the first", groupStats{kind: groupImbalanced}, groupStats{kind: groupImbalanced}, false},
	} {
		if got := c.g.idlerThan(&c.best); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// The locality allowance of each version (7.1) for node sums as given, on a
// NUMA domain of 96 CPUs with imb_numa_nr 12.
func TestStaysOnNode(t *testing.T) {
	task := &Task{allowed: machine.MaskOf(64, 0, 1, 2, 3, 4, 5)}
	home := &CPUGroup{Span: machine.MaskOf(64, 0, 1, 2, 3, 4, 5, 6, 7)}
	for _, c := range []struct {
		name                 string
		rule                 func(nodeChoice) bool
		nr, idle, remoteIdle int32
		want                 bool
	}{
		{"v5.10: one idle", staysWhileAnyIdle, 47, 1, 48, true},
		{"v5.10: none idle", staysWhileAnyIdle, 48, 0, 48, false},
		{"v5.17: 23 < 96/4", staysBelowQuarter, 23, 25, 48, true},
		{"v5.17: 24 is not", staysBelowQuarter, 24, 24, 48, false},
		{"tip: 11 + 1 ≤ 12", staysWithinAllowance, 11, 37, 48, true},
		{"tip: 12 + 1 > 12", staysWithinAllowance, 12, 36, 48, false},
		{"v6.1: 5 + 1 ≤ min(6 allowed, 12)", staysWithinAllowanceIfEven, 5, 46, 48, true},
		{"v6.1: 6 + 1 > 6", staysWithinAllowanceIfEven, 6, 46, 48, false},
		{"v6.1: idle CPUs differ by 3", staysWithinAllowanceIfEven, 1, 45, 48, false},
		{"v6.1: by 2 the other way", staysWithinAllowanceIfEven, 1, 48, 46, true},
	} {
		choice := nodeChoice{
			domain: &Domain{SpanWeight: 96, ImbNUMANr: 12}, task: task,
			local:  groupChoice{home, groupStats{nr: c.nr, idleCPUs: c.idle}},
			remote: groupChoice{nil, groupStats{idleCPUs: c.remoteIdle}},
		}
		if got := c.rule(choice); got != c.want {
			t.Errorf("%s: stays = %v", c.name, got)
		}
	}
}

// A group counts as it would be without the task that execs in it.
func TestStatsWithoutTheTask(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", oneCache)
	lab.busy(1, 0, 1)
	lab.load(0, 1000)
	lab.load(1, 300)
	task := lab.rqs[0].curr
	task.se.avg.last, task.se.avg.loadAvg, task.se.avg.utilAvg, task.se.avg.runnableAvg = 0, 600, 700, 800
	g := &CPUGroup{Span: machine.MaskOf(4, 0, 1, 2, 3), Weight: 4, Cap: &GroupCapacity{Capacity: 4096}}
	got := lab.statsWithout(&Domain{ImbalancePct: 117}, g, task)
	want := groupStats{
		load: 1000 - 600 + 300, util: 1024 - 700 + 1024, runnable: 1024 - 800 + 1024,
		capacity: 4096, weight: 4, nr: 1, h: 1, idleCPUs: 3, kind: groupHasSpare,
	}
	if got != want {
		t.Errorf("sums %+v, want %+v", got, want)
	}
}

// v4.14 compares the loads of queued tasks first (7.2). Four CPUs, here is 0,
// imbalance_pct 117: margin 174, factor 108.
func TestIdlestGroup414ByLoad(t *testing.T) {
	for _, c := range []struct {
		name          string
		runnable, avg [4]int64
		want          int // CPU of the group, noCPU to stay
	}{
		// 1 sets the yardstick 0; 2 is within the margin, with less blocked
		// load: 100·2000 > 108·500. For 3, 180 < 0 + 174 does not hold: the
		// yardstick did not become 100 with the choice of 2.
		{"a second choice by average keeps the yardstick", [4]int64{3000, 0, 100, 180}, [4]int64{3000, 2000, 500, 100}, 2},
		{"clearly less runnable load replaces it", [4]int64{3000, 400, 100, 200}, [4]int64{3000, 0, 900, 900}, 2},
		// 200 > 0 + 174, whatever the averages are.
		{"remote clearly more loaded: stays", [4]int64{0, 200, 200, 200}, [4]int64{9999, 0, 0, 0}, noCPU},
		// 100 < 100 + 174 and 100·400 < 108·400.
		{"alike: stays", [4]int64{100, 100, 100, 100}, [4]int64{400, 400, 400, 400}, noCPU},
		// 100·432 < 108·400 does not hold.
		{"here heavier on average by the factor: goes", [4]int64{100, 100, 100, 100}, [4]int64{432, 400, 400, 400}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newPlacementLab(t, "v4.14", oneCache)
			for cpu := range 4 {
				lab.rqs[cpu].cfs.runnableLoadAvg = c.runnable[cpu]
				lab.rqs[cpu].cfs.avg.loadAvg = c.avg[cpu]
			}
			got := noCPU
			if g := idlestGroup414(lab.Scheduler, lab.rqs[0].sd, &Placement{Task: lab.task(0), Kind: KindFork}, 0); g != nil {
				got = g.Span.First()
			}
			if got != c.want {
				t.Errorf("group of CPU %d, want %d", got, c.want)
			}
		})
	}
}

// 7.1: before the sums are taken without a task that has slept, its averages
// are brought to the time of its old queue; a new task has none to bring.
func TestSlowPathSyncsTheTasksAverages(t *testing.T) {
	for kind, synced := range map[Kind]bool{KindWake: true, KindFork: false} {
		lab := newPlacementLab(t, "v5.17", oneCache)
		lab.rqs[0].sd.Flags |= FlagBalanceWake
		const halfLife = 32 << 20 // ns: 32 periods of 2^20
		lab.rqs[0].cfs.avg.last = halfLife
		task := lab.task(0)
		task.se.avg = Avg{last: 0, loadAvg: 1024, loadSum: peltMinDivider}
		lab.placeByDescent(lab.rqs[0].sd, &Placement{Task: task, Kind: kind})
		want := int64(1024)
		if synced {
			want = 512 // half of it is left after 32 periods
		}
		if got := task.se.avg.loadAvg; got < want-1 || got > want {
			t.Errorf("%v: load average %d, want %d", kind, got, want)
		}
	}
}
