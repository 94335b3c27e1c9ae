package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/stats"
)

// recordLargest writes, for each table, a recording of the baseline and of the
// variant that differs most from it, in the row where it does: first repeat,
// below DIR/traces. A recording that is there already is left alone.
func (c *comparison) recordLargest(ctx context.Context, plan *experiment.Plan, tables []stats.Table) error {
	for i := range tables {
		t := &tables[i]
		row, variant := largestDifference(t)
		if row == nil {
			continue
		}
		folder := filepath.Join(c.out, "traces", traceFolder(t, row))
		for _, name := range []string{t.Columns[0].Variant, t.Columns[variant].Variant} {
			cell := firstRepeat(plan, t, row.Label, name)
			if cell == nil || cell.Placement != "" { // a rule that only this program knows cannot be explained
				continue
			}
			if err := recordCell(ctx, cell, filepath.Join(folder, fileName(name))); err != nil {
				return fmt.Errorf("recording %s: %w", cell.Key, err)
			}
		}
	}
	return nil
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

func firstRepeat(plan *experiment.Plan, t *stats.Table, label, variant string) *experiment.Cell {
	for i := range plan.Cells {
		c := &plan.Cells[i]
		if c.Repeat == 1 && c.Variant == variant && c.Row == label && c.Benchmark == t.Benchmark &&
			c.Environment == t.Environment && c.MachineName == t.Machine {
			return c
		}
	}
	return nil
}

func recordCell(ctx context.Context, cell *experiment.Cell, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	s, err := experiment.NewSimulation(cell)
	if err != nil {
		return err
	}
	rec, err := beginTrace(s, dir)
	if err != nil {
		return err
	}
	result, err := s.Run(ctx)
	if err != nil {
		rec.abandon()
		return err
	}
	return rec.finish(s, result, s.Benchmark.Report(&result.Observation).Text)
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
