package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/stats"
)

// comparisonFormats are the output formats of tables.
var comparisonFormats = append(formats[:len(formats):len(formats)], "markdown")

// comparison is one request to run experiments and report them together.
type comparison struct {
	request          string   // the command's name
	subject          []string // what the manifest names as the command's arguments
	files            []string
	title            string // of the page; "": the file's name
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
			c.subject, c.files, c.seedGiven = args, args, command.Flags().Changed("seed")
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
	f.StringVar(&c.format, "format", "text", strings.Join(comparisonFormats, ", "))
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
	pieces, err := c.plan(runner)
	if err != nil {
		return err
	}
	program, err := experiment.ProgramHash()
	if err != nil {
		return &runError{fmt.Errorf("the executable cannot be read: %w", err)}
	}
	for i := range pieces {
		if err := c.simulate(ctx, runner, &pieces[i], program, len(pieces) > 1); err != nil {
			return errors.Join(err, closeJournals(pieces))
		}
	}
	if err := c.print(allTables(pieces)); err != nil {
		return &runError{err}
	}
	if c.out != "" && c.traces {
		for i := range pieces {
			p := &pieces[i]
			if p.recordings, err = c.recordLargest(ctx, p.results, p.tables, p.scope); err != nil {
				return &runError{errors.Join(err, closeJournals(pieces))}
			}
		}
	}
	if err := c.finish(pieces, program); err != nil {
		return &runError{err}
	}
	return c.judge(pieces)
}

// print writes the tables and what follows them to standard output.
func (c *comparison) print(tables []stats.Table) error {
	if err := c.publish(tables); err != nil || c.summary == nil {
		return err
	}
	return c.summary(tables)
}

// plan loads every experiment and checks all of their cells before any runs.
func (c *comparison) plan(runner experiment.Runner) ([]piece, error) {
	if err := checkFormat(c.format, comparisonFormats); err != nil {
		return nil, err
	}
	if c.workers < 0 {
		return nil, &experiment.RequestError{Message: fmt.Sprintf("--workers is %d; write 1 or more, or leave it out", c.workers)}
	}
	options := experiment.Options{Quick: c.quick}
	var err error
	if options.Supposed, err = parseSettings("cost", "probe=0", c.costs); err != nil {
		return nil, err
	}
	if c.seedGiven {
		options.Seed = &c.seed
	}
	experiments, err := c.loadAll()
	if err != nil {
		return nil, err
	}
	var pieces []piece
	for _, x := range experiments {
		if options.Benchmarks = c.benchmarksOf(x, len(experiments)); len(c.benchmarks) > 0 && len(options.Benchmarks) == 0 {
			continue
		}
		p := piece{experiment: x}
		if p.plan, err = x.Plan(options); err == nil {
			err = p.plan.Check(runner)
		}
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, p)
	}
	return pieces, nil
}

// openJournal opens a journal in the folder, or one in the user's cache. Without
// a cache the run goes on and an interrupt loses it.
func (c *comparison) openJournal(plan *experiment.Plan, scope, name string) (*experiment.Journal, error) {
	if c.out != "" {
		journal, err := experiment.OpenJournal(filepath.Join(c.out, name), scope)
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

func (c *comparison) execute(ctx context.Context, plan *experiment.Plan, runner experiment.Runner, journal *experiment.Journal, what string) (*experiment.Results, error) {
	progress := newProgress(c.stderr, c.quiet, what, len(plan.Cells))
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
	case "markdown":
		return report.Markdown(c.stdout, tables, report.MarkdownOptions{})
	}
	return report.Text(c.stdout, tables, report.TextOptions{Color: wantsColor(c.stdout), Width: columnsOf(c.stdout)})
}

// finish writes the output folder, or drops the journals that are needed no more.
func (c *comparison) finish(pieces []piece, program string) error {
	var recordings []*report.Recording
	for i := range pieces {
		p := &pieces[i]
		settle := func() error { return p.journal.Settle(p.results) }
		if c.out == "" {
			settle = p.journal.Remove
		}
		if err := settle(); err != nil {
			return err
		}
		if p.recordings == nil {
			p.recordings = make([]*report.Recording, len(p.tables))
		}
		recordings = append(recordings, p.recordings...)
	}
	if c.out == "" {
		return nil
	}
	tables, manifest := allTables(pieces), c.manifest(pieces, program)
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
	title := c.title
	if title == "" {
		title = filepath.Base(pieces[0].experiment.Name())
	}
	return writePage(c.out, report.Page(title, tables, recordings))
}

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

func (c *comparison) manifest(pieces []piece, program string) *report.Manifest {
	m := &report.Manifest{Program: program, Version: version(), Command: c.command(), Seed: pieces[0].plan.Seed, Notes: []string{}}
	for i := range pieces {
		p := &pieces[i]
		for _, f := range p.experiment.Inputs() {
			if input := report.ManifestInput(f); !slices.Contains(m.Inputs, input) {
				m.Inputs = append(m.Inputs, input)
			}
		}
		for j := range p.plan.Cells {
			cell := &p.plan.Cells[j]
			m.Cells = append(m.Cells, report.ManifestCell{Key: cell.Key, Seed: cell.Seed, Failed: p.results.Outcomes[j].Failed})
		}
		for j := range p.tables {
			t := &p.tables[j]
			for _, n := range t.Notes {
				m.Notes = append(m.Notes, fmt.Sprintf("%s on %s [%s]: %s", t.Benchmark, t.Machine, t.Environment, n))
			}
		}
	}
	return m
}

// command is the request without what cannot change a result.
func (c *comparison) command() []string {
	command := append([]string{"schedlab", c.request}, c.subject...)
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

func (c *comparison) judge(pieces []piece) error {
	failed, cells := 0, 0
	for i := range pieces {
		failed, cells = failed+pieces[i].results.FailedCells(), cells+len(pieces[i].results.Outcomes)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d %w", failed, cells, experiment.ErrFailedCells)
	}
	if !c.failOnRegression {
		return nil
	}
	tables := allTables(pieces)
	for i := range tables {
		if tables[i].Regressed() {
			return experiment.ErrRegression
		}
	}
	return nil
}
