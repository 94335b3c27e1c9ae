package sched

import "testing"

// An idle CPU is woken at 1,000 ms and switches to the task 8 ms later; the
// task runs for 2 ms. The switch does not read the clock again, so the 8 ms count as running,
// too, except what lies before a balance pass of the CPU. A history of n ms
// from nothing makes 1024·(1 − y^n): 10 ms 199, of 4 ms 85.
func TestASwitchAfterAWakeupKeepsItsClock(t *testing.T) {
	for _, c := range []struct {
		name    string
		between func(f *Follower)
		util    int64
	}{
		{"nothing in between", func(*Follower) {}, 199},
		{"a balance pass in between", func(f *Follower) { f.Softirq(0) }, 85},
		{"another CPU's", func(f *Follower) { f.Softirq(1) }, 199},
	} {
		f := newFollowed(t, "v6.1")
		f.TickByHand()
		p := f.sleeper(1, 0)
		f.Rested(p)
		f.SetHidden(p, Hidden{}, true)
		f.Woken(p, 0)
		f.Advance(1_006 * msec)
		c.between(f)
		f.Advance(1_008 * msec)
		f.Switch(0, nil, p, LeavesPreempted)
		f.Advance(1_010 * msec)
		f.Switch(0, p, nil, LeavesBlocked)
		if got := p.UtilAvg(); got < c.util-25 || got > c.util+5 {
			t.Errorf("%s: utilization %d, want about %d", c.name, got, c.util)
		}
		if f.Now() != 1_010*msec {
			t.Errorf("%s: time is %d", c.name, f.Now())
		}
		check(t, f)
	}
}

// A running task wakes another one on its CPU and sleeps 8 ms later. Its CPU
// says whether it is to be rescheduled; then the 8 ms are the other's.
func TestAWakerToBeRescheduledRunsForItsWakee(t *testing.T) {
	for _, c := range []struct {
		name        string
		rescheduled bool
		ran         int64 // ns, by the waker
	}{{"no", false, 8 * msec}, {"yes", true, 0}} {
		f := newFollowed(t, "v6.1")
		f.TickByHand()
		waker, p := f.runner(1, 0), f.sleeper(2, 0)
		before := f.clocks[0]
		f.Woken(p, 0)
		if c.rescheduled {
			f.SeenResched(0)
		}
		f.Advance(1_008 * msec)
		if ran := f.switchClock(0) - 1_000*msec; ran != c.ran {
			t.Errorf("%s: the waker is charged %d ns, want %d", c.name, ran, c.ran)
		}
		if before.kept || f.clocks[0].kept || !waker.Queued() {
			t.Errorf("%s: %+v", c.name, f.clocks[0])
		}
	}
}

// A CPU in newidle balancing has taken its task off the queue already: it is in
// the middle of its switch, which has read the clock.
func TestACPUThatIsSwitchingKeepsNoClock(t *testing.T) {
	f := newFollowed(t, "v6.1")
	a, b := f.runner(1, 0), f.sleeper(2, 0)
	f.Blocked(0)
	f.Newidle(0)
	f.Woken(b, 0)
	f.SeenResched(0)
	if f.clocks[0].kept {
		t.Error("the clock is kept")
	}
	f.Switch(0, a, b, LeavesBlocked)
	check(t, f)
}

// v6.12 measures the millisecond between two publications by the present time,
// v7.2 by the runqueue's clock. A switch that is charged at the wakeup 5 ms before it
// is no sooner than that wakeup for v7.2, and late enough for v6.12.
func TestClockOfPublications(t *testing.T) {
	for kernel, want := range map[string]int64{"v6.12": 2000, "v7.2": 1000} {
		f := newFollowed(t, kernel)
		s := f.Scheduler()
		q := s.NewGroup(s.root, "/g").queues[0]
		publish := func(load int64) {
			q.avg.loadAvg = load
			s.publishLoad(q)
		}
		f.Advance(second)
		publish(1000)
		s.present = second + 5_000_000 // as Switch does it
		publish(2000)
		s.present = 0
		if got := q.tg.loadAvg; got != want {
			t.Errorf("%s: the group has %d, want %d", kernel, got, want)
		}
	}
}
