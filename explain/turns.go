package explain

import "github.com/schedlab/schedlab/trace"

// Machines whose CPUs take turns.
//
// An emulator that runs all virtual CPUs on one real one gives each a turn of
// about one tick; meanwhile the others stand still, wherever they are. A CPU
// that has read its clock at the start of a context switch and loses its turn
// before it records the switch does so milliseconds later, although the
// scheduler has charged everything by the earlier clock. And a tick is not
// taken when it is due but at the CPU's next turn.
//
// Such a recording shows itself: events of one CPU come in long rows. Where
// CPUs really run side by side their events mingle.

// turns is what is known of whose turn it is.
type turns struct {
	taken    bool
	tick     int64 // ns
	cpu      int   // whose turn it is; valid once last is set
	last     int64 // ns of the newest event
	resumed  int64 // ns when this turn began, as far as the events tell
	anything bool
}

// cpuTurn is one CPU's part.
type cpuTurn struct {
	last     int64 // ns of its newest event
	paused   int64 // ns when its last turn ended
	ticked   int64 // ns of its last tick
	carried  int64 // ns of the clock that it read before it lost its turn; 0: none
	resuming bool  // nothing but carried-over work has been seen in this turn
}

// carriedOver is how soon after its turn began a CPU records what it had begun
// before: a tick, which would come first with interrupts enabled, takes longer.
const carriedOver = 100_000

// takeTurn notes whose turn it is, and runs the tick of a CPU that has one due.
func (r *replay) takeTurn(cpu int, c *cpuState, e *trace.Event) {
	t := &r.turns
	if !t.anything || t.cpu != cpu {
		r.changeTurn(cpu, c, e.Time)
	}
	c.turn.carried = 0
	if c.turn.resuming {
		soon := e.Time-t.resumed < carriedOver || r.wasLeaving(cpu, c)
		if soon && carriesOver(e) && c.turn.paused > 0 && !r.causedSince(c.turn.paused, e) {
			c.turn.carried = c.turn.paused
			c.turn.resuming = !readsClockAgain(e.Kind)
		} else {
			c.turn.resuming = false
		}
	}
	if c.turn.carried == 0 && (interruptible(e.Kind) || c.beginsExec(e.Kind)) {
		r.tickWhenDue(cpu, c, max(t.resumed, c.turn.last, t.tickAfter(c.turn.ticked)))
	}
	c.turn.last, t.last = e.Time, e.Time
}

// tickWhenDue runs a CPU's tick at the given time, if one is due by then.
func (r *replay) tickWhenDue(cpu int, c *cpuState, at int64) {
	if at < r.turns.tickAfter(c.turn.ticked) || at > r.f.Now() {
		return
	}
	c.turn.ticked = at
	r.f.At(at, func() { r.f.Tick(cpu) })
}

// endTurnEvent runs the tick that has waited for the end of what was carried
// over: the interrupt comes as soon as interrupts are enabled again.
func (r *replay) endTurnEvent(cpu int, c *cpuState, e *trace.Event) {
	if c.turn.carried != 0 && (e.Kind == trace.KindSwitch || e.Kind == trace.KindWakeup || e.Kind == trace.KindWakeupNew) {
		r.tickWhenDue(cpu, c, e.Time)
	}
}

// change estimates when the turn before ended and the one of an event at now
// began: at the newest event, or at the first and the last tick since then.
func (t *turns) change(now int64) (ended, began int64) {
	if first := t.tickAfter(t.last); first <= now {
		return first, t.tickAfter(now) - t.tick
	}
	return t.last, t.last
}

// changeTurn ends one CPU's turn and begins another's.
func (r *replay) changeTurn(cpu int, c *cpuState, now int64) {
	t := &r.turns
	if t.anything {
		var end int64
		end, t.resumed = t.change(now)
		left := &r.cpus[t.cpu]
		left.turn.paused = end
		left.ask.lostTurn = true
		r.leaveQueue(t.cpu, left, end)
		r.holdBack(left, cpu)
		if k := left.starting; k != nil && !r.passesOver(cpu, k.CPU()) {
			left.starting = nil
			r.f.At(end, func() { r.f.Started(&k.Task, k.CPU()) })
			r.cpus[k.CPU()].supposed = k
		}
	}
	if t.anything {
		r.tickPassed(cpu)
		r.sendHeldBack(c, cpu)
	}
	t.cpu, t.anything = cpu, true
	c.turn.resuming = true
}

// passesOver reports whether the turn goes from the present CPU to the next one past an idle CPU.
// That CPU was sent nothing, or it would have recorded something.
func (r *replay) passesOver(next, cpu int) bool {
	n, from := len(r.cpus), r.turns.cpu
	return r.f.Scheduler().Current(cpu) == nil && cpu != from && (cpu-from+n)%n < (next-from+n)%n
}

// holdBack: a wakee that the CPU which loses its turn has placed last is not on the wake list
// of a CPU that the turn passes over. It will be once its waker goes on.
func (r *replay) holdBack(left *cpuState, next int) {
	if k := left.sent; k != nil && !k.Queued() && r.passesOver(next, k.CPU()) {
		left.held = k
		r.f.NotSent(&k.Task)
	}
	left.sent = nil
}

// sendHeldBack goes on with what a CPU was about to do when it lost its turn.
func (r *replay) sendHeldBack(c *cpuState, cpu int) {
	if k := c.held; k != nil {
		c.held = nil
		r.f.Pending(&k.Task, cpu)
	}
}

// takeBackStart: a CPU that falls idle has no new task yet that was only
// supposed to have been queued there. Its start is still to come.
func (r *replay) takeBackStart(c *cpuState) {
	if k := c.supposed; k != nil {
		c.supposed = nil
		r.f.StartedTooSoon(&k.Task)
	}
}

// tickPassed runs the ticks of CPUs that have had a turn in which they recorded
// nothing: turns go round in the order of the CPUs' numbers [T], and a task that
// computes makes no events, but its CPU ticks, and so was not kept from it by
// anything that it had begun before.
func (r *replay) tickPassed(next int) {
	t := &r.turns
	for passed := (t.cpu + 1) % len(r.cpus); passed != next && t.cpu != next; passed = (passed + 1) % len(r.cpus) {
		c := &r.cpus[passed]
		if r.f.Scheduler().Current(passed) == nil {
			continue // it sleeps, or would have recorded what woke it
		}
		r.tickWhenDue(passed, c, max(t.last, t.tickAfter(c.turn.ticked)))
		c.turn.paused = max(c.turn.paused, c.turn.ticked)
	}
}

// wasLeaving reports whether a CPU's running task is being woken by another one,
// which waits for the switch to end: the task had left its queue.
func (r *replay) wasLeaving(cpu int, c *cpuState) bool {
	curr := r.f.Scheduler().Current(cpu)
	if curr == nil {
		return false
	}
	k := r.tasks.byPID[curr.ID]
	return k != nil && k.beingWoken(c)
}

// causedSince reports whether an event is about a task that came to its CPU
// after a moment: then the CPU cannot have begun with it before.
func (r *replay) causedSince(moment int64, e *trace.Event) bool {
	var pid int32
	switch e.Kind {
	case trace.KindSwitch:
		pid = e.Switch().Next.PID
	case trace.KindWakeup, trace.KindWakeupNew:
		pid = e.Wake().PID
	}
	k := r.tasks.byPID[pid]
	return k != nil && k.arrived > moment
}

// tickAfter returns the first tick behind at. Ticks come at whole multiples of
// their period on the monotonic clock [T].
func (t *turns) tickAfter(at int64) int64 { return at - at%t.tick + t.tick }

// carriesOver reports whether an event may belong to a stretch without
// interrupts that began before.
func carriesOver(e *trace.Event) bool {
	if !e.Known || e.Flags&trace.ContextIRQsOff == 0 || e.InInterrupt() {
		return false
	}
	switch e.Kind {
	case trace.KindSwitch, trace.KindWakeup, trace.KindWakeupNew,
		trace.KindBalance, trace.KindBalanceReturn, trace.KindCanMigrate, trace.KindCanMigrateReturn:
		return true
	}
	return false
}

// readsClockAgain reports whether what follows an event of its kind on its CPU has
// a clock of its own. The scheduler reads a runqueue's clock when it locks it: a
// wakeup after the CPU has been chosen, a switch before anything else. Newidle
// balancing is part of a switch.
func readsClockAgain(k trace.Kind) bool {
	switch k {
	case trace.KindBalance, trace.KindBalanceReturn, trace.KindCanMigrate, trace.KindCanMigrateReturn:
		return false
	}
	return true
}

// interruptible reports whether interrupts were enabled at some moment between
// the event before and this one.
func interruptible(k trace.Kind) bool {
	switch k {
	case trace.KindWakeup, trace.KindMigrate, trace.KindSelect, trace.KindSelectReturn,
		trace.KindCanMigrate, trace.KindCanMigrateReturn, trace.KindBalanceReturn:
		return false
	}
	return true
}

// beginsExec reports whether a placement is nobody's who is being woken or forked:
// an exec's, which nothing comes before.
func (c *cpuState) beginsExec(k trace.Kind) bool {
	return k == trace.KindSelect && c.waking == nil && c.forked == nil
}

// clock returns the time that a CPU had read when it did what it records now.
func (c *cpuState) clock(now int64) int64 {
	if c.turn.carried != 0 {
		return c.turn.carried
	}
	return now
}

// turnCount tells a recording with turns from one of CPUs side by side.
type turnCount struct {
	events, changes int64
	cpu             int32
}

func (n *turnCount) add(cpu int32) {
	n.events++
	if cpu != n.cpu {
		n.changes++
	}
	n.cpu = cpu
}

// taken: with turns one event in five to twenty-five is of another CPU than the
// one before; side by side, with anything to do on several CPUs, most are.
func (n *turnCount) taken() bool { return n.events > 100 && n.changes*4 < n.events }
