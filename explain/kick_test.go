package explain

import "testing"

// A softirq on an idle CPU, then: a pass of its own, an event of its own that is
// no pass, something elsewhere at once, something elsewhere later.
func TestWhichSoftirqsAreAnIdleBalancers(t *testing.T) {
	const (
		softirq  = "          <idle>-0       [000] ..s1.     1.100000: softirq_entry: vec=7 [action=SCHED]\n"
		pass     = "          <idle>-0       [000] ..s1.     1.100020: lb: (load_balance+0x0/0x1) dst=0 level=0 span=2 failed=0 interval=4 idle=0\n"
		switched = "          <idle>-0       [000] d..2.     1.100020: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=b next_pid=20 next_prio=120\n"
		soon     = "          <idle>-0       [001] d..2.     1.100030: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=c next_pid=30 next_prio=120\n"
		later    = "               c-30      [001] ..s1.     1.100200: softirq_entry: vec=7 [action=SCHED]\n"
	)
	for _, c := range []struct {
		name, text string
		turns      bool
		open       int
	}{
		{"not known yet", softirq, false, 1},
		{"its own pass", softirq + pass, false, 0},
		{"its next event is no pass", softirq + switched, false, 0},
		{"another CPU, side by side", softirq + soon, false, 1},
		{"much later", softirq + soon + later, false, 0},
		{"another CPU's turn", softirq + soon, true, 0},
	} {
		r := followTurnsFrom(t, c.text, func(r *replay) { r.kicks.judgeable, r.turns.taken = true, c.turns })
		if r.kicks.open != c.open {
			t.Errorf("%s: %d open, want %d", c.name, r.kicks.open, c.open)
		}
	}
	if r := followTurnsFrom(t, softirq, func(*replay) {}); r.kicks.open != 0 {
		t.Error("without recorded passes nothing can be told")
	}
}

// CPU 2 has idled with load since 1.000 s. A softirq without a pass decays it, a
// softirq with one does not.
func TestAKickDecaysTheLoadOfTicklessCPUs(t *testing.T) {
	const (
		runs    = "          <idle>-0       [002] d..2.     1.000100: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120\n"
		sleeps  = "               a-10      [002] d..2.     1.020100: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/2 next_pid=0 next_prio=120\n"
		softirq = "          <idle>-0       [000] ..s1.     1.100000: softirq_entry: vec=7 [action=SCHED]\n"
		own     = "          <idle>-0       [000] ..s1.     1.100020: lb: (load_balance+0x0/0x1) dst=0 level=0 span=2 failed=0 interval=4 idle=0\n"
		other   = "          <idle>-0       [001] ..s1.     1.100300: softirq_entry: vec=7 [action=SCHED]\n"
	)
	load := func(text string) int64 {
		r := followTurnsFrom(t, text, func(r *replay) { r.kicks.judgeable = true })
		return r.f.Scheduler().Load(2)
	}
	before, kicked, ticked := load(runs+sleeps), load(runs+sleeps+softirq+other), load(runs+sleeps+softirq+own)
	if kicked*4 > before || ticked != before { // 80 ms: 1/5.7
		t.Errorf("load %d, with a kick %d, with a tick %d", before, kicked, ticked)
	}
}
