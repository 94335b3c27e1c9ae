package trace

// This file makes events, for programs that write recordings of their own. What
// is unknown in a view stays unknown in the event.

// Init makes e an event of a kind of which only time and place are known.
func (e *Event) Init(kind Kind, time int64, cpu int32) {
	e.reset()
	e.Kind, e.Time, e.CPU = kind, time, cpu
}

// SetCurrent tells which thread ran on the event's CPU.
func (e *Event) SetCurrent(comm Name, pid int32) { e.Comm, e.PID = comm, pid }

// SetSwitch fills an event of KindSwitch.
func (e *Event) SetSwitch(s Switch) {
	e.setTask(0, s.Prev)
	if s.PrevState.Known() {
		e.set(3, int64(s.PrevState))
	}
	e.setTask(4, s.Next)
}

// SetWake fills an event of KindWaking, KindWakeup or KindWakeupNew.
func (e *Event) SetWake(w Wake) {
	e.setTask(0, w.Task)
	e.setSmall(4, w.TargetCPU)
}

// SetMigration fills an event of KindMigrate.
func (e *Event) SetMigration(m Migration) {
	e.setTask(0, m.Task)
	e.setSmall(3, m.From)
	e.setSmall(4, m.To)
}

// SetFork fills an event of KindFork.
func (e *Event) SetFork(f Fork) {
	e.setText(0, f.Parent.Comm)
	e.setSmall(1, f.Parent.PID)
	e.setText(2, f.Child.Comm)
	e.setSmall(3, f.Child.PID)
}

// SetExec fills an event of KindExec.
func (e *Event) SetExec(x Exec) {
	e.setText(0, x.Filename)
	e.setSmall(1, x.PID)
	e.setSmall(2, x.OldPID)
}

// SetExit fills an event of KindExit or KindFree.
func (e *Event) SetExit(t Task) { e.setTask(0, t) }

// SetSoftirq fills an event of the softirq kinds; vector 7 is the scheduler's.
func (e *Event) SetSoftirq(vector int64) { e.setKnown(0, vector) }

// SetTick fills an event of KindTick.
func (e *Event) SetTick(cpu int32) { e.setSmall(0, cpu) }

// SetAttach fills an event of KindAttach.
func (e *Event) SetAttach(a Attach) {
	e.setKnown(0, a.Root)
	e.setKnown(1, a.ID)
	e.setKnown(2, a.Level)
	e.setText(3, a.Path)
	e.setSmall(4, a.PID)
	e.setText(5, a.Comm)
}

// SetSelect fills an event of KindSelect.
func (e *Event) SetSelect(s Select) {
	e.setSmall(0, s.PrevCPU)
	e.set(1, int64(s.Flags))
	e.setKnown(2, s.WakeFlags)
	e.setSmall(3, s.PID)
	for i, v := range [...]int64{s.Flips, s.Decay, s.Jiffies, s.RecentCPU, s.Load, s.Util, s.Policy, s.NAllowed} {
		e.setKnown(4+i, v)
	}
	if s.Allowed != 0 {
		e.set(12, int64(s.Allowed))
	}
	for i, v := range [...]int64{s.QueueLoad, s.PrevLoad, s.PrevIdle} {
		e.setKnown(13+i, v)
	}
}

// SetReturn fills an event of KindSelectReturn, KindBalanceReturn or
// KindCanMigrateReturn.
func (e *Event) SetReturn(value int64) { e.setKnown(0, value) }

// SetQueue fills an event of KindThrottle or KindUnthrottle.
func (e *Event) SetQueue(q Queue) {
	if q.Address != 0 {
		e.set(0, int64(q.Address))
	}
	e.setSmall(1, q.CPU)
}

// SetBalance fills an event of KindBalance.
func (e *Event) SetBalance(b Balance) {
	e.setSmall(0, b.DestCPU)
	for i, v := range [...]int64{b.Level, b.Span, b.Failed, b.Interval, b.Idle} {
		e.setKnown(1+i, v)
	}
}

// SetCanMigrate fills an event of KindCanMigrate.
func (e *Event) SetCanMigrate(c CanMigrate) {
	e.setSmall(0, c.PID)
	e.setSmall(1, c.From)
	e.setSmall(2, c.To)
	for i, v := range [...]int64{c.Imbalance, c.Type, c.Load, c.Util} {
		e.setKnown(3+i, v)
	}
}

// SetLost fills an event of KindLost; count is Unknown when nobody counted.
func (e *Event) SetLost(count int64) { e.setKnown(0, count) }

func (e *Event) setTask(slot int, t Task) {
	e.setText(slot, t.Comm)
	e.setSmall(slot+1, t.PID)
	e.setSmall(slot+2, t.Prio)
}

func (e *Event) setText(slot int, name Name) {
	if name != NoName {
		e.set(slot, int64(name))
	}
}

func (e *Event) setSmall(slot int, value int32) {
	if value >= 0 {
		e.set(slot, int64(value))
	}
}

func (e *Event) setKnown(slot int, value int64) {
	if value != Unknown {
		e.set(slot, value)
	}
}
