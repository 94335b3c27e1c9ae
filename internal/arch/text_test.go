package arch

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// printing lists the packages that may write to the standard streams.
var printing = []string{"cli", "cmd/schedlab", "examples/custom-placement", "internal/reproduction/generate"}

func TestOnlyTheCommandPrints(t *testing.T) {
	fset := token.NewFileSet()
	for _, f := range sources(t, fset) {
		if f.isTest() || slices.Contains(printing, f.pkg()) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if printsDirectly(n) {
				t.Errorf("%s prints; please return a value, or write to an io.Writer that is passed in", fset.Position(n.Pos()))
			}
			return true
		})
	}
}

func printsDirectly(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		pkg, ok := n.X.(*ast.Ident)
		if !ok {
			return false
		}
		switch pkg.Name {
		case "fmt":
			return strings.HasPrefix(n.Sel.Name, "Print")
		case "log":
			return true
		case "os":
			return n.Sel.Name == "Stdout" || n.Sel.Name == "Stderr"
		}
	case *ast.CallExpr:
		name, ok := n.Fun.(*ast.Ident)
		return ok && (name.Name == "print" || name.Name == "println")
	}
	return false
}

// unfinished finds the marks of work that was put off. They are spelled so
// that this file has none.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

func TestNothingIsPutOff(t *testing.T) {
	for _, name := range files(t, ".go", ".md", ".yaml", ".json") {
		for number, line := range numbered(read(t, name)) {
			if word := unfinished.FindString(line); word != "" {
				t.Errorf("%s:%d says %s; please do it, or describe the gap in DEVIATIONS.md", name, number, word)
			}
		}
	}
}

var documentName = regexp.MustCompile(`\bdocs/[a-z-]+\.md\b`)

func TestNamedDocumentsExist(t *testing.T) {
	present := files(t, ".md")
	for _, name := range files(t, ".go", ".md") {
		for number, line := range numbered(read(t, name)) {
			for _, document := range documentName.FindAllString(line, -1) {
				if !slices.Contains(present, document) {
					t.Errorf("%s:%d names %s, which does not exist; please write it or name another", name, number, document)
				}
			}
		}
	}
}

var markdownLink = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	present := files(t, "")
	for _, name := range files(t, ".md") {
		for number, line := range numbered(read(t, name)) {
			for _, link := range markdownLink.FindAllStringSubmatch(line, -1) {
				target := path.Join(path.Dir(name), link[1])
				if !slices.ContainsFunc(present, func(file string) bool { return below(file, target) }) {
					t.Errorf("%s:%d links to %s, which does not exist; please mend the link", name, number, target)
				}
			}
		}
	}
}

// section is a reference such as "mechanisms.md 6.4".
var section = regexp.MustCompile(`\b(mechanisms(?:-modern)?|ipc-and-benchmarks)\.md (\d+(?:\.\d+)*)`)

func TestNamedSectionsExist(t *testing.T) {
	sections := map[string]map[string]bool{}
	for _, document := range []string{"mechanisms", "mechanisms-modern", "ipc-and-benchmarks"} {
		sections[document] = sectionsOf(read(t, "docs/"+document+".md"))
	}
	seen := 0
	for _, name := range files(t, ".go", ".json", ".md", ".yaml") {
		for number, line := range numbered(read(t, name)) {
			for _, reference := range section.FindAllStringSubmatch(line, -1) {
				seen++
				if !sections[reference[1]][reference[2]] {
					t.Errorf("%s:%d names section %s of docs/%s.md, which does not exist; please name the right one", name, number, reference[2], reference[1])
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no reference to a section was found; please mend the pattern")
	}
}

var (
	heading = regexp.MustCompile(`^#+ (\d+(?:\.\d+)*)\b`)
	item    = regexp.MustCompile(`^(\d+)\. `)
)

// sectionsOf lists the numbered headings, and numbered items as "15.4" below
// the heading that they stand under.
func sectionsOf(text string) map[string]bool {
	sections := map[string]bool{}
	current := ""
	for _, line := range numbered(text) {
		if h := heading.FindStringSubmatch(line); h != nil {
			current = h[1]
			sections[current] = true
		} else if i := item.FindStringSubmatch(line); i != nil {
			sections[current+"."+i[1]] = true
		}
	}
	return sections
}

// numbered yields the lines of a text with their numbers from 1.
func numbered(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		number := 0
		for line := range strings.Lines(text) {
			number++
			if !yield(number, strings.TrimRight(line, "\n")) {
				return
			}
		}
	}
}
