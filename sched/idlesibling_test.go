package sched

import (
	"slices"
	"testing"
)

// 6.6: the budget of SIS_PROP over a span of 48. A budget of n tests n-1 CPUs.
func TestProportionalBudget(t *testing.T) {
	for _, c := range []struct {
		wakeAvgIdle, scanCost int64
		want                  int
	}{
		{1000, 11999, 3}, // 48000 > 4·12000 does not hold: 4
		{1001, 11999, 3}, // 48048 / 12000 = 4
		{2000, 11999, 7}, // 96000 / 12000 = 8
		{0, 0, 3},        // no idle time: still 4
		{1000, 0, 47999}, // 48000 / 1
	} {
		rq := &runqueue{llc: &Domain{avgScanCost: c.scanCost}}
		if got := proportionalTests(rq, 48, c.wakeAvgIdle); got != c.want {
			t.Errorf("idle %d, cost %d: %d tests, want %d", c.wakeAvgIdle, c.scanCost, got, c.want)
		}
	}
}

// The same budget at work on a busy LLC of 48 CPUs: what is looked at, and
// that a scan cut off by its budget leaves the statistics alone.
func TestBudgetBoundsTheScan(t *testing.T) {
	for wakeAvgIdle, want := range map[int64]int{1001: 3, 2000: 7} {
		lab := newPlacementLab(t, "v5.17", topo{1, 1, 48, 1})
		lab.allBusy()
		rq := &lab.rqs[0]
		rq.wakeAvgIdle, rq.llc.avgScanCost = wakeAvgIdle, 11999
		lab.wake(lab.task(0), 0, false)
		if got := len(lab.scanned()); got != want {
			t.Errorf("wake_avg_idle %d: looked at %d CPUs, want %d", wakeAvgIdle, got, want)
		}
		if rq.wakeAvgIdle != wakeAvgIdle || rq.llc.avgScanCost != 11999 {
			t.Errorf("a scan that ran out of budget changed the statistics to %d, %d", rq.wakeAvgIdle, rq.llc.avgScanCost)
		}
		if stats := lab.Stats(0); stats.SISFailed != 1 {
			t.Errorf("failed %d, want 1", stats.SISFailed)
		}
	}
}

// A finished scan is paid from wake_avg_idle and moves the average cost by an
// eighth. Three probes at 40 ns: 120; cost 1000 + (120−1000)/8 = 890.
func TestScanCostIsLearned(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", topo{1, 1, 8, 1})
	lab.busy(1, 0, 1, 2)
	rq := &lab.rqs[0]
	rq.llc.avgScanCost = 1000
	lab.prices.Probe = 40
	lab.wantCPU(lab.wake(lab.task(0), 0, false), 3)
	if rq.llc.avgScanCost != 890 {
		t.Errorf("avg_scan_cost %d, want 890", rq.llc.avgScanCost)
	}
	if want := int64(1_000_000 - 120); rq.wakeAvgIdle != want {
		t.Errorf("wake_avg_idle %d, want %d", rq.wakeAvgIdle, want)
	}
	// Not more is taken than there is.
	rq.wakeAvgIdle = 50
	lab.wake(lab.task(0), 0, false)
	if rq.wakeAvgIdle != 0 {
		t.Errorf("wake_avg_idle %d, want 0", rq.wakeAvgIdle)
	}
}

// 6.5, 6.7: a scan that went all around in vain is learned from as well, on every
// kernel. Four CPUs at 40 ns: 160; cost 1000 + (160-1000)/8 = 895.
func TestScanInVainIsLearnedFrom(t *testing.T) {
	for _, kernel := range []string{"v4.14", "v5.10", "v5.17"} {
		lab := newPlacementLab(t, kernel, oneCache)
		lab.allBusy()
		rq := &lab.rqs[0]
		rq.avgIdle, rq.wakeAvgIdle = second, second // no budget to speak of
		rq.llc.avgScanCost = 1000
		lab.prices.Probe = 40
		lab.wantCPU(lab.wake(lab.task(0), 0, false), 0)
		wantInt(t, kernel+": avg_scan_cost", rq.llc.avgScanCost, 895)
		wantInt(t, kernel+": scanned", lab.Stats(0).SISScanned, 1+4)
	}
}

// The cost belongs to the waker's own domain object, also when it searches
// another cache.
func TestScanCostBelongsToTheWaker(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", twoNodes)
	lab.busy(2, 0)
	lab.busy(1, 5)
	lab.prices.Probe = 80
	lab.wantCPU(lab.wake(lab.task(5), 0, false), 6)
	if here, there := lab.rqs[0].llc.avgScanCost, lab.rqs[5].llc.avgScanCost; here != 10 || there != 0 {
		t.Errorf("avg_scan_cost of the waker %d, of the target %d; want 80/8 = 10 and 0", here, there)
	}
}

// wake_avg_idle is halved for every jiffy since the stamp, down to zero, and
// the stamp stops where zero is reached.
func TestWakeAvgIdleDecays(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", oneCache)
	rq := &lab.rqs[0]
	rq.wakeAvgIdle, rq.wakeStamp, lab.jiffies = 1000, 10, 13
	lab.decayWakeAvgIdle(rq)
	if rq.wakeAvgIdle != 125 || rq.wakeStamp != 13 {
		t.Errorf("after 3 jiffies: %d at %d, want 125 at 13", rq.wakeAvgIdle, rq.wakeStamp)
	}
	lab.jiffies = 1_000_000
	lab.decayWakeAvgIdle(rq) // 125 needs 7 halvings
	if rq.wakeAvgIdle != 0 || rq.wakeStamp != 20 {
		t.Errorf("after very many: %d at %d, want 0 at 20", rq.wakeAvgIdle, rq.wakeStamp)
	}
}

// 6.6: idle_core on siblings (idle, sched-idle): not idle, but the first
// allowed one is remembered. Core 0 is CPUs 0 and 4.
func TestIdleCoreRemembersASingleCPU(t *testing.T) {
	for _, c := range []struct {
		name            string
		idle, idleClass []int
		allowed         []int
		core            bool
		single, visited int
	}{
		{"idle and sched-idle", []int{0}, []int{4}, nil, false, 0, 2},
		{"the idle one not allowed: the sched-idle one", []int{0}, []int{4}, []int{4, 5}, false, 4, 2},
		{"sched-idle first: remembered, no further look", []int{4}, []int{0}, nil, false, 0, 1},
		{"both sched-idle", nil, []int{0, 4}, nil, false, 0, 1},
		{"busy and idle", []int{4}, nil, nil, false, 4, 2},
		{"both busy", nil, nil, nil, false, noCPU, 2},
		{"both idle", []int{0, 4}, nil, nil, true, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newPlacementLab(t, "v5.17", topo{1, 1, 4, 2})
			lab.allBusy()
			lab.idles(c.idle...)
			lab.runsIdleClass(c.idleClass...)
			core, visited, single := coreIdle517(lab.Scheduler, lab.task(1, c.allowed...), 0, noCPU)
			if core != c.core || single != c.single || visited != c.visited {
				t.Errorf("idle %v, remembered %d, visited %d; want %v, %d, %d", core, single, visited, c.core, c.single, c.visited)
			}
		})
	}
}

// 6.6: has_idle_cores is cleared only after a full failed core scan.
func TestHintIsClearedOnlyByAFailedCoreScan(t *testing.T) {
	for _, kernel := range []string{"v4.14", "v5.10", "v5.17", "v6.1"} {
		lab := newPlacementLab(t, kernel, topo{1, 1, 4, 2})
		lab.allBusy()
		lab.idles(2, 6)
		shared := lab.rqs[0].llcShared
		shared.HasIdleCores, shared.NrIdleScan = true, 8
		lab.wantCPU(lab.wake(lab.task(0), 0, false), 2)
		if !shared.HasIdleCores {
			t.Errorf("%s: the hint is gone after a core was found", kernel)
		}
		lab.busy(1, 6)
		lab.wantCPU(lab.wake(lab.task(0), 0, false), 2)
		if shared.HasIdleCores {
			t.Errorf("%s: the hint survived a failed search", kernel)
		}
		stats := lab.Stats(0)
		if stats.SISCoreSearch != 2 || stats.SISCoreMiss != 1 {
			t.Errorf("%s: core searches %d, misses %d; want 2, 1", kernel, stats.SISCoreSearch, stats.SISCoreMiss)
		}
	}
}

// 5.5: a CPU that enters idle sets the hint when its siblings idle.
func TestUpdateIdleCore(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", topo{1, 1, 4, 2})
	shared := lab.rqs[0].llcShared
	lab.busy(1, 4)
	lab.updateIdleCore(&lab.rqs[0])
	if shared.HasIdleCores {
		t.Error("set although sibling 4 is busy")
	}
	lab.runsIdleClass(4)
	lab.updateIdleCore(&lab.rqs[0])
	if shared.HasIdleCores {
		t.Error("set although sibling 4 runs idle-class tasks")
	}
	lab.idles(4)
	lab.work = Work{}
	lab.updateIdleCore(&lab.rqs[4])
	lab.updateIdleCore(&lab.rqs[0])
	if !shared.HasIdleCores || lab.work.SharedLineWrite != 1 {
		t.Errorf("hint %v after %d writes, want true after 1", shared.HasIdleCores, lab.work.SharedLineWrite)
	}

	noSMT := newPlacementLab(t, "v5.17", oneCache)
	noSMT.updateIdleCore(&noSMT.rqs[0])
	if noSMT.rqs[0].llcShared.HasIdleCores {
		t.Error("set on a machine without SMT")
	}
}

// 6.5: nr_idle_scan by total utilization. An LLC of 48 CPUs with
// imbalance_pct 117; and of 4 (mechanisms-modern.md 1.7).
func TestNrIdleScan(t *testing.T) {
	for _, c := range []struct {
		weight        int
		sumUtil, want int64
	}{
		{48, 0, 48}, {48, 12 * 1024, 43}, {48, 24 * 1024, 31}, {48, 36 * 1024, 11}, {48, 41 * 1024, 0}, {48, 48 * 1024, 0},
		{4, 4096, 0}, {4, 2048, 2},
	} {
		lab := newPlacementLab(t, "v6.1", oneCache)
		d := &Domain{SpanWeight: c.weight, ImbalancePct: 117, Shared: &LLCShared{}}
		lab.updateNrIdleScan(d, c.sumUtil)
		if got := int64(d.Shared.NrIdleScan); got != c.want {
			t.Errorf("%d CPUs, util %d: %d, want %d", c.weight, c.sumUtil, got, c.want)
		}
	}
	lab := newPlacementLab(t, "v5.17", oneCache)
	d := &Domain{SpanWeight: 4, ImbalancePct: 117, Shared: &LLCShared{}}
	lab.updateNrIdleScan(d, 0)
	if d.Shared.NrIdleScan != 0 {
		t.Error("v5.17 has no SIS_UTIL, yet wrote nr_idle_scan")
	}
}

// 11.1 and 11.3: the counters of single searches, and what mmtests derives.
func TestSISCounters(t *testing.T) {
	percent := func(a, b int64) float64 { return float64(a*10000/b) / 100 }

	lab := newPlacementLab(t, "v5.17", topo{1, 1, 4, 2})
	lab.allBusy()
	lab.rqs[0].wakeAvgIdle = 0 // budget 4
	lab.wake(lab.task(0), 0, false)
	st := lab.Stats(0)
	if st.SISSearch != 1 || st.SISDomainSearch != 1 || st.SISScanned != 6 || st.SISFailed != 1 {
		t.Errorf("failed search: S=%d D=%d X=%d F=%d, want 1 1 6 1", st.SISSearch, st.SISDomainSearch, st.SISScanned, st.SISFailed)
	}
	fast := st.SISSearch - st.SISDomainSearch
	got := []float64{
		percent(st.SISSearch, st.SISScanned), percent(st.SISDomainSearch, st.SISScanned-fast),
		percent(fast, st.SISSearch), percent(st.SISSearch-st.SISFailed, st.SISSearch),
	}
	if want := []float64{16.66, 16.66, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("ratios %v, want %v (16.67 rounded down)", got, want)
	}

	// Recent hit and miss are counted only for an eligible CPU.
	recent := newPlacementLab(t, "v5.17", oneCache)
	recent.busy(1, 0, 1)
	task := recent.task(1)
	for _, r := range []int32{1, 0, 2} { // prev; target; eligible and idle
		task.recentUsed = r
		recent.wake(task, 0, true)
	}
	recent.busy(1, 2)
	task.recentUsed = 2 // eligible and busy
	recent.wake(task, 0, true)
	if st := recent.Stats(0); st.SISRecentHit != 1 || st.SISRecentMiss != 1 {
		t.Errorf("recent hits %d, misses %d; want 1, 1", st.SISRecentHit, st.SISRecentMiss)
	}
}

// They are counted on the waker's CPU, wherever the search takes place.
func TestSISCountersBelongToTheWaker(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", twoNodes)
	lab.busy(2, 0)
	lab.wake(lab.task(5), 0, false)
	if lab.Stats(0).SISSearch != 1 || lab.Stats(5).SISSearch != 0 {
		t.Errorf("searches: waker %d, target %d; want 1, 0", lab.Stats(0).SISSearch, lab.Stats(5).SISSearch)
	}
}

// A CPU without a cache domain: the search ends at the target and is not a
// failed one (11.1).
func TestNoCacheDomain(t *testing.T) {
	for _, kernel := range []string{"v4.14", "v5.10", "v5.17", "v6.1"} {
		lab := newPlacementLab(t, kernel, topo{1, 4, 1, 1})
		if lab.rqs[1].llc != nil {
			t.Fatal("this machine should have no cache domain")
		}
		lab.allBusy()
		lab.wantCPU(lab.wake(lab.task(1), 1, false), 1)
		lab.wantRule(RuleNoLLC)
		if st := lab.Stats(1); st.SISSearch != 1 || st.SISDomainSearch != 0 || st.SISFailed != 0 {
			t.Errorf("%s: S=%d D=%d F=%d, want 1 0 0", kernel, st.SISSearch, st.SISDomainSearch, st.SISFailed)
		}
	}
}

// The kernel-thread rule is for threads at work, not for interrupts that
// happen to strike while one runs.
func TestInterruptDoesNotStack(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", oneCache)
	lab.busy(1, 1)
	lab.rqs[1].curr.kthread = true
	lab.wantCPU(lab.wake(lab.task(1), 1, false), 1)
	lab.wantRule(RuleKthreadStacked)
	lab.InInterrupt(true)
	lab.wantCPU(lab.wake(lab.task(1), 1, false), 2)
	lab.wantRule(RuleIdleCPU)
}

// v5.10 marks the waker's CPU in the waker after an affine wakeup.
func TestWakerMarksItsCPU(t *testing.T) {
	for kernel, want := range map[string]int32{"v5.10": 2, "v5.17": 3} {
		lab := newPlacementLab(t, kernel, oneCache)
		lab.busy(1, 2)
		waker := lab.rqs[2].curr
		waker.recentUsed = 3
		lab.wake(lab.task(1), 2, false)
		if waker.recentUsed != want {
			t.Errorf("%s: the waker's recent_used_cpu is %d, want %d", kernel, waker.recentUsed, want)
		}
	}
}
