package sim

// reschedule switches CPU c to the task that the scheduler picks. block says
// that the running task goes to sleep.
func (m *Sim) reschedule(c *cpu, block bool) {
	prev := c.task
	if prev != nil && !block {
		m.suspend(c, prev)
	}
	m.lockQueue(c, int(c.id))
	c.throttleWork = false
	next := m.sched.Schedule(m.now, int(c.id), block)
	c.needResched = false
	m.chargeWork(c)
	if next == nil {
		m.enterIdle(c, prev)
		return
	}
	t := &m.tasks[next.Ref]
	if t != prev {
		m.switchTo(c, prev, t)
	}
	if c.throttleWork && t.inUserMode() && m.throttleCurrent(c) {
		c.end = never // it has not got to its program
		m.reschedule(c, false)
		return
	}
	m.resume(c, t)
}

// throttleCurrent lets the scheduler stop the running task, which is in user
// mode or about to return there (mechanisms-modern.md 3.2).
func (m *Sim) throttleCurrent(c *cpu) bool {
	c.throttleWork = false
	stopped := m.sched.ThrottleCurrent(m.now, int(c.id))
	m.chargeWork(c)
	return stopped
}

// suspend saves how far the running task's instruction is.
func (m *Sim) suspend(c *cpu, t *task) {
	if c.end == never {
		return // between two instructions
	}
	c.progress(m.now)
	t.opWork = min(c.work, c.opWork)
	t.begun = true
}

// resume continues a task where it stands.
func (m *Sim) resume(c *cpu, t *task) {
	op := t.opWork
	if t.begun {
		t.begun = false
		if t.prog[t.pc].Op.Spins() {
			op = m.leftOfSpin(c, t, op)
		}
	} else {
		op = m.begin(c, t)
	}
	c.instr = &t.prog[t.pc]
	c.kernelNS += c.debt
	c.spinUntil = t.spinUntil
	c.startSegment(m.now, c.debt+op, op)
	c.debt = 0
}

func (m *Sim) switchTo(c *cpu, prev, t *task) {
	m.result.Switches++
	switch {
	case prev == nil:
		c.debt += m.costs.SwitchIdle
		m.leaveIdle(c)
	case t.isThreadOf(prev):
		c.debt += m.costs.SwitchThread
	default:
		c.debt += m.costs.SwitchProcess
	}
	d := SameCPU
	if t.lastCPU >= 0 {
		d = m.distance(c.id, t.lastCPU)
		if d != SameCPU {
			m.result.Migrations[d]++
		}
	}
	refill := m.refill(c, t, d)
	c.debt += refill
	m.result.RefillNS += refill
	if t.wokenAt != never {
		m.recordLatency(m.now + c.debt - refill - t.wokenAt)
		t.wokenAt = never
	}
	c.task, c.lastTask, t.lastCPU = t, t, c.id
	if prev == nil {
		m.setBusy(c, true)
	}
}

// enterIdle leaves the CPU without a task. Its tick goes on until it has
// fired once in idle (mechanisms.md 15.2).
func (m *Sim) enterIdle(c *cpu, prev *task) {
	c.end = never
	if prev == nil {
		c.payDebt(m.now)
		return
	}
	m.result.Switches++
	c.kernelNS += c.debt
	c.idleReady = m.now + c.debt
	c.debt = 0
	c.task = nil
	m.setBusy(c, false)
	m.beginIdle(c)
}

// leaveIdle restarts the tick if it was stopped.
func (m *Sim) leaveIdle(c *cpu) {
	m.endIdle(c, false)
	if c.nextTick == never {
		c.nextTick = m.nextTickAfter(c, m.now)
	}
}

// preemptible reports whether the segment may be interrupted by a reschedule:
// user work always, kernel work only in a fully preemptible kernel.
func (m *Sim) preemptible(t *task) bool {
	return t.runsOwnCode() || m.preemption == PreemptFull
}
