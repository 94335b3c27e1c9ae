package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/schedlab/schedlab"

// root is the top folder of the repository, seen from this package.
const root = "../.."

// sourceFile is a parsed Go file.
type sourceFile struct {
	path string // from the repository's top, with slashes
	ast  *ast.File
}

// pkg is the folder of the file, which is its package's path in the module.
func (f *sourceFile) pkg() string { return path.Dir(f.path) }

func (f *sourceFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// imports lists the import paths; those of this module without its prefix.
func (f *sourceFile) imports() (own, foreign []string) {
	for _, spec := range f.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has refused it
		}
		if short, found := strings.CutPrefix(name, module+"/"); found {
			own = append(own, short)
		} else {
			foreign = append(foreign, name)
		}
	}
	return own, foreign
}

// files lists the files below the top with one of the endings, in order, from
// the top and with slashes. Hidden folders, test data and what is built
// are left out.
func files(t *testing.T, endings ...string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); name != root && (base[0] == '.' || slices.Contains([]string{"bin", "out", "testdata", "tools"}, base)) {
				return filepath.SkipDir
			}
			return nil
		}
		for _, ending := range endings {
			if strings.HasSuffix(name, ending) {
				short, err := filepath.Rel(root, name)
				if err != nil {
					return err
				}
				found = append(found, filepath.ToSlash(short))
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("no %s files below %s", strings.Join(endings, " or "), root)
	}
	return found
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources parses every Go file of the repository.
func sources(t *testing.T, fset *token.FileSet) []sourceFile {
	t.Helper()
	var parsed []sourceFile
	for _, name := range files(t, ".go") {
		file, err := parser.ParseFile(fset, name, read(t, name), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, sourceFile{name, file})
	}
	return parsed
}
