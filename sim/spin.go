package sim

import "github.com/schedlab/schedlab/workload"

// Tasks that spin: at a team barrier for some turns before they sleep, for a
// flag without end. A spin is one long segment of the task's CPU. What it waits
// for is done by a task on another CPU, which then shortens the segments of
// those who are running; a spinner without a CPU looks when it has one again.

// spin is what a task spins for.
type spin struct {
	round    int32 // of a team barrier
	spinning bool
}

// endlessly is the work of a spin without end in ns: 13 days, and then again.
const endlessly = 1 << 50

func newSpins(sc *workload.Scenario) []spin {
	for _, p := range sc.Programs {
		for i := range p {
			if p[i].Op.Spins() {
				return make([]spin, len(sc.Tasks))
			}
		}
	}
	return nil
}

func (m *Sim) startSpin(t *task, object int32) {
	s := &m.spins[t.id]
	if s.spinning {
		return
	}
	s.spinning = true
	o := &m.objects[object]
	o.spinners = append(o.spinners, t)
}

// endSpin takes the task off the object's spinners and keeps their order.
func (m *Sim) endSpin(t *task, object int32) {
	s := &m.spins[t.id]
	if !s.spinning {
		return
	}
	s.spinning = false
	o := &m.objects[object]
	kept := o.spinners[:0]
	for _, other := range o.spinners {
		if other != t {
			kept = append(kept, other)
		}
	}
	o.spinners = kept
}

// spunFor reports whether what a task spins for has happened.
func (m *Sim) spunFor(t *task, in *workload.Instr) bool {
	if in.Op == workload.OpHandOver {
		return m.syncs.Value(in.Chan) == int32(in.N)
	}
	return m.syncs.TeamReleased(in.Chan, m.spins[t.id].round)
}

// leftOfSpin is the work that is left of an operation that was preempted: that
// of fetching the line if it spun and has what it spun for.
func (m *Sim) leftOfSpin(c *cpu, t *task, left int64) int64 {
	in := &t.prog[t.pc]
	if !m.spins[t.id].spinning || !m.spunFor(t, in) {
		return left
	}
	return min(left, m.atomicCost(c, in.Chan))
}

// endSpins ends the spins of those who run and see their object changed. The
// line comes to each of them from CPU c.
func (m *Sim) endSpins(c *cpu, object int32) {
	for _, t := range m.objects[object].spinners {
		on := &m.cpus[t.lastCPU]
		in := &t.prog[t.pc]
		if on.task != t || on.end == never || on.instr != in || !m.spunFor(t, in) {
			continue
		}
		on.progress(m.now)
		kernel := max(0, on.work-on.opWork)
		line := min(on.opWork, m.atomicCost(on, object))
		on.startSegment(m.now, kernel+line, line)
		m.requeue(on)
	}
}

func (m *Sim) beginHandOver(c *cpu, t *task, in *workload.Instr) int64 {
	if m.syncs.Value(in.Chan) == int32(in.N) {
		return m.atomicCost(c, in.Chan)
	}
	m.startSpin(t, in.Chan)
	return endlessly
}

func (m *Sim) completeHandOver(c *cpu, t *task, in *workload.Instr) {
	if !m.syncs.HandOver(in.Chan, in.N, in.M) {
		return // another was faster: it spins on
	}
	m.endSpin(t, in.Chan)
	m.objects[in.Chan].lastCPU = c.id
	m.endSpins(c, in.Chan)
	t.pc++
}

// beginTeamMeet prices the arrival; when the task has arrived, its spin; after
// its sleep, the way out of the call.
func (m *Sim) beginTeamMeet(c *cpu, t *task, in *workload.Instr) int64 {
	switch {
	case t.resumed:
		return m.costs.Syscall
	case !m.spins[t.id].spinning || m.spunFor(t, in):
		return m.atomicCost(c, in.Chan)
	}
	return in.N * m.costs.SpinTurn
}

func (m *Sim) completeTeamMeet(c *cpu, t *task, in *workload.Instr) (blocks bool) {
	o, s := &m.objects[in.Chan], &m.spins[t.id]
	switch {
	case t.resumed:
		t.resumed = false
	case !s.spinning:
		round, last := m.syncs.TeamArrive(in.Chan, &m.out)
		o.lastCPU = c.id
		if !last {
			s.round = round
			m.startSpin(t, in.Chan)
			return false
		}
		m.endSpins(c, in.Chan)
		m.futexCalls(c, o, &m.out)
	case m.spunFor(t, in):
		m.endSpin(t, in.Chan)
	default:
		m.endSpin(t, in.Chan)
		m.syncs.TeamWait(in.Chan, s.round, t.id, &m.out)
		m.futexCalls(c, o, &m.out)
		t.resumed = true
		return true
	}
	t.pc++
	return false
}
