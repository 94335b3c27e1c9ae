package sim

import (
	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// periodic is what the operations of periodic tasks work on
// (workload/activation.go).
type periodic struct {
	epoch  int64 // of OpEpoch
	timers []periodTimer
	pools  []workload.Pool // of tasks that are left
	sets   []machine.CPUMask
	groups []*sched.TaskGroup
	turns  []workload.Activation // the one that each task is in, by task
	clocks []int64               // of the last OpClockIn, by task
	memory memory
	room   int // for activations in the log
	// allowed are the CPUs that each task may use at first.
	allowed []machine.CPUMask
}

// periodTimer is a timer of periods.
type periodTimer struct {
	next     int64
	begun    bool
	absolute bool
}

func (m *Sim) buildPeriodic(sc *workload.Scenario, mach *machine.Machine) {
	m.periodic = periodic{
		timers: make([]periodTimer, len(sc.Timers)), pools: append([]workload.Pool(nil), sc.Pools...),
		room:   workload.MaxActivations,
		memory: newMemory(mach), allowed: make([]machine.CPUMask, len(sc.Tasks)),
	}
	p := &m.periodic
	for i, spec := range sc.Timers {
		p.timers[i].absolute = spec.Absolute
	}
	for _, set := range sc.CPUSets {
		mask := machine.CPUMask(nil)
		if set != nil {
			mask = machine.MaskOf(len(m.cpus), set...)
		}
		p.sets = append(p.sets, mask)
	}
	for _, path := range sc.Groups {
		p.groups = append(p.groups, m.group(path))
	}
	for i := range sc.Programs {
		if sc.Programs[i].Periodic() {
			p.turns = make([]workload.Activation, len(sc.Tasks))
			p.clocks = make([]int64, len(sc.Tasks))
			break
		}
	}
}

// pooled marks the tasks that wait in pools.
func (p *periodic) pooled(tasks int) []bool {
	marks := make([]bool, tasks)
	for _, pool := range p.pools {
		for i := range pool.Count {
			marks[pool.First+i] = true
		}
	}
	return marks
}

// beginActivation starts an operation of a periodic task. Those that change
// nothing are over at once.
func (m *Sim) beginActivation(t *task, in *workload.Instr) (cost int64, takesTime bool) {
	switch in.Op {
	case workload.OpRunWall:
		return in.M + m.costs.ClockRead, true
	case workload.OpSleepUntil, workload.OpYield:
		return m.costs.Syscall, true
	case workload.OpSyscalls:
		return in.N * m.costs.Syscall, true
	case workload.OpTouch:
		return m.touchCost(in), true
	case workload.OpForkNext:
		return m.costs.ForkThread, true
	case workload.OpAffinity:
		return m.costs.Syscall, !m.affinityOf(t, in).Equal(t.sched.Allowed())
	case workload.OpGroup:
		return groupCalls * m.costs.Syscall, m.periodic.groups[in.Chan] != t.sched.Group()
	case workload.OpPriority:
		return m.costs.Syscall, int64(t.sched.Nice()) != in.N || t.sched.Policy() != sched.Policy(in.M)
	}
	return m.costs.ClockRead, true
}

// groupCalls are those with which a task is written into a group's file: open,
// write, close.
const groupCalls = 3

// completeActivation applies what beginActivation has started. It reports
// whether the task goes to sleep.
func (m *Sim) completeActivation(c *cpu, t *task, in *workload.Instr) (blocks bool) {
	p := &m.periodic
	turn := &p.turns[t.id]
	switch in.Op {
	case workload.OpEpoch:
		p.epoch = m.now
	case workload.OpActivate:
		*turn = workload.Activation{Task: t.id, Start: m.now}
	case workload.OpActivated:
		turn.Kind, turn.End = int32(in.N), m.now
		m.logActivation(turn)
	case workload.OpClockIn:
		p.clocks[t.id] = m.now
	case workload.OpClockOut:
		turn.RunMicros += workload.MicrosOf(m.now - p.clocks[t.id])
	case workload.OpRunWall:
		turn.Pieces++
		passed := m.now - p.clocks[t.id]
		if microseconds(passed) < microseconds(in.N) {
			return false // another piece
		}
		turn.RunMicros += workload.MicrosOf(passed)
	case workload.OpDue:
		if p.timers[in.Chan].missed(m.now, p.epoch, in, turn) {
			t.pc = in.Target
			return false
		}
	case workload.OpLate:
		turn.LateMicros += workload.MicrosOf(m.now - p.timers[in.Chan].next)
	case workload.OpSleepUntil:
		m.armTimerAt(c, t, p.timers[in.Chan].next)
		return true
	case workload.OpForkNext:
		m.forkNext(c, t, in.Chan)
	default:
		m.changeSelf(c, t, in)
	}
	t.pc++
	return false
}

// logActivation keeps an activation. A run that has more than the log holds is
// over: who makes so many works in nothing but system calls.
func (m *Sim) logActivation(turn *workload.Activation) {
	o := &m.result.Observation
	if len(o.Activations) == m.periodic.room {
		o.LogFull = true
		m.foreground = 0
		return
	}
	o.Activations = append(o.Activations, *turn)
}

// missed moves the timer on by its period and reports whether that time has
// passed already.
func (pt *periodTimer) missed(now, epoch int64, in *workload.Instr, turn *workload.Activation) bool {
	if !pt.begun {
		pt.begun, pt.next = true, epoch+in.M
	}
	pt.next += in.N
	slack := workload.MicrosOf(pt.next - now)
	if in.Slot == 1 {
		slack += turn.SlackMicros
	}
	turn.SlackMicros = slack
	if now < pt.next {
		return false
	}
	if !pt.absolute {
		pt.next = now
	}
	turn.LateMicros = 0
	return true
}

// forkNext starts the next task of a pool. A pool without one ends the run.
func (m *Sim) forkNext(c *cpu, t *task, pool int32) {
	left := &m.periodic.pools[pool]
	if left.Count == 0 {
		m.result.Observation.OutOfTasks = int(pool) + 1
		m.foreground = 0
		return
	}
	child := &m.tasks[left.First]
	left.First++
	left.Count--
	if !child.background {
		m.foreground++
	}
	m.result.Observation.Forks = append(m.result.Observation.Forks, child.id)
	m.fork(c, t, child)
}

// changeSelf is a call with which the running task changes how it is
// scheduled.
func (m *Sim) changeSelf(c *cpu, t *task, in *workload.Instr) {
	switch in.Op {
	case workload.OpYield:
		m.sched.Yield(m.now, int(c.id))
		c.needResched = true
	case workload.OpGroup:
		m.sched.SetGroup(m.now, t.sched, m.periodic.groups[in.Chan])
		m.chargeWork(c)
	case workload.OpPriority:
		m.sched.SetPriority(m.now, t.sched, sched.Policy(in.M), int8(in.N))
		m.chargeWork(c)
	case workload.OpAffinity:
		m.moveTo(c, t, m.affinityOf(t, in))
	}
}

// affinityOf is the set of an OpAffinity; one that is not listed stands for the
// CPUs that the task began with.
func (m *Sim) affinityOf(t *task, in *workload.Instr) machine.CPUMask {
	if mask := m.periodic.sets[in.Chan]; mask != nil {
		return mask
	}
	return m.periodic.allowed[t.id]
}

// moveTo is sched_setaffinity on the running task. If it may not stay where it
// is, the migration thread takes it to the first CPU of the mask.
func (m *Sim) moveTo(c *cpu, t *task, allowed machine.CPUMask) {
	if !m.sched.SetAffinity(t.sched, allowed) {
		return
	}
	c.debt += 2 * m.costs.SwitchThread
	m.sched.MigrateRunning(m.now, int(c.id), m.firstOnline(allowed))
	m.chargeWork(c)
}

func (m *Sim) firstOnline(allowed machine.CPUMask) int {
	for _, cpu := range m.sched.Machine().Online().CPUs() {
		if allowed.Has(cpu) {
			return cpu
		}
	}
	return allowed.First()
}
