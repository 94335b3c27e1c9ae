package sim

import (
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
	"github.com/schedlab/schedlab/workload"
)

// timer wakes a task that sleeps: anywhere between soft and hard, at the
// first timer interrupt of its CPU after soft (ipc-and-benchmarks.md 5).
//
// Or it is a timer of the scheduler's own, which is exact.
//
// A deferrable timer has no hard time: it fires at the first tick after soft
// that finds the CPU busy.
type timer struct {
	soft, hard int64
	task       *task
	expiry     *sched.Timer       // task is nil
	arrival    *workload.Requests // of a request, exact too; task and expiry are nil
}

func (m *Sim) armTimer(c *cpu, t *task, sleep int64) { m.armTimerAt(c, t, m.now+c.debt+sleep) }

// armTimerAt has the task woken at a time, or at once if that has passed.
func (m *Sim) armTimerAt(c *cpu, t *task, at int64) {
	soft := max(at, m.now+c.debt)
	if t.deferrable {
		c.timers = append(c.timers, timer{soft: soft, hard: never, task: t})
		return
	}
	hard := m.turnOf(c, soft+m.costs.TimerSlack)
	c.timers = append(c.timers, timer{soft: soft, hard: hard, task: t})
	c.timerAt = min(c.timerAt, hard)
}

// step handles everything that is due on CPU c, in the order of
// mechanisms.md 15.1: timers and IPIs, the tick, softirq, then the end of the
// running instruction, and last the reschedule that any of them asked for.
func (m *Sim) step(c *cpu) {
	m.acting = c
	now := m.now
	if c.end <= now && c.nextTick > now && c.ipiAt > now && c.timerAt > now && c.sliceAt > now {
		m.finishInstruction(c)
		m.requeue(c)
		return
	}
	if c.task == nil && (c.timerAt <= now || c.nextTick <= now) {
		c.debt += m.exitLatency(c)
	}
	if c.timerAt <= now {
		c.debt += m.costs.TimerInterrupt
		m.fireTimers(c, false)
	}
	if c.sliceAt <= now {
		m.endSlice(c)
	}
	if c.ipiAt <= now {
		m.receiveIPI(c)
	}
	ticked := c.nextTick <= now
	if ticked {
		m.tick(c)
	}
	if c.task != nil && c.end <= now {
		m.finishInstruction(c)
	} else if c.throttleWork && c.task != nil && c.task.runsOwnCode() && m.throttleCurrent(c) {
		m.reschedule(c, false)
	} else if c.needResched && (c.task == nil || m.preemptible(c.task)) {
		m.reschedule(c, false)
	} else {
		c.payDebt(now)
		if c.task == nil {
			m.endIdle(c, ticked)
			m.beginIdle(c)
		}
	}
	m.requeue(c)
}

// finishInstruction completes the running instruction and starts the next
// one, of this task or of another.
func (m *Sim) finishInstruction(c *cpu) {
	t := c.task
	c.end = never
	blocks := m.complete(c, t)
	if !blocks && c.throttleWork {
		m.throttleCurrent(c)
	}
	if blocks || c.needResched {
		m.reschedule(c, blocks)
		return
	}
	m.resume(c, t)
}

// fireTimers fires those that are due, the deferrable ones too if so told.
func (m *Sim) fireTimers(c *cpu, deferrable bool) {
	now := m.now
	kept := c.timers[:0]
	next := int64(never)
	for _, tm := range c.timers {
		if tm.soft > now || tm.hard == never && !deferrable {
			kept = append(kept, tm)
			next = min(next, tm.hard)
			continue
		}
		if tm.expiry != nil {
			m.dueTimers = append(m.dueTimers, tm.expiry)
			continue
		}
		if tm.arrival != nil {
			m.arrivals = append(m.arrivals, tm.arrival)
			continue
		}
		tm.task.pc++
		m.sched.InInterrupt(true)
		context := m.enter(trace.ContextHardIRQ)
		m.wake(c, tm.task, false)
		m.leave(context)
		m.sched.InInterrupt(false)
	}
	c.timers = kept
	c.timerAt = next
	if len(m.dueTimers) > 0 {
		m.expireTimers(c)
	}
	if len(m.arrivals) > 0 {
		m.receiveArrivals(c)
	}
}

// expireTimers runs the scheduler's timers that are due on CPU c, in the order
// in which they were armed, after the wakeups; they may be armed again.
func (m *Sim) expireTimers(c *cpu) {
	context := m.enter(trace.ContextHardIRQ)
	for _, t := range m.dueTimers {
		m.sched.ExpireTimer(m.now, int(c.id), t)
		m.chargeWork(c)
	}
	m.dueTimers = m.dueTimers[:0]
	m.leave(context)
}

// endSlice is the timer that ends a task's slice on time (HRTICK).
func (m *Sim) endSlice(c *cpu) {
	c.sliceAt = never
	c.debt += m.costs.TimerInterrupt
	context := m.enter(trace.ContextHardIRQ)
	m.sched.SliceEnd(m.now, int(c.id))
	m.leave(context)
	m.chargeWork(c)
}

func (m *Sim) tick(c *cpu) {
	m.sampleConservation()
	m.sampleCounters()
	c.debt += m.costs.Tick
	if len(c.timers) > 0 {
		m.fireTimers(c, c.task != nil) // the tick is a timer interrupt too
	}
	context := m.enter(trace.ContextHardIRQ)
	if m.rec != nil {
		m.rec.tick(int(c.id))
	}
	m.sched.Tick(m.now, int(c.id))
	m.leave(context)
	m.chargeWork(c)
	if c.softirq {
		c.softirq = false
		m.balanceSoftirq(c)
	}
	c.nextTick = m.nextTickAfter(c, m.now)
	switch {
	case c.task != nil || c.needResched:
	case m.sched.StopsTicks():
		m.sched.StopTick(m.now, int(c.id))
		m.chargeWork(c)
		c.nextTick = never
	case m.allAsleep():
		c.nextTick = never // ticks alone would go on for ever
	}
}

// allAsleep reports whether nothing but ticks can happen any more.
func (m *Sim) allAsleep() bool {
	for i := range m.cpus {
		c := &m.cpus[i]
		if c.task != nil || c.needResched || min(c.end, c.ipiAt, c.timerAt) != never {
			return false
		}
	}
	return true
}

func (m *Sim) balanceSoftirq(c *cpu) {
	context := m.enter(trace.ContextSoftIRQ)
	if m.rec != nil {
		m.rec.softirq(int(c.id))
	}
	m.sched.BalanceSoftirq(m.now, int(c.id))
	m.leave(context)
	m.chargeWork(c)
}

// nohzBalance balances for all CPUs without a tick, as a kick has asked.
func (m *Sim) nohzBalance(c *cpu) {
	context := m.enter(trace.ContextSoftIRQ)
	if m.rec != nil {
		m.rec.softirq(int(c.id))
	}
	m.sched.NohzBalance(m.now, int(c.id))
	m.leave(context)
}

func (m *Sim) nextTickAfter(c *cpu, now int64) int64 {
	return m.turnOf(c, m.tickTime(m.jiffies(now)+1))
}

// jiffies counts the ticks up to now.
func (m *Sim) jiffies(now int64) int64 { return now * m.hz / 1_000_000_000 }

func (m *Sim) tickTime(jiffy int64) int64 { return (jiffy*1_000_000_000 + m.hz - 1) / m.hz }

func (m *Sim) receiveIPI(c *cpu) {
	c.ipiAt = never
	if c.task != nil || m.costs.IdleMonitor == 0 {
		c.debt += m.costs.IPIHandle
	}
	if m.sched.WakeListPending(int(c.id)) {
		context := m.enter(trace.ContextHardIRQ)
		m.sched.HandleWakeList(m.now, int(c.id))
		m.leave(context)
	}
	if c.unthrottle {
		c.unthrottle = false
		context := m.enter(trace.ContextHardIRQ)
		m.sched.HandleUnthrottle(m.now, int(c.id))
		m.leave(context)
	}
	if c.nohzKick {
		c.nohzKick = false
		m.nohzBalance(c)
	}
	m.chargeWork(c)
	if c.stopper {
		m.runStopper(c)
	}
}

// runStopper lets the migration thread push a task away; it interrupts
// whatever runs, in user mode or not.
func (m *Sim) runStopper(c *cpu) {
	c.stopper = false
	if c.task != nil && c.end != never {
		m.suspend(c, c.task)
	}
	c.debt += 2 * m.costs.SwitchThread
	m.sched.ActiveBalance(m.now, int(c.id))
	m.chargeWork(c)
	if m.sched.Current(int(c.id)) == nil {
		c.end = never // the task was put back on the queue, or moved
		m.reschedule(c, false)
	}
}

// kick has another CPU look up. An idle one must first leave its idle state.
func (m *Sim) kick(target *cpu) {
	at := int64(0)
	if target.task == nil {
		at = max(m.signalIdle(target), target.idleReady) + m.exitLatency(target)
	} else {
		at = m.sendIPI()
	}
	at = m.turnOf(target, at)
	if at < target.ipiAt {
		target.ipiAt = at
		m.requeue(target)
	}
}

// sendIPI interrupts another CPU and returns when the interrupt arrives.
func (m *Sim) sendIPI() int64 {
	m.acting.debt += m.costs.IPISend
	m.result.IPIs++
	return m.now + m.acting.debt + m.costs.IPIDeliver
}

// signalIdle tells an idle CPU and returns when it hears of it. One that sleeps
// in MWAIT, or polls, watches the line with its flags: writing there is enough
// (TIF_POLLING_NRFLAG, in each idle state of x86 but HLT and I/O ports).
func (m *Sim) signalIdle(target *cpu) int64 {
	if m.costs.IdleMonitor == 0 {
		return m.sendIPI()
	}
	m.acting.debt += m.costs.Atomic + m.lineCost(m.acting.id, target.id)
	return m.now + m.acting.debt
}

// exitLatency is how long an idle CPU takes to react.
func (m *Sim) exitLatency(c *cpu) int64 { return m.costs.idleExit(m.governors[c.id].state) }

// driver receives what the scheduler wants; see [sched.Driver].
type driver struct{ *Sim }

func (d driver) Resched(cpu int) {
	c := &d.cpus[cpu]
	c.needResched = true
	if c != d.acting {
		d.payBeforeKick(d.acting)
		d.kick(c)
	}
}

func (d driver) WakeIPI(cpu int) { d.kick(&d.cpus[cpu]) }

func (d driver) NohzKick(cpu int) {
	d.cpus[cpu].nohzKick = true
	d.kick(&d.cpus[cpu])
}

func (d driver) StopperKick(cpu int) {
	d.cpus[cpu].stopper = true
	d.kick(&d.cpus[cpu])
}

func (d driver) ArmTimer(cpu int, at int64, t *sched.Timer) {
	c := &d.cpus[cpu]
	at = d.turnOf(c, at)
	c.timers = append(c.timers, timer{soft: at, hard: at, expiry: t})
	c.timerAt = min(c.timerAt, at)
	d.requeue(c)
}

func (d driver) UnthrottleIPI(cpu int) {
	d.cpus[cpu].unthrottle = true
	d.kick(&d.cpus[cpu])
}

func (d driver) ArmSliceEnd(cpu int, at int64) {
	c := &d.cpus[cpu]
	c.sliceAt = never
	if at != 0 {
		c.sliceAt = d.turnOf(c, at)
	}
	d.requeue(c)
}

func (d driver) ThrottleWork(cpu int) { d.cpus[cpu].throttleWork = true }

func (d driver) BalanceSoftirq(cpu int) { d.cpus[cpu].softirq = true }
