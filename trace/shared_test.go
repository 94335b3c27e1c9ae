package trace

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func readShared(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	content, err = io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// The captures dropped nothing and are whole, so every line but the header is an
// event, every field is there, and no CPU runs what it had not switched to.
func TestSharedCaptures(t *testing.T) {
	shared := sharedFolder(t)
	if shared == "" {
		return
	}
	paths, err := filepath.Glob(filepath.Join(shared, "captures", "*", "*", "trace.txt.gz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no captures in %s: %v", shared, err)
	}
	for _, path := range paths {
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		selects, returns := int64(0), int64(0)
		if err := Each(r, func(e *Event) error {
			switch e.Kind {
			case KindSelect:
				selects++
			case KindSelectReturn:
				returns++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if s := r.Stats(); !s.Clean() || len(s.Unknown()) > 0 || s.Resolution != 1000 {
			t.Errorf("%s: %s", path, s)
		}
		if selects != returns || selects == 0 {
			t.Errorf("%s: %d entries of placement, %d returns", path, selects, returns)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

var printedName = regexp.MustCompile(` \d+\.\d{6}: (\w+):? `)

// Real traces of other projects. The counts of the two trace.dat are those of
// trace-cmd report (version 3.1.6), taken once: 525 and 3724 events, of which 399
// are switches.
func TestSharedTraces(t *testing.T) {
	shared := sharedFolder(t)
	if shared == "" {
		return
	}
	dir := filepath.Join(shared, "inputs", "traces")
	for _, c := range []struct {
		file             string
		events, switches int64
	}{
		{"a-trace.dat", 525, 0},
		{"b-sched-load.dat", 3724, 399},
	} {
		r, err := Open(filepath.Join(dir, c.file))
		if err != nil {
			t.Fatal(err)
		}
		readEvents(t, r)
		s := r.Stats()
		if s.Events != c.events || s.ByKind[KindSwitch] != c.switches || s.Warning != nil {
			t.Errorf("%s: want %d events, %d switches:\n%s", c.file, c.events, c.switches, s)
		}
		_ = r.Close()
	}
	for _, file := range []string{"c-trace.txt", "d-sched.txt", "e-odd.txt"} {
		r, err := Open(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		readEvents(t, r)
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		want := int64(len(printedName.FindAll(content, -1)))
		if s := r.Stats(); s.Events != want || s.Malformed+s.Unreadable > 0 {
			t.Errorf("%s: want %d events:\n%s", file, want, s)
		}
		_ = r.Close()
	}
}
