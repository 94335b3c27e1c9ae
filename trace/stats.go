package trace

import (
	"fmt"
	"strings"
)

// Stats counts what a reader has met so far. Every event delivered is in Events
// and in ByKind; what could not be delivered is in the other counters, so that
// no entry of a file disappears without a trace.
type Stats struct {
	Format string // such as "ftrace text" or "trace.dat version 7"
	// Events is the number of events delivered, without KindLost.
	Events int64
	ByKind [NumKinds]int64
	// Lost is the number of events that the recorder says it lost, as far as it
	// gives numbers; LostMarks counts the places, with and without a number.
	Lost, LostMarks int64
	// Reordered events are older than one delivered before them.
	Reordered int64
	// Duplicated events equal the one before them where that cannot happen.
	Duplicated int64
	// Malformed events are of a known kind but lack a field.
	Malformed int64
	// Unreadable entries (lines, records) were skipped.
	Unreadable int64
	// Breaks counts events of a thread that was not the one that its CPU had
	// switched to before: something between them is missing. (Some kernels do not
	// record every switch of the idle task, so an undamaged file may have some.)
	Breaks int64
	// Truncated is set when the input ends within an entry.
	Truncated bool
	// Ignored counts entries that are no events, such as comments.
	Ignored int64
	// Resolution is the step of the time stamps in ns, as printed; 0 when no
	// event was read.
	Resolution int64
	// Warning is the first damage found, nil when there was none.
	Warning *Warning

	unknown map[Name]int64
	names   *Names
}

// Warning says what is damaged and where.
type Warning struct {
	Offset int64 // byte offset in the (decompressed) input
	Text   string
}

func (w *Warning) String() string { return fmt.Sprintf("at byte %d: %s", w.Offset, w.Text) }

// Unknown returns the names of the events of KindOther and how often each came,
// in the order of their first appearance.
func (s *Stats) Unknown() []Count {
	var counts []Count
	for name := NoName; int(name) < s.nameCount(); name++ {
		if n := s.unknown[name]; n > 0 {
			counts = append(counts, Count{Event: s.names.Text(name), N: n})
		}
	}
	return counts
}

// Count is how often an event came.
type Count struct {
	Event string
	N     int64
}

func (s *Stats) nameCount() int {
	if s.names == nil {
		return 0
	}
	return len(s.names.texts)
}

// Clean reports whether nothing was lost, damaged or doubtful.
func (s *Stats) Clean() bool {
	return s.Warning == nil && !s.Truncated &&
		s.LostMarks+s.Reordered+s.Duplicated+s.Malformed+s.Unreadable+s.Breaks == 0
}

// String returns a summary of a few lines.
func (s *Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d events\n", s.Format, s.Events)
	for k := KindOther + 1; k < numKinds; k++ {
		if n := s.ByKind[k]; n > 0 && k != KindLost {
			fmt.Fprintf(&b, "  %-20s %d\n", k, n)
		}
	}
	for _, c := range s.Unknown() {
		fmt.Fprintf(&b, "  %-20s %d (kept by name)\n", c.Event, c.N)
	}
	for _, problem := range s.problems() {
		fmt.Fprintf(&b, "warning: %s\n", problem)
	}
	return b.String()
}

// problems returns one sentence for each counter that is not zero.
func (s *Stats) problems() []string {
	var out []string
	add := func(n int64, format string, args ...any) {
		if n > 0 {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(s.LostMarks, "%d events were lost while recording, at %d places (0 when the recorder gives no number)", s.Lost, s.LostMarks)
	add(s.Reordered, "%d events are older than one before them", s.Reordered)
	add(s.Duplicated, "%d events are exact repetitions", s.Duplicated)
	add(s.Malformed, "%d events have a field that is missing or unreadable", s.Malformed)
	add(s.Unreadable, "%d entries were unreadable and skipped", s.Unreadable)
	add(s.Breaks, "%d events are of a thread that their CPU had not switched to", s.Breaks)
	if s.Truncated {
		out = append(out, "the input ends within an entry")
	}
	if s.Warning != nil {
		out = append(out, s.Warning.String())
	}
	return out
}

// warn keeps the first warning.
func (s *Stats) warn(offset int64, format string, args ...any) {
	if s.Warning == nil {
		s.Warning = &Warning{Offset: offset, Text: fmt.Sprintf(format, args...)}
	}
}

// skip counts an unreadable entry.
func (s *Stats) skip(offset int64, format string, args ...any) {
	s.Unreadable++
	s.warn(offset, format, args...)
}

// truncate notes that the input ends too early.
func (s *Stats) truncate(offset int64, format string, args ...any) {
	s.Truncated = true
	s.warn(offset, format, args...)
}
