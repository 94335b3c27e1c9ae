package explain

import (
	"testing"

	"github.com/schedlab/schedlab/sched"
)

// A placement that usually takes 60 µs was held up.
func TestWhichPartOfAHeldUpPlacementWasLonger(t *testing.T) {
	u := usualTimes{}
	u.learn(sched.KindFork, 60_000)
	for _, c := range []struct {
		name         string
		left, toTick int64
		after        bool
	}{
		{"29 µs were left", 29_000, 3_000_000, false},
		{"up to 100 µs were left", 100_000, 3_000_000, true},
		{"begun 40 µs before the tick", 100_000, 40_000, false},
		{"begun 5 µs before the tick", 100_000, 5_000, true},
		{"begun too long before the tick to last until then", 100_000, 70_000, true},
	} {
		if got := u.mostlyAfter(sched.KindFork, c.left, c.toTick); got != c.after {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	u.learn(sched.KindFork, 140_000) // a moving average: 60 + (140-60)/8
	if u[sched.KindFork] != 70_000 || u[sched.KindWake] != 0 {
		t.Errorf("usual times %v", u)
	}
}

const (
	aWaits  = "          <idle>-0       [002] d..2.     1.000100: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120\n"
	bOnZero = "          <idle>-0       [000] d..2.     1.000110: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=b next_pid=20 next_prio=120\n"
	aBlocks = "               a-10      [002] d..2.     1.000120: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=c next_pid=30 next_prio=120\n"
	bPlaces = "               b-20      [000] d..3.     1.000300: sched_waking: comm=a pid=10 prio=120 target_cpu=002\n" +
		"               b-20      [000] d..3.     1.000310: sel: (select_task_rq_fair+0x0/0x1) prev=2 flags=0x8\n"
	cFree    = "               c-30      [002] d..2.     1.000400: sched_switch: prev_comm=c prev_pid=30 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120\n"
	bHasDone = "               b-20      [000] d..3.     1.000500: selr: (try_to_wake_up+0x1/0x2 <- select_task_rq_fair) ret=2\n"
)

// When b begins to place a, CPU 2 is busy with c and the model would take
// another; then b's CPU stands still until c sleeps. Of the 30 µs that a
// placement usually takes, up to 100 were left: a finds CPU 2 idle.
func TestAHeldUpPlacementSeesWhatHappenedMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name, meanwhile string
		agrees          bool
	}{{"held up", cFree, true}, {"not held up", "", false}} {
		r := followTurnsFrom(t, aWaits+bOnZero+aBlocks+bPlaces+c.meanwhile+bHasDone, func(r *replay) {
			r.probes = true
			r.usual.learn(sched.KindWake, 30_000)
		})

		if got := r.result.ByKind[sched.KindWake]; got.Decisions != 1 || got.Agree == 1 != c.agrees {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
