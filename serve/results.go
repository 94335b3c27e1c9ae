package serve

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
)

// Bounds of a results.csv that is shown.
const (
	maxResultBytes = 64 << 20
	maxResultRows  = 200_000
)

// ResultRows is a results.csv: the names of its columns and its lines, as text.
type ResultRows struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// neededColumns are those without which no table can be laid out
// (docs/experiment.md has all of them).
var neededColumns = []string{"benchmark", "statistic", "row", "variant", "value"}

// Result reads the table of a result.
func (l *Library) Result(dir string) (*ResultRows, error) {
	name := path.Join(dir, resultsFile)
	file, err := l.openFile(name, maxResultBytes)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // read only
	rows, err := readResult(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

func readResult(in io.Reader) (*ResultRows, error) {
	// The file may grow between the look at its size and its end.
	lines := csv.NewReader(io.LimitReader(in, maxResultBytes))
	header, err := lines.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("is empty; expected the results that compare --out writes")
	}
	if err != nil {
		return nil, err
	}
	for _, name := range neededColumns {
		if !slices.Contains(header, name) {
			return nil, fmt.Errorf("has no column %q in line 1; expected the results that compare --out writes", name)
		}
	}
	result := &ResultRows{Columns: header, Rows: [][]string{}}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return result, nil
		}
		if err != nil {
			return nil, err // csv names the line
		}
		if len(result.Rows) == maxResultRows {
			return nil, fmt.Errorf("has more than %d lines; this page shows no table that long", maxResultRows)
		}
		result.Rows = append(result.Rows, fields)
	}
}
