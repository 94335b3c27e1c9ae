package export

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// otherParsers are the expressions by which other tools take lines of ftrace text
// apart, and the context columns that they accept.
var otherParsers = []struct {
	tool       string
	line       *regexp.Regexp
	four, five bool
}{
	{ // src/trace_processor/importers/systrace/systrace_line_tokenizer.cc, 2026
		"Perfetto", regexp.MustCompile(`-(\d+)\s+\(?\s*(\d+|-+)?\)?\s?\[(\d+)\]\s*([a-zA-Z.]{3}[0-9a-f.]{1,2}\s*)?(\d+\.\d+):\s+(\S+):`), true, true,
	},
	{ // trappy/ftrace.py, SPECIAL_FIELDS_RE
		"trappy", regexp.MustCompile(`^\s*(?P<comm>.*)-(?P<pid>\d+)(?:\s+\(.*\))?\s+\[(?P<cpu>\d+)\](?:\s+....)?\s+(?P<timestamp>[0-9]+(?P<us>\.[0-9]+)?): (\w+:\s+)+(?P<data>.+)`), true, false,
	},
}

// Every line of an event is taken by the tools that take lines of its kind; so a
// tool is not believed to read what its expression does not match.
func TestOtherToolsReadTheLines(t *testing.T) {
	for _, name := range []string{"trace/testdata/tracefs.txt.gz", "trace/testdata/trace-cmd-v7-zstd.dat", "explain/testdata/6.1/forks/trace.txt.gz"} {
		for _, four := range []bool{false, true} {
			content := exportFrom(t, open(t, filepath.Join("..", name)), "x.txt", Options{Format: Text, FourColumns: four})
			for _, parser := range otherParsers {
				taken, lines := 0, 0
				for line := range strings.Lines(string(content)) {
					if strings.HasPrefix(line, "#") {
						continue
					}
					lines++
					if parser.line.MatchString(line) {
						taken++
					}
				}
				want := 0
				if four && parser.four || !four && parser.five {
					want = lines
				}
				if taken != want || lines == 0 {
					t.Errorf("%s, four columns: %v: %s takes %d of %d lines, want %d", name, four, parser.tool, taken, lines, want)
				}
			}
		}
	}
}

// Our own reader takes either; the depth of disabled migration is all that is
// lost.
func TestFourColumnsComeBack(t *testing.T) {
	path := filepath.Join("..", "trace", "testdata", "tracefs.txt.gz")
	want := records(t, exportFrom(t, open(t, path), "x.csv", Options{Format: CSV}))
	four := string(exportFrom(t, open(t, path), "x.txt", Options{Format: Text, FourColumns: true}))
	got := records(t, export(t, four, "x.csv", Options{Format: CSV}))
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range got {
		for name := range want[i] {
			if got[i][name] != want[i][name] {
				t.Fatalf("event %d: %s is %q, want %q", i, name, got[i][name], want[i][name])
			}
		}
	}
}
