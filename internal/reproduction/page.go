package reproduction

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/experiments"
	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/stats"
)

// document is what a folder holds about one published document.
type document struct {
	experiments.Document
	runs    []Run
	results *Results
	causes  string
}

// WritePage writes docs/reproduction.md from a folder with one folder for each
// document: results (*.csv), how they were made (runs.csv), and why they miss
// what they miss (causes.md).
func WritePage(w io.Writer, folder string) error {
	var documents []document
	for _, d := range experiments.Documents() {
		read, err := readDocument(filepath.Join(folder, d.Name), d)
		if err != nil {
			return err
		}
		documents = append(documents, *read)
	}
	p := &page{w: w}
	p.head(documents)
	for i := range documents {
		p.document(&documents[i])
	}
	return p.err
}

func readDocument(folder string, d experiments.Document) (*document, error) {
	read := &document{Document: d}
	var err error
	if read.runs, err = readRuns(folder); err != nil {
		return nil, err
	}
	var records []stats.Record
	for _, run := range read.runs {
		more, err := readRecords(filepath.Join(folder, run.Results))
		if err != nil {
			return nil, err
		}
		records = append(records, more...)
	}
	if read.results, err = Rebuild(d.Parts, records); err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	causes, err := os.ReadFile(filepath.Join(folder, causesFile))
	if err != nil {
		return nil, err
	}
	read.causes = strings.TrimSpace(string(causes))
	return read, nil
}

// page keeps the first error of writing.
type page struct {
	w   io.Writer
	err error
}

func (p *page) print(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// part writes what a function of the report writes.
func (p *page) part(write func(io.Writer) error) {
	if p.err == nil {
		p.err = write(p.w)
	}
}

func (p *page) head(documents []document) {
	p.print(`<!-- Made by "go generate ./..." from docs/reproduction; change the results or causes there, not this file. -->

# How well the published documents are reproduced

Four documents measured changes of the scheduler on real machines. Here are their figures beside simulated ones. Costs are fitted
to columns without the patches alone; no published figure of a patched kernel is known to the simulation
([reproduce.md](reproduce.md#what-is-known-about-the-answer)).

`)
	var rows []report.DocumentScore
	for i := range documents {
		rows = append(rows, report.DocumentScore{Name: documents[i].Name, Run: documents[i].extent(), Tables: documents[i].results.Tables})
	}
	p.part(func(w io.Writer) error { return report.MarkdownOverview(w, rows) })
}

// extent says how many parts were run, and whether all of their rows were.
func (d *document) extent() string {
	whole := len(d.Parts)
	for i := range d.results.NotRun {
		if d.results.NotRun[i].Whole {
			whole--
		}
	}
	text := fmt.Sprintf("%d of %d parts", whole, len(d.Parts))
	if len(d.Parts) == 1 {
		text = map[int]string{0: "not run", 1: "whole"}[whole]
	}
	if slices.ContainsFunc(d.runs, func(r Run) bool { return r.Rows() == "quick" }) {
		text += ", quick"
	}
	return text
}

func (p *page) document(d *document) {
	p.print("## %s\n\n%s.\n\n", d.Name, d.About)
	if len(d.runs) > 0 {
		p.print("| results | made by | version | rows | took |\n|---|---|---|---|---|\n")
	}
	for i := range d.runs {
		r := &d.runs[i]
		p.print("| [%s](reproduction/%s/%s) | `%s` | %s | %s | %s |\n", r.Results, d.Name, r.Results, r.Command, r.Version, r.Rows(), r.Took)
	}
	if len(d.runs) > 0 {
		p.print("\n")
	}
	if len(d.results.NotRun) > 0 {
		p.print("Not run:\n\n")
		for i := range d.results.NotRun {
			p.print("* %s\n", d.results.NotRun[i].String())
		}
		p.print("\n")
	}
	tables := publishedOnly(d.results.Tables)
	p.part(func(w io.Writer) error { return report.MarkdownScore(w, tables) })
	p.print("### Why: %s\n\n%s\n\n", d.Name, d.causes)
	if len(tables) > 0 {
		p.print("### Tables: %s\n\n", d.Name)
		p.part(func(w io.Writer) error { return report.Markdown(w, tables, report.MarkdownOptions{NoVerdicts: true}) })
		p.beyond(d.results.Tables)
	}
}

// beyond names what was simulated without a published figure beside it.
func (p *page) beyond(tables []stats.Table) {
	var names []string
	for i := range tables {
		if t := &tables[i]; len(publishedRows(t)) == 0 {
			names = append(names, fmt.Sprintf("%s on %s [%s]", t.Benchmark, t.Machine, t.Environment))
		}
	}
	if len(names) > 0 {
		p.print("Also simulated, with nothing published beside it: %s. The figures are in the results.\n\n", strings.Join(names, ", "))
	}
}

// publishedOnly are the tables with the rows that stand beside published ones.
func publishedOnly(tables []stats.Table) []stats.Table {
	var kept []stats.Table
	for i := range tables {
		t := tables[i]
		if t.Rows = publishedRows(&tables[i]); len(t.Rows) > 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

func publishedRows(t *stats.Table) []stats.Row {
	var rows []stats.Row
	for i := range t.Rows {
		if len(t.Rows[i].Beside) > 0 {
			rows = append(rows, t.Rows[i])
		}
	}
	return rows
}
