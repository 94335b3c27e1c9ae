package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// Who wakes whom, from where, and with which hint: ipc-and-benchmarks.md 0.2, 0.3.

// seenWakeup is a wakeup as placement saw it. wakee and waker are tasks of the
// scenario; the idle task is -1.
type seenWakeup struct {
	at           int64
	wakee, waker int
	here, prev   int
	sync         bool
}

// wakeWatcher is told of every placement and keeps the wakeups.
type wakeWatcher struct {
	m    *Sim
	seen []seenWakeup
}

func watchWakeups(m *Sim) *wakeWatcher {
	w := &wakeWatcher{m: m}
	m.sched.Observe(w)
	return w
}

func (w *wakeWatcher) PlacementBegins(p *sched.Placement) {
	if p.Kind != sched.KindWake {
		return
	}
	waker := -1
	if curr := w.m.sched.Current(p.Here); curr != nil {
		waker = int(curr.Ref)
	}
	w.seen = append(w.seen, seenWakeup{at: w.m.now, wakee: int(p.Task.Ref), waker: waker, here: p.Here, prev: p.Prev, sync: p.Sync})
}

func (*wakeWatcher) PlacementEnds(*sched.Placement, int)           {}
func (*wakeWatcher) Moves(*sched.Task, int)                        {}
func (*wakeWatcher) Arrives(*sched.Task)                           {}
func (*wakeWatcher) Queued(*sched.Task, bool)                      {}
func (*wakeWatcher) Scheduled(int, *sched.Task, *sched.Task, bool) {}
func (*wakeWatcher) Interrupted(int, *sched.Task)                  {}
func (*wakeWatcher) LooksForWork(int)                              {}
func (*wakeWatcher) Decays(int)                                    {}
func (*wakeWatcher) PassBegins(*sched.PassView)                    {}
func (*wakeWatcher) PassEnds(int, int)                             {}
func (*wakeWatcher) Judged(*sched.JudgementView)                   {}
func (*wakeWatcher) OverloadChanged(int, bool)                     {}
func (*wakeWatcher) Throttled(*sched.TaskGroup, int)               {}
func (*wakeWatcher) Unthrottled(*sched.TaskGroup, int)             {}
func (*wakeWatcher) IdleCostChanged(int, int64)                    {}
func (*wakeWatcher) Blocks(*sched.Task, bool)                      {}
func (*wakeWatcher) DelayEnds(int, *sched.Task, *sched.TaskGroup)  {}
func (*wakeWatcher) WakesInPlace(*sched.Task, int)                 {}

// onCPUs is a scenario in which each program is a process of its own that starts
// on the CPU of its number; the channels and objects are what the programs use.
func onCPUs(t *testing.T, channels []workload.ChannelSpec, syncs []workload.SyncSpec, programs ...string) *workload.Scenario {
	t.Helper()
	sc := &workload.Scenario{Channels: channels, Syncs: syncs}
	for i, text := range programs {
		sc.Programs = append(sc.Programs, mustParse(t, text))
		sc.Tasks = append(sc.Tasks, workload.TaskSpec{Name: "task", Program: int32(i), Process: int32(i), StartCPU: i})
	}
	return sc
}

// 0.2: the sync hint, by event. Task 0, on CPU 0, is woken by task 1, on CPU 1,
// after 1 ms.
func TestSyncHintByEvent(t *testing.T) {
	pipe, unix := workload.ChannelSpec{Kind: workload.Pipe}, workload.ChannelSpec{Kind: workload.UnixStream}
	udp, tcp := workload.ChannelSpec{Kind: workload.UDPSocket}, workload.ChannelSpec{Kind: workload.TCPStream}
	full := strings.Repeat("write c0 65536\n", 60) // more than the buffer holds
	for _, c := range []struct {
		event        string
		channel      workload.ChannelSpec
		sync         workload.SyncSpec
		sleeps, acts string
		want         bool
	}{
		{event: "pipe, data", channel: pipe, sleeps: "read c0 100", acts: "write c0 100", want: true},
		{event: "pipe, space", channel: pipe, sleeps: "write c0 65536\nwrite c0 100", acts: "read c0 65536", want: true},
		{event: "unix, data", channel: unix, sleeps: "read c0 100", acts: "write c0 100", want: true},
		{event: "unix, space", channel: unix, sleeps: "write c0 300000", acts: "read c0 250000", want: true},
		{event: "udp, data", channel: udp, sleeps: "readsome c0 100", acts: "write c0 100", want: true},
		{event: "tcp, data", channel: tcp, sleeps: "readsome c0 100", acts: "write c0 100", want: true},
		{event: "tcp, space", channel: tcp, sleeps: full, acts: "again:\nreadsome c0 1048576\nloop again forever", want: false},
		{event: "a pipe is polled", channel: pipe, sleeps: "poll c0", acts: "write c0 1", want: true},
		{event: "a socket is polled", channel: unix, sleeps: "poll c0", acts: "write c0 1", want: true},
		{event: "futex", channel: pipe, sleeps: "futexwait s0 0", acts: "futexwake s0 1", want: false},
		{event: "mutex", channel: pipe, sync: workload.SyncSpec{Kind: workload.Mutex}, sleeps: "run 10us\nlock s0", acts: "unlock s0", want: false},
	} {
		first := "run 1ms\n"
		if c.event == "mutex" {
			first = "lock s0\nrun 1ms\n"
		}
		sc := onCPUs(t, []workload.ChannelSpec{c.channel}, []workload.SyncSpec{c.sync}, c.sleeps+"\nexit", first+c.acts+"\nexit")
		// Who sleeps is done when woken, or sleeps again for what never comes.
		sc.Tasks[0].Background = c.event != "tcp, space"
		sc.Tasks[1].Background = !sc.Tasks[0].Background
		m := simulate(t, "1n2c1t", "v5.17", sc)
		w := watchWakeups(m)
		run(t, m)
		if len(w.seen) == 0 {
			t.Errorf("%s: nobody was woken", c.event)
			continue
		}
		want := seenWakeup{at: w.seen[0].at, wakee: 0, waker: 1, here: 1, prev: 0, sync: c.want}
		if got := w.seen[0]; got != want || got.at < 1_000_000 {
			t.Errorf("%s: %+v, want task 0 woken by task 1 from CPU 1, sync %v", c.event, got, c.want)
		}
	}
}

// 0.2, 0.3 and 5: a timer fires in an interrupt of the CPU where its task went to
// sleep. Its wakeup has no sync hint, starts there, and is the doing of the task that
// the interrupt has struck, or of the idle task.
func TestTimersWakeInTheNameOfWhomTheyStrike(t *testing.T) {
	for _, c := range []struct {
		name  string
		other string // on the same CPU
		waker int
	}{{"idle", "exit", -1}, {"busy", "run 20ms\nexit", 1}} {
		sc := onCPUs(t, nil, nil, "sleep 5ms\nexit", c.other)
		for i := range sc.Tasks {
			sc.Tasks[i].StartCPU, sc.Tasks[i].Allowed = 1, []int{1}
		}
		m := simulate(t, "1n2c1t", "v5.17", sc)
		w := watchWakeups(m)
		run(t, m)
		if len(w.seen) != 1 {
			t.Fatalf("%s: %d wakeups, want 1", c.name, len(w.seen))
		}
		if got := w.seen[0]; got.sync || got.here != got.prev || got.waker != c.waker {
			t.Errorf("%s: %+v, want it from the sleeper's own CPU, by task %d, not sync", c.name, got, c.waker)
		}
	}
}

// N1 and N2: a transaction is two wakes, of the server by the client and of the client
// by the server, each sync and from the CPU of the peer; no timer has a part in it.
func TestPeersOfATransactionWakeEachOther(t *testing.T) {
	const peers = 3 // from this task on: behind the main process, its clock and the listener
	for _, kernel := range []string{"v3.8", "v4.14", "v5.17", "v7.2"} {
		for _, test := range []string{"TCP_RR", "UDP_RR"} {
			bench, err := workload.Parse([]string{"netperf", "-t", test})
			check(t, err)
			bench.(workload.Scalable).SetStretch(workload.Stretch{Measure: 5e6})
			sc, err := bench.Build(workload.Shape{CPUs: 4, Nodes: 1})
			check(t, err)
			m := simulate(t, "1n4c1t", kernel, sc)
			w := watchWakeups(m)
			r := run(t, m)
			var pair []seenWakeup
			for _, s := range w.seen {
				if min(s.wakee, s.waker) >= peers {
					pair = append(pair, s)
				} else if s.wakee >= peers && len(pair) > 0 && len(pair) < 2*int(r.Observation.Recorders[0].Tally) {
					t.Errorf("%s, %s: %+v in the middle of a transaction", kernel, test, s)
				}
			}
			if extra := len(pair) - 2*int(r.Observation.Recorders[0].Tally); extra < 0 || extra > 4 || len(pair) < 60 {
				t.Errorf("%s, %s: %d wakeups in %d transactions, want 2 each and a few", kernel, test, len(pair), r.Observation.Recorders[0].Tally)
			}
			for i, s := range pair {
				before := pair[max(0, i-1)]
				if !s.sync || i > 0 && (s.waker != before.wakee || s.wakee != before.waker) {
					t.Errorf("%s, %s, wakeup %d: %+v after %+v; want the peer's, sync", kernel, test, i, s, before)
					break
				}
			}
		}
	}
}

// W7: two workers post one after the other, the message thread wakes the newest
// first, back to back, without a hint. Who was woken first is the first to post
// again, so the order of the next batch is the other one.
func TestW7NewestPosterIsWokenFirst(t *testing.T) {
	m, _ := build(t, "1n4c1t", "v5.17", "schbench", "-m", "1", "-t", "2", "-r", "1", "-w", "0")
	w := watchWakeups(m)
	run(t, m)
	const message, a, b = 1, 2, 3 // main is task 0
	var batches [][]int
	last, posts := int64(-1), 0
	for _, s := range w.seen {
		switch {
		case s.wakee == message && s.waker >= a:
			posts++
		case s.waker == message && s.wakee >= a:
			if s.sync {
				t.Errorf("the wakeup at %d ns is sync", s.at)
			}
			if last < 0 || s.at-last > 1_000_000 {
				batches = append(batches, nil)
			}
			last = s.at
			batches[len(batches)-1] = append(batches[len(batches)-1], s.wakee)
		}
	}
	batches = batches[:len(batches)-1] // the last one ends the run
	if len(batches) < 8 {
		t.Fatalf("%d batches in a second, want one in 94 ms", len(batches))
	}
	for i, got := range batches {
		want := []int{b, a}
		if i%2 == 1 {
			want = []int{a, b}
		}
		if !slices.Equal(got, want) {
			t.Errorf("batch %d: woken %v, want %v", i, got, want)
		}
	}
	if posts < len(batches) || posts > len(batches)+2 {
		t.Errorf("%d posts woke the message thread in %d batches, want one each", posts, len(batches))
	}
}

// W12: regions of four threads that work for 100 us each. While the master comes back
// within the spin of 1.5 ms nobody sleeps; after 5 ms alone it finds the three others
// asleep at the dock, and its next region starts with three wakes, back to back.
func TestW12RegionsOfATeam(t *testing.T) {
	const regions = 10
	for _, c := range []struct {
		gap  string
		want int
	}{{"100us", 0}, {"1400us", 0}, {"5ms", 3 * regions}} {
		region := "teammeet s0 300000\nrun 100us\nteammeet s1 300000\nloop again 10\nexit"
		worker := "again:\n" + region
		team := workload.SyncSpec{Kind: workload.TeamBarrier, Value: 4}
		sc := teamOf(t, 4, []workload.SyncSpec{team, team}, "again:\nrun "+c.gap+"\n"+region, worker, worker, worker)
		for i := range sc.Tasks {
			sc.Tasks[i].Allowed = []int{0, 1, 2, 3} // a pinned task is not placed
		}
		m := simulateWith(t, "1n4c1t", "v4.14", sc, free)
		w := watchWakeups(m)
		if r := run(t, m); int(r.Wakeups) != c.want || len(w.seen) != c.want {
			t.Errorf("a gap of %s: %d wakeups, want %d", c.gap, r.Wakeups, c.want)
		}
		for i, s := range w.seen {
			if first := w.seen[i-i%3]; s.waker != 0 || s.sync || s.at != first.at {
				t.Errorf("a gap of %s: wakeup %d %+v; want the master's, three at once", c.gap, i, s)
			}
		}
	}
}

// pairOf is a sender and a receiver of n messages of 100 bytes over a pipe. The
// receiver, on CPU 0, is asleep when the sender begins, at mark 0; each read that
// returns is marked too, from 1 on, and each write behind those. (Of two tasks that
// start on one CPU the second runs first.)
func pairOf(t *testing.T, n int, senderCPU int) *workload.Scenario {
	reads, writes := "", "run 100us\nmark 0\n"
	for i := range n {
		reads += fmt.Sprintf("read c0 100\nmark %d\n", 1+i)
		writes += fmt.Sprintf("write c0 100\nmark %d\n", 1+n+i)
	}
	sc := onCPUs(t, []workload.ChannelSpec{{Kind: workload.Pipe}}, nil, writes+"exit", reads+"exit")
	sc.Marks = 1 + 2*n
	sc.Tasks[0].Allowed, sc.Tasks[0].StartCPU = []int{senderCPU}, senderCPU
	sc.Tasks[1].Allowed, sc.Tasks[1].StartCPU = []int{0}, 0
	return sc
}

// pipesOnly prices a pipe's calls at 350 ns, a way out of idle at 3 us, and nothing
// else.
func pipesOnly(cfg *Config) {
	cfg.Costs = &Costs{SMTSpeed: fullSpeed, IdleStates: 1, IdleMonitor: 1, PipeRead: 350, PipeWrite: 350, IdlePoll: 3000}
}

// W1: two CPUs. The writes are done at 0.35, 0.70 and 1.05 us, the first wakes; the
// receiver comes at 3.35, half of its first read was done before it slept, and reads
// all three without sleeping again.
func TestW1TimesOfAMicroHackbench(t *testing.T) {
	r := run(t, simulateWith(t, "1n2c1t", "v5.17", pairOf(t, 3, 1), pipesOnly))
	marks := r.Observation.Marks
	for i, want := range []int64{0, 3525, 3875, 4225, 350, 700, 1050} {
		// The simulator's shortest time is 1 ns; a pipe's mutex keeps nobody waiting.
		if got := marks[i] - marks[0]; got < want || got > want+20 {
			t.Errorf("mark %d at %d ns, want %d", i, got, want)
		}
	}
	if r.Wakeups != 1 {
		t.Errorf("%d wakeups, want 1", r.Wakeups)
	}
}

// W2: on one CPU without preemption the sender's end is the first switch and the
// receiver's the second: one wake. A receiver that preempts at once takes turns with
// the sender: three wakes, six switches. (Beside these there are the two of the
// start, and the sender's end.)
func TestW2SwitchesOfAMicroHackbench(t *testing.T) {
	for _, c := range []struct {
		name              string
		sender            workload.Policy
		wakeups, switches int64
	}{{"none preempts", workload.Normal, 1, 2 + 2}, {"each preempts", workload.Idle, 3, 2 + 6 + 1}} {
		sc := pairOf(t, 3, 0)
		sc.Tasks[0].Policy = c.sender
		r := run(t, simulateWith(t, "1n1c1t", "v5.17", sc, func(cfg *Config) {
			pipesOnly(cfg)
			check(t, cfg.Sched.SetFeature("NO_WAKEUP_PREEMPTION")) // idle tasks are preempted all the same
		}))
		if r.Wakeups != c.wakeups || r.Switches != c.switches {
			t.Errorf("%s: %d wakeups, %d switches; want %d and %d", c.name, r.Wakeups, r.Switches, c.wakeups, c.switches)
		}
	}
}

// W6: a loop of perf's pipe has 2 wakes; on one CPU, where wakeups do not preempt, 2
// switches, on two each CPU goes idle once, and back. (Who preempts its waker before
// that reads finds it awake when it answers: one wake a loop.) What start and end take
// does not grow with the loops.
func TestW6SwitchesOfALoop(t *testing.T) {
	for _, c := range []struct {
		spec, feature     string
		wakeups, switches int64
	}{
		{"1n1c1t", "NO_WAKEUP_PREEMPTION", 2, 2}, {"1n2c1t", "WAKEUP_PREEMPTION", 2, 4}, {"1n1c1t", "WAKEUP_PREEMPTION", 1, 2},
	} {
		count := func(loops string) (wakeups, switches int64) {
			bench, err := workload.Parse([]string{"perf", "bench", "sched", "pipe", "-l", loops})
			check(t, err)
			mach, err := machine.Parse(c.spec)
			check(t, err)
			sc, err := bench.Build(workload.Shape{CPUs: mach.NumCPUs(), Nodes: 1})
			check(t, err)
			last := mach.NumCPUs() - 1
			sc.Tasks[0].Allowed, sc.Tasks[1].Allowed = []int{0}, []int{last}
			r := run(t, simulateWith(t, c.spec, "v5.17", sc, func(cfg *Config) { check(t, cfg.Sched.SetFeature(c.feature)) }))
			return r.Wakeups, r.Switches
		}
		wakeups, switches := count("1000")
		moreWakeups, moreSwitches := count("2000")
		if got := moreWakeups - wakeups; got != c.wakeups*1000 {
			t.Errorf("%s, %s: 1000 more loops have %d wakeups, want %d each", c.spec, c.feature, got, c.wakeups)
		}
		if got := moreSwitches - switches; got != c.switches*1000 {
			t.Errorf("%s, %s: 1000 more loops have %d switches, want %d each", c.spec, c.feature, got, c.switches)
		}
	}
}

// 6.3: a cycle takes 30 + 30 + 33.75 ms in the mean and the slack, 93.8 ms; worker and
// message thread are busy for 30 ms of each, one after the other; of 30 s the 25
// behind the warm-up have 266 samples of each worker, the text's 270 within 2 %.
func TestSchbenchCycle(t *testing.T) {
	m, _ := build(t, "1n4c1t", "v5.17", "schbench", "-m", "1", "-t", "1")
	r := run(t, m)
	if got := r.Observation.Recorders[0].Samples.Count; got < 262 || got > 270 {
		t.Errorf("%d samples after the warm-up, want 25 s / 93.8 ms = 266 within 4", got)
	}
	if busy := 100 * float64(r.BusyNS) / float64(r.End); busy < 63 || busy > 65 {
		t.Errorf("both together are busy for %.1f %% of the time, want 2*30/93.8 = 64", busy)
	}
}
