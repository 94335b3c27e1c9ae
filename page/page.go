package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/schedlab/schedlab/chart"
)

// Page is one report.
type Page struct {
	Title    string
	Subtitle string
	Verdict  []Sentence // what it comes to, on top
	Lead     []string   // how to read it
	Sections []Section
}

// Sentence is a statement with what it means for the reader.
type Sentence struct {
	Text string
	Mood Mood
}

// Mood colours a statement, a row or a cell.
type Mood string

// The moods.
const (
	Plain  Mood = ""
	Good   Mood = "good"
	Bad    Mood = "bad"
	Doubt  Mood = "doubt"
	Beside Mood = "beside" // of another source
)

// Section is a part of a page with a title of its own.
type Section struct {
	Title    string
	Verdicts []Sentence
	Parts    []Part
}

// Part is a table, a figure, a list or a paragraph.
type Part interface {
	write(w *writer) error
}

var (
	//go:embed page.html.tmpl
	templateSource string
	//go:embed page.css
	styleSource string
	//go:embed page.js
	scriptSource string

	frame = template.Must(template.New("page").Parse(templateSource))
)

// Write writes the page.
func (p *Page) Write(out io.Writer) error {
	view := pageView{Page: p, Style: style(), Script: template.JS(scriptSource), ScriptHash: scriptHash()} //nolint:gosec // our own
	names := names{}
	for i := range p.Sections {
		s := &p.Sections[i]
		w := &writer{names: names}
		for _, part := range s.Parts {
			if err := part.write(w); err != nil {
				return err
			}
		}
		view.Sections = append(view.Sections, sectionView{ID: fmt.Sprintf("part-%d", i+1), Section: s, Body: w.html()})
	}
	return frame.Execute(out, view)
}

// Pictures lists the charts of the page, in their order. No two have the same
// name.
func (p *Page) Pictures() []*chart.Picture {
	var pictures []*chart.Picture
	names := names{}
	for i := range p.Sections {
		for _, part := range p.Sections[i].Parts {
			f, is := part.(Figure)
			if !is || f.Picture == nil {
				continue
			}
			picture := *f.Picture
			picture.Name = names.unique(picture.Name)
			pictures = append(pictures, &picture)
		}
	}
	return pictures
}

// names counts the names of charts.
type names map[string]int

// longestName is in bytes; file systems take 255, with an extension.
const longestName = 200

// unique is a name that no chart before has, short enough for a file.
func (n names) unique(name string) string {
	name = name[max(0, len(name)-longestName):]
	n[name]++
	if times := n[name]; times > 1 {
		return fmt.Sprintf("%s-%d", name, times)
	}
	return name
}

type (
	pageView struct {
		*Page
		Style      template.CSS
		Script     template.JS
		ScriptHash string
		Sections   []sectionView
	}
	sectionView struct {
		ID string
		*Section
		Body template.HTML
	}
)

func style() template.CSS {
	light, dark := chart.Variables()
	sheet := ":root{" + light + lightChrome + "}\n" + // paper is light
		"@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){" + dark + darkChrome + "}}\n" +
		"@media screen{:root[data-theme=dark]{" + dark + darkChrome + "}}\n"
	return template.CSS(sheet + styleSource) //nolint:gosec // our own
}

// What is not in a chart.
const (
	lightChrome = "color-scheme:light;--page:#ffffff;--panel:#f4f5f7;--soft:#595f69;--good:#00633c;--bad:#a3001f;--doubt:#7a5200;--link:#0b57a4;"
	darkChrome  = "color-scheme:dark;--page:#16191d;--panel:#20242a;--soft:#a9b0ba;--good:#56d39b;--bad:#ff8a96;--doubt:#f0bd5c;--link:#8ec5ff;"
)

// scriptHash lets the page's own script run, and no other.
func scriptHash() string {
	sum := sha256.Sum256([]byte(scriptSource))
	return base64.StdEncoding.EncodeToString(sum[:])
}
