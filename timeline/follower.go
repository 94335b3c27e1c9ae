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
	// OnChange is called when a thread's State, CPU, Queued or Group may have changed,
	// with the time of it: before Now where what was known ends with a loss or a
	// contradiction, never before the thread's last change. Who leaves a CPU is told
	// before who takes it.
	OnChange func(t *Thread, at int64)
	// OnWakeup is called for each wakeup, also of a thread that still ran or waited.
	OnWakeup func(*Wakeup)
	// OnIdle is called when a CPU enters an idle state (0 is the shallowest) or
	// leaves idleness (-1).
	OnIdle func(cpu int32, at int64, state int64)

	now          int64
	begun        bool
	incarnations *trace.Threads
	holders      map[int32]*Thread // by PID, the idle threads left out
	cpus         []*cpu

	interval Interval // what callbacks are given, reused
	waitPart WaitPart
}

// NewFollower returns a follower that has seen nothing.
func NewFollower() *Follower {
	return &Follower{incarnations: trace.NewThreads(), holders: make(map[int32]*Thread)}
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
	if e.TGID > 0 && here.running != nil && here.running.PID == e.PID {
		here.running.TGID = e.TGID
	}
	switch e.Kind {
	case trace.KindSwitch:
		f.switched(here, e.Switch())
	case trace.KindWakeupNew:
		f.born(e.Wake().PID)
		f.woken(e)
	case trace.KindWaking, trace.KindWakeup:
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
	if !next.Idle() {
		f.sleepAs(c, awake)
	}
	f.run(c, next)
}

// correct puts the thread that really ran on a CPU in the place of the one that
// was thought to.
func (f *Follower) correct(c *cpu, ran *Thread) {
	if c.running != nil {
		f.forget(c.running)
	}
	if ran != nil {
		if ran.State != Unseen {
			f.forget(ran)
		}
		f.run(c, ran)
	}
}

// leave is what a thread does that has left the CPU in a state.
func (f *Follower) leave(c *cpu, t *Thread, state trace.State) {
	switch {
	case t.Idle() || !state.Known():
		f.dequeue(t)
		f.turn(t, Unseen)
	case state.Runnable():
		f.wait(t, c.number)
	case state.Gone():
		f.dequeue(t)
		f.turn(t, Gone)
		delete(f.holders, t.PID)
	default:
		f.dequeue(t)
		f.turn(t, Asleep)
		t.sleep = state
	}
	f.changed(t, f.now)
}

// woken follows a wakeup: sched_waking, which says who asked for it, and the
// wakeup itself, which another CPU may do.
func (f *Follower) woken(e *trace.Event) {
	w := e.Wake()
	t := f.named(w.Task, w.TargetCPU)
	if t == nil || t.Idle() || f.cpu(w.TargetCPU) == nil {
		return
	}
	if e.Kind == trace.KindWaking || t.wakeup.Wakee == nil {
		t.wakeup = Wakeup{Wakee: &t.Identity, Asked: f.now, Waker: Waker{PID: e.PID, Comm: e.Comm, CPU: e.CPU, Interrupt: e.InInterrupt()}}
	}
	f.arrive(t, w.TargetCPU, e.Kind != trace.KindWaking)
	if e.Kind == trace.KindWaking {
		return
	}
	t.wakeup.Target = w.TargetCPU
	if f.OnWakeup != nil {
		f.OnWakeup(&t.wakeup)
	}
	t.wakeup = Wakeup{}
}

// arrive makes a woken thread wait on a CPU. Who runs or waits already stays so:
// the wakeup then came before the thread had got to sleep.
func (f *Follower) arrive(t *Thread, cpu int32, queued bool) {
	switch t.State {
	case Running:
		return
	case Waiting:
		f.move(t, cpu)
	default:
		f.wait(t, cpu)
		t.woken, t.waker = true, t.wakeup.Waker
	}
	if queued {
		f.enqueue(t, cpu)
	}
	f.changed(t, f.now)
}

// migrated follows a move. A thread that is about to be woken is not queued yet
// and only its wait moves.
func (f *Follower) migrated(m trace.Migration) {
	t := f.named(m.Task, m.To)
	if t == nil || t.Idle() || t.State == Running || f.cpu(m.To) == nil {
		return
	}
	f.move(t, m.To)
	f.changed(t, f.now)
}

func (f *Follower) forked(here *cpu, fork trace.Fork) {
	f.born(fork.Child.PID)
	parent, child := f.named(fork.Parent, here.number), f.named(fork.Child, here.number)
	if child == nil || child.Idle() {
		return
	}
	if child.State != Unseen {
		f.forget(child)
	}
	child.State, child.since = Born, f.now
	if parent != nil {
		child.Group = parent.Group
	}
	f.changed(child, f.now)
}

// attached follows a move to another cgroup. Those of cgroup v1 are passed over:
// there a thread is in a group of each hierarchy, and which of them is about CPU
// time is not told.
func (f *Follower) attached(here *cpu, a trace.Attach) {
	if a.Root != 0 || a.Path == trace.NoName {
		return
	}
	if t := f.named(a.Task, here.number); t != nil {
		t.Group = a.Path
		f.changed(t, f.now)
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
	rest := make([]*Thread, 0, len(f.holders)+len(f.cpus))
	for _, t := range f.holders {
		rest = append(rest, t)
	}
	for _, c := range f.cpus {
		if c.idler != nil {
			rest = append(rest, c.idler)
		}
	}
	slices.SortFunc(rest, func(a, b *Thread) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Incarnation, b.Incarnation))
	})
	for _, t := range rest {
		if t.State == Waiting {
			if c := f.cpuOf(t); c != nil {
				f.part(c, t, f.now)
			}
		}
		f.tell(t, Unseen, f.now)
	}
}

// Now is the time of the latest event, ns of the recording's clock.
func (f *Follower) Now() int64 { return f.now }
