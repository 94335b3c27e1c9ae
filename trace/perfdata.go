package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// This file reads perf.data: the head, the tracepoints' descriptions and the
// records that matter. (perf.data-file-format in the kernel's tools/perf.)
//
//	file: magic | size of the head | attributes | data | features, among them the
//	      tracepoints' descriptions
//	pipe: magic | 16 | records, which also carry attributes and descriptions

var (
	perfMagic    = []byte("PERFILE2")
	perfMagicBig = []byte("2ELIFREP")
)

const (
	pipeHeadSize       = 16
	fileHeadSize       = 104
	featureTracingData = 1
	featureBits        = 256
)

// perfReader reads a perf.data.
type perfReader struct {
	base
	description
	src     io.ReaderAt
	size    int64
	records *perfRecords
	queue   perfQueue
	comms   comms

	layout      *sampleLayout            // of the first attribute
	byID        map[uint64]*sampleLayout // where attributes differ
	bySmallID   []*sampleLayout          // the same for the numbers below its length
	pipe        bool
	rounds      int64 // complete rounds
	open        int64 // samples since the last complete round
	drained     bool  // all records are in the queue
	lostSamples int64 // by the account at the end
	ended       bool
	detail      []byte
	idTable     []attrIDs
}

// attrIDs are the numbers under which samples name an attribute.
type attrIDs struct {
	layout *sampleLayout
	ids    []uint64
}

// queueRoom is how many bytes of records may wait for the end of a round, beyond
// the size of the file itself.
const queueRoom = 32 << 20

func newPerfReader(src io.ReaderAt, size int64) (*perfReader, error) {
	r := &perfReader{src: src, size: size, byID: make(map[uint64]*sampleLayout)}
	r.init("perf.data")
	r.stats.Resolution = 1
	r.description = newDescription(&r.stats)
	r.comms.setIdle(r.names)
	r.queue = newPerfQueue(int(min(size, 1<<31)) + queueRoom)
	c := &byteCursor{src: src, end: size}
	magic := c.block(8, "magic")
	r.order.big = bytes.Equal(magic, perfMagicBig)
	c.order = r.order
	headSize := c.number(8, "size of the head")
	if c.err != nil {
		return nil, c.err
	}
	if headSize == pipeHeadSize {
		r.pipe = true
		r.stats.Format = "perf.data (pipe)"
		r.records = newPerfRecords(src, pipeHeadSize, size, r.order, &r.stats)
		return r, nil
	}
	if headSize < fileHeadSize {
		return nil, &damage{8, fmt.Sprintf("a head of %d bytes", headSize)}
	}
	return r, r.readFileHead(c)
}

// fileSection is a part of the file.
type fileSection struct{ offset, size uint64 }

func readSection(c *byteCursor, what string) fileSection {
	return fileSection{c.number(8, what), c.number(8, what)}
}

func (r *perfReader) readFileHead(c *byteCursor) error {
	attrSize := c.number(8, "size of an attribute")
	attrs := readSection(c, "attributes")
	data := readSection(c, "data")
	readSection(c, "event types")
	features := c.block(featureBits/8, "features")
	if c.err != nil {
		return c.err
	}
	if err := r.readAttrs(c, attrs, attrSize); err != nil {
		return err
	}
	if data.offset > uint64(r.size) {
		return &damage{40, fmt.Sprintf("the data begins at byte %d, the file has %d", data.offset, r.size)}
	}
	if data.size == 0 || data.size > uint64(r.size)-data.offset {
		r.stats.truncate(40, "the data (%d bytes at byte %d) does not fit the file (%d bytes): perf record was not ended properly, or the file is cut", data.size, data.offset, r.size)
		data.size = uint64(r.size) - data.offset
	}
	end := int64(data.offset + data.size)
	r.records = newPerfRecords(r.src, int64(data.offset), end, r.order, &r.stats)
	return r.readFeatures(c, features, uint64(end))
}

func (r *perfReader) readAttrs(c *byteCursor, attrs fileSection, attrSize uint64) error {
	const idSection = 16
	if attrSize < attrMinimum+idSection || attrSize > 4096 || attrs.size < attrSize {
		return &damage{16, fmt.Sprintf("attributes of %d bytes, %d bytes in all", attrSize, attrs.size)}
	}
	c.seek(attrs.offset, "attributes")
	for n := attrs.size / attrSize; n > 0 && c.err == nil; n-- {
		attr := c.block(attrSize-idSection, "attribute")
		ids := readSection(c, "numbers of an attribute")
		if c.err != nil {
			break
		}
		next := c.pos
		c.seek(ids.offset, "numbers of an attribute")
		numbers := c.block(ids.size, "numbers of an attribute")
		c.pos = next
		if err := r.addAttr(attr, numbers); err != nil {
			return err
		}
	}
	return c.err
}

// addAttr keeps an attribute under its numbers.
func (r *perfReader) addAttr(attr, numbers []byte) error {
	layout, err := parseAttr(attr, r.order)
	if err != nil {
		return err
	}
	entry := attrIDs{layout: layout}
	for ; len(numbers) >= 8; numbers = numbers[8:] {
		entry.ids = append(entry.ids, r.order.unsigned(numbers, 8))
	}
	r.idTable = append(r.idTable, entry)
	first := r.idTable[0].layout
	r.layout = first
	for _, other := range r.idTable[1:] {
		if *other.layout != *first {
			return r.mapIDs()
		}
	}
	return nil
}

// mapIDs prepares for samples of different layouts, which must name theirs at a
// place that all share.
func (r *perfReader) mapIDs() error {
	for _, entry := range r.idTable {
		if entry.layout.identifier < 0 {
			return errors.New("perf.data whose events differ in their samples and do not name themselves; record with --sample-identifier, or the events apart")
		}
		for _, id := range entry.ids {
			r.nameLayout(id, entry.layout)
		}
	}
	return nil
}

// smallID bounds the numbers that are looked up without a map; the kernel counts
// events from 1.
const smallID = 1 << 12

func (r *perfReader) nameLayout(id uint64, layout *sampleLayout) {
	r.byID[id] = layout
	if id >= smallID {
		return
	}
	if r.bySmallID == nil {
		r.bySmallID = make([]*sampleLayout, smallID)
	}
	r.bySmallID[id] = layout
}

// readFeatures finds the tracepoints' descriptions behind the data.
func (r *perfReader) readFeatures(c *byteCursor, features []byte, at uint64) error {
	c.seek(at, "features")
	for bit := range featureBits {
		word := r.order.unsigned(features[bit/64*8:], 8)
		if word>>(bit%64)&1 == 0 {
			continue
		}
		section := readSection(c, "features")
		if c.err != nil {
			break
		}
		if bit == featureTracingData {
			return r.readDescriptions(int64(section.offset), int64(section.offset+section.size))
		}
	}
	r.stats.warn(int64(at), "the file has no descriptions of tracepoints; record tracepoints, as perf sched record does, and let perf end properly")
	return nil
}

// readDescriptions reads the same introduction that a trace.dat has.
func (r *perfReader) readDescriptions(start, end int64) error {
	c := &byteCursor{src: r.src, order: r.order, pos: start, end: min(end, r.size)}
	if !c.expect(string(datMagic), "descriptions of tracepoints") {
		return r.doubt(c.err)
	}
	dataOrder := r.order
	r.readIntroduction(c)
	r.readHeaderInfo(c)
	r.readFtraceFormats(c)
	r.readSystems(c)
	if c.err == nil && r.order != dataOrder {
		c.fail("descriptions in another byte order than the file")
	}
	r.order = dataOrder
	return r.doubt(c.err)
}

// doubt keeps damage of the descriptions as a warning: those that were read
// before it still serve.
func (r *perfReader) doubt(err error) error {
	var d *damage
	if errors.As(err, &d) {
		r.stats.truncate(d.offset, "%s", d.text)
		return nil
	}
	return err
}

func (r *perfReader) Next(e *Event) error {
	for {
		record, content, ok := r.queue.take()
		if ok {
			if r.deliver(record, content, e) {
				r.inspect.see(e)
				return nil
			}
			continue
		}
		if r.drained {
			return r.end()
		}
		if err := r.refill(); err != nil {
			return err
		}
	}
}

func (r *perfReader) end() error {
	if !r.ended {
		r.ended = true
		r.finish()
		r.settleLost()
		if r.pipe {
			r.checkPipeEnd()
		}
	}
	return io.EOF
}

// settleLost compares with what the kernel counted for each event, which perf
// (since 6.1) writes at the end: the same losses again, and those for which there
// was no room for a mark.
func (r *perfReader) settleLost() {
	if r.lostSamples > r.stats.Lost {
		r.stats.Lost = r.lostSamples
		r.stats.LostMarks++
	}
}

// checkPipeEnd looks for what the end of a pipe cannot be, since its head does not
// tell how long it is.
func (r *perfReader) checkPipeEnd() {
	if r.open > 0 || r.rounds == 0 {
		r.stats.truncate(r.size, "the pipe ends within a round: %d samples follow the last complete one", r.open)
	}
	if len(r.formats.texts) == 0 {
		r.stats.truncate(r.size, "the pipe has no descriptions of tracepoints")
	}
}

// refill reads records until some may leave the queue.
func (r *perfReader) refill() error {
	for {
		entry, err := r.records.next()
		if errors.Is(err, io.EOF) {
			r.drained = true
			r.queue.endAll()
			return nil
		}
		if err != nil {
			return err
		}
		if entry.kind == perfFinishedRound {
			r.open = 0
			r.rounds++
			r.queue.endRound()
			return nil
		}
		if err := r.accept(entry); err != nil {
			return err
		}
		if r.queue.full() {
			r.queue.overflow()
			return nil
		}
	}
}

// accept queues what has a place in time and applies the rest at once.
func (r *perfReader) accept(entry perfEntry) error {
	switch entry.kind {
	case perfSample:
		return r.acceptSample(entry)
	case perfLost, perfComm:
		if r.fits(entry) {
			r.queue.put(r.trailerTime(entry.bytes), entry)
		}
	case perfLostSamples:
		if r.fits(entry) {
			r.stats.Ignored++
			r.lostSamples += int64(min(r.order.unsigned(entry.bytes[recordHeader:], 8), 1<<40))
		}
	case perfHeaderAttr:
		return r.acceptAttr(entry)
	case perfTracingData:
		if err := r.readDescriptions(entry.tail, entry.tailEnd); err != nil {
			return err
		}
		r.stats.Ignored++
	default:
		if r.fits(entry) {
			r.stats.Ignored++
		}
	}
	return nil
}

func (r *perfReader) acceptSample(entry perfEntry) error {
	r.open++
	layout := r.layoutOf(entry.bytes)
	if layout == nil {
		r.stats.skip(entry.offset, "a sample of an event that the file does not describe")
		return nil
	}
	if layout.time < 0 {
		return errors.New("perf.data without times; record with -T (perf sched record does)")
	}
	if layout.behindFixed > len(entry.bytes) {
		r.stats.skip(entry.offset, "a sample of %d bytes", len(entry.bytes))
		return nil
	}
	r.queue.put(int64(r.order.unsigned(entry.bytes[layout.time:], 8)), entry)
	return nil
}

// layoutOf returns how a sample is laid out, nil when that is not known.
func (r *perfReader) layoutOf(sample []byte) *sampleLayout {
	if len(r.byID) == 0 {
		return r.layout
	}
	if len(sample) < recordHeader+8 {
		return nil
	}
	id := r.order.unsigned(sample[recordHeader:], 8)
	if id < uint64(len(r.bySmallID)) {
		return r.bySmallID[id]
	}
	return r.byID[id]
}

// acceptAttr reads an attribute that came through a pipe.
func (r *perfReader) acceptAttr(entry perfEntry) error {
	content := entry.bytes[recordHeader:]
	if len(content) < attrMinimum {
		r.stats.skip(entry.offset, "an event attribute of %d bytes", len(content))
		return nil
	}
	size := r.order.unsigned(content[4:], 4)
	if size < attrMinimum || size > uint64(len(content)) {
		r.stats.skip(entry.offset, "an event attribute of %d bytes in a record of %d", size, len(entry.bytes))
		return nil
	}
	r.stats.Ignored++
	return r.addAttr(content[:size], content[size:])
}

// fixedPerfSizes is the content of records that all have the same length, without
// the trailer.
var fixedPerfSizes = map[uint32]int{
	perfLost: 16, perfLostSamples: 8, perfExit: 24, perfFork: 24, perfThrottle: 24, perfUnthrottle: 24,
	perfAux: 24, perfItraceStart: 8, perfSwitch: 0, perfSwitchCPUWide: 8,
}

// fits checks a record's length, so that a sample whose type was damaged does not
// disappear among the records that are passed over.
func (r *perfReader) fits(entry perfEntry) bool {
	trailer := 0
	if r.layout != nil {
		trailer = r.layout.trailer
	}
	size := len(entry.bytes) - recordHeader
	want, fixed := fixedPerfSizes[entry.kind]
	switch {
	case fixed && size != want+trailer,
		entry.kind == perfRead, // written by perf stat only
		entry.kind == perfFinishedInit && size != 0,
		entry.kind == perfComm && size < 16+trailer,
		entry.kind < perfLastKernel && size < trailer,
		entry.kind == perfThreadMap && !r.fitsThreadMap(entry.bytes):
		r.stats.skip(entry.offset, "a record of type %d of %d bytes, which none has", entry.kind, len(entry.bytes))
		return false
	}
	return true
}

func (r *perfReader) fitsThreadMap(record []byte) bool {
	const each = 24
	return len(record) >= 16 && r.order.unsigned(record[8:], 8) == uint64(len(record)-16)/each
}

// trailerTime is the time of a record that is no sample; 0, before everything,
// where it has none.
func (r *perfReader) trailerTime(record []byte) int64 {
	if r.layout == nil || r.layout.trailerTime < 0 || r.layout.trailer > len(record)-recordHeader {
		return 0
	}
	return int64(r.order.unsigned(record[len(record)-r.layout.trailer+r.layout.trailerTime:], 8))
}

// deliver makes e of a record that left the queue; it reports false for one that
// is no event.
func (r *perfReader) deliver(record queuedRecord, content []byte, e *Event) bool {
	switch record.kind {
	case perfSample:
		return r.deliverSample(record, content, e)
	case perfComm:
		r.learnComm(content)
		r.stats.Ignored++
		return false
	}
	e.reset()
	e.Kind, e.Time, e.Offset = KindLost, max(record.time, r.inspect.newest), record.offset
	lost := r.order.unsigned(content[recordHeader+8:], 8) // behind the event's number
	if lost < 1<<62 {
		e.set(0, int64(lost))
	}
	return true
}

// learnComm reads pid, tid and name.
func (r *perfReader) learnComm(content []byte) {
	name := content[recordHeader+8:]
	if r.layout != nil && r.layout.trailer <= len(name) {
		name = name[:len(name)-r.layout.trailer]
	}
	tid := int32(r.order.unsigned(content[recordHeader+4:], 4))
	r.comms.learn(tid, r.names.intern(untilZero(name)))
}

func (r *perfReader) deliverSample(record queuedRecord, sample []byte, e *Event) bool {
	layout := r.layoutOf(sample)
	if layout == nil || layout.behindFixed > len(sample) { // a later attribute changed what samples look like
		r.stats.skip(record.offset, "a sample of an event that the file does not describe")
		return false
	}
	if layout.sampleType&sampleRaw == 0 {
		r.stats.Ignored++ // a sample of the processor, not a tracepoint
		return false
	}
	raw, ok := layout.raw(sample, r.order)
	if !ok || len(raw) < 2 {
		r.stats.skip(record.offset, "a sample of %d bytes that ends within its fields", len(sample))
		return false
	}
	e.reset()
	e.Time, e.Offset = record.time, record.offset
	if layout.cpu >= 0 {
		if cpu := r.order.unsigned(sample[layout.cpu:], 4); cpu < maxCPU {
			e.CPU = int32(cpu)
		}
	}
	id := int(r.order.unsigned(raw, 2))
	d, fault := r.formats.decoder(id, r.names)
	if fault != "" {
		r.stats.skip(record.offset, "event number %d: %s", id, fault)
		return false
	}
	if !d.decode(raw, r.order, r.names, e) {
		r.stats.skip(record.offset, "%s: a record of %d bytes, its description needs %d", d.format.name, len(raw), d.size)
		return false
	}
	d.checkLength(len(raw), e, &r.stats)
	if layout.tid >= 0 {
		// The thread's number is taken from the tracepoint's own record: perf has
		// -1 for a thread that is exiting.
		e.TGID = int32(r.order.unsigned(sample[layout.tid:], 4))
	}
	if e.Kind == KindOther {
		r.detail = d.detail(r.detail[:0], raw, r.order)
		e.Detail = r.detail
	}
	r.comms.follow(e)
	return true
}
