// Package published holds the result tables of the kernel change documents that
// schedlab reproduces, in the long form that its own results use too (see
// stats.ReadRecords). Strings are those of the documents, verbatim.
package published

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed *.csv
var tables embed.FS

// Names lists the embedded tables ("wake-affine.csv"), sorted.
func Names() []string {
	entries, err := fs.ReadDir(tables, ".")
	if err != nil { // the embedded root always exists
		panic(err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Table returns the bytes of one embedded table. A name may carry a leading
// folder ("published/wake-affine.csv"); the error is fs.ErrNotExist when there
// is no such table.
func Table(name string) ([]byte, error) {
	return tables.ReadFile(path.Base(name))
}
