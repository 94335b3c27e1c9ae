// Package experiments holds the experiment files that repeat what four
// published documents measured.
package experiments

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// suffix ends the name of an experiment file.
const suffix = ".yaml"

// Names lists the documents that can be repeated ("wake-affine"), sorted.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil { // the embedded root always exists
		panic(err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	slices.Sort(names)
	return names
}

// File returns a document's experiment file and what errors call it; the error
// is fs.ErrNotExist when there is none.
func File(document string) (name string, text []byte, err error) {
	text, err = files.ReadFile(document + suffix)
	return document + suffix, text, err
}
