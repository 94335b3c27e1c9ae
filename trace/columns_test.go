package trace

import (
	"strconv"
	"testing"
)

// Fields that share a column must be of one type, or the column could not be
// read; and every field that an event tells has its cell.
func TestColumnsHoldWhatEventsTell(t *testing.T) {
	for kind := range schemas {
		for slot, f := range schemas[kind].fields {
			column := columns[columnOf[kind][slot]]
			if column.Name != f.name || column.Type != f.typ.column() {
				t.Errorf("%s of %s is in the column %+v", f.name, Kind(kind), column)
			}
		}
	}
	names := NewNames()
	for _, e := range builtEvents(names) {
		cells := 0
		e.Cells(names, func(column int, c Cell) {
			cells++
			value, ok := e.Value(columns[column].Name)
			if !ok {
				t.Errorf("%v tells a cell of %s and not the field", e.Kind, columns[column].Name)
			}
			if columns[column].Type != ColumnText && c.Number != value {
				t.Errorf("%v: %s is %d, want %d", e.Kind, columns[column].Name, c.Number, value)
			}
		})
		told := 0
		for slot := range e.Kind.schema().fields {
			if e.has&(1<<slot) != 0 {
				told++
			}
		}
		if cells != told {
			t.Errorf("%v: %d cells of %d fields", e.Kind, cells, told)
		}
	}
}

// The states of sched_switch are letters and the flags of sel a number.
func TestCells(t *testing.T) {
	names := NewNames()
	got := map[string]string{}
	for _, e := range builtEvents(names) {
		if e.Kind != KindSwitch && e.Kind != KindSelect {
			continue
		}
		e.Cells(names, func(column int, c Cell) {
			if columns[column].Type == ColumnText {
				got[columns[column].Name] = c.Text
			} else {
				got[columns[column].Name] = strconv.FormatInt(c.Number, 10)
			}
		})
	}
	for name, want := range map[string]string{"prev_state": "R+", "next_comm": "b c", "next_pid": "6", "flags": "8", "prev": "2"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}
