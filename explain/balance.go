package explain

import (
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// Balance passes and their verdicts. At the entry of each pass of the kernel
// the model is asked what it would move, at each call of can_migrate_task
// whether it would let the task go; then the kernel is followed.

// BalancePass is one pass of the kernel beside the model's.
type BalancePass struct {
	Time, End int64 // ns: entry and return
	CPU       int   // that tasks go to
	Idle      sched.IdleType
	Model     sched.PassForecast
	Pulled    int64   // tasks that the kernel moved
	Kernel    []int32 // their PIDs, as far as events show them
	Shown     bool    // the kernel judged a task, so the fields below are known
	Source    int     // where that task was
	Move      int64   // what the kernel moves, and how much
	Imbalance int64
	Cause     PassCause
}

// Agrees reports whether both moved something or both nothing.
func (p *BalancePass) Agrees() bool { return (p.Pulled > 0) == (len(p.Model.Moved) > 0) }

// sameTasks reports whether both moved the same tasks.
func (p *BalancePass) sameTasks() bool {
	if len(p.Kernel) != len(p.Model.Moved) {
		return false
	}
	for _, t := range p.Model.Moved {
		if !containsPID(p.Kernel, t.ID) {
			return false
		}
	}
	return true
}

func containsPID(list []int32, pid int32) bool {
	for _, p := range list {
		if p == pid {
			return true
		}
	}
	return false
}

// openPass is a pass between its entry and its return.
type openPass struct {
	open bool
	BalancePass
	question sched.PassQuestion
	pinned   bool  // a task was refused because of its affinity
	left     int64 // of the imbalance, after the newest verdict
	from     int32 // the CPU whose tasks are looked at
	locked   int64 // ns when the pass had read that CPU's clock; 0: it has not
	// What the search for a cause needs: see balancecause.go.
	changed      bool // another CPU switched, or was given a task, meanwhile
	delayed      bool // the kernel judged a task that the model held for asleep
	otherVerdict bool // kernel and model judged a task differently
	supposed     PassCause
}

// openVerdict is a call of can_migrate_task that has not returned.
type openVerdict struct {
	open   bool
	who    *task
	ask    sched.VerdictQuestion
	moves  bool
	reason sched.Refusal
}

// cpuBalance is what the replay remembers of balancing on one CPU.
type cpuBalance struct {
	pass    openPass
	verdict openVerdict
}

// beginPass asks the model about a pass that the kernel begins.
func (r *replay) beginPass(c *cpuState, time int64, b trace.Balance, idle sched.IdleType) {
	p := &c.bal.pass
	*p = openPass{open: true, supposed: PassCauseRule}
	p.question = sched.PassQuestion{
		CPU: int(b.DestCPU), Span: int(b.Span), Idle: idle, Failed: max(0, b.Failed), Interval: max(1, b.Interval),
	}
	r.f.BalanceState(&p.question)
	p.BalancePass = BalancePass{Time: time, CPU: p.question.CPU, Idle: idle, Source: -1}
	r.f.At(c.clock(r.f.Now()), func() {
		p.Model = r.f.AskPass(&p.question)
		if len(p.Model.Moved) > 0 {
			p.supposed = r.supposePass(p, false)
		}
	})
}

// endPass compares what was moved, and follows what a pass leaves behind.
func (r *replay) endPass(c *cpuState, e *trace.Event) {
	p := &c.bal.pass
	if !p.open {
		return
	}
	p.open = false
	p.Pulled, p.End = e.Return(), e.Time
	if p.Pulled < 0 {
		return // not recorded
	}
	switch {
	case p.pinned && p.left > 0:
		r.f.GroupPinned(&p.question, true)
	case !p.Shown && p.Pulled == 0 && p.Model.Elected && p.Model.Source < 0:
		r.f.GroupPinned(&p.question, false)
	}
	r.f.PassDone(&p.question)
	if p.Model.Known {
		r.scorePass(p)
	}
}

// beginVerdict asks the model about a task that the balancer looks at.
func (r *replay) beginVerdict(c *cpuState, m trace.CanMigrate) {
	v := &c.bal.verdict
	*v = openVerdict{}
	k := r.tasks.byPID[m.PID]
	if k == nil || !r.isCPU(m.From) || !r.isCPU(m.To) {
		return
	}
	p := &c.bal.pass
	if p.open && (p.locked == 0 || p.from != m.From) {
		p.from, p.locked = m.From, r.f.Now()
	}
	if p.open && !p.Model.Known {
		return
	}
	v.open, v.who = true, k
	v.ask = sched.VerdictQuestion{Task: &k.Task, From: int(m.From), To: int(m.To), Move: max(0, m.Type)}
	if p.open {
		v.ask.Pass = &p.question
		p.delayed = p.delayed || !k.Queued()
		if !p.Shown {
			p.Shown, p.Source, p.Move, p.Imbalance = true, int(m.From), m.Type, m.Imbalance
		}
		p.left = m.Imbalance
	}
	r.f.At(c.clock(r.f.Now()), func() { v.reason = r.f.AskVerdict(&v.ask) })
	v.moves = v.reason == sched.NotRefused
}

func (r *replay) isCPU(cpu int32) bool { return cpu >= 0 && int(cpu) < len(r.cpus) }

// endVerdict compares the answers.
func (r *replay) endVerdict(c *cpuState, e *trace.Event) {
	v, p := &c.bal.verdict, &c.bal.pass
	if !v.open {
		return
	}
	v.open = false
	if e.Return() < 0 {
		return // not recorded
	}
	moves := e.Return() != 0
	r.scoreVerdict(p, v, moves)
	if moves != v.moves {
		p.otherVerdict = true
	}
	if moves && p.open && len(p.Model.Moved) == 0 && len(p.Kernel) == 0 {
		p.supposed = r.supposePass(p, true)
	}
	r.learnAffinity(v, moves)
	if !v.ask.Task.AllowedOn(v.ask.To) && !moves {
		p.pinned = true
	}
	if p.open {
		r.f.Considered(v.ask.Task)
	}
}

// learnAffinity keeps what a verdict tells about an affinity, which no event
// shows: a task that may move is not bound to its CPU any more.
//
// Who has bound threads together often frees them together: the others of the
// same program with the same affinity are supposed to be free as well, until
// one of them is refused without another reason.
func (r *replay) learnAffinity(v *openVerdict, moves bool) {
	k := v.who
	switch {
	case moves && !k.AllowedOn(v.ask.To):
		r.free(k)
	case moves:
		k.boundTo = 0
	case v.moves && k.boundTo != 0:
		r.bindAgain(k.boundTo)
	}
}

// free takes a task, and its companions, to be allowed everywhere.
func (r *replay) free(k *task) {
	bound := k.mask
	r.setFree(k)
	if bound == 0 || r.freedApart[bound] {
		return
	}
	for _, other := range r.tasks.byPID {
		if other.mask == bound && other.comm == k.comm {
			other.boundTo = bound
			r.setFree(other)
		}
	}
}

func (r *replay) setFree(k *task) {
	k.mask = allowedAnywhere
	r.f.SetAllowed(&k.Task, r.bundle.Machine.Online())
}

// allowedAnywhere is the mask of a task that may run on every CPU.
const allowedAnywhere = 1<<64 - 1

// bindAgain takes back what was supposed of the companions: they are freed one
// by one.
func (r *replay) bindAgain(mask uint64) {
	r.freedApart[mask] = true
	for _, k := range r.tasks.byPID {
		if k.boundTo == mask {
			k.boundTo = 0
			r.setAllowed(k, mask, int64(popCount(mask)))
		}
	}
}

// noteChange marks the passes of other CPUs that an event interferes with.
func (r *replay) noteChange(cpu int, kind trace.Kind) {
	switch kind {
	case trace.KindSwitch, trace.KindWakeup, trace.KindWakeupNew, trace.KindMigrate, trace.KindThrottle, trace.KindUnthrottle:
	default:
		return
	}
	for i := range r.cpus {
		if i != cpu {
			r.cpus[i].bal.pass.changed = true
		}
	}
}

// leftAt returns by which clock a task that is moved now has left its CPU: a pass
// reads the clock of its source once, before it looks at the first task there.
func (c *cpuState) leftAt(m trace.Migration, now int64) int64 {
	if p := &c.bal.pass; p.open && p.locked != 0 && p.from == m.From {
		return p.locked
	}
	return c.clock(now)
}

// notePulled keeps which tasks a pass moves.
func (c *cpuState) notePulled(k *task, m trace.Migration) {
	p, v := &c.bal.pass, &c.bal.verdict
	if p.open && v.who == k && int(m.To) == v.ask.To && !containsPID(p.Kernel, k.ID) {
		p.Kernel = append(p.Kernel, k.ID)
		if p.Move == kernelMovesTasks {
			p.left--
		}
	}
}

// kernelMovesTasks is migrate_task in the probe's type.
const kernelMovesTasks = 2
