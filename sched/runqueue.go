package sched

// cfsRQ is the queue of one group on one CPU; the root group's queue is
// embedded in the [runqueue] (mechanisms.md 1.4, 3.5).
type cfsRQ struct {
	load        int64 // Σ stored weights of the queued entities, the running one included
	minVruntime int64
	vAverage    int64 // newest weighted average: see lag.go
	nr          int32 // direct children queued
	idleNr      int32 // those among them that are idle-classed
	h           int32 // H: tasks below, not behind a throttled queue
	hIdle       int32 // Hidle: those that are hierarchically idle
	delayed     int32 // those that have gone to sleep but stay queued for now (delayed.go)

	line                   timeline
	curr, next, last, skip *Entity
	waiting                weightedTimes // of the line (eevdfaverage.go)
	oddSlices              int32         // queued entities that do not ask for the base slice

	avg Avg
	// runnableLoad sums only queued entities; kernels before v5.5 balance and
	// place by it (mechanisms.md 2).
	runnableLoadSum int64
	runnableLoadAvg int64
	removed         removedLoad
	window          shareWindow // before v3.8

	rq     *runqueue
	tg     *TaskGroup
	se     *Entity // the group's entity on this CPU; nil at the root
	parent *cfsRQ
	idle   bool

	tgContrib    int64 // what tg.loadAvg holds of this queue
	publishedAt  int64 // ns of its last change
	propagate    bool
	propSum      int64 // runnable sum to hand to the parent
	throttled    bool  // hidden from the levels above
	marked       bool  // throttled, but its tasks leave one by one; only while a recording is followed
	throttledCnt int32 // throttled ancestors, itself included
	frozen       bool  // the averages stand still
	frozenAt     int64 // ns since when; only while frozen
	frozenTime   int64 // ns that they stood still before
	onLeafList   bool
	childKeptAt  int64 // ns of the last blocked update that found a child with load

	hLoad      int64
	hLoadJiffy int64

	bandwidth *queueBandwidth // nil: the group has never had a limit
	limbo     *Task           // tasks that wait for their group's runtime, the latest first (bandwidthtask.go)
}

// runnable is Hr: the tasks below that want to run.
func (cfs *cfsRQ) runnable() int32 { return cfs.h - cfs.delayed }

// removedLoad collects what tasks took away with them when they were woken on
// another CPU; it is subtracted at the queue's next update (mechanisms.md 2).
type removedLoad struct {
	n                    int32
	load, util, runnable int64
}

// runqueue is one CPU.
type runqueue struct {
	cpu         int32
	nr          int32 // runnable tasks, the running one included
	clockRead   int64 // ns, the newest time at which its clock was read
	curr        *Task // nil: the idle task
	online      bool
	needResched bool
	wakePending bool  // ttwu_pending: a wakee is on the wake list
	sliceEnd    int64 // ns at which the running task's request ends; 0: nobody watches (hrtick.go)
	idleBalance bool  // was idle at its last tick

	cfs  cfsRQ
	leaf []*cfsRQ // queues with load to decay, children before parents; the root last

	wakeHead, wakeTail *Task    // remote wakeups waiting for this CPU
	comingBack         []*cfsRQ // queues that this CPU should unthrottle
	lruHead, lruTail   *Task    // migratable tasks, most recently picked first

	// Idle history (mechanisms.md 6.1), nanoseconds and jiffies.
	idleStamp          int64
	avgIdle            int64
	wakeStamp          int64
	wakeAvgIdle        int64
	maxIdleBalanceCost int64

	nextBalance   int64 // jiffies
	activeBalance bool
	pushCPU       int32
	pushForLLC    bool // only a task that prefers pushCPU's cache

	capacity     int64 // 1024 = a whole full-speed CPU
	capacityOrig int64

	// Shortcuts into the domain tree (mechanisms.md 5.1).
	sd        *Domain // lowest domain, nil on a single CPU
	llc       *Domain // highest domain that shares the last-level cache
	llcSize   int32
	llcID     int32
	clusterID int32 // llcID where no cluster has a domain
	llcShared *LLCShared
	sbm       *balanceMap // nil: without one, or while domains are rebuilt
	numa      *Domain     // lowest NUMA domain

	arrivedAt   int64 // ns: when the running task got the CPU
	overloaded  bool  // what the cache's overload mask was told last
	scanCores   bool  // SIS_CORE: the next scan from here looks at whole cores
	pulledUntil int64 // ns: until then a sched-idle pull holds on to this CPU

	nohz              nohzCPU
	loadHistory       loadHistory // v4.14
	stats             CPUStats
	lastBlockedUpdate int64 // jiffies
	blockedAt         int64 // ns of the same moment
	idleExit          int64 // ns, exit latency of the idle state the CPU is in; 0: none
	utilEst           int64 // Σ utilEstimate of the queued tasks
}

// nohzCPU is a CPU's part of tickless idle balancing (mechanisms.md 9.9).
type nohzCPU struct {
	tickStopped bool
	hasBlocked  bool
	flags       uint8 // pending kick: kickBalance | kickStats | kickNext
}

// pushLRU puts t at the front of the migratable list.
func (rq *runqueue) pushLRU(t *Task) {
	t.lruPrev, t.lruNext = nil, rq.lruHead
	if rq.lruHead != nil {
		rq.lruHead.lruPrev = t
	} else {
		rq.lruTail = t
	}
	rq.lruHead = t
}

func (rq *runqueue) removeLRU(t *Task) {
	if t.lruPrev != nil {
		t.lruPrev.lruNext = t.lruNext
	} else {
		rq.lruHead = t.lruNext
	}
	if t.lruNext != nil {
		t.lruNext.lruPrev = t.lruPrev
	} else {
		rq.lruTail = t.lruPrev
	}
	t.lruPrev, t.lruNext = nil, nil
}

func (rq *runqueue) moveLRUFront(t *Task) {
	if rq.lruHead != t {
		rq.removeLRU(t)
		rq.pushLRU(t)
	}
}

// schedIdle reports whether the CPU runs nothing but hierarchically idle tasks
// [sched_idle_cpu] (mechanisms.md 3.5).
func (rq *runqueue) schedIdle() bool { return rq.nr > 0 && rq.nr == rq.cfs.hIdle }

// idleCPU reports whether the CPU is idle now [idle_cpu].
func (rq *runqueue) idleCPU() bool { return rq.curr == nil && rq.nr == 0 && !rq.wakePending }
