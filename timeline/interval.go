package timeline

import "github.com/schedlab/schedlab/trace"

// State is what a thread does.
type State uint8

// The states.
const (
	Unseen  State = iota // the recording does not tell
	Born                 // forked, and never queued yet
	Running              // has the CPU
	Waiting              // may run, and does not: queued, or on its way to a queue
	Asleep               // waits for something else than a CPU
	Gone                 // has ended
)

// String returns the state in one lower-case word.
func (s State) String() string {
	switch s {
	case Born:
		return "born"
	case Running:
		return "running"
	case Waiting:
		return "waiting"
	case Asleep:
		return "asleep"
	case Gone:
		return "gone"
	}
	return "unseen"
}

// Identity is a thread as an interval names it.
type Identity struct {
	trace.Thread
	TGID  int32      // its process; trace.UnknownPID when not told
	Prio  int32      // the kernel's priority, 120 is nice 0; -1 when not told
	Comm  trace.Name // the latest name
	Group trace.Name // path of its cgroup; NoName when the recording did not say
}

// Idle reports whether it is the idle thread of a CPU, whose number then is the
// incarnation.
func (i *Identity) Idle() bool { return i.PID == 0 }

// Waker is who woke a thread.
type Waker struct {
	PID       int32 // the thread that ran there, trace.UnknownPID when not told
	Comm      trace.Name
	CPU       int32
	Interrupt bool // an interrupt on that CPU woke, not the thread
}

// Wakeup is a wakeup, the first one after a fork included: a moment when a CPU
// was chosen.
type Wakeup struct {
	Wakee  *Identity
	Asked  int64 // when it began, ns of the recording's clock
	Waker  Waker
	Target int32 // the CPU chosen
}

// Interval is a stretch of time through which a thread stayed in one state.
type Interval struct {
	Identity
	State    State // Running, Waiting or Asleep
	CPU      int32 // where it runs, waits at the end of the wait, or ran last
	From, To int64 // ns of the recording's clock; To is excluded

	// Before and After are the neighbouring states: a wait that comes after
	// Running is a preemption. Unseen when the recording does not tell, as for
	// what its beginning, its end or a loss cuts.
	Before, After State
	// Sleep says how an Asleep thread sleeps.
	Sleep trace.State
	// Woken is set for a wait that began with a wakeup; Waker is who did it.
	Woken bool
	Waker Waker
}

// Duration is the length of the interval in ns.
func (i *Interval) Duration() int64 { return i.To - i.From }

// WaitPart is a part of a wait during which the same thread had the CPU.
type WaitPart struct {
	Waiter *Identity
	CPU    int32
	// Behind is who had the CPU: the idle thread while an idle CPU is on its way
	// to reschedule, nil when the recording does not tell.
	Behind   *Identity
	From, To int64
}

// Duration is the length of the part in ns.
func (p *WaitPart) Duration() int64 { return p.To - p.From }
