package sched

import "testing"

// The affine decision between CPU 0 (here) and CPU 1 (prev) of one cache, or
// of two nodes.
var (
	oneCache = topo{1, 1, 4, 1}
	twoNodes = topo{2, 1, 4, 1}
)

// decideAffine asks wake_affine alone, over the lowest domain that holds both.
func (l *placementLab) decideAffine(task *Task, here int, sync bool) (int, AffineReason) {
	p := &Placement{Task: task, Prev: int(task.cpu), Here: here, Sync: sync}
	d := l.rqs[here].sd
	for !d.Span.Has(p.Prev) {
		d = d.Parent
	}
	cpu := l.wakeAffine(d, p)
	return cpu, l.decision.Affine
}

func TestAffineByWeight(t *testing.T) {
	const wakee = 1024
	for _, c := range []struct {
		name               string
		kernel             string
		hereLoad, prevLoad int64
		sync               bool
		wakerLoad          int64
		moves              bool
	}{
		// (1024+1024)·100 = 204800 against (2048−1024)·108 = 110592.
		{"6.4 here 1024, prev 2048: stays", "v5.17", 1024, 2048, false, 0, false},
		{"6.4 here 1024, prev 2048: stays", "v5.10", 1024, 2048, false, 0, false},
		{"6.4 here 1024, prev 2048: stays", "v4.14", 1024, 2048, false, 0, false},
		// (0+1024)·100 = 102400 < 110592.
		{"6.4 here 0, prev 2048: moves", "v5.17", 0, 2048, false, 0, true},
		{"6.4 here 0, prev 2048: moves", "v4.14", 0, 2048, false, 0, true},
		// Equality without a bias: 1024+1024 = 3072−1024 (feature off below).
		{"6.4 equal loads: v4.14 moves", "v4.14 NO_WA_BIAS", 1024, 3072, false, 0, true},
		{"6.4 equal loads: v5.17 stays unless sync", "v5.17 NO_WA_BIAS", 1024, 3072, false, 0, false},
		// The waker's 512 leaves 1536−512 = 1024 here: equal again, plus 1.
		{"6.4 equal loads: v5.17 moves with sync", "v5.17 NO_WA_BIAS", 1536, 3072, true, 512, true},
		{"6.4 equal loads: v5.10 moves with sync", "v5.10 NO_WA_BIAS", 1536, 3072, true, 512, true},
		// One more here and it stays.
		{"6.4 here heavier by one: v5.17 stays with sync", "v5.17 NO_WA_BIAS", 1537, 3072, true, 512, false},
		// The waker is heavier than its whole CPU.
		{"6.4 sync waker heavier than the CPU: v5.17", "v5.17", 1023, 0, true, 1024, true},
		{"6.4 sync waker heavier than the CPU: v4.14", "v4.14", 1023, 0, true, 1024, true},
		{"6.4 sync waker as heavy as the CPU: compares", "v5.17", 1024, 0, true, 1024, false},
		// prev − wakee is negative: signed, here is never lighter.
		{"6.4 prev lighter than the wakee: stays", "v5.17", 0, 512, false, 0, false},
		{"6.4 prev lighter than the wakee: stays", "v4.14", 0, 512, false, 0, false},
	} {
		t.Run(c.kernel+" "+c.name, func(t *testing.T) {
			lab := labOf(t, c.kernel, oneCache)
			lab.busy(2, 0, 1)
			lab.load(0, c.hereLoad)
			lab.load(1, c.prevLoad)
			lab.rqs[0].curr.se.avg.loadAvg = c.wakerLoad
			task := lab.task(1)
			task.se.avg.loadAvg = wakee
			cpu, _ := lab.decideAffine(task, 0, c.sync)
			if moves := cpu == 0; moves != c.moves {
				t.Errorf("chose CPU %d, want moves = %v", cpu, c.moves)
			}
		})
	}
}

// labOf reads "kernel FEATURE FEATURE".
func labOf(t testing.TB, spec string, tp topo) *placementLab {
	words := splitWords(spec)
	return newPlacementLab(t, words[0], tp, words[1:]...)
}

// The factor of WA_BIAS is half of the domain's tolerance (6.4, constants
// index): imbalance_pct 117 → 108, 125 → 112, 110 → 105.
func TestBiasPercent(t *testing.T) {
	for pct, want := range map[int64]int64{117: 108, 125: 112, 110: 105} {
		if got := biasPercent(&Domain{ImbalancePct: pct}); got != want {
			t.Errorf("imbalance_pct %d gives %d, want %d", pct, got, want)
		}
	}
	// Which one applies across nodes: v4.14 has 125 there, v5.17 117 (5.3).
	// here 900+100, prev 1000−100 = 900: 100000 ≤ 900·112 = 100800, but not
	// < 900·108 = 97200.
	for kernel, want := range map[string]int{"v4.14": 0, "v5.17": 5} {
		lab := newPlacementLab(t, kernel, twoNodes)
		lab.busy(2, 0, 5)
		lab.load(0, 900)
		lab.load(5, 1000)
		task := lab.task(5)
		task.se.avg.loadAvg = 100
		cpu, _ := lab.decideAffine(task, 0, false)
		if cpu != want {
			t.Errorf("%s chose CPU %d, want %d", kernel, cpu, want)
		}
	}
}

func TestAffineByIdle(t *testing.T) {
	for _, c := range []struct {
		name        string
		kernel      string
		topo        topo
		prev        int
		here, prev2 int // runnable tasks on each
		sync        bool
		cpu         int
		why         AffineReason
	}{
		{"6.4 both busy, WA_IDLE alone: always prev", "v4.14 NO_WA_WEIGHT", oneCache, 1, 2, 1, false, 1, AffineUndecided},
		{"6.4 sync waker alone: here", "v4.14 NO_WA_WEIGHT", oneCache, 1, 1, 1, true, 0, AffineSync},
		{"6.4 sync waker not alone: prev", "v4.14 NO_WA_WEIGHT", oneCache, 1, 2, 1, true, 1, AffineUndecided},
		{"6.4 v4.14 looks at here only, though prev idles", "v4.14", oneCache, 1, 0, 0, false, 0, AffineIdleHere},
		{"6.4 v5.10: here and prev idle: prev", "v5.10", oneCache, 1, 0, 0, false, 1, AffineIdlePrev},
		{"6.4 v5.17: here and prev idle: prev", "v5.17", oneCache, 1, 0, 0, false, 1, AffineIdlePrev},
		{"6.4 v5.17: here idle, prev busy: here", "v5.17", oneCache, 1, 0, 1, false, 0, AffineIdleHere},
		{"6.4 v5.17: sync goes before an idle prev", "v5.17", oneCache, 1, 1, 0, true, 0, AffineSync},

		// An interrupt on an idle CPU wakes a task of the other node (12).
		{"12 idle here, prev busy on the other node: v4.14 pulls", "v4.14", twoNodes, 5, 0, 1, false, 0, AffineIdleHere},
		{"12 idle here, prev busy on the other node: v5.17 weighs", "v5.17 NO_WA_WEIGHT", twoNodes, 5, 0, 1, false, 5, AffineUndecided},
		{"6.7 prev idle on the other LLC: v5.17 returns prev", "v5.17", twoNodes, 5, 1, 0, false, 5, AffineIdlePrev},
		{"6.7 prev idle on the other LLC: v6.1 returns prev", "v6.1", twoNodes, 5, 1, 0, false, 5, AffineIdlePrev},
		{"WA_IDLE off: weight decides", "v5.17 NO_WA_IDLE", oneCache, 1, 0, 0, false, 1, AffineUndecided},
		{"all off: prev", "v5.17 NO_WA_IDLE NO_WA_WEIGHT", oneCache, 1, 0, 1, true, 1, AffineUndecided},
	} {
		t.Run(c.kernel+" "+c.name, func(t *testing.T) {
			lab := labOf(t, c.kernel, c.topo)
			if c.here > 0 {
				lab.busy(c.here, 0)
			}
			if c.prev2 > 0 {
				lab.busy(c.prev2, c.prev)
			}
			cpu, why := lab.decideAffine(lab.task(c.prev), 0, c.sync)
			if cpu != c.cpu || why != c.why {
				t.Errorf("chose CPU %d by %q, want CPU %d by %q", cpu, why, c.cpu, c.why)
			}
		})
	}
}

// 6.7: prev idle on the other LLC, here busy, not sync: v5.10 compares loads.
// Blocked load of 3000 at the idle prev: (100+1024)·100 < (3000−1024)·108.
func TestV510WeighsAnIdlePrevOfAnotherCache(t *testing.T) {
	for kernel, want := range map[string]int{"v5.10": 0, "v5.17": 5, "v6.1": 5} {
		lab := newPlacementLab(t, kernel, twoNodes)
		lab.busy(1, 0)
		lab.load(0, 100)
		lab.load(5, 3000)
		if cpu, why := lab.decideAffine(lab.task(5), 0, false); cpu != want {
			t.Errorf("%s chose CPU %d by %q, want %d", kernel, cpu, why, want)
		}
	}
}

// v4.13-numa compares the sums of nodes (6.4, 3fed382b46ba). Nodes of 4 CPUs
// have capacity 4096 each; imbalance_pct 125 at NUMA gives factor 112.
func TestAffineByNodes(t *testing.T) {
	for _, c := range []struct {
		name               string
		hereLoad, prevLoad int64 // of CPUs 1 and 6, neighbours of waker and wakee
		sync               bool
		prev, want         int
		why                AffineReason
	}{
		{"same cache: affine whatever the load", 9999, 0, false, 3, 0, AffineCache},
		// 100·4096·(1000+1024) ≤ 112·4096·(2832−1024): 202400 ≤ 202496.
		{"node here a little lighter: moves", 1000, 2832, false, 5, 0, AffineNode},
		// 202400 against 112·(2831−1024) = 202384.
		{"one less at prev: stays", 1000, 2831, false, 5, 5, AffineNode},
		{"nothing on this node: moves", 0, 0, false, 5, 0, AffineNode},
		// sync: the waker's 1024 is all that there is here.
		{"sync, the waker is the only load: moves", 1024, 0, true, 5, 0, AffineNode},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newPlacementLab(t, "v4.13-numa", twoNodes)
			lab.busy(2, 0, c.prev)
			lab.load(0, 0)
			lab.load(c.prev, 0)
			lab.load(1, c.hereLoad)
			lab.load(6, c.prevLoad)
			cpu, why := lab.decideAffine(lab.task(c.prev), 0, c.sync)
			if cpu != c.want || why != c.why {
				t.Errorf("chose CPU %d by %q, want CPU %d by %q", cpu, why, c.want, c.why)
			}
		})
	}
}

// Why the node sums regressed: this node is lighter than prev's, but the
// waker's own CPU is not free while prev is. Only the WA_ features see it.
func TestNodeSumsPullToABusyCPU(t *testing.T) {
	for kernel, want := range map[string]int{"v4.13-numa": 0, "v4.14": 5} {
		lab := newPlacementLab(t, kernel, twoNodes)
		lab.busy(2, 0) // waker's CPU: two tasks, load 2048; prev (5) idles
		lab.busy(1, 6, 7)
		lab.load(0, 2048)
		lab.load(5, 0)
		lab.load(6, 2048)
		lab.load(7, 3072)
		if cpu, why := lab.decideAffine(lab.task(5), 0, false); cpu != want {
			t.Errorf("%s chose CPU %d by %q, want %d", kernel, cpu, why, want)
		}
	}
}

// v4.14-numa compares what balance passes remember. Caches of 4 CPUs; numbers of
// tasks first, then, when both caches are full, loads with pct 125 (112): capacity
// 4096 on both sides and a wakee of 1024.
func TestAffineByCaches(t *testing.T) {
	for _, c := range []struct {
		name       string
		here, prev cacheSums
		sync       bool
		prevCPU    int
		want       int
	}{
		{"same cache: stays for select_idle_sibling", cacheSums{0, 0, 4096}, cacheSums{9, 9999, 4096}, false, 3, 3},
		{"room at prev and no more tasks there: stays", cacheSums{2, 0, 4096}, cacheSums{2, 9999, 4096}, false, 5, 5},
		{"one more at prev is as many as here would be: the loads, equal then", cacheSums{2, 0, 4096}, cacheSums{3, 2048, 4096}, false, 5, 0},
		{"room here and two less: moves, whatever the loads", cacheSums{1, 9999, 4096}, cacheSums{3, 0, 4096}, false, 5, 0},
		// 100*(1000+1024) = 202400 <= 112*(2832-1024) = 202496
		{"both full, here a little lighter: moves", cacheSums{4, 1000, 4096}, cacheSums{4, 2832, 4096}, false, 5, 0},
		{"both full, one less at prev: stays", cacheSums{4, 1000, 4096}, cacheSums{4, 2831, 4096}, false, 5, 5},
		{"sync, the waker is more than all that is remembered: moves", cacheSums{9, 1023, 4096}, cacheSums{0, 0, 4096}, true, 5, 0},
		{"sync, the waker's load does not count", cacheSums{4, 2024, 4096}, cacheSums{4, 2832, 4096}, true, 5, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newPlacementLab(t, "v4.14-numa", twoNodes)
			lab.busy(2, 0, c.prevCPU)
			lab.load(0, 0)
			lab.load(c.prevCPU, 0)
			lab.rqs[0].llcShared.Seen, lab.rqs[5].llcShared.Seen = c.here, c.prev
			if c.prevCPU == 3 {
				lab.rqs[3].llcShared.Seen = c.here
			}
			if cpu, why := lab.decideAffine(lab.task(c.prevCPU), 0, c.sync); cpu != c.want {
				t.Errorf("chose CPU %d by %q, want CPU %d", cpu, why, c.want)
			}
		})
	}
}

// A balance pass over a cache is what renews the memory; it sees 3 tasks of load
// 1024 on the 4 CPUs of node 0, and nothing of node 1.
func TestBalancePassesRememberCaches(t *testing.T) {
	lab := newPlacementLab(t, "v4.14-numa", twoNodes)
	lab.busy(2, 0)
	lab.busy(1, 1)
	if seen := lab.rqs[0].llcShared.Seen; seen != (cacheSums{}) {
		t.Fatalf("before any pass %+v is remembered", seen)
	}
	env := balanceEnv{d: lab.rqs[3].llc, dst: &lab.rqs[3], idle: Idle, candidates: lab.online}
	lab.collectDomain414(&env, &env.stats414)
	if seen := lab.rqs[1].llcShared.Seen; seen.Tasks != 3 || seen.Capacity != 4096 {
		t.Errorf("remembered %+v, want 3 tasks and the capacity of 4 CPUs", seen)
	}
	if seen := lab.rqs[5].llcShared.Seen; seen != (cacheSums{}) {
		t.Errorf("the other cache remembers %+v", seen)
	}
}

// A decision counts as a try always, as an affine move by version (6.4).
func TestAffineCounters(t *testing.T) {
	for _, c := range []struct {
		kernel string
		prev   bool // decided for an idle prev, in the cache; else for here
		moves  int64
	}{
		{"v5.10", true, 1}, {"v5.17", true, 1}, {"v6.1", true, 0}, {"v6.12", true, 0}, {"v7.2", true, 0},
		{"v4.14", false, 1}, {"v5.10", false, 1}, {"v5.17", false, 1}, {"v6.1", false, 1},
	} {
		lab := newPlacementLab(t, c.kernel, oneCache)
		if !c.prev {
			lab.busy(1, 1)
		}
		lab.decideAffine(lab.task(1), 0, false)
		stats := lab.Stats(0)
		if stats.AffineTries != 1 || stats.Affine != c.moves {
			t.Errorf("%s, prev %v: tries %d, moves %d; want 1, %d", c.kernel, c.prev, stats.AffineTries, stats.Affine, c.moves)
		}
	}
}

// An undecided wake_affine is an attempt only.
func TestUndecidedAffineCountsAttemptOnly(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", oneCache)
	lab.busy(2, 0, 1)
	lab.load(0, 1024)
	lab.load(1, 1024)
	lab.decideAffine(lab.task(1), 0, false)
	if stats := lab.Stats(0); stats.AffineTries != 1 || stats.Affine != 0 {
		t.Errorf("tries %d, moves %d; want 1, 0", stats.AffineTries, stats.Affine)
	}
}
