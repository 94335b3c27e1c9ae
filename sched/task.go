package sched

import "github.com/schedlab/schedlab/machine"

// Policy is a scheduling policy of the fair class.
type Policy uint8

// The policies of the fair class.
const (
	PolicyNormal Policy = iota
	PolicyBatch
	PolicyIdle
)

// String returns the kernel's spelling.
func (p Policy) String() string { return [...]string{"SCHED_NORMAL", "SCHED_BATCH", "SCHED_IDLE"}[p] }

// Task is one schedulable thread. Only the scheduler changes it after
// [Scheduler.NewTask].
type Task struct {
	se Entity

	// ID is the number that traces and reports show.
	ID int32
	// Ref is the driver's own index of the task; the scheduler ignores it.
	Ref int32

	cpu     int32 // CPU whose runqueue it is on or last was on
	policy  Policy
	nice    int8
	kthread bool // per-CPU kernel thread: never balanced
	other   bool // of a higher class (stop, deadline, real-time): only counted
	queued  bool // on a runqueue (running counts)
	exiting bool
	pending bool // on a CPU's wake list, not yet queued
	moving  bool // between two CPUs by the balancer: its load goes along
	limbo   bool // off its queue until its group has runtime again (bandwidthtask.go)
	delayed bool // has gone to sleep but stays queued for now (delayed.go)

	group *TaskGroup

	space        *AddressSpace // nil: not a user task, or nobody cares
	preferredLLC int32         // llcID of the cache where its process should run, noLLC: anywhere
	queuedAt     int64         // ns: since when it has been waiting for its CPU

	allowed  machine.CPUMask // never nil
	nAllowed int32

	// Wakeup placement state (mechanisms.md 6.3, 6.5).
	lastWakee  *Task
	flips      int32
	recentUsed int32
	flipDecay  int64 // jiffies

	// util_est (mechanisms.md 2), capacity units.
	utilEstEnqueued int64
	utilEstEWMA     int64

	// Neighbours in the runqueue's list of migratable tasks and, while it is
	// pending, the next task on the wake list.
	lruPrev, lruNext *Task
	wakeNext         *Task
	wakeSync         bool // flag of the pending wakeup
	wakeMigrated     bool
	limboNext        *Task // the next one in limbo
}

// TaskSpec says what a new task is.
type TaskSpec struct {
	ID      int32
	Ref     int32
	Policy  Policy
	Nice    int8            // -20 to 19
	Allowed machine.CPUMask // nil: every online CPU
	Group   *TaskGroup      // nil: the root group
	Kthread bool            // per-CPU kernel thread
	CPU     int             // the CPU it counts as having run on before
	// Space is shared by the threads of a process; nil: without preferred cache.
	Space *AddressSpace
}

// CPU returns the CPU that the task is queued on, or last was.
func (t *Task) CPU() int { return int(t.cpu) }

// Queued reports whether the task is runnable and on a runqueue.
func (t *Task) Queued() bool { return t.queued }

// Policy returns the task's scheduling policy.
func (t *Task) Policy() Policy { return t.policy }

// Group returns the task's control group; the root group is never nil.
func (t *Task) Group() *TaskGroup { return t.group }

// AllowedOn reports whether the task's affinity includes cpu.
func (t *Task) AllowedOn(cpu int) bool { return t.allowed.Has(cpu) }

// Allowed returns the task's affinity mask; do not modify it.
func (t *Task) Allowed() machine.CPUMask { return t.allowed }

// LoadAvg returns the task's PELT load average (nice-0 task running all the time: 1024).
func (t *Task) LoadAvg() int64 { return t.se.avg.loadAvg }

// UtilAvg returns the task's PELT utilization (0 to 1024).
func (t *Task) UtilAvg() int64 { return t.se.avg.utilAvg }

// SumExec returns the nanoseconds that the task has run.
func (t *Task) SumExec() int64 { return t.se.sumExec }

// VRuntime returns the task's virtual runtime in nanoseconds.
func (t *Task) VRuntime() int64 { return t.se.vruntime }

// Flips returns the task's wakee_flips.
func (t *Task) Flips() int { return int(t.flips) }

// RecentUsedCPU returns the task's recent_used_cpu.
func (t *Task) RecentUsedCPU() int { return int(t.recentUsed) }

// MarkExiting tells the scheduler that the task is in its exit path: its
// wakeups no longer count as sync (mechanisms.md 6.2).
func (t *Task) MarkExiting() { t.exiting = true }
