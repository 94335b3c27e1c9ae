package workload

import (
	"fmt"
	"slices"
)

// Policy is the scheduling policy of a task.
type Policy uint8

// The policies of the fair class.
const (
	Normal Policy = iota // SCHED_NORMAL
	Batch                // SCHED_BATCH
	Idle                 // SCHED_IDLE
)

// AnyCPU as a task's StartCPU leaves the choice to the simulator.
const AnyCPU = -1

// TaskSpec declares one task.
type TaskSpec struct {
	// Name is the task's comm, for reports and traces.
	Name string
	// Program is an index into Scenario.Programs.
	Program int32
	// Forked tasks start when an OpFork names them, the others at time 0.
	Forked bool
	// Process groups threads: tasks with the same number share an address
	// space.
	Process int32
	// Nice is -20 to 19.
	Nice int
	// Policy is the scheduling policy.
	Policy Policy
	// Cgroup is the path of the task's cgroup, "" or "/" for the root; without a
	// leading slash it begins at the benchmark's own ([Scenario.SetCgroup]).
	Cgroup string
	// Allowed are the CPUs the task may run on, nil for all.
	Allowed []int
	// Footprint is the bytes of cache the task's working set fills.
	Footprint int32
	// Kernel marks a per-CPU kernel thread (PF_KTHREAD).
	Kernel bool
	// Deferrable: the timers of its sleeps wait until the CPU ticks anyway
	// (TIMER_DEFERRABLE), so that they do not wake an idle CPU.
	Deferrable bool
	// StartCPU is where a task that is not forked starts, or AnyCPU.
	StartCPU int
	// Background tasks do not keep the run alive.
	Background bool
}

// ChannelKind is the kind of a channel.
type ChannelKind uint8

// The channels.
const (
	// Pipe is an anonymous pipe of 16 pages.
	Pipe ChannelKind = iota
	// UnixStream is one direction of an AF_UNIX stream socket pair: its
	// writers share the sending socket, its readers the receiving one.
	UnixStream
	// TCPStream is one direction of a TCP connection over the loopback device.
	TCPStream
	// UDPSocket is a receiving UDP socket there, with those who send to it.
	UDPSocket
)

// ChannelSpec declares one channel.
type ChannelSpec struct {
	Kind ChannelKind
	// NoDelay sets TCP_NODELAY at a TCPStream's sender.
	NoDelay bool
	// Reverse is how many channels further, or back, the other direction of a
	// TCPStream's connection stands; 0: there is none.
	Reverse int32
}

// Scenario is everything one run executes. The run ends when every task that
// is not in the background has exited, or at the time limit.
type Scenario struct {
	Programs []Program
	Tasks    []TaskSpec
	Channels []ChannelSpec
	Syncs    []SyncSpec
	// Marks is how many moments the programs record; see OpMark.
	Marks int
	// Recorders is how many histograms the programs fill; see OpSample.
	Recorders int
	// Sources are where requests come from; see OpReceive.
	Sources []Source
	// Periodic is what OpDue and the operations after it refer to.
	Periodic
	// Work, if set, says which loops do the benchmark's work.
	Work *Work
	// Stretch, if set, is how much of that work is simulated at most. It needs
	// Work.
	Stretch *Stretch
	// Limits are cpu.max of cgroups that the benchmark makes itself.
	Limits []CgroupLimit
	// TimeLimit ends the run at that virtual time in ns; 0 means none.
	TimeLimit int64
}

// Validate reports the first part of the scenario that cannot be run on a
// machine whose CPUs are 0 to cpus-1.
func (s *Scenario) Validate(cpus int) error {
	if s.TimeLimit < 0 {
		return fmt.Errorf("time limit %d ns is negative", s.TimeLimit)
	}
	for i, ch := range s.Channels {
		if err := s.validateChannel(i, ch); err != nil {
			return fmt.Errorf("channel %d: %w", i, err)
		}
	}
	if err := s.validateSyncs(); err != nil {
		return err
	}
	for i := range s.Sources {
		if err := s.Sources[i].validate(); err != nil {
			return fmt.Errorf("source %d: %w", i, err)
		}
	}
	bounds := Bounds{Tasks: len(s.Tasks), Channels: len(s.Channels), Marks: s.Marks, Recorders: s.Recorders, Syncs: s.Syncs, Sources: len(s.Sources),
		Timers: len(s.Timers), Pools: len(s.Pools), CPUSets: len(s.CPUSets), Groups: len(s.Groups)}
	for i, p := range s.Programs {
		if err := p.Validate(bounds); err != nil {
			return fmt.Errorf("program %d: %w", i, err)
		}
	}
	for i := range s.Tasks {
		if err := s.validateTask(i, cpus); err != nil {
			return fmt.Errorf("task %d (%q): %w", i, s.Tasks[i].Name, err)
		}
	}
	if err := s.validateWatchers(); err != nil {
		return err
	}
	if err := s.validatePeriodic(cpus); err != nil {
		return err
	}
	if err := s.validateForks(); err != nil {
		return err
	}
	if err := s.validateWork(); err != nil {
		return err
	}
	return s.validateEnd()
}

func (s *Scenario) validateChannel(i int, ch ChannelSpec) error {
	switch {
	case ch.Kind > UDPSocket:
		return fmt.Errorf("unknown kind %d", ch.Kind)
	case ch.Kind != TCPStream && (ch.NoDelay || ch.Reverse != 0):
		return fmt.Errorf("only a TCP connection has TCP_NODELAY and another direction")
	case ch.Reverse == 0:
		return nil
	}
	other := int64(i) + int64(ch.Reverse)
	if err := within("channel", other, len(s.Channels)); err != nil {
		return fmt.Errorf("the other direction: %w", err)
	}
	if back := s.Channels[other]; back.Kind != TCPStream || back.Reverse != -ch.Reverse {
		return fmt.Errorf("channel %d is not the other direction of the same connection", other)
	}
	return nil
}

func (s *Scenario) validateTask(i, cpus int) error {
	t := &s.Tasks[i]
	if err := within("program", int64(t.Program), len(s.Programs)); err != nil {
		return err
	}
	switch {
	case t.Nice < -20 || t.Nice > 19:
		return fmt.Errorf("nice %d is not in [-20, 19]", t.Nice)
	case t.Policy > Idle:
		return fmt.Errorf("unknown policy %d", t.Policy)
	case t.Footprint < 0:
		return fmt.Errorf("footprint %d bytes is negative", t.Footprint)
	case t.Allowed != nil && len(t.Allowed) == 0:
		return fmt.Errorf("no CPU is allowed: list at least one, or leave the list out for all")
	}
	for _, cpu := range t.Allowed {
		if err := within("allowed CPU", int64(cpu), cpus); err != nil {
			return err
		}
	}
	if t.StartCPU == AnyCPU {
		return nil
	}
	if err := within("start CPU", int64(t.StartCPU), cpus); err != nil {
		return err
	}
	if t.Allowed != nil && !slices.Contains(t.Allowed, t.StartCPU) {
		return fmt.Errorf("start CPU %d is not among its allowed CPUs %v", t.StartCPU, t.Allowed)
	}
	return nil
}

// validateForks checks that exactly one instruction of one task starts each
// forked task, that none starts the others, and that every task starts at all.
func (s *Scenario) validateForks() error {
	starts := make([]int, len(s.Tasks))
	for _, pool := range s.Pools {
		for i := range pool.Count {
			starts[pool.First+i]++
		}
	}
	for _, t := range s.Tasks {
		for _, child := range s.Programs[t.Program].children() {
			starts[child]++
		}
	}
	for i, t := range s.Tasks {
		switch {
		case !t.Forked && starts[i] > 0:
			return fmt.Errorf("task %d (%q) starts at time 0 and is forked too: declare it Forked", i, t.Name)
		case t.Forked && starts[i] == 0:
			return fmt.Errorf("task %d (%q) is declared Forked but no task forks it", i, t.Name)
		case t.Forked && starts[i] > 1:
			return fmt.Errorf("task %d (%q) is forked %d times: a task can start only once", i, t.Name, starts[i])
		}
	}
	return s.validateAncestry()
}

// validateAncestry follows the forks from the tasks that start at time 0.
// Each forked task has one parent here, so no task is met twice.
func (s *Scenario) validateAncestry() error {
	started := make([]bool, len(s.Tasks))
	var pending []TaskID
	for i, t := range s.Tasks {
		if !t.Forked {
			pending = append(pending, TaskID(i))
		}
	}
	for _, pool := range s.Pools { // an empty turn is no mistake: who forks them may never get there
		for i := range pool.Count {
			pending = append(pending, pool.First+i)
		}
	}
	for len(pending) > 0 {
		parent := pending[len(pending)-1]
		started[parent] = true
		pending = append(pending[:len(pending)-1], s.Programs[s.Tasks[parent].Program].children()...)
	}
	if i := slices.Index(started, false); i >= 0 {
		return fmt.Errorf("task %d (%q) never starts: its ancestors fork each other in a circle", i, s.Tasks[i].Name)
	}
	return nil
}

// children lists the tasks the program forks.
func (p Program) children() []TaskID {
	var children []TaskID
	for _, in := range p {
		if in.Op == OpFork {
			children = append(children, TaskID(in.N))
		}
	}
	return children
}

// validateEnd checks that the run has something that ends it.
func (s *Scenario) validateEnd() error {
	foreground := false
	for i, t := range s.Tasks {
		if t.Background {
			continue
		}
		foreground = true
		p := s.Programs[t.Program]
		if p[len(p)-1].Op != OpExit && s.TimeLimit == 0 {
			return fmt.Errorf("task %d (%q) never exits: set a time limit or put the task in the background", i, t.Name)
		}
	}
	if !foreground && s.TimeLimit == 0 {
		return fmt.Errorf("every task is in the background: set a time limit")
	}
	return nil
}
