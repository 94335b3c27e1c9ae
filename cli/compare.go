package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/stats"
)

// comparison is one request to run an experiment and report it.
type comparison struct {
	request          string // the command's name
	file             string
	load             func(file string) (*experiment.Experiment, error)
	summary          func([]stats.Table) error // what follows the tables; nil: nothing
	quick, quiet     bool
	traces           bool
	format           string
	seed             uint64
	seedGiven        bool
	workers          int
	out              string
	failOnRegression bool
	benchmarks       []string
	costs            []string // NAME=VALUE

	stdout, stderr io.Writer
}

// newCompareCommand runs an experiment file over the runner and prints its
// tables. Its errors are *experiment.RequestError (exit code 2),
// experiment.ErrFailedCells (1), experiment.ErrRegression (3) and
// *experiment.Interrupted (130).
func newCompareCommand(runner experiment.Runner) *cobra.Command {
	var c comparison
	command := &cobra.Command{
		Use:   "compare EXPERIMENT.yaml",
		Short: "Run variants x benchmarks x repeats and say which is better, by how much, with what confidence",
		Long: `Compare runs every variant of an experiment file over its benchmarks, rows and
repeats on the simulated machines, and prints one table per benchmark and
machine: means, the difference from the baseline (positive is better), a star
where the difference is significant, and a one-line verdict.

The same command prints the same bytes, whatever the number of workers. A run
that was interrupted is continued by the same command. With --out DIR the folder
receives results.csv, results.parquet, manifest.json, report.html (a page that
needs nothing else), its charts as SVG and PNG, and recordings of each table's
largest difference.`,
		Example: `  schedlab compare experiments/wake-affine.yaml
  schedlab compare --quick --format csv experiments/wake-affine.yaml
  schedlab compare --out results --fail-on-regression experiments/wake-affine.yaml`,
		Args: exactlyOne("an experiment file such as experiments/wake-affine.yaml"),
		RunE: func(command *cobra.Command, args []string) error {
			c.request, c.load = "compare", experiment.Load
			c.file, c.seedGiven = args[0], command.Flags().Changed("seed")
			c.stdout, c.stderr = command.OutOrStdout(), command.ErrOrStderr()
			return c.run(command.Context(), runner)
		},
	}
	c.addFlags(command)
	completeCompare(command)
	return command
}

func (c *comparison) addFlags(command *cobra.Command) {
	f := command.Flags()
	f.BoolVar(&c.quick, "quick", false, "the fewer rows and repeats of the file's quick section")
	f.StringVar(&c.format, "format", "text", strings.Join(formats, ", "))
	f.Uint64Var(&c.seed, "seed", 0, "instead of the file's seed")
	f.IntVar(&c.workers, "workers", 0, "cells at once (default: one per CPU)")
	f.StringVar(&c.out, "out", "", "folder for results.csv, results.parquet, report.html, charts, traces, manifest.json and finished cells")
	f.BoolVar(&c.quiet, "quiet", false, "no progress")
	f.StringSliceVar(&c.benchmarks, "benchmark", nil, "only the `BENCHMARK` of that name; may be repeated")
	f.StringArrayVar(&c.costs, "cost", nil, "`NAME=VALUE`: suppose another cost, such as probe=0, to see what it carries; may be repeated")
	f.BoolVar(&c.traces, "traces", true, "with --out: record each table's largest difference, baseline and variant, for schedlab explain and the report")
	f.BoolVar(&c.failOnRegression, "fail-on-regression", false, "exit 3 when any row is significantly worse than the baseline")
}

func (c *comparison) run(ctx context.Context, runner experiment.Runner) error {
	plan, inputs, err := c.plan(runner)
	if err != nil {
		return err
	}
	program, err := experiment.ProgramHash()
	if err != nil {
		return &runError{fmt.Errorf("the executable cannot be read: %w", err)}
	}
	journal, err := c.openJournal(plan, inputs.Scope(program))
	if err != nil {
		return err
	}
	results, err := c.execute(ctx, plan, runner, journal)
	if err != nil {
		return errors.Join(err, journal.Close())
	}
	tables := results.Tables()
	if err := c.publish(tables); err != nil {
		return &runError{err}
	}
	if c.summary != nil {
		if err := c.summary(tables); err != nil {
			return &runError{err}
		}
	}
	var recordings []*report.Recording
	if c.out != "" && c.traces {
		if recordings, err = c.recordLargest(ctx, results, tables, inputs.Scope(program)); err != nil {
			return &runError{errors.Join(err, journal.Close())}
		}
	}
	if err := c.finish(results, tables, recordings, inputs, journal, program); err != nil {
		return &runError{err}
	}
	return c.judge(results, tables)
}

func (c *comparison) plan(runner experiment.Runner) (*experiment.Plan, *experiment.Experiment, error) {
	if err := checkFormat(c.format); err != nil {
		return nil, nil, err
	}
	if c.workers < 0 {
		return nil, nil, &experiment.RequestError{Message: fmt.Sprintf("--workers is %d; write 1 or more, or leave it out", c.workers)}
	}
	x, err := c.load(c.file)
	if err != nil {
		return nil, nil, err
	}
	options := experiment.Options{Quick: c.quick, Benchmarks: c.benchmarks}
	if options.Supposed, err = parseSettings("cost", "probe=0", c.costs); err != nil {
		return nil, nil, err
	}
	if c.seedGiven {
		options.Seed = &c.seed
	}
	plan, err := x.Plan(options)
	if err != nil {
		return nil, nil, err
	}
	return plan, x, plan.Check(runner)
}

// openJournal opens the folder's journal, or one in the user's cache. Without a
// cache the run goes on and an interrupt loses it.
func (c *comparison) openJournal(plan *experiment.Plan, scope string) (*experiment.Journal, error) {
	if c.out != "" {
		journal, err := experiment.OpenJournal(filepath.Join(c.out, "cells.jsonl"), scope)
		if err != nil {
			return nil, &experiment.RequestError{Message: "--out: " + err.Error(), Err: err}
		}
		c.announce(journal, plan)
		return journal, nil
	}
	path, err := plan.CacheJournal(scope)
	if err == nil {
		var journal *experiment.Journal
		if journal, err = experiment.OpenJournal(path, scope); err == nil {
			c.announce(journal, plan)
			return journal, nil
		}
	}
	c.say("finished cells are not kept: %v; --out DIR keeps them", err)
	return nil, nil
}

func (c *comparison) announce(journal *experiment.Journal, plan *experiment.Plan) {
	for _, notice := range journal.Notices() {
		c.say("%s", notice)
	}
	if journal.Len() > 0 && !c.quiet {
		c.say("continuing: %d finished cells at hand, %d wanted", journal.Len(), len(plan.Cells))
	}
}

// say prints a line for the user, beside the results.
func (c *comparison) say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.stderr, "schedlab: "+format+"\n", args...)
}

func (c *comparison) execute(ctx context.Context, plan *experiment.Plan, runner experiment.Runner, journal *experiment.Journal) (*experiment.Results, error) {
	progress := newProgress(c.stderr, c.quiet, "cells", len(plan.Cells))
	results, err := experiment.Execute(ctx, plan, runner, experiment.RunOptions{Workers: c.workers, Journal: journal, Progress: progress.set})
	progress.clear()
	if broken := journal.Err(); broken != nil {
		c.say("finished cells are not kept: %v", broken)
	} else if err != nil && journal != nil {
		err = fmt.Errorf("%w and kept; the same command continues", err)
	}
	return results, err
}

func (c *comparison) publish(tables []stats.Table) error {
	switch c.format {
	case "json":
		return report.JSON(c.stdout, tables)
	case "csv":
		return report.CSV(c.stdout, tables)
	}
	return report.Text(c.stdout, tables, report.TextOptions{Color: wantsColor(c.stdout), Width: columnsOf(c.stdout)})
}

// finish writes the output folder, or drops the journal that is needed no more.
func (c *comparison) finish(results *experiment.Results, tables []stats.Table, recordings []*report.Recording,
	x *experiment.Experiment, journal *experiment.Journal, program string) error {
	if c.out == "" {
		return journal.Remove()
	}
	if err := journal.Settle(results); err != nil {
		return err
	}
	manifest := c.manifest(results, tables, x, program)
	files := []struct {
		name  string
		write func(io.Writer) error
	}{
		{"results.csv", func(w io.Writer) error { return report.CSV(w, tables) }},
		{"results.parquet", func(w io.Writer) error { return report.Parquet(w, tables) }},
		{"manifest.json", manifest.Write},
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(c.out, f.name), f.write); err != nil {
			return err
		}
	}
	return writePage(c.out, report.Page(filepath.Base(x.Name()), tables, recordings))
}

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

func (c *comparison) manifest(results *experiment.Results, tables []stats.Table, x *experiment.Experiment, program string) *report.Manifest {
	m := &report.Manifest{Program: program, Version: version(), Command: c.command(), Seed: results.Plan.Seed, Notes: []string{}}
	for _, f := range x.Inputs() {
		m.Inputs = append(m.Inputs, report.ManifestInput(f))
	}
	for i := range results.Plan.Cells {
		cell := &results.Plan.Cells[i]
		m.Cells = append(m.Cells, report.ManifestCell{Key: cell.Key, Seed: cell.Seed, Failed: results.Outcomes[i].Failed})
	}
	for i := range tables {
		for _, n := range tables[i].Notes {
			m.Notes = append(m.Notes, fmt.Sprintf("%s on %s [%s]: %s", tables[i].Benchmark, tables[i].Machine, tables[i].Environment, n))
		}
	}
	return m
}

// command is the request without what cannot change a result.
func (c *comparison) command() []string {
	command := []string{"schedlab", c.request, c.file}
	if c.quick {
		command = append(command, "--quick")
	}
	for _, name := range c.benchmarks {
		command = append(command, "--benchmark", name)
	}
	for _, setting := range c.costs {
		command = append(command, "--cost", setting)
	}
	if c.seedGiven {
		command = append(command, "--seed", strconv.FormatUint(c.seed, 10))
	}
	return command
}

func (c *comparison) judge(results *experiment.Results, tables []stats.Table) error {
	if n := results.FailedCells(); n > 0 {
		return fmt.Errorf("%d of %d %w", n, len(results.Outcomes), experiment.ErrFailedCells)
	}
	if !c.failOnRegression {
		return nil
	}
	for i := range tables {
		if tables[i].Regressed() {
			return experiment.ErrRegression
		}
	}
	return nil
}
