package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/internal/suggest"
	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/stats"
)

// piece is one experiment of a request, and what became of it.
type piece struct {
	experiment *experiment.Experiment
	plan       *experiment.Plan
	scope      string
	journal    *experiment.Journal
	results    *experiment.Results
	tables     []stats.Table
	recordings []*report.Recording
}

// name is the experiment file's, without folder and extension.
func (p *piece) name() string {
	base := filepath.Base(p.experiment.Name())
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func allTables(pieces []piece) []stats.Table {
	var tables []stats.Table
	for i := range pieces {
		tables = append(tables, pieces[i].tables...)
	}
	return tables
}

// loadAll reads the experiments. Of several each named benchmark must be in one.
func (c *comparison) loadAll() ([]*experiment.Experiment, error) {
	var all []*experiment.Experiment
	var names []string
	for _, file := range c.files {
		x, err := c.load(file)
		if err != nil {
			return nil, err
		}
		all, names = append(all, x), append(names, x.Benchmarks()...)
	}
	if len(all) > 1 {
		for _, name := range c.benchmarks {
			if !slices.Contains(names, name) {
				return nil, &experiment.RequestError{Message: fmt.Sprintf("there is no benchmark %q in %s; %s",
					name, suggest.Enumerate(c.files), suggest.DidYouMean(name, names))}
			}
		}
	}
	return all, nil
}

// benchmarksOf are the named benchmarks of one experiment. A single one is asked
// for all, and says which it has not.
func (c *comparison) benchmarksOf(x *experiment.Experiment, of int) []string {
	if of == 1 {
		return c.benchmarks
	}
	var own []string
	for _, name := range c.benchmarks {
		if slices.Contains(x.Benchmarks(), name) {
			own = append(own, name)
		}
	}
	return own
}

// simulate runs the cells of one piece, of several.
func (c *comparison) simulate(ctx context.Context, runner experiment.Runner, p *piece, program string, several bool) error {
	p.scope = p.experiment.Scope(program)
	journal, cells := "cells.jsonl", "cells"
	if several {
		journal, cells = "cells-"+p.name()+".jsonl", "cells of "+p.name()
	}
	var err error
	if p.journal, err = c.openJournal(p.plan, p.scope, journal); err != nil {
		return err
	}
	if p.results, err = c.execute(ctx, p.plan, runner, p.journal, cells); err != nil {
		if several {
			err = fmt.Errorf("%s: %w", p.name(), err)
		}
		return err
	}
	p.tables = p.results.Tables()
	return nil
}

func closeJournals(pieces []piece) error {
	var err error
	for i := range pieces {
		err = errors.Join(err, pieces[i].journal.Close())
	}
	return err
}
