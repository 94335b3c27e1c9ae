package trace

import (
	"bufio"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// PerfettoOptions says how a Perfetto trace is written.
type PerfettoOptions struct {
	// Kernel is the release that the trace names, such as "6.1.0"; readers take
	// from it how states are numbered, so it must be 4.14 or later. The default
	// is "5.10".
	Kernel string
}

const defaultPerfettoKernel = "5.10"

// PerfettoWriter writes native ftrace events, one bundle per CPU and batch, and
// tracks of numbers beside them.
type PerfettoWriter struct {
	out     *bufio.Writer
	names   *Names
	options PerfettoOptions
	bundles map[int32]*perfettoBundle
	order   []int32 // CPUs as they appeared
	batched int

	lastTime int64
	lastCPU  int32
	begun    bool
	threads  map[int32]writtenThread
	tids     []int32         // in the order of appearance
	parents  map[int32]int32 // who forked a thread
	tracks   Track           // how many are defined

	packet, message, content, field []byte
}

// perfettoBundle is what is collected of one CPU.
type perfettoBundle struct {
	events []byte
	last   int64 // time of the newest event collected
	ended  int64 // time of the last event of the bundle written before; 0: none
	lost   bool
}

// writtenThread is what the process tree tells of a thread.
type writtenThread struct {
	tgid int32
	name Name
}

// perfettoBatch is how many events are collected before their bundles are
// written.
const perfettoBatch = 8192

// NewPerfettoWriter writes a Perfetto trace, so that its UI and SQL show the
// states of threads. The events' Names belong to names. What ftrace has no
// message for, such as probes, becomes a generic event with named fields.
func NewPerfettoWriter(out io.Writer, names *Names, options PerfettoOptions) *PerfettoWriter {
	if options.Kernel == "" {
		options.Kernel = defaultPerfettoKernel
	}
	return &PerfettoWriter{
		out: bufio.NewWriterSize(out, 256<<10), names: names, options: options,
		bundles: make(map[int32]*perfettoBundle), threads: make(map[int32]writtenThread), parents: make(map[int32]int32),
	}
}

// Write implements [Writer].
func (w *PerfettoWriter) Write(e *Event) error {
	bundle := w.bundle(e.CPU)
	if e.Kind == KindLost {
		return w.writeLost(e)
	}
	if err := w.keepOrder(e); err != nil {
		return err
	}
	w.content = w.appendContent(w.content[:0], e)
	w.message = protowire.AppendTag(w.message[:0], eventTimestamp, protowire.VarintType)
	w.message = protowire.AppendVarint(w.message, uint64(e.Time))
	if e.PID != UnknownPID {
		w.message = appendProtoInt(w.message, eventPID, int64(e.PID))
	}
	if e.Known {
		w.message = appendProtoInt(w.message, eventFlags, int64(e.Flags))
	}
	w.message = append(w.message, w.content...)
	bundle.events = appendProtoBytes(bundle.events, bundleEvent, w.message)
	bundle.last = e.Time
	w.noteThread(e)
	w.batched++
	if w.batched >= perfettoBatch {
		return w.flush()
	}
	return nil
}

// keepOrder starts new bundles at an event of the same time as the one before on
// another CPU: only the order of bundles can tell which came first.
func (w *PerfettoWriter) keepOrder(e *Event) error {
	tied := w.batched > 0 && e.Time == w.lastTime && e.CPU != w.lastCPU
	w.lastTime, w.lastCPU = e.Time, e.CPU
	if tied {
		return w.flush()
	}
	return nil
}

// writeLost marks the bundles behind what was lost.
func (w *PerfettoWriter) writeLost(e *Event) error {
	if err := w.flush(); err != nil {
		return err
	}
	if e.CPU != UnknownCPU {
		w.bundle(e.CPU).lost = true
		return nil
	}
	for _, cpu := range w.order {
		w.bundles[cpu].lost = true
	}
	return nil
}

func (w *PerfettoWriter) bundle(cpu int32) *perfettoBundle {
	bundle := w.bundles[cpu]
	if bundle == nil {
		bundle = &perfettoBundle{}
		w.bundles[cpu] = bundle
		w.order = append(w.order, cpu)
	}
	return bundle
}

// noteThread remembers whose thread it is, for the process tree.
func (w *PerfettoWriter) noteThread(e *Event) {
	if e.Kind == KindFork {
		fork := e.Fork()
		w.parents[fork.Child.PID] = fork.Parent.PID
	}
	if e.TGID == UnknownPID || e.PID <= 0 {
		return
	}
	if _, known := w.threads[e.PID]; !known {
		w.tids = append(w.tids, e.PID)
	}
	w.threads[e.PID] = writtenThread{e.TGID, e.Comm}
}

// flush writes the bundles collected so far.
func (w *PerfettoWriter) flush() error {
	if err := w.begin(); err != nil {
		return err
	}
	for _, cpu := range w.order {
		if bundle := w.bundles[cpu]; len(bundle.events) > 0 {
			if err := w.writeBundle(cpu, bundle); err != nil {
				return err
			}
		}
	}
	w.batched = 0
	return nil
}

func (w *PerfettoWriter) writeBundle(cpu int32, bundle *perfettoBundle) error {
	w.content = w.content[:0]
	if cpu != UnknownCPU {
		w.content = appendProtoInt(w.content, bundleCPU, int64(cpu))
	}
	w.content = append(w.content, bundle.events...)
	if bundle.lost {
		w.content = appendProtoInt(w.content, bundleLost, 1)
	}
	if bundle.ended != 0 {
		w.content = appendProtoInt(w.content, bundlePreviousEnd, bundle.ended)
	}
	bundle.events, bundle.ended, bundle.lost = bundle.events[:0], bundle.last, false
	return w.writePacket(packetFtrace, w.content)
}

// writePacket writes a packet of kernel events, or about them, with one message.
func (w *PerfettoWriter) writePacket(field protowire.Number, content []byte) error {
	w.packet = appendProtoBytes(w.packet[:0], field, content)
	return w.endPacket(sequenceFtrace)
}

// endPacket writes the packet that has been put together, as one of a sequence.
func (w *PerfettoWriter) endPacket(sequence int64) error {
	w.packet = appendProtoInt(w.packet, packetSequence, sequence)
	head := protowire.AppendTag(w.field[:0], traceFieldPacket, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(w.packet)))
	w.field = head
	if _, err := w.out.Write(head); err != nil {
		return err
	}
	_, err := w.out.Write(w.packet)
	return err
}

// begin names the kernel, by whose release readers decode states.
func (w *PerfettoWriter) begin() error {
	if w.begun {
		return nil
	}
	w.begun = true
	const utsname, sysname, release = 1, 1, 3
	name := appendProtoBytes(nil, sysname, []byte("Linux"))
	name = appendProtoBytes(name, release, []byte(w.options.Kernel))
	return w.writePacket(packetSystemInfo, appendProtoBytes(nil, utsname, name))
}

// Close writes what is left, an empty bundle for every CPU so that a reader can
// tell whether the last one is missing, and the tree of processes.
func (w *PerfettoWriter) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	for _, cpu := range w.order {
		if err := w.writeBundle(cpu, w.bundles[cpu]); err != nil {
			return err
		}
	}
	if len(w.tids) > 0 {
		if err := w.writePacket(packetProcessTree, w.processTree()); err != nil {
			return err
		}
	}
	return w.out.Flush()
}

// processTree tells which threads belong to which process, who forked it and what
// both are called.
func (w *PerfettoWriter) processTree() []byte {
	const threads, threadTID, threadName, threadTGID = 2, 1, 2, 3
	var tree []byte
	seen := make(map[int32]bool)
	for _, tid := range w.tids {
		tgid := w.threads[tid].tgid
		if tgid > 0 && !seen[tgid] {
			seen[tgid] = true
			tree = w.appendProcess(tree, tgid)
		}
	}
	for _, tid := range w.tids {
		thread := w.threads[tid]
		w.field = appendProtoInt(w.field[:0], threadTID, int64(tid))
		w.field = appendProtoBytes(w.field, threadName, []byte(w.names.Text(thread.name)))
		w.field = appendProtoInt(w.field, threadTGID, int64(thread.tgid))
		tree = appendProtoBytes(tree, threads, w.field)
	}
	return tree
}

// appendProcess appends a process under the name of its first thread. The parent
// is the process of the thread that forked it.
func (w *PerfettoWriter) appendProcess(tree []byte, tgid int32) []byte {
	const processes, processPID, processPPID, processCommand, processIsComm = 1, 1, 2, 3, 9
	w.field = appendProtoInt(w.field[:0], processPID, int64(tgid))
	if parent, known := w.parents[tgid]; known && w.threads[parent].tgid > 0 {
		w.field = appendProtoInt(w.field, processPPID, int64(w.threads[parent].tgid))
	}
	if leader, known := w.threads[tgid]; known && leader.name != NoName {
		w.field = appendProtoBytes(w.field, processCommand, []byte(w.names.Text(leader.name)))
		w.field = appendProtoInt(w.field, processIsComm, 1)
	}
	return appendProtoBytes(tree, processes, w.field)
}

// appendContent appends the event's own message, with its tag.
func (w *PerfettoWriter) appendContent(out []byte, e *Event) []byte {
	layout := &protoEvents[e.Kind]
	if layout.number == 0 {
		w.message = w.appendGeneric(w.message[:0], e)
		return appendProtoBytes(out, eventGeneric, w.message)
	}
	s := e.Kind.schema()
	w.message = w.message[:0]
	for slot, number := range layout.fields {
		if number != 0 && e.has&(1<<slot) != 0 {
			w.message = w.appendField(w.message, protowire.Number(number), &s.fields[slot], e.args[slot])
		}
	}
	return appendProtoBytes(out, protowire.Number(layout.number), w.message)
}

func (w *PerfettoWriter) appendField(out []byte, number protowire.Number, f *field, value int64) []byte {
	switch f.typ {
	case fieldTask, fieldPath:
		return appendProtoBytes(out, number, []byte(w.names.Text(Name(value))))
	case fieldState:
		raw, ok := encodePerfettoState(State(value))
		if !ok {
			return out
		}
		return appendProtoInt(out, number, raw)
	}
	return appendProtoInt(out, number, value)
}

// encodePerfettoState numbers a state as kernels since 4.14 do; ok is false for
// one that they cannot say.
func encodePerfettoState(state State) (raw int64, ok bool) {
	if !state.Known() {
		return 0, false
	}
	if state&StateTaskDead != 0 { // called X since 4.14
		state |= StateDead
	}
	raw = modernStates.encode(state)
	return raw, raw&^int64(StatePreempted) != 0 || state.Runnable()
}

// appendGeneric appends a GenericFtraceEvent with the fields by name.
func (w *PerfettoWriter) appendGeneric(out []byte, e *Event) []byte {
	s := e.Kind.schema()
	name := s.event
	if e.Kind == KindOther {
		name = w.names.Text(e.Name)
	}
	out = appendProtoBytes(out, genericName, []byte(name))
	if e.Site != NoName {
		out = w.appendGenericText(out, genericSiteField, []byte(w.names.Text(e.Site)))
	}
	if e.Kind == KindOther {
		return w.appendGenericText(out, genericDetailField, e.Detail)
	}
	for slot := range s.fields {
		if e.has&(1<<slot) == 0 {
			continue
		}
		f := &s.fields[slot]
		if f.typ == fieldTask || f.typ == fieldPath {
			out = w.appendGenericText(out, f.name, []byte(w.names.Text(Name(e.args[slot]))))
			continue
		}
		kind := protowire.Number(genericFieldInt)
		if f.typ == fieldHex {
			kind = genericFieldUint
		}
		w.field = appendProtoBytes(w.field[:0], genericFieldName, []byte(f.name))
		w.field = appendProtoInt(w.field, kind, e.args[slot])
		out = appendProtoBytes(out, genericField, w.field)
	}
	return out
}

func (w *PerfettoWriter) appendGenericText(out []byte, name string, text []byte) []byte {
	w.field = appendProtoBytes(w.field[:0], genericFieldName, []byte(name))
	w.field = appendProtoBytes(w.field, genericFieldText, text)
	return appendProtoBytes(out, genericField, w.field)
}

func appendProtoInt(out []byte, number protowire.Number, value int64) []byte {
	out = protowire.AppendTag(out, number, protowire.VarintType)
	return protowire.AppendVarint(out, uint64(value))
}

func appendProtoBytes(out []byte, number protowire.Number, content []byte) []byte {
	out = protowire.AppendTag(out, number, protowire.BytesType)
	return protowire.AppendBytes(out, content)
}
