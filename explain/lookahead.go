package explain

import (
	"io"

	"github.com/schedlab/schedlab/trace"
)

// lookAheadEvents is how much of a trace is read to find out what it holds.
const lookAheadEvents = 50_000

// looked is what the beginning of a trace tells.
type looked struct {
	hz     int64
	probes bool
	turns  bool // the CPUs take turns: see turns.go
}

// lookAhead finds out whether the placement probes were recorded and, from the
// jiffies that they read, how many ticks a second the kernel made.
func lookAhead(b *Bundle) (looked, error) {
	l := looked{hz: 250}
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
		if err == io.EOF {
			break
		}
		if err != nil {
			return l, err
		}
		turns.add(e.CPU)
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
