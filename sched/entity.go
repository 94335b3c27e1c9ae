package sched

// Entity is what a queue orders: a task, or a group on one CPU
// (mechanisms.md 1.4).
type Entity struct {
	weight      int64 // stored scale
	vruntime    int64
	sumExec     int64
	prevSumExec int64 // sumExec when last picked
	lag         int64 // behind the average of its queue, ns of virtual time; as of when it last left
	execStart   int64

	// The request of EEVDF (eevdfslice.go), ns of virtual time but for slice.
	deadline     int64
	slice        int64 // ns of running that it asks for
	protection   int64 // while it runs: see eevdfpick.go
	deadlineKept int64 // its deadline after its virtual time, while it is moved
	remainder    int64 // of dividing its running time by its weight

	cfs    *cfsRQ  // queue it is (or would be) on
	parent *Entity // entity of the group that owns cfs; nil at the root
	my     *cfsRQ  // queue it owns; nil for a task
	task   *Task   // nil for a group
	depth  int32
	onRQ   bool
	// customSlice: slice is its own, not the base slice.
	customSlice bool
	// keepsDeadline: deadlineKept counts at its next placement.
	keepsDeadline bool
	// emptyDelayed: it is a group without tasks that stays queued for its debt.
	emptyDelayed bool
	// delayable: it left its queue to sleep, for which a negative lag makes it wait.
	delayable bool
	// utilSampled: util_est took its sample and the averages have not moved since.
	utilSampled bool

	runnableWeight int64 // H of the owned queue at the last enqueue or dequeue point
	avg            Avg
}

func (se *Entity) isTask() bool { return se.task != nil }

// delayed reports whether the entity has nothing to run but stays queued for now
// (delayed.go).
func (se *Entity) delayed() bool {
	if se.task != nil {
		return se.task.delayed
	}
	return se.emptyDelayed
}

// idleClassed reports whether the entity is a SCHED_IDLE task or owns an idle
// queue (mechanisms.md 3.4).
func (se *Entity) idleClassed() bool {
	if se.task != nil {
		return se.task.policy == PolicyIdle
	}
	return se.my.idle
}
