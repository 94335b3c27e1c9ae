package reproduction

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The files of a document's folder besides its results.
const (
	runsFile   = "runs.csv"
	causesFile = "causes.md"
)

// Run says how one file of results was made.
type Run struct {
	Results string // the file's name in the folder
	Command string
	Version string
	Took    string
}

// Rows says which rows of the experiment the command runs.
func (r *Run) Rows() string {
	if slices.Contains(strings.Fields(r.Command), "--quick") {
		return "quick"
	}
	return "full"
}

var runsHeader = []string{"results", "command", "version", "took"}

// readRuns reads a folder's list of results; a folder without one has none. The
// error is also for results that are not listed.
func readRuns(folder string) ([]Run, error) {
	path := filepath.Join(folder, runsFile)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unlisted(folder, nil)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], runsHeader) {
		return nil, fmt.Errorf("%s:1: the header is not %q", path, strings.Join(runsHeader, ","))
	}
	var runs []Run
	for _, l := range lines[1:] {
		runs = append(runs, Run{l[0], l[1], l[2], l[3]})
	}
	return runs, unlisted(folder, runs)
}

// unlisted refuses results of which nobody knows how they were made.
func unlisted(folder string, runs []Run) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.csv"))
	if err != nil {
		return err
	}
	for _, f := range files {
		name := filepath.Base(f)
		if name != runsFile && !slices.ContainsFunc(runs, func(r Run) bool { return r.Results == name }) {
			return fmt.Errorf("%s is not listed in %s; add a line %s,COMMAND,VERSION,TIME", f, runsFile, name)
		}
	}
	return nil
}
