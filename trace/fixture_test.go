package trace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// readEvents reads everything; the events keep their Detail.
func readEvents(t testing.TB, r Reader) []Event {
	t.Helper()
	var events []Event
	err := Each(r, func(e *Event) error {
		kept := *e
		kept.Detail = bytes.Clone(e.Detail)
		events = append(events, kept)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// openFixture opens a file of testdata.
func openFixture(t testing.TB, name string) Reader {
	t.Helper()
	r, err := Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// fixtureBytes returns a file of testdata, unzipped.
func fixtureBytes(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") {
		return content
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

// fixtureLines returns the lines of a text file of testdata.
func fixtureLines(t testing.TB, name string) []string {
	t.Helper()
	return strings.Split(strings.TrimRight(string(fixtureBytes(t, name)), "\n"), "\n")
}

// openBytes opens a recording that is in memory, as Open does with a file.
func openBytes(content []byte) (Reader, error) {
	switch f := sniff(content[:min(len(content), sniffLength)]); f {
	case formatText:
		return NewTextReader(bytes.NewReader(content)), nil
	default:
		r, _, err := openSeekable(f, bytes.NewReader(content), int64(len(content)))
		return r, err
	}
}

// describe prints what the formats agree on: time, CPU, thread and fields.
func describe(e *Event, names *Names) string {
	return fmt.Sprintf("%d [%d] %d %s", e.Time, e.CPU, e.PID, appendBody(nil, e, names))
}

// sharedFolder returns the folder of large recordings that lies beside the
// checkout, or "" when it is not there.
func sharedFolder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("SCHEDLAB_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Logf("left out: no shared inputs at %s; set SCHEDLAB_SHARED", dir)
		return ""
	}
	return dir
}
