package rtapp

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/schedlab/schedlab/internal/excerpt"
)

// Error is a mistake in a file.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 when the whole file is meant
	Message      string // what is wrong and what to write instead
	Excerpt      string // the lines around the place, with a caret
}

// Error is "file:line:column: message", followed by the excerpt.
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	text += ": " + e.Message
	if e.Excerpt != "" {
		text += "\n" + e.Excerpt
	}
	return text
}

// Limits on a file. They are far above any real one and keep a hostile one from
// exhausting the parser.
const (
	maxFileBytes = 1 << 20
	maxNesting   = 64
)

// source is the text of a file as it was given, kept for positions.
type source struct {
	name  string
	text  []byte
	lines []int // offsets at which they begin
}

func newSource(name string, text []byte) *source {
	return &source{name: name, text: text, lines: lineStarts(text)}
}

func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, b := range text {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// place is the line and column of an offset, columns counted in characters.
func (s *source) place(offset int) (line, column int) {
	offset = min(max(0, offset), len(s.text))
	line, _ = slices.BinarySearch(s.lines, offset+1)
	return line, utf8.RuneCount(s.text[s.lines[line-1]:offset]) + 1
}

func (s *source) errorAt(offset int, format string, args ...any) error {
	line, column := s.place(offset)
	return &Error{File: s.name, Line: line, Column: column,
		Message: fmt.Sprintf(format, args...), Excerpt: excerpt.Of(s.text, line, column)}
}

func (s *source) fault(format string, args ...any) error {
	return &Error{File: s.name, Message: fmt.Sprintf(format, args...)}
}
