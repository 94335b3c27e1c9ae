package trace

// Task is a thread as an event names it.
type Task struct {
	Comm Name
	PID  int32 // UnknownPID when not told
	Prio int32 // the kernel's priority, 100 to 139 for the fair class (120 is nice 0); -1 when not told
}

// Switch is a change of the running thread on the event's CPU.
type Switch struct {
	Prev      Task
	PrevState State
	Next      Task
}

// Wake is a wakeup: of KindWaking (asked for, on the waker's CPU), KindWakeup
// (the thread is queued) or KindWakeupNew (a new thread is queued).
type Wake struct {
	Task
	TargetCPU int32 // for KindWaking the CPU it last ran on
}

// Migration is a change of a thread's CPU.
type Migration struct {
	Task
	From, To int32
}

// Fork is the birth of a thread.
type Fork struct {
	Parent, Child Task // without priorities
}

// Exec is a thread that becomes another program.
type Exec struct {
	Filename Name
	PID      int32
	OldPID   int32 // differs when a thread other than the leader called exec
}

// Attach is a thread's move to another cgroup.
type Attach struct {
	Task  // without priority
	Path  Name
	ID    int64
	Level int64
	Root  int64 // of the hierarchy; 0 is cgroup v2's
}

// Select is what the probe "sel" saw at the entry of the placement of a task.
// Numbers that the probe did not read are Unknown, flags and masks 0.
type Select struct {
	PID       int32 // the task to be placed, UnknownPID when not read
	PrevCPU   int32
	Flags     uint32 // 0x2 exec, 0x4 fork, 0x8 wakeup, 0x10 sync; on 5.10 only the first three
	WakeFlags int64  // 5.10: 0x1 sync, 0x2 fork; Unknown elsewhere
	Flips     int64  // wakee_flips
	Decay     int64  // jiffies of the last halving of it
	Jiffies   int64
	RecentCPU int64
	Load      int64 // PELT averages as last updated
	Util      int64
	Policy    int64
	NAllowed  int64
	Allowed   uint64 // affinity, first 64 CPUs; 0 when not read
	QueueLoad int64  // load average of the queue it was on
	PrevLoad  int64  // load average of the root queue of PrevCPU
	PrevIdle  int64  // avg_idle of PrevCPU in ns
}

// Balance is the start of a balance pass.
type Balance struct {
	DestCPU  int32
	Level    int64 // of the sched domain
	Span     int64 // CPUs in the domain
	Failed   int64 // nr_balance_failed
	Interval int64 // ms
	Idle     int64 // the kernel's cpu_idle_type; its numbering changed in 6.7
}

// CanMigrate is the start of the test whether a pass may take a task.
type CanMigrate struct {
	PID       int32
	From, To  int32
	Imbalance int64
	Type      int64 // 0 load, 1 util, 2 task, 3 misfit
	Load      int64
	Util      int64
}

// Queue is a group's queue on a CPU that is throttled or set free.
type Queue struct {
	Address uint64 // tells queues apart; 0 when unknown
	CPU     int32
}

// Switch returns the fields of KindSwitch.
func (e *Event) Switch() Switch {
	return Switch{Prev: e.task(0), PrevState: e.state(3), Next: e.task(4)}
}

// Wake returns the fields of KindWaking, KindWakeup and KindWakeupNew.
func (e *Event) Wake() Wake { return Wake{Task: e.task(0), TargetCPU: e.small(4)} }

// Migration returns the fields of KindMigrate.
func (e *Event) Migration() Migration {
	return Migration{Task: e.task(0), From: e.small(3), To: e.small(4)}
}

// Fork returns the fields of KindFork.
func (e *Event) Fork() Fork {
	return Fork{
		Parent: Task{Comm: e.text(0), PID: e.small(1), Prio: -1},
		Child:  Task{Comm: e.text(2), PID: e.small(3), Prio: -1},
	}
}

// Exec returns the fields of KindExec.
func (e *Event) Exec() Exec {
	return Exec{Filename: e.text(0), PID: e.small(1), OldPID: e.small(2)}
}

// Exit returns the thread of KindExit and KindFree.
func (e *Event) Exit() Task { return e.task(0) }

// Runtime returns the thread of KindStatRuntime and the nanoseconds it ran.
func (e *Event) Runtime() (Task, int64) {
	return Task{Comm: e.text(0), PID: e.small(1), Prio: -1}, e.value(2)
}

// SoftirqVector returns the vector of the softirq kinds; 7 is the scheduler's.
func (e *Event) SoftirqVector() int64 { return e.value(0) }

// Attach returns the fields of KindAttach.
func (e *Event) Attach() Attach {
	return Attach{
		Task: Task{PID: e.small(4), Comm: e.text(5), Prio: -1},
		Root: e.value(0), ID: e.value(1), Level: e.value(2), Path: e.text(3),
	}
}

// TickCPU returns the CPU of KindTick.
func (e *Event) TickCPU() int32 { return e.small(0) }

// Select returns the fields of KindSelect.
func (e *Event) Select() Select {
	return Select{
		PrevCPU: e.small(0), Flags: uint32(e.bits(1)), WakeFlags: e.value(2), PID: e.small(3),
		Flips: e.value(4), Decay: e.value(5), Jiffies: e.value(6), RecentCPU: e.value(7),
		Load: e.value(8), Util: e.value(9), Policy: e.value(10),
		NAllowed: e.value(11), Allowed: e.bits(12),
		QueueLoad: e.value(13), PrevLoad: e.value(14), PrevIdle: e.value(15),
	}
}

// Return returns the result of KindSelectReturn (the CPU chosen), of
// KindBalanceReturn (tasks pulled) and of KindCanMigrateReturn (1: may move).
func (e *Event) Return() int64 { return e.value(0) }

// Queue returns the fields of KindThrottle and KindUnthrottle.
func (e *Event) Queue() Queue { return Queue{Address: e.bits(0), CPU: e.small(1)} }

// Balance returns the fields of KindBalance.
func (e *Event) Balance() Balance {
	return Balance{
		DestCPU: e.small(0), Level: e.value(1), Span: e.value(2),
		Failed: e.value(3), Interval: e.value(4), Idle: e.value(5),
	}
}

// CanMigrate returns the fields of KindCanMigrate.
func (e *Event) CanMigrate() CanMigrate {
	return CanMigrate{
		PID: e.small(0), From: e.small(1), To: e.small(2),
		Imbalance: e.value(3), Type: e.value(4), Load: e.value(5), Util: e.value(6),
	}
}

// LostCount returns how many events KindLost stands for, or Unknown.
func (e *Event) LostCount() int64 { return e.value(0) }

// task reads a task's three fields, the first of which is in slot.
func (e *Event) task(slot int) Task {
	return Task{Comm: e.text(slot), PID: e.small(slot + 1), Prio: e.small(slot + 2)}
}

func (e *Event) text(slot int) Name {
	if e.has&(1<<slot) == 0 {
		return NoName
	}
	return Name(e.args[slot])
}

// small returns a CPU, PID or priority, -1 when unknown or out of range.
func (e *Event) small(slot int) int32 {
	v := e.value(slot)
	if v < -1<<31 || v > 1<<31-1 {
		return -1
	}
	return int32(v)
}

func (e *Event) bits(slot int) uint64 {
	if e.has&(1<<slot) == 0 {
		return 0
	}
	return uint64(e.args[slot])
}

func (e *Event) state(slot int) State {
	if e.has&(1<<slot) == 0 {
		return UnknownState
	}
	return State(e.args[slot])
}
