package page

import "github.com/schedlab/schedlab/chart"

// Datum is a data- attribute, for programs that read the page.
type Datum struct{ Name, Value string }

// Table is a table of figures. Its rows can be walked with the arrow keys.
type Table struct {
	Caption string
	Data    []Datum
	Columns []Column // the first is that of the rows' names
	Rows    []Row
}

// Column is the head of a column. Those of a series have its colour.
type Column struct {
	Name, Detail string
	Series       int
	Coloured     bool
}

// Row is a line of a table.
type Row struct {
	Name  string
	Mood  Mood
	Data  []Datum
	Cells []Cell
}

// Cell is a figure, or a text that is set as prose.
type Cell struct {
	Value, Mark string
	Detail      string // below, small
	Mood        Mood
	Prose       bool
	Data        []Datum
	Bar         *Bar
}

// Bar is a change drawn from the middle of a cell; all parts are of the cell's
// half width, -1 to 1.
type Bar struct {
	Series           int
	Value, Low, High float64
	Interval         bool
	Sure             bool
}

func (w *writer) data(list []Datum) {
	for _, d := range list {
		w.attribute("data-"+d.Name, d.Value)
	}
}

func (t *Table) write(w *writer) error {
	w.raw("<div class=\"scroll\">\n<table")
	w.data(t.Data)
	w.raw(">\n")
	if t.Caption != "" {
		w.raw("<caption>")
		w.text(t.Caption)
		w.raw("</caption>\n")
	}
	w.raw("<thead><tr>")
	for _, c := range t.Columns {
		c.write(w)
	}
	w.raw("</tr></thead>\n<tbody>\n")
	for i := range t.Rows {
		t.Rows[i].write(w, i == 0)
	}
	w.raw("</tbody>\n</table>\n</div>\n")
	return nil
}

func (c *Column) write(w *writer) {
	w.raw(`<th scope="col">`)
	if c.Coloured {
		w.raw(`<span class="swatch" style="--c:var(%s)"></span>`, chart.Variable(c.Series))
	}
	w.text(c.Name)
	w.detail(c.Detail)
	w.raw("</th>")
}

func (w *writer) detail(text string) {
	if text != "" {
		w.raw("<small>")
		w.text(text)
		w.raw("</small>")
	}
}

func (r *Row) write(w *writer, first bool) {
	w.raw("<tr")
	if first { // Tab reaches the table, the arrow keys its other rows
		w.raw(` tabindex="0"`)
	} else {
		w.raw(` tabindex="-1"`)
	}
	w.class(r.Mood)
	w.data(r.Data)
	w.raw(`><th scope="row">`)
	w.text(r.Name)
	w.raw("</th>")
	for i := range r.Cells {
		r.Cells[i].write(w)
	}
	w.raw("</tr>\n")
}

func (c *Cell) write(w *writer) {
	w.raw("<td")
	if c.Prose {
		w.attribute("class", "text")
	} else {
		w.class(c.Mood)
	}
	w.data(c.Data)
	w.raw(">")
	w.text(c.Value)
	if c.Mark != "" {
		w.raw(` <span class="mark">`)
		w.text(c.Mark)
		w.raw("</span>")
	}
	if c.Bar != nil {
		c.Bar.write(w)
	}
	w.detail(c.Detail)
	w.raw("</td>")
}

func (b *Bar) write(w *writer) {
	sure := ""
	if b.Sure {
		sure = ` class="sure"`
	}
	left, width := percentOf(min(b.Value, 0), max(b.Value, 0))
	w.raw(`<span class="delta" aria-hidden="true" style="--c:var(%s)"><i%s style="left:%.1f%%;width:%.1f%%"></i>`, chart.Variable(b.Series), sure, left, width)
	if b.Interval {
		left, width = percentOf(b.Low, b.High)
		w.raw(`<b style="left:%.1f%%;width:%.1f%%"></b>`, left, width)
	}
	w.raw("</span>")
}

// percentOf turns parts of the half width into percent of the whole.
func percentOf(low, high float64) (left, width float64) {
	low, high = min(max(low, -1), 1), min(max(high, -1), 1)
	return 50 + 50*low, 50 * (high - low)
}
