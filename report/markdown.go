package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/page"
	"github.com/schedlab/schedlab/stats"
)

// Markdown writes the tables in the pipe form of GitHub: a column for each
// variant and one for its change, and in each cell the simulated figure and,
// behind a slash, the published one. Significant changes are bold. Published
// changes against another variant than the table's baseline have a table of their
// own.
func Markdown(w io.Writer, tables []stats.Table, o MarkdownOptions) error {
	out := &markdownWriter{w: bufio.NewWriter(w), options: o}
	for i := range tables {
		out.table(&tables[i])
	}
	return out.w.Flush()
}

// MarkdownOptions steer the Markdown form.
type MarkdownOptions struct {
	NoVerdicts bool // leave out the sentence below a table about each variant
}

// markdownWriter leaves write errors to bufio, which keeps the first.
type markdownWriter struct {
	w       *bufio.Writer
	options MarkdownOptions
}

func (m *markdownWriter) line(s string) { _, _ = m.w.WriteString(s + "\n") }

func (m *markdownWriter) paragraph(s string) { m.line(s + "\n") }

func (m *markdownWriter) list(items []string) {
	for _, item := range items {
		m.line("* " + escaped(item))
	}
	if len(items) > 0 {
		m.line("")
	}
}

func (m *markdownWriter) table(t *stats.Table) {
	bases := publishedBases(t)
	heading := "**" + escaped(title(t)) + "**"
	if slices.Contains(bases, 0) {
		heading += ", simulated / published"
	}
	m.paragraph(heading)
	m.pipes(simulatedTable(t))
	for _, base := range bases {
		if base > 0 {
			m.paragraph("Published against " + escaped(t.Columns[base].Variant) + ", simulated / published")
			m.pipes(publishedTable(t, base))
		}
	}
	var remarks []string
	if !m.options.NoVerdicts {
		for _, v := range t.Verdicts() {
			remarks = append(remarks, v.String())
		}
	}
	remarks = append(remarks, provenances(t)...)
	for _, kind := range []struct {
		name string
		list []stats.Incident
	}{{"failed", t.Failures}, {"warning", t.Warnings}} {
		for i := range kind.list {
			remarks = append(remarks, kind.name+": "+incident(&kind.list[i]))
		}
	}
	for _, n := range t.Notes {
		remarks = append(remarks, "note: "+n)
	}
	m.list(remarks)
}

// pipes writes a table of which the first line is the header and the first
// column the names. A column whose cells are all empty is left out.
func (m *markdownWriter) pipes(lines [][]string) {
	var kept []int
	for column := range lines[0] {
		empty := column > 0
		for _, line := range lines[1:] {
			empty = empty && line[column] == ""
		}
		if !empty {
			kept = append(kept, column)
		}
	}
	for i, line := range lines {
		var cells []string
		for _, column := range kept {
			cells = append(cells, line[column])
		}
		m.line("| " + strings.Join(cells, " | ") + " |")
		if i == 0 {
			m.line("|---|" + strings.Repeat("--:|", len(kept)-1))
		}
	}
	m.line("")
}

// escaped takes the meaning from what Markdown would read as marks.
func escaped(s string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`).Replace(s)
}

// simulatedTable has every row and column, with what was published against the
// table's own baseline.
func simulatedTable(t *stats.Table) [][]string {
	header := []string{""}
	for i, c := range t.Columns {
		name := c.Variant
		if kernelLine(t) {
			name += ", " + c.Kernel
		}
		header = append(header, escaped(name))
		if i > 0 {
			header = append(header, "change, %")
		}
	}
	lines := [][]string{header}
	for i := range t.Rows {
		lines = append(lines, simulatedRow(&t.Rows[i]))
	}
	return lines
}

func simulatedRow(row *stats.Row) []string {
	line := []string{rowName(row)}
	for column := range row.Entries {
		e, published := &row.Entries[column], publishedFigure(row, column, 0)
		line = append(line, beside(markdownValue(row, e), published.value))
		if column == 0 {
			continue
		}
		change := ""
		if e.Compared() && row.Better != stats.Neither {
			change = markdownChange(e.Delta, e.Significant)
		}
		line = append(line, beside(change, published.change))
	}
	return line
}

// publishedTable has the rows and columns of which a document publishes changes
// against a variant that is not the table's baseline.
func publishedTable(t *stats.Table, base int) [][]string {
	header := []string{""}
	for i, c := range t.Columns {
		header = append(header, escaped(c.Variant))
		if i != base {
			header = append(header, "change, %")
		}
	}
	lines := [][]string{header}
	for i := range t.Rows {
		if row := &t.Rows[i]; hasBase(row, base) {
			lines = append(lines, publishedLine(row, base))
		}
	}
	return lines
}

func publishedLine(row *stats.Row, base int) []string {
	line := []string{rowName(row)}
	for column := range row.Entries {
		published := publishedFigure(row, column, base)
		value := ""
		if published.value != "" {
			value = beside(markdownValue(row, &row.Entries[column]), published.value)
		}
		line = append(line, value)
		if column == base {
			continue
		}
		change := ""
		if published.change != "" {
			change = beside(published.simulated, published.change)
		}
		line = append(line, change)
	}
	return line
}

func rowName(row *stats.Row) string {
	return escaped(strings.TrimSpace(row.Statistic + " " + shownLabel(row.Label)))
}

func beside(simulated, published string) string {
	if published == "" {
		return simulated
	}
	return simulated + " / " + published
}

func markdownValue(row *stats.Row, e *stats.Entry) string {
	switch {
	case e.Failed:
		return "failed"
	case e.Absent:
		return "-"
	}
	return strings.TrimSpace(Value(row.Unit, e.Summary.Mean))
}

func markdownChange(percent float64, significant bool) string {
	if significant {
		return fmt.Sprintf("**%+.2f**", percent)
	}
	return fmt.Sprintf("%+.2f", percent)
}

// besideFigure is what a document has for a cell, and the simulated change
// against the same variant.
type besideFigure struct{ value, change, simulated string }

// publishedFigure is the document's figure of a column in the first published
// line whose changes are against base.
func publishedFigure(row *stats.Row, column, base int) besideFigure {
	for i := range row.Beside {
		b := &row.Beside[i]
		if baseOf(b) != base {
			continue
		}
		for j := range b.Figures {
			if b.Figures[j].Column == column {
				return figureOf(row, b, &b.Figures[j])
			}
		}
	}
	return besideFigure{}
}

func figureOf(row *stats.Row, b *stats.Beside, f *stats.Published) besideFigure {
	figure := besideFigure{value: strings.TrimSpace(Value(b.Unit, f.Value))}
	if b.Unit != row.Unit {
		figure.value += " " + escaped(b.Unit)
	}
	for _, a := range b.Agreements {
		if a.Column == f.Column {
			figure.change, figure.simulated = markdownChange(f.Delta, f.Significant), markdownChange(a.Simulated, false)
		}
	}
	return figure
}

// baseOf is the column of the figure that a line's changes are against, the
// table's own baseline where the line has none.
func baseOf(b *stats.Beside) int {
	for i := range b.Figures {
		if b.Figures[i].Baseline {
			return b.Figures[i].Column
		}
	}
	return 0
}

func hasBase(row *stats.Row, base int) bool {
	for i := range row.Beside {
		if baseOf(&row.Beside[i]) == base {
			return true
		}
	}
	return false
}

// publishedBases lists the columns that published changes are against.
func publishedBases(t *stats.Table) []int {
	var bases []int
	for column := range t.Columns {
		for i := range t.Rows {
			if hasBase(&t.Rows[i], column) {
				bases = append(bases, column)
				break
			}
		}
	}
	return bases
}

// provenances say, once each, where published lines with other names are from.
func provenances(t *stats.Table) []string {
	var texts []string
	seen := map[string]bool{}
	for i := range t.Rows {
		row := &t.Rows[i]
		for j := range row.Beside {
			b := &row.Beside[j]
			text := fmt.Sprintf("published as %q", strings.Join(nonEmpty(b.Benchmark, b.Environment), " "))
			renamed := renames(t, b)
			text += renamed
			if b.Note != "" {
				text += "; " + b.Note
			}
			if (b.Benchmark != t.Benchmark || renamed != "" || b.Note != "") && !seen[text] {
				seen[text] = true
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// renames say which of the document's variants have other names here.
func renames(t *stats.Table, b *stats.Beside) string {
	text := ""
	for i := range b.Figures {
		if f := &b.Figures[i]; f.Variant != t.Columns[f.Column].Variant {
			text += fmt.Sprintf(", its %s is %s here", f.Variant, t.Columns[f.Column].Variant)
		}
	}
	return text
}

// fromPage is a table of a report's page in the pipe form.
func (m *markdownWriter) fromPage(t *page.Table) {
	m.paragraph("**" + escaped(t.Caption) + "**")
	var header []string
	for _, c := range t.Columns {
		header = append(header, escaped(strings.Join(nonEmpty(c.Name, c.Detail), " ")))
	}
	lines := [][]string{header}
	for i := range t.Rows {
		line := []string{escaped(t.Rows[i].Name)}
		for _, c := range t.Rows[i].Cells {
			line = append(line, escaped(strings.Join(nonEmpty(c.Value, c.Mark, c.Detail), " ")))
		}
		lines = append(lines, line)
	}
	m.pipes(lines)
}
