package trace

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// readText reads lines and returns the events and the reader.
func readText(t *testing.T, lines ...string) ([]Event, Reader) {
	t.Helper()
	r := NewTextReader(strings.NewReader(strings.Join(lines, "\n") + "\n"))
	return readEvents(t, r), r
}

// Lines of real tools, and what they say: TIME [CPU] PID/TGID comm context | body.
func TestLineForms(t *testing.T) {
	cases := []struct {
		name, line string
		time       int64
		cpu        int32
		pid, tgid  int32
		comm       string
		context    string // as the kernel prints it, "" when unknown
		body       string
	}{
		{
			"tracefs of 6.1", "              sh-373     [004] d.s2.    16.030979: sched_migrate_task: comm=rcu_preempt pid=16 prio=120 orig_cpu=4 dest_cpu=6",
			16_030_979_000, 4, 373, -1, "sh", "d.s2.", "sched_migrate_task: comm=rcu_preempt pid=16 prio=120 orig_cpu=4 dest_cpu=6",
		},
		{
			"tracefs of 5.10: four columns", "          <idle>-0       [000] dNh.     9.477577: sched_wakeup: comm=rcu_sched pid=13 prio=120 target_cpu=000",
			9_477_577_000, 0, 0, -1, "<idle>", "dNh..", "sched_wakeup: comm=rcu_sched pid=13 prio=120 target_cpu=000",
		},
		{
			"lazy resched of 6.13", "     spin-oracle-339     [004] dB.2.    11.651021: thr: (throttle_cfs_rq+0x0/0x250) cfs=0xffffefb27fc01480 cpu=4",
			11_651_021_000, 4, 339, -1, "spin-oracle", "dB.2.", "thr: (throttle_cfs_rq+0x0/0x250) cfs=0xffffefb27fc01480 cpu=4",
		},
		{
			"tgid", "            bash-20295   (  20290) [001] d.h2.  2287.906625: sched_waking: comm=x pid=1399 prio=120 target_cpu=001",
			2287_906_625_000, 1, 20295, 20290, "bash", "d.h2.", "sched_waking: comm=x pid=1399 prio=120 target_cpu=001",
		},
		{
			"tgid unknown, no irq-info", "      sched.test-19680   (-------) [000]   2287.908051: softirq_entry: vec=9 [action=RCU]",
			2287_908_051_000, 0, 19680, -1, "sched.test", "", "softirq_entry: vec=9 [action=RCU]",
		},
		{
			"latency format of tracefs", "memfd:se-1399      1d..2. 15226us : sched_switch: prev_comm=memfd:sealed-91 prev_pid=1399 prev_prio=120 prev_state=S ==> next_comm=rcu_preempt next_pid=15 next_prio=120",
			15_226_000, 1, 1399, -1, "memfd:se", "d..2.", "sched_switch: prev_comm=memfd:sealed-91 prev_pid=1399 prev_prio=120 prev_state=S ==> next_comm=rcu_preempt next_pid=15 next_prio=120",
		},
		{
			"delay mark", "    bash-20295     1d..2. 15193us+: sched_wakeup: comm=x pid=2 prio=98 target_cpu=001",
			15_193_000, 1, 20295, -1, "bash", "d..2.", "sched_wakeup: comm=x pid=2 prio=98 target_cpu=001",
		},
		{
			"trace-cmd report -l", "sched-me-20304   1d..2.  2287.936558: sched_wakeup_new:     sched-messaging:20337 [120] CPU:001",
			2287_936_558_000, 1, 20304, -1, "sched-me", "d..2.", "sched_wakeup_new: comm=sched-messaging pid=20337 prio=120 target_cpu=001",
		},
		{
			"trace-cmd report -t, plugin", "              zz-11876 [000]  3829.944074707: sched_switch:         zz:11876 [120] R ==> go:12534 [120]",
			3829_944_074_707, 0, 11876, -1, "zz", "", "sched_switch: prev_comm=zz prev_pid=11876 prev_prio=120 prev_state=R ==> next_comm=go next_pid=12534 next_prio=120",
		},
		{
			"plugin before 4.14", "          <idle>-0     [001]  6550.100000: sched_wakeup:          rcu:7 [120] success=1 CPU:001",
			6550_100_000_000, 1, 0, -1, "<idle>", "", "sched_wakeup: comm=rcu pid=7 prio=120 success=1 target_cpu=001",
		},
		{
			"trace-cmd report -R", " sched-messaging-20304 [001]  2287.936554: sched_process_fork:    parent_comm=a parent_pid=20304 child_comm=b child_pid=20337",
			2287_936_554_000, 1, 20304, -1, "sched-messaging", "", "sched_process_fork: comm=a pid=20304 child_comm=b child_pid=20337",
		},
		{
			"unknown name", "           <...>-1701  [001]    76.211513: sched_wakeup:          comm=sh pid=1642 prio=120 success=1 target_cpu=2",
			76_211_513_000, 1, 1701, -1, "", "", "sched_wakeup: comm=sh pid=1642 prio=120 success=1 target_cpu=002",
		},
		{
			"perf script", "            perf  4542 [000]  1959.258765: sched:sched_stat_runtime: comm=perf pid=4542 runtime=81306 [ns]",
			1959_258_765_000, 0, 4542, -1, "perf", "", "sched_stat_runtime: comm=perf pid=4542 runtime=81306 [ns]",
		},
		{
			"perf script before 6.8", "            perf  4542 [000]  1959.258765: sched:sched_stat_runtime: comm=perf pid=4542 runtime=81306 [ns] vruntime=99 [ns]",
			1959_258_765_000, 0, 4542, -1, "perf", "", "sched_stat_runtime: comm=perf pid=4542 runtime=81306 [ns] vruntime=99 [ns]",
		},
		{
			"perf script --ns -F +pid", "   Web Content  4542/4550  [012]  1959.258773145:       sched:sched_waking: comm=migration/0 pid=18 prio=0 target_cpu=012",
			1959_258_773_145, 12, 4550, 4542, "Web Content", "", "sched_waking: comm=migration/0 pid=18 prio=0 target_cpu=012",
		},
		{
			"perf script of an exiting thread", "             :-1    -1 [001]  3881.355824680:       sched:sched_switch: prev_comm=c prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=go next_pid=2 next_prio=120",
			3881_355_824_680, 1, -1, -1, ":-1", "", "sched_switch: prev_comm=c prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=go next_pid=2 next_prio=120",
		},
		{
			"perf script without CPU", "            perf  4542  1959.258765: sched:sched_waking: comm=m pid=18 prio=0 target_cpu=000",
			1959_258_765_000, -1, 4542, -1, "perf", "", "sched_waking: comm=m pid=18 prio=0 target_cpu=000",
		},
		{
			"probe with hidden state", "              sh-278     [007] d...     9.262350: sel: (select_task_rq_fair+0x0/0x11d0) prev=7 flags=0x4 wflags=0x0 pid=282 flips=4 decay=4294894553 jiffies=4294894612 recent=7 load=1024 util=0 policy=0 nallowed=8 allowed=0xff qload=603 prevload=603 previdle=1000000",
			9_262_350_000, 7, 278, -1, "sh", "d....", "sel: (select_task_rq_fair+0x0/0x11d0) prev=7 flags=0x4 wflags=0x0 pid=282 flips=4 decay=4294894553 jiffies=4294894612 recent=7 load=1024 util=0 policy=0 nallowed=8 allowed=0xff qload=603 prevload=603 previdle=1000000",
		},
		{
			"name with spaces, brackets and a field's key", "  a [0] b pid=3-77     [003] d..2.     1.000001: sched_waking: comm=x pid=3 y pid=45 prio=120 target_cpu=003",
			1_000_001_000, 3, 77, -1, "a [0] b pid=3", "d..2.", "sched_waking: comm=x pid=3 y pid=45 prio=120 target_cpu=003",
		},
		{
			"a newer kernel's field", "            bash-5     [003] d..2.     1.000001: sched_migrate_task: comm=a pid=4 prio=120 orig_cpu=1 dest_cpu=2 why=3",
			1_000_001_000, 3, 5, -1, "bash", "d..2.", "sched_migrate_task: comm=a pid=4 prio=120 orig_cpu=1 dest_cpu=2",
		},
		{
			"event kept by name", "     kworker/0:0-3410  [000]  6550.056870: cpu_frequency:        state=600000 cpu_id=0",
			6550_056_870_000, 0, 3410, -1, "kworker/0:0", "", "cpu_frequency: state=600000 cpu_id=0",
		},
		{
			"function tracer", "            bash-1977  [000] .... 17284.993652: sys_close <-system_call_fastpath",
			17284_993_652_000, 0, 1977, -1, "bash", ".....", "sys_close <-system_call_fastpath",
		},
		{
			"windows line end", "            bash-5     [003] d..2.     1.000001: sched_process_exit: comm=a pid=5 prio=120 group_dead=true\r",
			1_000_001_000, 3, 5, -1, "bash", "d..2.", "sched_process_exit: comm=a pid=5 prio=120 group_dead=true",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			events, r := readText(t, c.line)
			if len(events) != 1 || r.Stats().Malformed+r.Stats().Unreadable > 0 {
				t.Fatalf("%d events\n%s", len(events), r.Stats())
			}
			e := &events[0]
			context := ""
			if e.Known {
				context = string(e.appendColumns(nil))
			}
			if e.Time != c.time || e.CPU != c.cpu || e.PID != c.pid || e.TGID != c.tgid || context != c.context {
				t.Errorf("%d [%d] %d/%d %q, want %d [%d] %d/%d %q", e.Time, e.CPU, e.PID, e.TGID, context, c.time, c.cpu, c.pid, c.tgid, c.context)
			}
			if comm := r.Names().Text(e.Comm); comm != c.comm {
				t.Errorf("comm %q, want %q", comm, c.comm)
			}
			if body := string(appendBody(nil, e, r.Names())); body != c.body {
				t.Errorf("\n got %s\nwant %s", body, c.body)
			}
		})
	}
}

// Each of these lines is damaged; none may pass for a good one.
func TestDamagedLines(t *testing.T) {
	const good = "            bash-5     [003] d..2.     1.000001: sched_wakeup: comm=a pid=4 prio=120 target_cpu=001"
	for name, line := range map[string]string{
		"letter in a number":      strings.Replace(good, "pid=4", "pid=4x", 1),
		"missing field":           strings.Replace(good, "prio=120 ", "", 1),
		"cut off":                 good[:len(good)-16],
		"two lines in one":        good + good,
		"no time":                 strings.Replace(good, "1.000001", "1.0000a1", 1),
		"no CPU":                  strings.Replace(good, "[003]", "[0x3]", 1),
		"a CPU that none has":     strings.Replace(good, "[003]", "[99999]", 1),
		"a time beyond all":       strings.Replace(good, "1.000001", "99999999999.000001", 1),
		"zero bytes":              strings.Replace(good, "bash", "ba\x00h", 1),
		"no line of a trace":      "hello, world",
		"two lines, unknown kind": strings.Replace(good, "sched_wakeup", "foo", 1) + good,
	} {
		t.Run(name, func(t *testing.T) {
			_, r := readText(t, good, line)
			s := r.Stats()
			if s.Clean() || s.Warning == nil {
				t.Fatalf("passes as good:\n%s", s)
			}
			if want := int64(len(good) + 1); s.Warning.Offset != want {
				t.Errorf("warning at byte %d, the line is at %d", s.Warning.Offset, want)
			}
		})
	}
}

func TestLostMarks(t *testing.T) {
	events, r := readText(t,
		"CPU:0 [LOST 3065 EVENTS]",
		"            bash-5     [000] d..2.     1.000001: sched_wakeup: comm=a pid=4 prio=120 target_cpu=001",
		"CPU:12 [LOST EVENTS]",
		"CPU:3 [7 EVENTS DROPPED]",
		"CPU:3 [EVENTS DROPPED]",
		"            perf  1 [003]  1.000002: PERF_RECORD_LOST lost 5",
		"            perf  1 [003]  1.000003: PERF_RECORD_COMM: x:1/1",
	)
	// 3065 + 7 + 5 = 3077 in five marks, two of them without a number.
	if s := r.Stats(); s.Lost != 3077 || s.LostMarks != 5 || s.Events != 1 || s.Unreadable != 0 {
		t.Fatalf("lost %d at %d places:\n%s", s.Lost, s.LostMarks, s)
	}
	var counts []int64
	for _, e := range events {
		if e.Kind == KindLost {
			counts = append(counts, e.LostCount())
		}
	}
	want := []int64{3065, Unknown, 7, Unknown, 5}
	for i := range want {
		if counts[i] != want[i] {
			t.Fatalf("counts %v, want %v", counts, want)
		}
	}
	if events[2].CPU != 12 || events[2].Time != 1_000_001_000 {
		t.Errorf("mark on CPU %d at %d, want 12 at the time of the event before", events[2].CPU, events[2].Time)
	}
}

// 3065 + 525 events were overwritten on two CPUs; cat trace says so only in its
// header: "15/3605" are 3590 lost.
func TestOverrunFixtures(t *testing.T) {
	pipe := openFixture(t, "trace-pipe-lost.txt.gz")
	readEvents(t, pipe)
	if s := pipe.Stats(); s.Lost != 3065+525 || s.LostMarks != 2 || s.Events != 38 {
		t.Errorf("%s", s)
	}
	file := openFixture(t, "tracefs-overrun.txt.gz")
	readEvents(t, file)
	if s := file.Stats(); s.Lost != 3605-15 || s.Events != 15 {
		t.Errorf("%s", s)
	}
}

func TestHeaderAccount(t *testing.T) {
	const event = "            bash-5     [000] d..2.     1.000001: sched_wakeup: comm=a pid=4 prio=120 target_cpu=001"
	_, r := readText(t, "# entries-in-buffer/entries-written: 2/2   #P:8", event)
	if w := r.Stats().Warning; w == nil || !strings.Contains(w.Text, "announces 2 entries, there are 1") {
		t.Errorf("warning %v", w)
	}
}

func TestOrderAndRepetition(t *testing.T) {
	wake := func(time string) string {
		return "            bash-5     [000] d..2.     " + time + ": sched_wakeup: comm=a pid=4 prio=120 target_cpu=001"
	}
	events, r := readText(t, wake("1.000001"), wake("1.000003"), wake("1.000002"), wake("1.000004"), wake("1.000004"))
	s := r.Stats()
	if s.Reordered != 1 || s.Duplicated != 1 || s.Events != 5 {
		t.Fatalf("%s", s)
	}
	if events[2].Marks != MarkReordered || events[4].Marks != MarkDuplicate {
		t.Errorf("marks %v and %v", events[2].Marks, events[4].Marks)
	}
}

// A switch away from a thread that the CPU had not switched to shows a gap; a mark
// of lost events explains it.
func TestBreaks(t *testing.T) {
	sw := func(time, prev, next string) string {
		return "            t-" + prev + "     [000] d..2.     " + time + ": sched_switch: prev_comm=t prev_pid=" + prev +
			" prev_prio=120 prev_state=S ==> next_comm=t next_pid=" + next + " next_prio=120"
	}
	_, r := readText(t, sw("1.000001", "5", "6"), sw("1.000002", "6", "7"), sw("1.000003", "8", "9"))
	if n := r.Stats().Breaks; n != 1 {
		t.Errorf("%d breaks, want 1 (8 runs after 7)", n)
	}
	_, r = readText(t, sw("1.000001", "5", "6"), "CPU:0 [LOST 3 EVENTS]", sw("1.000003", "8", "9"))
	if n := r.Stats().Breaks; n != 0 {
		t.Errorf("%d breaks behind lost events, want 0", n)
	}
}

func TestLongLines(t *testing.T) {
	const good = "            bash-5     [000] d..2.     1.000001: sched_wakeup: comm=a pid=4 prio=120 target_cpu=001\n"
	input := good + strings.Repeat("x", 3*maxLine) + "\n" + good
	r := NewTextReader(strings.NewReader(input))
	events := readEvents(t, r)
	if s := r.Stats(); len(events) != 2 || s.Unreadable != 1 {
		t.Fatalf("%s", s)
	}
	if want := int64(len(input) - len(good)); events[1].Offset != want {
		t.Errorf("the last event is at byte %d, want %d", events[1].Offset, want)
	}
}

// Reading and writing gives the same bytes, for every kernel with five context
// columns (5.10 has four).
func TestTextRoundTrip(t *testing.T) {
	roundTrip := func(name string, content []byte) {
		var out bytes.Buffer
		if err := Copy(&out, NewTextReader(bytes.NewReader(content)), OutputText); err != nil {
			t.Fatal(err)
		}
		if got, want := withoutComments(out.Bytes()), withoutComments(content); got != want {
			t.Errorf("%s: not the same text:\n%s", name, firstDifference(got, want))
		}
	}
	roundTrip("tracefs.txt.gz", fixtureBytes(t, "tracefs.txt.gz"))
	if shared := sharedFolder(t); shared != "" {
		for _, path := range []string{"6.1/hb-pipe", "6.12/nested-while1", "7.2/idle-noise"} {
			content := readShared(t, filepath.Join(shared, "captures", path, "trace.txt.gz"))
			roundTrip(path, content)
		}
	}
}

// Perfetto keeps events by CPU; events of the same microsecond on two CPUs must
// come back in the order in which they were written all the same.
func TestPerfettoKeepsOrder(t *testing.T) {
	check := func(name string, content []byte) {
		var out bytes.Buffer
		if err := Copy(&out, NewTextReader(bytes.NewReader(content)), OutputPerfetto); err != nil {
			t.Fatal(err)
		}
		back, err := openBytes(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		text := NewTextReader(bytes.NewReader(content))
		got, want := readEvents(t, back), readEvents(t, text)
		if len(got) != len(want) {
			t.Fatalf("%s: %d events, want %d", name, len(got), len(want))
		}
		for i := range got {
			if got[i].Kind == KindExit { // Perfetto has no group_dead
				want[i].has &^= 1 << 3
			}
			if g, w := describe(&got[i], back.Names()), describe(&want[i], text.Names()); g != w {
				t.Fatalf("%s: event %d:\n got %s\nwant %s", name, i, g, w)
			}
		}
	}
	check("tracefs.txt.gz", fixtureBytes(t, "tracefs.txt.gz"))
	var tied strings.Builder
	for _, cpu := range []string{"001", "000", "000", "002", "001"} {
		tied.WriteString("            bash-5     [" + cpu + "] d..2.     1.000001: sched_wakeup: comm=c" + cpu + " pid=4 prio=120 target_cpu=001\n")
	}
	check("all at once", []byte(tied.String()))
	if shared := sharedFolder(t); shared != "" {
		for _, path := range []string{"5.10/hb-overload", "6.1-2n4c2t/hb-pipe", "7.2/idle-noise"} {
			check(path, readShared(t, filepath.Join(shared, "captures", path, "trace.txt.gz")))
		}
	}
}

func withoutComments(text []byte) string {
	var out strings.Builder
	for l := range strings.Lines(string(text)) {
		if !strings.HasPrefix(l, "#") {
			out.WriteString(l)
		}
	}
	return out.String()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[min(i, len(w)-1)]
		}
	}
	return "got is shorter"
}
