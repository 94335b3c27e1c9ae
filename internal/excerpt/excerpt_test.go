package excerpt

import (
	"strings"
	"testing"
)

func TestTheCaretStandsUnderTheColumn(t *testing.T) {
	text := []byte("one\r\n\ttwo\nthree\nfour")
	for _, c := range []struct {
		name         string
		line, column int
		want         string
	}{
		{"first line", 1, 2, ">    1 | one\n       |  ^"},
		{"a tab stays a tab", 2, 3, "     1 | one\n>    2 | \ttwo\n       | \t ^"},
		{"two lines before it", 4, 4, "     2 | \ttwo\n     3 | three\n>    4 | four\n       |    ^"},
		{"behind the end of the line", 3, 99, "     1 | one\n     2 | \ttwo\n>    3 | three\n       |      ^"},
		{"no such line", 5, 1, ""},
		{"no line", 0, 0, ""},
	} {
		if got := Of(text, c.line, c.column); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// 400 characters and an x in the middle: 160 of the line are shown, from 80
// before the x on, the first three of them as "...".
func TestALongLineIsCutAroundTheColumn(t *testing.T) {
	line := strings.Repeat("a", 199) + "x" + strings.Repeat("b", 200)
	want := ">    1 | ..." + strings.Repeat("a", 76) + "x" + strings.Repeat("b", 80) + "...\n       | " + strings.Repeat(" ", 79) + "^"
	if got := Of([]byte(line), 1, 200); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = ">    1 | " + strings.Repeat("a", 160) + "...\n       |  ^"
	if got := Of([]byte(line), 1, 2); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
