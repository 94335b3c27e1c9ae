package bundle

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/schedlab/schedlab/trace"
)

// Folder is a bundle that is being written.
type Folder struct {
	dir    string
	file   *os.File
	zip    *gzip.Writer
	writer trace.Writer
	names  *trace.Names
}

// Create makes the folder and begins its trace. A folder that has something in
// it already is left alone.
func Create(dir string) (*Folder, error) {
	if err := CheckEmpty(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(dir, TraceFile))
	if err != nil {
		return nil, err
	}
	zip, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	names := trace.NewNames()
	return &Folder{
		dir: dir, file: file, zip: zip, names: names,
		writer: trace.NewTextWriter(zip, names, trace.TextOptions{}),
	}, nil
}

// CheckEmpty returns an error when dir is there and is not an empty folder.
func CheckEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s: there is something in it already; name a new folder for the recording", dir)
	}
	return nil
}

// Trace is where the events go; their names belong to the second result.
func (f *Folder) Trace() (trace.Writer, *trace.Names) { return f.writer, f.names }

// CloseTrace completes the trace.
func (f *Folder) CloseTrace() error {
	return errors.Join(f.writer.Close(), f.zip.Close(), f.file.Close())
}

// Abandon removes what has been written, for a run that came to nothing.
func (f *Folder) Abandon() {
	_ = f.file.Close() // it goes away
	_ = os.Remove(f.file.Name())
	_ = os.Remove(f.dir) // stays if somebody has put something into it
}

// write writes one file of the bundle.
func (f *Folder) write(name string, content func(io.Writer) error) error {
	file, err := os.Create(filepath.Join(f.dir, name))
	if err != nil {
		return err
	}
	return errors.Join(content(file), file.Close())
}
