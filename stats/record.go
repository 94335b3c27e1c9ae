package stats

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Record is one line of the long form in which results and published tables are
// exchanged (docs/experiment.md, "Output"). Pointers are nil where a column is empty.
type Record struct {
	Source      string // "schedlab", or the name of the published document
	Benchmark   string
	Environment string
	Statistic   string
	Row         string
	Variant     string
	Unit        string
	Better      Direction
	Value       *float64
	DeltaPct    *float64 // percent, positive is better
	Significant *bool    // nil: the statistic has no test
	N           int      // samples behind Value; 0 in published tables
	StdDev      *float64
	CILow       *float64 // 95 % confidence interval of Value
	CIHigh      *float64
	Machine     string
	Kernel      string
}

// publishedHeader is what a published table has; resultHeader what results add.
var (
	publishedHeader = []string{"source", "benchmark", "environment", "statistic", "row", "variant", "unit", "better",
		"value", "delta_pct", "significant"}
	resultHeader = append(publishedHeader[:len(publishedHeader):len(publishedHeader)],
		"n", "stddev", "ci_low", "ci_high", "machine", "kernel")
)

// Columns are the names of the columns of results.
func Columns() []string { return resultHeader[:len(resultHeader):len(resultHeader)] }

// SourceName is the "source" column of results.
const SourceName = "schedlab"

// Records lists the table in the long form, row by row and variant by variant.
func (t *Table) Records() []Record {
	var records []Record
	for i := range t.Rows {
		for column := range t.Rows[i].Entries {
			records = append(records, t.record(&t.Rows[i], column))
		}
	}
	return records
}

func (t *Table) record(row *Row, column int) Record {
	r := Record{Source: SourceName, Benchmark: t.Benchmark, Environment: t.Environment,
		Statistic: row.Statistic, Row: row.Label, Variant: t.Columns[column].Variant,
		Unit: row.Unit, Better: row.Better,
		Machine: t.Columns[column].Machine, Kernel: t.Columns[column].Kernel}
	entry := &row.Entries[column]
	if !entry.HasValue() {
		return r
	}
	summary := entry.Summary
	r.N, r.Value, r.StdDev = summary.N, &summary.Mean, rounded(summary.StdDev)
	if summary.Interval.Known {
		r.CILow, r.CIHigh = rounded(summary.Interval.Low), rounded(summary.Interval.High)
	}
	if entry.NoBaseline || row.Better == Neither {
		return r
	}
	significant := entry.Significant
	r.DeltaPct = rounded(entry.Delta)
	if row.Tested() {
		r.Significant = &significant
	}
	return r
}

// rounded keeps nine digits of a derived figure: beyond them, the mathematical
// functions of different processors may disagree.
func rounded(x float64) *float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 8, 64), 64)
	if err != nil { // it would have to be infinite
		return &x
	}
	return &r
}

// WriteRecords writes the header of results and one line per record. Values are
// exact (they read back as the same float64), what is derived from them has nine
// digits; percentages have two decimals, as
// in the published tables.
func WriteRecords(w io.Writer, records []Record) error {
	out := csv.NewWriter(w)
	if err := out.Write(resultHeader); err != nil {
		return err
	}
	for i := range records {
		if err := out.Write(records[i].Fields()); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// Fields are the record's columns as [WriteRecords] writes them, in the order of
// [Columns].
func (r *Record) Fields() []string {
	return []string{r.Source, r.Benchmark, r.Environment, r.Statistic, r.Row, r.Variant, r.Unit, string(r.Better),
		number(r.Value, -1), number(r.DeltaPct, 2), bit(r.Significant),
		strconv.Itoa(r.N), number(r.StdDev, -1), number(r.CILow, -1), number(r.CIHigh, -1), r.Machine, r.Kernel}
}

func number(x *float64, decimals int) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'f', decimals, 64)
}

func bit(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "1"
	}
	return "0"
}

// ReadRecords reads a table in the long form, with or without the columns that
// only results have. Errors begin with name and, where it is known, the line.
func ReadRecords(name string, r io.Reader) ([]Record, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: no header line: %w", name, err)
	}
	if !isHeader(header) {
		return nil, fmt.Errorf("%s:1: the header is not the long form's; write %q", name, strings.Join(publishedHeader, ","))
	}
	var records []Record
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		record, err := parseRecord(fields, len(header))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		records = append(records, record)
	}
}

func isHeader(fields []string) bool {
	joined := strings.Join(fields, ",")
	return joined == strings.Join(publishedHeader, ",") || joined == strings.Join(resultHeader, ",")
}

func parseRecord(fields []string, columns int) (Record, error) {
	if len(fields) != columns {
		return Record{}, fmt.Errorf("%d fields where the header has %d", len(fields), columns)
	}
	p := recordParser{fields: fields}
	r := Record{Source: fields[0], Benchmark: fields[1], Environment: fields[2], Statistic: fields[3],
		Row: fields[4], Variant: fields[5], Unit: fields[6], Better: p.direction(7),
		Value: p.number(8), DeltaPct: p.number(9), Significant: p.bit(10)}
	if columns == len(resultHeader) {
		r.N = p.integer(11)
		r.StdDev, r.CILow, r.CIHigh = p.number(12), p.number(13), p.number(14)
		r.Machine, r.Kernel = fields[15], fields[16]
	}
	return r, p.err
}

// recordParser keeps the first error of a line.
type recordParser struct {
	fields []string
	err    error
}

func (p *recordParser) fail(column int, want string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s is %q; write %s", resultHeader[column], p.fields[column], want)
	}
}

func (p *recordParser) direction(column int) Direction {
	switch d := Direction(p.fields[column]); d {
	case Lower, Higher, Neither:
		return d
	}
	p.fail(column, "lower, higher or nothing")
	return Neither
}

func (p *recordParser) number(column int) *float64 {
	if p.fields[column] == "" {
		return nil
	}
	x, err := strconv.ParseFloat(p.fields[column], 64)
	if err != nil {
		p.fail(column, "a number or nothing")
	}
	return &x
}

func (p *recordParser) integer(column int) int {
	n, err := strconv.Atoi(p.fields[column])
	if err != nil {
		p.fail(column, "a whole number")
	}
	return n
}

func (p *recordParser) bit(column int) *bool {
	yes := p.fields[column] == "1"
	switch p.fields[column] {
	case "0", "1":
		return &yes
	case "":
		return nil
	}
	p.fail(column, "1, 0 or nothing")
	return nil
}
