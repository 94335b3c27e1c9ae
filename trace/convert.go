package trace

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// OutputFormat is a format that can be written.
type OutputFormat string

// The formats that can be written.
const (
	OutputText     OutputFormat = "text"
	OutputPerfetto OutputFormat = "perfetto"
)

// OutputFormats lists the formats that can be written.
func OutputFormats() []OutputFormat { return []OutputFormat{OutputText, OutputPerfetto} }

var outputExtensions = map[string]OutputFormat{
	".txt": OutputText, ".text": OutputText, ".ftrace": OutputText, ".trace": OutputText,
	".pftrace": OutputPerfetto, ".perfetto-trace": OutputPerfetto, ".perfetto": OutputPerfetto, ".pb": OutputPerfetto,
}

// FormatOfPath chooses by extension; ".gz" behind it is passed over.
func FormatOfPath(path string) (OutputFormat, error) {
	extension := strings.ToLower(filepath.Ext(strings.TrimSuffix(path, ".gz")))
	if format := outputExtensions[extension]; format != "" {
		return format, nil
	}
	return "", fmt.Errorf("%s: the extension %q does not tell what to write; use .txt for ftrace text, .pftrace for Perfetto, or say --to text|perfetto", path, extension)
}

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

// Convert copies r to out, gzipped when path ends in ".gz".
func Convert(out io.Writer, path string, r Reader, format OutputFormat) error {
	if !strings.HasSuffix(path, ".gz") {
		return Copy(out, r, format)
	}
	zipped := gzip.NewWriter(out)
	if err := Copy(zipped, r, format); err != nil {
		return err
	}
	return zipped.Close()
}
