package explain

import (
	"errors"
	"io"

	"github.com/schedlab/schedlab/trace"
)

// lookAheadEvents is how much of a trace is read to find out what it holds.
const lookAheadEvents = 50_000

// looked is what the beginning of a trace tells.
type looked struct {
	hz     int64
	probes bool
	passes bool // balance passes were recorded
	turns  bool // the CPUs take turns: see turns.go
	// running is, by CPU, the thread that runs when the trace begins: the one
	// that the CPU's first event names. PID 0 is the idle task.
	running map[int32]trace.Task
	// waiting are the threads that are queued when the trace begins: they run, or
	// are moved, without having been woken.
	waiting []waiter
	seen    map[int32]bool
}

// waiter is a thread queued on a CPU.
type waiter struct {
	cpu  int32
	task trace.Task
}

// lookAhead finds out whether the placement probes were recorded and, from the
// jiffies that they read, how many ticks a second the kernel made.
func lookAhead(b *Bundle) (looked, error) {
	l := looked{hz: 250, running: map[int32]trace.Task{}, seen: map[int32]bool{}}
	reader, err := trace.Open(b.Trace)
	if err != nil {
		return l, err
	}
	defer func() { _ = reader.Close() }() // read only
	var e trace.Event
	var turns turnCount
	var firstTime, firstJiffies, lastTime, lastJiffies int64
	for range lookAheadEvents {
		err := reader.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return l, err
		}
		turns.add(e.CPU)
		l.noteRunning(&e)
		l.noteWaiting(&e)
		l.passes = l.passes || e.Kind == trace.KindBalance
		if e.Kind != trace.KindSelect {
			continue
		}
		l.probes = true
		if j := e.Select().Jiffies; j != trace.Unknown {
			if firstTime == 0 {
				firstTime, firstJiffies = e.Time, j
			}
			lastTime, lastJiffies = e.Time, j
		}
	}
	if span := lastTime - firstTime; span > 20_000_000 {
		l.hz = nearestHZ(float64(lastJiffies-firstJiffies) * 1e9 / float64(span))
	}
	l.turns = turns.taken()
	return l, nil
}

// noteRunning keeps what the first event of a CPU tells. The names belong to
// another reader than the replay's, so only the numbers are kept.
func (l *looked) noteRunning(e *trace.Event) {
	if _, known := l.running[e.CPU]; known {
		return
	}
	t := trace.Task{PID: e.PID, Prio: unknownPrio}
	if e.Kind == trace.KindSwitch {
		s := e.Switch()
		t.PID, t.Prio = s.Prev.PID, s.Prev.Prio
	}
	l.running[e.CPU] = t
}

// noteWaiting looks at the first mention of each thread.
func (l *looked) noteWaiting(e *trace.Event) {
	l.seen[e.PID] = true
	switch e.Kind {
	case trace.KindSwitch:
		next := e.Switch().Next
		l.waitsUnlessSeen(e.CPU, next)
	case trace.KindMigrate:
		m := e.Migration()
		l.waitsUnlessSeen(m.From, m.Task)
	case trace.KindWaking, trace.KindWakeup, trace.KindWakeupNew:
		l.seen[e.Wake().PID] = true
	case trace.KindFork:
		l.seen[e.Fork().Child.PID] = true
	case trace.KindSelect:
		l.seen[e.Select().PID] = true
	}
}

func (l *looked) waitsUnlessSeen(cpu int32, t trace.Task) {
	if t.PID > 0 && !l.seen[t.PID] {
		t.Comm = trace.NoName // it belongs to another reader
		l.waiting = append(l.waiting, waiter{cpu, t})
		l.seen[t.PID] = true
	}
}

// nearestHZ returns the tick rate that Linux can be built with and that is
// nearest by ratio.
func nearestHZ(rate float64) int64 {
	best, bestRatio := int64(250), 1e9
	for _, hz := range []int64{100, 250, 300, 1000} {
		ratio := rate / float64(hz)
		if ratio > 0 && ratio < 1 {
			ratio = 1 / ratio
		}
		if ratio > 0 && ratio < bestRatio {
			best, bestRatio = hz, ratio
		}
	}
	return best
}
