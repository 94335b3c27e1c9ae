package sched

import "github.com/schedlab/schedlab/machine"

// Observer is told what a scheduler does while it does it, in the order in which
// it happens: what a kernel's tracepoints and probes would show. It must not
// call anything that changes the scheduler. Where a method names a CPU as here,
// that is the one that executes the scheduler's code.
type Observer interface {
	// PlacementBegins: a CPU is about to be chosen for p.Task. The request is
	// valid during the call.
	PlacementBegins(p *Placement)
	// PlacementEnds: the choice for the same request was made.
	PlacementEnds(p *Placement, cpu int)
	// Moves: t, which is on no queue, is about to belong to CPU to instead of
	// t.CPU().
	Moves(t *Task, to int)
	// Arrives: t, which was waiting on another CPU, now waits on this one.
	Arrives(t *Task)
	// Queued: t has become runnable on its CPU; first says that it is new.
	Queued(t *Task, first bool)
	// Scheduled: cpu has chosen next to run after prev, nil being idle; prev may
	// be next. blocks says that prev goes to sleep.
	Scheduled(cpu int, prev, next *Task, blocks bool)
	// Interrupted: the migration thread of cpu takes prev off it; the next
	// Scheduled of the CPU ends that thread's turn.
	Interrupted(cpu int, prev *Task)
	// LooksForWork: cpu has nothing to run, the task that ran there sleeps.
	LooksForWork(cpu int)
	// Decays: the loads that sleeping tasks left on cpu are brought up to date.
	Decays(cpu int)
	// PassBegins and PassEnds enclose a balance pass; passes do not nest.
	PassBegins(p *PassView)
	PassEnds(here, pulled int)
	// Judged: a pass has asked whether t may be moved, and got an answer.
	Judged(v *JudgementView)
	// OverloadChanged: cpu enters or leaves its cache's mask of overloaded CPUs
	// (the patches of 2022).
	OverloadChanged(cpu int, overloaded bool)
	// Throttled and Unthrottled: the group's queue on cpu is about to be throttled,
	// or set free.
	Throttled(g *TaskGroup, cpu int)
	Unthrottled(g *TaskGroup, cpu int)
	// Blocks: the running task t sleeps, and stays queued for now if delayed. It is
	// told before Scheduled where that matters: if t is delayed, or if the stay of
	// another ends in between. DelayEnds: t, or the group g's entity without tasks,
	// does not stay on cpu any longer; the other is nil.
	Blocks(t *Task, delayed bool)
	DelayEnds(cpu int, t *Task, g *TaskGroup)
	// WakesInPlace: t, whose dequeue was delayed, is being woken by a CPU without
	// being placed. Queued follows.
	WakesInPlace(t *Task, here int)
	// IdleCostChanged: the bound of cpu's average idle time is now twice ns.
	IdleCostChanged(cpu int, ns int64)
}

// PassView is a balance pass about to begin.
type PassView struct {
	Here, Dst int
	Level     int // of the domain: 0 is the lowest that the CPU has
	Span      int // CPUs in the domain
	Failed    int // passes in a row that moved nothing
	Interval  int64
	Idle      IdleType
}

// JudgementView is one answer of a balance pass about a task.
type JudgementView struct {
	Here, From, To int
	Task           *Task
	Imbalance      int64 // still to move; 0 when just any task is wanted
	Measure        int   // of it: 0 load, 1 utilization, 2 tasks
	Moves          bool
}

// Observe has o told everything from now on; nil ends that. It costs nothing
// while there is no observer.
func (s *Scheduler) Observe(o Observer) { s.observer = o }

// PlacementState is the hidden state that a placement of p.Task depends on, as
// it is now.
type PlacementState struct {
	Hidden
	Jiffies   int64
	Policy    Policy
	NAllowed  int
	Allowed   machine.CPUMask // shared; do not modify it
	QueueLoad int64           // load average of the queue that the task is or was on
	PrevLoad  int64           // root load average of the CPU that it was on
	PrevIdle  int64           // average idle time of that CPU, ns
}

// PlacementState reads what a probe at the entry of the kernel's placement
// function would read.
func (s *Scheduler) PlacementState(p *Placement) PlacementState {
	t, prev := p.Task, &s.rqs[p.Prev]
	return PlacementState{
		Hidden: Hidden{
			Flips: int64(t.flips), Decay: t.flipDecay, Recent: int64(t.recentUsed),
			Load: t.se.avg.loadAvg, Util: t.se.avg.utilAvg,
		},
		Jiffies: s.jiffies, Policy: t.policy, NAllowed: int(t.nAllowed), Allowed: t.allowed,
		QueueLoad: t.se.cfs.avg.loadAvg, PrevLoad: prev.cfs.avg.loadAvg, PrevIdle: prev.avgIdle,
	}
}

// Nice returns the task's nice value.
func (t *Task) Nice() int8 { return t.nice }

func (s *Scheduler) observePass(env *balanceEnv) {
	if s.observer == nil {
		return
	}
	v := PassView{
		Here: s.hereOf(env), Dst: int(env.dst.cpu), Span: env.d.SpanWeight,
		Failed: int(env.d.nrBalanceFailed), Interval: env.d.balanceInterval, Idle: env.idle,
	}
	for d := env.owner.sd; d != nil && d != env.d; d = d.Parent {
		v.Level++
	}
	s.observer.PassBegins(&v)
}

func (s *Scheduler) observePassEnd(env *balanceEnv, moved int) {
	if s.observer != nil {
		s.observer.PassEnds(s.hereOf(env), moved)
	}
}

func (s *Scheduler) observeJudgement(env *balanceEnv, t *Task, v migrateVerdict) {
	if s.observer == nil {
		return
	}
	j := JudgementView{
		Here: s.hereOf(env), From: int(env.src.cpu), To: int(env.dst.cpu), Task: t, Moves: v.moves(),
	}
	if !env.has(envActive) && env.idle != SchedIdle {
		j.Imbalance, j.Measure = env.imbalance, int(env.move)
	}
	s.observer.Judged(&j)
}

// hereOf is the CPU that executes a pass.
func (s *Scheduler) hereOf(env *balanceEnv) int {
	if env.here != nil {
		return int(env.here.cpu)
	}
	return int(env.owner.cpu)
}

func (s *Scheduler) setMaxIdleBalanceCost(rq *runqueue, ns int64) {
	if rq.maxIdleBalanceCost == ns {
		return
	}
	rq.maxIdleBalanceCost = ns
	if s.observer != nil {
		s.observer.IdleCostChanged(int(rq.cpu), ns)
	}
}
