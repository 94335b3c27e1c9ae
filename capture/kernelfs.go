package capture

import (
	"io"
	"io/fs"
	"os"
)

// kernelFS is the part of a file system that capture needs; tests put a false
// kernel behind it.
type kernelFS interface {
	ReadFile(path string) ([]byte, error)
	// WriteFile writes to a file that is there, without truncating it: to
	// truncate kprobe_events would remove everybody's probes.
	WriteFile(path, text string) error
	// ReadDir returns the names in a folder, sorted.
	ReadDir(path string) ([]string, error)
	Mkdir(path string) error
	Remove(path string) error
	Open(path string) (io.ReadCloser, error)
}

// osFS is the running machine.
type osFS struct{}

func (osFS) ReadFile(path string) ([]byte, error)    { return os.ReadFile(path) }
func (osFS) Mkdir(path string) error                 { return os.Mkdir(path, 0o750) }
func (osFS) Remove(path string) error                { return os.Remove(path) }
func (osFS) Open(path string) (io.ReadCloser, error) { return os.Open(path) }

func (osFS) WriteFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (osFS) ReadDir(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// exists reports whether a file can be seen.
func exists(k kernelFS, path string) bool {
	_, err := k.ReadFile(path)
	if err == nil {
		return true
	}
	_, err = k.ReadDir(path)
	return err == nil
}

// missing reports whether an error says that a file is not there.
func missing(err error) bool { return isError(err, fs.ErrNotExist) }

// forbidden reports whether an error says that the caller may not.
func forbidden(err error) bool { return isError(err, fs.ErrPermission) }
