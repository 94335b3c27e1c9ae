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
	from := 0
	if column > widest {
		from = column - widest/2
	}
	var b strings.Builder
	for n := max(1, line-2); n <= line; n++ {
		mark := " "
		if n == line {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s %4d | %s\n", mark, n, window(strings.TrimRight(lines[n-1], "\r"), from))
	}
	b.WriteString("       | " + caretIndent(window(lines[line-1], from), column-from) + "^")
	return b.String()
}

// widest is how many characters of a line are shown; a longer one, such as
// that of a generated file, would bury the message.
const widest = 160

// window is the part of a line that is shown, from a number of characters on,
// with "..." where it is cut.
func window(line string, from int) string {
	shown := []rune(line)
	if from > 0 {
		shown = append([]rune("..."), shown[min(len(shown), from+3):]...)
	}
	if len(shown) > widest {
		shown = append(shown[:widest], []rune("...")...)
	}
	return string(shown)
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
