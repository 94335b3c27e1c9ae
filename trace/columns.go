package trace

// ColumnType is what the cells of a column hold.
type ColumnType uint8

// The types of columns.
const (
	ColumnInt  ColumnType = iota // a number
	ColumnHex                    // a number that is printed in hexadecimal: flags, masks, addresses
	ColumnText                   // a name, a path or the letters of a State
	ColumnBool
)

// Column is a field that some kinds of events have, in a table with a row for
// each event.
type Column struct {
	Name string // as the kernel prints it
	Type ColumnType
}

// Columns lists the fields of all kinds. Fields of the same name, such as the
// pid of a wakeup and that of an exit, share a column.
func Columns() []Column { return append([]Column(nil), columns...) }

// columns and columnOf, the column of each kind's slots, follow the schema.
var columns, columnOf = func() (all []Column, of [numKinds][]int) {
	index := make(map[string]int)
	for kind := range schemas {
		for _, f := range schemas[kind].fields {
			at, known := index[f.name]
			if !known {
				at = len(all)
				index[f.name] = at
				all = append(all, Column{Name: f.name, Type: f.typ.column()})
			}
			of[kind] = append(of[kind], at)
		}
	}
	return all, of
}()

func (t fieldType) column() ColumnType {
	switch t {
	case fieldHex:
		return ColumnHex
	case fieldTask, fieldPath, fieldState:
		return ColumnText
	case fieldBool:
		return ColumnBool
	}
	return ColumnInt
}

// Cell is the value of one column: Text for ColumnText, else Number (1 and 0 for
// ColumnBool).
type Cell struct {
	Number int64
	Text   string
}

// Cells calls put with each field that the event tells and the number of its
// column in Columns. The event's Names belong to names.
func (e *Event) Cells(names *Names, put func(column int, c Cell)) {
	s := e.Kind.schema()
	for slot := range s.fields {
		if e.has&(1<<slot) == 0 {
			continue
		}
		cell := Cell{Number: e.args[slot]}
		switch s.fields[slot].typ {
		case fieldTask, fieldPath:
			cell = Cell{Text: names.Text(Name(cell.Number))}
		case fieldState:
			cell = Cell{Text: State(cell.Number).String()}
		}
		put(columnOf[e.Kind][slot], cell)
	}
}

// Columns lists the fields of a kind, in the order in which the kernel prints
// them.
func (k Kind) Columns() []Column {
	var out []Column
	for _, f := range k.schema().fields {
		out = append(out, Column{Name: f.name, Type: f.typ.column()})
	}
	return out
}
