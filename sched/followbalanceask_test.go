package sched

import (
	"fmt"
	"strings"
	"testing"
)

// passOf is the question about a pass in the domain of span CPUs: 2 is the
// core, 4 the cache.
func passOf(cpu, span int, idle IdleType) *PassQuestion {
	return &PassQuestion{CPU: cpu, Span: span, Idle: idle, Interval: 4}
}

// twoOnCore0 runs one task on CPU 0, with another waiting there; everything
// else is idle.
func twoOnCore0(t *testing.T, kernel string) (f *Follower, waiting *Task) {
	t.Helper()
	f = newFollowed(t, kernel)
	waiting = f.runner(1, 0)
	f.Advance(1_100 * msec)
	next := f.sleeper(2, 0)
	f.Woken(next, 0)
	f.Switch(0, waiting, next, LeavesPreempted)
	f.Advance(1_150 * msec)
	return f, waiting
}

// mechanisms.md 9.11: a core with two tasks beside an idle core. prefer_sibling,
// 2 > 0+1: tasks are to be spread, (2-0)/2 = 1 of them.
func TestAskPassSpreadsOverCores(t *testing.T) {
	f, waiting := twoOnCore0(t, "v6.1")
	got := f.AskPass(passOf(1, 4, Idle))
	if !got.Known || got.Level != "MC" || !got.Elected || got.Source != 0 || got.Move != 2 || got.Imbalance != 1 {
		t.Errorf("forecast %+v, want 1 task (type 2) from CPU 0 in MC", got)
	}
	if len(got.Moved) != 1 || got.Moved[0] != waiting {
		t.Errorf("moves %v, want the waiting task", got.Moved)
	}
	if !waiting.queued || waiting.CPU() != 0 || f.s.NrRunning(1) != 0 {
		t.Error("asking moved the task")
	}
	check(t, f)
}

// The first idle CPU of the group balances it (mechanisms.md 9.6): CPU 1, not
// its sibling 5.
func TestAskPassOnlyOfTheElectedCPU(t *testing.T) {
	f, _ := twoOnCore0(t, "v6.1")
	if got := f.AskPass(passOf(5, 4, Idle)); got.Elected || len(got.Moved) > 0 {
		t.Errorf("forecast %+v, want none: CPU 1 balances the group", got)
	}
}

func TestAskPassOfUnknownDomain(t *testing.T) {
	f, _ := twoOnCore0(t, "v6.1")
	if got := f.AskPass(passOf(1, 3, Idle)); got.Known {
		t.Errorf("forecast %+v for a domain of 3 CPUs, which there is not", got)
	}
}

// mechanisms.md 9.2, HZ=250: an interval of 8 ms is 2 jiffies for an idle CPU;
// for a busy one 8·16 ms = 32 jiffies, less 1.
func TestAskPassKnowsWhenItIsDue(t *testing.T) {
	for _, c := range []struct {
		idle    IdleType
		jiffies int64
	}{{Idle, 2}, {NotIdle, 31}} {
		f, _ := twoOnCore0(t, "v6.1")
		cpu := 1
		if c.idle == NotIdle {
			cpu = 0
		}
		q := passOf(cpu, 4, c.idle)
		q.Interval = 8
		f.BalanceState(q)
		if first := f.AskPass(q); first.Dated || !first.Due {
			t.Errorf("%v: first pass %+v, want due without a date", c.idle, first)
		}
		f.PassDone(q)
		f.s.jiffies += c.jiffies - 1
		if early := f.AskPass(q); !early.Dated || early.Due {
			t.Errorf("%v: due after %d jiffies, want %d", c.idle, c.jiffies-1, c.jiffies)
		}
		f.s.jiffies++
		if got := f.AskPass(q); !got.Due {
			t.Errorf("%v: not due after %d jiffies", c.idle, c.jiffies)
		}
	}
}

// mechanisms.md 9.11: a task that ran 0.3 ms ago is cache hot (migration_cost
// 0.5 ms); cache_nice_tries of the cache's domain is 1, so two failures force it.
func TestAskVerdictOfAHotTask(t *testing.T) {
	f := newFollowed(t, "v6.1")
	a, b := f.runner(1, 0), f.sleeper(2, 0)
	f.Woken(b, 0)
	f.Advance(1_010 * msec)
	f.Switch(0, a, b, LeavesPreempted)
	f.Advance(1_010*msec + 300_000)
	for failed, want := range map[int64]Refusal{1: RefusedHot, 2: NotRefused} {
		q := passOf(1, 4, Idle)
		q.Failed = failed
		f.BalanceState(q)
		if got := f.AskVerdict(&VerdictQuestion{Task: a, From: 0, To: 1, Pass: q, Move: 2}); got != want {
			t.Errorf("after %d failures %v, want %v", failed, got, want)
		}
		if got := f.MayBeHot(&VerdictQuestion{Task: a, From: 0, To: 1, Pass: q, Move: 2}); got != (failed == 1) {
			t.Errorf("after %d failures heat matters: %v", failed, got)
		}
	}
}

func TestAskVerdictReasons(t *testing.T) {
	f, waiting := twoOnCore0(t, "v6.1")
	q := &VerdictQuestion{Task: waiting, From: 0, To: 1, Pass: passOf(1, 4, Idle), Move: 2}
	if got := f.AskVerdict(q); got != NotRefused {
		t.Errorf("waiting task: %v, want none", got)
	}
	running := f.s.Current(0)
	if got := f.AskVerdict(&VerdictQuestion{Task: running, From: 0, To: 1, Pass: q.Pass, Move: 2}); got != RefusedRunning {
		t.Errorf("running task: %v, want %v", got, RefusedRunning)
	}
	bound := waiting.allowed.Clone()
	bound.Clear(1)
	f.SetAllowed(waiting, bound)
	if got := f.AskVerdict(q); got != RefusedPinned {
		t.Errorf("task bound elsewhere: %v, want %v", got, RefusedPinned)
	}
	q.Pass, q.To = nil, 5
	if got := f.AskVerdict(q); got != NotRefused {
		t.Errorf("active balancing: %v, want none", got)
	}
}

// mechanisms-modern.md 4.4: v7.2 moves a task that waits for its delayed
// dequeue only for its load.
func TestAskVerdictOfADelayedTask(t *testing.T) {
	f := newFollowed(t, "v7.2")
	f.runner(1, 0)
	blocked := f.sleeper(2, 0)
	for move, want := range map[int64]Refusal{2: RefusedDelayed, 0: NotRefused} {
		q := &VerdictQuestion{Task: blocked, From: 0, To: 1, Pass: passOf(1, 4, Idle), Move: move}
		if got := f.AskVerdict(q); got != want {
			t.Errorf("move type %d: %v, want %v", move, got, want)
		}
	}
	if blocked.delayed {
		t.Error("asking left the task delayed")
	}
}

// A pass puts what it has judged at the far end: the next candidate is another.
func TestConsideredTaskIsAskedLast(t *testing.T) {
	f := newFollowed(t, "v6.1")
	f.runner(1, 0)
	a, b := f.sleeper(2, 0), f.sleeper(3, 0)
	f.Woken(a, 0)
	f.Woken(b, 0)
	rq := &f.s.rqs[0]
	f.Considered(rq.lruTail)
	f.Considered(rq.lruTail)
	if rq.lruTail != b || rq.lruHead != a {
		t.Errorf("tail %v, head %v, want tasks 3 and 2", rq.lruTail.ID, rq.lruHead.ID)
	}
}

// footprint is the state that asking must leave as it was.
func footprint(f *Follower) string {
	s := f.s
	var b strings.Builder
	fmt.Fprintln(&b, s.now, s.jiffies, s.overload, s.work, s.idle, s.schedIdle, s.nohz.nextBlocked)
	for cpu := range s.rqs {
		rq := &s.rqs[cpu]
		fmt.Fprintln(&b, cpu, rq.nr, rq.cfs.h, rq.utilEst, rq.wakePending, rq.capacity)
		for _, g := range s.groups {
			q := g.queues[cpu]
			fmt.Fprintln(&b, q.avg, q.hLoad, q.hLoadJiffy)
		}
		for t := rq.lruHead; t != nil; t = t.lruNext {
			fmt.Fprint(&b, t.ID, t.se.avg, t.delayed, " ")
		}
		if rq.llcShared != nil {
			fmt.Fprintln(&b, rq.llcShared.NrIdleScan, rq.llcShared.Util, rq.llcShared.Capacity, rq.llcShared.HasIdleCores)
		}
		for d := rq.sd; d != nil; d = d.Parent {
			fmt.Fprintln(&b, d.balanced, d.nrBalanceFailed, d.balanceInterval, d.lastBalance, d.Groups.Cap.Capacity, d.Groups.Cap.Imbalance)
		}
	}
	return b.String()
}

// An overloaded machine in which passes move load, under every supposition.
func TestAskingAboutPassesChangesNothing(t *testing.T) {
	for _, kernel := range []string{"v5.10", "v6.1", "v6.12", "v7.2"} {
		f := newFollowed(t, kernel)
		group := f.s.NewGroup(f.s.Root(), "/g")
		id := int32(0)
		for cpu, n := range []int{6, 3, 1, 0, 2, 1, 4, 0} {
			for i := range n {
				id++
				task := f.s.NewTask(TaskSpec{ID: id, CPU: cpu})
				if i%2 == 1 {
					f.SetGroup(task, group)
				}
				f.Woken(task, cpu)
				if i == 0 {
					f.Switch(cpu, nil, task, LeavesPreempted)
				}
			}
		}
		f.Advance(1_300 * msec)
		moved := 0
		for cpu := range f.s.rqs {
			for _, span := range []int{2, 4, 8} {
				for _, idle := range []IdleType{NotIdle, Idle, NewlyIdle} {
					q := passOf(cpu, span, idle)
					f.Pass(cpu, span, idle) // what following leaves behind is no matter of asking
					before := footprint(f)
					moved += len(f.AskPass(q).Moved)
					for what := SupposeSourceHeavy; what <= SupposeDestBusy; what++ {
						f.SupposePass(q, what, 0)
					}
					if footprint(f) != before {
						t.Fatalf("%s: asking about CPU %d, %d CPUs, %v changed the state", kernel, cpu, span, idle)
					}
				}
			}
		}
		if moved == 0 {
			t.Errorf("%s: no pass would have moved anything", kernel)
		}
		check(t, f)
	}
}

// A CPU alone with its only task gives nothing; with one more queued it would.
func TestSupposePassOneTaskMore(t *testing.T) {
	f := newFollowed(t, "v6.1")
	f.runner(1, 0)
	f.Advance(1_100 * msec)
	q := passOf(1, 4, Idle)
	if got := f.AskPass(q); got.Source >= 0 {
		t.Fatalf("forecast %+v, want a balanced domain: busiest has 1 task", got)
	}
	if got := f.SupposePass(q, SupposeSourceMore, 0); got.Source != 0 || got.Imbalance != 1 {
		t.Errorf("with a task more %+v, want 1 task from CPU 0", got)
	}
}
