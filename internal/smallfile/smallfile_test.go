package smallfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestReadUpToTheLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 2048), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(path, 2048); err != nil || len(data) != 2048 {
		t.Errorf("2048 of at most 2048 bytes: %d, %v", len(data), err)
	}
	_, err := Read(path, 2047)
	var cause *fs.PathError
	if !errors.As(err, &cause) || cause.Path != path {
		t.Errorf("2048 of at most 2047 bytes: %v", err)
	}
}

// A device has no size to look at beforehand and no end.
func TestReadEndsOnAnEndlessFile(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Log("left out: this system has no", endless)
		return
	}
	want := "read /dev/zero: larger than 64 KiB, the limit for such a file"
	if _, err := Read(endless, 64<<10); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReadOfAMissingFile(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
