package export

import (
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/trace"
)

// Options says how a recording is written.
type Options struct {
	Format Format
	Table  Table // of a format that holds one; the default is Events
	// Machine adds to a Perfetto trace how many threads each last-level cache has
	// queued; nil leaves that out.
	Machine *machine.Machine
}

// sink takes a recording.
type sink interface {
	write(e *trace.Event) error
	close() error
}

// Write writes what r has left to out. A path that ends in ".gz" has it gzipped;
// Parquet is compressed inside and never is.
func Write(out io.Writer, path string, r trace.Reader, options Options) error {
	if !strings.HasSuffix(path, ".gz") || options.Format == Parquet {
		return writeTo(out, r, options)
	}
	zipped := gzip.NewWriter(out)
	if err := writeTo(zipped, r, options); err != nil {
		return err
	}
	return zipped.Close()
}

func writeTo(out io.Writer, r trace.Reader, options Options) error {
	if options.Format == Text {
		return trace.Copy(out, r, trace.OutputText)
	}
	s, err := newSink(out, r.Names(), options)
	if err != nil {
		return err
	}
	return errors.Join(trace.Each(r, s.write), s.close())
}

func newSink(out io.Writer, names *trace.Names, options Options) (sink, error) {
	switch options.Format {
	case Perfetto:
		return newPerfettoSink(out, names, options.Machine), nil
	case Profile:
		return newProfileSink(out, names), nil
	}
	if options.Table == Slices {
		return newSliceSink(newTable(out, options.Format, sliceColumns), names), nil
	}
	return newEventSink(newTable(out, options.Format, eventColumns()), names), nil
}
