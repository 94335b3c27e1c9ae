package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/explain"
	"github.com/schedlab/schedlab/occupancy"
	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/stats"
	"github.com/schedlab/schedlab/trace"
)

// The files that a recording of a comparison has besides those of a bundle.
const (
	sisFile   = "sis.csv"
	stampFile = "cell.txt" // which cell it is of, and of what program and inputs
)

// sisIntervals is into how many intervals the idle search's counters are cut.
const sisIntervals = 100

// recording is one run that is to be recorded.
type recording struct {
	table, column int
	cell          *experiment.Cell
	span          int64  // ns that the cell simulated
	dir           string // where it is kept
	stamp         string
}

// recordLargest writes, for each table, a recording of the baseline and of the
// variant that differs most from it, in the row where it does: first repeat,
// below DIR/traces. It returns what the recordings show, nil for tables without
// one. A recording that is there already is used when it is of the same cell of
// the same program.
func (c *comparison) recordLargest(ctx context.Context, results *experiment.Results, tables []stats.Table, scope string) ([]*report.Recording, error) {
	shown := make([]*report.Recording, len(tables))
	var wanted []recording
	for i := range tables {
		row, variant := largestDifference(&tables[i])
		if row == nil {
			continue
		}
		shown[i] = &report.Recording{Row: row.Label}
		for _, column := range []int{0, variant} {
			if r := c.wanted(results, &tables[i], row, column, scope); r != nil {
				r.table = i
				wanted = append(wanted, *r)
			}
		}
	}
	seen, err := c.record(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for i := range wanted {
		if seen[i] != nil {
			shown[wanted[i].table].Variants = append(shown[wanted[i].table].Variants, *seen[i])
		}
	}
	return shown, nil
}

// wanted is the recording of one variant, nil when it cannot be had.
func (c *comparison) wanted(results *experiment.Results, t *stats.Table, row *stats.Row, column int, scope string) *recording {
	name := t.Columns[column].Variant
	at := firstRepeat(results.Plan, t, row.Label, name)
	if at < 0 || results.Plan.Cells[at].Placement != "" { // a rule that only this program knows cannot be explained
		return nil
	}
	cell := &results.Plan.Cells[at]
	return &recording{column: column, cell: cell, span: results.Outcomes[at].Span,
		dir:   filepath.Join(c.out, "traces", traceFolder(t, row), fileName(name)),
		stamp: cell.Key + "\n" + cell.Fingerprint() + "\n" + scope + "\n"}
}

// record makes the recordings, several at a time, and reads them. Those of
// somebody else are left alone and not read.
func (c *comparison) record(ctx context.Context, wanted []recording) ([]*report.RecordedVariant, error) {
	progress := newProgress(c.stderr, c.quiet, "recordings", len(wanted))
	defer progress.clear()
	seen, errs := make([]*report.RecordedVariant, len(wanted)), make([]error, len(wanted))
	next := make(chan int)
	var workers sync.WaitGroup
	for range max(1, min(c.workerCount(), len(wanted))) {
		workers.Go(func() {
			for i := range next {
				seen[i], errs[i] = wanted[i].take(ctx)
				progress.step()
			}
		})
	}
	for i := range wanted {
		next <- i
	}
	close(next)
	workers.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("recording %s: %w", wanted[i].cell.Key, err)
		}
	}
	return seen, nil
}

func (c *comparison) workerCount() int {
	if c.workers > 0 {
		return c.workers
	}
	return runtime.GOMAXPROCS(0)
}

// take makes the recording if it is not there, and reads it.
func (r *recording) take(ctx context.Context) (*report.RecordedVariant, error) {
	stamp, err := os.ReadFile(filepath.Join(r.dir, stampFile))
	switch {
	case err == nil && string(stamp) == r.stamp:
		return r.read()
	case err == nil: // ours, of another program or other inputs
		err = os.RemoveAll(r.dir)
	case errors.Is(err, fs.ErrNotExist):
		if _, there := os.Stat(r.dir); there == nil {
			return nil, nil
		}
		err = nil
	}
	if err == nil {
		err = r.make(ctx)
	}
	if err != nil {
		return nil, err
	}
	return r.read()
}

// make records the cell beside the place where the recording is to be, and moves
// it there when it is complete.
func (r *recording) make(ctx context.Context) error {
	unfinished := r.dir + ".unfinished"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	s, err := experiment.NewSimulation(r.cell)
	if err != nil {
		return err
	}
	if r.span > 0 {
		s.SampleCounters(max(1, r.span/sisIntervals))
	}
	rec, err := beginTrace(s, unfinished)
	if err != nil {
		return err
	}
	result, err := s.Run(ctx)
	if err != nil {
		rec.abandon()
		return err
	}
	if err := rec.finish(s, result, s.Benchmark.Report(&result.Observation).Text); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(unfinished, sisFile), func(w io.Writer) error { return report.SISOfMachine(w, result.Counters) }); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(unfinished, stampFile), []byte(r.stamp), 0o644); err != nil {
		return err
	}
	return os.Rename(unfinished, r.dir)
}

func (r *recording) read() (*report.RecordedVariant, error) {
	v := &report.RecordedVariant{Column: r.column}
	var err error
	if v.Map, err = readOccupancy(r.dir); err != nil {
		return nil, err
	}
	path := filepath.Join(r.dir, sisFile)
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	v.SIS, err = report.ReadSISOfMachine(path, file)
	return v, errors.Join(err, file.Close())
}

// readOccupancy reads from a bundle what its CPUs had to do.
func readOccupancy(dir string) (*occupancy.Map, error) {
	bundle, err := explain.Open(dir)
	if err != nil {
		return nil, err
	}
	ground := occupancy.Ground{CPUs: bundle.Machine.NumCPUs()}
	for _, g := range bundle.Groups {
		if g.Idle {
			ground.IdleGroups = append(ground.IdleGroups, g.Path)
		}
	}
	reader, err := trace.Open(bundle.Trace)
	if err != nil {
		return nil, err
	}
	m, err := occupancy.Read(reader, ground)
	if err != nil {
		err = fmt.Errorf("%s: %w", bundle.Trace, err)
	}
	return m, errors.Join(err, reader.Close())
}

// largestDifference finds the tested row and the column whose figure is
// farthest from the baseline's; nil when nothing differs.
func largestDifference(t *stats.Table) (row *stats.Row, column int) {
	largest := 0.0
	for i := range t.Rows {
		r := &t.Rows[i]
		if !r.Tested() || r.Entries[0].Failed || r.Entries[0].Absent {
			continue
		}
		for j := 1; j < len(r.Entries); j++ {
			e := &r.Entries[j]
			if e.Failed || e.Absent || e.NoBaseline || math.Abs(e.Delta) <= largest {
				continue
			}
			largest, row, column = math.Abs(e.Delta), r, j
		}
	}
	return row, column
}

// firstRepeat is the place of a cell in the plan, -1 when there is none.
func firstRepeat(plan *experiment.Plan, t *stats.Table, label, variant string) int {
	for i := range plan.Cells {
		c := &plan.Cells[i]
		if c.Repeat == 1 && c.Variant == variant && c.Row == label && c.Benchmark == t.Benchmark &&
			c.Environment == t.Environment && c.MachineName == t.Machine {
			return i
		}
	}
	return -1
}

func traceFolder(t *stats.Table, row *stats.Row) string {
	parts := []string{t.Machine, t.Benchmark, t.Environment, row.Label}
	for i := range parts {
		parts[i] = fileName(parts[i])
	}
	return strings.Join(parts, "_")
}

// fileName replaces what a path would take for a separator.
func fileName(name string) string { return strings.NewReplacer("/", "-", " ", "-").Replace(name) }
