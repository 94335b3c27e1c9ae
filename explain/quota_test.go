package explain

import (
	"testing"
)

const quotaGroups = `== /l idle=0 weight=100 max=max 100000
== /l/a idle=0 weight=100 max=50000 100000
== /l/b idle=0 weight=100 max=50000 100000
`

// quotaTrace: task 10 is in /l/a and task 20 in /l/b, both on CPU 2. Queue 0xa
// gets runtime at the first attempt and not at the second; 0xb is released only
// by the second unthrottling. The last attempt at 0xb is seen while 10 runs.
const quotaTrace = `            sh-1      [000] d..1.     1.000000: cgroup_attach_task: dst_root=0 dst_id=1 dst_level=2 dst_path=/l/a pid=10 comm=a
            sh-1      [000] d..1.     1.000100: cgroup_attach_task: dst_root=0 dst_id=2 dst_level=2 dst_path=/l/b pid=20 comm=b
          <idle>-0       [002] d..2.     1.001000: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120
               a-10      [002] d.h1.     1.002000: thr: (throttle_cfs_rq+0x0/0x250) cfs=0xa cpu=2
               a-10      [002] d.h1.     1.003000: thr: (throttle_cfs_rq+0x0/0x250) cfs=0xa cpu=2
               a-10      [002] d..2.     1.003100: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=R+ ==> next_comm=b next_pid=20 next_prio=120
               b-20      [002] d.h1.     1.004000: thr: (throttle_cfs_rq+0x0/0x250) cfs=0xb cpu=2
               b-20      [002] d.h1.     1.005000: unthr: (unthrottle_cfs_rq+0x0/0x250) cfs=0xb cpu=2
               b-20      [002] d.h1.     1.006000: unthr: (unthrottle_cfs_rq+0x0/0x250) cfs=0xb cpu=2
               b-20      [002] d.h1.     1.007000: thr: (throttle_cfs_rq+0x0/0x250) cfs=0xb cpu=2
               b-20      [002] d.h1.     1.007500: unthr: (unthrottle_cfs_rq+0x0/0x250) cfs=0xa cpu=2
               b-20      [002] d..2.     1.008000: sched_switch: prev_comm=b prev_pid=20 prev_prio=120 prev_state=R+ ==> next_comm=a next_pid=10 next_prio=120
               a-10      [002] d.s2.     1.009000: thr: (throttle_cfs_rq+0x0/0x250) cfs=0xb cpu=2
`

// Each attempt of the trace above: throttled from then on?
func TestSurveyTellsWhatBecameOfAnAttempt(t *testing.T) {
	b, err := Open(writeBundle(t, linux61, quotaGroups, quotaTrace))
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.survey()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		queue     uint64
		group     string
		throttled bool
	}{
		{0xa, "/l/a", false}, {0xa, "/l/a", true},
		{0xb, "/l/b", true}, {0xb, "/l/b", true}, {0xb, "/l/b", false}, {0xb, "/l/b", false},
		{0xa, "/l/a", false}, {0xb, "/l/b", true},
	} {
		if group, throttled := q.next(want.queue); group != want.group || throttled != want.throttled {
			t.Errorf("event %d: %s, throttled %v, want %s and %v", i+1, group, throttled, want.group, want.throttled)
		}
	}
	if group, _ := q.next(0xa); group != "" {
		t.Errorf("an event that the survey has not seen is of %s", group)
	}
}

// Without a group with a quota there is nothing to find, and nothing is read.
func TestSurveyNeedsAQuota(t *testing.T) {
	b, err := Open(writeBundle(t, linux61, "== /l idle=0 weight=100 max=max 100000\n", quotaTrace))
	if err != nil {
		t.Fatal(err)
	}
	b.Trace += ".missing"
	if q, err := b.survey(); err != nil || len(q.throttled) != 0 {
		t.Errorf("%d events, %v", len(q.throttled), err)
	}
}
