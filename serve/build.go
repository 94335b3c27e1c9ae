package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/schedlab/schedlab/trace"
)

// Limits bound what one recording may take.
type Limits struct {
	Changes int64 // steps and wakeups kept; about 20 bytes each
	Tasks   int
	Bytes   int64 // of unpacked trace
}

// DefaultLimits lets a recording of some tens of millions of events through, and
// about 2 GB of memory.
var DefaultLimits = Limits{Changes: 80_000_000, Tasks: 200_000, Bytes: 64 << 30}

// builder follows a trace.
type builder struct {
	rec    *Recording
	limits Limits
	names  *trace.Names
	byPID  map[int32]uint32
	state  []taskState // by task
	depth  []int32     // by CPU: runnable tasks
	behind int         // tasks that wait behind another one on their CPU
	kept   int64       // changes kept
	now    int64       // ns since the start, never goes back
	begun  bool
}

// taskState is what a task does now.
type taskState struct {
	state  uint32
	cpu    int32
	comm   trace.Name
	asked  int64 // when the wakeup under way was asked for; -1: none is
	waker  uint32
	waking int32 // the waker's CPU
	since  int64 // start of the state
}

// errTooMuch ends the building of a recording that is shown in part.
var errTooMuch = errors.New("more than is shown")

// eventsPerLook is how many events are followed between two looks at the
// context and reports of progress.
const eventsPerLook = 1 << 15

// Build reads a trace to its end. Looked is called now and then with the number
// of events so far; it may be nil.
func Build(ctx context.Context, r trace.Reader, limits Limits, looked func(events int64)) (*Recording, error) {
	b := newBuilder(r.Names(), limits)
	var e trace.Event
	for {
		if b.rec.Events%eventsPerLook == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if looked != nil {
				looked(b.rec.Events)
			}
		}
		err := r.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := b.follow(&e); errors.Is(err, errTooMuch) {
			b.note("only the first %d events are shown: the recording is larger than this page takes", b.rec.Events)
			break
		} else if err != nil {
			return nil, err
		}
	}
	if b.rec.Events == 0 {
		return nil, errors.New("there is no event of the scheduler in this trace; record sched_switch and sched_wakeup")
	}
	b.noteDamage(r.Stats())
	return b.finish(), nil
}

func newBuilder(names *trace.Names, limits Limits) *builder {
	b := &builder{rec: &Recording{waits: newWaiting()}, limits: limits, names: names, byPID: map[int32]uint32{}}
	b.rec.Tasks = []Task{{PID: 0, Comm: "idle"}}
	b.state = []taskState{{asked: -1}}
	b.byPID[0] = idleTask
	return b
}

func (b *builder) note(format string, args ...any) {
	b.rec.Notes = append(b.rec.Notes, fmt.Sprintf(format, args...))
}

func (b *builder) noteDamage(s *trace.Stats) {
	if s.LostMarks > 0 {
		b.note("%d events were lost while recording", s.Lost)
	}
	if s.Reordered > 0 {
		b.note("%d events are older than one before them; they are drawn at its time", s.Reordered)
	}
	if s.Unreadable > 0 {
		b.note("%d entries are unreadable", s.Unreadable)
	}
	if s.Truncated {
		b.note("the trace ends within an entry")
	}
	if s.Warning != nil {
		b.note("first damage %s", s.Warning)
	}
}

func (b *builder) follow(e *trace.Event) error {
	if e.Kind == trace.KindLost || e.CPU < 0 {
		return nil
	}
	if b.kept > b.limits.Changes || e.Offset > b.limits.Bytes {
		return errTooMuch
	}
	if !b.begun {
		b.begun, b.rec.Start = true, e.Time
	}
	b.now = max(b.now, e.Time-b.rec.Start)
	b.rec.Events++
	if err := b.see(e); err != nil {
		return err
	}
	switch e.Kind {
	case trace.KindSwitch:
		return b.switched(e)
	case trace.KindWaking:
		return b.asked(e)
	case trace.KindWakeup, trace.KindWakeupNew:
		return b.woken(e)
	case trace.KindMigrate:
		return b.migrated(e)
	}
	return nil
}

// see learns from the first event of a CPU what ran there before.
func (b *builder) see(e *trace.Event) error {
	for int(e.CPU) >= len(b.rec.cpus) {
		b.rec.cpus = append(b.rec.cpus, row{})
		b.depth = append(b.depth, 0)
	}
	if len(b.rec.cpus[e.CPU].times) > 0 || e.PID < 0 || e.Kind == trace.KindSwitch {
		return nil
	}
	task, err := b.task(e.PID, e.Comm)
	if err != nil {
		return err
	}
	b.ranBefore(task, e.CPU)
	return nil
}

// ranBefore says that a task has been running on a CPU since the start.
func (b *builder) ranBefore(task uint32, cpu int32) {
	b.rec.cpus[cpu].set(0, task)
	b.kept++
	if task == idleTask || b.state[task].state != absent {
		return
	}
	b.state[task].state, b.state[task].cpu, b.state[task].since = running, cpu, 0
	b.rec.Tasks[task].set(0, taskValue(running, cpu))
	b.count(cpu, +1, 0)
}

// task returns the number of a thread, and learns its name.
func (b *builder) task(pid int32, comm trace.Name) (uint32, error) {
	if pid == 0 {
		return idleTask, nil
	}
	task, known := b.byPID[pid]
	if !known {
		if len(b.rec.Tasks) > b.limits.Tasks {
			return 0, fmt.Errorf("more than %d threads; record a shorter stretch", b.limits.Tasks)
		}
		task = uint32(len(b.rec.Tasks))
		b.byPID[pid] = task
		b.rec.Tasks = append(b.rec.Tasks, Task{PID: pid, row: row{means: taskMeaning{}}})
		b.state = append(b.state, taskState{asked: -1})
	}
	if s := &b.state[task]; comm != trace.NoName && comm != s.comm {
		s.comm = comm
		b.rec.Tasks[task].Comm = b.names.Text(comm)
	}
	return task, nil
}

func (b *builder) switched(e *trace.Event) error {
	s := e.Switch()
	if s.Prev.PID < 0 || s.Next.PID < 0 {
		return nil
	}
	prev, err := b.task(s.Prev.PID, s.Prev.Comm)
	if err != nil {
		return err
	}
	next, err := b.task(s.Next.PID, s.Next.Comm)
	if err != nil {
		return err
	}
	if len(b.rec.cpus[e.CPU].times) == 0 {
		b.ranBefore(prev, e.CPU)
	}
	switch {
	case s.PrevState.Runnable():
		b.enter(prev, runnable, e.CPU)
	case s.PrevState.Gone():
		b.enter(prev, absent, e.CPU)
	default:
		b.enter(prev, sleeping, e.CPU)
	}
	b.enter(next, running, e.CPU)
	b.rec.cpus[e.CPU].set(b.now, next)
	b.kept++
	return nil
}

// asked notes who wakes a task; which CPU is chosen is told later.
func (b *builder) asked(e *trace.Event) error {
	w := e.Wake()
	if w.PID <= 0 {
		return nil
	}
	task, err := b.task(w.PID, w.Comm)
	if err != nil {
		return err
	}
	waker, err := b.task(max(e.PID, 0), e.Comm)
	if err != nil {
		return err
	}
	s := &b.state[task]
	s.asked, s.waker, s.waking = b.now, waker, e.CPU
	return nil
}

func (b *builder) woken(e *trace.Event) error {
	w := e.Wake()
	if w.PID <= 0 {
		return nil
	}
	if s := b.byPID[w.PID]; s == 0 || b.state[s].asked < 0 {
		if err := b.asked(e); err != nil {
			return err
		}
	}
	task := b.byPID[w.PID]
	s := &b.state[task]
	target := w.TargetCPU
	if target < 0 {
		target = e.CPU
	}
	b.rec.wakes = append(b.rec.wakes, wake{time: s.asked, wakee: task, waker: s.waker, target: target, from: s.waking})
	b.kept++
	s.asked = -1
	if s.state != running && s.state != runnable {
		b.enter(task, runnable, target)
	}
	return nil
}

func (b *builder) migrated(e *trace.Event) error {
	m := e.Migration()
	if m.PID <= 0 || m.To < 0 {
		return nil
	}
	task, err := b.task(m.PID, m.Comm)
	if err != nil {
		return err
	}
	if b.state[task].state == runnable {
		b.enter(task, runnable, m.To)
	}
	return nil
}

// enter puts a task into a state, and counts it on its CPU.
func (b *builder) enter(task, state uint32, cpu int32) {
	if task == idleTask {
		return
	}
	s := &b.state[task]
	was := isRunnable(s.state)
	if was && (!isRunnable(state) || s.cpu != cpu) {
		b.count(s.cpu, -1, b.now)
	}
	if isRunnable(state) && (!was || s.cpu != cpu) {
		b.count(cpu, +1, b.now)
	}
	t := &b.rec.Tasks[task]
	switch s.state {
	case running:
		t.Ran += b.now - s.since
	case runnable:
		t.Waited += b.now - s.since
	}
	s.state, s.cpu, s.since = state, cpu, b.now
	t.set(b.now, taskValue(state, cpu))
	b.kept++
}

func isRunnable(state uint32) bool { return state == running || state == runnable }

// count changes the number of runnable tasks of a CPU.
func (b *builder) count(cpu, by int32, t int64) {
	for int(cpu) >= len(b.rec.cpus) {
		b.rec.cpus = append(b.rec.cpus, row{})
		b.depth = append(b.depth, 0)
	}
	b.behind -= int(max(0, b.depth[cpu]-1))
	b.depth[cpu] = max(0, b.depth[cpu]+by)
	b.behind += int(max(0, b.depth[cpu]-1))
	b.rec.cpus[cpu].depth.set(t, uint32(b.depth[cpu]))
	b.rec.waits.set(b.now, b.behind)
	b.kept++
}

func (b *builder) finish() *Recording {
	r := b.rec
	r.Span = b.now + 1
	r.waits.close(r.Span)
	slices.SortStableFunc(r.wakes, func(x, y wake) int {
		switch {
		case x.time < y.time:
			return -1
		case x.time > y.time:
			return 1
		}
		return 0
	})
	for i := range r.cpus {
		c := &r.cpus[i]
		if len(c.times) == 0 {
			c.set(0, nobody)
		}
		c.means, c.last = cpuMeaning{&r.waits}, r.Span
		c.build()
	}
	for i := range r.Tasks[1:] {
		t := &r.Tasks[i+1]
		switch s := &b.state[i+1]; s.state {
		case running:
			t.Ran += r.Span - s.since
		case runnable:
			t.Waited += r.Span - s.since
		}
		t.last = r.Span
		t.build()
	}
	return r
}
