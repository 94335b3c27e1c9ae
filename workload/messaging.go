package workload

import "fmt"

// messaging is the program behind hackbench and perf bench sched messaging:
// groups of senders that each write to every receiver of their group
// (ipc-and-benchmarks.md 6.1).
type messaging struct {
	comm     string // name of the tasks
	groups   int
	pairs    int // senders, and receivers, in a group
	loops    int // messages each sender sends to each receiver
	datasize int // bytes in a message
	pipes    bool
	threads  bool
	stretched
}

// The channels and marks of every messaging scenario; the data channels
// follow.
const (
	readyChannel = 0 // each child writes a byte when it is set up
	goChannel    = 1 // one byte that nobody reads lets all of them go
	dataChannels = 2

	startMark = 0
	stopMark  = 1
)

const (
	maxChildren = 1_000_000
	// stackFootprint is what a child touches beside its message: a page each
	// of user stack and kernel stack.
	stackFootprint = 2 * pageSize
)

func (m *messaging) check() error {
	if children := 2 * m.pairs * m.groups; children > maxChildren {
		return fmt.Errorf("%d groups of %d tasks are %d tasks: at most %d can be simulated",
			m.groups, 2*m.pairs, children, maxChildren)
	}
	return nil
}

func (m *messaging) children() int { return 2 * m.pairs * m.groups }

func (m *messaging) kind() ChannelKind {
	if m.pipes {
		return Pipe
	}
	return UnixStream
}

func (m *messaging) build() *Scenario {
	s := &Scenario{
		Marks:   2,
		Work:    &Work{Start: startMark, Units: int64(m.loops), Groups: m.groups},
		Stretch: m.stretch,
	}
	for range dataChannels + m.groups*m.pairs {
		s.Channels = append(s.Channels, ChannelSpec{Kind: m.kind()})
	}
	m.addTask(s, m.mainProgram(), false)
	for group := range m.groups {
		first := int32(dataChannels + group*m.pairs)
		for i := range m.pairs {
			m.addTask(s, m.receiverProgram(first+int32(i)), true)
		}
		s.Programs = append(s.Programs, m.senderProgram(first))
		m.addLoops(s, group)
		for range m.pairs {
			m.addTask(s, nil, true)
		}
	}
	return s
}

// addLoops declares the loops of the group whose programs were added last: its
// receivers, then the one of its senders.
func (m *messaging) addLoops(s *Scenario, group int) {
	last := len(s.Programs) - 1
	for p := last - m.pairs; p <= last; p++ {
		loop := WorkLoop{Program: int32(p), At: int32(len(s.Programs[p]) - 2), Group: int32(group)}
		if sender := p == last; sender {
			loop.PerUnit, loop.Messages = 1, int64(m.pairs)
		} else {
			loop.PerUnit, loop.Drains = int64(m.pairs), true
		}
		s.Work.Loops = append(s.Work.Loops, loop)
	}
}

// addTask adds a task that runs the given program, or, without one, the
// program added last.
func (m *messaging) addTask(s *Scenario, p Program, forked bool) {
	if p != nil {
		s.Programs = append(s.Programs, p)
	}
	process := int32(0)
	if !m.threads {
		process = int32(len(s.Tasks))
	}
	s.Tasks = append(s.Tasks, TaskSpec{
		Name:      m.comm,
		Program:   int32(len(s.Programs) - 1),
		Forked:    forked,
		Process:   process,
		Footprint: int32(min(stackFootprint+m.datasize, 1<<30)),
		StartCPU:  AnyCPU,
	})
}

// mainProgram starts the children, receivers before senders in each group,
// waits until all are ready, and times them from the go to the last exit.
func (m *messaging) mainProgram() Program {
	children := m.children()
	p := make(Program, 0, children+8)
	for child := range children {
		p = append(p, Instr{Op: OpFork, N: int64(child + 1)})
	}
	return append(p,
		Instr{Op: OpRead, Chan: readyChannel, N: 1},
		Instr{Op: OpLoop, Target: int32(children), N: int64(children)},
		Instr{Op: OpMark, N: startMark},
		Instr{Op: OpWrite, Chan: goChannel, N: 1},
		Instr{Op: OpWaitChildren},
		Instr{Op: OpMark, N: stopMark},
		Instr{Op: OpExit},
	)
}

// childStart tells main that a child is ready and waits for the go.
func childStart() Program {
	return Program{
		{Op: OpWrite, Chan: readyChannel, N: 1},
		{Op: OpPoll, Chan: goChannel},
	}
}

func (m *messaging) receiverProgram(channel int32) Program {
	p := childStart()
	return append(p,
		Instr{Op: OpRead, Chan: channel, N: int64(m.datasize)},
		Instr{Op: OpLoop, Target: int32(len(p)), N: int64(m.pairs) * int64(m.loops)},
		Instr{Op: OpExit},
	)
}

// senderProgram writes to the receivers in order, first channel first.
func (m *messaging) senderProgram(first int32) Program {
	p := childStart()
	start := int32(len(p))
	for i := range int32(m.pairs) {
		p = append(p, Instr{Op: OpWrite, Chan: first + i, N: int64(m.datasize)})
	}
	return append(p,
		Instr{Op: OpLoop, Target: start, N: int64(m.loops)},
		Instr{Op: OpExit},
	)
}

// elapsed is the benchmark's figure as a metric.
func elapsed(ns int64) Metric {
	return Metric{Statistic: "Amean", Unit: "seconds", Better: "lower", Value: float64(ns) / 1e9}
}
