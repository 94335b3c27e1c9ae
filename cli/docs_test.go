package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// The documents say what commands print; these tests run the commands and
// compare. How a document is written is in docs/README.md, "Commands in these
// documents".

var updateDocs = flag.Bool("update-docs", false, "put what commands print into the documents; look at the difference before you keep it")

// onlyParsed are commands that nobody runs here, and why. Of those that are
// schedlab's own the flags and arguments are checked.
var onlyParsed = map[string]string{
	"go test ./...":                "is what runs this test",
	"go install ./cmd/schedlab":    "installs into the reader's folders",
	"go generate ./cmd/schedlab":   "TestReferenceIsCurrent compares what it would write",
	"npm install @duckdb/node-api": "needs a registry",
}

// slowOrPrivileged tells why a command of schedlab in an sh block is not run.
var slowOrPrivileged = []struct{ prefix, why string }{
	{"schedlab capture", "records the kernel, as root"},
	{"sudo schedlab capture", "records the kernel, as root"},
	{"schedlab reproduce", "simulates for minutes"},
	{"schedlab calibrate", "simulates for minutes"},
	{"schedlab compare experiments/", "simulates for a minute or more"},
	{"schedlab compare --out", "simulates for a minute or more"},
	{"schedlab serve", "serves until it is stopped"},
	{"schedlab quota", "simulates for a minute or more"},
	{"schedlab explain", "reads recordings that the reader has made"},
	{"schedlab convert", "reads recordings that the reader has made"},
	{"schedlab completion", "changes the reader's shell"},
	{"go run ./examples/custom-placement", "examples/custom-placement/testdata/script runs it"},
}

// documents are all Markdown files.
func documents(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && strings.HasPrefix(name, ".") && len(name) > 2 {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			relative, err := filepath.Rel(repository, path)
			if err != nil {
				return err
			}
			found = append(found, filepath.ToSlash(relative))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fence is a fenced block with the file that it is to be saved as, if any.
var fence = regexp.MustCompile("(?ms)^(?:<!-- file (\\S+) -->\n)?```(\\w*)\n(.*?)^```$")

// step is a command of a console block and what the document says it prints.
type step struct{ command, output string }

// steps takes a console block apart. A command goes on in the next line when it
// ends in a backslash.
func steps(block string) []step {
	var all []step
	continued := false
	for line := range strings.Lines(block) {
		switch {
		case continued:
			all[len(all)-1].command += "\n" + strings.TrimSuffix(line, "\n")
		case strings.HasPrefix(line, "$ "):
			all = append(all, step{command: strings.TrimSuffix(line[2:], "\n")})
		case len(all) > 0:
			all[len(all)-1].output += line
			continue
		default: // output before a command: matches never
			all = append(all, step{output: line})
			continue
		}
		continued = strings.HasSuffix(all[len(all)-1].command, `\`)
	}
	return all
}

func TestCommandsOfDocumentsPrintWhatTheySay(t *testing.T) {
	goCache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents(t) {
		content, err := os.ReadFile(filepath.Join(repository, document))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), "```console\n") {
			continue
		}
		t.Run(document, func(t *testing.T) {
			inReadersFolder(t)
			inCheckout(t, strings.TrimSpace(string(goCache)))
			text := fence.ReplaceAllStringFunc(string(content), func(found string) string {
				match := fence.FindStringSubmatch(found)
				file, language, block := match[1], match[2], match[3]
				if file != "" {
					saveBlock(t, file, block)
				}
				if language != "console" {
					return found
				}
				var b strings.Builder
				for _, s := range steps(block) {
					b.WriteString("$ " + s.command + "\n" + runStep(t, s))
				}
				return strings.TrimSuffix(found, block+"```") + b.String() + "```"
			})
			if *updateDocs && text != string(content) {
				if err := os.WriteFile(filepath.Join(repository, document), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// inCheckout copies what documents name of the repository. XDG_CACHE_HOME is the
// reader's now; the go command, which some documents run, keeps its own cache.
func inCheckout(t *testing.T, goCache string) {
	t.Helper()
	t.Setenv("GOCACHE", goCache)
	for _, folder := range []string{"examples/custom-placement", "explain/testdata/6.1"} {
		if err := os.CopyFS(folder, os.DirFS(filepath.Join(repository, folder))); err != nil {
			t.Fatal(err)
		}
	}
}

func saveBlock(t *testing.T, file, block string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(file) // it may be a link to the repository's own
	if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
}

// patience is how long a command of a document may take; what takes longer belongs
// into an sh block.
const patience = 60 * time.Second

// runStep runs a command and returns what the document should say.
func runStep(t *testing.T, s step) string {
	t.Helper()
	command := strings.ReplaceAll(s.command, "go run ./cmd/schedlab", "schedlab")
	command = strings.ReplaceAll(command, "go run "+readersProgram, buildReadersProgram(t, command))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-c", command)
	shell.WaitDelay = time.Second
	shell.Env = append(os.Environ(), "NO_COLOR=1", "COLUMNS=120")
	out, err := shell.CombinedOutput()
	got := string(out)
	if err != nil {
		got += fmt.Sprintf("(%v)\n", err)
	}
	if printed(s.output).MatchString(got) {
		return s.output
	}
	if *updateDocs {
		return got
	}
	t.Errorf("$ %s\nprints\n%s\nand the document says\n%s", s.command, got, s.output)
	return s.output
}

// readersProgram is the folder of a program that a tutorial writes.
const readersProgram = "./my-rule"

// buildReadersProgram builds it as if its folder were in the repository, and
// returns what runs it; of other commands nothing.
func buildReadersProgram(t *testing.T, command string) string {
	t.Helper()
	if !strings.Contains(command, "go run "+readersProgram) {
		return ""
	}
	program, err := filepath.Abs("my-rule/my-rule")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err == nil {
		return program
	}
	build := exec.Command("go", "build", "-o", program, filepath.Join(filepath.Dir(program), "main.go"))
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", readersProgram, err, out)
	}
	return program
}

// printed is the expression of an output in a document: a line of three dots
// stands for any number of lines, three dots within a line for anything in it.
// Lines may have lost the spaces at their ends.
func printed(output string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, " \n")
		if line == "..." {
			b.WriteString(`(?s:.*\n)??`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `.*`) + ` *\n`)
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String())
}

func TestPrinted(t *testing.T) {
	for _, c := range []struct {
		document, output string
		want             bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\n", "a  \nb\n", true},
		{"a\nb\n", "a\nc\n", false},
		{"a\n", "a\nb\n", false},
		{"a\n...\n", "a\nb\nc\n", true},
		{"a\n...\n", "a\n", true},
		{"a\n...\nd\n", "a\nb\nc\nd\n", true},
		{"...\nd\n", "abd\n", false},
		{"in ... s (x)\n", "in 0.3 s (x)\n", true},
		{"in ... s\n", "in 0.3\n s\n", false},
		{"", "", true},
		{"", "a\n", false},
	} {
		if got := printed(c.document).MatchString(c.output); got != c.want {
			t.Errorf("%q for %q: %v", c.document, c.output, got)
		}
	}
}

// Commands in sh blocks print nothing that a document could say: they need root,
// another program or minutes. Their command lines must be right nevertheless, and
// so must those in other blocks and in the text.
func TestCommandsThatAreNotRunAreWellFormed(t *testing.T) {
	for _, document := range documents(t) {
		content, err := os.ReadFile(filepath.Join(repository, document))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range fence.FindAllStringSubmatch(string(content), -1) {
			for line := range strings.Lines(match[3]) {
				line = strings.TrimSpace(line)
				switch match[2] {
				case "sh":
					checkUnrun(t, document, line)
				case "":
					checkListed(t, document, line)
				}
			}
		}
		for _, match := range inText.FindAllStringSubmatch(fence.ReplaceAllString(string(content), ""), -1) {
			checkNamed(t, document, match[1])
		}
	}
}

// inText is a command in the middle of a sentence.
var inText = regexp.MustCompile("`(schedlab [^`\n]+)`")

// optional is what a usage line leaves to the reader.
var optional = regexp.MustCompile(` \[[^\]]*\]`)

// checkListed checks a line that begins with a command and goes on, behind a wide
// gap, with what it does.
func checkListed(t *testing.T, document, line string) {
	t.Helper()
	command, _, _ := strings.Cut(optional.ReplaceAllString(line, ""), "  ")
	if strings.HasPrefix(command, "schedlab ") {
		parseLine(t, command)
	}
}

// checkNamed checks that the command and its flags exist; the rest may stand for
// something, as in "schedlab convert IN OUT", or be left to the reader, as in
// "schedlab compare --out".
func checkNamed(t *testing.T, document, line string) {
	t.Helper()
	if strings.Contains(line, "...") || strings.Contains(line, "COMMAND") {
		return
	}
	cmd, rest, err := newRootCommand().Find(strings.Fields(line)[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	var needs *pflag.ValueRequiredError
	if err != nil && !errors.As(err, &needs) {
		t.Errorf("%s: `%s`: %v", document, line, err)
	}
}

func checkUnrun(t *testing.T, document, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, "  #")
	line = strings.TrimSpace(strings.Replace(line, "go run ./cmd/schedlab", "schedlab", 1))
	if onlyParsed[line] != "" {
		return
	}
	for _, known := range slowOrPrivileged {
		if strings.HasPrefix(line, known.prefix) {
			if own := strings.Index(line, "schedlab "); own >= 0 && !strings.HasPrefix(line, "go ") {
				parseLine(t, line[own:])
			}
			return
		}
	}
	t.Errorf("%s: %q is in an sh block and nothing says why it is not run; make it a console block with what it prints", document, line)
}

// agreementRow is a line of the table of agreement with real kernels.
var agreementRow = regexp.MustCompile(`(?m)^\| (?:[5-7]\.\d+|all) \| \d+ \| \*\*.*\|$`)

// Figures that several documents show are those of the one that explains them.
func TestAgreementIsTheSameInEveryDocument(t *testing.T) {
	rows := func(document string) []string {
		content, err := os.ReadFile(filepath.Join(repository, document))
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, row := range agreementRow.FindAllString(string(content), -1) {
			if strings.Count(row, "|") == 10 { // the table of balancing has more
				kept = append(kept, row)
			}
		}
		return kept
	}
	want := rows("docs/explain.md")
	if len(want) != 5 {
		t.Fatalf("docs/explain.md has %d rows of agreement, want four kernels and all", len(want))
	}
	for _, document := range []string{"README.md", "docs/trust.md"} {
		if diff := cmp.Diff(want, rows(document)); diff != "" {
			t.Errorf("%s differs from docs/explain.md:\n%s", document, diff)
		}
	}
}
