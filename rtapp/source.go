package rtapp

import (
	"bytes"
	"fmt"
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
	maxFileBytes = 4 << 20
	maxNesting   = 64
)

// source is the text of a file as it was given, kept for positions.
type source struct {
	name string
	text []byte
}

// place is the line and column of an offset, columns counted in characters.
func (s *source) place(offset int) (line, column int) {
	offset = min(max(0, offset), len(s.text))
	before := s.text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

func (s *source) errorAt(offset int, format string, args ...any) error {
	line, column := s.place(offset)
	return &Error{File: s.name, Line: line, Column: column,
		Message: fmt.Sprintf(format, args...), Excerpt: excerpt.Of(s.text, line, column)}
}

func (s *source) fault(format string, args ...any) error {
	return &Error{File: s.name, Message: fmt.Sprintf(format, args...)}
}
