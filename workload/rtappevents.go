package workload

import "github.com/schedlab/schedlab/rtapp"

// rtProgram is the program of one thread while it is written.
type rtProgram struct {
	*rtBuilder
	code   Program
	thread *rtThread
	own    map[string]int32 // its own timers
	offset int64            // ns from the epoch to its first period
}

// The loop counters of a thread.
const (
	phaseSlot  = 0
	threadSlot = 1
)

// threadProgram is the life of a thread: meet the others, wait for its delay,
// set what the task sets, then the phases over and over.
func (b *rtBuilder) threadProgram(index int, t *rtThread, gate int32) Program {
	p := &rtProgram{rtBuilder: b, thread: t, own: map[string]int32{}, offset: t.task.Delay * 1000}
	if index == 0 {
		p.emit(Instr{Op: OpEpoch})
	}
	if t.forked < 0 {
		p.emit(Instr{Op: OpMeet, Chan: gate})
	}
	if t.task.Delay > 0 {
		p.delay()
	}
	p.attributes(&t.task.Attributes, p.priorities[t.task].task)
	p.phases()
	p.emit(Instr{Op: OpExit})
	return p.code
}

func (p *rtProgram) emit(in ...Instr) { p.code = append(p.code, in...) }

func (p *rtProgram) here() int32 { return int32(len(p.code)) }

// delay sleeps until the time from which the thread's timers count.
func (p *rtProgram) delay() {
	timer := int32(len(p.s.Timers))
	p.s.Timers = append(p.s.Timers, TimerSpec{})
	p.emit(Instr{Op: OpDue, Chan: timer, N: p.offset, Target: p.here() + 2}, Instr{Op: OpSleepUntil, Chan: timer})
}

func (p *rtProgram) phases() {
	t := p.thread.task
	if t.Loop == 0 {
		return
	}
	top := p.here()
	for i := range t.Phases {
		p.phase(i, &t.Phases[i])
	}
	p.loop(top, t.Loop, threadSlot)
}

// loop repeats what has been written since top; it was there once already.
func (p *rtProgram) loop(top int32, times int64, slot uint8) {
	if times < 0 {
		times = Forever
	}
	if times > 1 {
		p.emit(Instr{Op: OpLoop, Target: top, N: times, Slot: slot})
	}
}

func (p *rtProgram) phase(i int, phase *rtapp.Phase) {
	p.affinity(phase)
	p.attributes(&phase.Attributes, p.priorities[p.thread.task].phases[i])
	p.thread.phases = append(p.thread.phases, rtPhase{})
	top := p.here()
	p.emit(Instr{Op: OpActivate})
	for j := range phase.Events {
		p.event(&phase.Events[j], &p.thread.phases[i])
	}
	p.emit(Instr{Op: OpActivated, N: int64(i)})
	times := phase.Loop
	if times == 0 { // the count of turns never is 0 again
		times = -1
	}
	p.loop(top, times, phaseSlot)
}

// affinity is that of the phase, else of the task, else the first one; a thread
// that never changes it needs no call.
func (p *rtProgram) affinity(phase *rtapp.Phase) {
	t := p.thread.task
	changes := t.CPUs != nil
	for i := range t.Phases {
		changes = changes || t.Phases[i].CPUs != nil
	}
	if !changes {
		return
	}
	cpus := phase.CPUs
	if cpus == nil {
		cpus = t.CPUs
	}
	p.emit(Instr{Op: OpAffinity, Chan: p.cpuSet(cpus)})
}

func (p *rtProgram) attributes(a *rtapp.Attributes, priority *rtPriority) {
	if priority != nil {
		p.emit(Instr{Op: OpPriority, N: priority.nice, M: int64(priority.policy)})
	}
	if a.Taskgroup != "" {
		p.emit(Instr{Op: OpGroup, Chan: p.group(a.Taskgroup)})
	}
}

// event writes what one event does.
func (p *rtProgram) event(e *rtapp.Event, total *rtPhase) {
	switch e.Kind {
	case rtapp.Run:
		total.durationMicros += e.Micros
		total.perf += e.Micros / p.loopNS
		p.emit(Instr{Op: OpClockIn}, Instr{Op: OpRun, N: p.work(e.Micros)}, Instr{Op: OpClockOut})
	case rtapp.Runtime:
		total.durationMicros += e.Micros
		p.emit(Instr{Op: OpClockIn}, Instr{Op: OpRunWall, N: e.Micros * 1000, M: max(1, p.work(pieceMicros))})
	case rtapp.Sleep:
		p.emit(Instr{Op: OpSleep, N: e.Micros * 1000})
	case rtapp.Timer:
		total.periodMicros += e.Micros
		p.timerEvent(e)
	case rtapp.Mem, rtapp.IORun, rtapp.MemRun:
		p.memoryEvent(e)
	case rtapp.Yield:
		p.emit(Instr{Op: OpYield})
	case rtapp.Fork:
		if pool, forks := p.pools[e.Ref]; forks {
			p.emit(Instr{Op: OpForkNext, Chan: pool})
		}
	case rtapp.SemPost:
		p.emit(Instr{Op: OpSemPost, Chan: p.sems[e.Ref]})
	case rtapp.SemWait:
		p.emit(Instr{Op: OpSemWait, Chan: p.sems[e.Ref]})
	default:
		p.lockEvent(e)
	}
}

// pieceMicros is how much work a runtime event does between two looks at the
// clock.
const pieceMicros = 32

// work is the time of a number of µs in whole loops. More than a second is done
// second by second, each of them in whole loops.
func (b *rtBuilder) work(micros int64) int64 {
	const second = 1e9
	whole, rest := micros*1000/second, micros*1000%second
	return whole*(second/b.loopNS*b.loopNS) + rest/b.loopNS*b.loopNS
}

func (p *rtProgram) timerEvent(e *rtapp.Event) {
	timer := p.timer(e, p.own)
	due := Instr{Op: OpDue, Chan: timer, N: e.Micros * 1000, M: p.offset, Target: p.here() + 3}
	if p.file.Global.CumulativeSlack {
		due.Slot = 1
	}
	p.emit(due, Instr{Op: OpSleepUntil, Chan: timer}, Instr{Op: OpLate, Chan: timer})
}

func (p *rtProgram) lockEvent(e *rtapp.Event) {
	mutex, cond := p.mutexes[e.Ref], p.conds[e.Ref]
	switch e.Kind {
	case rtapp.Lock:
		p.emit(Instr{Op: OpLock, Chan: mutex})
	case rtapp.Unlock:
		p.emit(Instr{Op: OpUnlock, Chan: mutex})
	case rtapp.Wait:
		p.emit(Instr{Op: OpCondWait, Chan: cond})
	case rtapp.Signal:
		p.emit(Instr{Op: OpSignal, Chan: cond})
	case rtapp.Broadcast:
		p.emit(Instr{Op: OpBroadcast, Chan: cond})
	case rtapp.Sync:
		p.emit(Instr{Op: OpSignal, Chan: cond}, Instr{Op: OpCondWait, Chan: cond})
	case rtapp.Suspend:
		p.emit(Instr{Op: OpLock, Chan: mutex}, Instr{Op: OpCondWait, Chan: cond}, Instr{Op: OpUnlock, Chan: mutex})
	case rtapp.Resume:
		p.emit(Instr{Op: OpLock, Chan: mutex}, Instr{Op: OpBroadcast, Chan: cond}, Instr{Op: OpUnlock, Chan: mutex})
	case rtapp.Barrier:
		p.barrier(p.barriers[e.Ref])
	}
}

// barrier counts those who arrive: the last one, who finds nobody expected any
// more, wakes the others, each of whom takes its place in the count again.
func (p *rtProgram) barrier(b rtBarrier) {
	at := p.here()
	last, end := at+6, at+7
	p.emit(
		Instr{Op: OpLock, Chan: b.mutex},
		Instr{Op: OpBranch, Chan: b.waiting, N: 0, Target: last},
		Instr{Op: OpAdd, Chan: b.waiting, N: -1},
		Instr{Op: OpCondWait, Chan: b.cond},
		Instr{Op: OpAdd, Chan: b.waiting, N: 1},
		Instr{Op: OpBranch, Chan: p.always, N: 0, Target: end},
		Instr{Op: OpBroadcast, Chan: b.cond},
		Instr{Op: OpUnlock, Chan: b.mutex},
	)
}

// memoryEvent goes through a buffer, or writes it to a device in pieces as long
// as the buffer.
func (p *rtProgram) memoryEvent(e *rtapp.Event) {
	buffer := p.file.Global.MemBuffer
	switch {
	case e.Count == 0:
	case e.Kind == rtapp.Mem:
		p.emit(Instr{Op: OpTouch, N: e.Count, M: buffer, Slot: uint8(AccessBlock)})
	case e.Kind == rtapp.IORun:
		p.emit(Instr{Op: OpSyscalls, N: (e.Count + buffer - 1) / buffer})
	default:
		access := AccessBytes
		if e.Memory.Type == "chase" {
			access = AccessChase
			if e.Memory.Sequential {
				access = AccessStride
			}
		}
		p.emit(Instr{Op: OpTouch, N: e.Count, M: e.Memory.Size, Slot: uint8(access)})
	}
}
