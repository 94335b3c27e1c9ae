package experiment

import (
	"errors"
	"fmt"
	"strings"
)

// RequestError is a request that cannot be right: an experiment file, one of the
// files it names, or a flag. The command line maps it to exit code 2.
type RequestError struct {
	File         string // as it was given; empty when no file is to blame
	Line, Column int    // from 1; 0 when unknown
	Message      string // what is wrong and what to write instead
	Excerpt      string // the lines around the place, with a caret; may be empty
	Err          error  // the cause, may be nil
}

// Error is "file:line:column: message", followed by the excerpt.
func (e *RequestError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Excerpt != "" {
		b.WriteString("\n" + e.Excerpt)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// FieldError is how a Runner's Check says which field of a cell it refuses.
// Field is one of machine, kernel, hz, preemption, noise, placement, costs,
// tie-break, features[i], tunables.NAME, run, rows, cgroup, cgroups[i], background[i]; the
// indices are those of the Cell.
type FieldError struct {
	Field string
	Err   error
}

// Error names the field and the cause.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }

var (
	// ErrRegression says that, with --fail-on-regression, a variant was
	// significantly worse than the baseline in some row: exit code 3.
	ErrRegression = errors.New("a variant is significantly worse than the baseline")
	// ErrFailedCells says that the tables are printed but some cells have no
	// result: exit code 1.
	ErrFailedCells = errors.New("cells failed")
)
