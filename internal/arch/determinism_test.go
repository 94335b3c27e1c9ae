package arch

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// engine is the part whose results must be the same bytes on any computer.
var engine = []string{"sched", "sim"}

// bannedInEngine are imports with which a result could depend on the moment or
// the computer.
var bannedInEngine = map[string]string{
	"time":      "please take virtual nanoseconds (int64) from the caller",
	"math/rand": "please take a seeded math/rand/v2 generator from the caller",
	"runtime":   "please let nothing depend on the computer",
}

func TestEngineImportsNothingThatVaries(t *testing.T) {
	for _, f := range sources(t, token.NewFileSet()) {
		if f.isTest() || !inEngine(f.pkg()) {
			continue
		}
		_, foreign := f.imports()
		for _, name := range foreign {
			if instead, banned := bannedInEngine[name]; banned {
				t.Errorf("%s imports %s; %s", f.path, name, instead)
			}
		}
		if f.pkg() == "sched" {
			for _, name := range foreign {
				if strings.HasPrefix(name, "math/rand") {
					t.Errorf("%s imports %s; please keep sched without randomness of its own", f.path, name)
				}
			}
		}
	}
}

// mapRanges lists the functions that may range over a map, with the reason
// why its order shows nowhere.
var mapRanges = map[string]string{
	"sched.Placements": "the names are sorted before they are returned",
	"sim.applyTo":      "the names are sorted before the first unknown one is reported",
}

func TestEngineNeverRangesOverMaps(t *testing.T) {
	used := map[string]bool{}
	for _, pkg := range engine {
		for _, r := range rangesOverMaps(t, pkg) {
			used[r.function] = true
			if mapRanges[r.function] == "" {
				t.Errorf("%s: %s ranges over a map; please range over a slice in a fixed order, or add the function to mapRanges with the reason why the order shows nowhere", r.place, r.function)
			}
		}
	}
	for function := range mapRanges {
		if !used[function] {
			t.Errorf("mapRanges excuses %s, which ranges over no map; please remove the line", function)
		}
	}
}

func TestEngineStartsNoGoroutine(t *testing.T) {
	fset := token.NewFileSet()
	for _, f := range sources(t, fset) {
		if f.isTest() || !inEngine(f.pkg()) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt:
				t.Errorf("%s uses goroutines or channels; please keep one simulation in one goroutine", fset.Position(n.Pos()))
			}
			return true
		})
	}
}

func inEngine(pkg string) bool {
	for _, e := range engine {
		if pkg == e {
			return true
		}
	}
	return false
}

// mapRange is one range statement over a map, or a call that iterates one.
type mapRange struct{ place, function string }

// rangesOverMaps type-checks a package without its tests and finds them.
func rangesOverMaps(t *testing.T, pkg string) []mapRange {
	t.Helper()
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range strings.Fields(goList(t, pkg, "{{join .GoFiles \" \"}}")) {
		name = path.Join(pkg, name)
		file, err := parser.ParseFile(fset, name, read(t, name), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	checker := types.Config{Importer: importer.ForCompiler(fset, "gc", exportData(t, pkg))}
	if _, err := checker.Check(module+"/"+pkg, fset, parsed, &info); err != nil {
		t.Fatal(err)
	}
	var found []mapRange
	for _, file := range parsed {
		for _, decl := range file.Decls {
			function := fmt.Sprintf("%s.%s", pkg, nameOf(decl))
			ast.Inspect(decl, func(n ast.Node) bool {
				if iteratesMap(n, &info) {
					found = append(found, mapRange{fset.Position(n.Pos()).String(), function})
				}
				return true
			})
		}
	}
	return found
}

func iteratesMap(n ast.Node, info *types.Info) bool {
	switch n := n.(type) {
	case *ast.RangeStmt:
		_, is := info.TypeOf(n.X).Underlying().(*types.Map)
		return is
	case *ast.SelectorExpr:
		object := info.Uses[n.Sel]
		return object != nil && object.Pkg() != nil && object.Pkg().Path() == "maps"
	}
	return false
}

func nameOf(decl ast.Decl) string {
	if f, ok := decl.(*ast.FuncDecl); ok {
		return f.Name.Name
	}
	return "package level"
}

// exportData lets the type checker read what the go command has compiled of a
// package's imports.
func exportData(t *testing.T, pkg string) importer.Lookup {
	t.Helper()
	exports := map[string]string{}
	for line := range strings.Lines(goList(t, pkg, "{{.ImportPath}} {{.Export}}", "-export", "-deps")) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[name] = file
	}
	return func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) }
}

// goList asks the go command about a package.
func goList(t *testing.T, pkg, format string, flags ...string) string {
	t.Helper()
	args := append([]string{"list", "-f", format}, flags...)
	list := exec.Command("go", append(args, "./"+pkg)...)
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(list.Args[1:], " "), err)
	}
	return string(out)
}

// The check above would pass for ever if it saw nothing.
func TestMapRangesAreSeen(t *testing.T) {
	const place = "internal/arch"
	for _, r := range rangesOverMaps(t, place+"/testdata/mapuser") {
		if strings.HasSuffix(r.function, ".Sum") {
			return
		}
	}
	t.Errorf("the range over a map in %s/testdata/mapuser was not found", place)
}
