package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Everything that a scenario in the background refers to moves behind what the
// foreground has, and its work goes on for ever.
func TestAddBackgroundRenumbers(t *testing.T) {
	program := func(text string) Program {
		p, err := ParseProgram(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	front := &Scenario{
		Programs: []Program{program("again: run 1us\nwrite c0 1\nloop again 9\nexit")}, Tasks: []TaskSpec{{Process: 4}},
		Channels: make([]ChannelSpec, 2), Syncs: make([]SyncSpec, 3), Marks: 1, Recorders: 2,
	}
	back := &Scenario{
		Programs: []Program{
			program("fork t1\nmark 0\nagain: write c0 1\npost s0\nlock s1\npush s3 s0\nsample r0 1us\nloop again 20\nexit"),
			program("again: read c0 1\nloop again 40\nexit"),
		},
		Tasks:    []TaskSpec{{Process: 0}, {Program: 1, Forked: true, Process: 1}},
		Channels: make([]ChannelSpec, 1), Marks: 1, Recorders: 1,
		Syncs: []SyncSpec{{Kind: Word}, {Kind: Mutex}, {Kind: Cond, Mutex: 1}, {Kind: Stack}},
		Work: &Work{Units: 20, Groups: 1, Loops: []WorkLoop{
			{Program: 0, At: 7, PerUnit: 1, Messages: 1}, {Program: 1, At: 1, PerUnit: 2, Messages: 1},
		}},
	}
	if err := back.Validate(1); err != nil {
		t.Fatal(err)
	}
	before := back.Programs[0].String()
	front.AddBackground(back)
	if err := front.Validate(1); err != nil {
		t.Fatal(err)
	}
	want := "\tfork t2\n\tmark 1\nL2:\n\twrite c2 1\n\tpost s3\n\tlock s4\n\tpush s6 s3\n\tsample r2 1µs\n\tloop L2 forever\n\texit\n"
	if diff := cmp.Diff(want, front.Programs[1].String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := front.Programs[2].String(); !strings.Contains(got, "read c2 1\n\tloop L0 forever") {
		t.Errorf("the second program is\n%s", got)
	}
	if front.Syncs[5].Mutex != 4 {
		t.Errorf("the condition's mutex is object %d, want 4", front.Syncs[5].Mutex)
	}
	if !front.Tasks[1].Background || front.Tasks[1].Process != 5 || front.Tasks[2].Process != 6 {
		t.Errorf("tasks %+v: want them in the background, as processes 5 and 6", front.Tasks[1:])
	}
	if front.Programs[0][2].N != 9 || back.Programs[0].String() != before {
		t.Error("a program of the foreground, or the scenario that was added, has changed")
	}
}

func TestValidateWork(t *testing.T) {
	for want, edit := range map[string]func(*Scenario){
		"a stretch of no declared work":                                  func(s *Scenario) { s.Work, s.Stretch = nil, &Stretch{Measure: 1} },
		"it ends by the clock or by its loops":                           func(s *Scenario) { s.Work.Lasts = 1e9 },
		"the warm-up must not be negative":                               func(s *Scenario) { s.Stretch = &Stretch{Warmup: -1, Measure: 1} },
		"0s measured: the warm-up must not":                              func(s *Scenario) { s.Stretch = &Stretch{} },
		"work: mark 7 does not exist":                                    func(s *Scenario) { s.Work.Start = 7 },
		"work: loop 0: program 9999 does not exist":                      func(s *Scenario) { s.Work.Loops[0].Program = 9999 },
		"work: loop 0: instruction -1 does not exist":                    func(s *Scenario) { s.Work.Loops[0].At = -1 },
		"work: loop 0: group 1 does not exist":                           func(s *Scenario) { s.Work.Loops[0].Group = 1 },
		"want a loop of 2000 turns":                                      func(s *Scenario) { s.Work.Loops[0].At-- },
		"loop 0 drains group 0 with 20 turns a unit; its sources have 0": func(s *Scenario) { s.Work.Loops[len(s.Work.Loops)-1].Drains = true },
		"object 0: unknown kind 10":                                      func(s *Scenario) { s.Syncs = []SyncSpec{{Kind: numSyncKinds}} },
		"object 0: 0 tasks meet there":                                   func(s *Scenario) { s.Syncs = []SyncSpec{{Kind: Barrier}} },
		"object 0: object 0 is a condition, not a mutex":                 func(s *Scenario) { s.Syncs = []SyncSpec{{Kind: RequeueCond}} },
		"object 0: object 3 does not exist: declared are 0 ":             func(s *Scenario) { s.Syncs = []SyncSpec{{Kind: Cond, Mutex: 3}} },
	} {
		b, err := Parse([]string{"messaging", "-g", "1"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := b.Build(Shape{CPUs: 1, Nodes: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(1); err != nil {
			t.Fatal(err)
		}
		edit(s)
		if err := s.Validate(1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
