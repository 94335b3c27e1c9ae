package export

import (
	"github.com/schedlab/schedlab/trace"
)

// The columns that every event has, named as the kernel names the fields that
// are common to its events; the fields of each kind follow.
const (
	eventTime = iota
	eventCPU
	eventPID
	eventTGID
	eventComm
	eventFlags
	eventName
	eventSite
	eventDetail
	eventFields // where the others begin
)

func eventColumns() []column {
	columns := []column{
		eventTime:   {"time_ns", trace.ColumnInt},
		eventCPU:    {"common_cpu", trace.ColumnInt},
		eventPID:    {"common_pid", trace.ColumnInt},
		eventTGID:   {"common_tgid", trace.ColumnInt},
		eventComm:   {"common_comm", trace.ColumnText},
		eventFlags:  {"common_flags", trace.ColumnHex},
		eventName:   {"event", trace.ColumnText},
		eventSite:   {"site", trace.ColumnText},
		eventDetail: {"detail", trace.ColumnText},
	}
	for _, c := range trace.Columns() {
		columns = append(columns, column{c.Name, c.Type})
	}
	return columns
}

// eventSink writes a row for each event.
type eventSink struct {
	table table
	names *trace.Names
	cells []cell
}

func newEventSink(t table, names *trace.Names) *eventSink {
	return &eventSink{table: t, names: names, cells: make([]cell, eventFields+len(trace.Columns()))}
}

func (s *eventSink) write(e *trace.Event) error {
	clear(s.cells)
	s.cells[eventTime] = number(e.Time)
	s.cells[eventCPU] = known(int64(e.CPU), int64(trace.UnknownCPU))
	s.cells[eventPID] = known(int64(e.PID), int64(trace.UnknownPID))
	s.cells[eventTGID] = known(int64(e.TGID), int64(trace.UnknownPID))
	s.cells[eventComm] = text(s.names.Text(e.Comm))
	s.cells[eventFlags] = cell{set: e.Known, number: int64(e.Flags)}
	s.cells[eventName] = text(e.Kind.String())
	if e.Kind == trace.KindOther {
		s.cells[eventName] = text(s.names.Text(e.Name))
		s.cells[eventDetail] = text(string(e.Detail))
	}
	s.cells[eventSite] = text(s.names.Text(e.Site))
	e.Cells(s.names, func(at int, c trace.Cell) {
		s.cells[eventFields+at] = cell{set: true, number: c.Number, text: c.Text}
	})
	return s.table.row(s.cells)
}

func (s *eventSink) close() error { return s.table.close() }
