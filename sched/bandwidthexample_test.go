package sched

import (
	"slices"
	"testing"
)

// The arithmetic of mechanisms.md 4.2 to 4.9 that its numbered examples
// (bandwidth_test.go) do not show.

// spinnerWithLimit runs an endless loop in a group of 50 ms in every 100.
func spinnerWithLimit(t *testing.T, kernel string, settings ...string) (*lab, *TaskGroup, *Task) {
	t.Helper()
	l := newLab(t, uniprocessor(), kernel, settings...)
	g := l.limited(t, l.Root(), "/g", perPeriod(50))
	task := l.hog(TaskSpec{Group: g}, 0)
	l.settle()
	return l, g, task
}

// 4.2: a queue asks for what brings it up to a slice of 5 ms, its debt included,
// and gets what the pool has of that.
func Test4_2_ChargeAndAssign(t *testing.T) {
	for _, c := range []struct {
		name                string
		remaining, pool     int64 // before
		ran                 int64
		wantLeft, wantPool  int64
		resched, poolIsIdle bool
	}{
		{"runtime left: nobody is asked", 300_000, 20_000_000, 299_999, 1, 20_000_000, false, true},
		{"exactly used up: 5 ms", 300_000, 20_000_000, 300_000, 5_000_000, 15_000_000, false, false},
		{"0.2 ms of debt: 5.2 ms", 300_000, 20_000_000, 500_000, 5_000_000, 14_800_000, false, false},
		{"of 6 ms the pool has 3", 0, 3_000_000, 1_000_000, 2_000_000, 0, false, false},
		{"of 6 ms it has 1: debt is paid, nothing left", 0, 1_000_000, 1_000_000, 0, 0, true, false},
		{"empty pool: the debt stays", 0, 0, 2_000_000, -2_000_000, 0, true, true},
	} {
		l, g, _ := spinnerWithLimit(t, "v5.17")
		q, p := g.queues[0], g.pool
		q.bandwidth.remaining, p.runtime, p.idle = c.remaining, c.pool, true
		l.pay(q, c.ran)
		wantInt(t, c.name+": left", q.bandwidth.remaining, c.wantLeft)
		wantInt(t, c.name+": pool", p.runtime, c.wantPool)
		if l.NeedResched(0) != c.resched || p.idle != c.poolIsIdle {
			t.Errorf("%s: reschedule %v, pool idle %v; want %v, %v", c.name, l.NeedResched(0), p.idle, c.resched, c.poolIsIdle)
		}
	}
	// A queue that is throttled already adds to its debt and asks for nothing.
	l, g, _ := spinnerWithLimit(t, "v5.17")
	q := g.queues[0]
	q.bandwidth.remaining, q.bandwidth.throttled, g.pool.runtime = -1_000_000, true, 20_000_000
	l.pay(q, 500_000)
	wantInt(t, "throttled: left", q.bandwidth.remaining, -1_500_000)
	wantInt(t, "throttled: pool", g.pool.runtime, 20_000_000)
	// Without a quota there is no pool to empty.
	q.bandwidth.throttled, g.pool.limit.Quota = false, Unlimited
	if !l.takeSlice(q, 5_000_000) || q.bandwidth.remaining != 5_000_000 || g.pool.runtime != 20_000_000 {
		t.Errorf("without a quota: %d left, pool %d", q.bandwidth.remaining, g.pool.runtime)
	}
}

// 4.13, example 1, in each period by itself: at HZ 1000 a loop takes ten slices of
// 5 ms, one every 5 ms, and waits for 50 ms; every period counts as throttled
// once. From the second period on the refill pays 1 ns first, so that the slice
// of the next tick is 1 ms - 1 ns larger and the last one smaller.
func Test4_13_1_TenSlices(t *testing.T) {
	l, g, task := spinnerWithLimit(t, "v5.17", "hz=1000")
	first := slices.Repeat([]int64{5_000_000}, 10)
	later := append(append([]int64{5_999_999}, first[:8]...), 4_000_000)
	for period := range int64(3) {
		want, taken := later, []int64(nil)
		if period == 0 { // the first slice was taken when the task joined
			want, taken = first, []int64{50_000_000 - g.pool.runtime}
		}
		pool, ran := g.pool.runtime, l.RunTime(l.clock, task)
		for ms := int64(1); ms <= 100; ms++ {
			l.advance(millisecond)
			if g.pool.runtime < pool {
				taken = append(taken, pool-g.pool.runtime)
			}
			pool = g.pool.runtime
			if throttled := l.Current(0) == nil; throttled != (ms >= 50 && ms < 100) {
				t.Fatalf("period %d, %d ms: throttled %v", period, ms, throttled)
			}
		}
		if !slices.Equal(taken, want) {
			t.Errorf("period %d: slices of %v ns, want %v", period, taken, want)
		}
		wantInt(t, "ran", l.RunTime(l.clock, task)-ran, 50*millisecond)
		wantInt(t, "periods throttled", g.BandwidthStats().Throttled, period+1)
		wantInt(t, "throttled for", g.BandwidthStats().ThrottledTime, (period+1)*50*millisecond)
	}
}

// 4.13, example 1, on every kernel at HZ 250: half of each period, give or take
// a tick of 4 ms, and one throttled period more.
func Test4_13_1_EachPeriod(t *testing.T) {
	for _, p := range Profiles() {
		l, g, task := spinnerWithLimit(t, p.Name)
		l.advance(200 * millisecond) // v6.12 on: periods begin anywhere
		for period := range 10 {
			ran, throttled := l.RunTime(l.clock, task), g.BandwidthStats().Throttled
			l.advance(100 * millisecond)
			if got := l.RunTime(l.clock, task) - ran; got < 46*millisecond || got > 54*millisecond {
				t.Errorf("%s, period %d: ran %d ns of 100 ms, want 50 ms to a tick", p.Name, period, got)
			}
			wantInt(t, p.Name+": throttled periods", g.BandwidthStats().Throttled-throttled, 1)
		}
	}
}

// 4.3: a queue about to be throttled asks once more for the least that lets it
// run, 1 ns above its debt of 2 ms (v5.8 on); older kernels throttle it.
func Test4_3_LastChance(t *testing.T) {
	for _, c := range []struct {
		kernel    string
		pool      int64
		throttled bool
		left      int64
	}{
		{"v5.17", 2_000_001, false, 1}, {"v5.17", 2_000_000, true, 0},
		{"v5.10", 2_000_001, false, 1}, {"v4.14", 2_000_001, true, -2_000_000}, {"v3.8", 2_000_001, true, -2_000_000},
	} {
		l, g, _ := spinnerWithLimit(t, c.kernel)
		q := g.queues[0]
		q.bandwidth.remaining, g.pool.runtime = -2*millisecond, c.pool
		if got := l.checkRuntime(q); got != c.throttled || q.bandwidth.remaining != c.left {
			t.Errorf("%s, pool %d: throttled %v with %d left; want %v, %d",
				c.kernel, c.pool, got, q.bandwidth.remaining, c.throttled, c.left)
		}
	}
}

// 4.1: setting a quota refills the pool, voids slices and debts, frees who is
// throttled and starts the timer.
func Test4_1_SettingAQuota(t *testing.T) {
	l, g, task := spinnerWithLimit(t, "v5.17")
	l.advance(70 * millisecond)
	if !g.Throttled(0) || l.Current(0) != nil {
		t.Fatal("not throttled after 70 ms")
	}
	if err := l.SetLimit(l.clock, g, perPeriod(30)); err != nil {
		t.Fatal(err)
	}
	l.settle()
	l.verify(t)
	if g.Throttled(0) || l.Current(0) != task || !g.pool.active {
		t.Errorf("throttled %v, runs %v, timer %v", g.Throttled(0), l.Current(0) == task, g.pool.active)
	}
	// The debt of 2 ms (throttled at the tick at 52 ms) is forgotten; the first
	// slice is taken when there is something to charge: 4 ms + 5 ms at the tick.
	wantInt(t, "left", g.queues[0].bandwidth.remaining, 0)
	wantInt(t, "pool", g.pool.runtime, 30*millisecond)
	l.clock = 74 * millisecond
	l.Tick(l.clock, 0)
	wantInt(t, "left after 4 ms", g.queues[0].bandwidth.remaining, 5*millisecond)
	wantInt(t, "pool after 4 ms", g.pool.runtime, 21*millisecond)
}

// 4.6, steps 2 to 6: what the end of a period makes of pool, counters and timer.
func Test4_6_EndOfAPeriod(t *testing.T) {
	with := func(burst int64) Limit {
		return Limit{Quota: 20 * millisecond, Period: 100 * millisecond, Burst: burst * millisecond}
	}
	for _, c := range []struct {
		name              string
		kernel            string
		limit             Limit
		left, wantRuntime int64 // ms
		overrun           int64
		idle, wantIdle    bool
		stops             bool
	}{
		{"before v5.14 nothing is saved", "v5.10", with(0), 15, 20, 1, false, true, false},
		{"nor later without a burst", "v5.17", with(0), 15, 20, 1, false, true, false},
		{"a burst of 10 saves 10 of 15", "v5.17", with(10), 15, 30, 1, false, true, false},
		{"three periods at once are refilled once", "v5.17", with(20), 5, 25, 3, false, true, false},
		{"nobody asked: the timer stops, the pool is full", "v5.17", with(0), 15, 20, 1, true, true, true},
		{"before v5.14 it stops before it refills", "v5.10", with(0), 15, 15, 1, true, true, true},
	} {
		l := newLab(t, uniprocessor(), c.kernel)
		g := l.limited(t, l.Root(), "/g", c.limit)
		p := g.pool
		p.runtime, p.idle = c.left*millisecond, c.idle
		if stops := l.endPeriod(p, 0, c.overrun); stops != c.stops || p.idle != c.wantIdle {
			t.Errorf("%s: stops %v, idle %v; want %v, %v", c.name, stops, p.idle, c.stops, c.wantIdle)
		}
		wantInt(t, c.name+": pool", p.runtime, c.wantRuntime*millisecond)
		st := g.BandwidthStats()
		wantInt(t, c.name+": periods", st.Periods, c.overrun)
		wantInt(t, c.name+": throttled ones", st.Throttled, 0)
	}
	// With a throttled queue all the periods count, and the timer goes on.
	l, g, _ := spinnerWithLimit(t, "v5.17")
	g.pool.runtime, g.pool.idle, g.queues[0].bandwidth.remaining = 0, true, -millisecond
	l.throttle(g.queues[0])
	if l.endPeriod(g.pool, 0, 3) || g.pool.idle || g.Throttled(0) {
		t.Errorf("idle %v, throttled %v after the period", g.pool.idle, g.Throttled(0))
	}
	if st := g.BandwidthStats(); st.Periods != 3 || st.Throttled != 3 {
		t.Errorf("%d periods, %d throttled; want 3 and 3", st.Periods, st.Throttled)
	}
}

// 4.6, the guard: period, quota and burst are doubled as long as the doubled
// period stays below a second.
func TestLengthenedPeriods(t *testing.T) {
	for _, c := range []struct{ period, want int64 }{{100, 200}, {499, 998}, {500, 500}, {600, 600}} {
		p := &bandwidthPool{limit: Limit{Quota: c.period * millisecond / 2, Period: c.period * millisecond, Burst: c.period * millisecond / 4}}
		p.lengthen()
		want := Limit{Quota: c.want * millisecond / 2, Period: c.want * millisecond, Burst: c.want * millisecond / 4}
		if p.limit != want {
			t.Errorf("%d ms: %+v, want %+v", c.period, p.limit, want)
		}
	}
}

// 4.7: the slack timer distributes more than a slice, 5 ms, unless the refill is
// less than 2 ms away.
func Test4_7_SlackTimer(t *testing.T) {
	for _, c := range []struct {
		pool, refill int64
		distributes  bool
	}{
		{5_000_001, 2_000_000, true}, {5_000_001, 1_999_999, false}, {5_000_000, 50_000_000, false},
	} {
		l, g := emptying(t, &v517, 0)
		p := g.pool
		p.runtime, p.next, p.slackStarted = c.pool, l.clock+c.refill, true
		l.ExpireTimer(l.clock, 1, &p.slackTimer)
		if got := !g.Throttled(1); got != c.distributes || p.slackStarted {
			t.Errorf("pool %d, refill in %d ns: distributed %v, still started %v; want %v", c.pool, c.refill, got, p.slackStarted, c.distributes)
		}
	}
	// It is started once, and not for a slice or less: 2 ms of surplus and 3 ms.
	for _, c := range []struct {
		pool    int64
		started bool
		timers  int
	}{{3 * millisecond, false, 0}, {3*millisecond + 1, false, 1}, {3*millisecond + 1, true, 0}} {
		l, g := emptying(t, &v517, 0)
		p := g.pool
		p.runtime, p.next, p.slackStarted = c.pool, l.clock+50*millisecond, c.started
		g.queues[0].bandwidth.remaining = 3 * millisecond
		l.asked.timers = nil
		l.Schedule(l.clock, 0, true)
		if got := len(l.asked.timers); got != c.timers {
			t.Errorf("pool %d, started %v: %d timers armed, want %d", c.pool, c.started, got, c.timers)
		}
	}
}

// 4.9: what v3.2 and v3.8 have left of a slice is void from the end of its period
// on. A slice that is as new as the pool's period, which the CPU's clock only
// thinks over, lasts a tick longer, 4 ms; a debt never expires; and only a slice
// of this period is given back.
func Test4_9_Expiry(t *testing.T) {
	for _, c := range []struct {
		name               string
		sliceEnd, poolEnd  int64 // ms from now
		remaining          int64
		wantLeft, wantEnds int64
	}{
		{"not over yet", 1, 100, 3_000_000, 3_000_000, 1},
		{"of an earlier period", 0, 100, 3_000_000, 0, 0},
		{"of this period", 0, 0, 3_000_000, 3_000_000, 4},
		{"a debt", 0, 100, -1, -1, 0},
	} {
		l, g, _ := spinnerWithLimit(t, "v3.8")
		l.clock += 20 * millisecond
		l.setNow(l.clock)
		b, p := g.queues[0].bandwidth, g.pool
		b.remaining, b.expires, p.expires = c.remaining, l.now+c.sliceEnd*millisecond, l.now+c.poolEnd*millisecond
		l.expireSlice(g.queues[0])
		wantInt(t, c.name+": left", b.remaining, c.wantLeft)
		wantInt(t, c.name+": ends in ms", (b.expires-l.now)/millisecond, c.wantEnds)
	}
	l, g, _ := spinnerWithLimit(t, "v3.8")
	l.setNow(37 * millisecond)
	l.refill(g.pool)
	wantInt(t, "slices of a period end with it", g.pool.expires, 137*millisecond)
	for sliceEnd, wantPool := range map[int64]int64{137: 23_200_000, 136: 20_000_000} {
		b, p := g.queues[0].bandwidth, g.pool
		p.runtime, b.remaining, b.expires = 20_000_000, 4_200_000, sliceEnd*millisecond
		g.queues[0].nr = 0
		l.giveBack(g.queues[0])
		wantInt(t, "pool after 3.2 ms were given back", p.runtime, wantPool)
		wantInt(t, "kept", b.remaining, millisecond)
	}
}
