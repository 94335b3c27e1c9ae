package sched

// Following a simulation. Its recording tells, besides what a kernel's does,
// every tick, every decay of blocked loads and every search for work, from the
// very first task on. So nothing has to be estimated, and the followed scheduler
// is equal to the simulated one in everything that placements depend on.

// NewExactFollower builds the scheduler of a simulation as it was at its start,
// to be told everything from then on.
func NewExactFollower(cfg Config) (*Follower, error) {
	f, err := NewFollower(cfg)
	if err != nil {
		return nil, err
	}
	f.manual, f.exact = true, true
	f.s, err = New(cfg, followDriver{})
	return f, err
}

// TickExactly follows a scheduler tick of the simulation.
func (f *Follower) TickExactly(cpu int) { f.s.Tick(f.s.now, cpu) }

// Decay follows one decay of the load that sleeping tasks left on a CPU.
func (f *Follower) Decay(cpu int) { f.s.decayBlocked(&f.s.rqs[cpu]) }

// LooksForWork follows a CPU that has nothing to run any more and starts newidle
// balancing.
func (f *Follower) LooksForWork(cpu int) {
	rq := &f.s.rqs[cpu]
	f.Blocked(cpu)
	if !f.s.profile.Balance.newidle.seesPending || !rq.wakePending {
		rq.idleStamp = f.s.now
	}
}

// FoundWork follows the success of that search.
func (f *Follower) FoundWork(cpu int) { f.s.rqs[cpu].idleStamp = 0 }

// IdleAgain follows an idle CPU that was asked to reschedule and stays idle.
func (f *Follower) IdleAgain(cpu int) { f.enterIdleExactly(&f.s.rqs[cpu]) }

// enterIdleExactly is what is left to do when the search for work was followed.
func (f *Follower) enterIdleExactly(rq *runqueue) {
	s := f.s
	s.refreshIdle(rq)
	if s.variants.core {
		s.recordIdleCPU(rq)
	}
	s.updateIdleCore(rq)
}

// SetIdleCost follows a change of the bound of a CPU's average idle time.
func (f *Follower) SetIdleCost(cpu int, ns int64) { f.s.rqs[cpu].maxIdleBalanceCost = ns }

// SetOverloaded follows a CPU into or out of the mask of overloaded CPUs.
func (f *Follower) SetOverloaded(cpu int, on bool) {
	rq := &f.s.rqs[cpu]
	if rq.overloaded == on || rq.llcShared == nil {
		return
	}
	rq.overloaded = on
	m := &rq.llcShared.Overload
	if on {
		m.CPUs.Set(cpu)
		m.Count++
	} else {
		m.CPUs.Clear(cpu)
		m.Count--
	}
}

// Blocks follows the running task of a CPU, which sleeps from now on; delayed says
// that it stays queued for the time being.
func (f *Follower) Blocks(t *Task, delayed bool) {
	rq := &f.s.rqs[t.cpu]
	switch {
	case !t.queued || t.delayed:
	case delayed:
		f.s.updateCurr(t.se.cfs)
		f.s.delayTask(rq, t)
	default:
		f.dequeue(rq, t, dequeueSleep)
	}
}

// DelayEnds follows the end of that stay.
func (f *Follower) DelayEnds(t *Task) {
	if t.delayed {
		f.s.endDelay(&t.se)
	}
}

// EmptyDelayEnds follows the same of a group without tasks on a CPU.
func (f *Follower) EmptyDelayEnds(g *TaskGroup, cpu int) {
	if se := g.entities[cpu]; se != nil && se.emptyDelayed {
		f.s.endDelay(se)
	}
}

// PassExactly follows the statistics of a balance pass. What passes of v5.10
// decay on their way is told decay by decay.
func (f *Follower) PassExactly(cpu, span int, idle IdleType) {
	if !f.s.profile.Balance.newidle.decaysNohz {
		f.Pass(cpu, span, idle)
	}
}

// Weighed follows a balance pass that has weighed a task by its load: that
// fixes the factor of its queue for the rest of the jiffy.
func (f *Follower) Weighed(t *Task) { f.s.taskHLoad(t) }

// Leave follows the first half of a move: t is taken off its CPU and belongs to
// cpu from now on, where it is not queued yet. A task that sleeps just changes
// its home.
func (f *Follower) Leave(t *Task, cpu int) {
	if !t.queued || int(t.cpu) == cpu {
		f.Move(t, cpu)
		return
	}
	src := &f.s.rqs[t.cpu]
	if src.curr == t {
		f.changeCurrent(src, nil)
	}
	t.moving = true
	f.dequeue(src, t, 0)
	f.s.setTaskCPU(t, cpu)
	t.moving = false
}

// Arrive follows the second half. Between the halves of one task's move there
// may be those of others: a balance pass first takes off all that it wants.
func (f *Follower) Arrive(t *Task) {
	if !t.queued {
		f.enqueue(&f.s.rqs[t.cpu], t, 0)
	}
}

// RootLoad returns the load average of a CPU's root queue, blocked tasks
// included.
func (f *Follower) RootLoad(cpu int) int64 { return f.s.rqs[cpu].cfs.avg.loadAvg }

// Join puts a task that has never run into a control group.
func (f *Follower) Join(t *Task, g *TaskGroup) {
	t.group = g
	f.s.attachToQueueOf(t, int(t.cpu))
}
