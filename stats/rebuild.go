package stats

import (
	"fmt"
	"strings"
)

// Rebuild makes the tables again whose records were written: one for each
// machine, benchmark and environment, in the order in which they first appear,
// its columns and rows too. A table's first variant is its baseline. Percentages
// are worked out from the values, which are exact; whether one is significant is
// taken from the record, since deviations have nine digits. Samples, notes,
// failures and latencies are not in the long form, and an empty value reads as a
// figure that the variant does not report. All columns of a table are of one
// machine. The error is for a figure that is there twice.
func Rebuild(records []Record) ([]Table, error) {
	var order []*rebuilding
	index := map[tableKey]*rebuilding{}
	for i := range records {
		r := &records[i]
		key := tableKey{r.Machine, r.Benchmark, r.Environment}
		b := index[key]
		if b == nil {
			b = &rebuilding{rows: map[rowKey]int{}}
			b.table.Machine, b.table.Benchmark, b.table.Environment = r.Machine, r.Benchmark, r.Environment
			index[key] = b
			order = append(order, b)
		}
		b.column(r)
	}
	for i := range records {
		r := &records[i]
		if err := index[tableKey{r.Machine, r.Benchmark, r.Environment}].add(r); err != nil {
			return nil, err
		}
	}
	tables := make([]Table, len(order))
	for i, b := range order {
		b.compare()
		tables[i] = b.table
	}
	return tables, nil
}

type (
	tableKey struct{ machine, benchmark, environment string }
	rowKey   struct {
		statistic, label, unit string
		better                 Direction
	}
)

// rebuilding is a table of which some records were read.
type rebuilding struct {
	table Table
	rows  map[rowKey]int
	read  [][]bool // of each row and column
	stars [][]bool
}

// column is the place of the record's variant, a new one at its first record.
func (b *rebuilding) column(r *Record) int {
	for i := range b.table.Columns {
		if b.table.Columns[i].Variant == r.Variant {
			return i
		}
	}
	b.table.Columns = append(b.table.Columns, Column{Variant: r.Variant, Machine: r.Machine, Kernel: r.Kernel})
	return len(b.table.Columns) - 1
}

func (b *rebuilding) row(r *Record) int {
	key := rowKey{r.Statistic, r.Row, r.Unit, r.Better}
	at, known := b.rows[key]
	if !known {
		at = len(b.table.Rows)
		b.rows[key] = at
		n := len(b.table.Columns)
		row := Row{Statistic: r.Statistic, Label: r.Row, Unit: r.Unit, Better: r.Better, Entries: make([]Entry, n)}
		for i := range row.Entries {
			row.Entries[i].Absent = true
		}
		b.table.Rows = append(b.table.Rows, row)
		b.read, b.stars = append(b.read, make([]bool, n)), append(b.stars, make([]bool, n))
	}
	return at
}

func (b *rebuilding) add(r *Record) error {
	row, column := b.row(r), b.column(r)
	if b.read[row][column] {
		return fmt.Errorf("the results have two figures of %s", strings.Join([]string{r.Machine, r.Benchmark, r.Environment, r.Statistic, r.Row, r.Variant}, ", "))
	}
	b.read[row][column] = true
	b.stars[row][column] = r.Significant != nil && *r.Significant
	if r.Value != nil {
		b.table.Rows[row].Entries[column] = Entry{Summary: r.summary()}
	}
	return nil
}

func (r *Record) summary() Summary {
	s := Summary{N: r.N, Mean: *r.Value}
	if r.StdDev != nil {
		s.StdDev = *r.StdDev
	}
	if r.CILow != nil && r.CIHigh != nil {
		s.Interval = Interval{Low: *r.CILow, High: *r.CIHigh, Known: true}
	}
	return s
}

func (b *rebuilding) compare() {
	for i := range b.table.Rows {
		row := &b.table.Rows[i]
		for column := range row.Entries {
			row.compareToBaseline(column)
			row.Entries[column].Significant = b.stars[i][column]
		}
	}
}
