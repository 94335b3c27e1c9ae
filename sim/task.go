package sim

import (
	"math/rand/v2"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// task is where one task of the scenario stands.
type task struct {
	prog workload.Program
	pc   int32
	id   workload.TaskID
	left int64 // bytes that the read or write at pc still wants

	begun      bool // the instruction at pc was preempted in the middle
	resumed    bool // the channel call at pc slept and continues
	gaveUp     bool // the spinlock at pc was spun for in vain
	waiting    bool // asleep until a child exits
	started    bool
	exited     bool
	background bool
	deferrable bool // its timers are
	threaded   bool // other tasks share its address space and its files

	loops [workload.MaxLoops]int64

	sched   *sched.Task
	opWork  int64 // full-speed ns left of an instruction that was preempted
	wokenAt int64 // never: not waiting for a CPU after a wakeup
	stamp   int64 // of OpStamp
	request workload.Request
	// spinUntil is when an OpSpinWall ends, 0 when none is under way.
	spinUntil int64
	lastCPU   int32 // -1 before it first runs

	process      int32
	footprintKiB int64
	parent       *task
	children     []*task // in order of creation
	zombies      int32   // exited, not yet reaped
	reaped       int32
	rng          *rand.Rand
}

// inUserMode reports whether a task that has just got the CPU is in user mode:
// it executes its own code or stands between two instructions.
func (t *task) inUserMode() bool {
	return !t.begun && !t.resumed && !t.waiting || t.runsOwnCode()
}

// runsOwnCode reports whether the task's instruction is none of the kernel's.
func (t *task) runsOwnCode() bool {
	switch t.prog[t.pc].Op {
	case workload.OpRun, workload.OpRunRandom, workload.OpSpinWall, workload.OpRunWall, workload.OpTouch, workload.OpCharge, workload.OpLookup, workload.OpServe,
		workload.OpTeamMeet, workload.OpHandOver:
		return true
	}
	return false
}

// isThreadOf reports whether both tasks share an address space.
func (t *task) isThreadOf(o *task) bool { return t.process == o.process }

// reapable reports whether a wait for children would return one now: any
// exited process, or the exit of the next thread in order of creation.
func (t *task) reapable() bool {
	if t.zombies == 0 {
		return false
	}
	next := t.children[t.reaped]
	return !next.isThreadOf(t) || next.exited
}
