package explain

import (
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// The flags of the probe sel. Kernels before v5.12 pass the domain flag and the
// wake flags separately.
const (
	flagExec = 0x2
	flagFork = 0x4
	flagSync = 0x10

	wakeFlagSync510 = 0x1
)

// request is one placement that the kernel is about to make.
type request struct {
	time  int64
	event int64 // number of the event in the trace
	index int64 // number of the placement
	sched.Question
}

// ask is a placement between its entry and its return.
type ask struct {
	request
	who       *task
	predicted int
	chosen    int     // by the kernel, once it has returned
	idle      []int32 // idle CPUs of prev's cache that the task may use
	lostTurn  bool    // its CPU stood still meanwhile
	overlaps  bool    // another placement was open meanwhile
	record    sched.Decision
	story     *Story // nil unless this decision is to be told
}

func (r *replay) onSelect(cpu int, c *cpuState, e *trace.Event) {
	sel := e.Select()
	if sel.Jiffies != trace.Unknown && !r.opts.IgnoreHidden && !r.bundle.Simulated {
		r.f.SetJiffies(e.Time, sel.Jiffies)
	}
	q := sched.Question{Kind: kindOf(sel.Flags), Here: cpu, Prev: r.validCPU(int(sel.PrevCPU)), Interrupt: e.InInterrupt()}
	q.Sync = sel.Flags&flagSync != 0
	if sel.WakeFlags != trace.Unknown {
		q.Sync = sel.WakeFlags&wakeFlagSync510 != 0
	}
	k := r.placedTask(c, e, &sel, q.Kind)
	if k == nil {
		r.result.Unknown++
		return
	}
	k.pinned = false
	if q.Kind == sched.KindWake {
		r.prepareWakee(k, q.Prev)
	}
	if !r.opts.IgnoreHidden {
		r.takeHidden(k, &sel, q.Kind)
	}
	r.beginAsk(c, k, e.Time, q)
}

func kindOf(flags uint32) sched.Kind {
	switch {
	case flags&flagExec != 0:
		return sched.KindExec
	case flags&flagFork != 0:
		return sched.KindFork
	}
	return sched.KindWake
}

// placedTask returns the task that a sel is about: the one it names, else the
// one that the events before it on that CPU speak of.
func (r *replay) placedTask(c *cpuState, e *trace.Event, sel *trace.Select, kind sched.Kind) *task {
	named := sel.PID > 0 && !r.opts.IgnoreHidden
	switch {
	case kind == sched.KindExec:
		return r.lookup(trace.Task{PID: e.PID, Comm: e.Comm, Prio: unknownPrio}, int(e.CPU))
	case kind == sched.KindFork && c.forked != nil && (!named || c.forked.ID == sel.PID):
		return c.forked
	case kind == sched.KindWake && c.waking != nil && (!named || c.waking.ID == sel.PID):
		return c.waking
	case named:
		return r.lookup(trace.Task{PID: sel.PID, Prio: unknownPrio}, int(sel.PrevCPU))
	}
	return nil
}

// prepareWakee mends the model: a task that the kernel places sleeps, at prev.
func (r *replay) prepareWakee(k *task, prev int) {
	if k.Queued() {
		r.f.Sleep(&k.Task)
		r.result.Mended++
	}
	r.f.Move(&k.Task, prev)
}

// beginAsk asks the model.
func (r *replay) beginAsk(c *cpuState, k *task, time int64, q sched.Question) {
	if c.asking {
		r.open-- // its return was lost
	}
	a := &c.ask
	c.asking = true
	q.Task = &k.Task
	a.request, a.who = request{time: time, event: r.result.Events, index: r.asked + 1, Question: q}, k
	a.overlaps, a.lostTurn = r.open > 0, false
	if r.open > 0 {
		r.markOverlaps()
	}
	r.open++
	a.idle = r.idleNear(a.idle[:0], k, q.Prev)
	r.noteFirstWakee(&q)
	r.f.Remember(&a.Question)
	a.predicted = r.f.Ask(&a.Question, &a.record)
	a.story = nil
	r.asked++
	if r.asked == r.opts.story {
		a.story = r.tell(a)
	}
}

func (r *replay) markOverlaps() {
	for i := range r.cpus {
		if r.cpus[i].asking {
			r.cpus[i].ask.overlaps = true
		}
	}
}

// idleNear lists the idle CPUs that share prev's cache and that k may use.
func (r *replay) idleNear(out []int32, k *task, prev int) []int32 {
	s := r.f.Scheduler()
	for cpu := range r.cpus {
		if s.Idle(cpu) && s.SharesCache(cpu, prev) && k.AllowedOn(cpu) {
			out = append(out, int32(cpu))
		}
	}
	return out
}

func (r *replay) onSelectReturn(cpu int, c *cpuState, e *trace.Event) {
	if !c.asking {
		return
	}
	chosen := int(e.Return())
	if chosen < 0 || chosen >= len(r.cpus) {
		return
	}
	r.askLate(&c.ask, e)
	r.endAsk(c, chosen, e.Time)
	k := c.ask.who
	k.arrived = c.clock(e.Time)
	switch c.ask.Kind {
	case sched.KindWake:
		c.leaving = nil
		if chosen != c.ask.Prev && !r.bundle.Simulated { // a simulation moves it at once
			c.leaving = k
		} else {
			r.f.Placed(&k.Task, cpu, chosen)
		}
		c.waking, k.wakingOn, c.sent = nil, nil, k
	case sched.KindFork:
		r.f.ForkPlaced(&k.Task, chosen)
		c.forked, c.starting, k.startingOn = nil, k, c
	}
	k.fresh = false
}

// endAsk compares the kernel's choice with the model's.
func (r *replay) endAsk(c *cpuState, chosen int, time int64) {
	c.asking, c.ask.chosen = false, chosen
	r.open--
	r.score(&c.ask, chosen, time)
}

// endAskOf is endAsk for a recording without probes, where the wakeup, on any
// CPU, tells the kernel's choice.
func (r *replay) endAskOf(k *task, chosen int) {
	for i := range r.cpus {
		if c := &r.cpus[i]; c.asking && c.ask.who == k {
			r.endAsk(c, chosen, c.ask.time)
			return
		}
	}
}
