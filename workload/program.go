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
	// OpReadSome makes one read call of up to N bytes from channel Chan, which
	// sleeps while there are none. OpWrite, OpRead and OpReadSome with [NoCopy] in
	// Slot copy nothing: sendfile, and MSG_TRUNC.
	OpReadSome
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

	// OpSpinWall spins until the clock, which shows whole microseconds, is more
	// than N ns past its first reading. Losing the CPU meanwhile does not make
	// it longer, unless that lasts beyond the end.
	OpSpinWall
	// OpSleepTicks sleeps N ticks on a timer of the timer wheel, which fires
	// with a tick.
	OpSleepTicks
	// OpStamp sets the task's time stamp to the clock.
	OpStamp
	// OpSample adds a sample to recorder Chan: the whole microseconds from the
	// task's stamp to now, less N ns, at least 1.
	OpSample
	// OpForget makes recorder Chan forget its samples.
	OpForget
	// OpSnapshot keeps a copy of the samples of recorder Chan.
	OpSnapshot

	// OpStore sets word Chan to N and wakes nobody.
	OpStore
	// OpBranch jumps ahead to instruction Target if word Chan holds N.
	OpBranch
	// OpFutexWait sleeps on word Chan if it holds N.
	OpFutexWait
	// OpFutexWake wakes up to N tasks that sleep on word Chan.
	OpFutexWake
	// OpPost sets word Chan from 0 to 1 and wakes a sleeper; it does nothing if
	// the word is 1.
	OpPost
	// OpAwait sets word Chan from 1 to 0, sleeping until that can be done.
	OpAwait
	// OpLock takes mutex Chan.
	OpLock
	// OpUnlock frees mutex Chan.
	OpUnlock
	// OpCondWait sleeps on condition Chan without its mutex, which it has
	// before and after.
	OpCondWait
	// OpSignal wakes one task that waits for condition Chan.
	OpSignal
	// OpBroadcast wakes all tasks that wait for condition Chan.
	OpBroadcast
	// OpMeet waits at barrier Chan.
	OpMeet
	// OpPush puts the task on stack Chan, to be posted at word N.
	OpPush
	// OpTake sets aside the tasks on stack Chan and reads the clock, once for
	// all of them.
	OpTake
	// OpPostTaken posts the tasks that were set aside on stack Chan, newest
	// first, each with the stamp of that one reading of the clock.
	OpPostTaken

	// OpReceive takes a request of source Chan, sleeping until there is one.
	OpReceive
	// OpServe does the work of the task's request.
	OpServe
	// OpAnswer ends the task's request, which is of source Chan.
	OpAnswer

	// OpWatch puts channel Chan into the set that its task watches (N = 1), or
	// takes it out (N = 0): FD_SET and FD_CLR.
	OpWatch
	// OpSelect sleeps until one of the N channels from Chan on that are watched
	// is readable. Only those that are readable stay watched.
	OpSelect
	// OpUnlessWatched jumps ahead to Target if channel Chan is not watched.
	OpUnlessWatched
	// OpTryRead reads up to N bytes from channel Chan without sleeping; it jumps
	// ahead to Target if there is nothing to read.
	OpTryRead
	// OpTally adds N to the tally of recorder Chan, 1 if N is 0.
	OpTally
	// OpCountTo adds 1 to word Chan and jumps ahead to Target when that makes N.
	OpCountTo
	// OpCharge works for N thousandths of what [Price] Chan says, M percent more
	// or less, drawn anew each time.
	OpCharge
	// OpLookup reads N cache lines, anywhere in M bytes of memory. It takes as
	// long as those lines take that the CPU's last-level cache does not hold.
	OpLookup
	// OpSpinLocked takes spinlock Chan for N ns and reads M lines there that
	// whoever had the lock before has written.
	OpSpinLocked
	// OpTeamMeet waits at team barrier Chan: N turns of spinning, then asleep.
	OpTeamMeet
	// OpHandOver spins until flag Chan holds N, without end, and sets it to M.
	OpHandOver

	// OpAdd adds N to word Chan and wakes nobody.
	OpAdd
	// OpSemPost adds 1 to semaphore Chan and wakes a sleeper.
	OpSemPost
	// OpSemWait takes 1 from semaphore Chan, sleeping until that can be done.
	OpSemWait

	// The rest is for periodic tasks; see activation.go.

	// OpEpoch sets the scenario's epoch, from which timers count, to the clock.
	OpEpoch
	// OpActivate begins an activation.
	OpActivate
	// OpActivated ends it and adds it to the log, with N as its kind.
	OpActivated
	// OpClockIn and OpClockOut enclose work whose wall time is the activation's.
	OpClockIn
	OpClockOut
	// OpRunWall works in pieces of M ns until N ns have passed since the
	// OpClockIn before it, and adds that time to the activation's.
	OpRunWall
	// OpDue moves timer Chan N ns on; one that is used for the first time begins
	// M ns after the epoch. If its time has passed it jumps ahead to Target.
	// With Slot 1 the activation's slack is the sum of all its timers'.
	OpDue
	// OpSleepUntil sleeps until the time of timer Chan.
	OpSleepUntil
	// OpLate adds the time since that of timer Chan to the activation's wakeup
	// latency.
	OpLate
	// OpForkNext starts the next task of pool Chan.
	OpForkNext
	// OpAffinity lets the task run on the CPUs of set Chan only.
	OpAffinity
	// OpGroup moves the task to control group Chan.
	OpGroup
	// OpPriority gives the task nice value N and policy M.
	OpPriority
	// OpYield lets others run first.
	OpYield
	// OpSyscalls makes N system calls that do nothing else.
	OpSyscalls
	// OpTouch accesses N bytes of a buffer of M bytes in the manner of Slot, an
	// [Access].
	OpTouch
	numOps
)

// NoCopy as the Slot of a transfer says that its bytes are not copied.
const NoCopy = 1

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
	Tasks     int        // OpFork: 0 to Tasks-1
	Channels  int        // OpWrite, OpRead, OpReadSome, OpPoll: 0 to Channels-1
	Marks     int        // OpMark: 0 to Marks-1
	Recorders int        // OpSample, OpForget, OpSnapshot: 0 to Recorders-1
	Sources   int        // OpReceive, OpAnswer: 0 to Sources-1
	Syncs     []SyncSpec // the operations on synchronisation objects
	Timers    int        // OpDue, OpSleepUntil, OpLate: 0 to Timers-1
	Pools     int        // OpForkNext: 0 to Pools-1
	CPUSets   int        // OpAffinity: 0 to CPUSets-1
	Groups    int        // OpGroup: 0 to Groups-1
}

// maxTransfer is the longest single read or write in bytes: Linux moves at
// most 2 GiB minus one page in a call.
const maxTransfer = math.MaxInt32 &^ (pageSize - 1)

// maxSleepTicks is how many ticks the finest level of the timer wheel reaches
// ahead; later ones it would round to 8 ticks and more.
const maxSleepTicks = 63

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
	case OpWrite, OpRead, OpReadSome:
		return validateTransfer(in, b)
	case OpPoll:
		return within("channel", int64(in.Chan), b.Channels)
	case OpLoop:
		return p.validateLoop(i, in)
	case OpFork:
		return within("task", in.N, b.Tasks)
	case OpMark:
		return within("mark", in.N, b.Marks)
	case OpSpinWall:
		if in.N < 0 {
			return fmt.Errorf("time %d ns is negative", in.N)
		}
	case OpSleepTicks:
		if in.N < 1 || in.N > maxSleepTicks {
			return fmt.Errorf("%d ticks are not in [1, %d]", in.N, int64(maxSleepTicks))
		}
	case OpTally:
		if in.N < 0 {
			return fmt.Errorf("a tally of %d: it counts up", in.N)
		}
		return within("recorder", int64(in.Chan), b.Recorders)
	case OpSample, OpForget, OpSnapshot:
		return within("recorder", int64(in.Chan), b.Recorders)
	case OpReceive, OpAnswer:
		return within("source", int64(in.Chan), b.Sources)
	case OpWaitChildren, OpExit, OpStamp, OpServe:
	case OpWatch, OpSelect, OpUnlessWatched, OpTryRead:
		return p.validateWatch(i, in, b)
	case OpCharge, OpLookup:
		return validateCharge(in)
	default:
		if in.Op.OfActivation() {
			return p.validateActivation(i, in, b)
		}
		return p.validateSync(i, in, b)
	}
	return nil
}

func validateTransfer(in Instr, b Bounds) error {
	switch {
	case in.N < 1 || in.N > maxTransfer:
		return fmt.Errorf("length %d bytes is not in [1, %d]", in.N, int64(maxTransfer))
	case in.Slot > NoCopy:
		return fmt.Errorf("unknown manner %d of a transfer", in.Slot)
	}
	return within("channel", int64(in.Chan), b.Channels)
}

// validateJump checks the target of an instruction that jumps ahead.
func (p Program) validateJump(i int, in Instr) error {
	if int(in.Target) <= i || int(in.Target) >= len(p) {
		return fmt.Errorf("target %d must be an instruction after the branch", in.Target)
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
	for _, inner := range body {
		switch {
		case inner.Op == OpLoop && inner.Slot == in.Slot:
			return fmt.Errorf("loop counter %d is already used by a loop inside this one", in.Slot)
		case inner.Op == OpFork && in.N > 1:
			return fmt.Errorf("task %d would be forked %d times: a task can start only once", inner.N, in.N)
		}
	}
	if !p.turnTakesTime(int(in.Target), i) {
		return fmt.Errorf("the loop body takes no time: put a run, sleep, read, write or poll in it, where no branch skips it")
	}
	return nil
}

// turnTakesTime reports whether every turn of the loop at end, which begins at
// start, lets time pass, whatever its branches do.
func (p Program) turnTakesTime(start, end int) bool {
	skippedTo := start // instructions before it may be jumped over
	for at := start; at < end; at++ {
		in := p[at]
		if at >= skippedTo && in.takesTime() {
			return true
		}
		if in.Op.jumpsAhead() && int(in.Target) <= end {
			skippedTo = max(skippedTo, int(in.Target))
		}
	}
	return false
}

// jumpsAhead reports whether the instruction may jump to one further down.
func (op Op) jumpsAhead() bool {
	switch op {
	case OpBranch, OpDue, OpUnlessWatched, OpTryRead, OpCountTo:
		return true
	}
	return false
}

// takesTime reports whether the instruction lets virtual time pass, so that a
// loop around it cannot spin at one instant.
func (in Instr) takesTime() bool {
	switch in.Op {
	case OpRun, OpSleep:
		return in.N > 0
	case OpRunRandom, OpSleepRandom:
		return in.M > 0
	case OpLoop, OpFork, OpWaitChildren, OpMark, OpForget, OpSnapshot, OpStore, OpBranch, OpPostTaken,
		OpAdd, OpForkNext, OpAffinity, OpGroup, OpPriority,
		OpWatch, OpUnlessWatched, OpTally, OpCountTo, OpServe:
		return false
	}
	return true
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
	OpWrite: "write", OpRead: "read", OpReadSome: "readsome", OpPoll: "poll", OpLoop: "loop", OpFork: "fork",
	OpWaitChildren: "waitchildren", OpMark: "mark", OpExit: "exit",
	OpSpinWall: "spin", OpSleepTicks: "sleepticks", OpStamp: "stamp", OpSample: "sample", OpForget: "forget", OpSnapshot: "snapshot",
	OpStore: "store", OpBranch: "branch", OpFutexWait: "futexwait", OpFutexWake: "futexwake",
	OpPost: "post", OpAwait: "await", OpLock: "lock", OpUnlock: "unlock",
	OpCondWait: "condwait", OpSignal: "signal", OpBroadcast: "broadcast", OpMeet: "meet",
	OpPush: "push", OpTake: "take", OpPostTaken: "posttaken",
	OpAdd: "add", OpSemPost: "sempost", OpSemWait: "semwait",
	OpEpoch: "epoch", OpActivate: "activate", OpActivated: "activated", OpClockIn: "clockin", OpClockOut: "clockout", OpRunWall: "runwall",
	OpDue: "due", OpSleepUntil: "sleepuntil", OpLate: "late", OpForkNext: "forknext",
	OpAffinity: "affinity", OpGroup: "group", OpPriority: "priority", OpYield: "yield", OpSyscalls: "syscalls", OpTouch: "touch",
	OpWatch: "watch", OpSelect: "select", OpUnlessWatched: "unlesswatched", OpTryRead: "tryread",
	OpTally: "tally", OpCountTo: "countto", OpCharge: "charge", OpLookup: "lookup", OpSpinLocked: "spinlocked",
	OpTeamMeet: "teammeet", OpHandOver: "handover",
	OpReceive: "receive", OpServe: "serve", OpAnswer: "answer",
}

// Random reports whether the program draws random numbers.
func (p Program) Random() bool {
	return slices.ContainsFunc(p, func(in Instr) bool {
		return in.Op == OpRunRandom || in.Op == OpSleepRandom || in.Op == OpCharge && in.M > 0
	})
}

// Children lists the tasks that the program forks.
func (p Program) Children() []TaskID { return p.children() }

// Forks returns how many tasks the program forks.
func (p Program) Forks() int32 { return int32(len(p.children())) }
