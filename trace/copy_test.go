package trace

import (
	"errors"
	"io"
)

// outputFormat is a format that this package writes.
type outputFormat string

const (
	outputText     outputFormat = "text"
	outputPerfetto outputFormat = "perfetto"
)

func outputFormats() []outputFormat { return []outputFormat{outputText, outputPerfetto} }

// copyTrace writes everything that r has left to out, and returns when it is
// complete. Time stamps keep the resolution that r has.
func copyTrace(out io.Writer, r Reader, format outputFormat) error {
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
func newWriter(out io.Writer, r Reader, format outputFormat) Writer {
	if format == outputPerfetto {
		return NewPerfettoWriter(out, r.Names(), PerfettoOptions{})
	}
	return NewTextWriter(out, r.Names(), TextOptions{Microseconds: r.Stats().Resolution == 1000})
}
