package workload

import (
	"fmt"
	"math"
	"slices"
)

// TaskID numbers the tasks of a scenario: the index into [Scenario.Tasks].
type TaskID int32

// MaxLoops is the number of loop counters each task owns; loops may be nested
// that deep.
const MaxLoops = 4

// Forever as the N of an [OpLoop] makes the loop endless.
const Forever = math.MaxInt64

// Op is what an instruction does.
type Op uint8

// The instructions. N, M, Chan, Target and Slot are the fields of [Instr].
const (
	// OpRun works for N ns, measured on an otherwise idle core.
	OpRun Op = iota
	// OpRunRandom works for a time drawn uniformly from [N, M] ns of the
	// task's own random stream.
	OpRunRandom
	// OpSleep sleeps N ns on a timer.
	OpSleep
	// OpSleepRandom sleeps a time drawn uniformly from [N, M] ns.
	OpSleepRandom
	// OpWrite writes N bytes to channel Chan, all of them, sleeping as often
	// as that takes.
	OpWrite
	// OpRead reads N bytes in total from channel Chan; a short read is
	// followed by another read call for the rest.
	OpRead
	// OpPoll sleeps until channel Chan is readable and consumes nothing.
	OpPoll
	// OpLoop adds 1 to the task's counter number Slot; while that is below N
	// it jumps to instruction Target, else it zeroes the counter and falls
	// through. So a body that ends in OpLoop runs N times.
	OpLoop
	// OpFork starts task number N, declared in the scenario, as a child.
	OpFork
	// OpWaitChildren sleeps until every child has exited.
	OpWaitChildren
	// OpMark records the time as mark number N of the scenario.
	OpMark
	// OpExit ends the task.
	OpExit
)

// Instr is one instruction, 32 bytes. Fields its Op does not name are zero.
type Instr struct {
	N, M   int64
	Chan   int32
	Target int32
	Op     Op
	Slot   uint8
}

// Program is the flat list of instructions a task executes from index 0. Many
// tasks may share one program.
type Program []Instr

// Bounds are what the operands of a program may refer to.
type Bounds struct {
	Tasks    int // OpFork: 0 to Tasks-1
	Channels int // OpWrite, OpRead, OpPoll: 0 to Channels-1
	Marks    int // OpMark: 0 to Marks-1
}

// maxTransfer is the longest single read or write in bytes: Linux moves at
// most 2 GiB minus one page in a call.
const maxTransfer = math.MaxInt32 &^ (pageSize - 1)

// Validate reports the first instruction that cannot be executed: an operand
// out of bounds, a negative or reversed time, a loop that never gets anywhere
// in time, or an end that runs off the program.
func (p Program) Validate(b Bounds) error {
	if len(p) == 0 {
		return fmt.Errorf("program is empty: it needs at least an exit")
	}
	for i, in := range p {
		if err := p.validateInstr(i, in, b); err != nil {
			return fmt.Errorf("instruction %d (%s): %w", i, in.Op, err)
		}
	}
	last := p[len(p)-1]
	if last.Op != OpExit && (last.Op != OpLoop || last.N != Forever) {
		return fmt.Errorf("instruction %d (%s): a program must end in an exit or an endless loop", len(p)-1, last.Op)
	}
	return nil
}

func (p Program) validateInstr(i int, in Instr, b Bounds) error {
	switch in.Op {
	case OpRun, OpSleep:
		if in.N < 0 {
			return fmt.Errorf("time %d ns is negative", in.N)
		}
	case OpRunRandom, OpSleepRandom:
		if in.N < 0 || in.M < in.N {
			return fmt.Errorf("times [%d, %d] ns must satisfy 0 <= least <= most", in.N, in.M)
		}
	case OpWrite, OpRead:
		if in.N < 1 || in.N > maxTransfer {
			return fmt.Errorf("length %d bytes is not in [1, %d]", in.N, int64(maxTransfer))
		}
		return within("channel", int64(in.Chan), b.Channels)
	case OpPoll:
		return within("channel", int64(in.Chan), b.Channels)
	case OpLoop:
		return p.validateLoop(i, in)
	case OpFork:
		return within("task", in.N, b.Tasks)
	case OpMark:
		return within("mark", in.N, b.Marks)
	case OpWaitChildren, OpExit:
	default:
		return fmt.Errorf("unknown operation %d", in.Op)
	}
	return nil
}

func (p Program) validateLoop(i int, in Instr) error {
	switch {
	case in.Slot >= MaxLoops:
		return fmt.Errorf("loop counter %d is not in [0, %d]", in.Slot, MaxLoops-1)
	case in.N < 1:
		return fmt.Errorf("a body cannot run %d times: the count must be at least 1", in.N)
	case in.Target < 0 || int(in.Target) >= i:
		return fmt.Errorf("target %d must be an instruction before the loop itself", in.Target)
	}
	body := p[in.Target:i]
	takesTime := false
	for _, inner := range body {
		switch {
		case inner.Op == OpLoop && inner.Slot == in.Slot:
			return fmt.Errorf("loop counter %d is already used by a loop inside this one", in.Slot)
		case inner.Op == OpFork && in.N > 1:
			return fmt.Errorf("task %d would be forked %d times: a task can start only once", inner.N, in.N)
		}
		takesTime = takesTime || inner.takesTime()
	}
	if !takesTime {
		return fmt.Errorf("the loop body takes no time: put a run, sleep, read, write or poll in it")
	}
	return nil
}

// takesTime reports whether the instruction lets virtual time pass, so that a
// loop around it cannot spin at one instant.
func (in Instr) takesTime() bool {
	switch in.Op {
	case OpRun, OpSleep:
		return in.N > 0
	case OpRunRandom, OpSleepRandom:
		return in.M > 0
	case OpWrite, OpRead, OpPoll, OpExit:
		return true
	}
	return false
}

func within(what string, n int64, count int) error {
	if n >= 0 && n < int64(count) {
		return nil
	}
	if count == 0 {
		return fmt.Errorf("%s %d does not exist: none is declared", what, n)
	}
	return fmt.Errorf("%s %d does not exist: declared are 0 to %d", what, n, count-1)
}

// String names an operation as the text form of programs does.
func (op Op) String() string {
	if int(op) < len(opNames) {
		return opNames[op]
	}
	return fmt.Sprintf("op(%d)", uint8(op))
}

var opNames = [...]string{
	OpRun: "run", OpRunRandom: "run", OpSleep: "sleep", OpSleepRandom: "sleep",
	OpWrite: "write", OpRead: "read", OpPoll: "poll", OpLoop: "loop", OpFork: "fork",
	OpWaitChildren: "waitchildren", OpMark: "mark", OpExit: "exit",
}

// Random reports whether the program draws random numbers.
func (p Program) Random() bool {
	return slices.ContainsFunc(p, func(in Instr) bool { return in.Op == OpRunRandom || in.Op == OpSleepRandom })
}

// Children lists the tasks that the program forks.
func (p Program) Children() []TaskID { return p.children() }

// Forks returns how many tasks the program forks.
func (p Program) Forks() int32 { return int32(len(p.children())) }
