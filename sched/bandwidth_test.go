package sched

import (
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
)

// perPeriod is a limit of so many ms in every 100 ms.
func perPeriod(ms int64) Limit { return Limit{Quota: ms * millisecond, Period: 100 * millisecond} }

// oldBandwidth is v4.14 with other rules of bandwidth control.
func oldBandwidth(rules bandwidthRules) *Profile {
	p := v414
	p.Name, p.Bandwidth = "v4.14 with other bandwidth rules", rules
	return &p
}

// v32With is v3.2 with patches.
func v32With(features ...Feature) *Profile {
	p := v32
	p.Defaults |= Features(features...)
	return &p
}

// profileLab is newLab for a profile of the test's own.
func profileLab(t testing.TB, m *machine.Machine, p *Profile) *lab {
	t.Helper()
	l := &lab{asked: newRequests(m.NumCPUs())}
	var err error
	if l.Scheduler, err = New(NewConfig(m, p), &l.asked); err != nil {
		t.Fatal(err)
	}
	return l
}

// limited adds a group with a limit.
func (l *lab) limited(t testing.TB, parent *TaskGroup, name string, limit Limit) *TaskGroup {
	t.Helper()
	g := l.NewGroup(parent, name)
	if err := l.SetLimit(l.clock, g, limit); err != nil {
		t.Fatal(err)
	}
	return g
}

func (l *lab) verify(t testing.TB) {
	t.Helper()
	if err := l.CheckInvariants(); err != nil {
		t.Fatalf("at %d ns: %v", l.clock, err)
	}
}

// mechanisms.md 4.13, example 1: quota 50 ms of 100 ms and one endless loop. It
// runs ten slices of 5 ms, then waits: half of the time, to a tick of 4 ms in
// each period, and every period is one that throttled.
func TestSpinnerGetsItsQuota(t *testing.T) {
	for _, kernel := range []string{"v3.2", "v3.8", "v4.14", "v5.10", "v5.17", "v6.1", "v6.12", "v7.2"} {
		l := newLab(t, uniprocessor(), kernel)
		g := l.limited(t, l.Root(), "/g", perPeriod(50))
		task := l.hog(TaskSpec{Group: g}, 0)
		const periods = 20
		l.advance(periods * 100 * millisecond)
		l.verify(t)
		got := l.RunTime(l.clock, task)
		if want := periods * 50 * millisecond; got < want-4*millisecond || got > want+54*millisecond {
			t.Errorf("%s: ran %d ns of 2 s, want %d and at most one more period's share", kernel, got, want)
		}
		st := g.BandwidthStats()
		if st.Periods < periods-1 || st.Periods > periods || st.Throttled < st.Periods-1 {
			t.Errorf("%s: %d periods, %d throttled; want %d or one less, all but one throttled", kernel, st.Periods, st.Throttled, periods)
		}
		if idle := l.clock - got; st.ThrottledTime > idle || st.ThrottledTime < idle-100*millisecond {
			t.Errorf("%s: throttled for %d ns, but %d ns were idle", kernel, st.ThrottledTime, idle)
		}
	}
}

// Examples 2 and 3: queues owe 2 and 1 ms. The pool pays the first in line
// first, and each just enough to have 1 ns.
func TestDistribution(t *testing.T) {
	for _, c := range []struct {
		pool, first, second, left int64
		freed                     [2]bool
	}{
		{pool: 2_000_000, first: 0, second: -1_000_000, left: 0},                          // needs 2 000 001
		{pool: 3_000_001, first: 1, second: 0, left: 0, freed: [2]bool{true, false}},      // 1 000 000 is 1 short
		{pool: 3_500_000, first: 1, second: 1, left: 499_998, freed: [2]bool{true, true}}, // 2 000 001 + 1 000 001
	} {
		l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), "v5.17")
		g := l.limited(t, l.Root(), "/g", perPeriod(50))
		p := g.pool
		queues := [2]*cfsRQ{g.queues[0], g.queues[1]}
		p.runtime = 0
		for i, debt := range []int64{2 * millisecond, millisecond} {
			queues[i].bandwidth.remaining = -debt
			if !l.throttle(queues[i]) {
				t.Fatal("a queue in debt was not throttled although the pool is empty")
			}
		}
		p.runtime = c.pool
		l.distribute(p, 0)
		for i, want := range []int64{c.first, c.second} {
			b := queues[i].bandwidth
			if b.remaining != want || b.throttled == c.freed[i] {
				t.Errorf("pool of %d: queue %d has %d, throttled %v; want %d, freed %v", c.pool, i, b.remaining, b.throttled, want, c.freed[i])
			}
		}
		if p.runtime != c.left {
			t.Errorf("pool of %d: %d are left, want %d", c.pool, p.runtime, c.left)
		}
	}
}

// Example 4: quota 20, burst 10, 15 left: the refill makes 35, but 30 is the
// most. In the next period 4 are left: 24, which is 6 less than before: the
// period has used 26, a burst of 6 beyond the quota.
func TestBurst(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	g := l.limited(t, l.Root(), "/g", Limit{Quota: 20 * millisecond, Period: 100 * millisecond, Burst: 10 * millisecond})
	p := g.pool
	p.runtime = 15 * millisecond
	l.refill(p)
	if p.runtime != 30*millisecond || p.stats.Bursts != 0 {
		t.Fatalf("after the first refill %d ns and %d bursts, want 30 ms and none", p.runtime, p.stats.Bursts)
	}
	p.runtime = 4 * millisecond
	l.refill(p)
	if st := g.BandwidthStats(); p.runtime != 24*millisecond || st.Bursts != 1 || st.BurstTime != 6*millisecond {
		t.Errorf("after the second refill %d ns, %d bursts of %d ns; want 24 ms, one of 6 ms", p.runtime, st.Bursts, st.BurstTime)
	}
}

// emptying is example 5's moment: CPU 0's queue has 4.2 ms, the pool 2 ms, and
// the queue of CPU 1 is throttled with 1 ns to pay.
func emptying(t *testing.T, p *Profile, others int) (*lab, *TaskGroup) {
	l := profileLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), p)
	g := l.limited(t, l.Root(), "/g", perPeriod(50))
	pinned := machine.MaskOf(2, 0)
	leaver := l.hog(TaskSpec{Group: g, Allowed: pinned}, 0)
	l.settle()
	for range others {
		l.hog(TaskSpec{Group: g, Allowed: pinned}, 0)
	}
	if l.Current(0) != leaver {
		t.Fatal("the task that is to leave does not run")
	}
	g.pool.runtime = 0
	g.queues[1].bandwidth.remaining = 0
	l.throttle(g.queues[1])
	g.pool.runtime = 2 * millisecond
	g.queues[0].bandwidth.remaining = 4_200_000
	g.queues[0].bandwidth.stamp(g.pool)
	return l, g
}

// Example 5: what is above 1 ms goes back: 3.2 ms. The pool has 5.2 ms then,
// more than a slice, and somebody waits: it is distributed 5 ms later, unless
// the refill is less than 7 ms away.
func TestReturnOfSurplus(t *testing.T) {
	for _, c := range []struct {
		refill int64
		starts bool
	}{{6_900_000, false}, {7_100_000, true}} {
		l, g := emptying(t, &v517, 0)
		p := g.pool
		p.next = l.clock + c.refill
		l.asked.timers = nil
		l.Schedule(l.clock, 0, true)
		if left := g.queues[0].bandwidth.remaining; left != millisecond || p.runtime != 5_200_000 {
			t.Fatalf("the emptied queue keeps %d and the pool has %d, want 1 ms and 5.2 ms", left, p.runtime)
		}
		if (len(l.asked.timers) == 1) != c.starts {
			t.Fatalf("refill in %d ns: %d timers armed, want one: %v", c.refill, len(l.asked.timers), c.starts)
		}
		if !c.starts {
			continue
		}
		timer := l.asked.timers[0]
		if timer.at != l.clock+5*millisecond || !timer.slack {
			t.Fatalf("armed for %d ns, want the slack timer in 5 ms", timer.at-l.clock)
		}
		l.ExpireTimer(timer.at, timer.cpu, timer.Timer) // 2.1 ms before the refill: still worth it
		if g.Throttled(1) || p.runtime != 5_199_999 {
			t.Errorf("after the slack timer: throttled %v, pool %d; want free for 1 ns", g.Throttled(1), p.runtime)
		}
	}
}

// Example 6: v3.2 has the test for an empty queue the wrong way round. With one
// task left it returns 3.2 ms, with none it keeps all.
func TestInvertedReturn(t *testing.T) {
	for _, c := range []struct {
		features []Feature
		others   int
		returned int64
	}{
		{nil, 1, 3_200_000},
		{nil, 0, 0},
		{[]Feature{BandwidthReturnFix}, 1, 0},
		{[]Feature{BandwidthReturnFix}, 0, 3_200_000},
	} {
		l, g := emptying(t, v32With(c.features...), c.others)
		l.Schedule(l.clock, 0, true)
		if got := g.pool.runtime - 2*millisecond; got != c.returned {
			t.Errorf("features %v, %d tasks left: %d ns returned, want %d", Features(c.features...).Names(), c.others, got, c.returned)
		}
	}
}

// Example 7: a task that wakes behind a throttled group counts in its parent's
// counters but not on its CPU.
func TestWakeupBehindThrottledParent(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	parent := l.limited(t, l.Root(), "/p", perPeriod(10))
	child := l.NewGroup(parent, "/p/c")
	l.hog(TaskSpec{Group: parent}, 0)
	sleeper := l.add(TaskSpec{Group: child}, 0, millisecond, 30*millisecond)
	l.advance(30 * millisecond)
	if !parent.Throttled(0) || sleeper.Queued() {
		t.Fatalf("after 30 ms with a quota of 10: throttled %v, sleeper awake %v", parent.Throttled(0), sleeper.Queued())
	}
	h := parent.queues[0].h
	l.advance(20 * millisecond)
	l.verify(t)
	if !sleeper.Queued() || parent.queues[0].h != h+1 || l.NrRunning(0) != 0 || !l.Idle(0) {
		t.Errorf("awake %v, parent's H %d (was %d), nr_running %d, idle %v; want one more below and none on the CPU",
			sleeper.Queued(), parent.queues[0].h, h, l.NrRunning(0), l.Idle(0))
	}
}

// looks notes when a CPU looks for work.
type looks struct {
	l     *lab
	g     *TaskGroup
	found []string
}

func (o *looks) LooksForWork(cpu int) {
	state := "available"
	switch {
	case o.g.Throttled(cpu):
		state = "throttled"
	case o.g.queues[cpu].throttled:
		state = "throttling"
	}
	o.found = append(o.found, state)
}

// Example 8: a CPU's only group, with two tasks, uses up its quota. v3.2 puts
// the running task back after it would have looked for work, so it does not
// look. With throttle states nr_running is 0 when the quota is, the CPU looks
// once, and then throttles.
func TestThrottleStatesLookForWork(t *testing.T) {
	for _, c := range []struct {
		profile *Profile
		want    string
	}{
		{v32With(), ""},
		{v32With(ThrottleStates), "throttling"},
		{&v517, "throttled"}, // since v3.15 it throttles first, then looks
	} {
		l := profileLab(t, uniprocessor(), c.profile)
		g := l.limited(t, l.Root(), "/g", perPeriod(20))
		l.hog(TaskSpec{Group: g}, 0)
		l.hog(TaskSpec{Group: g}, 0)
		l.settle()
		seen := &looks{l: l, g: g}
		l.Observe(lookObserver{looks: seen})
		for !g.Throttled(0) && !g.queues[0].throttled && l.clock < 100*millisecond {
			l.clock += 4 * millisecond
			l.Tick(l.clock, 0)
		}
		if c.want == "throttling" && l.NrRunning(0) != 0 {
			t.Errorf("%s: nr_running is %d once the quota is used up, want 0", c.profile.Name, l.NrRunning(0))
		}
		l.verify(t)
		l.settle()
		l.verify(t)
		if !g.Throttled(0) || l.Current(0) != nil || strings.Join(seen.found, " ") != c.want {
			t.Errorf("%s %v: throttled %v, looked for work %q, want %q", c.profile.Name, c.profile.Defaults.Names(), g.Throttled(0), seen.found, c.want)
		}
	}
}

// The transitions of 4.10 that the examples do not reach: a quota that is taken
// away while a queue is throttling, and a queue that empties meanwhile.
func TestThrottlingEndsOtherwise(t *testing.T) {
	throttling := func(quiet *testing.T) (*lab, *TaskGroup) {
		l := profileLab(quiet, uniprocessor(), v32With(ThrottleStates))
		g := l.limited(quiet, l.Root(), "/g", perPeriod(20))
		l.hog(TaskSpec{Group: g}, 0)
		l.settle()
		for !g.queues[0].throttled {
			l.clock += 4 * millisecond
			l.Tick(l.clock, 0)
		}
		return l, g
	}
	l, g := throttling(t)
	if err := l.SetLimit(l.clock, g, NoLimit()); err != nil {
		t.Fatal(err)
	}
	l.verify(t)
	if l.NrRunning(0) != 1 {
		t.Errorf("without the quota nr_running is %d, want 1 again", l.NrRunning(0))
	}
	l.settle()
	if l.Current(0) == nil {
		t.Error("without the quota the task does not run")
	}

	l, g = throttling(t)
	l.Schedule(l.clock, 0, true)
	l.verify(t)
	if !g.Throttled(0) || g.queues[0].h != 0 {
		t.Errorf("emptied while throttling: throttled %v, H %d; want the throttling completed", g.Throttled(0), g.queues[0].h)
	}
}

// BANDWIDTH_STATIC_KEY: v3.2 asks at every turn whether a queue has a limit, also
// while no group has one; with the patch, and on later kernels, it does not.
func TestStaticKey(t *testing.T) {
	for _, c := range []struct {
		profile *Profile
		asks    bool
	}{{v32With(), true}, {v32With(BandwidthStaticKey), false}, {&v38, false}, {&v72, false}} {
		l := profileLab(t, uniprocessor(), c.profile)
		g := l.NewGroup(l.Root(), "/g")
		l.hog(TaskSpec{Group: g}, 0)
		l.advance(50 * millisecond)
		if asked := l.Work().BandwidthChecks; (asked > 0) != c.asks {
			t.Errorf("%s %v: asked %d times without a limit", c.profile.Name, c.profile.Defaults.Names(), asked)
		}
		if err := l.SetLimit(l.clock, g, perPeriod(50)); err != nil {
			t.Fatal(err)
		}
		before := l.Work().BandwidthChecks
		l.advance(50 * millisecond)
		if l.Work().BandwidthChecks == before {
			t.Errorf("%s: a limit is not looked at", c.profile.Name)
		}
	}
}

// A CPU that goes offline lets the tasks of its throttled queues go; the limit
// holds again when it is back.
func TestLimitsSurviveHotplug(t *testing.T) {
	l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), "v6.1")
	g := l.limited(t, l.Root(), "/g", perPeriod(20))
	task := l.hog(TaskSpec{Group: g}, 1)
	l.advance(60 * millisecond)
	cpu := task.CPU()
	if !g.Throttled(cpu) {
		t.Fatal("not throttled after 60 ms with a quota of 20")
	}
	if err := l.Offline(l.clock, cpu); err != nil {
		t.Fatal(err)
	}
	l.settle()
	l.verify(t)
	if task.CPU() == cpu || !task.Queued() || g.Throttled(cpu) {
		t.Errorf("offline: on CPU %d, queued %v, throttled there %v", task.CPU(), task.Queued(), g.Throttled(cpu))
	}
	if err := l.Online(l.clock, cpu); err != nil {
		t.Fatal(err)
	}
	l.advance(200 * millisecond)
	l.verify(t)
	if b := g.queues[cpu].bandwidth; !b.enabled {
		t.Error("back online the queue has no limit")
	}
}

// What fills in the moment at which a refill is made: v3.2 when a queue asks,
// later kernels before the timer stops.
func TestStoppedTimerLeavesAFullPool(t *testing.T) {
	for _, p := range []*Profile{v32With(), &v38, &v414, &v517} {
		l := profileLab(t, uniprocessor(), p)
		g := l.limited(t, l.Root(), "/g", perPeriod(50))
		j := l.add(TaskSpec{Group: g}, 0, 30*millisecond, 500*millisecond)
		l.advance(450 * millisecond)
		if len(l.asked.timers) != 0 {
			t.Fatalf("%s: the period timer still runs after three idle periods", p.Name)
		}
		l.advance(150 * millisecond)
		if st := g.BandwidthStats(); j.wakes != 1 || st.Throttled != 0 {
			t.Errorf("%s: %d wakeups, %d periods throttled; 30 of 50 ms are never too much", p.Name, j.wakes, st.Throttled)
		}
	}
}

// A period that ends while its own end is being handled, three times in a row,
// is too short: it is doubled with its quota.
func TestTooShortPeriodIsLengthened(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	g := l.limited(t, l.Root(), "/g", Limit{Quota: millisecond, Period: millisecond})
	l.prices.PoolLock = 2 * millisecond // refilling alone takes two periods
	l.setNow(5 * millisecond)
	l.expirePeriod(g.pool, 0)
	if got := g.Limit(); got.Period < 2*millisecond || got.Quota != got.Period {
		t.Errorf("the limit is %+v, want period and quota doubled until the handling fits", got)
	}
}

// mechanisms-modern.md 3.1: the burst is doubled, too, and nothing is once the
// period would reach a second.
func TestPeriodIsLengthenedWithItsBurst(t *testing.T) {
	for _, c := range []struct{ period, times int64 }{{100, 2}, {499, 2}, {500, 1}} {
		p := bandwidthPool{limit: Limit{Quota: 20 * millisecond, Period: c.period * millisecond, Burst: 10 * millisecond}}
		p.lengthen()
		if want := (Limit{Quota: c.times * 20 * millisecond, Period: c.times * c.period * millisecond, Burst: c.times * 10 * millisecond}); p.limit != want {
			t.Errorf("%d ms: %+v, want %+v", c.period, p.limit, want)
		}
	}
}

// mechanisms-modern.md 3.1: other CPUs free their own queues, all with one
// interrupt; the CPU's own queue is freed after the walk. A queue that is on such a
// list already is passed over, and the pool's end is the walk's.
func TestQueuesOfOtherCPUsAreFreedThere(t *testing.T) {
	for _, kernel := range []string{"v6.12", "v7.2"} {
		l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 3, threads: 1}.build(), kernel)
		groups := []*TaskGroup{l.limited(t, l.Root(), "/a", perPeriod(50)), l.limited(t, l.Root(), "/b", perPeriod(50))}
		for _, g := range groups {
			g.pool.runtime = 0
			for cpu := range 3 {
				q := g.queues[cpu]
				q.bandwidth.remaining = 0
				if l.profile.ThrottlesTasks {
					l.throttleTasks(q)
				} else {
					l.throttle(q)
				}
			}
			g.pool.runtime = 2 // for two of the three queues
			l.distribute(g.pool, 0)
		}
		for _, g := range groups {
			if g.Throttled(0) || !g.Throttled(1) || !g.Throttled(2) {
				t.Errorf("%s, %s: throttled %v %v %v; want the own queue free", kernel, g.Name(), g.Throttled(0), g.Throttled(1), g.Throttled(2))
			}
			if first, second := g.queues[1].bandwidth.remaining, g.queues[2].bandwidth.remaining; first != 1 || second != 0 {
				t.Errorf("%s, %s: CPUs 1 and 2 have %d and %d ns, want 1 and nothing", kernel, g.Name(), first, second)
			}
		}
		if !take(&l.asked.unthrottle[1]) || l.asked.unthrottle[2] || l.asked.unthrottle[0] {
			t.Errorf("%s: interrupts asked for: %v; want CPU 1 alone", kernel, l.asked.unthrottle)
		}
		groups[0].pool.runtime = 5
		l.distribute(groups[0].pool, 0)
		if left := groups[0].queues[1].bandwidth.remaining; left != 1 || l.asked.unthrottle[1] {
			t.Errorf("%s: a queue on its way back got more (%d ns), interrupt %v", kernel, left, l.asked.unthrottle[1])
		}
		l.HandleUnthrottle(l.clock, 1)
		if groups[0].Throttled(1) || groups[1].Throttled(1) {
			t.Errorf("%s: CPU 1 has not freed its two queues", kernel)
		}
	}
}

// mechanisms-modern.md 3.1: the time of an empty queue does not count as throttled
// (v6.6); from the first task on it does.
func TestThrottledClockNeedsTasks(t *testing.T) {
	for kernel, want := range map[string]int64{"v6.1": 20 * millisecond, "v6.12": 5 * millisecond, "v7.2": 5 * millisecond} {
		l := newLab(t, uniprocessor(), kernel)
		g := l.limited(t, l.Root(), "/g", perPeriod(50))
		q := g.queues[0]
		g.pool.runtime, q.bandwidth.remaining = 0, 0
		if l.profile.ThrottlesTasks {
			l.throttleTasks(q)
		} else {
			l.throttle(q)
		}
		l.clock += 15 * millisecond
		l.hog(TaskSpec{Group: g}, 0)
		l.clock += 5 * millisecond
		l.setNow(l.clock)
		g.pool.runtime = 50 * millisecond
		l.distribute(g.pool, 0)
		wantInt(t, kernel+": throttled time", g.BandwidthStats().ThrottledTime, want)
	}
}

// Limits that cannot be are refused with the path and the rule.
func TestLimitsThatCannotBe(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	parent := l.limited(t, l.Root(), "/p", perPeriod(50))
	child := l.NewGroup(l.NewGroup(parent, "/p/q"), "/p/q/c")
	for _, c := range []struct {
		group *TaskGroup
		limit Limit
		want  string
	}{
		{parent, Limit{Quota: 0, Period: 100 * millisecond}, "cpu.max of /p: a limit of 0 us"},
		{parent, Limit{Quota: 999_000, Period: 100 * millisecond}, "at least 1000 us, not 999 us"},
		{parent, Limit{Quota: millisecond, Period: 999_000}, "the period must be between 1000 us (1 ms) and 1000000 us (1 s), not 999 us"},
		{parent, Limit{Quota: millisecond, Period: second + 1000}, "not 1000001 us"},
		{parent, Limit{Quota: millisecond, Period: 100 * millisecond, Burst: millisecond + 1000}, "cpu.max.burst of /p: 1001 us is more than its limit of 1000 us"},
		{child, perPeriod(51), "cpu.max of /p/q/c: 0.51 CPUs are more than the 0.5 CPUs of /p above it; a child may not have more than its parent"},
		{l.Root(), perPeriod(50), "root group"},
	} {
		if err := l.SetLimit(0, c.group, c.limit); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %+v: %v, want an error with %q", c.group.Name(), c.limit, err, c.want)
		}
	}
	if err := l.SetLimit(0, child, Limit{Quota: 100 * millisecond, Period: 200 * millisecond}); err != nil {
		t.Errorf("half a CPU below half a CPU: %v", err)
	}
	if err := l.SetLimit(0, parent, perPeriod(20)); err == nil || !strings.Contains(err.Error(), "/p/q/c: 0.5 CPUs are more than the 0.2 CPUs of /p") {
		t.Errorf("a parent below its child: %v", err)
	}
	old := newLab(t, uniprocessor(), "v5.10")
	if err := old.SetLimit(0, old.NewGroup(old.Root(), "/b"), Limit{Quota: millisecond, Period: 100 * millisecond, Burst: 1}); err == nil || !strings.Contains(err.Error(), "v5.14") {
		t.Errorf("burst on v5.10: %v", err)
	}
}

// lookObserver hears of nothing else.
type lookObserver struct{ *looks }

func (lookObserver) PlacementBegins(*Placement)        {}
func (lookObserver) PlacementEnds(*Placement, int)     {}
func (lookObserver) Moves(*Task, int)                  {}
func (lookObserver) Arrives(*Task)                     {}
func (lookObserver) Queued(*Task, bool)                {}
func (lookObserver) Scheduled(int, *Task, *Task, bool) {}
func (lookObserver) Interrupted(int, *Task)            {}
func (lookObserver) Decays(int)                        {}
func (lookObserver) PassBegins(*PassView)              {}
func (lookObserver) PassEnds(int, int)                 {}
func (lookObserver) Judged(*JudgementView)             {}
func (lookObserver) OverloadChanged(int, bool)         {}
func (lookObserver) Throttled(*TaskGroup, int)         {}
func (lookObserver) Unthrottled(*TaskGroup, int)       {}
func (lookObserver) IdleCostChanged(int, int64)        {}
func (lookObserver) Blocks(*Task, bool)                {}
func (lookObserver) DelayEnds(int, *Task, *TaskGroup)  {}
func (lookObserver) WakesInPlace(*Task, int)           {}
