package trace

// Events that only simulations record: what a kernel does between its
// tracepoints, told so that a reader can rebuild its state exactly.

// SetPlace fills an event of KindDecay, KindNewidle or KindIdleAgain, which is
// about one CPU and tells nothing more.
func (e *Event) SetPlace(cpu int32) { e.setSmall(0, cpu) }

// Place returns that CPU.
func (e *Event) Place() int32 { return e.small(0) }

// Arrival is the second half of a move between two CPUs, of which
// sched_migrate_task is the first.
type Arrival struct{ PID, CPU int32 }

// SetArrival fills an event of KindArrive.
func (e *Event) SetArrival(a Arrival) {
	e.setSmall(0, a.PID)
	e.setSmall(1, a.CPU)
}

// Arrival returns the fields of KindArrive.
func (e *Event) Arrival() Arrival { return Arrival{PID: e.small(0), CPU: e.small(1)} }

// Overload says whether a CPU is in the mask of overloaded CPUs of its cache.
type Overload struct {
	CPU int32
	On  bool
}

// SetOverload fills an event of KindOverload.
func (e *Event) SetOverload(o Overload) {
	on := int64(0)
	if o.On {
		on = 1
	}
	e.setSmall(0, o.CPU)
	e.setKnown(1, on)
}

// Overload returns the fields of KindOverload.
func (e *Event) Overload() Overload { return Overload{CPU: e.small(0), On: e.value(1) == 1} }

// IdleCost is the new bound of a CPU's average idle time: twice Cost ns.
type IdleCost struct {
	CPU  int32
	Cost int64
}

// SetIdleCost fills an event of KindIdleCost.
func (e *Event) SetIdleCost(c IdleCost) {
	e.setSmall(0, c.CPU)
	e.setKnown(1, c.Cost)
}

// IdleCost returns the fields of KindIdleCost.
func (e *Event) IdleCost() IdleCost { return IdleCost{CPU: e.small(0), Cost: e.value(1)} }

// IdleState is the depth of the state in which an idle CPU sleeps: 0 polls.
type IdleState struct {
	CPU   int32
	Depth int64
}

// SetIdleState fills an event of KindIdleState.
func (e *Event) SetIdleState(s IdleState) {
	e.setSmall(0, s.CPU)
	e.setKnown(1, s.Depth)
}

// IdleState returns the fields of KindIdleState.
func (e *Event) IdleState() IdleState { return IdleState{CPU: e.small(0), Depth: e.value(1)} }

// Policy is a task's scheduling policy by the kernel's number: 0 normal, 3
// batch, 5 idle.
type Policy struct {
	PID    int32
	Number int64
}

// SetPolicy fills an event of KindPolicy.
func (e *Event) SetPolicy(p Policy) {
	e.setSmall(0, p.PID)
	e.setKnown(1, p.Number)
}

// Policy returns the fields of KindPolicy.
func (e *Event) Policy() Policy { return Policy{PID: e.small(0), Number: e.value(1)} }

// DelayStage is what becomes of a sleeper's place in the queue.
type DelayStage int64

// The stages: its stay ends, it blocks but stays, it blocks and leaves at once.
const (
	DelayEnds DelayStage = iota
	DelayBegins
	DelayNone
)

// Delay is about a task, or the entity of a group without tasks, that has nothing
// to run but stays queued on a CPU.
type Delay struct {
	PID   int32 // 0: a group
	CPU   int32
	Stage DelayStage
	Path  Name // of the group; none for a task
}

// SetDelay fills an event of KindDelay.
func (e *Event) SetDelay(d Delay) {
	e.setSmall(0, d.PID)
	e.setSmall(1, d.CPU)
	e.setKnown(2, int64(d.Stage))
	if d.PID == 0 {
		e.setText(3, d.Path)
	}
}

// Delay returns the fields of KindDelay.
func (e *Event) Delay() Delay {
	d := Delay{PID: e.small(0), CPU: e.small(1), Stage: DelayStage(e.value(2))}
	if d.PID == 0 {
		d.Path = e.text(3)
	}
	return d
}
