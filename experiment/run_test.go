package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestResultsDoNotDependOnWorkers(t *testing.T) {
	plan := mustPlan(t, smallExperiment, Options{})
	want := show(mustExecute(t, plan, &fakeRunner{}, RunOptions{Workers: 1}))
	for _, workers := range []int{2, 3, 16, 100} {
		if got := show(mustExecute(t, plan, &fakeRunner{}, RunOptions{Workers: workers})); got != want {
			t.Errorf("%d workers:\n%s\nwant\n%s", workers, got, want)
		}
	}
}

// Cells are held back and let go in a drawn order: results stay the same.
func TestResultsDoNotDependOnCompletionOrder(t *testing.T) {
	plan := mustPlan(t, smallExperiment, Options{})
	want := show(mustExecute(t, plan, &fakeRunner{}, RunOptions{Workers: 1}))
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.Permutation(indices(len(plan.Cells))).Draw(t, "order")
		turns := newTurns(plan, order)
		runner := &fakeRunner{run: func(_ context.Context, c *Cell) (*Outcome, error) {
			turns.wait(c.Key)
			return fakeOutcome(c), nil
		}}
		results, err := Execute(context.Background(), plan, runner, RunOptions{Workers: len(plan.Cells)})
		if err != nil {
			t.Fatal(err)
		}
		if got := show(results); got != want {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
	})
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// turns lets cells finish in a given order.
type turns struct {
	mu   sync.Mutex
	cond *sync.Cond
	rank map[string]int
	next int
}

func newTurns(p *Plan, order []int) *turns {
	t := &turns{rank: map[string]int{}}
	t.cond = sync.NewCond(&t.mu)
	for rank, cell := range order {
		t.rank[p.Cells[cell].Key] = rank
	}
	return t
}

func (t *turns) wait(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.rank[key] != t.next {
		t.cond.Wait()
	}
	t.next++
	t.cond.Broadcast()
}

func openJournal(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := OpenJournal(path, "scope")
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestInterruptedRunContinues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cells.jsonl")
	plan := mustPlan(t, smallExperiment, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	stopping := &fakeRunner{}
	stopping.run = func(ctx context.Context, c *Cell) (*Outcome, error) {
		if stopping.ran.Load() > 7 {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return fakeOutcome(c), nil
	}
	journal := openJournal(t, path)
	_, err := Execute(ctx, plan, stopping, RunOptions{Workers: 3, Journal: journal})
	var interrupted *Interrupted
	if !errors.Is(err, context.Canceled) || !errors.As(err, &interrupted) || interrupted.Done != 7 {
		t.Fatalf("%v", err)
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}

	journal = openJournal(t, path)
	continuing := &fakeRunner{}
	results := mustExecute(t, plan, continuing, RunOptions{Workers: 2, Journal: journal})
	if ran := continuing.ran.Load(); journal.Len() != 7 || ran != int64(len(plan.Cells)-7) {
		t.Errorf("%d cells resumed, %d ran", journal.Len(), ran)
	}
	if got, want := show(results), show(mustExecute(t, plan, &fakeRunner{}, RunOptions{})); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A runner that ignores the context must not hold up an interrupt.
func TestInterruptTakesLessThanASecond(t *testing.T) {
	plan := mustPlan(t, smallExperiment, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	defer close(release)
	deaf := &fakeRunner{run: func(context.Context, *Cell) (*Outcome, error) {
		cancel()
		<-release
		return nil, errors.New("too late")
	}}
	start := time.Now()
	_, err := Execute(ctx, plan, deaf, RunOptions{Workers: 2})
	if took := time.Since(start); !errors.Is(err, context.Canceled) || took > 10*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}

func TestJournalSurvivesDamage(t *testing.T) {
	dir := t.TempDir()
	plan := mustPlan(t, smallExperiment, Options{})
	intact := filepath.Join(dir, "intact")
	mustExecute(t, plan, &fakeRunner{}, RunOptions{Workers: 1, Journal: openJournal(t, intact)})
	data, err := os.ReadFile(intact)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	damaged := bytes.Join([][]byte{bytes.Join(lines[:3], nil), []byte("{\"cell\": garbage\n"), bytes.Join(lines[4:], nil)}, nil)
	tests := []struct {
		name   string
		data   []byte
		reran  int
		notice string
	}{
		{"intact", data, 0, ""},
		{"torn", data[:len(data)-5], 1, "was cut short"},
		{"torn header", data[:10], len(plan.Cells), ""},
		{"empty", nil, len(plan.Cells), ""},
		{"damaged line", damaged, 1, ":4 is damaged; its cell runs again"},
		{"not a journal", []byte("hello\nworld\n"), len(plan.Cells), "every cell runs again"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cells.jsonl")
			if err := os.WriteFile(path, tt.data, 0o644); err != nil {
				t.Fatal(err)
			}
			journal := openJournal(t, path)
			runner := &fakeRunner{}
			results := mustExecute(t, plan, runner, RunOptions{Workers: 1, Journal: journal})
			if ran := int(runner.ran.Load()); ran != tt.reran {
				t.Errorf("%d cells ran again, want %d", ran, tt.reran)
			}
			if notices := strings.Join(journal.Notices(), "\n"); !strings.Contains(notices, tt.notice) || (tt.notice == "") != (notices == "") {
				t.Errorf("notices %q, want %q", notices, tt.notice)
			}
			if err := journal.Settle(results); err != nil {
				t.Fatal(err)
			}
			settled, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(settled, data) {
				t.Errorf("after settling:\n%s\nwant\n%s", settled, data)
			}
		})
	}
}

// Two programs that write into one folder would tear each other's lines.
func TestJournalHasOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cells.jsonl")
	first := openJournal(t, path)
	if _, err := OpenJournal(path, "scope"); err == nil || !strings.Contains(err.Error(), "another schedlab is writing to "+path) {
		t.Errorf("the second opened it, too: %v", err)
	}
	closeJournal(t, first)
	closeJournal(t, openJournal(t, path))
}

func closeJournal(t *testing.T, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestJournalOfAnotherScopeIsNotUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cells.jsonl")
	plan := mustPlan(t, smallExperiment, Options{})
	first := openJournal(t, path)
	mustExecute(t, plan, &fakeRunner{}, RunOptions{Journal: first})
	closeJournal(t, first)
	other, err := OpenJournal(path, "another program")
	if err != nil {
		t.Fatal(err)
	}
	if other.Len() != 0 || len(other.Notices()) != 1 {
		t.Errorf("%d cells, notices %q", other.Len(), other.Notices())
	}
}

func TestJournalIsExact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cells.jsonl")
	plan := mustPlan(t, smallExperiment, Options{})
	values := []float64{0.1, 1.0 / 3, math.SmallestNonzeroFloat64, math.MaxFloat64, 1e21, 123456789.123456789, math.Nextafter(1, 2)}
	random := rand.New(rand.NewPCG(1, 2))
	for len(values) < len(plan.Cells) {
		if x := math.Float64frombits(random.Uint64() &^ (1 << 63)); !math.IsNaN(x) && !math.IsInf(x, 0) {
			values = append(values, x)
		}
	}
	journal := openJournal(t, path)
	for i, v := range values[:len(plan.Cells)] {
		journal.Add(&plan.Cells[i], &Outcome{Samples: []Sample{{Statistic: "Amean", Better: "lower", Value: v}}})
	}
	closeJournal(t, journal)
	again := openJournal(t, path)
	for i, v := range values[:len(plan.Cells)] {
		if got := again.Lookup(&plan.Cells[i]).Samples[0].Value; got != v {
			t.Errorf("%v came back as %v", v, got)
		}
	}
}

func TestFingerprintCoversTheCell(t *testing.T) {
	plan := mustPlan(t, smallExperiment, Options{})
	base := plan.Cells[0]
	seen := map[string]string{fingerprint(&base): "base"}
	for name, change := range map[string]func(*Cell){
		"seed":     func(c *Cell) { c.Seed++ },
		"kernel":   func(c *Cell) { c.Kernel = "v6.1" },
		"features": func(c *Cell) { c.Features = []string{"X"} },
		"tunables": func(c *Cell) { c.Tunables = []Tunable{{"x", 1}} },
		"command":  func(c *Cell) { c.Command = append([]string{}, "hackbench") },
		"cgroups":  func(c *Cell) { c.Cgroups = []CgroupSetting{{"/a", "cpu.idle", "1"}} },
		"hz":       func(c *Cell) { c.HZ = 1000 },
	} {
		c := base
		change(&c)
		if other, taken := seen[fingerprint(&c)]; taken {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[fingerprint(&c)] = name
	}
}

func TestFailuresAreReportedAndTheRestIsDone(t *testing.T) {
	plan := mustPlan(t, smallExperiment, Options{})
	runner := &fakeRunner{run: func(_ context.Context, c *Cell) (*Outcome, error) {
		switch c.Key {
		case "2n4c2t/pipes/quiet/1/fast/2":
			return nil, errors.New("no such thing")
		case "2n4c2t/pipes/quiet/12/old/1":
			return &Outcome{Failed: "time limit", Warnings: []string{"w"}}, nil
		case "4n2c1t/pipes/quiet/1/old/1":
			return &Outcome{Samples: []Sample{{Statistic: "Amean", Unit: "seconds", Better: "lower", Value: 0}}}, nil
		case "4n2c1t/pipes/quiet/1/fast/1":
			panic("index out of range")
		case "4n2c1t/alone/quiet/-/old/1", "4n2c1t/alone/quiet/-/old/2", "4n2c1t/alone/quiet/-/fast/1", "4n2c1t/alone/quiet/-/fast/2":
			return nil, nil
		}
		return fakeOutcome(c), nil
	}}
	results := mustExecute(t, plan, runner, RunOptions{Workers: 4})
	if n := results.FailedCells(); n != 8 {
		t.Errorf("%d cells failed", n)
	}
	var got []string
	tables := results.Tables()
	for _, table := range tables {
		for _, f := range table.Failures {
			got = append(got, fmt.Sprint(table.Machine, " ", table.Benchmark, " ", f))
		}
	}
	want := []string{
		"2n4c2t pipes {1 fast [2] no such thing}",
		"2n4c2t pipes {12 old [1] time limit}",
		"4n2c1t pipes {1 old [1] Amean collapsed to 0}",
		"4n2c1t pipes {1 fast [1] internal error: index out of range}",
		"4n2c1t alone {- old [1 2] the benchmark reported nothing}",
		"4n2c1t alone {- fast [1 2] the benchmark reported nothing}",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	pipes := tables[0]
	if !pipes.Rows[0].Entries[1].Failed || pipes.Rows[0].Entries[0].Failed {
		t.Error("row 1: only the variant failed")
	}
	if row := pipes.Rows[1]; row.Label != "12" || !row.Entries[0].Failed || !row.Entries[1].NoBaseline {
		t.Errorf("row 12: without a baseline there is no percentage: %+v", row)
	}
	if alone := tables[3]; len(alone.Rows) != 1 || !alone.Rows[0].Entries[0].Failed || !alone.Rows[0].Entries[1].Failed {
		t.Errorf("a row that failed everywhere stays in its table: %+v", alone.Rows)
	}
}

func TestTables(t *testing.T) {
	tables := mustExecute(t, mustPlan(t, smallExperiment+"baseline: fast\n", Options{}), &fakeRunner{}, RunOptions{}).Tables()
	var got []string
	for _, table := range tables {
		for _, row := range table.Rows {
			got = append(got, fmt.Sprintf("%s %s %s %s n=%d", table.Machine, table.Benchmark, row.Statistic, row.Label, row.Entries[0].Summary.N))
		}
	}
	want := []string{
		"2n4c2t pipes Amean 1 n=2", "2n4c2t pipes Amean 12 n=2", "2n4c2t pipes Ops migrations n=2", "2n4c2t pipes Ops migrations n=2",
		"2n4c2t alone Amean - n=2", "2n4c2t alone Ops migrations n=2",
		"4n2c1t pipes Amean 1 n=2", "4n2c1t pipes Amean 12 n=2", "4n2c1t pipes Ops migrations n=2", "4n2c1t pipes Ops migrations n=2",
		"4n2c1t alone Amean - n=2", "4n2c1t alone Ops migrations n=2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	columns := tables[0].Columns
	if columns[0].Variant != "fast" || columns[1].Variant != "old" || columns[1].Kernel != "v4.14" {
		t.Errorf("the baseline comes first: %+v", columns)
	}
	// old/fast is 1/0.9 of the same seeds: 100 − 100/0.9 = −11.11 %
	if d := tables[0].Rows[0].Entries[1].Delta; math.Abs(d+11.111) > 0.001 {
		t.Errorf("delta %v", d)
	}
}

func TestPublishedLines(t *testing.T) {
	const head = `machine: ivb-ep
kernel: v4.14
variants: [{name: pre, kernel: v4.14-numa}, {name: idle}, {name: WA_WEIGHT}]
benchmarks: [{name: sockets, run: hackbench -P, rows: {-g: [4, 20]}}, {name: tbench, run: tbench, rows: {-c: [2]}}]
repeats: 1
`
	plan := mustPlan(t, head+`published:
  file: wake-affine.csv
  match: [{benchmark: hackbench, row: "20", beside: sockets, at: "20", variants: {NO_WA_WEIGHT: idle}, note: unknown form}]
`, Options{})
	tables := mustExecute(t, plan, &fakeRunner{}, RunOptions{}).Tables()
	if n := len(tables[0].Rows[0].Beside); n != 0 {
		t.Errorf("%d lines beside row 4", n)
	}
	beside := tables[0].Rows[1].Beside
	if len(beside) != 1 || beside[0].Note != "unknown form" || len(beside[0].Figures) != 2 {
		t.Fatalf("beside %+v", beside)
	}
	first, second := beside[0].Figures[0], beside[0].Figures[1]
	if first.Column != 1 || first.Value != 7.362717561 || !first.Baseline || second.Column != 2 || second.Delta != 12.39 {
		t.Errorf("figures %+v", beside[0].Figures)
	}
	if n := len(tables[1].Rows[0].Beside); n != 0 {
		t.Errorf("tbench of the table has other statistics and environments, yet %d lines are beside", n)
	}
}

// netperf's own unit is what it prints for the test; the baseline can be
// compared only in one unit.
func TestPublishedUnitIsNamedWhereTheTableLeavesItOpen(t *testing.T) {
	const file = `machine: ivb-ep
kernel: v4.14
variants: [{name: NO_WA_WEIGHT}, {name: WA_WEIGHT}]
benchmarks: [{name: streams, run: netperf -t TCP_STREAM, rows: {--pairs: [20]}}]
repeats: 1
published:
  file: wake-affine.csv
  match: [{benchmark: netperf TCP_STREAM, beside: streams%s}]
`
	streams := &fakeRunner{run: func(context.Context, *Cell) (*Outcome, error) {
		return &Outcome{Samples: []Sample{{Statistic: "Hmean", Unit: "Mbit/s", Better: "higher", Value: 15000}}}, nil
	}}
	for match, want := range map[string]string{"": "netperf unit", ", unit: Mbit/s": "Mbit/s"} {
		tables := mustExecute(t, mustPlan(t, fmt.Sprintf(file, match), Options{}), streams, RunOptions{}).Tables()
		beside := tables[0].Rows[0].Beside
		if len(beside) != 1 || beside[0].Unit != want || beside[0].Figures[0].Value != 15834.5 {
			t.Errorf("%q: beside %+v, want the unit %s", match, beside, want)
		}
	}
}

// Equal names need no mapping.
func TestPublishedLinesOfEqualNames(t *testing.T) {
	plan := mustPlan(t, `machine: xeon-8260
kernel: v5.17-tip
variants: [{name: vanilla}, {name: filter}]
environments: [{name: quiet}, {name: noisy}]
benchmarks: [{name: hackbench-process-pipes, run: hackbench -P -p, rows: {-g: [1, 2]}}]
repeats: 1
published: published/sched-idle-balance.csv
`, Options{})
	tables := mustExecute(t, plan, &fakeRunner{}, RunOptions{}).Tables()
	quiet, noisy := tables[0].Rows[0].Beside, tables[1].Rows[0].Beside
	if len(quiet) != 1 || quiet[0].Figures[1].Delta != -8.56 || len(noisy) != 1 || noisy[0].Figures[1].Delta != 21.42 {
		t.Errorf("quiet %+v, noisy %+v", quiet, noisy)
	}
	if len(tables[0].Rows[1].Beside) != 0 {
		t.Error("row 2 is not in the document")
	}
}
