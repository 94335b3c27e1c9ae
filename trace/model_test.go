package trace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStateLetters(t *testing.T) {
	for text, want := range map[string]State{
		"R": 0, "R+": StatePreempted, "S": StateSleeping, "D": StateBlocked, "D|W": StateBlocked | StateWaking,
		"I": StateIdle, "X": StateDead, "x": StateTaskDead, "0": 0, "1": StateSleeping, "2": StateBlocked,
		"64": UnknownState, "4096": UnknownState, // their meaning depends on the kernel
	} {
		got, ok := parseState([]byte(text))
		if !ok || got != want {
			t.Errorf("%q: %v %v, want %v", text, got, ok, want)
		}
		if text[0] >= 'A' && got.String() != text {
			t.Errorf("%q prints as %q", text, got)
		}
	}
	for _, text := range []string{"", "Q", "|S", "S|", "+R", "SR", "0x"} {
		if _, ok := parseState([]byte(text)); ok {
			t.Errorf("%q is taken for a state", text)
		}
	}
}

// The numbering is read from the print format of each kernel: 6.18's and 3.10's
// (of inputs/traces a and b, which have K, W and P at other places).
func TestStateCodeOfFormats(t *testing.T) {
	modern := `"...", (REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1), "|", { 0x00000001, "S" }, { 0x00000002, "D" }, { 0x00000004, "T" }, { 0x00000008, "t" }, { 0x00000010, "X" }, { 0x00000020, "Z" }, { 0x00000040, "P" }, { 0x00000080, "I" }) : "R", REC->prev_state & (((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) ? "+" : "", REC->next_comm`
	old := `"...", REC->prev_state & (4096-1) ? __print_flags(REC->prev_state & (4096-1), "|", { 1, "S"} , { 2, "D" }, { 4, "T" }, { 8, "t" }, { 16, "Z" }, { 32, "X" }, { 64, "x" }, { 128, "K" }, { 256, "W" }, { 512, "P" }, { 1024, "N" }) : "R", REC->prev_state & 4096 ? "+" : "", REC->next_comm`
	for _, c := range []struct {
		format string
		raw    int64
		want   string
	}{
		{modern, 0, "R"},
		{modern, 0x100, "R+"}, // ((0x7f + 1) << 1) = 0x100
		{modern, 0x80, "I"},
		{modern, 0x10, "X"},
		{modern, 0x1000, "?"},
		{old, 0, "R"},
		{old, 4096, "R+"},
		{old, 16, "Z"},
		{old, 64, "x"},
		{old, 2 | 128, "D|K"},
		{old, 2048, "?"}, // no letter in this format
	} {
		code, ok := parseStateCode(c.format)
		if !ok {
			t.Fatal("no states found")
		}
		if got := code.decode(c.raw).String(); got != c.want {
			t.Errorf("%#x is %q, want %q", c.raw, got, c.want)
		}
	}
}

func TestEvalConstant(t *testing.T) {
	for text, want := range map[string]int64{
		"4096": 4096, "(4096-1)": 4095, "0x10 | 1": 17, "(((0x00 | 0x40) + 1) << 1)": 130, "1 + 2 << 3": 24,
	} {
		if got, ok := evalConstant(text); !ok || got != want {
			t.Errorf("%q: %d %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "(", "1 +", "1 2", "REC->x", strings.Repeat("(", 1000)} {
		if got, ok := evalConstant(text); ok {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestThreads(t *testing.T) {
	threads := NewThreads()
	var e Event
	fork := func(child int32) {
		e.Init(KindFork, 0, 0)
		e.SetFork(Fork{Parent: Task{PID: 1}, Child: Task{PID: child}})
		threads.Observe(&e)
	}
	wakeupNew := func(pid int32) {
		e.Init(KindWakeupNew, 0, 0)
		e.SetWake(Wake{Task: Task{PID: pid, Prio: 120}})
		threads.Observe(&e)
	}
	exit := func(pid int32) {
		e.Init(KindExit, 0, 0)
		e.SetExit(Task{PID: pid, Prio: 120})
		threads.Observe(&e)
	}
	expect := func(pid, incarnation int32) {
		t.Helper()
		if got := threads.Of(pid, 3); got != (Thread{pid, incarnation}) {
			t.Errorf("%v, want incarnation %d", got, incarnation)
		}
	}
	expect(7, 0) // alive before the recording began
	exit(7)
	expect(7, 0) // it still runs until it switches away
	fork(7)
	expect(7, 1)
	wakeupNew(7) // belongs to that fork
	expect(7, 1)
	exit(7)
	wakeupNew(7) // its fork was lost
	expect(7, 2)
	fork(8) // first seen at its birth
	wakeupNew(8)
	expect(8, 0)
	expect(0, 3) // the idle task of CPU 3
}

func TestNamesAreBounded(t *testing.T) {
	names := NewNames()
	for i := range maxNames + 10 {
		names.Intern(fmt.Sprint("task", i))
	}
	if len(names.texts) > maxNames+1 {
		t.Errorf("%d names", len(names.texts))
	}
	// maxNames texts are NoName, task0 ... task(maxNames-2); the other 11 overflow.
	if names.overflow != 11 {
		t.Errorf("overflow %d, want 11", names.overflow)
	}
	if got := names.Text(names.Intern("one more")); got != overflowText {
		t.Errorf("%q", got)
	}
	if a, b := names.Intern("task5"), names.Intern("task5"); a != b || names.Text(a) != "task5" {
		t.Errorf("task5 is %d and %d", a, b)
	}
}

// builtEvents is one event of every kind, made as a program makes it.
func builtEvents(names *Names) []Event {
	task := func(name string, pid int32) Task { return Task{Comm: names.Intern(name), PID: pid, Prio: 120} }
	var out []Event
	add := func(kind Kind, fill func(e *Event)) {
		var e Event
		e.Init(kind, int64(len(out)+1)*1_000_001, 3)
		e.SetCurrent(names.Intern("me"), 5)
		fill(&e)
		out = append(out, e)
	}
	add(KindSwitch, func(e *Event) {
		e.SetSwitch(Switch{Prev: task("me", 5), PrevState: StatePreempted, Next: task("b c", 6)})
		e.PID = 5
	})
	for _, kind := range []Kind{KindWaking, KindWakeup, KindWakeupNew} {
		add(kind, func(e *Event) { e.SetWake(Wake{Task: task("w", 9), TargetCPU: 2}) })
	}
	add(KindMigrate, func(e *Event) { e.SetMigration(Migration{Task: task("m", 9), From: 1, To: 2}) })
	add(KindFork, func(e *Event) {
		e.SetFork(Fork{Parent: Task{Comm: names.Intern("me"), PID: 5}, Child: Task{Comm: names.Intern("kid"), PID: 77}})
	})
	add(KindExec, func(e *Event) { e.SetExec(Exec{Filename: names.Intern("/bin/my tool"), PID: 5, OldPID: 5}) })
	add(KindExit, func(e *Event) { e.SetExit(task("me", 5)) })
	add(KindFree, func(e *Event) { e.SetExit(task("old", 4)) })
	add(KindStatRuntime, func(e *Event) {
		e.setText(0, names.Intern("me"))
		e.setSmall(1, 5)
		e.setKnown(2, 81306)
	})
	for _, kind := range []Kind{KindSoftirqRaise, KindSoftirqEntry, KindSoftirqExit} {
		add(kind, func(e *Event) { e.SetSoftirq(7) })
	}
	add(KindAttach, func(e *Event) {
		e.SetAttach(Attach{Task: task("sh", 9), Path: names.Intern("/a/b"), ID: 74, Level: 2, Root: 0})
	})
	add(KindTick, func(e *Event) { e.SetTick(3) })
	add(KindSelect, func(e *Event) {
		e.SetSelect(Select{
			PID: 9, PrevCPU: 2, Flags: 0x8, WakeFlags: Unknown, Flips: 3, Decay: 4294894553, Jiffies: 4294894612, RecentCPU: 1,
			Load: 1024, Util: 12, Policy: 0, NAllowed: 1, Allowed: 1 << 63, QueueLoad: 603, PrevLoad: 17, PrevIdle: 1000000,
		})
	})
	add(KindSelectReturn, func(e *Event) { e.SetReturn(6) })
	add(KindThrottle, func(e *Event) { e.SetQueue(Queue{Address: 0xffff88a2829f9800, CPU: 1}) })
	add(KindUnthrottle, func(e *Event) { e.SetQueue(Queue{Address: 0xffff88a2829f9800, CPU: 1}) })
	add(KindBalance, func(e *Event) {
		e.SetBalance(Balance{DestCPU: 1, Level: 0, Span: 2, Failed: 0, Interval: 4, Idle: 1})
	})
	add(KindBalanceReturn, func(e *Event) { e.SetReturn(2) })
	add(KindCanMigrate, func(e *Event) {
		e.SetCanMigrate(CanMigrate{PID: 9, From: 1, To: 2, Imbalance: 3519, Type: 1, Load: 1023, Util: 968})
	})
	add(KindCanMigrateReturn, func(e *Event) { e.SetReturn(1) })
	for _, kind := range []Kind{KindDecay, KindNewidle, KindIdleAgain} {
		add(kind, func(e *Event) { e.SetPlace(3) })
	}
	add(KindArrive, func(e *Event) { e.SetArrival(Arrival{PID: 9, CPU: 3}) })
	add(KindOverload, func(e *Event) { e.SetOverload(Overload{CPU: 3, On: true}) })
	add(KindIdleCost, func(e *Event) { e.SetIdleCost(IdleCost{CPU: 3, Cost: 500_000}) })
	add(KindIdleState, func(e *Event) { e.SetIdleState(IdleState{CPU: 3, Depth: 2}) })
	add(KindPolicy, func(e *Event) { e.SetPolicy(Policy{PID: 9, Number: 5}) })
	add(KindDelay, func(e *Event) { e.SetDelay(Delay{CPU: 3, Stage: DelayNone, Path: names.Intern("/a/b")}) })
	add(KindLost, func(e *Event) { e.SetLost(12) })
	add(KindOther, func(e *Event) {
		e.Name = names.Intern("cpu_idle")
		e.Detail = []byte("state=1 cpu_id=3")
	})
	return out
}

// Every kind goes through both formats and back; every view gives back what was
// set.
func TestEveryKindRoundTrips(t *testing.T) {
	names := NewNames()
	events := builtEvents(names)
	seen := make(map[Kind]bool)
	for i := range events {
		seen[events[i].Kind] = true
	}
	if len(seen) != NumKinds {
		t.Fatalf("%d kinds are tried, there are %d", len(seen), NumKinds)
	}
	for _, format := range OutputFormats() {
		t.Run(string(format), func(t *testing.T) {
			var out bytes.Buffer
			w := NewTextWriter(&out, names, TextOptions{})
			if format == OutputPerfetto {
				w = NewPerfettoWriter(&out, names, PerfettoOptions{})
			}
			for i := range events {
				if err := w.Write(&events[i]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := openBytes(out.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			got := readEvents(t, r)
			if s := r.Stats(); s.Malformed+s.Unreadable > 0 || s.Warning != nil {
				t.Fatalf("%s", s)
			}
			if len(got) != len(events) {
				t.Fatalf("%d events, want %d", len(got), len(events))
			}
			for i := range got {
				if events[i].Kind == KindLost {
					if got[i].Kind != KindLost {
						t.Fatalf("event %d is %v, want lost", i, got[i].Kind)
					}
					continue
				}
				if g, w := describe(&got[i], r.Names()), describe(&events[i], names); g != w {
					t.Fatalf("event %d:\n got %s\nwant %s", i, g, w)
				}
			}
		})
	}
}

func TestViews(t *testing.T) {
	names := NewNames()
	for _, e := range builtEvents(names) {
		switch e.Kind {
		case KindSelect:
			s := e.Select()
			if s.Allowed != 1<<63 || s.WakeFlags != Unknown || s.PrevIdle != 1000000 || s.PID != 9 || s.RecentCPU != 1 {
				t.Errorf("%+v", s)
			}
			if v, ok := e.Value("jiffies"); !ok || v != 4294894612 {
				t.Errorf("jiffies %d %v", v, ok)
			}
			if _, ok := e.Value("wflags"); ok {
				t.Error("wflags is known")
			}
			if _, ok := e.Value("nonsense"); ok {
				t.Error("nonsense is known")
			}
		case KindSwitch:
			if s := e.Switch(); s.Next.PID != 6 || names.Text(s.Next.Comm) != "b c" || !s.PrevState.Runnable() {
				t.Errorf("%+v", s)
			}
		case KindAttach:
			if a := e.Attach(); names.Text(a.Path) != "/a/b" || a.ID != 74 || a.PID != 9 || a.Level != 2 {
				t.Errorf("%+v", a)
			}
		case KindThrottle:
			if q := e.Queue(); q.Address != 0xffff88a2829f9800 || q.CPU != 1 {
				t.Errorf("%+v", q)
			}
		}
	}
}

// What is unknown stays unknown.
func TestUnknownStaysUnknown(t *testing.T) {
	var e Event
	e.Init(KindSwitch, 0, UnknownCPU)
	e.SetSwitch(Switch{Prev: Task{PID: UnknownPID, Prio: -1}, PrevState: UnknownState, Next: Task{PID: 3, Prio: 120}})
	s := e.Switch()
	if s.Prev.PID != UnknownPID || s.PrevState.Known() || s.Prev.Prio != -1 || e.CPU != UnknownCPU || e.PID != UnknownPID {
		t.Errorf("%+v", s)
	}
	if s.PrevState.Runnable() || s.PrevState.Gone() {
		t.Error("an unknown state is taken for a known one")
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content string
		want    string
	}{
		"empty":      {"", "not a trace"},
		"binary":     {"\x00\x01\x02\x03\x04", "not a trace"},
		"gzip":       {"\x1f\x8b\x08", "damaged gzip"},
		"dat":        {"\x17\x08\x44tracing9\x00\x00\x08\x00\x10\x00\x00", "versions 6 and 7 can be read"},
		"dat-short":  {"\x17\x08\x44tracing6\x00\x00", "at byte"},
		"perf-short": {"PERFILE2\x68", "at byte"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want the path and %q", name, err, c.want)
		}
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// A gzipped file is read like the file itself, also a binary one, and its own
// damage is said.
func TestGzip(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("testdata", "trace-cmd-v6.dat.gz"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.dat.gz")
	if err := os.WriteFile(path, content[:len(content)-4], 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	events := readEvents(t, r)
	if s := r.Stats(); len(events) != 317 || !s.Truncated || s.Warning == nil {
		t.Errorf("%d events\n%s", len(events), s)
	}
}

// Reading allocates for a file, not for an event: less than one allocation in a
// hundred events.
func TestNoAllocationPerEvent(t *testing.T) {
	for name, content := range map[string][]byte{
		"text":      bytes.Repeat(fixtureBytes(t, "tracefs.txt.gz"), 30),
		"trace.dat": longTraceDat(t, fixtureBytes(t, "trace-cmd-v6.dat.gz"), 30),
		"perf.data": longPerfData(fixtureBytes(t, "perf-sched.data.gz"), 30),
	} {
		r, err := openBytes(content)
		if err != nil {
			t.Fatal(err)
		}
		var e Event
		for range 2000 { // names and buffers are new at first
			if err := r.Next(&e); err != nil {
				t.Fatal(err)
			}
		}
		perEvent := testing.AllocsPerRun(5000, func() {
			if err := r.Next(&e); err != nil {
				t.Fatal(err)
			}
		})
		if perEvent > 0.01 {
			t.Errorf("%s: %v allocations per event", name, perEvent)
		}
	}
}

// Through a pipe an attribute may come after samples; what they mean may then no
// longer be known, which is said and not guessed.
func TestPerfAttributeBehindSamples(t *testing.T) {
	content := fixtureBytes(t, "perf-pipe.data.gz")
	const attrAt = pipeHeadSize
	attr := bytes.Clone(content[attrAt : attrAt+0x98]) // the first record, of 0x98 bytes
	attr[recordHeader+24] ^= sampleAddr                // another sample_type
	r, err := openBytes(append(bytes.Clone(content), attr...))
	if err != nil {
		t.Fatal(err)
	}
	readEvents(t, r)
	if s := r.Stats(); s.Clean() {
		t.Errorf("passes as good:\n%s", s)
	}
}
