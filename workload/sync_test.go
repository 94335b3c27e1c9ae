package workload

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// syncBench drives the objects of a scenario by hand.
type syncBench struct {
	t     *testing.T
	set   *Syncs
	out   Outcome
	woken []TaskID // by all calls so far
}

func newSyncBench(t *testing.T, specs ...SyncSpec) *syncBench {
	t.Helper()
	s := &Scenario{Syncs: specs, Tasks: make([]TaskSpec, 16)}
	if err := s.validateSyncs(); err != nil {
		t.Fatal(err)
	}
	return &syncBench{t: t, set: NewSyncs(s)}
}

// note takes over the wakes of the last call and reports whether it blocked.
func (b *syncBench) note() (blocked bool) {
	for _, w := range b.out.Wakes {
		if w.Sync {
			b.t.Errorf("the wake of task %d is sync; futex wakes never are", w.Task)
		}
		b.woken = append(b.woken, w.Task)
	}
	return b.out.Blocked
}

func (b *syncBench) lock(i int32, t TaskID, resumed bool) bool {
	b.set.Lock(i, t, resumed, &b.out)
	return b.note()
}

func (b *syncBench) unlock(i int32) {
	b.set.Unlock(i, &b.out)
	b.note()
}

func (b *syncBench) condWait(i int32, t TaskID, resumed bool) bool {
	b.set.CondWait(i, t, resumed, &b.out)
	return b.note()
}

func (b *syncBench) wantWoken(want ...TaskID) {
	b.t.Helper()
	if !slices.Equal(b.woken, want) {
		b.t.Errorf("woken: %v, want %v", b.woken, want)
	}
}

// The names F1 to F6 are those of ipc-and-benchmarks.md 4.8.

func TestF1WakesAreFirstInFirstOut(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: Word})
	for task := range TaskID(5) {
		if b.set.FutexWait(0, task, 0, false, &b.out); !b.note() {
			t.Fatalf("task %d does not sleep", task)
		}
	}
	b.set.FutexWake(0, 3, &b.out)
	b.note()
	b.wantWoken(0, 1, 2)
	b.set.FutexWake(0, 3, &b.out) // two are left
	b.note()
	b.wantWoken(0, 1, 2, 3, 4)
}

func TestF2ChangedValueDoesNotSleep(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: Word, Value: 7})
	b.set.FutexWait(0, 1, 6, false, &b.out)
	if b.out.Blocked || b.out.Calls != 1 {
		t.Errorf("blocked %v after %d calls, want a call that returns at once", b.out.Blocked, b.out.Calls)
	}
}

func TestF3WakeWithoutWaiters(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: Word})
	b.set.FutexWake(0, 1, &b.out)
	if b.note(); b.out.Calls != 1 {
		t.Errorf("%d calls, want 1", b.out.Calls)
	}
	b.wantWoken()
}

func TestF4MutexDoesNotHandOver(t *testing.T) {
	const mutex, a, bb, c = 0, 1, 2, 3
	b := newSyncBench(t, SyncSpec{Kind: Mutex})
	b.lock(mutex, a, false)
	if !b.lock(mutex, bb, false) || !b.lock(mutex, c, false) {
		t.Fatal("B and C must sleep while A holds the mutex")
	}
	b.unlock(mutex)
	b.wantWoken(bb)
	if b.lock(mutex, a, false) {
		t.Fatal("A must get the free mutex although B was woken")
	}
	if !b.lock(mutex, bb, true) {
		t.Fatal("B must sleep again")
	}
	b.unlock(mutex)
	b.wantWoken(bb, c) // B queued itself behind C
	b.lock(mutex, a, false)
	if !b.lock(mutex, c, true) {
		t.Fatal("C must sleep again")
	}
}

func TestUncontendedMutexStaysOutOfTheKernel(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: Mutex})
	b.lock(0, 1, false)
	lockCalls := b.out.Calls
	b.unlock(0)
	if lockCalls != 0 || b.out.Calls != 0 {
		t.Errorf("lock made %d calls and unlock %d, want none", lockCalls, b.out.Calls)
	}
}

func TestF5BarrierOfEight(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: Barrier, Value: 8})
	for round := range 2 { // it is ready for the next round at once
		b.woken = nil
		for task := range TaskID(7) {
			if b.set.Meet(0, task, false, &b.out); !b.note() {
				t.Fatalf("round %d: task %d does not wait", round, task)
			}
		}
		b.set.Meet(0, 7, false, &b.out)
		if b.note() || b.out.Calls != 1 {
			t.Errorf("the last of eight: blocked %v, %d calls, want one wake call", b.out.Blocked, b.out.Calls)
		}
		b.wantWoken(0, 1, 2, 3, 4, 5, 6)
		for task := range TaskID(7) {
			if b.set.Meet(0, task, true, &b.out); b.note() {
				t.Errorf("task %d waits again after its wake", task)
			}
		}
	}
}

// broadcast lets five tasks wait, broadcasts, and then runs whoever was woken,
// in order, each through its critical section. It returns the number of wakes.
// The broadcaster, task 9, frees the mutex before the broadcast or after it and
// after the woken tasks have tried to get it.
func broadcast(t *testing.T, kind SyncKind, held bool) int {
	const mutex, cond, broadcaster = 0, 1, 9
	b := newSyncBench(t, SyncSpec{Kind: Mutex}, SyncSpec{Kind: kind, Mutex: mutex})
	for task := range TaskID(5) {
		b.lock(mutex, task, false)
		if !b.condWait(cond, task, false) {
			t.Fatalf("task %d does not wait", task)
		}
	}
	if held {
		b.lock(mutex, broadcaster, false)
	}
	b.set.Broadcast(cond, &b.out)
	b.note()
	ran, got := 0, []TaskID{}
	tryAll := func() { // everybody who was woken runs as far as the mutex
		for ; ran < len(b.woken); ran++ {
			if task := b.woken[ran]; !b.condWait(cond, task, true) {
				got = append(got, task)
			}
		}
	}
	tryAll()
	if held {
		b.unlock(mutex)
		tryAll()
	}
	for done := 0; done < len(got); done++ { // each leaves its critical section
		b.unlock(mutex)
		tryAll()
	}
	if len(got) != 5 {
		t.Errorf("%d of 5 tasks got through", len(got))
	}
	return len(b.woken)
}

func TestF6Broadcast(t *testing.T) {
	for _, c := range []struct {
		name string
		kind SyncKind
		held bool
		want int
	}{
		{"new library, mutex free: 5 wakes, 4 of them sleep and are woken by unlocks", Cond, false, 9},
		{"new library, mutex held: the fifth sleeps too", Cond, true, 10},
		{"old library, mutex free: 1 wake, 4 by unlocks", RequeueCond, false, 5},
		{"old library, mutex held: the first sleeps behind the others", RequeueCond, true, 6},
	} {
		if got := broadcast(t, c.kind, c.held); got != c.want {
			t.Errorf("%s: %d wakes in total, want %d", c.name, got, c.want)
		}
	}
}

func TestSignalWakesTheLongestWaiter(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: Mutex}, SyncSpec{Kind: Cond})
	b.set.Signal(1, &b.out)
	if b.note(); b.out.Calls != 0 {
		t.Error("a signal that nobody waits for enters the kernel")
	}
	for task := range TaskID(2) {
		b.lock(0, task, false)
		b.condWait(1, task, false)
	}
	b.set.Signal(1, &b.out)
	b.note()
	b.wantWoken(0)
}

// Post and Await are schbench's pair (ipc-and-benchmarks.md 6.3).
func TestPostBeforeAwaitIsNotLost(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: Word})
	b.set.Post(0, &b.out)
	if b.out.Calls != 1 || len(b.out.Wakes) != 0 {
		t.Errorf("post without a sleeper: %d calls, %d wakes, want the one harmless call", b.out.Calls, len(b.out.Wakes))
	}
	b.set.Post(0, &b.out)
	if b.out.Calls != 0 {
		t.Error("a second post enters the kernel")
	}
	if b.set.Await(0, 1, &b.out); b.out.Blocked {
		t.Error("the post was lost")
	}
	if b.set.Await(0, 1, &b.out); !b.out.Blocked {
		t.Error("one post was taken twice")
	}
	b.set.Post(0, &b.out)
	b.note()
	b.wantWoken(1)
}

func TestStackIsTakenWholeAndPostedNewestFirst(t *testing.T) {
	const stack = 0 // its tasks wait on words 1 to 4
	b := newSyncBench(t, SyncSpec{Kind: Stack}, SyncSpec{}, SyncSpec{}, SyncSpec{}, SyncSpec{})
	push := func(task TaskID) {
		b.set.Push(stack, task, 1+int32(task))
		b.set.Await(1+int32(task), task, &b.out)
	}
	for _, task := range []TaskID{0, 1, 2} {
		push(task)
	}
	b.set.Take(stack)
	push(3) // too late for this round
	for _, want := range []TaskID{2, 1, 0} {
		if got := b.set.PostTaken(stack, &b.out); got != want {
			t.Errorf("posted task %d, want %d", got, want)
		}
		b.note()
	}
	b.wantWoken(2, 1, 0)
	if b.set.Taken(stack) {
		t.Error("task 3 was taken before its round")
	}
	b.set.Take(stack)
	if !b.set.Taken(stack) || b.set.PostTaken(stack, &b.out) != 3 {
		t.Error("task 3 is missing in the next round")
	}
}

func TestSyncsAllocateNothing(t *testing.T) {
	b := newSyncBench(t, SyncSpec{Kind: Mutex}, SyncSpec{Kind: Barrier, Value: 3})
	round := func() {
		b.set.Lock(0, 1, false, &b.out)
		b.set.Lock(0, 2, false, &b.out)
		b.set.Unlock(0, &b.out)
		b.set.Lock(0, 2, true, &b.out)
		b.set.Unlock(0, &b.out)
		for task := range TaskID(3) {
			b.set.Meet(1, task, false, &b.out)
		}
	}
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations a round, want none", n)
	}
}

func TestFutexRulesByVersion(t *testing.T) {
	for kernel, want := range map[string]bool{"v3.2": true, "v3.8": true, "v4.1": true, "v4.2": false, "v4.14": false, "v5.17": false} {
		rules, err := RulesFor(kernel)
		if err != nil || rules.FutexHeld != want {
			t.Errorf("%s: wakes with the bucket lock held: %v (%v), want %v", kernel, rules.FutexHeld, err, want)
		}
	}
	for kernel, want := range map[string]bool{"v4.7": false, "v4.8": true, "v5.17": true} {
		if rules, _ := RulesFor(kernel); rules.WheelRoundsUp != want {
			t.Errorf("%s: timer wheel rounds up: %v, want %v", kernel, rules.WheelRoundsUp, want)
		}
	}
}

// Whoever runs when: under a mutex never two tasks at once, and nobody is left
// asleep in the end. Some wait on a condition inside, until the broadcast of
// another.
func TestNoLostWakesUnderAnySchedule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]SyncKind{Cond, RequeueCond}).Draw(rt, "kind")
		const mutex, cond, tasks, rounds = 0, 1, 5, 3
		b := newSyncBench(t, SyncSpec{Kind: Mutex}, SyncSpec{Kind: kind, Mutex: mutex})
		state := make([]mutexUser, tasks)
		holder := -1
		for {
			var ready []int
			for i := range state {
				if !state[i].asleep && state[i].rounds < rounds {
					ready = append(ready, i)
				}
			}
			if len(ready) == 0 {
				break
			}
			i := rapid.SampledFrom(ready).Draw(rt, "task")
			u := &state[i]
			b.woken = nil
			switch {
			case u.waits: // woken from the condition, or from the mutex behind it
				if !b.condWait(cond, TaskID(i), true) {
					u.waits = false
					u.enter(rt, &holder, i)
				} else {
					u.asleep = true
				}
			case !u.inside:
				u.asleep = b.lock(mutex, TaskID(i), u.resumed)
				if u.resumed = u.asleep; !u.asleep {
					u.enter(rt, &holder, i)
				}
			case someoneElseRuns(state, i, rounds) && rapid.Bool().Draw(rt, "waits"):
				holder, u.inside, u.waits, u.asleep = -1, false, true, true
				b.condWait(cond, TaskID(i), false)
			default:
				b.set.Broadcast(cond, &b.out)
				b.note()
				holder, u.inside = -1, false
				u.rounds++
				b.unlock(mutex)
			}
			for _, w := range b.woken {
				state[w].asleep = false
			}
		}
		for i := range state {
			if state[i].rounds < rounds {
				rt.Fatalf("task %d sleeps for ever after %d rounds: %+v", i, state[i].rounds, state)
			}
		}
	})
}

// mutexUser is where a task of that test stands.
type mutexUser struct {
	asleep, resumed, inside, waits bool
	rounds                         int
}

// someoneElseRuns reports whether a task besides i has yet to broadcast without
// having to be woken for it.
func someoneElseRuns(state []mutexUser, i, rounds int) bool {
	for j := range state {
		if j != i && state[j].rounds < rounds && !state[j].waits {
			return true
		}
	}
	return false
}

func (u *mutexUser) enter(rt *rapid.T, holder *int, i int) {
	if *holder >= 0 {
		rt.Fatalf("task %d is inside while task %d is", i, *holder)
	}
	*holder, u.inside = i, true
}
