package explain

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

func TestBoundKthread(t *testing.T) {
	for comm, want := range map[string]bool{
		"kworker/3:1": true, "ksoftirqd/0": true, "migration/12": true,
		"kworker/u8:2": false, "hackbench": false, "a/1": false, "kworker/": false,
	} {
		if got := boundKthread(comm); got != want {
			t.Errorf("boundKthread(%q) = %v", comm, got)
		}
	}
}

func TestNearestHZ(t *testing.T) {
	for rate, want := range map[float64]int64{249.3: 250, 101: 100, 295: 300, 990: 1000, 180: 250} {
		if got := nearestHZ(rate); got != want {
			t.Errorf("nearestHZ(%v) = %d, want %d", rate, got, want)
		}
	}
}

// One event in twenty changes the CPU: turns. Every other one: side by side.
func TestTurnsShowInTheOrderOfCPUs(t *testing.T) {
	var turns, mingled turnCount
	for i := range int32(400) {
		turns.add(i / 20 % 8)
		mingled.add(i / 2 % 8)
	}
	if !turns.taken() || mingled.taken() {
		t.Errorf("turns %v, mingled %v", turns.taken(), mingled.taken())
	}
}

func TestIdleNumbersChangedIn67(t *testing.T) {
	for kernel, want := range map[string]sched.IdleType{"6.1": sched.Idle, "6.6": sched.Idle, "6.7": sched.NotIdle, "7.2": sched.NotIdle} {
		if got := idleNumbersOf(kernel).typeOf(0); got != want {
			t.Errorf("idle=0 on %s is %v, want %v", kernel, got, want)
		}
	}
}

func TestLeavingOf(t *testing.T) {
	for state, want := range map[trace.State]sched.Leaving{
		0: sched.LeavesRunnable, trace.StatePreempted: sched.LeavesPreempted, trace.UnknownState: sched.LeavesPreempted,
		trace.StateSleeping: sched.LeavesBlocked, trace.StateDead: sched.LeavesBlocked,
	} {
		if got := leavingOf(state); got != want {
			t.Errorf("%v leaves as %v, want %v", state, got, want)
		}
	}
}

// With two idle CPUs of which one was chosen the expected agreement is 1/2;
// without an idle one the baseline stays at prev.
func TestRandomShare(t *testing.T) {
	a := ask{request: request{Question: sched.Question{Prev: 1}}, idle: []int32{2, 3}}
	if a.randomShare(3) != 0.5 || a.randomShare(1) != 0 {
		t.Errorf("shares %v and %v", a.randomShare(3), a.randomShare(1))
	}
	a.idle = nil
	if a.randomShare(1) != 1 || a.randomShare(3) != 0 {
		t.Errorf("shares without idle CPUs %v and %v", a.randomShare(1), a.randomShare(3))
	}
}

// plainTrace has no probes. Task 10 sleeps on CPU 2; task 20 runs on CPU 0 and
// wakes it. CPU 2 is idle, and its cache is the waker's, whose CPU is busy: the
// wakee stays (mechanisms.md 6.4, v6.1: WA_IDLE step 3).
const plainTrace = `            a-10      [002] d..2.     1.000000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120
            b-20      [000] d..2.     1.000100: sched_waking: comm=a pid=10 prio=120 target_cpu=002
            b-20      [000] d..2.     1.000110: sched_wakeup: comm=a pid=10 prio=120 target_cpu=002
`

func TestTraceWithoutProbes(t *testing.T) {
	b, err := Open(writeBundle(t, linux61, "", plainTrace))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Probes || c.ByKind[sched.KindWake] != (Count{1, 1}) {
		t.Errorf("probes %v, wakeups %+v", c.Probes, c.ByKind[sched.KindWake])
	}
	e := Explained{Capture: c}
	if notes := strings.Join(e.notes(), "\n"); !strings.Contains(notes, "no placement probes") {
		t.Errorf("notes %q", notes)
	}
}

func TestEventsOfMissingCPUsAreCounted(t *testing.T) {
	b, err := Open(writeBundle(t, linux61, "", strings.ReplaceAll(plainTrace, "[002]", "[009]")))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Skipped != 1 {
		t.Errorf("%d events skipped, want 1", c.Skipped)
	}
}

func TestRunStopsWhenInterrupted(t *testing.T) {
	b, err := Open(writeBundle(t, linux61, "", plainTrace))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, b, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Without probes a fork is judged from its event to the first wakeup, unless a
// wakee of the same CPU is still on its way.
func TestForkWithoutProbes(t *testing.T) {
	const (
		runs   = "          <idle>-0       [000] d..2.     1.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=b next_pid=20 next_prio=120\n"
		wakes  = "               b-20      [000] d..3.     1.000200: sched_waking: comm=a pid=10 prio=120 target_cpu=002\n"
		forks  = "               b-20      [000] .....     1.000300: sched_process_fork: comm=b pid=20 child_comm=c child_pid=30\n"
		starts = "               b-20      [000] d..2.     1.000400: sched_wakeup_new: comm=c pid=30 prio=120 target_cpu=003\n"
	)
	for _, c := range []struct {
		name, text string
		forks      int64
	}{{"alone", runs + forks + starts, 1}, {"with a wakee on its way", runs + wakes + forks + starts, 0}} {
		r := followTurnsFrom(t, c.text, func(r *replay) { r.turns.taken = false })
		if got := r.result.ByKind[sched.KindFork].Decisions; got != c.forks {
			t.Errorf("%s: %d forks, want %d", c.name, got, c.forks)
		}
	}
}
