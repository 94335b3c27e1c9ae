package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/schedlab/schedlab/stats"
)

// The measures of mmtests' comparison tables, as they stand in the mails that
// carry them: the name of a mean is padded to 9, a value with its mark takes 23.
const (
	meanNameWidth = 9
	valueWidth    = 12
	columnWidth   = 23
	pageWidth     = 100 // where nobody says how wide
	narrowest     = 40  // page that prose is still wrapped to
)

// TextOptions steer the text form.
type TextOptions struct {
	Color bool // green and red marks on significant differences
	Width int  // of a page, in columns; 0: 100, fewer than 40: 40
}

// Text writes every table with its published lines, verdicts, failures,
// warnings and notes.
func Text(w io.Writer, tables []stats.Table, o TextOptions) error {
	out := &textWriter{w: bufio.NewWriter(w), color: o.Color, width: o.width()}
	for i := range tables {
		if i > 0 {
			out.line("")
		}
		out.table(&tables[i])
	}
	return out.w.Flush()
}

func (o TextOptions) width() int {
	if o.Width == 0 {
		return pageWidth
	}
	return max(o.Width, narrowest)
}

// textWriter leaves write errors to bufio, which keeps the first.
type textWriter struct {
	w     *bufio.Writer
	color bool
	width int // of a page
}

func (t *textWriter) line(s string) {
	_, _ = t.w.WriteString(strings.TrimRight(s, " ") + "\n")
}

func (t *textWriter) table(table *stats.Table) {
	t.line(title(table))
	labels := rowLabels(table)
	width := labelWidth(labels)
	for _, columns := range pages(t.width, width, columnWidths(table)) {
		t.header(table, columns, width)
		for i := range table.Rows {
			t.row(table, &table.Rows[i], labels[i], columns, width)
		}
	}
	t.besides(table)
	for _, v := range table.Verdicts() {
		t.verdict(&v)
	}
	t.incidents("failed", table.Failures)
	t.incidents("warning", table.Warnings)
	for _, n := range table.Notes {
		t.wrapped("note: "+n, "  ")
	}
}

func title(t *stats.Table) string {
	text := fmt.Sprintf("%s on %s [%s]", t.Benchmark, t.Machine, t.Environment)
	if !kernelLine(t) {
		text += ", kernel " + t.Columns[0].Kernel
	}
	return text
}

// rowLabels are the rows' names, "Amean     12": of means the statistic is
// padded, as mmtests does; labels of one statistic have one width.
func rowLabels(t *stats.Table) []string {
	widths := map[string]int{}
	for i := range t.Rows {
		r := &t.Rows[i]
		widths[r.Statistic] = max(widths[r.Statistic], utf8.RuneCountInString(shownLabel(r.Label)))
	}
	labels := make([]string, len(t.Rows))
	for i := range t.Rows {
		r := &t.Rows[i]
		labels[i] = statisticLabel(r.Statistic) + " " + pad(shownLabel(r.Label), widths[r.Statistic])
	}
	return labels
}

func statisticLabel(statistic string) string {
	if stats.IsMean(statistic) {
		return pad(statistic, meanNameWidth)
	}
	return statistic
}

// shownLabel leaves out the label of a benchmark without rows.
func shownLabel(label string) string {
	if label == "-" {
		return ""
	}
	return label
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}

func labelWidth(labels []string) int {
	width := len(publishedLabel)
	for _, l := range labels {
		width = max(width, utf8.RuneCountInString(l))
	}
	return width
}

// columnWidths are mmtests' 23, more for longer names.
func columnWidths(t *stats.Table) []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = max(columnWidth, 1+utf8.RuneCountInString(c.Variant))
		if kernelLine(t) {
			widths[i] = max(widths[i], 1+utf8.RuneCountInString(c.Kernel))
		}
	}
	return widths
}

// kernelLine says whether the kernels differ, so that the header names them.
func kernelLine(t *stats.Table) bool {
	for _, c := range t.Columns {
		if c.Kernel != t.Columns[0].Kernel {
			return true
		}
	}
	return false
}

type pageColumn struct{ index, width int }

// pages cuts the columns into tables that fit a page of that width; each begins
// with the baseline and has at least one more column.
func pages(width, label int, widths []int) [][]pageColumn {
	baseline := pageColumn{0, widths[0]}
	page, used := []pageColumn{baseline}, label+widths[0]
	var all [][]pageColumn
	for i := 1; i < len(widths); i++ {
		if len(page) > 1 && used+widths[i] > width {
			all = append(all, page)
			page, used = []pageColumn{baseline}, label+widths[0]
		}
		page, used = append(page, pageColumn{i, widths[i]}), used+widths[i]
	}
	return append(all, page)
}

func (t *textWriter) header(table *stats.Table, columns []pageColumn, label int) {
	kernels, names := strings.Repeat(" ", label), strings.Repeat(" ", label)
	for _, c := range columns {
		kernels += padLeft(table.Columns[c.index].Kernel, c.width)
		names += padLeft(table.Columns[c.index].Variant, c.width)
	}
	if kernelLine(table) {
		t.line(kernels)
	}
	t.line(names)
}

func (t *textWriter) row(table *stats.Table, row *stats.Row, label string, columns []pageColumn, width int) {
	line := pad(label, width)
	for _, c := range columns {
		line += padLeft("", c.width-columnWidth) + t.cell(row, &row.Entries[c.index])
	}
	t.line(line)
	for i := range row.Beside {
		t.publishedRow(row, &row.Beside[i], columns, width)
	}
}

// cell is one figure with its mark, 23 wide.
func (t *textWriter) cell(row *stats.Row, e *stats.Entry) string {
	switch {
	case e.Failed:
		return pad(padLeft("failed", valueWidth), columnWidth)
	case e.Absent:
		return pad(padLeft("-", valueWidth), columnWidth)
	}
	value := Value(row.Unit, e.Summary.Mean)
	if row.Better == stats.Neither {
		return pad(value, columnWidth)
	}
	if e.NoBaseline {
		return pad(value+" (no baseline)", columnWidth)
	}
	return value + " " + t.colored(Mark(e.Delta, e.Significant), e)
}

// Value is a figure as mmtests prints it: 12 wide, seconds with four decimals,
// everything else with two.
func Value(unit string, x float64) string {
	return fmt.Sprintf("%12.*f", decimals(unit), x)
}

func decimals(unit string) int {
	if unit == "seconds" {
		return 4
	}
	return 2
}

// Mark is the percentage in parentheses, or in stars when it is significant.
func Mark(percent float64, significant bool) string {
	if significant {
		return fmt.Sprintf("*%7.2f%%*", percent)
	}
	return fmt.Sprintf("(%7.2f%%)", percent)
}

// ANSI colours: green for better, red for worse.
const (
	green      = "\x1b[32m"
	red        = "\x1b[31m"
	colorReset = "\x1b[0m"
)

func (t *textWriter) colored(mark string, e *stats.Entry) string {
	switch {
	case !t.color || !e.Significant:
		return mark
	case e.Delta > 0:
		return green + mark + colorReset
	}
	return red + mark + colorReset
}

// publishedLabel names the line under a row that has a published one.
const publishedLabel = "  published"

func (t *textWriter) publishedRow(row *stats.Row, b *stats.Beside, columns []pageColumn, width int) {
	line, found := pad(publishedLabel, width), false
	for _, c := range columns {
		text := ""
		for i := range b.Figures {
			if b.Figures[i].Column == c.index {
				text, found = publishedCell(b, &b.Figures[i]), true
			}
		}
		line += padLeft("", c.width-columnWidth) + pad(text, columnWidth)
	}
	if found {
		t.line(line)
	}
}

func publishedCell(b *stats.Beside, f *stats.Published) string {
	value := Value(b.Unit, f.Value)
	if !f.HasDelta {
		return value
	}
	return value + " " + Mark(f.Delta, f.Significant)
}

// besides explains the published lines: where they come from, what the document
// leaves open, and how the simulated percentages compare with theirs.
func (t *textWriter) besides(table *stats.Table) {
	for i := range table.Rows {
		row := &table.Rows[i]
		for j := range row.Beside {
			t.beside(table, row, &row.Beside[j])
		}
	}
}

func (t *textWriter) beside(table *stats.Table, row *stats.Row, b *stats.Beside) {
	for i := range b.Agreements {
		a := &b.Agreements[i]
		t.wrapped(agreement(table, row, a), "  ")
	}
	if !sameName(table, row, b) || b.Note != "" {
		t.wrapped(provenance(b), "  ")
	}
}

func sameName(t *stats.Table, row *stats.Row, b *stats.Beside) bool {
	return b.Benchmark == t.Benchmark && b.Environment == t.Environment && b.Statistic == row.Statistic && b.Label == row.Label
}

func agreement(t *stats.Table, row *stats.Row, a *stats.Agreement) string {
	word := "the other way"
	if a.SameDirection() {
		word = "same direction"
	}
	return fmt.Sprintf("published, row %s: %s against %s is %+.2f %%; simulated %+.2f %% (%s)",
		row.Label, t.Columns[a.Column].Variant, t.Columns[a.Against].Variant, a.Published, a.Simulated, word)
}

func provenance(b *stats.Beside) string {
	text := fmt.Sprintf("published line: %q", strings.Join(nonEmpty(b.Benchmark, b.Environment, b.Statistic, b.Label), " "))
	if b.Source != "" {
		text += " of " + b.Source
	}
	var names []string
	for _, f := range b.Figures {
		names = append(names, f.Variant)
	}
	text += ", variants " + strings.Join(names, ", ")
	if b.Note != "" {
		text += "; " + b.Note
	}
	return text
}

func nonEmpty(words ...string) []string {
	var kept []string
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return kept
}

func (t *textWriter) verdict(v *stats.Verdict) {
	text := v.String()
	if color := verdictColor(v); t.color && color != "" {
		text = color + text + colorReset
	}
	t.line(text)
}

func verdictColor(v *stats.Verdict) string {
	switch v.Judgement {
	case stats.IsBetter:
		return green
	case stats.IsWorse:
		return red
	}
	return ""
}

// maxIncidents is how many lines of one kind the text form lists.
const maxIncidents = 10

func (t *textWriter) incidents(kind string, list []stats.Incident) {
	for i, in := range list {
		if i == maxIncidents {
			t.line(fmt.Sprintf("  ... and %d more (all are in --format json)", len(list)-i))
			return
		}
		t.wrapped(kind+": "+incident(&in), "  ")
	}
}

func incident(in *stats.Incident) string {
	where := in.Variant
	if label := shownLabel(in.Row); label != "" {
		where = "row " + label + ", " + where
	}
	return fmt.Sprintf("%s, %s: %s", where, repeatList(in.Repeats), in.Text)
}

func repeatList(repeats []int) string {
	word := "repeat"
	if len(repeats) > 1 {
		word = "repeats"
	}
	texts := make([]string, len(repeats))
	for i, r := range repeats {
		texts[i] = fmt.Sprint(r)
	}
	return word + " " + strings.Join(texts, " ")
}

func (t *textWriter) wrapped(text, indent string) {
	for _, l := range wrap(indent+text, t.width, indent+"  ") {
		t.line(l)
	}
}

// wrap breaks text at blanks so that lines fit width where words allow it.
func wrap(text string, width int, indent string) []string {
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	line := lead
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
