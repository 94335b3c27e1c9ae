package trace

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// decoder turns the records of one event of a binary recording into Events. It
// is made once from the file's own description, so that reading a record is
// nothing but loads at known offsets.
type decoder struct {
	kind     Kind
	name     Name
	steps    []decodeStep
	states   stateCode
	pid      decodeStep // common_pid
	flags    int        // offset of common_flags, -1: none
	preempt  int        // offset of common_preempt_count, -1: none
	size     int        // bytes that a record has at least
	variable bool
	complete bool // the description has all fields of the schema
	format   *eventFormat
}

// decodeStep moves one field into its slot.
type decodeStep struct {
	slot    int
	offset  int
	size    int
	op      decodeOp
	dynamic dynamicKind
}

type decodeOp uint8

const (
	opNone decodeOp = iota
	opUnsigned
	opSigned
	opText
	opState
	opDynamicText
)

// newDecoder compiles a description.
func newDecoder(f *eventFormat, names *Names) *decoder {
	d := &decoder{format: f, name: names.Intern(f.name), flags: -1, preempt: -1}
	d.size, d.variable = f.fixedSize()
	d.compileCommon()
	d.kind = kindsByEvent[f.name]
	if d.kind != KindOther {
		d.compileFields()
	}
	return d
}

func (d *decoder) compileCommon() {
	if f := d.format.field("common_pid"); f != nil && f.size == 4 {
		d.pid = decodeStep{offset: f.offset, size: f.size, op: opSigned}
	}
	if f := d.format.field("common_flags"); f != nil && f.size == 1 {
		d.flags = f.offset
	}
	if f := d.format.field("common_preempt_count"); f != nil && f.size == 1 {
		d.preempt = f.offset
	}
}

func (d *decoder) compileFields() {
	d.complete = true
	s := d.kind.schema()
	d.states = modernStates
	if code, ok := parseStateCode(d.format.print); ok {
		d.states = code
	}
	for slot := range s.fields {
		want := &s.fields[slot]
		have := d.format.field(want.name)
		if have == nil && want.alias != "" {
			have = d.format.field(want.alias)
		}
		step, ok := compileStep(slot, want, have)
		if ok {
			d.steps = append(d.steps, step)
		} else if !want.optional {
			d.complete = false
		}
	}
}

// compileStep fits a field of the description to one of the schema; ok is false
// when it is missing or of a type that cannot be it.
func compileStep(slot int, want *field, have *formatField) (step decodeStep, ok bool) {
	if have == nil {
		return decodeStep{}, false
	}
	step = decodeStep{slot: slot, offset: have.offset, size: have.size, dynamic: have.dynamic}
	switch {
	case want.typ == fieldTask || want.typ == fieldPath:
		step.op = opText
		if have.dynamic != notDynamic {
			step.op = opDynamicText
		}
		return step, have.text && (have.dynamic == notDynamic || have.size == 4)
	case have.text || have.dynamic != notDynamic:
		return step, false
	case want.typ == fieldState:
		step.op = opState
	case have.signed:
		step.op = opSigned
	default:
		step.op = opUnsigned
	}
	return step, have.size == 1 || have.size == 2 || have.size == 4 || have.size == 8
}

// decode fills e from a record, whose first two bytes are common_type. It
// reports false when the record is too short for its description.
func (d *decoder) decode(record []byte, order byteOrder, names *Names, e *Event) bool {
	if len(record) < d.size {
		return false
	}
	e.Kind, e.Name = d.kind, d.name
	if d.pid.op != opNone {
		e.PID = int32(order.signed(record[d.pid.offset:], d.pid.size))
	}
	if d.flags >= 0 && d.preempt >= 0 {
		e.Context = Context{Known: true, Flags: ContextFlag(record[d.flags]), Preempt: record[d.preempt]}
	}
	whole := d.complete
	for i := range d.steps {
		if !d.steps[i].run(record, order, &d.states, names, e) {
			whole = false
		}
	}
	if !whole && d.kind != KindOther {
		e.Marks |= MarkMalformed
	}
	return true
}

func (s *decodeStep) run(record []byte, order byteOrder, states *stateCode, names *Names, e *Event) bool {
	at := record[s.offset : s.offset+s.size]
	switch s.op {
	case opUnsigned:
		e.set(s.slot, int64(order.unsigned(at, s.size)))
	case opSigned:
		e.set(s.slot, order.signed(at, s.size))
	case opState:
		e.set(s.slot, int64(states.decode(order.signed(at, s.size))))
	case opText:
		e.set(s.slot, int64(names.intern(untilZero(at))))
	case opDynamicText:
		text, ok := dynamicBytes(record, s.offset, s.dynamic, order)
		if !ok {
			return false
		}
		e.set(s.slot, int64(names.intern(untilZero(text))))
	}
	return true
}

// dynamicBytes finds the bytes of a field of variable length.
func dynamicBytes(record []byte, offset int, kind dynamicKind, order byteOrder) ([]byte, bool) {
	location := order.unsigned(record[offset:], 4)
	start, length := int(location&0xffff), int(location>>16)
	if kind == dynamicRelative {
		start += offset + 4
	}
	if start+length > len(record) {
		return nil, false
	}
	return record[start : start+length], true
}

func untilZero(text []byte) []byte {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return text[:i]
	}
	return text
}

// detail prints the fields of an event of KindOther as "name=value".
func (d *decoder) detail(out, record []byte, order byteOrder) []byte {
	for i := range d.format.fields {
		f := &d.format.fields[i]
		if f.offset+f.size > len(record) || bytes.HasPrefix([]byte(f.name), commonPrefix) {
			continue
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, f.name...)
		out = append(out, '=')
		out = f.appendValue(out, record, order)
	}
	return out
}

var commonPrefix = []byte("common_")

func (f *formatField) appendValue(out, record []byte, order byteOrder) []byte {
	value := record[f.offset : f.offset+f.size]
	if f.dynamic != notDynamic && f.size == 4 {
		value, _ = dynamicBytes(record, f.offset, f.dynamic, order)
	} else if f.size == 0 { // a flexible array: the rest of the record
		value = record[f.offset:]
	}
	switch {
	case f.text:
		return appendPrintable(out, untilZero(value))
	case len(value) == 1 || len(value) == 2 || len(value) == 4 || len(value) == 8:
		if f.signed {
			return strconv.AppendInt(out, order.signed(value, len(value)), 10)
		}
		return strconv.AppendUint(out, order.unsigned(value, len(value)), 10)
	}
	for _, b := range value {
		out = append(out, "0123456789abcdef"[b>>4], "0123456789abcdef"[b&15])
	}
	return out
}

// appendPrintable keeps a text on its line.
func appendPrintable(out, text []byte) []byte {
	for _, c := range bytes.TrimRight(text, "\n") {
		if c < ' ' {
			c = ' '
		}
		out = append(out, c)
	}
	return out
}

// byteOrder loads numbers of a file; the zero value is little-endian.
type byteOrder struct{ big bool }

func (o byteOrder) unsigned(b []byte, size int) uint64 {
	if o.big {
		return o.unsignedBig(b, size)
	}
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (o byteOrder) unsignedBig(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(b))
	case 4:
		return uint64(binary.BigEndian.Uint32(b))
	case 8:
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (o byteOrder) signed(b []byte, size int) int64 {
	value := o.unsigned(b, size)
	unused := 64 - 8*size
	return int64(value<<unused) >> unused
}
