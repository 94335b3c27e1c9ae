package trace

import (
	"errors"
	"io"
)

// OutputFormat is a format of recordings that this package writes; package export
// has more.
type OutputFormat string

// The formats that this package writes.
const (
	OutputText     OutputFormat = "text"
	OutputPerfetto OutputFormat = "perfetto"
)

// OutputFormats lists them.
func OutputFormats() []OutputFormat { return []OutputFormat{OutputText, OutputPerfetto} }

// Copy writes everything that r has left to out, and returns when it is
// complete. Time stamps keep the resolution that r has.
func Copy(out io.Writer, r Reader, format OutputFormat) error {
	var first Event
	err := r.Next(&first)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	w := newWriter(out, r, format)
	if err == nil {
		if err := w.Write(&first); err != nil {
			return err
		}
		if err := Each(r, w.Write); err != nil {
			return err
		}
	}
	return w.Close()
}

// newWriter is called when r has delivered an event and so knows its resolution.
func newWriter(out io.Writer, r Reader, format OutputFormat) Writer {
	if format == OutputPerfetto {
		return NewPerfettoWriter(out, r.Names(), PerfettoOptions{})
	}
	return NewTextWriter(out, r.Names(), TextOptions{Microseconds: r.Stats().Resolution == 1000})
}
