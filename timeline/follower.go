package timeline

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/schedlab/schedlab/trace"
)

// Follower follows one recording. Its callbacks may be nil; what they are given
// is valid during the call.
type Follower struct {
	// OnInterval is called at the end of each interval, also for the idle threads.
	OnInterval func(*Interval)
	// OnWait is called for each part of a wait, which together make up the wait's
	// interval wherever its CPU is known.
	OnWait func(*WaitPart)
	// OnDepth is called when the number of threads queued on a CPU changes, the
	// running one included and the idle thread not.
	OnDepth func(cpu int32, at int64, queued int)
	// OnIdle is called when a CPU enters an idle state (0 is the shallowest) or
	// leaves idleness (-1).
	OnIdle func(cpu int32, at int64, state int64)

	now          int64
	begun        bool
	incarnations *trace.Threads
	holders      map[int32]*thread // by PID, the idle threads left out
	cpus         []*cpu

	interval Interval // what callbacks are given, reused
	waitPart WaitPart
}

// NewFollower returns a follower that has seen nothing.
func NewFollower() *Follower {
	return &Follower{incarnations: trace.NewThreads(), holders: make(map[int32]*thread)}
}

// Observe shows the follower the next event. A time before that of an earlier
// event is taken for that event's; an event of an unknown CPU is passed over.
func (f *Follower) Observe(e *trace.Event) {
	here := f.cpu(e.CPU)
	if here == nil {
		return
	}
	if !f.begun || e.Time > f.now {
		f.begun, f.now = true, e.Time
	}
	if e.Kind == trace.KindLost {
		f.lose(here)
		return
	}
	f.learn(here, e)
	f.follow(here, e)
	here.confirmed = f.now
}

func (f *Follower) follow(here *cpu, e *trace.Event) {
	f.incarnations.Observe(e)
	if e.TGID > 0 && here.running != nil && here.running.id.PID == e.PID {
		here.running.id.TGID = e.TGID
	}
	switch e.Kind {
	case trace.KindSwitch:
		f.switched(here, e.Switch())
	case trace.KindWaking, trace.KindWakeup, trace.KindWakeupNew:
		f.woken(e)
	case trace.KindMigrate:
		f.migrated(e.Migration())
	case trace.KindFork:
		f.forked(here, e.Fork())
	case trace.KindAttach:
		f.attached(here, e.Attach())
	case trace.KindIdleState:
		f.sleepAs(f.cpu(e.IdleState().CPU), e.IdleState().Depth)
	case trace.KindOther:
		f.other(e)
	}
}

func (f *Follower) switched(c *cpu, s trace.Switch) {
	prev := f.named(s.Prev, c.number)
	if c.running != prev {
		f.correct(c, prev)
	}
	f.cut(c, f.now)
	c.running = nil
	if prev != nil {
		f.leave(c, prev, s.PrevState)
	}
	next := f.named(s.Next, c.number)
	if next == nil {
		return
	}
	if !next.id.Idle() {
		f.sleepAs(c, awake)
	}
	f.run(c, next)
}

// correct puts the thread that really ran on a CPU in the place of the one that
// was thought to.
func (f *Follower) correct(c *cpu, ran *thread) {
	if c.running != nil {
		f.forget(c.running)
	}
	if ran != nil {
		if ran.state != Unseen {
			f.forget(ran)
		}
		f.run(c, ran)
	}
}

// leave is what a thread does that has left the CPU in a state.
func (f *Follower) leave(c *cpu, t *thread, state trace.State) {
	switch {
	case t.id.Idle() || !state.Known():
		f.dequeue(t)
		f.turn(t, Unseen)
	case state.Runnable():
		f.wait(t, c.number)
	case state.Gone():
		f.dequeue(t)
		f.turn(t, Gone)
		delete(f.holders, t.id.PID)
	default:
		f.dequeue(t)
		f.turn(t, Asleep)
		t.sleep = state
	}
}

// woken follows a wakeup. Who runs or waits already stays so: the wakeup then
// came before the thread had got to sleep.
func (f *Follower) woken(e *trace.Event) {
	w := e.Wake()
	t := f.named(w.Task, w.TargetCPU)
	if t == nil || t.id.Idle() || f.cpu(w.TargetCPU) == nil {
		return
	}
	switch t.state {
	case Running:
		return
	case Waiting:
		f.move(t, w.TargetCPU)
	default:
		f.wait(t, w.TargetCPU)
		t.woken = true
		t.waker = Waker{PID: e.PID, Comm: e.Comm, CPU: e.CPU, Interrupt: e.InInterrupt()}
	}
	if e.Kind != trace.KindWaking {
		f.enqueue(t, w.TargetCPU)
	}
}

// migrated follows a move. A thread that is about to be woken is not queued yet
// and only its wait moves.
func (f *Follower) migrated(m trace.Migration) {
	t := f.named(m.Task, m.To)
	if t == nil || t.id.Idle() || t.state == Running || f.cpu(m.To) == nil {
		return
	}
	f.move(t, m.To)
}

func (f *Follower) forked(here *cpu, fork trace.Fork) {
	parent, child := f.named(fork.Parent, here.number), f.named(fork.Child, here.number)
	if child == nil || child.id.Idle() {
		return
	}
	if child.state != Unseen {
		f.forget(child)
	}
	child.state, child.since = Born, f.now
	if parent != nil {
		child.id.Group = parent.id.Group
	}
}

func (f *Follower) attached(here *cpu, a trace.Attach) {
	if t := f.named(a.Task, here.number); t != nil && a.Path != trace.NoName {
		t.id.Group = a.Path
	}
}

// other reads the kernel's cpu_idle, which is kept by its printed form
// "state=1 cpu_id=3"; 4294967295 is the end of idleness.
func (f *Follower) other(e *trace.Event) {
	rest, found := bytes.CutPrefix(e.Detail, []byte("state="))
	if !found {
		return
	}
	stateText, cpuText, found := bytes.Cut(rest, []byte(" cpu_id="))
	if !found {
		return
	}
	state, err := strconv.ParseUint(string(stateText), 10, 32)
	if err != nil {
		return
	}
	number, err := strconv.ParseInt(string(cpuText), 10, 32)
	if err != nil {
		return
	}
	f.sleepAs(f.cpu(int32(number)), int64(int32(state)))
}

// Finish ends what is still open at the time of the last event, in the order of
// PIDs. Nothing may be observed after it.
func (f *Follower) Finish() {
	rest := make([]*thread, 0, len(f.holders)+len(f.cpus))
	for _, t := range f.holders {
		rest = append(rest, t)
	}
	for _, c := range f.cpus {
		if c.idler != nil {
			rest = append(rest, c.idler)
		}
	}
	slices.SortFunc(rest, func(a, b *thread) int {
		return cmp.Or(cmp.Compare(a.id.PID, b.id.PID), cmp.Compare(a.id.Incarnation, b.id.Incarnation))
	})
	for _, t := range rest {
		if t.state == Waiting {
			if c := f.cpuOf(t); c != nil {
				f.part(c, t, f.now)
			}
		}
		f.tell(t, Unseen, f.now)
	}
}

// Now is the time of the latest event, ns of the recording's clock.
func (f *Follower) Now() int64 { return f.now }
