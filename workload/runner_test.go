package workload

import "testing"

// A runner executes a scenario the plainest way there is: one CPU, first come
// first served, nobody is preempted, and each instruction takes one tick of
// its clock. It stands in for a simulator where a test is about who sleeps and
// who is woken.
type runner struct {
	t        testing.TB
	scenario *Scenario
	channels *Channels
	out      Outcome
	tasks    []runnerTask
	queue    []TaskID
	now      int64
	marks    []int64
	written  int64 // bytes
	read     int64
	wakes    int // by channels
	sleeps   int // in channels
	// onWrite, if set, sees each write call with the wakes it caused.
	onWrite func(task TaskID, channel int32, wakes []Wake)
}

type runnerTask struct {
	pc       int32
	counters [MaxLoops]int64
	rest     int64 // of the transfer under way
	resumed  bool
	parent   TaskID
	children int
	waiting  bool // for its children
	exited   bool
}

func newRunner(t testing.TB, kernel string, s *Scenario) *runner {
	t.Helper()
	if err := s.Validate(1 << 20); err != nil {
		t.Fatal(err)
	}
	rules, err := RulesFor(kernel)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{t: t, scenario: s, channels: NewChannels(s, rules), tasks: make([]runnerTask, len(s.Tasks))}
	for range s.Marks {
		r.marks = append(r.marks, -1)
	}
	for i, spec := range s.Tasks {
		r.tasks[i].parent = -1
		if !spec.Forked {
			r.queue = append(r.queue, TaskID(i))
		}
	}
	return r
}

// run executes until nobody can run any more.
func (r *runner) run() {
	for len(r.queue) > 0 {
		id := r.queue[0]
		r.queue = r.queue[1:]
		for r.step(id) {
			r.now++
		}
	}
}

// step executes one instruction and reports whether the task can go on.
func (r *runner) step(id TaskID) bool {
	task := &r.tasks[id]
	in := r.scenario.Programs[r.scenario.Tasks[id].Program][task.pc]
	switch in.Op {
	case OpWrite, OpRead:
		return r.transfer(id, in)
	case OpPoll:
		r.channels.At(in.Chan).Poll(id, task.resumed, &r.out)
		return r.afterCall(id)
	case OpLoop:
		task.counters[in.Slot]++
		if task.counters[in.Slot] < in.N {
			task.pc = in.Target
			return true
		}
		task.counters[in.Slot] = 0
	case OpFork:
		r.tasks[in.N].parent = id
		task.children++
		r.queue = append(r.queue, TaskID(in.N))
	case OpWaitChildren:
		if task.children > 0 {
			task.waiting = true
			return false
		}
	case OpMark:
		r.marks[in.N] = r.now
	case OpExit:
		r.exit(id)
		return false
	case OpRun, OpRunRandom, OpSleep, OpSleepRandom:
		r.now += in.N
	}
	task.pc++
	return true
}

func (r *runner) transfer(id TaskID, in Instr) bool {
	task := &r.tasks[id]
	if task.rest == 0 {
		task.rest = in.N
	}
	if in.Op == OpWrite {
		r.channels.At(in.Chan).Write(id, int32(task.rest), task.resumed, &r.out)
		r.written += int64(r.out.Moved)
		if r.onWrite != nil {
			r.onWrite(id, in.Chan, r.out.Wakes)
		}
	} else {
		r.channels.At(in.Chan).Read(id, int32(task.rest), task.resumed, &r.out)
		r.read += int64(r.out.Moved)
	}
	task.rest -= int64(r.out.Moved)
	return r.afterCall(id)
}

// afterCall queues the woken and decides what the caller does next.
func (r *runner) afterCall(id TaskID) bool {
	for _, w := range r.out.Wakes {
		r.wakes++
		r.queue = append(r.queue, w.Task)
	}
	task := &r.tasks[id]
	task.resumed = r.out.Blocked
	if r.out.Blocked {
		r.sleeps++
		return false
	}
	if task.rest == 0 {
		task.pc++
	}
	return true
}

func (r *runner) exit(id TaskID) {
	r.tasks[id].exited = true
	parent := r.tasks[id].parent
	if parent < 0 {
		return
	}
	p := &r.tasks[parent]
	p.children--
	if p.waiting && p.children == 0 {
		p.waiting = false
		r.queue = append(r.queue, parent)
	}
}

// mustFinish fails the test unless every task has exited, every sleep was
// ended by a wake, and all that was written was read but for left bytes.
func (r *runner) mustFinish(left int64) {
	r.t.Helper()
	for i := range r.tasks {
		if !r.tasks[i].exited {
			r.t.Fatalf("task %d hangs at instruction %d", i, r.tasks[i].pc)
		}
	}
	if r.wakes != r.sleeps {
		r.t.Errorf("%d sleeps but %d wakes", r.sleeps, r.wakes)
	}
	if r.written-r.read != left {
		r.t.Errorf("%d bytes written, %d read; want %d left over", r.written, r.read, left)
	}
}
