package workload

import (
	"strings"
	"testing"
)

func mustProgram(t testing.TB, text string) Program {
	t.Helper()
	p, err := ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// smallScenario is a parent that forks a child and waits for it.
func smallScenario(t testing.TB) *Scenario {
	return &Scenario{
		Programs: []Program{
			mustProgram(t, "fork t1\nwaitchildren\nexit"),
			mustProgram(t, "run 1ms\nexit"),
			mustProgram(t, "a: run 1ms\nloop a forever"),
		},
		Tasks: []TaskSpec{
			{Name: "parent", Program: 0, StartCPU: AnyCPU},
			{Name: "child", Program: 1, Forked: true, StartCPU: AnyCPU},
		},
	}
}

func TestValidateScenario(t *testing.T) {
	if err := smallScenario(t).Validate(4); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Scenario){
		`task 1 ("child"): program 3 does not exist: declared are 0 to 2`: func(s *Scenario) { s.Tasks[1].Program = 3 },
		`task 1 ("child"): nice 20 is not in [-20, 19]`:                   func(s *Scenario) { s.Tasks[1].Nice = 20 },
		`unknown policy 3`:  func(s *Scenario) { s.Tasks[1].Policy = Idle + 1 },
		`no CPU is allowed`: func(s *Scenario) { s.Tasks[0].Allowed = []int{} },
		`allowed CPU 4 does not exist: declared are 0 to 3`: func(s *Scenario) { s.Tasks[0].Allowed = []int{1, 4} },
		`start CPU -2 does not exist`:                       func(s *Scenario) { s.Tasks[0].StartCPU = -2 },
		`start CPU 1 is not among its allowed CPUs [2]`: func(s *Scenario) {
			s.Tasks[0].StartCPU, s.Tasks[0].Allowed = 1, []int{2}
		},
		`footprint -1 bytes`:                 func(s *Scenario) { s.Tasks[0].Footprint = -1 },
		`declare it Forked`:                  func(s *Scenario) { s.Tasks[1].Forked = false },
		`declared Forked but no task forks`:  func(s *Scenario) { s.Programs[0] = s.Programs[1] },
		`task 1 ("child") is forked 2 times`: func(s *Scenario) { s.Programs[0] = append(Program{{Op: OpFork, N: 1}}, s.Programs[0]...) },
		`ancestors fork each other in a circle`: func(s *Scenario) {
			s.Programs = append(s.Programs, mustProgram(t, "fork t3\nexit"), mustProgram(t, "fork t2\nexit"))
			s.Tasks = append(s.Tasks, TaskSpec{Program: 3, Forked: true, StartCPU: AnyCPU}, TaskSpec{Program: 4, Forked: true, StartCPU: AnyCPU})
		},
		`program 1: instruction 0 (poll): channel 0 does not exist: none is declared`: func(s *Scenario) {
			s.Programs[1] = mustProgram(t, "poll c0\nexit")
		},
		`channel 0: unknown kind 4`:                          func(s *Scenario) { s.Channels = []ChannelSpec{{Kind: 4}} },
		`channel 0: only a TCP connection has`:               func(s *Scenario) { s.Channels = []ChannelSpec{{Kind: Pipe, NoDelay: true}} },
		`channel 1: the other direction: channel 2 does not`: func(s *Scenario) { s.Channels = []ChannelSpec{{}, {Kind: TCPStream, Reverse: 1}} },
		`channel 1: channel 0 is not the other direction`:    func(s *Scenario) { s.Channels = []ChannelSpec{{}, {Kind: TCPStream, Reverse: -1}} },
		`task 1 ("child") never exits: set a time limit`:     func(s *Scenario) { s.Tasks[1].Program = 2 },
		`every task is in the background: set a time limit`:  func(s *Scenario) { s.Tasks[0].Background, s.Tasks[1].Background = true, true },
		`time limit -1 ns is negative`:                       func(s *Scenario) { s.TimeLimit = -1 },
	} {
		s := smallScenario(t)
		spoil(s)
		if err := s.Validate(4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

func TestNoise(t *testing.T) {
	s := smallScenario(t)
	AddNoise(s, 7, 4)
	if err := s.Validate(4); err != nil {
		t.Fatal(err)
	}
	if len(s.Tasks) != 2+4 {
		t.Fatalf("%d tasks, want 6", len(s.Tasks))
	}
	for cpu, task := range s.Tasks[2:] {
		if !task.Kernel || !task.Background || task.Allowed[0] != cpu || task.Process == s.Tasks[0].Process {
			t.Errorf("noise of CPU %d: %+v", cpu, task)
		}
	}
	again, other := smallScenario(t), smallScenario(t)
	AddNoiseOn(again, 7, []int{3}) // the same thread although alone
	AddNoise(other, 8, 4)
	first := func(s *Scenario, task int) int64 { return s.Programs[s.Tasks[task].Program][0].N }
	if first(again, 2) != first(s, 5) {
		t.Error("the noise of CPU 3 depends on the other CPUs")
	}
	if first(other, 5) == first(s, 5) || first(s, 4) == first(s, 5) {
		t.Error("the noise does not depend on seed and CPU")
	}
	AddDeferrableNoiseOn(again, 7, []int{2})
	if first(again, 3) != first(s, 4) || !again.Tasks[3].Deferrable || again.Tasks[2].Deferrable {
		t.Errorf("deferrable noise of CPU 2: %+v", again.Tasks[3])
	}
}
