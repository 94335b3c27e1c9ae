package workload

import (
	"slices"

	"pgregory.net/rapid"
)

// A stage drives one channel by hand: it knows which tasks sleep, passes
// resumed as a simulator would, and refuses what no kernel could do.
type stage struct {
	t       rapid.TB
	channel *Channel
	out     Outcome
	asleep  map[TaskID]bool
	// rest is what a task that slept still has to move.
	rest  map[TaskID]int32
	wakes []TaskID // all so far
}

func newStage(t rapid.TB, kernel string, kind ChannelKind) *stage {
	t.Helper()
	rules, err := RulesFor(kernel)
	if err != nil {
		t.Fatal(err)
	}
	scenario := &Scenario{Tasks: make([]TaskSpec, 64), Channels: []ChannelSpec{{Kind: kind}}}
	return &stage{
		t:       t,
		channel: NewChannels(scenario, rules).At(0),
		asleep:  map[TaskID]bool{},
		rest:    map[TaskID]int32{},
	}
}

func (s *stage) write(task TaskID, n int32) *Outcome { return s.call(task, n, s.channel.Write) }
func (s *stage) read(task TaskID, n int32) *Outcome  { return s.call(task, n, s.channel.Read) }
func (s *stage) poll(task TaskID) *Outcome {
	return s.call(task, 0, func(t TaskID, _ int32, resumed bool, out *Outcome) {
		s.channel.Poll(t, resumed, out)
	})
}

func (s *stage) call(task TaskID, n int32, op func(TaskID, int32, bool, *Outcome)) *Outcome {
	s.t.Helper()
	if s.asleep[task] {
		s.t.Fatalf("task %d is called while it sleeps", task)
	}
	rest, resumed := s.rest[task]
	if resumed {
		n = rest
	}
	op(task, n, resumed, &s.out)
	for _, w := range s.out.Wakes {
		if !s.asleep[w.Task] {
			s.t.Fatalf("task %d is woken while awake", w.Task)
		}
		if !w.Sync {
			s.t.Fatalf("wake of task %d is not sync", w.Task)
		}
		s.asleep[w.Task] = false
		s.wakes = append(s.wakes, w.Task)
	}
	delete(s.rest, task)
	if s.out.Blocked {
		s.asleep[task] = true
		s.rest[task] = n - s.out.Moved
	}
	return &s.out
}

// mustSleep fails the test unless the outcome put the caller to sleep.
func (s *stage) mustSleep(out *Outcome) {
	s.t.Helper()
	if !out.Blocked {
		s.t.Fatalf("the task did not sleep: moved %d", out.Moved)
	}
}

// mustMove fails the test unless the call ended having moved n bytes.
func (s *stage) mustMove(out *Outcome, n int32) {
	s.t.Helper()
	if out.Blocked || out.Moved != n {
		s.t.Fatalf("moved %d, blocked %t; want %d without sleeping", out.Moved, out.Blocked, n)
	}
}

// mustWake fails the test unless these wakes, in this order, happened since
// the last call of mustWake.
func (s *stage) mustWake(tasks ...TaskID) {
	s.t.Helper()
	if !slices.Equal(s.wakes, tasks) {
		s.t.Fatalf("woken %v, want %v", s.wakes, tasks)
	}
	s.wakes = s.wakes[:0]
}

// fillWith writes messages until one blocks and returns how many fitted.
func (s *stage) fillWith(task TaskID, n int32) int {
	s.t.Helper()
	for fitted := 0; ; fitted++ {
		if out := s.write(task, n); out.Blocked {
			return fitted
		}
	}
}
