package reference

import (
	"fmt"
	"strings"
)

// Page is a document.
type Page struct {
	File    string // its name, such as "kernels.md"
	Title   string
	Summary string // one line for the index
	Text    string // the whole document
}

// Generated is the line under each title.
const Generated = "*Generated from the code by `go generate ./cmd/schedlab`; change it there.*"

// Pages returns all documents, in the order of the index.
func Pages() ([]Page, error) {
	costs, err := costsPage()
	if err != nil {
		return nil, err
	}
	kernels, err := kernelsPage()
	if err != nil {
		return nil, err
	}
	return []Page{kernels, benchmarksPage(), machinesPage(), costs, formatsPage()}, nil
}

// page is a document that is being written.
type page struct{ strings.Builder }

// New begins a document.
func newPage(title, introduction string) *page {
	p := &page{}
	p.line("# %s\n\n%s\n\n%s", title, Generated, introduction)
	return p
}

func (p *page) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p, format, args...) // to a buffer
	p.WriteByte('\n')
}

func (p *page) heading(format string, args ...any) { p.line("\n## "+format+"\n", args...) }

// table begins a table.
func (p *page) table(columns ...string) {
	p.row(columns...)
	p.line("|%s", strings.Repeat("---|", len(columns)))
}

func (p *page) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(strings.ReplaceAll(cell, "|", `\|`), "\n", " ")
	}
	p.line("| %s |", strings.Join(cells, " | "))
}

// block is text that stays as it is.
func (p *page) block(text string) {
	p.line("```text\n%s\n```", strings.TrimRight(text, "\n"))
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func codes(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = code(t)
	}
	return strings.Join(out, ", ")
}
