// Package excerpt shows the place in a file that an error message is about.
package excerpt

import (
	"fmt"
	"strings"
)

// Of shows a line of a text, counted from 1, under up to two lines before it,
// and a caret under the column, a number of characters counted from 1. It is
// "" when the text has no such line.
func Of(text []byte, line, column int) string {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	var b strings.Builder
	for n := max(1, line-2); n <= line; n++ {
		mark := " "
		if n == line {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s %4d | %s\n", mark, n, strings.TrimRight(lines[n-1], "\r"))
	}
	b.WriteString("       | " + caretIndent(lines[line-1], column) + "^")
	return b.String()
}

// caretIndent is blank space as wide as what precedes column; tabs stay tabs.
func caretIndent(line string, column int) string {
	indent := make([]rune, 0, min(column, len(line)+1))
	for _, r := range line {
		if len(indent)+1 >= column {
			break
		}
		if r != '\t' {
			r = ' '
		}
		indent = append(indent, r)
	}
	return string(indent)
}
