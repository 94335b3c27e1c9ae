package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// withLongRow has a row that takes an instant and one that takes hours, so
// that an interrupt between the two always comes in time.
const withLongRow = `
machine: 1n4c1t
kernel: v5.17
variants: [{name: a}, {name: b, features: [NO_WAKEUP_PREEMPTION]}]
benchmarks: [{name: pipe, run: perf bench sched pipe, rows: {-l: [100, 100000000]}}]
repeats: 2
`

// finishedCells is how many cells withLongRow finishes before the long row:
// one row of two variants and two repeats.
const finishedCells = 4

// longestStop is generous: an interrupt stops a run within a second on a
// computer that has nothing else to do.
const longestStop = 10 * time.Second

func TestInterruptedCompareContinues(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "e.yaml")
	write(t, file, withLongRow)
	out := filepath.Join(dir, "out")
	compare := func() *exec.Cmd {
		return exec.Command("schedlab", "compare", "--workers", "1", "--format", "csv", "--out", out, file)
	}

	first := compare()
	var said bytes.Buffer
	first.Stderr = &said
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	waitForLines(t, filepath.Join(out, "cells.jsonl"), 1+finishedCells)
	interrupted := time.Now()
	if err := first.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := first.Wait()
	if took := time.Since(interrupted); took > longestStop {
		t.Errorf("it took %v to stop", took)
	}
	if code := exitCode(err); code != 130 {
		t.Errorf("exit code %d, want 130; it said %s", code, said.String())
	}
	if !strings.Contains(said.String(), "interrupted: 4 of 8 cells are finished and kept; the same command continues") {
		t.Errorf("it said %q", said.String())
	}

	// Without the long row the same command needs nothing but what is there.
	write(t, file, strings.Replace(withLongRow, ", 100000000", "", 1))
	said.Reset()
	second := compare()
	second.Stderr = &said
	continued, err := second.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	if !strings.Contains(said.String(), "continuing: 4 finished cells at hand, 4 wanted") {
		t.Errorf("it said %q", said.String())
	}

	out = filepath.Join(dir, "afresh")
	afresh, err := compare().Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(continued, afresh) {
		t.Errorf("continued:\n%s\nrun in one go:\n%s", continued, afresh)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// patience bounds the waits below; a computer that needs it all is broken.
const patience = time.Minute

// waitForLines waits until a file has so many lines.
func waitForLines(t *testing.T, name string, lines int) {
	t.Helper()
	for start := time.Now(); time.Since(start) < patience; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(name); err == nil && bytes.Count(text, []byte{'\n'}) >= lines {
			return
		}
	}
	t.Fatalf("%s does not come to %d lines", name, lines)
}
