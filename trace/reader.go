package trace

import (
	"errors"
	"fmt"
	"io"
)

// Reader delivers the events of one recording in the order of their time, as
// far as the recording allows (see Stats.Reordered).
type Reader interface {
	// Next fills e with the next event; it returns io.EOF after the last one.
	// Damage is not an error: it is counted, and reading goes on behind it. Other
	// errors are those of the file system.
	Next(e *Event) error
	// Stats returns the counters so far. They are complete after io.EOF.
	Stats() *Stats
	// Names returns the table that the events' Names belong to.
	Names() *Names
	// Close closes the file.
	Close() error
}

// ErrNotATrace is returned for a file that is none of the formats.
var ErrNotATrace = errors.New("not a trace: expected ftrace text, trace.dat, perf.data or a Perfetto trace, plain or gzipped")

// base is what all readers share.
type base struct {
	stats   Stats
	names   *Names
	inspect inspector
	closer  io.Closer
}

// init prepares b in place; the inspector points into it.
func (b *base) init(format string) {
	b.names = NewNames()
	b.stats = Stats{Format: format, unknown: make(map[Name]int64), names: b.names}
	b.inspect = newInspector(&b.stats)
}

func (b *base) Stats() *Stats { return &b.stats }

func (b *base) Names() *Names { return b.names }

func (b *base) Close() error {
	if b.closer == nil {
		return nil
	}
	return b.closer.Close()
}

// finish adds to the counters what is only known at the end.
func (b *base) finish() {
	if b.names.overflow > 0 {
		b.stats.warn(0, "there are more than %d different names; the rest are shown as %q", maxNames, overflowText)
	}
}

// Each reads r to its end and calls f for every event.
func Each(r Reader, f func(*Event) error) error {
	var e Event
	for {
		err := r.Next(&e)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(&e); err != nil {
			return err
		}
	}
}

// inputError is an error of reading an input, with the place.
func inputError(offset int64, err error) error {
	return fmt.Errorf("reading at byte %d: %w", offset, err)
}
