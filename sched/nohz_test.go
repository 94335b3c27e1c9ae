package sched

import "testing"

// 5.7: all idle and tickless: no busy CPU in any cache; the first busy tick
// counts a CPU back in, once.
func TestNohzCountsBusyCPUs(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(2, 4, 1))
	shared := l.rqs[0].llcShared
	if shared.NrBusyCPUs != 0 || l.nohz.count != 8 {
		t.Fatalf("busy %d, tickless %d; want 0 and 8", shared.NrBusyCPUs, l.nohz.count)
	}
	l.spin(1, 1)
	if shared.NrBusyCPUs != 0 {
		t.Error("counted busy before the first tick")
	}
	for i := 0; i < 2; i++ {
		l.tick(1)
		if shared.NrBusyCPUs != 1 || l.nohz.count != 7 || l.nohz.idle.Has(1) {
			t.Errorf("tick %d: busy %d, tickless %d", i, shared.NrBusyCPUs, l.nohz.count)
		}
	}
	l.quiet()
	l.nohzEnter(&l.rqs[1])
	if !l.nohz.needsUpdate || !l.nohz.hasBlocked || !l.rqs[1].nohz.hasBlocked {
		t.Error("going tickless asks for no update")
	}
	l.quiet()
	l.nohzEnter(&l.rqs[1]) // again, after an interrupt: only new load may have come
	if l.nohz.needsUpdate || !l.nohz.hasBlocked {
		t.Error("staying tickless asks for a new due time")
	}
	if shared.NrBusyCPUs != 0 || l.nohz.count != 8 {
		t.Errorf("back in idle: busy %d, tickless %d", shared.NrBusyCPUs, l.nohz.count)
	}
}

// quiet takes away the reasons for kicks that a fresh machine has.
func (l *balanceLab) quiet() {
	l.nohz.hasBlocked, l.nohz.needsUpdate = false, false
	l.driver.kick = l.driver.kick[:0]
}

// kicked runs the tick's check on a busy CPU and returns what it asks of whom.
func (l *balanceLab) kicked(cpu int) (ilb int, flags uint8) {
	l.triggerBalance(&l.rqs[cpu])
	if len(l.driver.kick) == 0 {
		return -1, 0
	}
	ilb = l.driver.kick[0]
	return ilb, l.rqs[ilb].nohz.flags
}

// 9.9: reasons for a full kick.
func TestNohzFullKick(t *testing.T) {
	const full = kickBalance | kickStats
	for _, c := range []struct {
		name   string
		kernel string
		change func(l *balanceLab)
		want   uint8
	}{
		{"one task alone in its cache", "v5.17", func(*balanceLab) {}, 0},
		{"two tasks", "v5.17", func(l *balanceLab) { l.spin(1, 1, 1) }, full},
		{"two busy CPUs in the cache", "v5.17", func(l *balanceLab) { l.rqs[1].llcShared.NrBusyCPUs = 1 }, full},
		{"a busy CPU in the other cache", "v5.17", func(l *balanceLab) { l.rqs[7].llcShared.NrBusyCPUs = 2 }, 0},
		{"reduced capacity", "v5.17", func(l *balanceLab) { l.rqs[1].capacity = 800 }, full},
		// 875·117 = 102375 < 1024·100; 876·117 = 102492.
		{"capacity below 100/117", "v5.17", func(l *balanceLab) { l.rqs[1].capacity = 875 }, full},
		{"capacity not below 100/117", "v5.17", func(l *balanceLab) { l.rqs[1].capacity = 876 }, 0},
		{"before next_balance", "v5.17", func(l *balanceLab) { l.spin(1, 1, 1); l.nohz.nextBalance = l.jiffies + 1 }, 0},
		{"blocked load is due", "v5.17", func(l *balanceLab) { l.nohz.hasBlocked = true; l.nohz.nextBlocked = l.jiffies - 1 }, kickStats},
		{"blocked load is due now", "v5.17", func(l *balanceLab) { l.nohz.hasBlocked = true; l.nohz.nextBlocked = l.jiffies }, 0},
		{"a CPU has gone tickless", "v5.17", func(l *balanceLab) { l.nohz.needsUpdate = true }, kickNext},
		{"a CPU has gone tickless", "v5.10", func(l *balanceLab) { l.nohz.needsUpdate = true }, 0},
		{"two tasks", "v5.10", func(l *balanceLab) { l.spin(1, 1, 1) }, full},
		{"two tasks", "v4.14", func(l *balanceLab) { l.spin(1, 1, 1) }, kickBalance},
		{"blocked load is due", "v4.14", func(l *balanceLab) { l.nohz.hasBlocked = true; l.nohz.nextBlocked = 0 }, 0},
	} {
		l := newBalanceLab(t, c.kernel, balanceMachine(2, 4, 1))
		l.spin(1, 1, 1)
		l.quiet()
		c.change(l)
		ilb, flags := l.kicked(1)
		if flags != c.want || (flags != 0 && ilb != 0) {
			t.Errorf("%s, %s: asked CPU %d for %03b, want %03b of CPU 0", c.kernel, c.name, ilb, flags, c.want)
		}
	}
}

// A full kick comes once a jiffy at most.
func TestNohzFullKickOncePerJiffy(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   func(l *balanceLab, before int64) int64
	}{
		{"v5.17", func(l *balanceLab, _ int64) int64 { return l.jiffies + 1 }},
		{"v4.14", func(_ *balanceLab, before int64) int64 { return before + 1 }},
	} {
		l := newBalanceLab(t, c.kernel, balanceMachine(2, 4, 1))
		l.spin(1, 2, 1)
		l.nohz.nextBalance = l.jiffies - 10
		want := c.want(l, l.nohz.nextBalance)
		l.triggerBalance(&l.rqs[1])
		if l.nohz.nextBalance != want {
			t.Errorf("%s: next full kick at %d, want %d (now %d)", c.kernel, l.nohz.nextBalance, want, l.jiffies)
		}
	}
}

// The idle load balancer is the first tickless CPU that idles now; v4.14 asks
// only the very first, and nobody when that one is not idle. A second kick
// adds its wishes without another interrupt.
func TestIdleLoadBalancerChoice(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   int
	}{{"v5.17", 2}, {"v5.10", 2}, {"v4.14", -1}} {
		l := newBalanceLab(t, c.kernel, balanceMachine(2, 4, 1))
		l.spin(0, 1, 0) // busy, but its first tick has not come: still in the mask
		l.spin(1, 2, 1)
		l.quiet()
		ilb, flags := l.kicked(1)
		if ilb != c.want {
			t.Errorf("%s: asked CPU %d, want %d", c.kernel, ilb, c.want)
		}
		if c.want < 0 {
			continue
		}
		l.kickIdleBalancer(&l.rqs[1], kickNext)
		if len(l.driver.kick) != 1 || l.rqs[ilb].nohz.flags != flags|kickNext {
			t.Errorf("%s: %d interrupts, flags %03b", c.kernel, len(l.driver.kick), l.rqs[ilb].nohz.flags)
		}
	}
}

// No kick from an idle CPU's tick, and none when nobody is tickless.
func TestNoKickWithoutNeed(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 2, 1))
	l.spin(1, 2, 1)
	l.nohzExit(&l.rqs[0])
	l.kicked(0)
	if len(l.driver.kick) != 0 {
		t.Error("an idle CPU's tick kicks")
	}
	l.kicked(1)
	if len(l.driver.kick) != 0 {
		t.Error("a kick although no CPU is tickless")
	}
}

// The balancer pulls for the others before itself (v5.17: from the next CPU
// on); what it was asked to do is done and forgotten.
func TestNohzBalancePullsForAll(t *testing.T) {
	for _, kernel := range balanceKernels {
		l := newBalanceLab(t, kernel, balanceMachine(1, 4, 1))
		l.spin(1, 4)
		l.rqs[0].nohz.flags = kickBalance | kickStats
		if !l.NohzBalance(l.now, 0) || l.rqs[0].nohz.flags != 0 {
			t.Errorf("%s: not done, flags left %03b", kernel, l.rqs[0].nohz.flags)
		}
		// CPU 2 is the first of the others and takes (4-0)/2 = 2 (v4.14: load of
		// half a CPU's difference, one task); then 3 and 0.
		if l.NrRunning(1) >= 4 || l.NrRunning(2) == 0 {
			t.Errorf("%s: CPUs run %s", kernel, l.counts())
		}
	}
}

// A stats kick decays blocked load and plans the next time 32 ms ahead (8
// jiffies); no task moves.
func TestNohzStatsKick(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
	l.spin(1, 4)
	rq := &l.rqs[2]
	rq.cfs.avg = Avg{last: l.now, loadAvg: 500, loadSum: 500 * peltMinDivider}
	later := l.now + 100_000_000
	l.rqs[0].nohz.flags = kickStats
	l.NohzBalance(later, 0)
	if got := rq.cfs.avg.loadAvg; got >= 500 || got == 0 {
		t.Errorf("blocked load %d, want some of 500", got)
	}
	if !l.nohz.hasBlocked || l.nohz.nextBlocked != l.jiffies+8 || l.counts() != "0 4 0 0" {
		t.Errorf("blocked left %v, next at %d (now %d), CPUs run %s", l.nohz.hasBlocked, l.nohz.nextBlocked, l.jiffies, l.counts())
	}
	// 2016 PELT periods later nothing is left, and no kick is needed any more.
	l.rqs[0].nohz.flags = kickStats
	l.NohzBalance(later+3_000_000_000, 0)
	if rq.cfs.avg.loadAvg != 0 || rq.nohz.hasBlocked || l.nohz.hasBlocked {
		t.Errorf("load %d, flags %v %v", rq.cfs.avg.loadAvg, rq.nohz.hasBlocked, l.nohz.hasBlocked)
	}
}

// The due time of all is the earliest of the tickless CPUs'.
func TestNohzNextBalance(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
	for cpu := range l.rqs {
		l.rqs[cpu].nextBalance = l.jiffies + 20 + int64(cpu)
	}
	l.rqs[3].nextBalance = l.jiffies + 7
	l.rqs[0].nohz.flags = kickNext
	l.NohzBalance(l.now, 0)
	if l.nohz.nextBalance != l.jiffies+7 || l.nohz.needsUpdate {
		t.Errorf("next %d, want %d", l.nohz.nextBalance, l.jiffies+7)
	}
}

// A balancer that has got work, or is about to, leaves the kick aside; one
// that gets work in between stops and leaves the rest for later.
func TestNohzBalanceStopsForWork(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
	l.spin(1, 4)
	l.rqs[0].nohz.flags = kickBalance | kickStats
	l.rqs[0].needResched = true
	if l.NohzBalance(l.now, 0) || l.counts() != "0 4 0 0" {
		t.Errorf("balanced although about to reschedule: %s", l.counts())
	}
	l.nohz.hasBlocked, l.nohz.needsUpdate = false, false
	nohzBalance517(l.Scheduler, &l.rqs[0], kickBalance|kickStats|kickNext)
	if !l.nohz.hasBlocked || !l.nohz.needsUpdate || l.counts() != "0 4 0 0" {
		t.Errorf("stopped: blocked %v, update %v, CPUs run %s", l.nohz.hasBlocked, l.nohz.needsUpdate, l.counts())
	}
	if l.NohzBalance(l.now, 1) {
		t.Error("a busy CPU balances for the idle ones")
	}
}

// 9.9: a newly idle CPU that usually idles at least 0.5 ms decays the blocked
// load of the tickless ones itself; v5.10 only when it does not search.
func TestNewlyIdleCPUDecaysForOthers(t *testing.T) {
	for _, c := range []struct {
		kernel   string
		avgIdle  int64
		overload bool
		want     bool
	}{
		{"v5.17", 500_000, false, true}, {"v5.17", 499_999, false, false}, {"v5.17", 500_000, true, true},
		{"v5.10", 500_000, false, true}, {"v4.14", 500_000, false, false},
	} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 4, 1))
		l.spin(0, 1)
		l.setNow(l.now + 100_000_000)
		rq := l.goIdle(0)
		rq.avgIdle, l.overload = c.avgIdle, c.overload
		l.rqs[3].nohz.hasBlocked, l.nohz.hasBlocked, l.nohz.nextBlocked = true, true, l.jiffies
		l.newidleBalance(rq)
		if got := l.nohz.nextBlocked == l.jiffies+8; got != c.want {
			t.Errorf("%s, avg_idle %d, overload %v: decayed %v, want %v", c.kernel, c.avgIdle, c.overload, got, c.want)
		}
		if got := !l.rqs[3].nohz.hasBlocked; got != c.want {
			t.Errorf("%s: CPU 3 seen empty %v, want %v", c.kernel, got, c.want)
		}
	}
}

// v5.10's newidle passes decay the blocked load of the tickless CPUs that they
// look at, once a jiffy, and put the common decay off when some is left;
// v5.17's do not.
func TestNewidlePassDecaysInV510(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   bool
	}{{"v5.10", true}, {"v5.17", false}} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 4, 1))
		l.rqs[2].cfs.avg = Avg{last: l.now, loadAvg: 500, loadSum: 500 * peltMinDivider}
		l.setNow(l.now + 100_000_000)
		l.balancePass(&l.rqs[0], l.domain(0, "MC"), NewlyIdle)
		if got := l.rqs[2].cfs.avg.loadAvg < 500; got != c.want {
			t.Errorf("%s: load %d afterwards", c.kernel, l.rqs[2].cfs.avg.loadAvg)
		}
		if got := l.nohz.nextBlocked == l.jiffies+8; got != c.want {
			t.Errorf("%s: next decay at %d, now %d", c.kernel, l.nohz.nextBlocked, l.jiffies)
		}
	}
}

// v5.10's balancer sees to its own blocked load after that of the others.
func TestNohzBalanceDecaysItself(t *testing.T) {
	for _, kernel := range []string{"v5.10", "v5.17"} {
		l := newBalanceLab(t, kernel, balanceMachine(1, 4, 1))
		l.rqs[0].cfs.avg = Avg{last: l.now, loadAvg: 500, loadSum: 500 * peltMinDivider}
		l.rqs[0].nohz.flags = kickStats
		l.NohzBalance(l.now+100_000_000, 0)
		if got := l.rqs[0].cfs.avg.loadAvg; got >= 500 || !l.nohz.hasBlocked {
			t.Errorf("%s: own load %d, blocked load left %v", kernel, got, l.nohz.hasBlocked)
		}
	}
}

// Before v5.12 an idle CPU's own run pulls the common due time forward.
func TestIdleRunPullsTheCommonTime(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   int64
	}{{"v4.14", 1}, {"v5.10", 1}, {"v5.17", 500}} {
		l := newBalanceLab(t, c.kernel, balanceMachine(1, 2, 1)) // MC: 2 ms, 1 jiffy
		l.nohz.nextBalance = l.jiffies + 500
		l.rqs[0].idleBalance = true
		l.BalanceSoftirq(l.now, 0)
		if got := l.nohz.nextBalance - l.jiffies; got != c.want {
			t.Errorf("%s: common time in %d jiffies, want %d", c.kernel, got, c.want)
		}
	}
}
