package sched

import (
	"fmt"
	"testing"

	"github.com/schedlab/schedlab/machine"
)

// The numbers of the tests are those of mechanisms-modern.md 7.

var modernKernels = []string{"v6.12", "v7.2"}

// 7.1 and 1.3: children start with their parent's flips. L is 4.
func TestModernWideByInheritance(t *testing.T) {
	for _, kernel := range modernKernels {
		for _, c := range []struct {
			parent, sender int32
			want           AffineReason
		}{
			{6, 24, AffineWide},    // 6 ≥ 4 and 24 ≥ 4·6
			{6, 23, AffineSync},    // 23 < 24
			{3, 40, AffineSync},    // 3 < 4
			{6, 40, AffineWide},    // 40 ≥ 24
			{11, 40, AffineSync},   // 40 < 44
			{10, 40, AffineWide},   // 40 ≥ 40
			{4, 15, AffineSync},    // 15 < 16
			{100, 399, AffineSync}, // 399 < 400
		} {
			l := newPlacementLabOn(t, kernel, realMachine())
			parent := l.NewTask(TaskSpec{ID: 1, CPU: 2})
			parent.flips = c.parent
			receiver := l.NewTask(TaskSpec{ID: 2, CPU: 2})
			l.Fork(0, 2, parent, receiver)
			if receiver.flips != c.parent {
				t.Fatalf("%s: child of flips %d has %d", kernel, c.parent, receiver.flips)
			}
			l.allBusy()
			sender := l.rqs[0].curr
			sender.flips, sender.lastWakee = c.sender, receiver
			l.selectCPU(receiver, 2, 0, KindWake, true)
			if got := l.decision.Affine; got != c.want {
				t.Errorf("%s: parent %d, sender %d: %s, want %s", kernel, c.parent, c.sender, got, c.want)
			}
		}
	}
}

// 7.2 and 1.2: A on CPU 0 wakes B, which waits on CPU 3 for its delayed
// dequeue behind C, while other CPUs idle.
func TestDelayedWakeeStays(t *testing.T) {
	for _, kernel := range modernKernels {
		for _, delayed := range []bool{true, false} {
			l := newBalanceLab(t, kernel, realMachine())
			a := l.spin(0, 1)[0]
			b := l.spin(3, 2)[1]
			if l.rqs[3].curr == b {
				t.Fatalf("%s: B runs instead of C", kernel)
			}
			flips := a.flips
			b.recentUsed = 1
			searches := l.Stats(0).SISSearch
			l.SetDelayed(l.now, b, true)
			if !delayed {
				l.DropDelayed(l.now, b)
			}
			if got := l.Delayed(3); delayed && got != 1 || !delayed && got != 0 {
				t.Fatalf("%s: %d delayed tasks", kernel, got)
			}
			cpu := l.Wake(l.now, 0, b, false)
			selected := l.Stats(0).SISSearch - searches
			if delayed && (cpu != 3 || selected != 0 || a.flips != flips || b.recentUsed != 1 || b.delayed || l.Delayed(3) != 0) {
				t.Errorf("%s, delayed: CPU %d, %d searches, flips %d, delayed %v", kernel, cpu, selected, a.flips-flips, b.delayed)
			}
			if !delayed && (cpu == 3 || selected != 1 || a.flips != flips+1) {
				t.Errorf("%s, asleep: CPU %d, %d searches, flips %d", kernel, cpu, selected, a.flips-flips)
			}
			if err := l.CheckInvariants(); delayed && err != nil {
				t.Errorf("%s: %v", kernel, err)
			}
		}
	}
}

// 7.3 and 1.5: the waker's CPU counts as free when its other task is delayed;
// otherwise the loads decide, here for prev: 3000-1024+1024 > 2000-1024+1.
func TestModernSyncIgnoresDelayed(t *testing.T) {
	for _, kernel := range modernKernels {
		for delayed, want := range []AffineReason{AffineUndecided, AffineSync} {
			l := newPlacementLabOn(t, kernel, realMachine())
			l.allBusy()
			l.busy(2, 0)
			l.rqs[0].cfs.delayed = int32(delayed)
			l.load(0, 3000)
			l.load(4, 2000)
			l.wake(l.task(4), 0, true)
			l.wantAffine(want)
		}
	}
}

// 7.4 and 1.6: the target runs only SCHED_IDLE work, CPU 3 idles.
func TestIdleClassWakeePassesSchedIdle(t *testing.T) {
	for _, c := range []struct {
		kernel string
		policy Policy
		want   int
	}{
		{"v6.12", PolicyIdle, 1}, {"v6.12", PolicyNormal, 1},
		{"v7.2", PolicyIdle, 3}, {"v7.2", PolicyNormal, 1},
	} {
		l := newPlacementLabOn(t, c.kernel, realMachine())
		l.allBusy()
		l.runsIdleClass(1)
		l.idles(3)
		l.rqs[0].llcShared.NrIdleScan = 4
		task := l.NewTask(TaskSpec{ID: 100, CPU: 1, Policy: c.policy})
		l.wantCPU(l.wake(task, 1, false), c.want)
	}
}

// Each step of the search asks the same: prev, recent, sibling, scan and the
// idle-core fallback.
func TestIdleClassWakeeInEveryStep(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(l *placementLab, task *Task)
		cpu  int // with SCHED_IDLE work only
	}{
		{"prev", func(_ *placementLab, task *Task) { task.cpu = 2 }, 2},
		{"recent", func(_ *placementLab, task *Task) { task.cpu, task.recentUsed = 3, 2 }, 2},
		{"sibling", func(_ *placementLab, task *Task) { task.cpu = 3 }, 2},
		{"scan", func(_ *placementLab, task *Task) { task.cpu = 4 }, 2},
		{"idle core fallback", func(l *placementLab, task *Task) {
			task.cpu = 4
			l.rqs[0].llcShared.HasIdleCores = true
		}, 2},
	} {
		for _, policy := range []Policy{PolicyNormal, PolicyIdle} {
			l := newPlacementLabOn(t, "v7.2", realMachine())
			l.allBusy()
			l.runsIdleClass(c.cpu)
			task := l.NewTask(TaskSpec{ID: 100, CPU: 0, Policy: policy})
			c.set(l, task)
			want := c.cpu
			if policy == PolicyIdle {
				want = 0 // nothing idle: the target
			}
			prev := int(task.cpu)
			l.beginDecision(&Placement{Task: task, Prev: prev, Here: 0})
			p := &Placement{Task: task, Prev: prev, Here: 0, Kind: KindWake}
			if got := l.selectIdleSibling(p, 0); got != want {
				t.Errorf("%s, %s: CPU %d, want %d; %+v", c.name, policy, got, want, l.decision)
			}
			l.Record(nil) // the other form of the scan
			if got := l.selectIdleSibling(p, 0); got != want {
				t.Errorf("%s, %s, by words: CPU %d, want %d", c.name, policy, got, want)
			}
		}
	}
}

// 7.16: before the first balance pass v6.12 scans nothing, v7.2 the whole
// cache, idle core in sight or not.
func TestScanBeforeTheFirstBalance(t *testing.T) {
	for kernel, want := range map[string]int{"v6.12": 0, "v7.2": 3} {
		l := newPlacementLabOn(t, kernel, realMachine())
		l.allBusy()
		l.idles(3)
		l.wantCPU(l.wake(l.task(0), 0, false), want)
	}
}

// 1.7: LLC of 4, pct 117. Σutil 4096: x = 1024, t = min(1369, 1024), 0 CPUs.
// 2048: x = 512, t = 512²·13689/10240000 = 350, (674·4)/1024 = 2 CPUs.
func TestModernScanBudget(t *testing.T) {
	for _, kernel := range modernKernels {
		l := newPlacementLabOn(t, kernel, realMachine())
		for _, c := range []struct{ util, want int64 }{{4096, 0}, {2048, 2}} {
			l.updateNrIdleScan(l.rqs[0].llc, c.util)
			wantInt(t, kernel, int64(l.rqs[0].llcShared.NrIdleScan), c.want)
		}
		l.allBusy()
		l.wake(l.task(0), 0, false)
		wantString(t, "two CPUs looked at", fmt.Sprint(l.scanned()), "[1 2]")
	}
}

// 1.8: one task runs on node 0, and forks. imb_numa_nr is 1, 1+1 > 1: no
// allowance; 3 idle CPUs here, 4 there. With two nodes as idle it stays.
func TestModernForkLeavesTheNode(t *testing.T) {
	for _, kernel := range modernKernels {
		l := newPlacementLabOn(t, kernel, realMachine())
		l.busy(1, 0)
		l.wantCPU(l.selectCPU(l.task(0), 0, 0, KindFork, false), 4)
		l.busy(1, 4)
		if cpu := l.selectCPU(l.task(0), 0, 0, KindFork, false); cpu != 2 {
			t.Errorf("%s: as many idle CPUs on both nodes: CPU %d, want the idle core 2", kernel, cpu)
		}
	}
}

// 1.8: the slow path's shortcut to a sched-idle CPU.
func TestModernSlowPathOfIdleTask(t *testing.T) {
	for _, c := range []struct {
		kernel string
		policy Policy
		want   int
	}{{"v6.12", PolicyIdle, 2}, {"v7.2", PolicyIdle, 3}, {"v7.2", PolicyNormal, 2}} {
		l := newPlacementLabOn(t, c.kernel, realMachine())
		l.allBusy()
		l.runsIdleClass(2)
		l.idles(3)
		task := l.NewTask(TaskSpec{ID: 100, CPU: 0, Policy: c.policy})
		g := &CPUGroup{Span: machine.MaskOf(8, 2, 3), Weight: 2}
		l.wantCPU(l.idlestCPU(g, task, 0), c.want)
	}
}

// 1.1: asked to stay, the wakee goes to the waker's CPU; flips count.
func TestStayHere(t *testing.T) {
	l := newPlacementLabOn(t, "v7.2", realMachine())
	l.busy(3, 0)
	waker := l.rqs[0].curr
	place := func(task *Task) int {
		p := &Placement{Task: task, Prev: 5, Here: 0, Kind: KindWake, StayHere: true}
		l.beginDecision(p)
		return l.KernelPlacement(p)
	}
	l.wantCPU(place(l.task(5)), 0)
	l.wantRule(RuleStayHere)
	wantInt(t, "flips", int64(waker.flips), 1)
	l.wantCPU(place(l.task(5, 5, 6)), 5) // not allowed here
}

// 1.2: who gets the wakee by its wake list.
func TestModernRemoteQueueing(t *testing.T) {
	for _, kernel := range modernKernels {
		l := newPlacementLabOn(t, kernel, realMachine())
		l.busy(1, 1)
		task := l.task(0)
		for _, c := range []struct {
			name string
			cpu  int
			want bool
		}{
			{"other LLC", 4, true}, {"own CPU", 0, false}, {"same LLC, empty", 2, true}, {"same LLC, with a task", 1, false},
		} {
			if got := l.profile.Wake.queueRemotely(l.Scheduler, task, 0, c.cpu); got != c.want {
				t.Errorf("%s, %s: %v", kernel, c.name, got)
			}
		}
	}
}

// clusterMachine has one LLC with two clusters of four cores, CPUs 0-3 and 4-7.
func clusterMachine() *machine.Machine {
	return machineSpec{nodes: 1, llcs: 1, cores: 8, threads: 1, clusterCores: 4}.build()
}

// 1.6: prev and recent are taken at once only in the target's cluster, else
// after the search, prev first.
func TestClusterKeepsOwnCPUsForLater(t *testing.T) {
	for _, c := range []struct {
		name         string
		kernel       string
		prev, recent int
		idle         []int
		want         int
		rule         Rule
	}{
		{"prev in the cluster", "v6.12", 1, 1, []int{1, 2}, 1, RulePrevIdle},
		{"prev in the other one, another idle here", "v6.12", 5, 5, []int{3, 5}, 3, RuleIdleCPU},
		{"before clusters prev wins", "v6.1", 5, 5, []int{3, 5}, 5, RulePrevIdle},
		{"prev kept", "v6.12", 5, 5, []int{5}, 5, RulePrevIdle},
		{"recent in the cluster goes before the prev that is kept", "v6.12", 5, 2, []int{2, 5}, 2, RuleRecentUsed},
		{"both kept", "v7.2", 5, 6, []int{5, 6}, 5, RulePrevIdle},
		{"recent kept", "v7.2", 5, 6, []int{6}, 6, RuleRecentUsed},
		{"nothing", "v7.2", 5, 6, nil, 0, RuleTarget},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newPlacementLabOn(t, c.kernel, clusterMachine())
			l.allBusy()
			l.idles(c.idle...)
			// The budget ends with the target's cluster: kept CPUs are outside it.
			l.rqs[0].llcShared.NrIdleScan = 3
			task := l.task(c.prev)
			task.recentUsed = int32(c.recent)
			p := &Placement{Task: task, Prev: c.prev, Here: 0, Kind: KindWake}
			l.beginDecision(p)
			l.wantCPU(l.selectIdleSibling(p, 0), c.want)
			l.wantRule(c.rule)
			wantInt(t, "recent_used", int64(task.recentUsed), map[bool]int64{true: int64(c.recent), false: int64(c.prev)}[c.prev == 1])
		})
	}
}

// 1.7: first the target's cluster from the next CPU on, then the rest of the
// cache; one budget for both.
func TestClusterScanOrder(t *testing.T) {
	for _, c := range []struct {
		budget int32
		want   string
	}{{8, "[7 4 5 6 0 1 2 3]"}, {5, "[7 4 5 6 0]"}, {4, "[7 4 5 6]"}, {2, "[7 4]"}} {
		l := newPlacementLabOn(t, "v7.2", clusterMachine())
		l.allBusy()
		l.rqs[0].llcShared.NrIdleScan = c.budget
		l.wake(l.task(6), 6, false)
		wantString(t, fmt.Sprintf("budget %d", c.budget), fmt.Sprint(l.scanned()), c.want)
		wantInt(t, "scanned", l.Stats(6).SISScanned, int64(c.budget)+1) // and the shortcuts
	}
}

// 1.7: an idle core of the own cluster is preferred; the single CPU that is
// met on the way survives the change of cluster.
func TestClusterIdleCore(t *testing.T) {
	smt := machineSpec{nodes: 1, llcs: 1, cores: 4, threads: 2, clusterCores: 2, adjacent: true}.build() // clusters 0-3 and 4-7
	for _, c := range []struct {
		name string
		idle []int
		want int
	}{
		{"own cluster first", []int{2, 3, 4, 5}, 2},
		{"then the other", []int{3, 4, 5, 6, 7}, 4},
		{"the single one of the own cluster", []int{3, 5}, 3},
	} {
		for _, recorded := range []bool{true, false} {
			l := newPlacementLabOn(t, "v6.12", smt)
			l.allBusy()
			l.idles(c.idle...)
			l.rqs[0].llcShared.HasIdleCores, l.rqs[0].llcShared.NrIdleScan = true, 8
			if !recorded {
				l.Record(nil)
			}
			if cpu := l.wake(l.task(0), 0, false); cpu != c.want {
				t.Errorf("%s (recorded %v): CPU %d, want %d", c.name, recorded, cpu, c.want)
			}
			wantHint := c.want != 3
			if l.hasIdleCores(0) != wantHint {
				t.Errorf("%s: hint %v", c.name, !wantHint)
			}
		}
	}
}

// Where L2 caches belong to single cores nothing of this applies: v6.12 places
// as v6.1 does.
func TestWithoutClustersAsBefore(t *testing.T) {
	for _, idle := range [][]int{{}, {1}, {2}, {3}, {5}, {1, 2}, {2, 3}, {4, 5, 6, 7}} {
		var got [2]int
		for i, kernel := range []string{"v6.1", "v6.12"} {
			l := newPlacementLabOn(t, kernel, realMachine())
			l.allBusy()
			l.idles(idle...)
			l.rqs[0].llcShared.NrIdleScan = 4
			task := l.task(3)
			task.recentUsed = 2
			got[i] = l.wake(task, 0, false)
		}
		if got[0] != got[1] {
			t.Errorf("idle %v: CPU %d before, %d now", idle, got[0], got[1])
		}
	}
}

// 1.2: B is put on its queue again where it is, and then it is asked whether it
// preempts; C, when it is ahead of the average and so not eligible, has to go. A
// third task waits for a late deadline.
func TestDelayedWakeePreemptsWhereItIs(t *testing.T) {
	for _, kernel := range modernKernels {
		for _, ahead := range []int64{0, 10_000_000} {
			l := newBalanceLab(t, kernel, realMachine())
			l.spin(0, 1)
			tasks := l.spin(3, 3)
			b, third, cfs := tasks[1], tasks[2], &l.rqs[3].cfs
			c := l.rqs[3].curr
			for _, waits := range []*Task{b, third} {
				l.stepOut(cfs, &waits.se)
				waits.se.vruntime, waits.se.deadline = c.se.vruntime, c.se.vruntime+100_000_000
				l.lineUp(cfs, &waits.se)
			}
			l.SetDelayed(l.now, b, true)
			c.se.vruntime += ahead
			l.Wake(l.now, 0, b, false)
			if got := l.NeedResched(3); got != (ahead > 0) {
				t.Errorf("%s, C %d ns ahead: CPU 3 asked to reschedule %v", kernel, ahead, got)
			}
		}
	}
}

// 1.2, the end of the example: had CPU 3 gone idle, B would have left its queue
// (2.5), and its wakeup is one like any other.
func TestDelayedWakeeOfACPUThatWentIdle(t *testing.T) {
	for _, kernel := range modernKernels {
		l := newBalanceLab(t, kernel, realMachine())
		a := l.spin(0, 1)[0]
		b := l.spin(3, 2)[1]
		l.SetDelayed(l.now, b, true)
		l.Schedule(l.now, 3, true) // C sleeps
		if b.Queued() || !l.Idle(3) {
			t.Fatalf("%s: B queued %v, CPU 3 idle %v", kernel, b.Queued(), l.Idle(3))
		}
		flips, searches := a.flips, l.Stats(0).SISSearch
		if cpu := l.Wake(l.now, 0, b, false); cpu != 3 || a.flips != flips+1 || l.Stats(0).SISSearch != searches+1 {
			t.Errorf("%s: CPU %d after %d searches, %d flips; want 3 after one, with one flip", kernel, cpu, l.Stats(0).SISSearch-searches, a.flips-flips)
		}
	}
}

// 1.2 and 1.3: the wakeup of a pinned task has no choice of a CPU and no flip, but
// keeps its CPU from being idle until that has handled its wake list.
func TestPinnedWakeupMakesItsCPUBusy(t *testing.T) {
	for _, kernel := range modernKernels {
		l := newBalanceLab(t, kernel, realMachine())
		a := l.spin(0, 1)[0]
		pinned := l.NewTask(TaskSpec{ID: 100, CPU: 4, Allowed: machine.MaskOf(8, 4)})
		flips, searches := a.flips, l.Stats(0).SISSearch
		if cpu := l.Wake(l.now, 0, pinned, false); cpu != 4 || l.Idle(4) || !l.WakeListPending(4) {
			t.Errorf("%s: CPU %d, idle %v, wakeup pending %v; want 4, no, yes", kernel, cpu, l.Idle(4), l.WakeListPending(4))
		}
		if a.flips != flips || l.Stats(0).SISSearch != searches {
			t.Errorf("%s: %d flips, %d searches; want none", kernel, a.flips-flips, l.Stats(0).SISSearch-searches)
		}
	}
}

// 1.3: a wakeup by an interrupt counts for whoever is current, and nothing clears
// the count, an exec neither.
func TestFlipsOfInterruptsAndExec(t *testing.T) {
	for _, kernel := range modernKernels {
		l := newPlacementLabOn(t, kernel, realMachine())
		l.busy(1, 0)
		shell := l.rqs[0].curr
		shell.flips = 6
		l.InInterrupt(true)
		l.wake(l.task(2), 0, false)
		l.InInterrupt(false)
		wantInt(t, kernel+": flips of a task that a timer interrupts", int64(shell.flips), 7)
		shell.se.avg.last = 0
		l.Exec(l.now, 0)
		wantInt(t, kernel+": flips after exec", int64(shell.flips), 7)
	}
}

// 1.5: the steps of wake_affine in their order; CPUs 0 and 1 share a cache, CPU 4
// is on the other node. The wakee's load is 1024.
func TestModernAffineSteps(t *testing.T) {
	for _, kernel := range modernKernels {
		for _, c := range []struct {
			name               string
			prev               int
			here, there        int // tasks on each
			sync               bool
			hereLoad, prevLoad int64
			cpu                int
			why                AffineReason
		}{
			{"both idle in one cache: prev", 1, 0, 0, false, 0, 0, 1, AffineIdlePrev},
			{"here idle, prev not: here", 1, 0, 1, false, 0, 0, 0, AffineIdleHere},
			{"here idle, but in another cache: the loads", 4, 0, 1, false, 9999, 0, 4, AffineUndecided},
			{"sync goes before an idle prev", 1, 1, 0, true, 0, 0, 0, AffineSync},
			{"prev idle, whatever its load", 4, 1, 0, false, 0, 9999, 4, AffineIdlePrev},
			// NUMA and MC have 117: the factor is 108. 100·(0+1024) < 108·(2048−1024).
			{"less here", 4, 2, 1, false, 0, 2048, 0, AffineWeight},
			// 100·(1024+1024) against 108·(2048−1024).
			{"not less here", 4, 2, 1, false, 1024, 2048, 4, AffineUndecided},
		} {
			l := newPlacementLabOn(t, kernel, realMachine())
			for cpu, n := range map[int]int{0: c.here, c.prev: c.there} {
				if n > 0 {
					l.busy(n, cpu)
				}
			}
			l.load(0, c.hereLoad)
			l.load(c.prev, c.prevLoad)
			task := l.task(c.prev)
			task.se.avg.loadAvg = 1024
			if cpu, why := l.decideAffine(task, 0, c.sync); cpu != c.cpu || why != c.why {
				t.Errorf("%s, %s: CPU %d by %q, want CPU %d by %q", kernel, c.name, cpu, why, c.cpu, c.why)
			}
		}
	}
}

// 1.5: without a bias equal loads keep the wakee at prev, but a sync waker's one
// more pulls it: 1536−512+1024 against 3072−1024.
func TestModernEqualLoads(t *testing.T) {
	for _, kernel := range modernKernels {
		for _, c := range []struct {
			sync     bool
			hereLoad int64
			want     int
		}{{false, 1024, 1}, {true, 1536, 0}, {true, 1537, 1}} {
			l := newPlacementLabOn(t, kernel, realMachine(), "NO_WA_BIAS")
			l.busy(2, 0, 1)
			l.load(0, c.hereLoad)
			l.load(1, 3072)
			l.rqs[0].curr.se.avg.loadAvg = 512
			task := l.task(1)
			task.se.avg.loadAvg = 1024
			if cpu, _ := l.decideAffine(task, 0, c.sync); cpu != c.want {
				t.Errorf("%s, sync %v, load %d here: CPU %d, want %d", kernel, c.sync, c.hereLoad, cpu, c.want)
			}
		}
	}
}

// 1.7: a budget of nobody ends the search also where an idle core is claimed,
// and there is one; any other is not used up by the search for that core.
func TestModernBudgetAndIdleCores(t *testing.T) {
	smt := machineSpec{nodes: 1, llcs: 1, cores: 4, threads: 2, adjacent: true}.build()
	for _, kernel := range modernKernels {
		for budget, want := range map[int32]int{0: 0, 1: 6} {
			l := newPlacementLabOn(t, kernel, smt)
			l.allBusy()
			l.idles(6, 7)
			l.rqs[0].llcShared.HasIdleCores, l.rqs[0].llcShared.NrIdleScan = true, budget
			if cpu := l.wake(l.task(0), 0, false); cpu != want {
				t.Errorf("%s, nr_idle_scan %d, only the last core idles: CPU %d, want %d", kernel, budget, cpu, want)
			}
		}
	}
}

// 1.7: a failed search for an idle core takes the claim back.
func TestModernClaimIsTakenBack(t *testing.T) {
	for _, kernel := range modernKernels {
		l := newPlacementLabOn(t, kernel, realMachine())
		l.allBusy()
		l.rqs[0].llcShared.HasIdleCores, l.rqs[0].llcShared.NrIdleScan = true, 4
		l.wantCPU(l.wake(l.task(0), 0, false), 0)
		if l.hasIdleCores(0) {
			t.Errorf("%s: an idle core is still claimed", kernel)
		}
	}
}

// 1.8: within the allowance of imb_numa_nr = 2, and with as many idle CPUs but for
// two, a fork stays on its node although the other has more; of two allowed CPUs
// here the allowance is no more than one.
func TestModernForkWithinTheAllowance(t *testing.T) {
	m := machineSpec{nodes: 2, llcs: 2, cores: 2, threads: 2}.build() // 2 LLCs a node: imb_numa_nr 2
	for _, kernel := range modernKernels {
		for _, c := range []struct {
			name    string
			busy    []int
			allowed []int
			node    int
		}{
			{"one here: 1+1 <= 2", []int{0}, nil, 0},
			{"two here: 2+1 > 2", []int{0, 1}, nil, 1},
			{"of the CPUs here one is allowed: 1+1 > 1", []int{0}, []int{1, 4, 5}, 1},
		} {
			l := newPlacementLabOn(t, kernel, m)
			if got := topDomain(l.Scheduler, 0).ImbNUMANr; got != 2 {
				t.Fatalf("imb_numa_nr %d, want 2", got)
			}
			l.busy(1, c.busy...)
			cpu := l.selectCPU(l.task(0, c.allowed...), 0, 0, KindFork, false)
			if got := l.scratch.nodeOf[cpu]; int(got) != c.node {
				t.Errorf("%s, %s: CPU %d of node %d, want node %d", kernel, c.name, cpu, got, c.node)
			}
		}
	}
}

// 1.8: the sums of the slow path count delayed tasks in v6.12, not in v7.2; both have
// them in nr_running.
func TestSlowPathSumsAndDelayedTasks(t *testing.T) {
	for kernel, want := range map[string]int32{"v6.12": 3, "v7.2": 2} {
		l := newBalanceLab(t, kernel, realMachine())
		delayed := l.spin(0, 3)[2]
		l.SetDelayed(l.now, delayed, true)
		sums := l.statsWithout(l.domain(0, "MC"), l.domain(0, "MC").Groups, l.NewTask(TaskSpec{ID: 100, CPU: 4}))
		if sums.h != want || sums.nr != 3 {
			t.Errorf("%s: h %d, nr %d; want %d and 3", kernel, sums.h, sums.nr, want)
		}
	}
}
