package explain

import (
	"errors"
	"io"

	"github.com/schedlab/schedlab/trace"
)

// A CPU that loses its turn (see turns.go) while it falls idle records that
// switch as the first thing in its next turn. The task has left its queue at the
// beginning of the switch, so the others find the queue empty, although the CPU does not
// count as idle before the end: the idle task becomes the running one just before the
// record. How such a turn ends shows only in what comes later, so the recording is
// read once before it is followed.

// fall is one such switch.
type fall struct {
	last int64 // ns of the CPU's newest event before it lost its turn
	pid  int32 // the thread that left
}

// falls are, by CPU and in their order, the switches to idle that a loss of the
// turn held up.
type falls [][]fall

// next tells whether the CPU whose newest event is at last is falling idle as its
// turn ends, and which thread leaves it.
func (f falls) next(cpu int, last int64) (pid int32, ok bool) {
	if cpu >= len(f) {
		return 0, false
	}
	for len(f[cpu]) > 0 && f[cpu][0].last < last {
		f[cpu] = f[cpu][1:]
	}
	if len(f[cpu]) == 0 || f[cpu][0].last != last {
		return 0, false
	}
	pid = f[cpu][0].pid
	f[cpu] = f[cpu][1:]
	return pid, true
}

// fallSurvey finds the falls of a recording with turns.
type fallSurvey struct {
	turns turns
	cpus  []surveyedTurn
	found falls
}

// surveyedTurn is one CPU's part.
type surveyedTurn struct {
	last   int64 // ns of its newest event
	paused bool  // it stands still since then
}

// surveyFalls reads a recording for its falls; tick is in ns.
func (b *Bundle) surveyFalls(tick int64) (falls, error) {
	n := b.Machine.NumCPUs()
	s := fallSurvey{turns: turns{tick: tick}, cpus: make([]surveyedTurn, n), found: make(falls, n)}
	err := b.eachEvent(func(e *trace.Event, _ *trace.Names) { s.add(e) })
	return s.found, err
}

func (s *fallSurvey) add(e *trace.Event) {
	t, cpu := &s.turns, int(e.CPU)
	c := &s.cpus[cpu]
	if t.anything && t.cpu != cpu {
		_, t.resumed = t.change(e.Time)
		s.cpus[t.cpu].paused = true
		for passed := (t.cpu + 1) % len(s.cpus); passed != cpu; passed = (passed + 1) % len(s.cpus) {
			s.cpus[passed].paused = false // it has had a turn and recorded nothing
		}
		if c.paused && e.Kind == trace.KindSwitch && e.Time-t.resumed < carriedOver && carriesOver(e) && blocksIntoIdle(e.Switch()) {
			s.found[cpu] = append(s.found[cpu], fall{c.last, e.Switch().Prev.PID})
		}
	}
	c.paused = false
	t.cpu, t.anything = cpu, true
	t.last, c.last = e.Time, e.Time
}

// blocksIntoIdle reports whether a task leaves its queue, and its CPU has no other.
func blocksIntoIdle(s trace.Switch) bool {
	return s.Next.PID == 0 && s.Prev.PID > 0 && s.PrevState.Known() && s.PrevState&trace.StatePreempted == 0 && !s.PrevState.Runnable()
}

// eachEvent reads a recording from its beginning.
func (b *Bundle) eachEvent(look func(*trace.Event, *trace.Names)) error {
	reader, err := trace.Open(b.Trace)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }() // read only
	var e trace.Event
	for {
		err := reader.Next(&e)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if b.online(e.CPU) {
			look(&e, reader.Names())
		}
	}
}

// leaveQueue follows a CPU that loses its turn while it falls idle.
func (r *replay) leaveQueue(cpu int, c *cpuState, end int64) {
	pid, falls := r.falls.next(cpu, c.turn.last)
	if curr := r.f.Scheduler().Current(cpu); falls && curr != nil && curr.ID == pid {
		r.f.At(end, func() { r.f.Blocked(cpu) })
	}
}
