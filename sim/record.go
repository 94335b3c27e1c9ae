package sim

import (
	"fmt"
	"strings"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// recorder writes what happens in a simulation as the trace of a real kernel
// with placement and balance probes would show it: same events, same fields, in
// the order in which they happen. Besides, it writes what such a trace does not
// tell (ticks, the moments at which loads decay), so that a reader can rebuild
// the scheduler's state to the last digit.
type recorder struct {
	m     *Sim
	out   trace.Writer
	names *trace.Names
	err   error // the first error of out; nothing is written after it
	e     trace.Event

	comms    []trace.Name // by task
	firstPID int32        // of task 0
	context  trace.ContextFlag
	stopper  []bool // by CPU: its migration thread runs
	idle     [4]int64
	groups   map[*sched.TaskGroup]int64
}

// The flags of the placement probe (mechanisms.md 6.1).
const (
	selectExec = 0x2
	selectFork = 0x4
	selectWake = 0x8
	selectSync = 0x10
)

// schedSoftirq is the scheduler's softirq vector.
const schedSoftirq = 7

// niceZero is the kernel's priority number of nice 0.
const niceZero = 120

// Record has everything that happens written to out, whose names are names.
// Call it before [Sim.Run], which returns out's first error; closing out is
// left to the caller. A run that is not recorded pays nothing for it.
func (m *Sim) Record(out trace.Writer, names *trace.Names) {
	cpus := len(m.cpus)
	r := &recorder{
		m: m, out: out, names: names, stopper: make([]bool, cpus), idle: idleNumbers(m.profile),
		groups: map[*sched.TaskGroup]int64{m.sched.Root(): 1},
	}
	r.firstPID = int32((stopperPID(cpus) + 999) / 1000 * 1000)
	for _, name := range m.comms {
		r.comms = append(r.comms, names.Intern(name))
	}
	m.rec = r
	m.sched.Observe(r)
}

// idleNumbers is how a kernel numbers idle types in its balance passes: idle is
// 0 and busy 1 before v6.7, the other way round since.
func idleNumbers(profile string) [4]int64 {
	var major, minor int
	if _, err := fmt.Sscanf(profile, "v%d.%d", &major, &minor); err == nil && (major > 6 || major == 6 && minor >= 7) {
		return [4]int64{sched.NotIdle: 0, sched.Idle: 1, sched.NewlyIdle: 2, sched.SchedIdle: 3}
	}
	return [4]int64{sched.NotIdle: 1, sched.Idle: 0, sched.NewlyIdle: 2, sched.SchedIdle: 3}
}

// stopperPID numbers the migration threads before all tasks.
func stopperPID(cpu int) int { return 2 + cpu }

// enter says that what comes happens in an interrupt; leave restores.
func (m *Sim) enter(f trace.ContextFlag) (leave trace.ContextFlag) {
	if m.rec == nil {
		return 0
	}
	leave = m.rec.context
	m.rec.context |= f
	return leave
}

func (m *Sim) leave(f trace.ContextFlag) {
	if m.rec != nil {
		m.rec.context = f
	}
}

// recordError returns what kept the recording from being written.
func (m *Sim) recordError() error {
	if m.rec == nil || m.rec.err == nil {
		return nil
	}
	return fmt.Errorf("writing the trace: %w", m.rec.err)
}

// begin starts an event on a CPU.
func (r *recorder) begin(kind trace.Kind, cpu int) *trace.Event {
	r.e.Init(kind, r.m.now, int32(cpu))
	switch curr := r.m.sched.Current(cpu); {
	case r.stopper[cpu]:
		s := r.stopperOf(cpu)
		r.e.SetCurrent(s.Comm, s.PID)
	case curr != nil:
		r.e.SetCurrent(r.comms[curr.Ref], r.pid(curr))
	default:
		r.e.SetCurrent(trace.NoName, 0)
	}
	r.e.Context = trace.Context{Known: true, Flags: r.context | trace.ContextIRQsOff}
	return &r.e
}

func (r *recorder) write(e *trace.Event) {
	if r.err == nil {
		r.err = r.out.Write(e)
	}
}

func (r *recorder) pid(t *sched.Task) int32 { return r.firstPID + t.Ref }

func (r *recorder) taskOf(t *sched.Task) trace.Task {
	return trace.Task{Comm: r.comms[t.Ref], PID: r.pid(t), Prio: niceZero + int32(t.Nice())}
}

func (r *recorder) stopperOf(cpu int) trace.Task {
	return trace.Task{Comm: r.names.Intern(fmt.Sprintf("migration/%d", cpu)), PID: int32(stopperPID(cpu)), Prio: 0}
}

func (r *recorder) runnerOf(cpu int, t *sched.Task) trace.Task {
	if t == nil {
		return trace.Task{Comm: r.names.Intern(fmt.Sprintf("swapper/%d", cpu)), PID: 0, Prio: niceZero}
	}
	return r.taskOf(t)
}

// acting is the CPU whose event is being handled.
func (r *recorder) acting() int { return int(r.m.acting.id) }

// PlacementBegins implements [sched.Observer]: sched_waking and sel.
func (r *recorder) PlacementBegins(p *sched.Placement) {
	if p.Kind == sched.KindWake {
		e := r.begin(trace.KindWaking, p.Here)
		e.SetWake(trace.Wake{Task: r.taskOf(p.Task), TargetCPU: int32(p.Prev)})
		r.write(e)
	}
	st := r.m.sched.PlacementState(p)
	if st.NAllowed <= 1 {
		return // the kernel does not place a pinned task
	}
	e := r.begin(trace.KindSelect, p.Here)
	e.SetSelect(trace.Select{
		PID: r.pid(p.Task), PrevCPU: int32(p.Prev), Flags: selectFlags(p), WakeFlags: trace.Unknown,
		Flips: st.Flips, Decay: st.Decay, Jiffies: st.Jiffies, RecentCPU: st.Recent, Load: st.Load, Util: st.Util,
		Policy: policyNumber(st.Policy), NAllowed: int64(st.NAllowed), Allowed: lowWord(st.Allowed),
		QueueLoad: st.QueueLoad, PrevLoad: st.PrevLoad, PrevIdle: st.PrevIdle,
	})
	r.write(e)
}

func selectFlags(p *sched.Placement) uint32 {
	switch p.Kind {
	case sched.KindFork:
		return selectFork
	case sched.KindExec:
		return selectExec
	}
	if p.Sync {
		return selectWake | selectSync
	}
	return selectWake
}

// lowWord is the first 64 CPUs of a mask.
func lowWord(mask []uint64) uint64 {
	if len(mask) == 0 {
		return 0
	}
	return mask[0]
}

// policyNumber is the kernel's number of a policy.
func policyNumber(p sched.Policy) int64 {
	return [...]int64{sched.PolicyNormal: 0, sched.PolicyBatch: 3, sched.PolicyIdle: 5}[p]
}

// PlacementEnds implements [sched.Observer]: selr.
func (r *recorder) PlacementEnds(p *sched.Placement, cpu int) {
	if r.m.sched.PlacementState(p).NAllowed <= 1 {
		return
	}
	e := r.begin(trace.KindSelectReturn, p.Here)
	e.SetReturn(int64(cpu))
	r.write(e)
}

// Moves implements [sched.Observer]: sched_migrate_task.
func (r *recorder) Moves(t *sched.Task, to int) {
	if t.CPU() == to {
		return
	}
	e := r.begin(trace.KindMigrate, r.acting())
	e.SetMigration(trace.Migration{Task: r.taskOf(t), From: int32(t.CPU()), To: int32(to)})
	r.write(e)
}

// Arrives implements [sched.Observer].
func (r *recorder) Arrives(t *sched.Task) {
	e := r.begin(trace.KindArrive, r.acting())
	e.SetArrival(trace.Arrival{PID: r.pid(t), CPU: int32(t.CPU())})
	r.write(e)
}

// Queued implements [sched.Observer]: sched_wakeup and sched_wakeup_new.
func (r *recorder) Queued(t *sched.Task, first bool) {
	kind := trace.KindWakeup
	if first {
		kind = trace.KindWakeupNew
	}
	e := r.begin(kind, r.acting())
	e.SetWake(trace.Wake{Task: r.taskOf(t), TargetCPU: int32(t.CPU())})
	r.write(e)
}

// Scheduled implements [sched.Observer]: sched_switch.
func (r *recorder) Scheduled(cpu int, prev, next *sched.Task, blocks bool) {
	stopped := r.stopper[cpu]
	r.stopper[cpu] = false
	if prev == next && !stopped {
		if next == nil {
			r.place(trace.KindIdleAgain, cpu, cpu)
		}
		return
	}
	s := trace.Switch{Prev: r.runnerOf(cpu, prev), Next: r.runnerOf(cpu, next)}
	switch {
	case stopped:
		s.Prev, s.PrevState = r.stopperOf(cpu), trace.StateSleeping
	case blocks && r.m.tasks[prev.Ref].exited:
		s.PrevState = trace.StateDead
	case blocks:
		s.PrevState = trace.StateSleeping
	}
	e := r.begin(trace.KindSwitch, cpu)
	e.SetSwitch(s)
	e.SetCurrent(s.Prev.Comm, s.Prev.PID)
	r.write(e)
}

// Interrupted implements [sched.Observer]: the switch to the migration thread.
func (r *recorder) Interrupted(cpu int, prev *sched.Task) {
	e := r.begin(trace.KindSwitch, cpu)
	s := trace.Switch{Prev: r.runnerOf(cpu, prev), Next: r.stopperOf(cpu)}
	if prev != nil {
		s.PrevState = trace.StatePreempted
	}
	e.SetSwitch(s)
	r.write(e)
	r.stopper[cpu] = true
}

// LooksForWork implements [sched.Observer].
func (r *recorder) LooksForWork(cpu int) { r.place(trace.KindNewidle, cpu, cpu) }

// place records an event that only names a CPU.
func (r *recorder) place(kind trace.Kind, here, cpu int) {
	e := r.begin(kind, here)
	e.SetPlace(int32(cpu))
	r.write(e)
}

// Decays implements [sched.Observer].
func (r *recorder) Decays(cpu int) {
	r.place(trace.KindDecay, r.acting(), cpu)
}

// PassBegins implements [sched.Observer]: lb.
func (r *recorder) PassBegins(p *sched.PassView) {
	e := r.begin(trace.KindBalance, p.Here)
	e.SetBalance(trace.Balance{
		DestCPU: int32(p.Dst), Level: int64(p.Level), Span: int64(p.Span), Failed: int64(p.Failed),
		Interval: p.Interval, Idle: r.idle[p.Idle],
	})
	r.write(e)
}

// PassEnds implements [sched.Observer]: lbr.
func (r *recorder) PassEnds(here, pulled int) {
	e := r.begin(trace.KindBalanceReturn, here)
	e.SetReturn(int64(pulled))
	r.write(e)
}

// Judged implements [sched.Observer]: cm and cmr.
func (r *recorder) Judged(v *sched.JudgementView) {
	e := r.begin(trace.KindCanMigrate, v.Here)
	e.SetCanMigrate(trace.CanMigrate{
		PID: r.pid(v.Task), From: int32(v.From), To: int32(v.To), Imbalance: v.Imbalance, Type: int64(v.Measure),
		Load: v.Task.LoadAvg(), Util: v.Task.UtilAvg(),
	})
	r.write(e)
	e = r.begin(trace.KindCanMigrateReturn, v.Here)
	moves := int64(0)
	if v.Moves {
		moves = 1
	}
	e.SetReturn(moves)
	r.write(e)
}

// Blocks implements [sched.Observer].
func (r *recorder) Blocks(t *sched.Task, delayed bool) {
	stage := trace.DelayNone
	if delayed {
		stage = trace.DelayBegins
	}
	r.delay(trace.Delay{PID: r.pid(t), CPU: int32(t.CPU()), Stage: stage})
}

// DelayEnds implements [sched.Observer].
func (r *recorder) DelayEnds(cpu int, t *sched.Task, g *sched.TaskGroup) {
	d := trace.Delay{CPU: int32(cpu), Stage: trace.DelayEnds}
	if t != nil {
		d.PID = r.pid(t)
	} else {
		d.Path = r.names.Intern(g.Name())
	}
	r.delay(d)
}

func (r *recorder) delay(d trace.Delay) {
	e := r.begin(trace.KindDelay, r.acting())
	e.SetDelay(d)
	r.write(e)
}

// WakesInPlace implements [sched.Observer]: sched_waking.
func (r *recorder) WakesInPlace(t *sched.Task, here int) {
	e := r.begin(trace.KindWaking, here)
	e.SetWake(trace.Wake{Task: r.taskOf(t), TargetCPU: int32(t.CPU())})
	r.write(e)
}

// OverloadChanged implements [sched.Observer].
func (r *recorder) OverloadChanged(cpu int, overloaded bool) {
	e := r.begin(trace.KindOverload, r.acting())
	e.SetOverload(trace.Overload{CPU: int32(cpu), On: overloaded})
	r.write(e)
}

// IdleCostChanged implements [sched.Observer].
func (r *recorder) IdleCostChanged(cpu int, ns int64) {
	e := r.begin(trace.KindIdleCost, r.acting())
	e.SetIdleCost(trace.IdleCost{CPU: int32(cpu), Cost: ns})
	r.write(e)
}

// tick records the timer interrupt of a CPU.
func (r *recorder) tick(cpu int) {
	e := r.begin(trace.KindTick, cpu)
	e.SetTick(int32(cpu))
	r.write(e)
}

// idleState records that an idle CPU has chosen another idle state.
func (r *recorder) idleState(cpu int, depth int64) {
	e := r.begin(trace.KindIdleState, cpu)
	e.SetIdleState(trace.IdleState{CPU: int32(cpu), Depth: depth})
	r.write(e)
}

// softirq records that a CPU balances.
func (r *recorder) softirq(cpu int) {
	e := r.begin(trace.KindSoftirqEntry, cpu)
	e.SetSoftirq(schedSoftirq)
	r.write(e)
}

// born records a task that is about to start: forked by parent, or nil for one
// that is there from the beginning.
func (r *recorder) born(cpu int, parent, child *sched.Task) {
	group := r.m.sched.Root()
	if parent != nil {
		group = parent.Group()
		e := r.begin(trace.KindFork, cpu)
		e.SetFork(trace.Fork{Parent: r.taskOf(parent), Child: r.taskOf(child)})
		r.write(e)
	}
	if policy := policyNumber(child.Policy()); policy != 0 || (parent != nil && parent.Policy() != child.Policy()) {
		e := r.begin(trace.KindPolicy, cpu)
		e.SetPolicy(trace.Policy{PID: r.pid(child), Number: policy})
		r.write(e)
	}
	if child.Group() != group {
		path := child.Group().Name()
		e := r.begin(trace.KindAttach, cpu)
		e.SetAttach(trace.Attach{
			Task: r.taskOf(child), Path: r.names.Intern(path), ID: r.groupID(child.Group()),
			Level: int64(strings.Count(strings.TrimSuffix(path, "/"), "/")),
		})
		r.write(e)
	}
}

// Throttled implements [sched.Observer].
func (r *recorder) Throttled(g *sched.TaskGroup, cpu int) { r.queue(trace.KindThrottle, g, cpu) }

// Unthrottled implements [sched.Observer].
func (r *recorder) Unthrottled(g *sched.TaskGroup, cpu int) { r.queue(trace.KindUnthrottle, g, cpu) }

// queue records an event of a group's queue. Its address is made up: the
// group's number and the CPU.
func (r *recorder) queue(kind trace.Kind, g *sched.TaskGroup, cpu int) {
	e := r.begin(kind, r.acting())
	e.SetQueue(trace.Queue{Address: uint64(r.groupID(g))<<16 | uint64(cpu), CPU: int32(cpu)})
	r.write(e)
}

// groupID numbers groups in the order in which they appear, from 1 for the root.
func (r *recorder) groupID(g *sched.TaskGroup) int64 {
	id, known := r.groups[g]
	if !known {
		id = int64(len(r.groups)) + 1
		r.groups[g] = id
	}
	return id
}

// exits records that a task has begun to exit.
func (r *recorder) exits(cpu int, t *sched.Task) {
	e := r.begin(trace.KindExit, cpu)
	e.SetExit(r.taskOf(t))
	r.write(e)
}
