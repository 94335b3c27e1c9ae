package sched

// Entity is what a queue orders: a task, or a group on one CPU
// (mechanisms.md 1.4).
type Entity struct {
	weight      int64 // stored scale
	vruntime    int64
	sumExec     int64
	prevSumExec int64 // sumExec when last picked
	lag         int64 // see lag.go, ns of virtual time; as of when it last left its queue
	execStart   int64

	cfs    *cfsRQ  // queue it is (or would be) on
	parent *Entity // entity of the group that owns cfs; nil at the root
	my     *cfsRQ  // queue it owns; nil for a task
	task   *Task   // nil for a group
	depth  int32
	onRQ   bool
	// delayable: it left its queue to sleep, for which a negative lag makes it wait.
	delayable bool
	// utilSampled: util_est took its sample and the averages have not moved since.
	utilSampled bool

	runnableWeight int64 // H of the owned queue at the last enqueue or dequeue point
	avg            Avg
}

func (se *Entity) isTask() bool { return se.task != nil }

// idleClassed reports whether the entity is a SCHED_IDLE task or owns an idle
// queue (mechanisms.md 3.4).
func (se *Entity) idleClassed() bool {
	if se.task != nil {
		return se.task.policy == PolicyIdle
	}
	return se.my.idle
}
