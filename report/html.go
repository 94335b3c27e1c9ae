package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/schedlab/schedlab/page"
	"github.com/schedlab/schedlab/stats"
)

// HTML writes the tables as one page that needs nothing else.
func HTML(w io.Writer, name string, tables []stats.Table) error {
	return Page(name, tables, nil).Write(w)
}

// Page is the report on tables. Recordings are those of the tables of the same
// index, nil where a table has none.
func Page(name string, tables []stats.Table, recordings []*Recording) *page.Page {
	p := &page.Page{Title: name, Verdict: headlines(tables), Lead: []string{
		"Percentages are against the first column; positive is better. Stars mark differences that a two-sample t test " +
			"finds significant at 10 %; brackets and whiskers are 95 % intervals."}}
	if section := predictionSection(tables); section != nil {
		p.Sections = append(p.Sections, *section)
	}
	for i := range tables {
		var recording *Recording
		if i < len(recordings) {
			recording = recordings[i]
		}
		section := sectionOf(&tables[i], recording)
		if len(tables) > 1 { // of a single one they stand on top
			section.Verdicts = claimsOf(&tables[i])
		}
		p.Sections = append(p.Sections, section)
	}
	return p
}

func sectionOf(t *stats.Table, recording *Recording) page.Section {
	s := page.Section{Title: title(t)}
	s.Parts = append(s.Parts, tableOf(t), page.Figure{Picture: deltaChart(t)}, page.Figure{Picture: distributionChart(t)},
		page.Figure{Picture: latencyChart(t, recording)})
	if recording != nil {
		s.Parts = append(s.Parts, recording.parts(t)...)
	}
	s.Parts = append(s.Parts, notesOf(t))
	return s
}

func claimsOf(t *stats.Table) []page.Sentence {
	var claims []page.Sentence
	for _, verdict := range t.Verdicts() {
		claims = append(claims, page.Sentence{Text: verdict.String(), Mood: moodOf(verdict.Judgement)})
	}
	return claims
}

func moodOf(j stats.Judgement) page.Mood {
	switch j {
	case stats.IsBetter:
		return page.Good
	case stats.IsWorse:
		return page.Bad
	case stats.IsMixed:
		return page.Doubt
	}
	return page.Plain
}

// headlines say for each variant how it fared in all tables together, and how
// well a published document was predicted.
func headlines(tables []stats.Table) []page.Sentence {
	var list []page.Sentence
	for _, s := range stats.Standings(tables) {
		list = append(list, page.Sentence{Text: s.String(), Mood: moodOf(s.Judgement())})
	}
	if text := predictionSentence(tables); text != "" {
		list = append(list, page.Sentence{Text: text})
	}
	return list
}

func notesOf(t *stats.Table) page.Notes {
	var notes page.Notes
	add := func(mood page.Mood, text string) { notes = append(notes, page.Sentence{Text: text, Mood: mood}) }
	for i := range t.Rows {
		row := &t.Rows[i]
		for j := range row.Beside {
			for k := range row.Beside[j].Agreements {
				add(page.Plain, agreement(t, row, &row.Beside[j].Agreements[k]))
			}
			add(page.Plain, provenance(&row.Beside[j]))
		}
	}
	for i := range t.Failures {
		add(page.Bad, "failed: "+incident(&t.Failures[i]))
	}
	for i := range t.Warnings {
		add(page.Doubt, "warning: "+incident(&t.Warnings[i]))
	}
	for _, n := range t.Notes {
		add(page.Plain, "note: "+n)
	}
	return notes
}

// tableOf has every figure of the long form: what is not printed stands in data
// attributes, named after the columns.
func tableOf(t *stats.Table) *page.Table {
	table := &page.Table{Columns: []page.Column{{Name: ""}}}
	for i, c := range t.Columns {
		table.Columns = append(table.Columns, page.Column{Name: c.Variant, Detail: c.Kernel, Series: i, Coloured: true})
	}
	records, largest := t.Records(), largestChange(t)
	for i := range t.Rows {
		row := &t.Rows[i]
		line := page.Row{Name: strings.TrimSpace(row.Statistic + " " + shownLabel(row.Label))}
		for column := range row.Entries {
			cell := cellOf(row, &row.Entries[column], column, largest)
			cell.Data = dataOf(&records[i*len(t.Columns)+column])
			line.Cells = append(line.Cells, cell)
		}
		table.Rows = append(table.Rows, line)
		for j := range row.Beside {
			table.Rows = append(table.Rows, besideRow(len(t.Columns), &row.Beside[j]))
		}
	}
	return table
}

// dataOf lists a record's fields under their column's name.
func dataOf(r *stats.Record) []page.Datum {
	var data []page.Datum
	fields := r.Fields()
	for i, name := range stats.Columns() {
		data = append(data, page.Datum{Name: strings.ReplaceAll(name, "_", "-"), Value: fields[i]})
	}
	return data
}

// largestChange is the largest percentage of the table, intervals included: the
// bars in its cells reach so far.
func largestChange(t *stats.Table) float64 {
	largest := 0.0
	for i := range t.Rows {
		for j := range t.Rows[i].Entries {
			if e := &t.Rows[i].Entries[j]; e.Compared() {
				largest = math.Max(largest, math.Abs(e.Delta))
				if e.DeltaRange.Known {
					largest = math.Max(largest, math.Max(math.Abs(e.DeltaRange.Low), math.Abs(e.DeltaRange.High)))
				}
			}
		}
	}
	return largest
}

func cellOf(row *stats.Row, e *stats.Entry, column int, largest float64) page.Cell {
	switch {
	case e.Failed:
		return page.Cell{Value: "failed", Mood: page.Bad}
	case e.Absent:
		return page.Cell{Value: "-"}
	}
	cell := page.Cell{Value: strings.TrimSpace(Value(row.Unit, e.Summary.Mean)), Detail: spreadOf(row, e)}
	if row.Better == stats.Neither || e.NoBaseline {
		return cell
	}
	cell.Mark = strings.ReplaceAll(Mark(e.Delta, e.Significant), " ", "")
	switch {
	case e.Significant && e.Delta > 0:
		cell.Mood = page.Good
	case e.Significant:
		cell.Mood = page.Bad
	}
	if column > 0 && largest > 0 {
		cell.Bar = &page.Bar{Series: column, Value: e.Delta / largest, Low: e.DeltaRange.Low / largest, High: e.DeltaRange.High / largest,
			Interval: e.DeltaRange.Known, Sure: e.Significant}
	}
	return cell
}

// spreadOf is the interval of a mean and the number of its samples.
func spreadOf(row *stats.Row, e *stats.Entry) string {
	s := &e.Summary
	if !s.Interval.Known {
		return ""
	}
	number := func(x float64) string { return strings.TrimSpace(Value(row.Unit, x)) }
	return fmt.Sprintf("[%s, %s] n=%d", number(s.Interval.Low), number(s.Interval.High), s.N)
}

func besideRow(columns int, b *stats.Beside) page.Row {
	row := page.Row{Name: "published", Mood: page.Beside, Cells: make([]page.Cell, columns)}
	for i := range b.Figures {
		f := &b.Figures[i]
		cell := &row.Cells[f.Column]
		cell.Value = strings.TrimSpace(Value(b.Unit, f.Value))
		if f.HasDelta {
			cell.Mark = strings.ReplaceAll(Mark(f.Delta, f.Significant), " ", "")
		}
	}
	return row
}
