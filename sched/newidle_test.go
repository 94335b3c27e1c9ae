package sched

import "testing"

// goIdle lets the running task of cpu sleep, up to the point where newidle
// balancing starts.
func (l *balanceLab) goIdle(cpu int) *runqueue {
	rq := &l.rqs[cpu]
	l.deactivateTask(rq, rq.curr, dequeueSleep)
	return rq
}

func (d *Domain) newidlePasses() int64 { return d.balanced.Passes[NewlyIdle] }

// overloadedCore: cores {0,4} {1,5} {2,6} {3,7}; CPU 0 runs one task, its
// sibling has two.
func overloadedCore(t *testing.T, kernel string) *balanceLab {
	t.Helper()
	l := newBalanceLab(t, kernel, balanceMachine(1, 4, 2))
	l.dice = func() uint32 { return 0 } // no domain is left out by chance
	l.spin(0, 1, 0)
	l.spin(4, 2)
	return l
}

// The lowest domain that yields a task ends the search; the CPU's idle period
// has not begun then.
func TestNewidlePullsFromTheLowestDomain(t *testing.T) {
	for _, kernel := range balanceKernels {
		l := overloadedCore(t, kernel)
		rq := l.goIdle(0)
		if got := l.newidleBalance(rq); got != 1 {
			t.Errorf("%s: pulled %d, want 1", kernel, got)
		}
		if l.counts() != "1 0 0 0 1 0 0 0" || rq.idleStamp != 0 {
			t.Errorf("%s: CPUs run %s, idle stamp %d", kernel, l.counts(), rq.idleStamp)
		}
		smt, mc := l.domain(0, "SMT").newidlePasses(), l.domain(0, "MC").newidlePasses()
		if smt != 1 || mc != 0 {
			t.Errorf("%s: passes SMT %d, MC %d; want 1 and 0", kernel, smt, mc)
		}
	}
}

// 9.8: no CPU with two tasks: no search, only the next balance is planned: MC
// of 4, last balanced now, idle interval 4 ms = 1 jiffy.
func TestNewidleWithoutOverload(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
	l.spin(0, 1)
	d := l.domain(0, "MC")
	d.lastBalance = l.jiffies
	rq := l.goIdle(0)
	rq.nextBalance = l.jiffies + 1000
	if got := l.newidleBalance(rq); got != 0 || d.newidlePasses() != 0 {
		t.Errorf("pulled %d in %d passes, want none", got, d.newidlePasses())
	}
	if rq.idleStamp != l.now || rq.nextBalance != l.jiffies+1 {
		t.Errorf("idle stamp %d, next balance %d; want %d and %d", rq.idleStamp, rq.nextBalance, l.now, l.jiffies+1)
	}
}

// The gate on the usual idle time: v4.14 and v5.10 want at least
// migration_cost, v5.17 and v6.1 the cost of the lowest domain.
func TestNewidleGate(t *testing.T) {
	for _, c := range []struct {
		kernel           string
		avgIdle, lowCost int64
		want             int64
	}{
		{"v4.14", 499_999, 0, 0}, {"v4.14", 500_000, 0, 1},
		{"v5.10", 499_999, 0, 0}, {"v5.10", 500_000, 0, 1},
		{"v5.17", 20_000, 20_001, 0}, {"v5.17", 20_000, 20_000, 1},
		{"v6.1", 20_000, 20_001, 0}, {"v6.1", 20_000, 20_000, 1},
	} {
		l := overloadedCore(t, c.kernel)
		rq := l.goIdle(0)
		rq.avgIdle, rq.sd.maxNewidleCost = c.avgIdle, c.lowCost
		l.newidleBalance(rq)
		if got := rq.sd.newidlePasses(); got != c.want {
			t.Errorf("%s, avg_idle %d, cost %d: %d passes, want %d", c.kernel, c.avgIdle, c.lowCost, got, c.want)
		}
	}
}

// Climbing stops where the time spent and the domain's cost exceed the usual
// idle time.
func TestNewidleStopsWhenTooExpensive(t *testing.T) {
	for _, c := range []struct{ cost, want int64 }{{900_000, 1}, {1_000_001, 0}} {
		l := newBalanceLab(t, "v5.17", balanceMachine(2, 4, 1))
		l.spin(0, 1)
		l.spin(1, 2, 1)
		rq := l.goIdle(0)
		rq.avgIdle = 1_000_000
		l.domain(0, "NUMA").maxNewidleCost = c.cost
		l.newidleBalance(rq)
		if got := l.domain(0, "NUMA").newidlePasses(); got != c.want {
			t.Errorf("NUMA cost %d: %d passes, want %d", c.cost, got, c.want)
		}
		if got := l.domain(0, "MC").newidlePasses(); got != 1 {
			t.Errorf("MC: %d passes, want 1", got)
		}
	}
}

// A pass costs what its work is worth; v5.17 adds the decay of the CPU's own
// blocked load. The domain remembers the highest cost, the CPU the sum.
func TestNewidleCostIsMeasured(t *testing.T) {
	for _, kernel := range []string{"v5.10", "v5.17"} {
		l := newBalanceLab(t, kernel, balanceMachine(1, 4, 1))
		l.spin(0, 1)
		l.spin(1, 2, 1)
		rq := l.goIdle(0)
		rq.maxIdleBalanceCost = 0
		l.quiet() // no blocked load of others to decay afterwards
		before := l.spent()
		l.newidleBalance(rq)
		cost := l.elapsed(before)
		if kernel == "v5.10" {
			cost -= l.prices.BlockedUpdate
		}
		d := l.domain(0, "MC")
		if d.maxNewidleCost != cost || rq.maxIdleBalanceCost != cost {
			t.Errorf("%s: domain cost %d, CPU cost %d, work was worth %d", kernel, d.maxNewidleCost, rq.maxIdleBalanceCost, cost)
		}
		if least := 4 * l.prices.GroupCPU; cost < least {
			t.Errorf("%s: cost %d, but looking at 4 CPUs alone costs %d", kernel, cost, least)
		}
	}
}

// 9.2: once a second the cost falls to 253/256: 25600 -> 25300. From v5.17 a
// new maximum starts the second anew.
func TestNewidleCostDecays(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
	d := l.domain(0, "MC")
	d.maxNewidleCost, d.lastDecay = 25_600, l.jiffies-l.hz
	if decayNewidleCost(l.Scheduler, d) || d.maxNewidleCost != 25_600 {
		t.Error("decayed after exactly a second")
	}
	d.lastDecay--
	if !decayNewidleCost(l.Scheduler, d) || d.maxNewidleCost != 25_300 || d.lastDecay != l.jiffies {
		t.Errorf("cost %d after more than a second, want 25300", d.maxNewidleCost)
	}
	for _, c := range []struct {
		kernel string
		fresh  bool
	}{{"v5.17", true}, {"v5.10", false}} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 4, 1))
		d := l.domain(0, "MC")
		d.lastDecay = 7
		l.raiseNewidleCost(d, 100)
		if got := d.lastDecay == l.jiffies; got != c.fresh || d.maxNewidleCost != 100 {
			t.Errorf("%s: new maximum %d, second starts anew: %v", c.kernel, d.maxNewidleCost, got)
		}
	}
}

// The CPU's own limit follows the domains' costs down, but not below
// migration_cost (0.5 ms).
func TestIdleBalanceCostFollowsTheDomains(t *testing.T) {
	for _, c := range []struct{ cost, want int64 }{{2_560_000, 2_530_000}, {100_000, 500_000}} {
		l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
		rq, d := &l.rqs[0], l.domain(0, "MC")
		rq.maxIdleBalanceCost = 3_000_000
		d.maxNewidleCost, d.lastDecay = c.cost, 0
		l.BalanceSoftirq(l.now, 0)
		if rq.maxIdleBalanceCost != c.want {
			t.Errorf("limit %d, want %d", rq.maxIdleBalanceCost, c.want)
		}
	}
}

// 9.2: it is the sum over all the domains that counts: 400 us at SMT, 300 us at
// MC, both decayed: 253/256 of them is 395,312 + 296,484.
func TestIdleBalanceCostIsTheSum(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 2))
	rq := &l.rqs[0]
	rq.maxIdleBalanceCost = 3_000_000
	for name, cost := range map[string]int64{"SMT": 400_000, "MC": 300_000} {
		d := l.domain(0, name)
		d.maxNewidleCost, d.lastDecay = cost, 0
	}
	l.BalanceSoftirq(l.now, 0)
	wantInt(t, "max_idle_balance_cost", rq.maxIdleBalanceCost, 395_312+296_484)
}

// A wakeup on its way to the CPU makes the search pointless from v5.17 on.
func TestNewidleSeesPendingWakeup(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   int64
	}{{"v5.17", 0}, {"v5.10", 1}} {
		l := overloadedCore(t, c.kernel)
		rq := l.goIdle(0)
		rq.wakePending = true
		l.newidleBalance(rq)
		if got := rq.sd.newidlePasses(); got != c.want {
			t.Errorf("%s: %d passes, want %d", c.kernel, got, c.want)
		}
	}
}

// The CPU that goes idle still has its last task as current, so it is not
// among the idle CPUs of its own pass: 3 idle on 4 CPUs, not 4. With one idle
// CPU at the busiest the difference is 2, without PREFER_SIBLING one task.
func TestNewlyIdleCPUIsNotCountedIdle(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
	l.spin(0, 1)
	rq := l.goIdle(0)
	env := l.env(0, "MC", NewlyIdle)
	var gs groupStats
	l.collectGroup(env, &CPUGroup{Span: env.d.Span, Weight: 4, Cap: env.d.Groups.Cap}, &gs)
	if gs.idleCPUs != 3 {
		t.Errorf("%d idle CPUs while the last task is switched out, want 3", gs.idleCPUs)
	}
	l.Schedule(l.now, 0, false)
	l.collectGroup(env, &CPUGroup{Span: env.d.Span, Weight: 4, Cap: env.d.Groups.Cap}, &gs)
	if gs.idleCPUs != 4 || rq.curr != nil {
		t.Errorf("%d idle CPUs afterwards, want 4", gs.idleCPUs)
	}
}
