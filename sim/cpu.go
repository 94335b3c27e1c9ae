package sim

import "github.com/schedlab/schedlab/workload"

// fullSpeed is the speed of a core whose SMT siblings are idle; speeds are
// fractions of it.
const fullSpeed = 1024

// cpu is one CPU: the segment it executes, and the events that are on their
// way to it.
type cpu struct {
	// When something is due, and what the CPU executes until then. These eight
	// words and the next eight are read with every event: one cache line each.
	end, nextTick, ipiAt, timerAt, sliceAt int64

	task  *task           // nil: idle
	instr *workload.Instr // the instruction that the segment executes
	debt  int64           // kernel work done but not yet charged, ns at full speed

	// The segment: work is nanoseconds at full speed that were left at since;
	// opWork is how much of it, at its end, belongs to the task's instruction.
	since            int64
	work, opWork     int64
	spinUntil        int64 // the segment goes on until then, if its work ends earlier
	speed            int64
	kernelNS         int64 // debt that has been charged
	id               int32
	needResched      bool // the scheduler's flag, as told by the driver interface
	nohzKick         bool
	stopper, softirq bool
	unthrottle       bool // an IPI is on its way for queues that may run again
	throttleWork     bool // the task may be stopped at its return to user mode

	lastTask  *task  // whose working set its caches hold
	idleReady int64  // when the way into idle is finished
	siblings  []*cpu // the other threads of its core
	timers    []timer
	busySince int64
	busyNS    int64
	_         [6]int64 // whole cache lines
}

// nextEvent is the time of the CPU's earliest event.
func (c *cpu) nextEvent() int64 { return min(c.end, c.nextTick, c.ipiAt, c.timerAt, c.sliceAt) }

// progress accounts for what has been executed of the segment until now.
func (c *cpu) progress(now int64) {
	done := now - c.since
	if c.speed != fullSpeed {
		done = done * c.speed / fullSpeed
	}
	c.work -= done
	if c.work < 0 {
		c.work = 0
	}
	c.since = now
}

// startSegment begins work ns of full-speed work now.
func (c *cpu) startSegment(now, work, opWork int64) {
	c.work, c.opWork, c.since = work, opWork, now
	c.schedule()
}

// schedule recomputes the end of the segment.
func (c *cpu) schedule() {
	d := c.work
	if c.speed != fullSpeed {
		d = (d*fullSpeed + c.speed - 1) / c.speed
	}
	c.end = max(c.since+max(1, d), c.spinUntil)
}

// payDebt adds kernel work to the running segment, or to the way into idle.
func (c *cpu) payDebt(now int64) {
	if c.debt == 0 {
		return
	}
	c.kernelNS += c.debt
	if c.task == nil {
		c.idleReady = max(c.idleReady, now) + c.debt
	} else {
		c.progress(now)
		c.work += c.debt
		c.schedule()
	}
	c.debt = 0
}

// setBusy notes that the CPU starts or stops executing a task; its siblings
// speed up or slow down with it.
func (m *Sim) setBusy(c *cpu, busy bool) {
	if busy {
		c.busySince = m.now
	} else {
		c.busyNS += m.now - c.busySince
	}
	if len(c.siblings) == 0 {
		return
	}
	running := 0
	if busy {
		running++
	}
	for _, sib := range c.siblings {
		if sib.task != nil {
			running++
		}
	}
	speed := m.speedOf(running)
	c.speed = speed
	for _, sib := range c.siblings {
		if sib.task == nil || sib.speed == speed {
			sib.speed = speed
			continue
		}
		sib.progress(m.now)
		sib.speed = speed
		sib.schedule()
		m.requeue(sib)
	}
}

// speedOf is the speed of each of n busy threads of a core. Two run at the
// measured SMT speed; more share the same total.
func (m *Sim) speedOf(n int) int64 {
	switch {
	case n <= 1:
		return fullSpeed
	case n == 2:
		return m.costs.SMTSpeed
	}
	return max(1, 2*m.costs.SMTSpeed/int64(n))
}

func (m *Sim) requeue(c *cpu) { m.queue.set(c.id, c.nextEvent()) }
