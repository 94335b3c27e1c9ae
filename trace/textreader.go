package trace

import (
	"bytes"
	"errors"
	"io"
)

// textReader reads ftrace text line by line.
type textReader struct {
	base
	lines    *lineScanner
	head     lineHead
	promised int64 // entries that the file's own header announces
	promises bool
	ended    bool
}

// NewTextReader reads ftrace text, as the kernel's trace and trace_pipe files,
// "trace-cmd report" and "perf script" print it.
func NewTextReader(input io.Reader) Reader {
	r := &textReader{lines: newLineScanner(input)}
	r.init("ftrace text")
	return r
}

func (r *textReader) Next(e *Event) error {
	for {
		l, err := r.lines.next()
		if err != nil {
			return r.end(err)
		}
		e.reset()
		e.Offset = l.offset
		switch r.parse(l, e) {
		case lineIsEvent:
			r.inspect.see(e)
			return nil
		case lineIsOther:
			r.stats.Ignored++
		case lineIsBad:
			r.stats.skip(l.offset, "this line is not an event: %q", clip(l.text))
		}
		if !l.ended && len(l.text) > 0 {
			r.stats.truncate(l.offset, "the last line has no end: %q", clip(l.text))
		}
	}
}

// clip shortens a line for a message.
func clip(text []byte) []byte {
	const most = 60
	return text[:min(len(text), most)]
}

// end is called at every Next behind the last line; it closes the accounts once.
func (r *textReader) end(err error) error {
	if r.ended {
		return err
	}
	r.ended = true
	if broken := r.lines.broken(); broken != nil {
		r.stats.truncate(r.lines.offset, "the input breaks off: %v", broken)
	}
	r.finish()
	if got := r.stats.Events + r.stats.Unreadable; r.promises && got != r.promised {
		r.stats.warn(r.lines.offset, "the header announces %d entries, there are %d", r.promised, got)
	}
	return io.EOF
}

type lineClass uint8

const (
	lineIsEvent lineClass = iota
	lineIsOther
	lineIsBad
)

func (r *textReader) parse(l line, e *Event) lineClass {
	text := bytes.TrimSuffix(l.text, []byte{'\r'})
	switch {
	case l.tooLong || bytes.IndexByte(text, 0) >= 0: // no printer prints zero bytes
		return lineIsBad
	case len(text) == 0:
		return lineIsOther
	case parseHead(text, &r.head):
		return r.parseEvent(l, e)
	case text[0] == '#':
		return r.parseComment(text)
	case r.parseLost(text, e):
		return lineIsEvent
	case isFrame(text):
		return lineIsOther
	}
	return lineIsBad
}

func (r *textReader) parseEvent(l line, e *Event) lineClass {
	h := &r.head
	e.Time, e.CPU, e.Context = h.time, h.cpu, h.context
	e.PID, e.TGID = h.task.pid, h.task.tgid
	e.Comm = r.names.intern(h.task.comm)
	r.noteResolution(l.offset)
	if record, isPerf := bytes.CutPrefix(h.body, perfRecord); isPerf {
		return r.parsePerfRecord(record, e)
	}
	name, fields, sampled := splitName(h.body)
	e.Kind = kindsByEvent[string(name)]
	if e.Kind == KindOther {
		if sampled {
			return lineIsOther
		}
		return r.parseOther(name, fields, e)
	}
	s := e.Kind.schema()
	e.Name = r.names.intern(name)
	if !parseFields(s, fields, r.names, e) {
		e.Marks |= MarkMalformed
		r.stats.warn(l.offset, "%s with fields that are missing or unreadable: %q", name, clip(fields))
	}
	if !l.ended {
		r.stats.truncate(l.offset, "the last line has no end, so its last field may be cut")
	}
	return lineIsEvent
}

// noteResolution keeps the finest step of the stamps.
func (r *textReader) noteResolution(offset int64) {
	step := int64(1)
	if r.head.digits > 0 {
		step = int64(powersOfTen[9-r.head.digits])
	} else if r.stats.Resolution == 0 {
		r.stats.warn(offset, "time stamps without a decimal point: taken as nanoseconds; record with trace_clock mono to be sure")
	}
	if r.stats.Resolution == 0 || step < r.stats.Resolution {
		r.stats.Resolution = step
	}
}

// functionTracer names the events of the function tracer, which prints none.
const functionTracer = "function"

// splitName cuts "sched:sched_switch: fields" and "sched_switch: fields". Without
// a name before a colon it is the function tracer's output. sampled tells that
// perf printed a period before the name, as it does for samples of the processor
// ("250000 cpu-clock:"), which are no events of the kernel.
func splitName(body []byte) (name, fields []byte, sampled bool) {
	end := skipWord(body, 0)
	if allDigits(body[:end]) {
		if next := skipSpaces(body, end); next < len(body) && endsInColon(body[next:]) {
			body, sampled = body[next:], true
			end = skipWord(body, 0)
		}
	}
	if body[end-1] != ':' {
		return []byte(functionTracer), body, false
	}
	name = body[:end-1]
	if system := bytes.IndexByte(name, ':'); system >= 0 {
		name = name[system+1:]
		sampled = sampled && isModifier(name)
	}
	return name, body[skipSpaces(body, end):], sampled
}

// isModifier recognises what perf puts behind the name of an event of the
// processor, as in "cycles:HG"; a tracepoint has its own name there.
func isModifier(text []byte) bool {
	return len(text) <= 4 && len(bytes.Trim(text, "ukhGHpPSDIeW")) == 0
}

// endsInColon reports whether the first word of text ends in a colon.
func endsInColon(text []byte) bool {
	end := skipWord(text, 0)
	return text[end-1] == ':'
}

// parseOther keeps an event by name.
func (r *textReader) parseOther(name, fields []byte, e *Event) lineClass {
	if holdsHead(fields) {
		return lineIsBad
	}
	e.Name = r.names.intern(name)
	e.Detail = fields
	return lineIsEvent
}

var perfRecord = []byte("PERF_RECORD_")

// parsePerfRecord reads what perf script prints of its own records: lost events
// matter, the others are no events.
func (r *textReader) parsePerfRecord(record []byte, e *Event) lineClass {
	if !bytes.HasPrefix(record, []byte("LOST")) {
		return lineIsOther
	}
	count, _ := bytes.CutPrefix(record, []byte("LOST lost "))
	r.markLost(e, e.CPU, count)
	return lineIsEvent
}

// holdsHead reports whether the fields of an unknown event contain the front of
// another line: a line feed is missing between the two.
func holdsHead(fields []byte) bool {
	var inner lineHead
	for from := 0; ; {
		open := bytes.Index(fields[from:], []byte(" ["))
		if open < 0 {
			return false
		}
		from += open + 1
		if parseHeadAt(fields, from, &inner) {
			return true
		}
	}
}

// parseComment reads the header's account of the buffer:
// "# entries-in-buffer/entries-written: 205/350   #P:8".
func (r *textReader) parseComment(text []byte) lineClass {
	account, found := bytes.CutPrefix(text, []byte("# entries-in-buffer/entries-written: "))
	if !found {
		return lineIsOther
	}
	kept, i := scanNumber(account, 0)
	if i >= len(account) || account[i] != '/' {
		return lineIsBad
	}
	written, _ := scanNumber(account, i+1)
	r.promised += int64(kept)
	r.promises = true
	if written > kept {
		r.stats.LostMarks++
		r.stats.Lost += int64(written - kept)
	}
	return lineIsOther
}

// parseLost reads "CPU:3 [LOST 12 EVENTS]" (the kernel) and
// "CPU:3 [12 EVENTS DROPPED]" (trace-cmd), with or without a number.
func (r *textReader) parseLost(text []byte, e *Event) bool {
	text = trimSpaces(text)
	text, found := bytes.CutPrefix(text, []byte("CPU:"))
	if !found {
		return false
	}
	cpu, i := scanNumber(text, 0)
	if i == 0 || cpu >= maxCPU {
		return false
	}
	note := trimSpaces(text[i:])
	inner, closed := bytes.CutSuffix(note, []byte(" EVENTS]"))
	if closed && bytes.HasPrefix(inner, []byte("[LOST")) {
		r.markLost(e, int32(cpu), trimSpaces(inner[len("[LOST"):]))
		return true
	}
	inner, closed = bytes.CutSuffix(note, []byte("EVENTS DROPPED]"))
	if closed && bytes.HasPrefix(inner, []byte("[")) {
		r.markLost(e, int32(cpu), trimSpaces(inner[1:]))
		return true
	}
	return false
}

// markLost makes e a mark at the time of the newest event.
func (r *textReader) markLost(e *Event, cpu int32, count []byte) {
	e.Kind, e.CPU = KindLost, cpu
	e.Time = max(e.Time, r.inspect.newest)
	if n, ok := parseDecimal(count); ok && n < 1<<62 {
		e.set(0, int64(n))
	}
}

// framePrefixes begin lines that belong to a text trace but are no events.
var framePrefixes = [][]byte{
	[]byte("version = "), []byte("cpus="), []byte("trace-cmd: "), []byte("##### CPU"), []byte("buffer: "),
	[]byte(" => "), []byte("=> "), []byte("<stack trace>"), []byte("<user stack trace>"),
}

// isFrame recognises the lines around events: what trace-cmd prints at the top,
// "CPU 3 is empty", and the lines of a stack.
func isFrame(text []byte) bool {
	trimmed := bytes.TrimLeft(text, " \t")
	if len(trimmed) == 0 {
		return true
	}
	for _, prefix := range framePrefixes {
		if bytes.HasPrefix(trimmed, prefix) {
			return true
		}
	}
	if bytes.HasPrefix(trimmed, []byte("CPU ")) && bytes.HasSuffix(trimmed, []byte("is empty")) {
		return true
	}
	return text[0] == '\t' && isStackLine(trimmed)
}

// isStackLine recognises "ffffffff8110a5b0 schedule+0x40 ([kernel.kallsyms])".
func isStackLine(text []byte) bool {
	address := text[:skipWord(text, 0)]
	_, ok := parseHex(address)
	return ok && len(address) < len(text)
}

var _ Reader = (*textReader)(nil)

// isEOF is for readers over several layers.
func isEOF(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
