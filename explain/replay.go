package explain

import (
	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// replay follows one trace.
type replay struct {
	bundle   *Bundle
	opts     Options
	f        *sched.Follower
	features sched.FeatureSet
	names    *trace.Names
	tasks    taskTable
	cpus     []cpuState
	masks    map[uint64]machine.CPUMask

	turns    turns
	falls    falls
	firstCPU int
	probes   bool  // the recording has the probes sel and selr
	lastWoke *task // of a simulation: woken by the event before, and not settled
	lastFrom int   // by this CPU
	judged   *task // of a simulation: weighed if it may be moved
	idleOf   idleNumbers

	groups         groupTable
	freedApart     map[uint64]bool // affinities from which tasks are freed one by one: see learnAffinity
	usual          usualTimes
	kicks          kicks
	leastPlacement int64 // ns, the shortest time from sel to selr so far
	asked          int64 // placements begun
	open           int   // placements between their sel and selr
	result         *Capture
	answered       bool // what was asked for is known: the rest need not be followed
}

// cpuState is what the replay remembers of one CPU.
type cpuState struct {
	waking   *task // last sched_waking on the CPU that is not settled
	forked   *task // child of the last fork on the CPU
	leaving  *task // woken task for which another CPU has been chosen, until it is moved there
	starting *task // new task that has been placed but not been seen queued
	sent     *task // woken task that the CPU has placed with its newest event
	held     *task // sent, but not yet arrived
	supposed *task // new task that is supposed to have been queued on this CPU

	asking bool // between sel and selr
	ask    ask

	balance   bool  // it is an idle load balancer: it balances for others
	newidle   bool  // its newidle balancing has been followed
	newidleAt int64 // ns when that began
	loadSet   bool  // the root queue's load has its start value

	kicked int64 // ns of a softirq that may be an idle load balancer's; 0: none

	turn cpuTurn
	bal  cpuBalance
}

// step follows one event.
func (r *replay) step(e *trace.Event) {
	if !r.bundle.online(e.CPU) {
		r.result.Skipped++
		return
	}
	r.settleKicks(e)
	r.f.Advance(e.Time)
	cpu := int(e.CPU)
	c := &r.cpus[cpu]
	if r.bundle.Simulated {
		r.stepExactly(cpu, c, e)
		return
	}
	if r.turns.taken {
		r.takeTurn(cpu, c, e)
	}
	if c.waking != nil && !settlesWaking(e.Kind) {
		r.f.Pending(&c.waking.Task, cpu)
		r.noteUnplaced(c.waking)
		c.waking = nil
	}
	r.noteChange(cpu, e.Kind)
	if c.leaving != nil && e.Kind != trace.KindMigrate {
		r.f.Placed(&c.leaving.Task, cpu, c.ask.chosen) // its move was not recorded
		c.leaving = nil
	}
	if e.Kind != trace.KindMigrate {
		c.sent = nil
	}
	switch e.Kind {
	case trace.KindSwitch:
		r.onSwitch(cpu, c, e.Switch())
	case trace.KindWaking:
		r.onWaking(cpu, c, e)
	case trace.KindSelect:
		r.onSelect(cpu, c, e)
	case trace.KindSelectReturn:
		r.onSelectReturn(cpu, c, e)
	case trace.KindWakeup:
		r.onWakeup(cpu, c, e)
	case trace.KindWakeupNew:
		r.onWakeupNew(e.Wake())
	case trace.KindMigrate:
		r.onMigrate(cpu, c, e.Migration())
	case trace.KindFork:
		r.onFork(cpu, c, e)
	case trace.KindExit:
		r.onExit(e.Exit(), cpu)
	case trace.KindSoftirqEntry:
		r.onSoftirq(cpu, c, e)
	case trace.KindBalance:
		r.onBalance(cpu, c, e.Balance())
	case trace.KindBalanceReturn:
		if c.newidle {
			r.f.NewidleCost(cpu, e.Time-c.newidleAt)
		}
		r.endPass(c, e)
	case trace.KindCanMigrate:
		r.onCanMigrate(e.CanMigrate())
		r.beginVerdict(c, e.CanMigrate())
	case trace.KindCanMigrateReturn:
		r.endVerdict(c, e)
	case trace.KindAttach:
		r.onAttach(e.Attach(), cpu)
	case trace.KindThrottle, trace.KindUnthrottle:
		r.onThrottle(e.Queue())
	}
	if r.turns.taken {
		r.endTurnEvent(cpu, c, e)
	}
}

// settlesWaking: these events on the waker's CPU tell what became of a waking.
func settlesWaking(k trace.Kind) bool {
	return k == trace.KindSelect || k == trace.KindSelectReturn || k == trace.KindWakeup || k == trace.KindMigrate
}

// begin starts what runs, and queues what waits, when the trace begins.
func (r *replay) begin(now int64, look *looked) {
	r.f.Advance(now)
	for cpu := range r.cpus {
		t, known := look.running[int32(cpu)]
		if !known || t.PID <= 0 || !r.bundle.Machine.CPUs[cpu].Online {
			continue
		}
		k := r.lookup(t, cpu)
		r.f.Switch(cpu, nil, &k.Task, sched.LeavesPreempted)
		k.fresh = false
	}
	for _, w := range look.waiting {
		k := r.lookup(w.task, int(w.cpu))
		r.f.Rested(&k.Task)
		r.f.Woken(&k.Task, r.validCPU(int(w.cpu)))
		k.fresh = false
	}
}

func (r *replay) onSwitch(cpu int, c *cpuState, s trace.Switch) {
	c.newidle, c.balance = false, false
	prev, next := r.lookup(s.Prev, cpu), r.lookup(s.Next, cpu)
	how := leavingOf(s.PrevState)
	var prevTask, nextTask *sched.Task
	if prev != nil {
		prevTask, prev.fresh = &prev.Task, false
		if how == sched.LeavesRunnable && prev.beingWoken(c) {
			how = sched.LeavesBlocked
		}
	}
	if next != nil {
		nextTask, next.fresh = &next.Task, false
	}
	switch next {
	case nil:
		r.takeBackStart(c)
	case c.supposed:
		c.supposed = nil
	}
	r.f.At(c.clock(r.f.Now()), func() { r.f.Switch(cpu, prevTask, nextTask, how) })
	if prev != nil && s.PrevState.Gone() {
		r.f.Forget(prevTask)
		if r.tasks.byPID[s.Prev.PID] == prev {
			delete(r.tasks.byPID, s.Prev.PID)
		}
	}
}

// beingWoken reports whether another CPU than c has begun to wake the task and
// not yet woken it. That one has set the task's state, so that a switch shows it
// as runnable; but it has found the task off its queue, or it would have left
// it there, at once awake [try_to_wake_up, M].
func (k *task) beingWoken(c *cpuState) bool { return k.wakingOn != nil && k.wakingOn != c }

func leavingOf(s trace.State) sched.Leaving {
	switch {
	case !s.Known() || s&trace.StatePreempted != 0:
		return sched.LeavesPreempted
	case s.Runnable():
		return sched.LeavesRunnable
	}
	return sched.LeavesBlocked
}

func (r *replay) onWaking(cpu int, c *cpuState, e *trace.Event) {
	w := e.Wake()
	k := r.sleeper(w)
	if k == nil {
		return
	}
	c.waking, k.wakingOn = k, c
	if !r.probes && !k.Queued() && !k.pinned {
		r.beginAsk(c, k, e.Time, sched.Question{
			Kind: sched.KindWake, Here: cpu, Prev: k.CPU(), Interrupt: e.InInterrupt(),
		})
	}
}

// noteUnplaced learns that a sleeping task was woken without being placed.
func (r *replay) noteUnplaced(k *task) {
	if r.probes && !k.Queued() {
		k.pinned = true
	}
}

// settleWaking forgets that a waking of the task is open: it has been queued,
// perhaps by another CPU than the waker's.
func (k *task) settleWaking() {
	if c := k.wakingOn; c != nil && c.waking == k {
		c.waking = nil
	}
	k.wakingOn = nil
}

// pinnedToOne reports whether the task is known, or must be taken, to be bound
// to one CPU: it has never been placed.
func (k *task) pinnedToOne() bool { return k.mask&(k.mask-1) == 0 }

func (r *replay) onWakeup(cpu int, c *cpuState, e *trace.Event) {
	w := e.Wake()
	k := r.sleeper(w)
	if k == nil {
		return
	}
	unplaced := r.probes && k.wakingOn != nil && k.wakingOn == c && int(w.TargetCPU) == k.CPU() && !k.pinnedToOne()
	k.settleWaking()
	k.arrived = max(k.arrived, c.clock(r.f.Now()))
	if !r.probes {
		r.endAskOf(k, int(w.TargetCPU))
	}
	r.f.At(c.clock(r.f.Now()), func() {
		if unplaced {
			r.f.WokenInPlace(&k.Task)
		} else {
			r.f.Woken(&k.Task, r.validCPU(int(w.TargetCPU)))
		}
		if e.Known && e.Flags&trace.ContextNeedResched != 0 && cpu == int(w.TargetCPU) {
			r.f.SeenResched(cpu)
		}
	})
	k.fresh = false
}

func (r *replay) onWakeupNew(w trace.Wake) {
	k := r.lookup(w.Task, int(w.TargetCPU))
	if k == nil {
		return
	}
	if c := k.startingOn; c != nil && c.starting == k {
		c.starting = nil
	}
	if c := &r.cpus[k.CPU()]; c.supposed == k {
		c.supposed = nil
	}
	if !r.probes {
		r.endAskOf(k, r.validCPU(int(w.TargetCPU)))
	}
	r.f.Started(&k.Task, r.validCPU(int(w.TargetCPU)))
	k.fresh = false
}

func (r *replay) onMigrate(cpu int, c *cpuState, m trace.Migration) {
	k := r.lookup(m.Task, int(m.From))
	if k == nil {
		return
	}
	if c.waking == k {
		return // being placed: the wakeup follows
	}
	if c.leaving == k {
		c.leaving = nil
		r.f.Placed(&k.Task, cpu, r.validCPU(int(m.To)))
		return
	}
	c.notePulled(k, m)
	k.arrived = c.clock(r.f.Now())
	left := c.leftAt(m, r.f.Now())
	r.f.At(k.arrived, func() { r.f.MovedInPlace(&k.Task, r.validCPU(int(m.To)), left) })
	k.fresh = false
}

func (r *replay) onFork(cpu int, c *cpuState, e *trace.Event) {
	fork := e.Fork()
	parent := r.lookup(fork.Parent, cpu)
	if fork.Child.PID <= 0 {
		return
	}
	if old := r.tasks.byPID[fork.Child.PID]; old != nil {
		r.f.Forget(&old.Task)
	}
	child := &task{comm: fork.Child.Comm}
	child.ID = fork.Child.PID
	var parentTask *sched.Task
	if parent != nil {
		parentTask, child.started = &parent.Task, parent.started
		child.mask, child.doubtful = parent.mask, parent.doubtful
	}
	r.f.Forked(parentTask, &child.Task, cpu)
	r.tasks.byPID[fork.Child.PID] = child
	c.forked = child
	if !r.probes && !c.asking { // a wakee of this CPU may still be on its way
		r.beginAsk(c, child, e.Time, sched.Question{Kind: sched.KindFork, Here: cpu, Prev: cpu})
	}
}

func (r *replay) onExit(t trace.Task, cpu int) {
	if k := r.lookup(t, cpu); k != nil {
		k.dead = true
		r.f.Exiting(&k.Task)
	}
}

// onCanMigrate: the balancer looks only at queued tasks.
func (r *replay) onCanMigrate(m trace.CanMigrate) {
	if k := r.tasks.byPID[m.PID]; k != nil && k.CPU() == int(m.From) {
		r.f.SeenQueued(&k.Task)
	}
}

const schedSoftirq = 7

func (r *replay) onSoftirq(cpu int, c *cpuState, e *trace.Event) {
	if vec, ok := e.Value("vec"); ok && vec == schedSoftirq {
		c.balance = false
		r.f.Softirq(cpu)
		r.noteKick(cpu, e.Time)
	}
}

func (r *replay) onBalance(cpu int, c *cpuState, b trace.Balance) {
	dst := int(b.DestCPU)
	if dst < 0 || dst >= len(r.cpus) {
		return
	}
	idle := r.idleOf.typeOf(b.Idle)
	switch {
	case idle == sched.NewlyIdle:
		if !c.newidle {
			c.newidle, c.newidleAt = true, r.f.Now()
			r.f.At(c.clock(r.f.Now()), func() {
				r.f.Blocked(dst)
				r.f.Newidle(dst)
			})
		}
	case dst != cpu:
		c.balance = true
		r.f.BalancedByOther(cpu, dst)
	case dst == cpu && !c.balance:
		r.f.StillTicking(cpu)
	}
	r.f.Pass(dst, int(b.Span), idle)
	r.beginPass(c, r.f.Now(), b, idle)
}

// idleNumbers is a kernel's numbering of idle types, which changed in v6.7.
type idleNumbers [3]sched.IdleType

var (
	idleBefore67 = idleNumbers{sched.Idle, sched.NotIdle, sched.NewlyIdle}
	idleSince67  = idleNumbers{sched.NotIdle, sched.Idle, sched.NewlyIdle}
)

func idleNumbersOf(kernel string) idleNumbers {
	major, minor, _ := parseVersion(kernel)
	if major > 6 || major == 6 && minor >= 7 {
		return idleSince67
	}
	return idleBefore67
}

func (n idleNumbers) typeOf(number int64) sched.IdleType {
	if number < 0 || number >= int64(len(n)) {
		return sched.NotIdle
	}
	return n[number]
}
