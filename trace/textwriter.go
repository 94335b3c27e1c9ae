package trace

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// TextOptions says how ftrace text is written.
type TextOptions struct {
	// Microseconds cuts time stamps to 6 digits, as the kernel prints them; the
	// default is 9, so that nothing is lost.
	Microseconds bool
	// TGID adds the column of the process.
	TGID bool
	// FourColumns leaves out the fifth column of the context, the depth of
	// disabled migration, which kernels before 5.12 do not have: parsers of that
	// time take nothing else.
	FourColumns bool
}

type textWriter struct {
	out     *bufio.Writer
	names   *Names
	options TextOptions
	line    []byte
	begun   bool
}

// NewTextWriter writes ftrace text as the kernel's trace file has it. The
// events' Names belong to names.
func NewTextWriter(out io.Writer, names *Names, options TextOptions) Writer {
	return &textWriter{out: bufio.NewWriterSize(out, 256<<10), names: names, options: options}
}

// The headers of kernels with four columns differ in the number of bars alone.
const (
	textHeader     = "# tracer: nop\n#\n#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n#              | |         |   |||||     |         |\n"
	textHeaderTGID = "# tracer: nop\n#\n#           TASK-PID       TGID    CPU#  |||||  TIMESTAMP  FUNCTION\n#              | |           |       |   |||||     |         |\n"
)

func (w *textWriter) Write(e *Event) error {
	if err := w.begin(); err != nil {
		return err
	}
	if e.Kind == KindLost {
		w.line = appendLost(w.line[:0], e)
	} else {
		w.line = w.appendHead(w.line[:0], e)
		w.line = appendBody(w.line, e, w.names)
	}
	w.line = append(w.line, '\n')
	_, err := w.out.Write(w.line)
	return err
}

func (w *textWriter) Close() error {
	if err := w.begin(); err != nil {
		return err
	}
	return w.out.Flush()
}

func (w *textWriter) begin() error {
	if w.begun {
		return nil
	}
	w.begun = true
	header := textHeader
	if w.options.TGID {
		header = textHeaderTGID
	}
	if w.options.FourColumns {
		header = strings.ReplaceAll(header, "|||||", " ||||")
	}
	_, err := w.out.WriteString(header)
	return err
}

// appendHead prints "   comm-pid   (tgid) [cpu] flags  time: ".
func (w *textWriter) appendHead(out []byte, e *Event) []byte {
	out = w.appendTask(out, e)
	if w.options.TGID {
		out = appendTGID(out, e.TGID)
	}
	if e.CPU != UnknownCPU {
		out = append(out, '[')
		out = appendPadded(out, int64(e.CPU), 3, '0')
		out = append(out, ']', ' ')
	}
	if e.Known {
		out = e.appendColumns(out)
		if w.options.FourColumns {
			out = out[:len(out)-1]
		}
		out = append(out, ' ')
	}
	out = appendTime(out, e.Time, w.options.Microseconds)
	return append(out, ':', ' ')
}

// appendTask prints the name right-aligned in 16 columns and the number
// left-aligned in 7, as the kernel does. " -1" is perf's way to say unknown.
func (w *textWriter) appendTask(out []byte, e *Event) []byte {
	comm := w.names.Text(e.Comm)
	switch {
	case e.PID == 0:
		comm = "<idle>"
	case comm == "":
		comm = "<...>"
	}
	for n := len(comm); n < 16; n++ {
		out = append(out, ' ')
	}
	out = append(out, comm...)
	if e.PID < 0 {
		return append(out, " -1      "...)
	}
	out = append(out, '-')
	start := len(out)
	out = strconv.AppendInt(out, int64(e.PID), 10)
	for len(out) < start+8 {
		out = append(out, ' ')
	}
	if out[len(out)-1] != ' ' {
		out = append(out, ' ')
	}
	return out
}

func appendTGID(out []byte, tgid int32) []byte {
	if tgid == UnknownPID {
		return append(out, "(-------) "...)
	}
	out = append(out, '(')
	out = appendPadded(out, int64(tgid), 7, ' ')
	return append(out, ')', ' ')
}

// appendTime prints seconds with 9 or 6 digits behind the point, at least 5
// columns before it.
func appendTime(out []byte, time int64, micro bool) []byte {
	if time < 0 { // no clock of the kernel is negative
		time = 0
	}
	out = appendPadded(out, time/1_000_000_000, 5, ' ')
	out = append(out, '.')
	if micro {
		return appendPadded(out, time%1_000_000_000/1000, 6, '0')
	}
	return appendPadded(out, time%1_000_000_000, 9, '0')
}

// appendPadded prints a number of at least width columns.
func appendPadded(out []byte, value int64, width int, pad byte) []byte {
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], value, 10)
	for n := len(text); n < width; n++ {
		out = append(out, pad)
	}
	return append(out, text...)
}

func appendLost(out []byte, e *Event) []byte {
	out = append(out, "CPU:"...)
	out = strconv.AppendInt(out, int64(max(e.CPU, 0)), 10)
	out = append(out, " [LOST "...)
	if n := e.LostCount(); n >= 0 {
		out = strconv.AppendInt(out, n, 10)
		out = append(out, ' ')
	}
	return append(out, "EVENTS]"...)
}

// appendBody prints "name: fields" in the kernel's print format.
func appendBody(out []byte, e *Event, names *Names) []byte {
	s := e.Kind.schema()
	if e.Kind == KindOther {
		if name := names.Text(e.Name); name != functionTracer {
			out = append(out, name...)
			out = append(out, ':', ' ')
		}
		return append(out, e.Detail...)
	}
	out = append(out, s.event...)
	out = append(out, ':')
	if e.Site != NoName {
		out = append(out, ' ', '(')
		out = append(out, names.Text(e.Site)...)
		out = append(out, ')')
	}
	for slot := range s.fields {
		if e.has&(1<<slot) == 0 {
			continue
		}
		if slot > 0 && slot == s.arrow {
			out = append(out, " ==>"...)
		}
		out = append(out, ' ')
		out = append(out, s.fields[slot].name...)
		out = append(out, '=')
		out = appendValue(out, &s.fields[slot], e.args[slot], names)
		if e.Kind == KindStatRuntime && slot >= 2 {
			out = append(out, " [ns]"...)
		}
	}
	return appendSoftirqAction(out, e)
}

func appendValue(out []byte, f *field, value int64, names *Names) []byte {
	switch f.typ {
	case fieldHex:
		return strconv.AppendUint(append(out, '0', 'x'), uint64(value), 16)
	case fieldCPU:
		return appendPadded(out, value, 3, '0')
	case fieldTask, fieldPath:
		return append(out, names.Text(Name(value))...)
	case fieldState:
		return State(value).append(out)
	case fieldBool:
		return strconv.AppendBool(out, value != 0)
	default:
		return strconv.AppendInt(out, value, 10)
	}
}

func appendSoftirqAction(out []byte, e *Event) []byte {
	switch e.Kind {
	case KindSoftirqRaise, KindSoftirqEntry, KindSoftirqExit:
		if vector := e.value(0); vector >= 0 && vector < int64(len(softirqNames)) {
			out = append(out, " [action="...)
			out = append(out, softirqNames[vector]...)
			out = append(out, ']')
		}
	}
	return out
}
