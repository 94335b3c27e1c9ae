package sim

import "github.com/schedlab/schedlab/workload"

// objectState is what the cost model remembers of a synchronisation object.
type objectState struct {
	freeAt  int64 // when the lock of its hash bucket is free again
	stamp   int64 // of the last OpTake
	lastCPU int32
	// spinners are the tasks that spin for the object, longest first.
	spinners []*task
}

func (m *Sim) buildSyncs(sc *workload.Scenario) {
	m.syncs = workload.NewSyncs(sc)
	m.objects = make([]objectState, len(sc.Syncs))
	for i := range m.objects {
		m.objects[i].lastCPU = -1
	}
	m.spins = newSpins(sc)
	m.recorders = make([]workload.Recorder, sc.Recorders)
}

// beginSync starts an operation on a clock, a recorder or a synchronisation
// object. Those that take no time are done at once.
func (m *Sim) beginSync(c *cpu, t *task, in *workload.Instr) (cost int64, takesTime bool) {
	if in.Op.OfActivation() {
		return m.beginActivation(t, in)
	}
	switch in.Op {
	case workload.OpStore:
		m.syncs.Store(in.Chan, int32(in.N))
		return 0, false
	case workload.OpAdd:
		m.syncs.Store(in.Chan, m.syncs.Value(in.Chan)+int32(in.N))
		return 0, false
	case workload.OpForget:
		m.recorders[in.Chan].Samples, m.recorders[in.Chan].Tally = workload.Histogram{}, 0
		return 0, false
	case workload.OpSnapshot:
		r := &m.recorders[in.Chan]
		r.Snapshots = append(r.Snapshots, r.Samples)
		return 0, false
	case workload.OpSpinWall:
		if t.spinUntil != 0 {
			return 0, true // resume sees to its end
		}
		return m.costs.ClockRead, true
	case workload.OpStamp, workload.OpSample:
		return m.costs.ClockRead, true
	case workload.OpReceive, workload.OpServe, workload.OpAnswer:
		return m.beginRequest(t, in), true
	case workload.OpSleepTicks:
		return m.costs.Syscall, true
	case workload.OpPostTaken:
		if !m.syncs.Taken(in.Chan) {
			return 0, false
		}
	}
	return m.atomicCost(c, in.Chan), true
}

// atomicCost is one atomic operation on an object that some other CPU may have
// touched last.
func (m *Sim) atomicCost(c *cpu, object int32) int64 {
	if last := m.objects[object].lastCPU; last >= 0 {
		return m.costs.Atomic + m.lineCost(c.id, last)
	}
	return m.costs.Atomic
}

// completeSync applies what beginSync has started. It reports whether the task
// goes to sleep.
func (m *Sim) completeSync(c *cpu, t *task, in *workload.Instr) (blocks bool) {
	if in.Op.OfActivation() {
		return m.completeActivation(c, t, in)
	}
	switch in.Op {
	case workload.OpSpinWall:
		if t.spinUntil == 0 {
			t.spinUntil = spinEnd(m.now, in.N)
			return false
		}
		t.spinUntil = 0
	case workload.OpStamp:
		t.stamp = m.now
	case workload.OpSample:
		m.recorders[in.Chan].Samples.Add(max(1, microseconds(m.now)-microseconds(t.stamp)-microseconds(in.N)))
	case workload.OpSleepTicks:
		m.armTicks(c, t, in.N)
		return true
	case workload.OpReceive, workload.OpServe, workload.OpAnswer:
		return m.completeRequest(t, in)
	case workload.OpPush:
		m.syncs.Push(in.Chan, t.id, int32(in.N))
		m.objects[in.Chan].lastCPU = c.id
	case workload.OpTake:
		m.syncs.Take(in.Chan)
		m.objects[in.Chan].stamp = m.now
		m.objects[in.Chan].lastCPU = c.id
	default:
		return m.completeCall(c, t, in)
	}
	t.pc++
	return false
}

// microseconds is what a clock of whole microseconds shows.
func microseconds(ns int64) int64 { return ns / 1000 }

// spinEnd is when that clock is first more than ns past what it shows now.
func spinEnd(now, ns int64) int64 { return (microseconds(now) + microseconds(ns) + 1) * 1000 }

// completeCall applies an operation that may enter the kernel, wake tasks, and
// put the task to sleep.
func (m *Sim) completeCall(c *cpu, t *task, in *workload.Instr) (blocks bool) {
	again := m.applyCall(t, in)
	o, out := &m.objects[in.Chan], &m.out
	o.lastCPU = c.id
	if out.Calls > 0 {
		m.futexCalls(c, o, out)
	}
	t.resumed = out.Blocked
	if !out.Blocked && !again {
		t.pc++
	}
	return out.Blocked
}

// applyCall asks the object what the operation does. It reports whether the
// instruction has to be executed once more.
func (m *Sim) applyCall(t *task, in *workload.Instr) (again bool) {
	s, out := m.syncs, &m.out
	switch in.Op {
	case workload.OpFutexWait:
		s.FutexWait(in.Chan, t.id, int32(in.N), t.resumed, out)
	case workload.OpFutexWake:
		s.FutexWake(in.Chan, in.N, out)
	case workload.OpPost:
		s.Post(in.Chan, out)
	case workload.OpAwait:
		s.Await(in.Chan, t.id, out)
	case workload.OpLock:
		s.Lock(in.Chan, t.id, t.resumed, out)
	case workload.OpUnlock:
		s.Unlock(in.Chan, out)
	case workload.OpCondWait:
		s.CondWait(in.Chan, t.id, t.resumed, out)
	case workload.OpSignal:
		s.Signal(in.Chan, out)
	case workload.OpBroadcast:
		s.Broadcast(in.Chan, out)
	case workload.OpMeet:
		s.Meet(in.Chan, t.id, t.resumed, out)
	case workload.OpSemPost:
		s.SemPost(in.Chan, out)
	case workload.OpSemWait:
		s.SemWait(in.Chan, t.id, t.resumed, out)
	case workload.OpPostTaken:
		posted := s.PostTaken(in.Chan, out)
		m.tasks[posted].stamp = m.objects[in.Chan].stamp
		return s.Taken(in.Chan)
	}
	return false
}

// futexCalls charges the calls into the kernel and performs their wakeups, the
// hash bucket's lock held meanwhile or not (workload.Rules.FutexHeld).
func (m *Sim) futexCalls(c *cpu, o *objectState, out *workload.Outcome) {
	wakeCalls := int64(out.Calls)
	m.result.FutexCalls += wakeCalls
	if out.Blocked {
		wakeCalls--
	}
	c.debt += wakeCalls * m.costs.FutexWake
	c.debt += max(0, o.freeAt-m.now-c.debt)
	o.freeAt = m.now + c.debt
	for i := range out.Wakes {
		t := &m.tasks[out.Wakes[i].Task]
		if t.lastCPU >= 0 { // it has queued itself there: bucket, and entry on its stack
			c.debt += m.costs.FutexLines * m.lineCost(c.id, t.lastCPU)
		}
		m.wake(c, t, out.Wakes[i].Sync)
	}
	if m.rules.FutexHeld {
		o.freeAt = m.now + c.debt
	}
	if out.Blocked {
		c.debt += m.costs.FutexWait
	}
}

// armTicks sets a timer of the timer wheel, which fires with a tick
// (ipc-and-benchmarks.md 5).
func (m *Sim) armTicks(c *cpu, t *task, ticks int64) {
	if m.rules.WheelRoundsUp {
		ticks++
	}
	at := m.tickTime(m.jiffies(m.now) + ticks)
	c.timers = append(c.timers, timer{soft: at, hard: at, task: t})
	c.timerAt = min(c.timerAt, at)
}
