package page

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/schedlab/schedlab/chart"
)

// writer collects HTML. Text goes through text, which escapes it.
type writer struct {
	b     strings.Builder
	names names
}

func (w *writer) raw(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

func (w *writer) text(s string) { template.HTMLEscape(&w.b, []byte(s)) }

func (w *writer) attribute(name, value string) {
	w.raw(` %s="`, name)
	w.text(value)
	w.raw(`"`)
}

func (w *writer) class(m Mood) {
	if m != Plain {
		w.attribute("class", string(m))
	}
}

func (w *writer) html() template.HTML { return template.HTML(w.b.String()) } //nolint:gosec // what is not ours was escaped

// Figure is a chart. Without a picture nothing is shown.
type Figure struct{ Picture *chart.Picture }

func (f Figure) write(w *writer) error {
	if f.Picture == nil {
		return nil
	}
	svg, err := f.Picture.Inline()
	if err != nil {
		return fmt.Errorf("drawing %s: %w", f.Picture.Name, err)
	}
	w.raw(`<figure id="`)
	w.text("chart-" + w.names.unique(f.Picture.Name))
	w.raw("\">\n<div class=\"scroll\">\n%s</div>\n<figcaption><b>", svg)
	w.text(f.Picture.Title)
	w.raw("</b>")
	w.text(f.Picture.Alt)
	w.raw("</figcaption>\n</figure>\n")
	return nil
}

// Prose is a paragraph.
type Prose struct{ Sentence }

func (p Prose) write(w *writer) error {
	w.raw("<p")
	w.class(p.Mood)
	w.raw(">")
	w.text(p.Text)
	w.raw("</p>\n")
	return nil
}

// Notes is a list of remarks. An empty one is not shown.
type Notes []Sentence

func (n Notes) write(w *writer) error {
	if len(n) == 0 {
		return nil
	}
	w.raw("<ul class=\"notes\">\n")
	for _, s := range n {
		w.raw("<li")
		w.class(s.Mood)
		w.raw(">")
		w.text(s.Text)
		w.raw("</li>\n")
	}
	w.raw("</ul>\n")
	return nil
}
