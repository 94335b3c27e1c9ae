package trace

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// This file reads trace.dat, the format of trace-cmd: what its versions share.
// The head and the sections are in tracedat6.go and tracedat7.go, the pages with
// the events in datstream.go and ringpage.go.

var datMagic = []byte("\x17\x08\x44tracing")

// datReader merges the CPUs of a trace.dat.
type datReader struct {
	base
	description
	src     io.ReaderAt
	size    int64
	comms   comms
	clock   datClock
	recount []cpuAccount // what the recorder counted

	streams []*datStream
	heap    timeHeap
	detail  []byte
	ended   bool
}

// cpuAccount is the recorder's own account of one CPU (per_cpu/*/stats).
type cpuAccount struct {
	cpu     int32
	read    int64 // entries read, plus those left in the buffer
	overrun int64 // overwritten or dropped
}

// datClock turns raw stamps into nanoseconds.
type datClock struct {
	offset      int64 // added to every stamp
	mult, shift uint32
	tscOffset   int64
}

func (c *datClock) nanoseconds(raw int64) int64 {
	if c.mult != 0 {
		raw = multiplyShift(uint64(raw), c.mult, c.shift) + c.tscOffset
	}
	return raw + c.offset
}

// multiplyShift is raw * mult >> shift without overflow.
func multiplyShift(raw uint64, mult, shift uint32) int64 {
	high, low := raw>>32, raw&(1<<32-1)
	if shift > 32 {
		return int64((high*uint64(mult) + low*uint64(mult)>>32) >> (shift - 32))
	}
	return int64(high*uint64(mult)<<(32-shift) + low*uint64(mult)>>shift)
}

// newDatReader reads the head of a trace.dat.
func newDatReader(src io.ReaderAt, size int64) (*datReader, error) {
	r := &datReader{src: src, size: size}
	r.init("trace.dat")
	r.stats.Resolution = 1
	r.description = newDescription(&r.stats)
	r.comms.setIdle(r.names)
	c := &byteCursor{src: src, end: size}
	c.seek(uint64(len(datMagic)), "trace.dat")
	version := r.readIntroduction(c)
	if c.err != nil {
		return nil, c.err
	}
	r.stats.Format += " version " + version
	var err error
	switch version {
	case "6":
		err = r.readVersion6(c)
	case "7":
		err = r.readVersion7(c)
	default:
		return nil, fmt.Errorf("trace.dat of version %q; versions 6 and 7 can be read: convert it with trace-cmd convert --file-version 7", version)
	}
	if err != nil && !r.survive(err) {
		return nil, err
	}
	return r, r.start()
}

// survive goes on after damage in the head when at least one CPU's data has been
// found.
func (r *datReader) survive(err error) bool {
	var d *damage
	if !errors.As(err, &d) || len(r.streams) == 0 {
		return false
	}
	r.stats.truncate(d.offset, "%s", d.text)
	return true
}

// start puts the first event of every CPU on the heap.
func (r *datReader) start() error {
	if !r.layout.valid() {
		return fmt.Errorf("trace.dat with a page header that cannot be: commit of %d bytes, data at %d", r.layout.commitSize, r.layout.dataOffset)
	}
	for i, s := range r.streams {
		if s.advance() {
			r.heap.push(heapItem{time: s.time, stream: int32(i)})
		}
	}
	return nil
}

func (r *datReader) Next(e *Event) error {
	for len(r.heap) > 0 {
		s := r.streams[r.heap.top().stream]
		e.reset()
		e.CPU, e.Offset = s.cpu, s.recordOffset()
		e.Time = r.clock.nanoseconds(s.time)
		if s.lost != 0 {
			e.Kind = KindLost
			e.setKnown(0, s.lost)
			s.lost = 0
			r.inspect.see(e)
			return nil
		}
		delivered := r.decode(s, e)
		r.step(s)
		if delivered {
			r.inspect.see(e)
			return nil
		}
	}
	return r.end()
}

// step moves the stream on top of the heap to its next entry.
func (r *datReader) step(s *datStream) {
	if s.advance() {
		r.heap.advance(s.time, 0)
	} else {
		r.heap.pop()
	}
}

// decode makes e of the stream's entry; it reports false for an entry that
// cannot be read.
func (r *datReader) decode(s *datStream, e *Event) bool {
	record := s.record
	if len(record) < 2 {
		r.stats.skip(e.Offset, "a record of %d bytes", len(record))
		return false
	}
	id := int(r.order.unsigned(record, 2))
	d, fault := r.formats.decoder(id, r.names)
	if fault != "" {
		r.stats.skip(e.Offset, "event number %d: %s", id, fault)
		return false
	}
	if !d.decode(record, r.order, r.names, e) {
		r.stats.skip(e.Offset, "%s: a record of %d bytes, its description needs %d", d.format.name, len(record), d.size)
		return false
	}
	d.checkLength(len(record), e, &r.stats)
	if e.Kind == KindOther {
		r.detail = d.detail(r.detail[:0], record, r.order)
		e.Detail = r.detail
	}
	r.comms.follow(e)
	return true
}

// recordSlack is what a record may be longer than its fields: structures are
// padded to 8 bytes, entries of the ring buffer to another 4 or 8.
const recordSlack = 15

// checkLength doubts a record that is longer than its description.
func (d *decoder) checkLength(length int, e *Event, stats *Stats) {
	if d.variable || length <= d.size+recordSlack {
		return
	}
	e.Marks |= MarkMalformed
	stats.warn(e.Offset, "%s: a record of %d bytes, its description has %d", d.format.name, length, d.size)
}

// end compares with the recorder's own account, once.
func (r *datReader) end() error {
	if r.ended {
		return io.EOF
	}
	r.ended = true
	r.finish()
	got := make(map[int32]*datStream)
	for _, s := range r.streams {
		if got[s.cpu] != nil {
			return io.EOF // several buffers: the account is not of one of them
		}
		got[s.cpu] = s
	}
	for _, account := range r.recount {
		r.settle(account, got[account.cpu])
	}
	return io.EOF
}

func (r *datReader) settle(account cpuAccount, s *datStream) {
	if s == nil {
		if account.read > 0 {
			r.stats.truncate(r.size, "the recorder read %d entries of CPU %d, none of which are here", account.read, account.cpu)
		}
		return
	}
	if account.overrun > 0 && !s.missed {
		r.stats.LostMarks++
		r.stats.Lost += account.overrun
	}
	if account.read > 0 && account.read != s.entries {
		r.stats.warn(s.first, "the recorder read %d entries of CPU %d, here are %d", account.read, account.cpu, s.entries)
	}
}

// Options of both versions that matter here.
const (
	optionCPUStat  = 2
	optionBuffer   = 3
	optionOffset   = 7
	optionTSC2NSec = 14
)

// readOption applies an option whose content both versions share.
func (r *datReader) readOption(id uint64, content []byte) {
	switch id {
	case optionCPUStat:
		r.recount = append(r.recount, parseCPUStat(string(content)))
	case optionOffset:
		text := strings.TrimRight(string(content), "\x00\n ")
		if offset, err := strconv.ParseInt(text, 0, 64); err == nil {
			r.clock.offset = offset
		}
	case optionTSC2NSec:
		if len(content) >= 16 {
			r.clock.mult = uint32(r.order.unsigned(content, 4))
			r.clock.shift = uint32(r.order.unsigned(content[4:], 4))
			r.clock.tscOffset = int64(r.order.unsigned(content[8:], 8))
		}
	}
}

// parseCPUStat reads the kernel's per_cpu/cpuN/stats.
func parseCPUStat(text string) cpuAccount {
	account := cpuAccount{cpu: UnknownCPU}
	var read, left int64
	for _, line := range strings.Split(strings.TrimRight(text, "\x00"), "\n") {
		key, value, _ := strings.Cut(line, ":")
		number, ok := parseInt([]byte(strings.TrimSpace(value)))
		if !ok {
			continue
		}
		switch strings.TrimSpace(key) {
		case "CPU":
			account.cpu = int32(number)
		case "entries":
			left = number
		case "overrun", "dropped events":
			account.overrun += number
		case "read events":
			read = number
		}
	}
	account.read = read
	if read == 0 {
		account.read = left
	}
	return account
}

// readCmdlines learns the lines "PID NAME".
func (r *datReader) readCmdlines(text string) {
	for _, line := range strings.Split(strings.TrimRight(text, "\x00"), "\n") {
		number, name, found := strings.Cut(strings.TrimLeft(line, " "), " ")
		if pid, ok := parseDecimal([]byte(number)); found && ok && pid < maxPID && name != "<...>" {
			r.comms.learn(int32(pid), r.names.Intern(name))
		}
	}
}

// addStream adds the data of one CPU.
func (r *datReader) addStream(cpu int32, offset, size uint64, pages pageSource) {
	if size == 0 {
		return
	}
	r.streams = append(r.streams, &datStream{reader: r, cpu: cpu, first: int64(offset), pages: pages})
}
