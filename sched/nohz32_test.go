package sched

import "testing"

// mechanisms.md 4.11 a: two busy CPUs hold the right to ask until they go
// tickless; the first needs a waiting task, the second just one that runs.
func TestNohzPicks32(t *testing.T) {
	l := newBalanceLab(t, "v3.2", balanceMachine(1, 4, 1))
	n := &l.nohz.old
	ask := func(cpu int, tasks int32, want bool) {
		t.Helper()
		rq := &l.rqs[cpu]
		saved := rq.nr
		rq.nr = tasks
		if got := n.mayAsk(rq); got != want {
			t.Errorf("CPU %d with %d tasks may ask: %v", cpu, tasks, got)
		}
		rq.nr = saved
	}
	ask(1, 1, false) // takes the first place
	ask(1, 2, true)
	ask(2, 1, true) // the second
	ask(3, 5, false)
	nohzEntered32(l.Scheduler, &l.rqs[1])
	ask(3, 1, false) // now the first
	ask(3, 5, true)
	n.picks = true
	ask(0, 2, true)
	ask(0, 1, false)
}

// 4.11 b: a kick that finds its CPU busy stays, and no other one is sent to it;
// mended, it is gone.
func TestLateKick32(t *testing.T) {
	for _, c := range []struct {
		features FeatureSet
		stays    uint8
	}{{0, kickBalance}, {Features(NohzFixKick), 0}, {Features(NohzIdleFix), 0}} {
		l := newBalanceLab(t, "v3.2", balanceMachine(1, 4, 1))
		l.features |= c.features
		l.initNohz32()
		l.rqs[1].nohz.flags = kickBalance
		l.spin(1, 1, 1)
		if l.NohzBalance(l.now, 1) {
			t.Error("a busy CPU balanced for others")
		}
		if got := l.rqs[1].nohz.flags; got != c.stays {
			t.Errorf("%v: flags %d, want %d", c.features.Names(), got, c.stays)
		}
		// While it balances idle, the CPU makes good for it.
		l.rqs[1].curr.allowed = l.online
		nohzInSoftirq32(l.Scheduler, &l.rqs[1], Idle)
		wantInt(t, "flags after an idle balance", int64(l.rqs[1].nohz.flags), 0)
	}
}

// 4.11 c: who goes tickless brings the common due time forward only when that
// is mended. 4.11 d: base brings the wrong CPU's loads up to date.
func TestDueAndClock32(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		l := newBalanceLab(t, "v3.2", balanceMachine(1, 4, 1))
		if fixed {
			l.features |= Features(NohzFixDue, NohzFixClock)
		}
		l.initNohz32()
		l.nohz.nextBalance = l.jiffies + 100
		l.rqs[2].nextBalance = l.jiffies + 7
		nohzEntered32(l.Scheduler, &l.rqs[2])
		want := map[bool]int64{false: 100, true: 7}[fixed]
		wantInt(t, "due in", l.nohz.nextBalance-l.jiffies, want)

		h := &l.rqs[2].loadHistory
		h.load, h.at = [3]int64{0, 512, 512}, l.jiffies-1
		l.rqs[0].nohz.flags = kickBalance
		l.NohzBalance(l.now, 0)
		wantHistory := map[bool][3]int64{false: {0, 512, 512}, true: {0, 256, 384}}[fixed]
		if h.load != wantHistory {
			t.Errorf("fixed %v: loads %v, want %v", fixed, h.load, wantHistory)
		}
	}
}

// The first CPU that goes tickless is nominated until it runs something; then
// the next one that goes tickless is. A kick goes to it, or to the lowest.
func TestNomination32(t *testing.T) {
	l := newBalanceLab(t, "v3.2", balanceMachine(1, 4, 1))
	wantInt(t, "nominated", int64(l.nohz.old.balancer), 0)
	l.spin(0, 1, 0)
	if l.nohz.old.balancer != noCPU || l.nohz.idle.Has(0) {
		t.Errorf("nominated %d, CPU 0 tickless %v", l.nohz.old.balancer, l.nohz.idle.Has(0))
	}
	wantInt(t, "kicked without a nomination", int64(nominated32(l.Scheduler)), 1)
	l.StopTick(l.now, 3)
	wantInt(t, "kicked", int64(nominated32(l.Scheduler)), 3)
}

// mechanisms.md 3.1, v3.2: windows of 10 ms, in integers.
func TestShareWindow(t *testing.T) {
	l := newBalanceLab(t, "v3.2", balanceMachine(1, 2, 1))
	g := l.NewGroup(l.Root(), "/g")
	q := g.queues[0]
	at := func(ns int64, weight int64, want int64) {
		t.Helper()
		l.setNow(labStart + ns)
		l.foldWindow(q, false)
		q.load = weight << weightShift
		wantInt(t, "published", q.tgContrib, want)
		wantInt(t, "of the group", g.loadAvg, want)
	}
	at(0, 1024, 0)
	// There was no load for over 40 ms: what was is forgotten, and the new load
	// counts as if it had been there for 9,999,999 ns. The window is not full.
	at(5_000_000, 1024, 0)
	// 15,499,999 ns of 1024 over 15,500,000.
	at(10_500_000, 0, 1023)
	// Halved to 7,749,999 ns and 7,935,999,488. 4 ms without load:
	// 7935999488/11750000 = 675, further off than 1023/8.
	at(14_500_000, 0, 675)
	// Forgotten again, at each update; only balancing publishes at once.
	at(60_000_000, 0, 675)
	at(60_000_002, 0, 675)
	l.foldWindow(q, true)
	wantInt(t, "published by balancing", g.loadAvg, 0)
}
