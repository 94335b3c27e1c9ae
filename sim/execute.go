package sim

import "github.com/schedlab/schedlab/workload"

// begin finds the next instruction of a task that takes time and returns how
// much, in full-speed nanoseconds. Loops and marks take none.
func (m *Sim) begin(c *cpu, t *task) int64 {
	for {
		in := &t.prog[t.pc]
		switch in.Op {
		case workload.OpWrite, workload.OpRead, workload.OpReadSome, workload.OpPoll:
			return m.beginTransfer(c, t, in)
		case workload.OpLoop:
			t.loops[in.Slot]++
			if t.loops[in.Slot] < in.N {
				t.pc = in.Target
				continue
			}
			t.loops[in.Slot] = 0
		case workload.OpMark:
			m.mark(in.N)
		case workload.OpRun:
			return in.N
		case workload.OpRunRandom:
			return t.uniform(in)
		case workload.OpSleep, workload.OpSleepRandom:
			return m.costs.Syscall
		case workload.OpFork:
			return m.beginFork(t, &m.tasks[in.N])
		case workload.OpWaitChildren:
			if int(t.reaped) < len(t.children) {
				return m.beginWait(t)
			}
		case workload.OpExit:
			t.sched.MarkExiting()
			return m.exitCost(t)
		case workload.OpBranch:
			if m.syncs.Value(in.Chan) == int32(in.N) {
				t.pc = in.Target
				continue
			}
		case workload.OpTryRead:
			return m.beginTransfer(c, t, in)
		case workload.OpSelect:
			return m.beginSelect(t, in)
		case workload.OpWatch:
			m.channelSet.Watch(in.Chan, t.id, in.N == 1)
		case workload.OpUnlessWatched:
			if !m.channelSet.Watched(in.Chan, t.id) {
				t.pc = in.Target
				continue
			}
		case workload.OpCharge:
			return m.chargeCost(t, in)
		case workload.OpLookup:
			return m.lookupCost(c, in)
		case workload.OpSpinLocked:
			return m.beginSpinLocked(c, t, in)
		case workload.OpTeamMeet:
			return m.beginTeamMeet(c, t, in)
		case workload.OpHandOver:
			return m.beginHandOver(c, t, in)
		case workload.OpTally:
			m.recorders[in.Chan].Tally += max(1, in.N)
		case workload.OpCountTo:
			if m.syncs.CountTo(in.Chan, in.N) {
				t.pc = in.Target
				continue
			}
		default:
			if cost, takesTime := m.beginSync(c, t, in); takesTime {
				return cost
			}
		}
		t.pc++
	}
}

func (t *task) uniform(in *workload.Instr) int64 {
	return in.N + t.rng.Int64N(in.M-in.N+1)
}

// beginTransfer prices one channel call: the call itself, the copy, the cache
// lines that another CPU touched last, and the wait for whoever is inside.
func (m *Sim) beginTransfer(c *cpu, t *task, in *workload.Instr) int64 {
	st := &m.channels[in.Chan]
	if t.left == 0 {
		t.left = in.N
	}
	if st.loopback {
		return m.beginLoopback(c, t, st, in)
	}
	cost := m.channelCost(st, in, t)
	if in.Op != workload.OpPoll {
		cost += m.spill.of(st.memoryLines * m.costs.LineMemory)
	}
	arrival := m.now + c.debt
	entry := max(arrival, st.freeAt)
	st.freeAt = entry + min(cost, st.hold)
	cost += entry - arrival
	if st.lastCPU != c.id && st.lastCPU >= 0 {
		cost += st.lines * m.lineCost(c.id, st.lastCPU)
	}
	return cost + m.fileCost(c, t, st, in)
}

// fileCost is what a thread pays for the open file that its call is about.
// Threads share a table of files, so that each call takes a reference to the
// file and gives it back (fdget); it finds the counter where the last caller had
// it. A process that has its table to itself needs none.
func (m *Sim) fileCost(c *cpu, t *task, st *channelState, in *workload.Instr) int64 {
	if !t.threaded || m.costs.FileLines == 0 {
		return 0
	}
	last := &st.readerCPU
	if in.Op == workload.OpWrite {
		last = &st.writerCPU
	}
	before := *last
	*last = c.id
	if before < 0 {
		return 0
	}
	return m.costs.FileLines * m.lineCost(c.id, before)
}

// channelCost is the price of the call without contention. A call that will
// sleep does half of its work before and the rest when it continues.
func (m *Sim) channelCost(st *channelState, in *workload.Instr, t *task) int64 {
	base, copied := int64(0), t.left*m.costs.CopyPerKiB>>10
	switch in.Op {
	case workload.OpWrite:
		base = st.writeCost
	case workload.OpRead, workload.OpReadSome, workload.OpTryRead:
		base = st.readCost
		if !t.resumed && !st.ch.Readable() {
			return m.costs.Syscall + base/2
		}
	default:
		base, copied = m.costs.Poll, 0
	}
	if t.resumed {
		return base/2 + copied
	}
	return m.costs.Syscall + base + copied
}

func (m *Sim) beginFork(t, child *task) int64 {
	if child.isThreadOf(t) {
		return m.costs.ForkThread
	}
	return m.costs.ForkProcess
}

func (m *Sim) beginWait(t *task) int64 {
	if t.reapable() {
		return m.costs.Reap
	}
	return m.costs.Syscall
}

func (m *Sim) exitCost(t *task) int64 {
	if t.parent != nil && t.isThreadOf(t.parent) {
		return m.costs.ExitThread
	}
	return m.costs.ExitProcess
}

// complete applies the instruction whose time has passed. It reports whether
// the task goes to sleep now.
func (m *Sim) complete(c *cpu, t *task) (blocks bool) {
	in := c.instr
	switch in.Op {
	case workload.OpWrite, workload.OpRead, workload.OpReadSome, workload.OpPoll:
		return m.completeTransfer(c, t, in)
	case workload.OpSleep:
		m.armTimer(c, t, in.N)
		return true
	case workload.OpSleepRandom:
		m.armTimer(c, t, t.uniform(in))
		return true
	case workload.OpFork:
		m.fork(c, t, &m.tasks[in.N])
	case workload.OpWaitChildren:
		return t.reapOrWait()
	case workload.OpExit:
		m.exit(c, t)
		return true
	case workload.OpSelect:
		return m.completeSelect(t, in)
	case workload.OpTryRead:
		m.completeTryRead(c, t, in)
		return false
	case workload.OpSpinLocked:
		return m.completeSpinLocked(c, t, in)
	case workload.OpTeamMeet:
		return m.completeTeamMeet(c, t, in)
	case workload.OpHandOver:
		m.completeHandOver(c, t, in)
		return false
	case workload.OpRun, workload.OpRunRandom, workload.OpCharge, workload.OpLookup:
	default:
		return m.completeSync(c, t, in)
	}
	t.pc++
	return false
}

func (m *Sim) completeTransfer(c *cpu, t *task, in *workload.Instr) (blocks bool) {
	st := &m.channels[in.Chan]
	out := &m.out
	m.spill.add(st.ch, -1)
	switch in.Op {
	case workload.OpWrite:
		st.ch.Write(t.id, int32(t.left), t.resumed, out)
	case workload.OpRead, workload.OpReadSome:
		st.ch.Read(t.id, int32(t.left), t.resumed, out)
	default:
		st.ch.Poll(t.id, t.resumed, out)
	}
	m.spill.add(st.ch, 1)
	st.lastCPU = c.id
	c.debt += int64(out.NewPages) * m.costs.NewPage
	t.left -= int64(out.Moved)
	m.completeWakes(c, st)
	if out.Blocked {
		t.resumed = true
		return true
	}
	t.resumed = false
	if in.Op == workload.OpRead && t.left > 0 {
		return false // a short read: the program calls again
	}
	if in.Op == workload.OpWrite {
		m.result.Messages++
		if !t.background {
			m.progress++
		}
	}
	t.left = 0
	t.pc++
	return false
}

// completeWakes makes those runnable that a channel call has woken.
func (m *Sim) completeWakes(c *cpu, st *channelState) {
	if st.loopback {
		m.runLoopback(c, st)
		return
	}
	for i := range m.out.Wakes {
		w := m.out.Wakes[i]
		m.wake(c, &m.tasks[w.Task], w.Sync)
	}
}

// reapOrWait takes one exited child; without one the parent sleeps until the
// next exit.
func (t *task) reapOrWait() (blocks bool) {
	if t.reapable() {
		t.reaped++
		t.zombies--
		if int(t.reaped) == len(t.children) {
			t.pc++
		}
		return false
	}
	t.waiting = true
	return true
}

func (m *Sim) fork(c *cpu, parent, child *task) {
	child.parent = parent
	parent.children = append(parent.children, child)
	child.started = true
	child.wokenAt = m.now
	if m.rec != nil {
		m.rec.born(int(c.id), parent.sched, child.sched)
	}
	m.sched.Fork(m.now, int(c.id), parent.sched, child.sched)
	m.chargeWork(c)
}

// exit ends a task; a parent asleep in wait is woken, by a process with the
// sync hint, by a thread through its join futex without (ipc-and-benchmarks.md 0.2).
func (m *Sim) exit(c *cpu, t *task) {
	t.exited = true
	if m.rec != nil {
		m.rec.exits(int(c.id), t.sched)
	}
	if !t.background {
		m.foreground--
	}
	p := t.parent
	if p == nil {
		return
	}
	p.zombies++
	if p.waiting && p.reapable() {
		p.waiting = false
		m.wake(c, p, !t.isThreadOf(p))
	}
}

// wake makes a sleeping task runnable from CPU c; what the wakeup costs is
// charged to c. Of a task that goes to another CPU's wake list (TTWU_QUEUE) the
// waker touches only what is the task's own, half of the lines: that CPU takes
// it from the list and queues it at its own expense.
func (m *Sim) wake(c *cpu, t *task, sync bool) {
	t.wokenAt = m.now
	enqueue := min(m.costs.Wakeup, m.costs.QueueLockHold)
	c.debt += m.costs.Wakeup - enqueue
	m.beforeKick = enqueue
	if t.lastCPU >= 0 {
		line := m.lineCost(c.id, t.lastCPU)
		c.debt += (m.costs.WakeLines + 1) / 2 * line
		m.beforeKick += m.costs.WakeLines / 2 * line
	}
	cpu := m.sched.Wake(m.now, int(c.id), t.sched, sync)
	if t.sched.OnWakeList() {
		m.cpus[cpu].debt += enqueue
		m.beforeKick = 0
	} else {
		m.payBeforeKick(c)
		m.lockQueue(c, cpu)
	}
	m.chargeWork(c)
	m.result.Wakeups++
}

// payBeforeKick charges what a waker has still to do before it tells the CPU.
func (m *Sim) payBeforeKick(c *cpu) {
	c.debt += m.beforeKick
	m.beforeKick = 0
}

// chargeWork turns what the scheduler has just done into time of CPU c.
func (m *Sim) chargeWork(c *cpu) { c.debt += m.sched.TakeCost() }

// lockQueue waits for a CPU's run-queue lock and holds it for one enqueue or
// pick.
func (m *Sim) lockQueue(c *cpu, cpu int) {
	start := m.now + c.debt
	free := m.queueFree[cpu]
	if free > start {
		c.debt += free - start
		m.result.LockWaitNS += free - start
		start = free
	}
	m.queueFree[cpu] = start + m.costs.QueueLockHold
}
