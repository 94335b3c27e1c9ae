package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// checkOutput refuses a file that could not be written, before anything runs;
// what says who asked for it, such as a flag.
func checkOutput(what, path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s %s: that is a folder; name a file, such as %s", what, path, filepath.Join(path, "file"))
	case err == nil && !info.Mode().IsRegular():
		return nil // a device or a FIFO; opening it may wait for a reader
	case err == nil:
		return asOutputError(what, path, tryOpen(path, os.O_WRONLY))
	}
	folder := filepath.Dir(path)
	if dir, err := os.Stat(folder); err != nil || !dir.IsDir() {
		return fmt.Errorf("%s %s: there is no folder %s", what, path, folder)
	}
	if err := tryOpen(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL); err != nil {
		return asOutputError(what, path, err)
	}
	return asOutputError(what, path, os.Remove(path))
}

func tryOpen(path string, mode int) error {
	file, err := os.OpenFile(path, mode, 0o644)
	if err != nil {
		return err
	}
	return file.Close()
}

func asOutputError(what, path string, err error) error {
	var cause *os.PathError
	if !errors.As(err, &cause) {
		return err
	}
	return fmt.Errorf("%s %s: cannot be written: %w", what, path, cause.Err)
}

// writeWhole leaves no half-written file behind: it writes beside path and
// renames. What a device or a FIFO is given goes straight into it, for a rename
// would put a file in its place; a symbolic link stays, and its target changes.
func writeWhole(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(file), file.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if err := write(file); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Chmod(file.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
