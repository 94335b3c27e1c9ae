package explain

import "testing"

// In its next turn CPU 2 first records that a, which ran in the last one, sleeps.
func TestWhichSwitchesToIdleALostTurnHeldUp(t *testing.T) {
	const (
		cpu3       = "          <idle>-0       [003] ..s1.     1.001510: softirq_entry: vec=7 [action=SCHED]\n"
		aGivesWay  = "               a-10      [002] d..2.     1.001550: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=c next_pid=30 next_prio=120\n"
		aThrottled = "               a-10      [002] d..2.     1.001550: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=swapper/2 next_pid=0 next_prio=120\n"
	)
	for _, c := range []struct {
		name, text string
		held       bool
	}{
		{"at once", aStarts + aRuns + bRuns + aSleepsSoon, true},
		{"after 500 µs", aStarts + aRuns + bRuns + aSleepsLate, false},
		{"after a turn without events, from CPU 0 to CPU 3", aStarts + aRuns + bRuns + cpu3 + aSleepsSoon, false},
		{"in the same turn", aStarts + aRuns + aSleepsSoon, false},
		{"to another task", aStarts + aRuns + bRuns + aGivesWay, false},
		{"of a task that stays runnable", aStarts + aRuns + bRuns + aThrottled, false},
	} {
		b, err := Open(writeBundle(t, linux61, "", c.text))
		if err != nil {
			t.Fatal(err)
		}
		found, err := b.surveyFalls(4_000_000)
		if err != nil {
			t.Fatal(err)
		}
		if pid, held := found.next(2, 1_000_200_000); held != c.held || held && pid != 10 {
			t.Errorf("%s: held up %v, thread %d", c.name, held, pid)
		}
		if _, again := found.next(2, 1_000_200_000); again {
			t.Errorf("%s: told twice", c.name)
		}
	}
}

// While CPU 0 has its turn, a has left the queue of CPU 2, which still counts as busy.
func TestATaskThatALostTurnHoldsUpHasLeftItsQueue(t *testing.T) {
	for _, held := range []bool{true, false} {
		r := followTurnsFrom(t, aStarts+aRuns+bRuns, func(r *replay) {
			if held {
				r.falls = falls{2: {{1_000_200_000, 10}}}
			}
		})
		s := r.f.Scheduler()
		if queued := r.tasks.byPID[10].Queued(); queued == held || s.Idle(2) {
			t.Errorf("held up %v: queued %v, CPU 2 idle %v", held, queued, s.Idle(2))
		}
	}
}
