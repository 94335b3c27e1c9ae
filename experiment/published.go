package experiment

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/schedlab/schedlab/internal/smallfile"
	"github.com/schedlab/schedlab/internal/suggest"
	"github.com/schedlab/schedlab/published"
	"github.com/schedlab/schedlab/stats"
)

// publishedSpec says which published table is printed beside the results, and
// which of its lines go where.
type publishedSpec struct {
	file    text
	records []stats.Record
	matches []match
}

// match places published lines whose names differ from the experiment's.
type match struct {
	benchmark, environment, statistic, row text // of the document
	beside, in, at, machine                text // of the experiment; machine: only there
	variants                               []rename
	unit                                   text // of the document's figures, where the table leaves it open
	note                                   text
}

type rename struct{ published, ours text }

func (d *decoder) published(f *fields, x *Experiment) *publishedSpec {
	n := f.get("published")
	if n == nil || d.err != nil {
		return nil
	}
	if _, isText := d.resolve(n).(*ast.StringNode); isText {
		return &publishedSpec{file: d.optional(f, "published")}
	}
	p := d.fields(n, "published", "file", "match")
	spec := &publishedSpec{file: d.required(&p, "file")}
	if n := p.get("match"); n != nil {
		for _, item := range d.list(n, "match") {
			spec.matches = append(spec.matches, d.match(item, x))
		}
	}
	return spec
}

func (d *decoder) match(n ast.Node, x *Experiment) match {
	f := d.fields(n, "a match", "benchmark", "environment", "statistic", "row", "beside", "in", "at", "machine", "variants", "unit", "note")
	m := match{benchmark: d.required(&f, "benchmark"), environment: d.optional(&f, "environment"),
		statistic: d.optional(&f, "statistic"), row: d.optional(&f, "row"),
		beside: d.required(&f, "beside"), in: d.optional(&f, "in"), at: d.optional(&f, "at"),
		machine: d.optional(&f, "machine"), unit: d.optional(&f, "unit"), note: d.optional(&f, "note")}
	if n := f.get("variants"); n != nil {
		for _, e := range d.mapping(n, "variants") {
			m.variants = append(m.variants, rename{e.key, d.scalar(e.node, e.key.value)})
		}
	}
	d.checkMatch(&m, x)
	return m
}

// checkMatch holds the experiment's side of a match against the experiment.
func (d *decoder) checkMatch(m *match, x *Experiment) {
	d.named(m.beside, "benchmark", x.benchmarkNames())
	d.named(m.in, "environment", x.environmentNames())
	d.named(m.machine, "machine", x.machineNames())
	for _, r := range m.variants {
		d.named(r.ours, "variant", x.variantNames())
	}
	if d.err == nil && m.at.given() {
		var labels []string
		for i := range x.benchmarks {
			if b := &x.benchmarks[i]; b.name.value == m.beside.value {
				labels = rowLabels(expandRows(b.rows))
				if x.quick != nil {
					labels = append(labels, rowLabels(expandRows(quickRows(b.rows, x.quick.rows)))...)
				}
			}
		}
		d.named(m.at, "row of "+m.beside.value, labels)
	}
}

func (d *decoder) named(t text, what string, names []string) {
	if t.given() && !contains(names, t.value) {
		d.fail(t.at, "no %s %q here; %s", what, t.value, suggest.DidYouMean(t.value, names))
	}
}

// load reads the table and holds the document's side of each match against it.
func (p *publishedSpec) load(x *Experiment) (InputFile, error) {
	data, err := p.read(x.folder)
	if err != nil {
		return InputFile{}, x.src.errorAt(p.file.at, "published table %q: %v; the embedded ones are %s",
			p.file.value, err, suggest.Enumerate(published.Names()))
	}
	p.records, err = stats.ReadRecords(p.file.value, bytes.NewReader(data))
	if err != nil {
		return InputFile{}, x.src.errorAt(p.file.at, "published table: %v", err)
	}
	for i := range p.matches {
		if err := p.checkNames(&p.matches[i], x.src); err != nil {
			return InputFile{}, err
		}
	}
	return hashInput(p.file.value, data), nil
}

// read finds the table: a file relative to the experiment, or an embedded one.
func (p *publishedSpec) read(folder string) ([]byte, error) {
	data, fileErr := smallfile.Read(relativeTo(folder, p.file.value), maxInputBytes)
	if fileErr == nil {
		return data, nil
	}
	if name := p.file.value; filepath.Base(name) == name || filepath.Base(filepath.Dir(name)) == "published" {
		if data, err := published.Table(filepath.Base(name)); err == nil {
			return data, nil
		}
	}
	return nil, fmt.Errorf("cannot be read: %s", pathCause(fileErr))
}

func relativeTo(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// documentName is a name of a match that the published table must have.
type documentName struct {
	want   text
	what   string
	column func(*stats.Record) string
	narrow bool // the names after it must be in its lines
}

func (m *match) documentNames() []documentName {
	names := []documentName{
		{m.benchmark, "benchmark", func(r *stats.Record) string { return r.Benchmark }, true},
		{m.environment, "environment", func(r *stats.Record) string { return r.Environment }, true},
		{m.statistic, "statistic", func(r *stats.Record) string { return r.Statistic }, true},
		{m.row, "row", func(r *stats.Record) string { return r.Row }, true},
	}
	for _, v := range m.variants {
		names = append(names, documentName{v.published, "variant", func(r *stats.Record) string { return r.Variant }, false})
	}
	return names
}

func (p *publishedSpec) checkNames(m *match, src *source) error {
	records := p.records
	for _, name := range m.documentNames() {
		if !name.want.given() {
			continue
		}
		var there []string
		var kept []stats.Record
		for i := range records {
			value := name.column(&records[i])
			if value == name.want.value {
				kept = append(kept, records[i])
			}
			if !contains(there, value) {
				there = append(there, value)
			}
		}
		if len(kept) == 0 {
			return src.errorAt(name.want.at, "the published table has no %s %q there; %s", name.what, name.want.value, suggest.DidYouMean(name.want.value, there))
		}
		if name.narrow {
			records = kept
		}
	}
	return nil
}

// attach puts every published line beside the row it belongs to.
func (p *publishedSpec) attach(t *stats.Table) {
	for _, line := range p.lines() {
		for i := range t.Rows {
			row := &t.Rows[i]
			if p.sameNames(line, t, row) {
				attachLine(line, t, row, &match{})
			}
			for j := range p.matches {
				if m := &p.matches[j]; m.places(line, t, row) {
					attachLine(line, t, row, m)
				}
			}
		}
	}
}

// line is the records of one published row, over its variants.
type line []*stats.Record

func (p *publishedSpec) lines() []line {
	var lines []line
	index := map[string]int{}
	for i := range p.records {
		r := &p.records[i]
		key := strings.Join([]string{r.Benchmark, r.Environment, r.Statistic, r.Row}, "\x00")
		at, known := index[key]
		if !known {
			at = len(lines)
			index[key] = at
			lines = append(lines, nil)
		}
		lines[at] = append(lines[at], r)
	}
	return lines
}

func (p *publishedSpec) sameNames(l line, t *stats.Table, row *stats.Row) bool {
	r := l[0]
	return r.Benchmark == t.Benchmark && r.Environment == t.Environment && r.Statistic == row.Statistic && r.Row == row.Label
}

// places says whether a published line goes beside the row. A match without row
// pairs equal labels; a line goes to the row's first statistic of the same
// direction, which is the benchmark's own figure.
func (m *match) places(l line, t *stats.Table, row *stats.Row) bool {
	r := l[0]
	return r.Benchmark == m.benchmark.value && unsetOr(m.environment, r.Environment) &&
		unsetOr(m.statistic, r.Statistic) && unsetOr(m.row, r.Row) &&
		t.Benchmark == m.beside.value && unsetOr(m.in, t.Environment) && unsetOr(m.machine, t.Machine) &&
		row.Label == m.label(r) && row == firstOf(t, row.Label, r.Better)
}

func (m *match) label(r *stats.Record) string {
	if m.at.given() {
		return m.at.value
	}
	return r.Row
}

func unsetOr(want text, have string) bool { return !want.given() || want.value == have }

func firstOf(t *stats.Table, label string, better stats.Direction) *stats.Row {
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Label == label && r.Better == better {
			return r
		}
	}
	return nil
}

func attachLine(l line, t *stats.Table, row *stats.Row, m *match) {
	r := l[0]
	beside := stats.Beside{Source: r.Source, Benchmark: r.Benchmark, Environment: r.Environment, Statistic: r.Statistic,
		Label: r.Row, Unit: r.Unit, Better: r.Better, Note: m.note.value}
	if m.unit.given() {
		beside.Unit = m.unit.value
	}
	for i, record := range l {
		column := columnOf(t, record.Variant, m.variants)
		if column < 0 || record.Value == nil {
			continue
		}
		figure := stats.Published{Column: column, Variant: record.Variant, Value: *record.Value, Baseline: i == 0}
		if record.DeltaPct != nil {
			figure.Delta, figure.HasDelta = *record.DeltaPct, true
		}
		figure.Significant = record.Significant != nil && *record.Significant
		figure.Unmarked = record.Significant == nil
		beside.Figures = append(beside.Figures, figure)
	}
	if len(beside.Figures) > 0 {
		row.Attach(beside)
	}
}

func columnOf(t *stats.Table, publishedName string, renames []rename) int {
	name := publishedName
	for _, r := range renames {
		if r.published.value == publishedName {
			name = r.ours.value
		}
	}
	for i := range t.Columns {
		if t.Columns[i].Variant == name {
			return i
		}
	}
	return -1
}
