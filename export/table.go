package export

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/schedlab/schedlab/trace"
)

// column is a column of a table; every one but the first may be empty in a row.
type column struct {
	name string
	kind trace.ColumnType
}

// cell is the value of a column in a row.
type cell struct {
	set    bool
	number int64
	text   string
}

func number(n int64) cell    { return cell{set: true, number: n} }
func text(t string) cell     { return cell{set: t != "", text: t} }
func known(n, no int64) cell { return cell{set: n != no, number: n} }

// table writes rows of one format. A row has a cell for each column.
type table interface {
	row(cells []cell) error
	close() error
}

func newTable(out io.Writer, format Format, columns []column) table {
	if format == Parquet {
		return newParquetTable(out, columns)
	}
	return &csvTable{out: csv.NewWriter(out), columns: columns}
}

// csvTable has a header; an empty cell is empty.
type csvTable struct {
	out     *csv.Writer
	columns []column
	begun   bool
	fields  []string
}

func (t *csvTable) begin() error {
	if t.begun {
		return nil
	}
	t.begun = true
	t.fields = make([]string, len(t.columns))
	for i, c := range t.columns {
		t.fields[i] = c.name
	}
	return t.out.Write(t.fields)
}

func (t *csvTable) row(cells []cell) error {
	if err := t.begin(); err != nil {
		return err
	}
	for i, c := range cells {
		t.fields[i] = c.print(t.columns[i].kind)
	}
	return t.out.Write(t.fields)
}

func (t *csvTable) close() error {
	if err := t.begin(); err != nil {
		return err
	}
	t.out.Flush()
	return t.out.Error()
}

func (c cell) print(kind trace.ColumnType) string {
	switch {
	case !c.set:
		return ""
	case kind == trace.ColumnText:
		return c.text
	case kind == trace.ColumnHex:
		return "0x" + strconv.FormatUint(uint64(c.number), 16)
	case kind == trace.ColumnBool:
		return strconv.FormatBool(c.number != 0)
	}
	return strconv.FormatInt(c.number, 10)
}

// parquetTable has the same columns, empty cells null: numbers as INT64, those
// that CSV prints in hexadecimal as UINT64, texts from a dictionary.
type parquetTable struct {
	out     *parquet.GenericWriter[any]
	columns []column
	leaf    []int // where each column is in the file
	batch   []parquet.Row
	filled  int // rows of the batch
}

const (
	// parquetBatch is how many rows are handed over at a time.
	parquetBatch = 256
	// parquetGroup is how many rows are kept in memory until they are written.
	parquetGroup = 1 << 17
)

func newParquetTable(out io.Writer, columns []column) *parquetTable {
	fields := parquet.Group{}
	for i, c := range columns {
		node := c.node()
		if i > 0 {
			node = parquet.Optional(node)
		}
		fields[c.name] = node
	}
	schema := parquet.NewSchema("schedlab", fields)
	t := &parquetTable{columns: columns, leaf: make([]int, len(columns))}
	for i, c := range columns {
		at, _ := schema.Lookup(c.name)
		t.leaf[i] = at.ColumnIndex
	}
	t.out = parquet.NewGenericWriter[any](out, schema, parquet.Compression(&parquet.Snappy),
		parquet.CreatedBy("schedlab", "", ""), parquet.MaxRowsPerRowGroup(parquetGroup))
	t.batch = make([]parquet.Row, parquetBatch)
	for i := range t.batch {
		t.batch[i] = make(parquet.Row, len(columns))
	}
	return t
}

func (c *column) node() parquet.Node {
	switch c.kind {
	case trace.ColumnText:
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case trace.ColumnHex:
		return parquet.Uint(64)
	case trace.ColumnBool:
		return parquet.Leaf(parquet.BooleanType)
	}
	return parquet.Int(64)
}

func (t *parquetTable) row(cells []cell) error {
	row := t.batch[t.filled]
	for i := range cells {
		row[t.leaf[i]] = cells[i].value(t.columns[i].kind, i > 0, t.leaf[i])
	}
	t.filled++
	if t.filled < parquetBatch {
		return nil
	}
	return t.flush()
}

// value has definition level 1 where an optional cell is not empty.
func (c cell) value(kind trace.ColumnType, optional bool, leaf int) parquet.Value {
	if !c.set && optional {
		return parquet.NullValue().Level(0, 0, leaf)
	}
	level := 0
	if optional {
		level = 1
	}
	switch kind {
	case trace.ColumnText:
		return parquet.ByteArrayValue([]byte(c.text)).Level(0, level, leaf)
	case trace.ColumnBool:
		return parquet.BooleanValue(c.number != 0).Level(0, level, leaf)
	}
	return parquet.Int64Value(c.number).Level(0, level, leaf)
}

func (t *parquetTable) flush() error {
	_, err := t.out.WriteRows(t.batch[:t.filled])
	t.filled = 0
	return err
}

func (t *parquetTable) close() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.out.Close()
}
