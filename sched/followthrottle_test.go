package sched

import "testing"

// pelt32 is 32 periods of 1024 us, after which half of a load is left.
const pelt32 = 32 << 20

// v7.2 leaves a throttled queue and its tasks where they are; each goes as it
// is preempted on its way to user mode. The averages go on as long as a task is
// left, and stand still from then on (mechanisms-modern.md 3.2).
func TestFollowThrottleTaskByTask(t *testing.T) {
	f := newFollowed(t, "v7.2")
	g := f.s.NewGroup(f.s.Root(), "/limited")
	inner := f.s.NewGroup(g, "/limited/inner")
	a, b := f.runner(1, 0), f.sleeper(2, 0)
	f.SetGroup(a, inner)
	f.SetGroup(b, inner)
	f.Woken(b, 0)
	f.Throttle(g, 0)
	if f.s.NrRunning(0) != 2 || !f.s.throttledHierarchy(inner.queues[0]) {
		t.Errorf("nr %d, throttled %v, want 2 and true", f.s.NrRunning(0), f.s.throttledHierarchy(inner.queues[0]))
	}
	f.Switch(0, a, b, LeavesRunnable) // its turn is over, no more
	f.Switch(0, b, a, LeavesPreempted)
	if f.s.NrRunning(0) != 1 || inner.queues[0].frozen {
		t.Errorf("nr %d, frozen %v, want 1 and false", f.s.NrRunning(0), inner.queues[0].frozen)
	}
	f.Advance(f.Now() + msec)
	f.Switch(0, a, nil, LeavesPreempted)
	if f.s.NrRunning(0) != 0 || !inner.queues[0].frozen || !g.queues[0].frozen {
		t.Errorf("nr %d, frozen %v and %v", f.s.NrRunning(0), inner.queues[0].frozen, g.queues[0].frozen)
	}
	load := inner.queues[0].avg.loadAvg
	f.Advance(f.Now() + pelt32)
	f.Unthrottle(g, 0)
	if got := inner.queues[0].avg.loadAvg; got != load {
		t.Errorf("load %d, was %d: the clock should have stood still", got, load)
	}
	if f.s.NrRunning(0) != 2 {
		t.Errorf("nr %d after the unthrottling", f.s.NrRunning(0))
	}
	// The last that went is queued first, and so ends behind the other.
	if front := f.s.rqs[0].lruHead; front != b {
		t.Errorf("task %d is at the front, want 2", front.ID)
	}
	check(t, f)
}

// A task may go, be enqueued by a wakeup of the same throttled queue and go
// again; it comes back once.
func TestFollowThrottledTwiceComesBackOnce(t *testing.T) {
	f := newFollowed(t, "v7.2")
	g := f.s.NewGroup(f.s.Root(), "/limited")
	a := f.runner(1, 0)
	f.SetGroup(a, g)
	f.Throttle(g, 0)
	for range 2 {
		f.Switch(0, a, nil, LeavesPreempted)
		f.Switch(0, nil, a, LeavesRunnable)
	}
	f.Switch(0, a, nil, LeavesPreempted)
	f.Unthrottle(g, 0)
	if f.s.NrRunning(0) != 1 {
		t.Errorf("nr %d, want 1", f.s.NrRunning(0))
	}
	check(t, f)
}

// The clock of a throttled queue stands still on every kernel when it is empty:
// what sleeps there keeps its load. v6.12 stops it with tasks as well.
func TestFollowThrottleFreezes(t *testing.T) {
	for kernel, frozen := range map[string]bool{"v6.12": true, "v7.2": false} {
		f := newFollowed(t, kernel)
		g := f.s.NewGroup(f.s.Root(), "/limited")
		a := f.runner(1, 0)
		f.SetGroup(a, g)
		f.Throttle(g, 0)
		f.Throttle(g, 1)
		if got := g.queues[0].frozen; got != frozen {
			t.Errorf("%s: with a task, frozen %v, want %v", kernel, got, frozen)
		}
		if !g.queues[1].frozen {
			t.Errorf("%s: the empty queue is not frozen", kernel)
		}
	}
}

// A group without tasks on a CPU keeps its weight there from v6.12 on; before,
// its blocked load gave it another: with the load of 1024 halved twice on CPU 0
// and as much as ever on CPU 1, it is 256 of 1280 shares of 1024 (mechanisms.md 3.1).
func TestEmptyGroupKeepsItsWeight(t *testing.T) {
	for kernel, keeps := range map[string]bool{"v6.1": false, "v6.12": true, "v7.2": true} {
		f := newFollowed(t, kernel)
		g := f.s.NewGroup(f.s.Root(), "/g")
		a := f.runner(1, 0)
		f.SetGroup(a, g)
		f.Advance(f.Now() + 4*pelt32)
		f.Switch(0, a, nil, LeavesBlocked)
		se := g.entities[0]
		before := se.weight
		g.loadAvg += 1024 // as another CPU would publish
		f.s.updateGroupWeight(se)
		if got := se.weight == before; got != keeps {
			t.Errorf("%s: weight %d, was %d, want kept %v", kernel, se.weight, before, keeps)
		}
	}
}

// A clock that was read late does not run back for who has read it earlier: the
// load would count the same time twice.
func TestFollowClockDoesNotRunBack(t *testing.T) {
	f := newFollowed(t, "v6.1")
	a, b := f.runner(1, 0), f.sleeper(2, 0)
	f.Rested(b)
	f.SetHidden(b, Hidden{}, true)
	f.Woken(b, 0)
	begin := f.Now()
	f.Advance(begin + pelt32)
	f.Switch(0, a, b, LeavesRunnable)
	f.At(begin, func() { f.Switch(0, b, a, LeavesRunnable) })
	f.Switch(0, a, b, LeavesRunnable)
	if got := b.LoadAvg(); got < 505 || got > 515 { // half of 1024, not three quarters
		t.Errorf("load %d, want about 512", got)
	}
}

// A pulled task leaves by the clock of the pass: of 64 periods on the old CPU only
// the first 32 count there, and none until it arrives.
func TestFollowPulledTaskLeavesEarlier(t *testing.T) {
	f := newFollowed(t, "v6.1")
	f.runner(1, 0)
	p := f.sleeper(2, 0)
	f.Rested(p)
	f.SetHidden(p, Hidden{}, true)
	f.Woken(p, 0)
	begin := f.Now()
	f.TickByHand()
	f.Advance(begin + 2*pelt32)
	f.MovedInPlace(p, 1, begin+pelt32)
	if got := p.LoadAvg(); got < 505 || got > 515 {
		t.Errorf("load %d, want about 512", got)
	}
	check(t, f)
}
