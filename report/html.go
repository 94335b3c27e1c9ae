package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/schedlab/schedlab/stats"
)

//go:embed report.html.tmpl
var pageSource string

var page = template.Must(template.New("report").Parse(pageSource))

// HTML writes the tables as one page that needs nothing else: no script, no
// network, no fonts.
func HTML(w io.Writer, name string, tables []stats.Table) error {
	view := pageView{Name: name}
	for i := range tables {
		view.Tables = append(view.Tables, viewOf(&tables[i]))
	}
	return page.Execute(w, view)
}

type (
	pageView struct {
		Name   string
		Tables []tableView
	}
	tableView struct {
		Title                     string
		Verdicts                  []verdictView
		Chart                     template.HTML
		Columns                   []columnView
		Rows                      []rowView
		Agreements, Sources       []string
		Failures, Warnings, Notes []string
	}
	verdictView struct{ Class, Text string }
	columnView  struct {
		Variant, Kernel string
		Color           template.CSS // empty for the baseline
	}
	rowView struct {
		Class, Label string
		Cells        []cellView
	}
	cellView struct{ Class, Value, Mark string }
)

func viewOf(t *stats.Table) tableView {
	v := tableView{Title: title(t), Chart: chart(t), Notes: t.Notes}
	for _, verdict := range t.Verdicts() {
		v.Verdicts = append(v.Verdicts, verdictView{className(string(verdict.Judgement)), verdict.String()})
	}
	for i, c := range t.Columns {
		column := columnView{Variant: c.Variant, Kernel: c.Kernel}
		if i > 0 {
			column.Color = template.CSS(color(i)) //nolint:gosec // from the palette
		}
		v.Columns = append(v.Columns, column)
	}
	for i := range t.Rows {
		v.addRow(t, &t.Rows[i])
	}
	for i := range t.Failures {
		v.Failures = append(v.Failures, incident(&t.Failures[i]))
	}
	for i := range t.Warnings {
		v.Warnings = append(v.Warnings, incident(&t.Warnings[i]))
	}
	return v
}

func className(words string) string { return strings.ReplaceAll(words, " ", "-") }

func (v *tableView) addRow(t *stats.Table, row *stats.Row) {
	view := rowView{Label: row.Statistic + " " + shownLabel(row.Label)}
	for i := range row.Entries {
		view.Cells = append(view.Cells, entryView(row, &row.Entries[i]))
	}
	v.Rows = append(v.Rows, view)
	for i := range row.Beside {
		b := &row.Beside[i]
		v.Rows = append(v.Rows, besideView(len(t.Columns), b))
		for j := range b.Agreements {
			v.Agreements = append(v.Agreements, agreement(t, row, &b.Agreements[j]))
		}
		v.Sources = append(v.Sources, provenance(b))
	}
}

func entryView(row *stats.Row, e *stats.Entry) cellView {
	switch {
	case e.Failed:
		return cellView{Class: "failed", Value: "failed"}
	case e.Absent:
		return cellView{Value: "-"}
	}
	cell := cellView{Value: strings.TrimSpace(Value(row.Unit, e.Summary.Mean))}
	if row.Better == stats.Neither || e.NoBaseline {
		return cell
	}
	cell.Mark = Mark(e.Delta, e.Significant)
	switch {
	case e.Significant && e.Delta > 0:
		cell.Class = "better"
	case e.Significant:
		cell.Class = "worse"
	}
	return cell
}

func besideView(columns int, b *stats.Beside) rowView {
	view := rowView{Class: "published", Label: "published", Cells: make([]cellView, columns)}
	for i := range b.Figures {
		f := &b.Figures[i]
		cell := &view.Cells[f.Column]
		cell.Value = strings.TrimSpace(Value(b.Unit, f.Value))
		if f.HasDelta {
			cell.Mark = Mark(f.Delta, f.Significant)
		}
	}
	return view
}
