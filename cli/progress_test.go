package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// watchedProgress is on a false terminal, under a clock that the test sets.
func watchedProgress(total, columns int) (*progress, *bytes.Buffer, *time.Time) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	p := &progress{what: "cells", out: &out, watched: true, now: func() time.Time { return now }, columns: func() int { return columns }, total: total}
	p.begin()
	return p, &out, &now
}

// lastLine is what is on the line after everything was drawn.
func lastLine(drawn string) string {
	lines := strings.Split(drawn, "\r")
	return strings.TrimSuffix(lines[len(lines)-1], "\x1b[K")
}

func TestProgressTellsRateAndTimeLeft(t *testing.T) {
	p, out, now := watchedProgress(10, 80)
	at := func(after time.Duration, act func(), want string) {
		t.Helper()
		*now = now.Add(after)
		act()
		if got := lastLine(out.String()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	at(0, func() {}, "0 of 10 cells")
	at(2*time.Second, p.step, "1 of 10 cells, 30.0/min, about 18s left") // 2 s each, 9 left
	at(0, p.step, "2 of 10 cells, 1.0/s, about 8s left")                 // 1 s each, 8 left
	at(3*time.Second, func() { p.set(10, 10, 0) }, "10 of 10 cells, 2.0/s")
	at(0, p.clear, "")
}

// Cells of an earlier run took no time of this one.
func TestProgressDoesNotCountWhatWasThere(t *testing.T) {
	p, out, now := watchedProgress(0, 80)
	*now = now.Add(time.Second)
	p.set(28, 30, 8) // 20 in a second: 2 more take 100 ms
	if got := lastLine(out.String()); got != "28 of 30 cells, 20/s, about 0s left" {
		t.Errorf("%q", got)
	}
}

func TestProgressWithoutATotalCounts(t *testing.T) {
	p, out, now := watchedProgress(0, 80)
	*now = now.Add(4 * time.Second)
	p.step()
	if got := lastLine(out.String()); got != "1 cells, 15.0/min" {
		t.Errorf("%q", got)
	}
}

func TestProgressFitsTheTerminal(t *testing.T) {
	p, out, now := watchedProgress(1000, 20)
	*now = now.Add(time.Second)
	p.step()
	if got := lastLine(out.String()); got != "1 of 1000 cells, 1." { // 19 columns: the last stays free
		t.Errorf("%q has %d columns", got, len(got))
	}
}

// What goes to a file or a pipe has neither progress nor colours nor a width.
func TestFilesAreNotTerminals(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	p := newProgress(file, false, "cells", 3)
	p.step()
	p.clear()
	if info, err := file.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v", info.Size(), err)
	}
	if wantsColor(file) || columnsOf(file) != 0 || columnsOf(&bytes.Buffer{}) != 0 {
		t.Error("a file has colours or a width")
	}
}
