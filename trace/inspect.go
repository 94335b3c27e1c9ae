package trace

// inspector looks at each event that a reader delivers, in order: it counts
// kinds and notices what the format itself does not say, such as time that runs
// backwards. It does not change what is delivered, it only marks.
type inspector struct {
	stats  *Stats
	newest int64
	any    bool
	cpus   []cpuHistory
}

// cpuHistory is what the last event of a CPU was.
type cpuHistory struct {
	last    fingerprint
	running int32 // thread the CPU switched to, or UnknownPID
	seen    bool
}

// fingerprint stands for an event in the search for repetitions.
type fingerprint struct {
	time int64
	kind Kind
	hash uint64
}

func newInspector(stats *Stats) inspector { return inspector{stats: stats} }

func (in *inspector) see(e *Event) {
	s := in.stats
	if e.Kind == KindLost {
		in.seeLost(e)
		return
	}
	s.Events++
	s.ByKind[e.Kind]++
	if e.Kind == KindOther {
		s.unknown[e.Name]++
	}
	if e.Marks&MarkMalformed != 0 {
		s.Malformed++
	}
	in.checkOrder(e)
	if cpu := in.cpu(e.CPU); cpu != nil {
		in.checkRepetition(cpu, e)
		in.checkContinuity(cpu, e)
	}
}

// seeLost forgets what ran where: the lost events may have changed it.
func (in *inspector) seeLost(e *Event) {
	in.stats.LostMarks++
	in.stats.ByKind[KindLost]++
	if n := e.LostCount(); n > 0 {
		in.stats.Lost += n
	}
	if e.CPU == UnknownCPU {
		for i := range in.cpus {
			in.cpus[i].running = UnknownPID
		}
	} else if cpu := in.cpu(e.CPU); cpu != nil {
		cpu.running = UnknownPID
	}
}

func (in *inspector) checkOrder(e *Event) {
	if in.any && e.Time < in.newest {
		e.Marks |= MarkReordered
		in.stats.Reordered++
		return
	}
	in.newest, in.any = e.Time, true
}

// checkRepetition compares with the event before on the CPU. To the nanosecond, no
// two events are equal; to the microsecond, some kinds may be.
func (in *inspector) checkRepetition(cpu *cpuHistory, e *Event) {
	if e.Kind == KindOther || !e.Kind.schema().once && in.stats.Resolution != 1 {
		return
	}
	print := fingerprintOf(e)
	if cpu.seen && print == cpu.last {
		e.Marks |= MarkDuplicate
		in.stats.Duplicated++
	}
	cpu.last, cpu.seen = print, true
}

// checkContinuity compares the thread that an event names as running with the one
// that its CPU switched to.
func (in *inspector) checkContinuity(cpu *cpuHistory, e *Event) {
	if e.Kind == KindOther || e.Marks&(MarkDuplicate|MarkReordered) != 0 {
		return
	}
	if subject := subjectOf(e); subject != UnknownPID && e.PID != UnknownPID && subject != e.PID {
		in.stats.Breaks++
	} else if cpu.running != UnknownPID && e.PID != UnknownPID && e.PID != cpu.running {
		in.stats.Breaks++
	}
	cpu.running = e.PID
	if e.Kind == KindSwitch {
		cpu.running = e.small(5)
	}
}

// subjectOf returns the thread that an event says is the running one itself.
func subjectOf(e *Event) int32 {
	switch e.Kind {
	case KindSwitch, KindFork, KindExec, KindExit:
		return e.small(1)
	}
	return UnknownPID
}

func (in *inspector) cpu(number int32) *cpuHistory {
	if number < 0 || number >= maxCPU {
		return nil
	}
	for int(number) >= len(in.cpus) {
		in.cpus = append(in.cpus, cpuHistory{running: UnknownPID})
	}
	return &in.cpus[number]
}

func fingerprintOf(e *Event) fingerprint {
	const prime = 0x9e3779b97f4a7c15
	hash := uint64(uint32(e.PID))
	for slot := range e.Kind.schema().fields {
		if e.has&(1<<slot) != 0 {
			hash = (hash ^ uint64(e.args[slot])) * prime
			hash ^= hash >> 29
		}
	}
	return fingerprint{time: e.Time, kind: e.Kind, hash: hash}
}
