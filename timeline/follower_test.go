package timeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/trace"
)

// told is everything that a follower said, in its order.
type told struct {
	lines     []string
	intervals []Interval
	parts     []WaitPart // with copies of the identities
	changes   []string
	wakeups   []string
}

// followText follows ftrace text: lines of "COMM-PID [CPU] NANOSECONDS EVENT: FIELDS".
func followText(t testing.TB, text string) *told {
	t.Helper()
	var full strings.Builder
	full.WriteString("# tracer: nop\n")
	for line := range strings.Lines(strings.TrimSpace(text)) {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), "] ")
		at, event, found := strings.Cut(rest, " ")
		var ns int64
		if _, err := fmt.Sscan(at, &ns); err != nil || !found {
			t.Fatalf("%q: %v", line, err)
		}
		fmt.Fprintf(&full, "%s] d.... %d.%09d: %s\n", head, ns/1e9, ns%1e9, strings.TrimSpace(event))
	}
	return follow(t, trace.NewTextReader(strings.NewReader(full.String())))
}

func follow(t testing.TB, r trace.Reader) *told {
	t.Helper()
	got := &told{}
	f := NewFollower()
	text := r.Names().Text
	f.OnInterval = func(i *Interval) {
		got.intervals = append(got.intervals, *i)
		line := fmt.Sprintf("%s/%d %v on %d: %d..%d, %v before, %v after", text(i.Comm), i.PID, i.State, i.CPU, i.From, i.To, i.Before, i.After)
		if i.State == Asleep {
			line += fmt.Sprintf(", as %v", i.Sleep)
		}
		if i.Woken {
			line += fmt.Sprintf(", woken by %s/%d on %d", text(i.Waker.Comm), i.Waker.PID, i.Waker.CPU)
		}
		got.lines = append(got.lines, line)
	}
	f.OnWait = func(p *WaitPart) {
		waiter := *p.Waiter
		part := WaitPart{Waiter: &waiter, CPU: p.CPU, From: p.From, To: p.To}
		behind := "nobody known"
		if p.Behind != nil {
			whom := *p.Behind
			part.Behind = &whom
			behind = fmt.Sprintf("%s/%d", text(whom.Comm), whom.PID)
		}
		got.parts = append(got.parts, part)
		got.lines = append(got.lines, fmt.Sprintf("  %s/%d waits %d ns behind %s on %d", text(waiter.Comm), waiter.PID, p.Duration(), behind, p.CPU))
	}
	f.OnDepth = func(cpu int32, at int64, queued int) {
		got.lines = append(got.lines, fmt.Sprintf("  %d: %d queued on %d", at, queued, cpu))
	}
	f.OnChange = func(t *Thread, at int64) {
		queued := ""
		if t.Queued {
			queued = ", queued"
		}
		got.changes = append(got.changes, fmt.Sprintf("%d %v on %d%s, in %s, at %d", t.PID, t.State, t.CPU, queued, text(t.Group), at))
	}
	f.OnWakeup = func(w *Wakeup) {
		got.wakeups = append(got.wakeups, fmt.Sprintf("%s/%d asked at %d by %s/%d on %d, to %d",
			text(w.Wakee.Comm), w.Wakee.PID, w.Asked, text(w.Waker.Comm), w.Waker.PID, w.Waker.CPU, w.Target))
	}
	f.OnIdle = func(cpu int32, at, state int64) {
		got.lines = append(got.lines, fmt.Sprintf("  %d: CPU %d idles at %d", at, cpu, state))
	}
	if err := trace.Each(r, func(e *trace.Event) error { f.Observe(e); return nil }); err != nil {
		t.Fatal(err)
	}
	f.Finish()
	return got
}

func expect(t *testing.T, got *told, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(strings.Trim(want, "\n")) {
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	if diff := cmp.Diff(lines, got.lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A wakes B at 100 onto its own CPU, where B is queued at 110; A is preempted at
// 150 and B sleeps at 190. B waits 150-100 = 50 ns behind A, A waits 190-150 = 40
// behind B.
func TestOneWaitsBehindTheOther(t *testing.T) {
	expect(t, followText(t, `
		A-1 [0] 90 tick: cpu=0
		A-1 [0] 100 sched_waking: comm=B pid=2 prio=120 target_cpu=000
		A-1 [0] 110 sched_wakeup: comm=B pid=2 prio=120 target_cpu=000
		A-1 [0] 150 sched_switch: prev_comm=A prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=B next_pid=2 next_prio=120
		B-2 [0] 190 sched_switch: prev_comm=B prev_pid=2 prev_prio=120 prev_state=S ==> next_comm=A next_pid=1 next_prio=120
		A-1 [0] 200 tick: cpu=0
	`), `
  90: 1 queued on 0
  110: 2 queued on 0
  B/2 waits 50 ns behind A/1 on 0
A/1 running on 0: 90..150, unseen before, waiting after
B/2 waiting on 0: 100..150, unseen before, running after, woken by A/1 on 0
  A/1 waits 40 ns behind B/2 on 0
  190: 1 queued on 0
B/2 running on 0: 150..190, waiting before, asleep after
A/1 waiting on 0: 150..190, running before, running after
A/1 running on 0: 190..200, waiting before, unseen after
B/2 asleep on 0: 190..200, running before, unseen after, as S`)
}

// Who listens to changes is told the same: B is on its way at 100 and queued at 110.
func TestChanges(t *testing.T) {
	got := followText(t, `
		A-1 [0] 100 sched_waking: comm=B pid=2 prio=120 target_cpu=000
		A-1 [0] 110 sched_wakeup: comm=B pid=2 prio=120 target_cpu=000
		A-1 [0] 150 sched_switch: prev_comm=A prev_pid=1 prev_prio=120 prev_state=X ==> next_comm=B next_pid=2 next_prio=120
	`)
	want := []string{
		"1 running on 0, queued, in , at 100", "2 waiting on 0, in , at 100", "2 waiting on 0, queued, in , at 110",
		"1 gone on 0, in , at 150", "2 running on 0, queued, in , at 150",
	}
	if diff := cmp.Diff(want, got.changes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"B/2 asked at 100 by A/1 on 0, to 0"}, got.wakeups); diff != "" {
		t.Error(diff)
	}
}

// B waits for 20 ns on CPU 0 behind A, is moved while it waits, and waits for the
// other 5 behind the idle thread of CPU 1, which must first wake up.
func TestAWaitThatMoves(t *testing.T) {
	got := followText(t, `
		A-1 [0] 100 sched_waking: comm=B pid=2 prio=120 target_cpu=000
		A-1 [0] 100 sched_wakeup: comm=B pid=2 prio=120 target_cpu=000
		<idle>-0 [1] 105 tick: cpu=1
		<idle>-0 [1] 120 sched_migrate_task: comm=B pid=2 prio=120 orig_cpu=0 dest_cpu=1
		<idle>-0 [1] 125 sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=B next_pid=2 next_prio=120
	`)
	expect(t, got, `
  100: 1 queued on 0
  100: 2 queued on 0
  B/2 waits 20 ns behind A/1 on 0
  120: 1 queued on 0
  120: 1 queued on 1
  B/2 waits 5 ns behind swapper/1/0 on 1
swapper/1/0 running on 1: 105..125, unseen before, unseen after
B/2 waiting on 1: 100..125, unseen before, running after, woken by A/1 on 0
A/1 running on 0: 100..125, unseen before, unseen after
B/2 running on 1: 125..125, waiting before, unseen after`)
}

// The wakeup came while B was still on its way to sleep: B never slept.
func TestAWakeupOfOneThatStillRuns(t *testing.T) {
	got := followText(t, `
		B-2 [1] 90 tick: cpu=1
		A-1 [0] 100 sched_waking: comm=B pid=2 prio=120 target_cpu=001
		B-2 [1] 110 sched_switch: prev_comm=B prev_pid=2 prev_prio=120 prev_state=R ==> next_comm=C next_pid=3 next_prio=120
	`)
	for _, i := range got.intervals {
		if i.PID == 2 && (i.State == Asleep || i.Woken) {
			t.Errorf("%+v", i)
		}
	}
}

// C is woken by A while it is on its way to sleep on CPU 1, where an interrupt then
// queues it: the waker is A, which asked at 100, and not whom the interrupt met.
func TestTheWakerIsWhoAsked(t *testing.T) {
	got := followText(t, `
		C-3 [1] 90 tick: cpu=1
		A-1 [0] 100 sched_waking: comm=C pid=3 prio=120 target_cpu=001
		C-3 [1] 110 sched_switch: prev_comm=C prev_pid=3 prev_prio=120 prev_state=S ==> next_comm=D next_pid=4 next_prio=120
		D-4 [1] 120 sched_wakeup: comm=C pid=3 prio=120 target_cpu=001
		D-4 [1] 150 sched_switch: prev_comm=D prev_pid=4 prev_prio=120 prev_state=S ==> next_comm=C next_pid=3 next_prio=120
	`)
	if diff := cmp.Diff([]string{"C/3 asked at 100 by A/1 on 0, to 1"}, got.wakeups); diff != "" {
		t.Error(diff)
	}
	for _, i := range got.intervals {
		if i.PID == 3 && i.State == Waiting && (i.From != 120 || i.Waker.PID != 1 || i.Waker.CPU != 0) {
			t.Errorf("%+v; want a wait from 120 on, woken by 1 on CPU 0", i)
		}
	}
}

// A first event that is a switch from an unknown thread tells that B runs; the
// event after it tells nothing new.
func TestASwitchTellsWhatRuns(t *testing.T) {
	f := NewFollower()
	var lines []string
	f.OnInterval = func(i *Interval) { lines = append(lines, fmt.Sprint(i.PID, i.State, i.From, i.To)) }
	var e trace.Event
	e.Init(trace.KindSwitch, 100, 0)
	e.SetSwitch(trace.Switch{Prev: trace.Task{PID: trace.UnknownPID, Prio: -1}, Next: trace.Task{PID: 2, Prio: 120}})
	f.Observe(&e)
	for at := int64(130); at <= 150; at += 20 {
		e.Init(trace.KindTick, at, 0)
		e.SetCurrent(trace.NoName, 2)
		f.Observe(&e)
	}
	f.Finish()
	if diff := cmp.Diff([]string{"2 running 100 150"}, lines); diff != "" {
		t.Error(diff)
	}
}

// A thread that is put into a cgroup and then starts is in it, although nobody saw
// it forked. A move within a hierarchy of cgroup v1 says nothing of CPU time.
func TestCgroups(t *testing.T) {
	for root, want := range map[int]string{0: "/a", 3: ""} {
		got := followText(t, fmt.Sprintf(`
			sh-7 [0] 10 cgroup_attach_task: dst_root=%d dst_id=5 dst_level=1 dst_path=/a pid=8 comm=sh
			sh-7 [0] 20 sched_wakeup_new: comm=sh pid=8 prio=120 target_cpu=000
		`, root))
		last := got.changes[len(got.changes)-1]
		if want := "8 waiting on 0, queued, in " + want + ", at 20"; last != want {
			t.Errorf("%q, want %q", last, want)
		}
	}
}

// A loss leaves open what ran behind it: A is known to run until 120, the last
// event before, and again from 150.
func TestALossIsLeftOpen(t *testing.T) {
	names := trace.NewNames()
	f := NewFollower()
	var lines []string
	f.OnInterval = func(i *Interval) { lines = append(lines, fmt.Sprint(i.PID, i.State, i.From, i.To)) }
	var lost []string
	f.OnChange = func(t *Thread, at int64) {
		if t.State == Unseen {
			lost = append(lost, fmt.Sprint(t.PID, at))
		}
	}
	event := func(kind trace.Kind, at int64, fill func(e *trace.Event)) {
		var e trace.Event
		e.Init(kind, at, 0)
		e.SetCurrent(names.Intern("A"), 1)
		fill(&e)
		f.Observe(&e)
	}
	tick := func(e *trace.Event) { e.SetTick(0) }
	event(trace.KindTick, 100, tick)
	event(trace.KindWakeup, 120, func(e *trace.Event) {
		e.SetWake(trace.Wake{Task: trace.Task{PID: 2, Prio: 120}, TargetCPU: 0})
	})
	event(trace.KindLost, 140, func(e *trace.Event) { e.SetLost(3) })
	event(trace.KindTick, 150, tick)
	event(trace.KindTick, 160, tick)
	f.Finish()
	want := []string{"1 running 100 120", "2 waiting 120 120", "1 running 150 160"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1 120", "2 120"}, lost); diff != "" {
		t.Error(diff)
	}
}

// A switch from a thread that did not run there: what was thought to run ended
// somewhere between the event before and this one, and is told until the former.
func TestAContradictionIsCut(t *testing.T) {
	got := followText(t, `
		A-1 [0] 100 tick: cpu=0
		A-1 [0] 130 tick: cpu=0
		C-3 [0] 170 sched_switch: prev_comm=C prev_pid=3 prev_prio=120 prev_state=S ==> next_comm=A next_pid=1 next_prio=120
		A-1 [0] 180 tick: cpu=0
	`)
	expect(t, got, `
  100: 1 queued on 0
A/1 running on 0: 100..130, unseen before, unseen after
  170: 0 queued on 0
  170: 1 queued on 0
  170: 0 queued on 0
  170: 1 queued on 0
A/1 running on 0: 170..180, unseen before, unseen after
C/3 asleep on 0: 170..180, running before, unseen after, as S`)
}

// A child inherits its parent's cgroup and waits from its first wakeup on.
func TestForkInheritsTheGroup(t *testing.T) {
	got := followText(t, `
		sh-7 [0] 10 cgroup_attach_task: dst_root=0 dst_id=5 dst_level=2 dst_path=/a/b pid=7 comm=sh
		sh-7 [0] 20 sched_process_fork: comm=sh pid=7 child_comm=sh child_pid=8
		sh-7 [0] 25 sched_wakeup_new: comm=sh pid=8 prio=120 target_cpu=001
		<idle>-0 [1] 30 sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=8 next_prio=120
		sh-8 [1] 50 sched_switch: prev_comm=sh prev_pid=8 prev_prio=120 prev_state=X ==> next_comm=swapper/1 next_pid=0 next_prio=120
	`)
	var seen []string
	for _, i := range got.intervals {
		if i.PID == 8 {
			if i.Group == trace.NoName {
				t.Errorf("no group: %+v", i)
			}
			seen = append(seen, fmt.Sprint(i.Before, " ", i.State, " ", i.After, " ", i.From, " ", i.To))
		}
	}
	if diff := cmp.Diff([]string{"born waiting running 25 30", "waiting running gone 30 50"}, seen); diff != "" {
		t.Error(diff)
	}
}

// cpu_idle of a real kernel and idlestate of a simulation say the same.
func TestIdleStates(t *testing.T) {
	expect(t, followText(t, `
		<idle>-0 [1] 10 cpu_idle: state=2 cpu_id=1
		<idle>-0 [1] 20 cpu_idle: state=4294967295 cpu_id=1
		<idle>-0 [1] 30 idlestate: cpu=1 state=1
		<idle>-0 [1] 40 sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=A next_pid=1 next_prio=120
	`), `
  10: CPU 1 idles at 2
  20: CPU 1 idles at -1
  30: CPU 1 idles at 1
swapper/1/0 running on 1: 10..40, unseen before, unseen after
  40: CPU 1 idles at -1
  40: 1 queued on 1`)
}

// Two caches of two CPUs: what is queued on the CPUs of each is added up.
func TestCaches(t *testing.T) {
	m, err := machine.Parse("1n2l2c1t")
	if err != nil {
		t.Fatal(err)
	}
	c := NewCaches(m)
	if c.Len() != 2 {
		t.Fatalf("%d caches", c.Len())
	}
	last := m.NumCPUs() - 1
	steps := []struct {
		cpu, queued, total int
	}{{0, 2, 2}, {last, 1, 1}, {0, 1, 1}, {1, 3, 4}, {0, 0, 3}}
	for i, s := range steps {
		cache, total, ok := c.Depth(int32(s.cpu), s.queued)
		if !ok || total != s.total || m.LLCMask(s.cpu).First() != c.First(cache) {
			t.Errorf("step %d: cache %d total %d %v; want %d", i, cache, total, ok, s.total)
		}
	}
	if _, _, ok := c.Depth(int32(m.NumCPUs()), 1); ok {
		t.Error("a CPU that is not there has a cache")
	}
}
