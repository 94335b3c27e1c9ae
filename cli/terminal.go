package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether somebody watches w on a terminal that can redraw a
// line.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

// wantsColor reports whether what goes to w may be coloured; https://no-color.org
// asks that any value of NO_COLOR but the empty one forbids it.
func wantsColor(w io.Writer) bool { return isTerminal(w) && os.Getenv("NO_COLOR") == "" }

// columnsOf returns the width of w's terminal in columns; 0 when it has none or
// does not tell.
func columnsOf(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}
