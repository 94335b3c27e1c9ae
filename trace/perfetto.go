package trace

import (
	"io"
	"strconv"
)

// perfettoReader merges the CPUs of a Perfetto trace. Events of the same time on
// several CPUs come in the order of their bundles in the file.
type perfettoReader struct {
	base
	src     io.ReaderAt
	index   *perfettoIndex
	comms   comms
	streams []*perfettoStream
	heap    timeHeap
	detail  []byte
	ended   bool
}

// perfettoStream is the bundles of one CPU.
type perfettoStream struct {
	cpu     int32
	bundles []bundleRef
	next    int // bundle
	buffer  []byte
	cursor  bundleCursor
	offset  int64 // of the present bundle
	lost    bool
	last    int64 // time of the event delivered last, for the check of the next bundle
	time    int64

	running Task // what the last switch switched to
	known   bool
}

func newPerfettoReader(src io.ReaderAt, size int64) (*perfettoReader, error) {
	r := &perfettoReader{src: src}
	r.init("Perfetto")
	r.stats.Resolution = 1
	r.comms.setIdle(r.names)
	r.index = newPerfettoIndex(&r.base, &r.comms)
	if err := r.index.read(src, size); err != nil {
		return nil, err
	}
	for i, cpu := range r.index.order {
		s := &perfettoStream{cpu: cpu, bundles: r.index.cpus[cpu]}
		r.streams = append(r.streams, s)
		ok, err := r.advance(s)
		if err != nil {
			return nil, err
		}
		if ok {
			r.heap.push(heapItem{time: s.time, rank: s.offset, stream: int32(i)})
		}
	}
	return r, nil
}

func (r *perfettoReader) Close() error {
	err := r.base.Close()
	if r.index.unpacked != nil {
		if closeErr := r.index.unpacked.Close(); err == nil {
			err = closeErr
		}
	}
	return err
}

// advance makes the stream's time that of its next entry; false at its end.
func (r *perfettoReader) advance(s *perfettoStream) (bool, error) {
	for {
		from, time := s.cursor.next()
		if from != fromNothing {
			s.time = time
			return true, nil
		}
		if s.next == len(s.bundles) {
			r.endStream(s)
			return false, nil
		}
		if err := r.openBundle(s); err != nil {
			return false, err
		}
	}
}

// endStream accounts for events that were lost behind the last one.
func (r *perfettoReader) endStream(s *perfettoStream) {
	if s.lost {
		s.lost = false
		r.stats.LostMarks++
	}
}

func (r *perfettoReader) openBundle(s *perfettoStream) error {
	ref := s.bundles[s.next]
	s.next++
	s.offset = ref.offset
	src := r.src
	if ref.unpacked {
		src = r.index.unpacked
	}
	if cap(s.buffer) < int(ref.size) {
		s.buffer = make([]byte, ref.size)
	}
	s.buffer = s.buffer[:ref.size]
	if err := readFullAt(src, s.buffer, ref.offset); err != nil {
		return inputError(ref.offset, err)
	}
	// A bundle tells where the one before it ended, so a missing one shows.
	missing := ref.previous != 0 && s.last != 0 && ref.previous != s.last
	if missing {
		r.stats.warn(ref.offset, "a bundle of CPU %d is missing before this one", s.cpu)
	}
	s.lost = s.lost || ref.lost || missing
	if fault := s.cursor.open(s.buffer); fault != "" {
		r.stats.skip(ref.offset, "CPU %d: %s", s.cpu, fault)
	}
	return nil
}

func (r *perfettoReader) Next(e *Event) error {
	for len(r.heap) > 0 {
		s := r.streams[r.heap.top().stream]
		e.reset()
		e.CPU, e.Time, e.Offset = s.cpu, s.time, s.offset
		if s.lost {
			s.lost, s.known = false, false
			e.Kind = KindLost
			r.inspect.see(e)
			return nil
		}
		delivered := r.deliver(s, e)
		s.last = s.time
		ok, err := r.advance(s)
		if err != nil {
			return err
		}
		if ok {
			r.heap.advance(s.time, s.offset)
		} else {
			r.heap.pop()
		}
		if delivered {
			r.comms.follow(e)
			r.inspect.see(e)
			return nil
		}
	}
	if !r.ended {
		r.ended = true
		r.finish()
	}
	return io.EOF
}

// deliver makes e of the stream's next entry and steps over it.
func (r *perfettoReader) deliver(s *perfettoStream, e *Event) bool {
	from, _ := s.cursor.next()
	switch from {
	case fromSwitch:
		r.deliverSwitch(s, e)
		s.cursor.compact.switches.advance()
	case fromWaking:
		r.deliverWaking(s, e)
		s.cursor.compact.waking.advance()
	default:
		ok := r.deliverMessage(s, e)
		s.cursor.nextMessage()
		return ok
	}
	return true
}

// deliverSwitch completes a compact switch, which does not name the thread that
// leaves: it is the one that came before.
func (r *perfettoReader) deliverSwitch(s *perfettoStream, e *Event) {
	c := &s.cursor.compact
	row := &c.switches
	e.Kind, e.Name = KindSwitch, r.names.Intern(KindSwitch.String())
	sw := Switch{Prev: Task{PID: UnknownPID, Prio: -1}, PrevState: r.index.states.decode(int64(row.values[0]))}
	if s.known {
		sw.Prev = s.running
		e.PID = s.running.PID
	}
	sw.Next = Task{PID: int32(row.values[1]), Prio: int32(row.values[2]), Comm: c.comm(row.values[3], r.names)}
	e.SetSwitch(sw)
	s.running, s.known = sw.Next, true
}

func (r *perfettoReader) deliverWaking(s *perfettoStream, e *Event) {
	c := &s.cursor.compact
	row := &c.waking
	e.Kind, e.Name = KindWaking, r.names.Intern(KindWaking.String())
	if s.known {
		e.PID = s.running.PID
	}
	if len(c.columns[compactWakingFlags]) > 0 {
		e.Context = Context{Known: true, Flags: ContextFlag(row.values[4])}
	}
	e.SetWake(Wake{
		Task:      Task{PID: int32(row.values[0]), Prio: int32(row.values[2]), Comm: c.comm(row.values[3], r.names)},
		TargetCPU: int32(row.values[1]),
	})
}

func (r *perfettoReader) deliverMessage(s *perfettoStream, e *Event) bool {
	m := &s.cursor.message
	e.PID = m.pid
	if m.known {
		e.Context = Context{Known: true, Flags: m.flags}
	}
	content := m.content
	if !content.isBytes() {
		r.stats.skip(s.offset, "an event without content")
		return false
	}
	kind, known := kindsByProto[content.id]
	switch {
	case known:
		e.Kind, e.Name = kind, r.names.Intern(kind.String())
		r.fillKnown(content.bytes, e)
	case content.id == eventGeneric:
		r.fillGeneric(content.bytes, e)
	case r.index.generic[content.id] != nil:
		r.fillDescribed(r.index.generic[content.id], content.bytes, e)
	default:
		r.fillOther(content, e)
	}
	if e.Marks&MarkMalformed != 0 {
		r.stats.warn(s.offset, "%s: a field that cannot be read", r.names.Text(e.Name))
	}
	if e.Kind == KindSwitch {
		s.running, s.known = e.Switch().Next, true
	}
	return true
}

// fillKnown reads the message of a kind.
func (r *perfettoReader) fillKnown(message []byte, e *Event) {
	layout := &protoEvents[e.Kind]
	s := e.Kind.schema()
	fields := protoFields{rest: message}
	for {
		f, ok := fields.next()
		if !ok {
			break
		}
		if slot := layout.slot(f.id); slot >= 0 {
			r.fillSlot(&s.fields[slot], slot, f, e)
		}
	}
	if fields.fault {
		e.Marks |= MarkMalformed
	}
}

// fillSlot stores a field, if it has the type that the schema has.
func (r *perfettoReader) fillSlot(want *field, slot int, f protoField, e *Event) {
	isText := want.typ == fieldTask || want.typ == fieldPath
	switch {
	case isText != f.isBytes():
		e.Marks |= MarkMalformed
	case isText:
		e.set(slot, int64(r.names.intern(f.bytes)))
	case want.typ == fieldState:
		e.set(slot, int64(r.index.states.decode(int64(f.number))))
	default:
		e.set(slot, int64(f.number))
	}
}

// genericValue is one named value of a generic event.
type genericValue struct {
	name  []byte
	value protoField
}

func parseGenericField(message []byte) (v genericValue) {
	fields := protoFields{rest: message}
	for {
		f, ok := fields.next()
		if !ok {
			return v
		}
		switch f.id {
		case genericFieldName:
			v.name = f.bytes
		case genericFieldText, genericFieldInt, genericFieldUint:
			v.value = f
		}
	}
}

// fillGeneric reads an event whose fields are named in the message itself.
func (r *perfettoReader) fillGeneric(message []byte, e *Event) {
	fields := protoFields{rest: message}
	r.detail = r.detail[:0]
	for {
		f, ok := fields.next()
		if !ok {
			break
		}
		switch {
		case f.id == genericName && f.isBytes():
			e.Kind, e.Name = kindsByEvent[string(f.bytes)], r.names.intern(f.bytes)
		case f.id == genericField && f.isBytes():
			v := parseGenericField(f.bytes)
			r.fillNamed(v.name, v.value, e)
		}
	}
	if fields.fault {
		e.Marks |= MarkMalformed
	}
	e.Detail = r.detail
}

// fillDescribed reads an event whose fields the trace describes.
func (r *perfettoReader) fillDescribed(g *genericMessage, message []byte, e *Event) {
	e.Kind, e.Name = kindsByEvent[g.name], r.names.Intern(g.name)
	fields := protoFields{rest: message}
	r.detail = r.detail[:0]
	for {
		f, ok := fields.next()
		if !ok {
			break
		}
		if name := g.fields[f.id]; name != "" {
			r.fillNamed([]byte(name), f, e)
		}
	}
	if fields.fault {
		e.Marks |= MarkMalformed
	}
	e.Detail = r.detail
}

// fillNamed stores a named value: in its slot, or in the printed form of an event
// that has no schema.
func (r *perfettoReader) fillNamed(name []byte, value protoField, e *Event) {
	s := e.Kind.schema()
	slot := s.slot(string(name))
	switch {
	case e.Kind != KindOther && slot >= 0:
		want := &s.fields[slot]
		if want.typ == fieldState && value.isBytes() {
			state, _ := parseState(value.bytes)
			e.set(slot, int64(state))
			return
		}
		r.fillSlot(want, slot, value, e)
	case string(name) == genericSiteField && value.isBytes():
		e.Site = r.names.intern(value.bytes)
	case e.Kind != KindOther:
	case string(name) == genericDetailField && value.isBytes():
		r.detail = append(r.detail, value.bytes...)
	default:
		r.detail = appendNamed(r.detail, name, value)
	}
}

func appendNamed(out, name []byte, value protoField) []byte {
	if len(out) > 0 {
		out = append(out, ' ')
	}
	out = append(out, name...)
	out = append(out, '=')
	if value.isBytes() {
		return appendPrintable(out, value.bytes)
	}
	return strconv.AppendInt(out, int64(value.number), 10)
}

// fillOther keeps an event by name with its numbered fields.
func (r *perfettoReader) fillOther(content protoField, e *Event) {
	r.detail = r.detail[:0]
	fields := protoFields{rest: content.bytes}
	name := otherProtoEvents[content.id]
	switch {
	case content.id == eventPrint:
		name = "print"
	case content.id == eventKprobe:
		name = "kprobe"
	case name == "":
		name = "ftrace_event_" + strconv.Itoa(int(content.id))
	}
	for {
		f, ok := fields.next()
		if !ok {
			break
		}
		switch {
		case content.id == eventPrint && f.id == printText:
			r.detail = appendPrintable(r.detail, f.bytes)
		case content.id == eventKprobe && f.id == kprobeName:
			name = string(f.bytes)
		default:
			var number [12]byte
			r.detail = appendNamed(r.detail, strconv.AppendInt(number[:0], int64(f.id), 10), f)
		}
	}
	if fields.fault {
		e.Marks |= MarkMalformed
	}
	e.Name, e.Detail = r.names.Intern(name), r.detail
}
