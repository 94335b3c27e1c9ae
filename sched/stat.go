package sched

// CPUStats counts what happened on one CPU. The SIS counters follow
// mechanisms.md 11.1 and belong to the CPU that executes the wakeup.
type CPUStats struct {
	Wakeups      int64
	WakeupsLocal int64 // wakee placed on the waker's CPU
	Affine       int64 // ttwu_move_affine
	AffineTries  int64
	Switches     int64 // changes of the running task, idle included
	SchedIdle    int64 // switches to idle
	Migrations   int64 // wakeups that changed the wakee's CPU
	Schedules    int64 // runs of the CPU's scheduler, with or without a switch
	Yields       int64
	RunTime      int64 // ns that tasks had the CPU, completed turns only
	RunDelay     int64 // ns that tasks waited for the CPU, up to their turns' beginnings
	Slices       int64 // turns begun

	SISSearch       int64
	SISScanned      int64
	SISDomainSearch int64
	SISFailed       int64
	SISRecentHit    int64
	SISRecentMiss   int64
	SISCoreSearch   int64
	SISCoreMiss     int64
}

// IdleType says in what state a CPU balances.
type IdleType uint8

// The idle types of load balancing (mechanisms.md 9.1).
const (
	NotIdle IdleType = iota
	Idle
	NewlyIdle
	// SchedIdle: the CPU, without normal tasks, pulls one (schedidle.go).
	SchedIdle
	numIdleTypes
)

// String returns the schedstat spelling.
func (t IdleType) String() string { return [...]string{"busy", "idle", "newidle", "schedidle"}[t] }

// BalanceStats counts a domain's load-balance passes by idle type.
type BalanceStats struct {
	Passes      [numIdleTypes]int64
	Balanced    [numIdleTypes]int64 // nothing to do, or not the CPU to do it
	Failed      [numIdleTypes]int64 // a source was found and gave nothing
	Moved       [numIdleTypes]int64 // tasks
	HotMoved    [numIdleTypes]int64 // tasks found cache hot and movable all the same
	NoBusyGroup [numIdleTypes]int64
	NoBusyQueue [numIdleTypes]int64
	Imbalance   [numIdleTypes][numCountedMoves]int64 // Σ of what was to be moved

	ActiveTries  int64 // pushes begun
	ActivePushes int64 // pushes that moved a task
}

// Add adds another CPU's counters.
func (c *CPUStats) Add(o *CPUStats) {
	c.Wakeups += o.Wakeups
	c.WakeupsLocal += o.WakeupsLocal
	c.Affine += o.Affine
	c.AffineTries += o.AffineTries
	c.Switches += o.Switches
	c.SchedIdle += o.SchedIdle
	c.Migrations += o.Migrations
	c.Schedules += o.Schedules
	c.Yields += o.Yields
	c.RunTime += o.RunTime
	c.RunDelay += o.RunDelay
	c.Slices += o.Slices
	c.SISSearch += o.SISSearch
	c.SISScanned += o.SISScanned
	c.SISDomainSearch += o.SISDomainSearch
	c.SISFailed += o.SISFailed
	c.SISRecentHit += o.SISRecentHit
	c.SISRecentMiss += o.SISRecentMiss
	c.SISCoreSearch += o.SISCoreSearch
	c.SISCoreMiss += o.SISCoreMiss
}
