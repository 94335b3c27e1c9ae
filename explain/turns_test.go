package explain

import (
	"errors"
	"io"
	"testing"

	"github.com/schedlab/schedlab/trace"
)

// followTurns follows a trace as one of a machine whose CPUs take turns, with
// ticks at whole multiples of 4 ms.
func followTurns(t *testing.T, text string) *replay {
	t.Helper()
	return followTurnsFrom(t, text, func(*replay) {})
}

// followTurnsFrom is followTurns with something prepared.
func followTurnsFrom(t *testing.T, text string, prepare func(*replay)) *replay {
	t.Helper()
	b, err := Open(writeBundle(t, linux61, "", text))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := trace.Open(b.Trace)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	r, err := newReplay(b, Options{HZ: 250}, reader.Names())
	if err != nil {
		t.Fatal(err)
	}
	r.turns.taken, r.turns.tick = true, 4_000_000
	r.f.TickByHand()
	prepare(r)
	var e trace.Event
	for {
		err := reader.Next(&e)
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			t.Fatal(err)
		}
		r.result.Events++
		r.step(&e)
	}
}

const (
	aStarts = "          <idle>-0       [002] d..2.     1.000100: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120\n"
	aRuns   = "               a-10      [002] ..s1.     1.000200: softirq_entry: vec=7 [action=SCHED]\n"
	bWakesA = "               b-20      [000] d..3.     1.000300: sched_waking: comm=a pid=10 prio=120 target_cpu=002\n"
	bWokeA  = "               b-20      [000] dN.4.     1.000350: sched_wakeup: comm=a pid=10 prio=120 target_cpu=002\n"
	bRuns   = "               b-20      [000] ..s1.     1.001500: softirq_entry: vec=7 [action=SCHED]\n"
	cpu1    = "          <idle>-0       [001] ..s1.     1.001900: softirq_entry: vec=7 [action=SCHED]\n"
	// At 1.001550 CPU 2 has had its turn again for 50 µs, at 1.002000 for 500 µs.
	aSleepsSoon = "               a-10      [002] d..2.     1.001550: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120\n"
	aSleepsLate = "               a-10      [002] d..2.     1.002000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120\n"
	aLeavesAsR  = "               a-10      [002] d..2.     1.002000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=swapper/2 next_pid=0 next_prio=120\n"
)

// The clock of a switch: that at the end of the CPU's last turn (1.000200) when
// the switch was under way then, else that of the event, which is told as 0.
func TestClockOfTheFirstSwitchOfATurn(t *testing.T) {
	const paused = 1_000_200_000
	for _, c := range []struct {
		name, text string
		want       int64
	}{
		{"at once", aStarts + aRuns + bRuns + aSleepsSoon, paused},
		{"after 500 µs", aStarts + aRuns + bRuns + aSleepsLate, 0},
		// CPU 0 could not have gone on waiting for a task that was still queued.
		{"after 500 µs, waited for by the waker", aStarts + aRuns + bWakesA + bRuns + aSleepsLate, paused},
		{"after 500 µs, woken where it ran", aStarts + aRuns + bWakesA + bWokeA + bRuns + aSleepsLate, 0},
	} {
		if got := followTurns(t, c.text).cpus[2].turn.carried; got != c.want {
			t.Errorf("%s: clock %d, want %d", c.name, got, c.want)
		}
	}
}

// CPU 2 fell idle in its last turn; a was woken after that. So CPU 2 cannot have
// begun then to switch to it.
func TestASwitchIsNotOlderThanItsCause(t *testing.T) {
	const wakeAndRun = bWakesA + bWokeA + bRuns +
		"          <idle>-0       [002] d..2.     1.001520: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120\n" +
		aSleepsSoon
	const idles = "               a-10      [002] d..2.     1.000150: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120\n"
	if got := followTurns(t, aStarts+idles+wakeAndRun).cpus[2].turn.carried; got != 0 {
		t.Errorf("the switch is charged at %d, before the wakeup at 1.000350", got)
	}
}

// After its turn began CPU 0 first ends the wakeup that it was in, by the old
// clock, and then switches, by a new one. When the CPU for the wakee is chosen
// only then, the wakeup has a new clock too: it is read behind the choice.
func TestOnlyTheOperationUnderWayHasTheOldClock(t *testing.T) {
	const (
		paused = 1_000_300_000 // bWakesA is the last event of CPU 0's turn
		woke   = "               b-20      [000] dN.4.     1.001930: sched_wakeup: comm=a pid=10 prio=120 target_cpu=002\n"
		leaves = "               b-20      [000] d..2.     1.001950: sched_switch: prev_comm=b prev_pid=20 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
		chosen = "               b-20      [000] d..3.     1.001910: sel: (select_task_rq_fair+0x0/0x1) prev=2 flags=0x8 pid=10\n" +
			"               b-20      [000] d..3.     1.001920: selr: (try_to_wake_up+0x1/0x2 <- select_task_rq_fair) ret=2\n"
	)
	for _, c := range []struct {
		name, text string
		want       int64
	}{
		{"the wakeup", bWakesA + cpu1 + woke, paused},
		{"the switch behind it", bWakesA + cpu1 + woke + leaves, 0},
		{"the wakeup behind a choice", bWakesA + cpu1 + chosen + woke, 0},
	} {
		if got := followTurns(t, c.text).cpus[0].turn.carried; got != c.want {
			t.Errorf("%s: clock %d, want %d", c.name, got, c.want)
		}
	}
}

// A task whose waker has begun to wake it is shown as runnable when it is
// switched out. It was not, unless it was woken where it ran.
func TestATaskBeingWokenLeavesItsQueue(t *testing.T) {
	for _, c := range []struct {
		name, text string
		queued     bool
	}{
		{"being woken", aStarts + aRuns + bWakesA + bRuns + aLeavesAsR, false},
		{"woken", aStarts + aRuns + bWakesA + bWokeA + bRuns + aLeavesAsR, true},
		{"left alone", aStarts + aRuns + bRuns + aLeavesAsR, true},
	} {
		// A runnable task that leaves for the idle task vanishes from the queue as
		// throttled; so another one follows it.
		text := c.text[:len(c.text)-len("swapper/2 next_pid=0 next_prio=120\n")] + "c next_pid=30 next_prio=120\n"
		if got := followTurns(t, text).tasks.byPID[10].Queued(); got != c.queued {
			t.Errorf("%s: queued %v", c.name, got)
		}
	}
}

// CPU 2 runs a; the turn goes from CPU 1 to CPU 3, so CPU 2 has had one between
// 1.005 and 1.009, with the tick that was due at 1.004. CPU 0, which the turn
// passes on its way to CPU 1 later, is idle and does not tick.
func TestABusyCPUTicksInASilentTurn(t *testing.T) {
	const later = "          <idle>-0       [001] ..s1.     1.005000: softirq_entry: vec=7 [action=SCHED]\n" +
		"          <idle>-0       [003] ..s1.     1.009000: softirq_entry: vec=7 [action=SCHED]\n" +
		"          <idle>-0       [001] ..s1.     1.009500: softirq_entry: vec=7 [action=SCHED]\n"
	r := followTurns(t, aStarts+aRuns+later)
	if got := r.cpus[2].turn; got.ticked != 1_005_000_000 || got.paused != 1_005_000_000 {
		t.Errorf("CPU 2 ticked at %d and paused at %d, want 1005000000", got.ticked, got.paused)
	}
	if got := r.cpus[0].turn.ticked; got != 0 {
		t.Errorf("CPU 0 ticked at %d", got)
	}
}

// CPU 2 idles while CPU 0 queues a on it, and switches to a only in its next turn:
// by the clock of the wakeup, unless it has ticked in between. Running, a gains
// utilization from then on: 32.75 ms make about half of 1024.
func TestAnIdleCPUSwitchesByTheClockOfTheWakeup(t *testing.T) {
	const (
		queued   = "               b-20      [000] d..3.     1.000250: sched_wakeup_new: comm=a pid=10 prio=120 target_cpu=002\n"
		ticked   = "          <idle>-0       [002] ..s1.     1.032900: softirq_entry: vec=7 [action=SCHED]\n"
		switched = "          <idle>-0       [002] d..2.     1.033000: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120\n"
		leaves   = "               a-10      [002] d..2.     1.033200: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120\n"
	)
	for _, c := range []struct {
		name, text string
		atLeast    int64
		atMost     int64
	}{
		{"at once", queued + switched + leaves, 750, 780}, // from 512, as a new task, half way to 1024
		{"after a tick", queued + ticked + switched + leaves, 250, 275},
	} {
		r := followTurns(t, c.text)
		if got := r.tasks.byPID[10].UtilAvg(); got < c.atLeast || got > c.atMost {
			t.Errorf("%s: utilization %d, want %d to %d", c.name, got, c.atLeast, c.atMost)
		}
	}
}
