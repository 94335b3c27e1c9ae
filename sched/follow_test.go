package sched

import (
	"testing"

	"github.com/schedlab/schedlab/machine"
)

const msec = 1_000_000 // ns

// newFollowed returns a follower of v6.1 on two nodes of two cores of two
// threads: CPUs 0, 1, 4, 5 share a cache and 2, 3, 6, 7; 0 and 4 are siblings.
func newFollowed(t *testing.T, kernel string) *Follower {
	t.Helper()
	m, err := machine.Parse("2n2c2t")
	if err != nil {
		t.Fatal(err)
	}
	p, err := LookupProfile(kernel)
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFollower(NewConfig(m, p))
	if err != nil {
		t.Fatal(err)
	}
	f.Advance(1_000 * msec)
	return f
}

// sleeper makes a task that has slept on a CPU.
func (f *Follower) sleeper(id int32, cpu int) *Task {
	return f.s.NewTask(TaskSpec{ID: id, CPU: cpu})
}

// runner makes a task that runs on a CPU.
func (f *Follower) runner(id int32, cpu int) *Task {
	t := f.sleeper(id, cpu)
	f.Switch(cpu, nil, t, LeavesPreempted)
	return t
}

func check(t *testing.T, f *Follower) {
	t.Helper()
	if err := f.s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

func TestFollowSwitchKeepsQueues(t *testing.T) {
	f := newFollowed(t, "v6.1")
	a, b := f.runner(1, 0), f.sleeper(2, 0)
	f.Woken(b, 0)
	if f.s.NrRunning(0) != 2 || f.s.Current(0) != a || f.s.Idle(0) {
		t.Fatalf("%d tasks, running %v", f.s.NrRunning(0), f.s.Current(0))
	}
	f.Advance(1_004 * msec)
	f.Switch(0, a, b, LeavesBlocked)
	if f.s.NrRunning(0) != 1 || f.s.Current(0) != b || a.Queued() {
		t.Errorf("%d tasks, running %v, a queued %v", f.s.NrRunning(0), f.s.Current(0), a.Queued())
	}
	check(t, f)
	f.Switch(0, b, nil, LeavesBlocked)
	if !f.s.Idle(0) {
		t.Error("CPU 0 is not idle")
	}
	check(t, f)
}

// The newest event is right: a task that the recording shows on CPU 5 is taken
// there from wherever the model had it.
func TestFollowMendsWhatEventsContradict(t *testing.T) {
	f := newFollowed(t, "v6.1")
	a := f.sleeper(1, 0)
	f.Woken(a, 0)
	b := f.runner(2, 5)
	f.Switch(5, b, a, LeavesPreempted)
	if a.CPU() != 5 || f.s.Current(5) != a || f.s.NrRunning(0) != 0 || f.s.NrRunning(5) != 2 {
		t.Errorf("a on %d, CPU 0 has %d, CPU 5 %d", a.CPU(), f.s.NrRunning(0), f.s.NrRunning(5))
	}
	check(t, f)
}

// A task on a wake list makes its CPU not idle until it is queued
// (mechanisms-modern.md 1.2).
func TestFollowWakeList(t *testing.T) {
	f := newFollowed(t, "v6.1")
	f.runner(1, 0)
	p := f.sleeper(2, 5)
	f.Placed(p, 0, 6) // another cache: by its wake list
	if f.s.Idle(6) || p.CPU() != 6 || f.s.NrRunning(6) != 0 {
		t.Errorf("idle %v, on %d", f.s.Idle(6), p.CPU())
	}
	check(t, f)
	f.Woken(p, 6)
	if f.s.NrRunning(6) != 1 || f.s.rqs[6].wakePending {
		t.Errorf("%d tasks, pending %v", f.s.NrRunning(6), f.s.rqs[6].wakePending)
	}
	check(t, f)

	q := f.sleeper(3, 0)
	f.Placed(q, 0, 0) // the waker's own CPU: at once
	if f.s.rqs[0].wakePending {
		t.Error("a wakeup on the waker's CPU went to a wake list")
	}
}

func TestFollowMoveAndGroups(t *testing.T) {
	f := newFollowed(t, "v6.1")
	g := f.s.NewGroup(f.s.Root(), "/g")
	a := f.runner(1, 0)
	f.SetGroup(a, g)
	b := f.sleeper(2, 0)
	f.Woken(b, 0)
	f.Move(b, 7)
	if f.s.NrRunning(0) != 1 || f.s.NrRunning(7) != 1 || f.s.Current(0) != a {
		t.Errorf("CPU 0 has %d, CPU 7 %d", f.s.NrRunning(0), f.s.NrRunning(7))
	}
	check(t, f)
}

// A real-time task counts in nr_running, but is no fair task: the CPU is not
// idle, and not sched-idle either.
func TestFollowOtherClasses(t *testing.T) {
	f := newFollowed(t, "v6.1")
	stopper := f.sleeper(1, 3)
	f.SetClass(stopper, true, 0)
	f.Woken(stopper, 3)
	f.Switch(3, nil, stopper, LeavesPreempted)
	if f.s.Idle(3) || f.s.NrRunning(3) != 1 || f.s.rqs[3].cfs.h != 0 || f.s.Load(3) != 0 {
		t.Errorf("idle %v, nr %d, h %d, load %d", f.s.Idle(3), f.s.NrRunning(3), f.s.rqs[3].cfs.h, f.s.Load(3))
	}
	f.Switch(3, stopper, nil, LeavesBlocked)
	if !f.s.Idle(3) {
		t.Error("not idle after the stopper")
	}
}

// Everything of wakee_flips is inherited, the last wakee too: the child's first
// wakeup of its parent's last wakee is no flip (mechanisms-modern.md 1.3).
func TestFollowForkInheritsFlips(t *testing.T) {
	f := newFollowed(t, "v6.1")
	parent, wakee := f.runner(1, 0), f.sleeper(2, 1)
	q := Question{Task: wakee, Here: 0, Prev: 1, Kind: KindWake}
	f.Ask(&q, nil)
	if parent.Flips() != 1 {
		t.Fatalf("%d flips of the parent", parent.Flips())
	}
	child := &Task{ID: 3}
	f.Forked(parent, child, 0)
	f.ForkPlaced(child, 1)
	f.Started(child, 1)
	f.Switch(1, nil, child, LeavesPreempted)
	q.Here = 1
	f.Ask(&q, nil)
	if child.Flips() != 1 {
		t.Errorf("%d flips of the child, want the parent's 1", child.Flips())
	}
	check(t, f)
}

// Jiffies lag behind time and never lead: of two observations the one with the
// smaller distance tells when jiffies begin. HZ 250: 4 ms each.
func TestFollowJiffies(t *testing.T) {
	f := newFollowed(t, "v6.1")
	f.Advance(1_003 * msec)
	f.SetJiffies(1_003*msec, 5_000) // jiffy 5000 began at 1,003 ms or before
	f.Advance(1_006 * msec)
	f.SetJiffies(1_006*msec, 5_001) // 5001 at 1,006 or before: 5000 at 1,002
	f.Advance(1_010 * msec)
	if f.s.jiffies != 5_002 {
		t.Errorf("jiffies %d at 1,010 ms, want 5002", f.s.jiffies)
	}
	if next := f.JiffyAfter(1_010 * msec); next != 1_014*msec {
		t.Errorf("the next begins at %d, want 1,014 ms", next)
	}
}

// A CPU that lost its turn while it switched had read its clock before: the
// task is charged up to then. 10 ms instead of 30.
func TestFollowAtAnEarlierTime(t *testing.T) {
	f := newFollowed(t, "v6.1")
	f.TickByHand()
	a := f.runner(1, 0)
	f.Advance(1_030 * msec)
	f.At(1_010*msec, func() { f.Switch(0, a, nil, LeavesBlocked) })
	if a.SumExec() != 10*msec {
		t.Errorf("charged %d ns, want 10 ms", a.SumExec())
	}
	if f.Now() != 1_030*msec {
		t.Errorf("time is %d", f.Now())
	}
}

// Start values: a task that was never seen keeps the load of its queue as it
// is; one that was followed corrects it by the difference.
func TestFollowHiddenState(t *testing.T) {
	f := newFollowed(t, "v6.1")
	fresh := f.sleeper(1, 2)
	f.SetLoad(2, 700)
	h := Hidden{Flips: 5, Decay: 9, Recent: 3, Load: 500, Util: 300}
	f.SetHidden(fresh, h, true)
	if f.s.Load(2) != 700 || f.Hidden(fresh) != h {
		t.Errorf("load %d, hidden %+v", f.s.Load(2), f.Hidden(fresh))
	}
	seen := f.runner(2, 0) // guessed at a full load of 1024
	before := f.s.Load(0)
	f.SetHidden(seen, h, false)
	if got := f.s.Load(0); got != before-(1024-500) {
		t.Errorf("load %d, was %d", got, before)
	}
}

// Two tasks in a throttled group vanish from the levels above and come back
// (mechanisms.md 4.3, 4.4).
func TestFollowThrottle(t *testing.T) {
	f := newFollowed(t, "v6.1")
	g := f.s.NewGroup(f.s.Root(), "/limited")
	a, b, other := f.runner(1, 0), f.sleeper(2, 0), f.sleeper(3, 0)
	f.SetGroup(a, g)
	f.SetGroup(b, g)
	f.Woken(b, 0)
	f.Woken(other, 0)
	f.Throttle(g, 0)
	if f.s.NrRunning(0) != 1 || f.s.rqs[0].cfs.h != 1 {
		t.Errorf("throttled: nr %d, h %d, want 1 and 1", f.s.NrRunning(0), f.s.rqs[0].cfs.h)
	}
	f.Switch(0, a, other, LeavesRunnable)
	load := g.queues[0].avg.loadAvg
	f.Advance(1_100 * msec)
	f.Switch(0, other, nil, LeavesBlocked)
	if !f.s.Idle(0) {
		t.Error("CPU 0 is not idle although its group is throttled")
	}
	f.Unthrottle(g, 0)
	if f.s.NrRunning(0) != 2 || f.s.Idle(0) {
		t.Errorf("unthrottled: nr %d", f.s.NrRunning(0))
	}
	if got := g.queues[0].avg.loadAvg; got != load {
		t.Errorf("load %d, was %d: the clock should have stood still", got, load)
	}
	check(t, f)
}

// A CPU cannot fall idle while it has runnable tasks: they are hidden behind a
// throttling, and back with the unthrottling.
func TestFollowThrottlingThatNoEventShows(t *testing.T) {
	f := newFollowed(t, "v7.2")
	g := f.s.NewGroup(f.s.Root(), "/limited")
	a := f.runner(1, 0)
	f.SetGroup(a, g)
	f.Throttle(g, 0)
	if f.s.NrRunning(0) != 1 {
		t.Error("v7.2 takes tasks off one by one, not at once")
	}
	f.Switch(0, a, nil, LeavesRunnable)
	if !f.s.Idle(0) || f.s.NrRunning(0) != 0 {
		t.Errorf("idle %v, nr %d", f.s.Idle(0), f.s.NrRunning(0))
	}
	f.Unthrottle(g, 0)
	if f.s.NrRunning(0) != 1 {
		t.Errorf("nr %d after the unthrottling", f.s.NrRunning(0))
	}
	check(t, f)
}

// A task that was woken in place, on its own CPU, had been queued all the time:
// its load kept growing. From 0, 32 periods of 1024 us make half of 1024.
func TestFollowDelayedTaskMakesUpItsLoad(t *testing.T) {
	f := newFollowed(t, "v6.12")
	f.runner(1, 0)
	p := f.sleeper(2, 0)
	f.Rested(p)
	f.SetHidden(p, Hidden{}, true)
	f.Advance(f.Now() + 32<<20)
	f.WokenInPlace(p)
	if got := p.LoadAvg(); got < 505 || got > 515 {
		t.Errorf("load %d, want about 512", got)
	}
	if p.UtilAvg() != 0 {
		t.Errorf("utilization %d, want 0: it did not run", p.UtilAvg())
	}
}

// Suppositions answer without consequences once the state is restored.
func TestSupposeAndRestore(t *testing.T) {
	f := newFollowed(t, "v6.1")
	waker := f.runner(1, 0)
	f.runner(2, 2)
	p := f.sleeper(3, 2)
	f.s.rqs[0].llcShared.HasIdleCores = false
	f.s.rqs[0].llcShared.NrIdleScan = 0
	q := Question{Task: p, Here: 0, Prev: 2, Kind: KindWake}
	f.Remember(&q)
	for name, c := range map[string]struct {
		change func(*Supposition)
		want   int
	}{
		// Prev's cache: an idle core is hinted at, the search starts behind 2.
		"as it is":      {func(*Supposition) {}, 3},
		"wide":          {func(s *Supposition) { s.Wide = 1 }, 3},
		"prev idle":     {func(s *Supposition) { s.Idle = 2 }, 2},
		"no hint there": {func(s *Supposition) { s.IdleCores[1] = true }, 6},
		// Here: nothing is idle in the hint or the budget, so here itself.
		"loads favour here": {func(s *Supposition) { s.Loads = LoadsFavourHere }, 0},
		"and a core":        {func(s *Supposition) { s.Loads, s.IdleCores[0], s.Scan = LoadsFavourHere, true, 4 }, 1},
	} {
		f.Restore(&q)
		what := Nothing()
		c.change(&what)
		if got := f.Suppose(&q, what, nil); got != c.want {
			t.Errorf("%s: CPU %d, want %d", name, got, c.want)
		}
	}
	f.Restore(&q)
	if waker.Flips() != 0 || p.RecentUsedCPU() != 2 || !f.s.rqs[2].llcShared.HasIdleCores || f.s.rqs[0].llcShared.HasIdleCores {
		t.Errorf("flips %d, recent %d: not restored", waker.Flips(), p.RecentUsedCPU())
	}
	if f.s.Idle(2) || !f.s.Idle(3) {
		t.Error("the idle CPUs are not restored")
	}
}

func TestNiceWithin(t *testing.T) {
	for _, c := range []struct {
		least, most int64
		nice        int8
		ok          bool
	}{{1024, 1024, 0, true}, {334, 340, 5, true}, {3120, 3150, -5, true}, {1025, 1100, 0, false}} {
		if nice, ok := NiceWithin(c.least, c.most); nice != c.nice || ok != c.ok {
			t.Errorf("weights %d to %d: nice %d, %v", c.least, c.most, nice, ok)
		}
	}
}
