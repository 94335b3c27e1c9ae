package experiment

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/schedlab/schedlab/internal/excerpt"
)

// Limits on an experiment file. They are far above any real one and keep a
// hostile one from exhausting the parser.
const (
	maxFileBytes = 256 << 10
	// maxInputBytes bounds the files that it names: machines, costs, workloads,
	// published tables.
	maxInputBytes = 16 << 20
	maxNesting    = 64
)

// position is a place in the file, counted from 1. The zero position is unknown.
type position struct{ line, column int }

func positionOf(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{}
	}
	return position{t.Position.Line, t.Position.Column}
}

// source is the text of an experiment file, kept for error excerpts.
type source struct {
	name string
	text []byte
}

func (s *source) errorAt(at position, format string, args ...any) *RequestError {
	return &RequestError{File: s.name, Line: at.line, Column: at.column,
		Message: fmt.Sprintf(format, args...), Excerpt: excerpt.Of(s.text, at.line, at.column)}
}

// parse returns the one YAML document of the file.
func (s *source) parse() (root ast.Node, err error) {
	if len(s.text) > maxFileBytes {
		return nil, &RequestError{File: s.name, Message: fmt.Sprintf("%d bytes are no experiment file; the limit is %d", len(s.text), maxFileBytes)}
	}
	if at, deep := s.nesting(); deep {
		return nil, s.errorAt(at, "nested more than %d deep", maxNesting)
	}
	defer func() { // the parser is known to panic on some damaged input
		if r := recover(); r != nil {
			err = &RequestError{File: s.name, Message: fmt.Sprintf("not readable as YAML (%v)", r)}
		}
	}()
	file, err := parser.ParseBytes(s.text, 0)
	if err != nil {
		return nil, s.syntaxError(err)
	}
	return s.onlyDocument(file)
}

func (s *source) syntaxError(err error) error {
	var located yaml.Error
	if errors.As(err, &located) {
		return s.errorAt(positionOf(located.GetToken()), "not readable as YAML: %s", located.GetMessage())
	}
	return &RequestError{File: s.name, Message: "not readable as YAML: " + err.Error(), Err: err}
}

func (s *source) onlyDocument(file *ast.File) (ast.Node, error) {
	var root ast.Node
	for _, document := range file.Docs {
		if document.Body == nil || document.Body.Type() == ast.CommentType {
			continue
		}
		if root != nil {
			return nil, s.errorAt(where(document.Body), "a second document; an experiment file holds one")
		}
		root = document.Body
	}
	if root == nil {
		return nil, &RequestError{File: s.name, Message: "nothing in it; an experiment needs at least machine, kernel, variants and benchmarks"}
	}
	return root, nil
}

// nesting finds brackets or list dashes that are nested too deeply for the
// recursive parser. Brackets in strings count too: no real file comes near the
// limit.
func (s *source) nesting() (position, bool) {
	for i, line := range strings.Split(string(s.text), "\n") {
		if column := deepMarkers(line); column > 0 {
			return position{i + 1, column}, true
		}
	}
	depth, at, comment := 0, position{line: 1}, false
	for _, c := range s.text {
		at.column++
		switch {
		case c == '\n':
			at, comment = position{line: at.line + 1}, false
		case comment:
		case c == '#':
			comment = true
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth = max(0, depth-1)
		}
		if depth > maxNesting {
			return at, true
		}
	}
	return position{}, false
}

// deepMarkers is the column where a line has opened more than maxNesting block
// collections ("- - - ..."), 0 if it does not.
func deepMarkers(line string) int {
	run := 0
	for i := 0; i+1 < len(line); i++ {
		blank := line[i+1] == ' ' || line[i+1] == '\t'
		switch c := line[i]; {
		case blank && (c == '-' || c == '?' || c == ':'):
			run++
		case c != ' ' && c != '\t':
			run = 0
		}
		if run > maxNesting {
			return i + 1
		}
	}
	return 0
}
