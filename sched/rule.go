package sched

// PlacementRule is a placement rule of one's own: it replaces the choice of
// the CPU for wakeups, forks and execs of one scheduler. It is asked only for
// tasks that may run on more than one CPU and must answer with an online CPU;
// an answer outside the task's affinity mask is replaced by an allowed CPU, as
// the kernel does with its own rules.
//
// The rule sees the scheduler through its exported methods (Idle, NrRunning,
// Load, Domains, ...) and must not change it. Kernel falls back to the
// profile's own rule, so that a rule can cover one case and leave the rest.
type PlacementRule interface {
	Place(s *Scheduler, p *Placement) int
}

// Placement is one request to choose a CPU.
type Placement struct {
	Task *Task
	Prev int // CPU the task last ran on
	Here int // CPU that executes the wakeup
	Kind Kind
	Sync bool // the waker is about to sleep
}
