package explain

import "testing"

// CPU 0 places the new task c on CPU 2 and loses its turn before it records that
// the task was queued. If CPU 2 falls idle then, c was not there yet; queued later, it
// must not count twice.
func TestASupposedStartIsTakenBack(t *testing.T) {
	const (
		forks = "               b-20      [000] .....     1.000100: sched_process_fork: comm=b pid=20 child_comm=c child_pid=30\n" +
			"               b-20      [000] d..1.     1.000110: sel: (select_task_rq_fair+0x0/0x1) prev=0 flags=0x4\n" +
			"               b-20      [000] d..1.     1.000120: selr: (wake_up_new_task+0x1/0x2 <- select_task_rq_fair) ret=2\n"
		ranA    = "          <idle>-0       [002] d..2.     1.000050: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120\n"
		toA     = "               a-10      [002] ..s1.     1.000200: softirq_entry: vec=7 [action=SCHED]\n"
		toIdle  = "               a-10      [002] d..2.     1.000400: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120\n"
		toC     = "               a-10      [002] d..2.     1.000400: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=c next_pid=30 next_prio=120\n"
		queuesC = "               b-20      [000] d..2.     1.000600: sched_wakeup_new: comm=c pid=30 prio=120 target_cpu=002\n"
	)
	for _, c := range []struct {
		name, text string
		queued     bool
		util       int64 // of CPU 2, at most
	}{
		{"supposed", ranA + forks + toA, true, 600},
		{"taken back", ranA + forks + toA + toIdle, false, 100},
		{"queued after all", ranA + forks + toA + toIdle + queuesC, true, 600},
		{"right", ranA + forks + toA + toC + queuesC, true, 600},
	} {
		r := followTurns(t, c.text)
		k := r.tasks.byPID[30]
		if k.Queued() != c.queued || r.f.Scheduler().Util(2) > c.util {
			t.Errorf("%s: queued %v, utilization %d", c.name, k.Queued(), r.f.Scheduler().Util(2))
		}
	}
}

// CPU 1 places a on the idle CPU 2, of another cache, and loses its turn. When
// the turn goes to CPU 3, CPU 2 had nothing on its wake list; when it goes to
// CPU 2, nothing is known. Once CPU 1 goes on, a is on the list.
func TestAWakeeIsNotSentToACPUThatTheTurnPasses(t *testing.T) {
	const (
		sleeps = "               a-10      [002] d..2.     1.000050: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120\n"
		places = "               b-20      [001] d..3.     1.000300: sched_waking: comm=a pid=10 prio=120 target_cpu=002\n" +
			"               b-20      [001] d..3.     1.000310: sel: (select_task_rq_fair+0x0/0x1) prev=2 flags=0x8\n" +
			"               b-20      [001] d..3.     1.000330: selr: (try_to_wake_up+0x1/0x2 <- select_task_rq_fair) ret=2\n"
		on3     = "               c-30      [003] ..s1.     1.000500: softirq_entry: vec=7 [action=SCHED]\n"
		on2     = "          <idle>-0       [002] ..s1.     1.000500: softirq_entry: vec=7 [action=SCHED]\n"
		on1     = "               b-20      [001] ..s1.     1.000700: softirq_entry: vec=7 [action=SCHED]\n"
		between = sleeps + places
	)
	for _, c := range []struct {
		name, text string
		idle       bool
	}{
		{"placed", between, false},
		{"passed over", between + on3, true},
		{"its own turn", between + on2, false},
		{"the waker goes on", between + on3 + on1, false},
	} {
		r := followTurnsFrom(t, c.text, func(r *replay) { r.probes = true })
		if got := r.f.Scheduler().Idle(2); got != c.idle {
			t.Errorf("%s: CPU 2 idle: %v", c.name, got)
		}
	}
}
