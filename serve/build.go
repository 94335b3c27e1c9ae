package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/schedlab/schedlab/timeline"
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

// builder makes a recording of what a follower tells.
type builder struct {
	rec      *Recording
	limits   Limits
	names    *trace.Names
	follower *timeline.Follower
	byPID    map[int32]uint32 // tasks; a PID that is used again keeps its own
	state    []taskState      // by task
	depth    []int32          // by CPU: runnable tasks
	behind   int              // tasks that wait behind another one on their CPU
	kept     int64            // changes kept
	now      int64            // ns since the start, never goes back
	err      error            // the first one of the calls back
}

// taskState is what a task does now.
type taskState struct {
	state uint32
	cpu   int32
	since int64 // start of the state
	comm  trace.Name
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
	b := &builder{rec: &Recording{waits: newWaiting()}, limits: limits, names: names, byPID: map[int32]uint32{0: idleTask}}
	b.rec.Tasks = []Task{{PID: 0, Comm: "idle"}}
	b.state = []taskState{{}}
	b.follower = timeline.NewFollower()
	b.follower.OnChange, b.follower.OnWakeup = b.changed, b.woken
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
	if e.Kind != trace.KindLost && e.CPU >= 0 {
		if b.kept > b.limits.Changes || e.Offset > b.limits.Bytes {
			return errTooMuch
		}
		if b.rec.Events == 0 {
			b.rec.Start = e.Time
		}
		b.now = max(b.now, e.Time-b.rec.Start)
		b.rec.Events++
	}
	b.follower.Observe(e)
	return b.err
}

// cpu returns the row of a CPU.
func (b *builder) cpu(number int32) *row {
	for int(number) >= len(b.rec.cpus) {
		b.rec.cpus = append(b.rec.cpus, row{})
		b.depth = append(b.depth, 0)
	}
	return &b.rec.cpus[number]
}

// task returns the number of a thread, and learns its name.
func (b *builder) task(pid int32, comm trace.Name) uint32 {
	if pid <= 0 {
		return idleTask
	}
	task, known := b.byPID[pid]
	if !known {
		if len(b.rec.Tasks) > b.limits.Tasks {
			b.err = fmt.Errorf("more than %d threads; record a shorter stretch", b.limits.Tasks)
		}
		task = uint32(len(b.rec.Tasks))
		b.byPID[pid] = task
		b.rec.Tasks = append(b.rec.Tasks, Task{PID: pid, row: row{means: taskMeaning{}}})
		b.state = append(b.state, taskState{})
	}
	if s := &b.state[task]; comm != trace.NoName && comm != s.comm {
		s.comm = comm
		b.rec.Tasks[task].Comm = b.names.Text(comm)
	}
	return task
}

// shown is how a page shows what a thread does.
func shown(t *timeline.Thread) uint32 {
	switch {
	case t.State == timeline.Running:
		return running
	case t.Queued:
		return runnable
	case t.State == timeline.Asleep:
		return sleeping
	}
	return absent
}

// changed takes over what a thread does now. One that is new, or on its way to a
// queue, is shown when it has got there. What the first event of a CPU finds
// running has done so since the start: no switch came before.
func (b *builder) changed(t *timeline.Thread, at int64) {
	if t.State == timeline.Born || t.CPU < 0 {
		return
	}
	task, state := b.task(t.PID, t.Comm), shown(t)
	if t.State == timeline.Waiting && !t.Queued {
		return
	}
	at -= b.rec.Start
	row := b.cpu(t.CPU)
	if state == running {
		if len(row.times) == 0 && (task == idleTask || len(b.rec.Tasks[task].times) == 0) {
			at = 0
		}
		row.set(at, task)
	} else if row.latest() == task {
		row.set(at, nobody)
	}
	if task != idleTask {
		b.enter(task, state, t.CPU, at)
	}
}

func (b *builder) woken(w *timeline.Wakeup) {
	wakee, waker := b.task(w.Wakee.PID, w.Wakee.Comm), b.task(w.Waker.PID, w.Waker.Comm)
	b.rec.wakes = append(b.rec.wakes, wake{time: w.Asked - b.rec.Start, wakee: wakee, waker: waker, target: w.Target, from: w.Waker.CPU})
	b.kept++
}

// enter puts a task into a state, and counts it on its CPU.
func (b *builder) enter(task, state uint32, cpu int32, at int64) {
	s, t := &b.state[task], &b.rec.Tasks[task]
	if state == s.state && !isRunnable(state) {
		return
	}
	moves := s.cpu != cpu || isRunnable(state) != isRunnable(s.state)
	if moves && isRunnable(s.state) {
		b.count(s.cpu, -1, at)
	}
	switch s.state {
	case running:
		t.Ran += at - s.since
	case runnable:
		t.Waited += at - s.since
	}
	s.state, s.cpu, s.since = state, cpu, at
	if moves && isRunnable(state) {
		b.count(cpu, +1, at)
	}
	t.set(at, taskValue(state, cpu))
	b.kept++
}

func isRunnable(state uint32) bool { return state == running || state == runnable }

// count changes the number of runnable tasks of a CPU.
func (b *builder) count(cpu, by int32, at int64) {
	depth := &b.depth[cpu]
	b.behind -= int(max(0, *depth-1))
	*depth += by
	b.behind += int(max(0, *depth-1))
	b.rec.cpus[cpu].depth.set(at, uint32(*depth))
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
