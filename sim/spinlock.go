package sim

import "github.com/schedlab/schedlab/workload"

// A spinlock of a user program, after s_lock of PostgreSQL: its taker spins for
// a while, then sleeps for a millisecond and tries again. The time of a
// critical section is a few lines' worth, so that its holder is never
// preempted here.

// beginSpinLocked prices the section: the wait until those before are out, the
// line of the lock, which every CPU that spins on it takes away once at each
// hand-over, and the lines behind it.
func (m *Sim) beginSpinLocked(c *cpu, t *task, in *workload.Instr) int64 {
	o := &m.objects[in.Chan]
	arrival := m.now + c.debt
	wait := max(0, o.freeAt-arrival)
	if wait > m.costs.SpinLimit {
		t.gaveUp = true
		return m.costs.SpinLimit
	}
	line := int64(0)
	if o.lastCPU >= 0 {
		line = m.lineCost(c.id, o.lastCPU)
	}
	contenders := wait / in.N
	hold := m.costs.Atomic + line*(1+contenders) + in.N
	o.freeAt = arrival + wait + hold
	o.lastCPU = c.id
	return wait + hold + in.M*line
}

// completeSpinLocked ends the section, or puts the task to sleep when it has
// spun in vain.
func (m *Sim) completeSpinLocked(c *cpu, t *task, _ *workload.Instr) (blocks bool) {
	if !t.gaveUp {
		t.pc++
		return false
	}
	t.gaveUp = false
	t.pc-- // the timer's end brings it back to this instruction
	m.armTimer(c, t, m.costs.SpinSleep)
	return true
}
