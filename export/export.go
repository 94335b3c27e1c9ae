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
	// FourColumns writes ftrace text as kernels before 5.12 did.
	FourColumns bool
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
	s := newSink(out, r, options)
	return errors.Join(trace.Each(r, s.write), s.close())
}

func newSink(out io.Writer, r trace.Reader, options Options) sink {
	names := r.Names()
	switch options.Format {
	case Text:
		return &textSink{out: out, reader: r, fourColumns: options.FourColumns}
	case Perfetto:
		return newPerfettoSink(out, names, options.Machine)
	case Profile:
		return newProfileSink(out, names)
	}
	if options.Table == Slices {
		return newSliceSink(newTable(out, options.Format, sliceColumns), names)
	}
	return newEventSink(newTable(out, options.Format, eventColumns()), names)
}
