package trace

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// This file cuts a perf.data into records, through compression where there is
// any.
//
//	record: type, 4 bytes | misc, 2 | size, 2 | content up to size

const (
	recordHeader = 8
	maxPerfSize  = 1<<16 - 8
)

// Types of records: those of the kernel, then those of the tool from 64 on.
const (
	perfLost          = 2
	perfComm          = 3
	perfExit          = 4
	perfThrottle      = 5
	perfUnthrottle    = 6
	perfFork          = 7
	perfRead          = 8
	perfSample        = 9
	perfAux           = 11
	perfItraceStart   = 12
	perfLostSamples   = 13
	perfSwitch        = 14
	perfSwitchCPUWide = 15
	perfLastKernel    = 22

	perfHeaderAttr    = 64
	perfTracingData   = 66
	perfFinishedRound = 68
	perfAuxtrace      = 71
	perfThreadMap     = 73
	perfCompressed    = 81
	perfFinishedInit  = 82
	perfCompressed2   = 83
	perfLastTool      = 90
)

// perfRecords yields records, decompressed.
type perfRecords struct {
	outer  *recordScanner
	packed *packedRecords // nil before the first compressed record
}

// perfEntry is one record. It is valid until the next call.
type perfEntry struct {
	kind   uint32
	bytes  []byte
	offset int64
	// Where data lies that follows the record and belongs to it.
	tail, tailEnd int64
}

func newPerfRecords(src io.ReaderAt, start, end int64, order byteOrder, stats *Stats) *perfRecords {
	return &perfRecords{outer: &recordScanner{src: src, at: start, end: end, order: order, stats: stats}}
}

// next returns io.EOF behind the last record.
func (p *perfRecords) next() (perfEntry, error) {
	if p.packed != nil {
		return p.packed.next()
	}
	entry, err := p.outer.next()
	if err != nil || !isCompressed(entry.kind) {
		return entry, err
	}
	p.packed, err = newPackedRecords(p.outer, entry)
	if err != nil {
		return perfEntry{}, err
	}
	return p.packed.next()
}

func isCompressed(kind uint32) bool { return kind == perfCompressed || kind == perfCompressed2 }

// recordScanner cuts a stretch of a file into records.
type recordScanner struct {
	src     io.ReaderAt
	at, end int64
	order   byteOrder
	stats   *Stats

	buffer []byte
	start  int64 // of buffer in the file
}

const perfBuffer = 256 << 10

func (s *recordScanner) next() (perfEntry, error) {
	if s.end-s.at < recordHeader {
		if s.end > s.at {
			s.stats.truncate(s.at, "the data ends within a record")
			s.at = s.end
		}
		return perfEntry{}, io.EOF
	}
	header, err := s.peek(recordHeader)
	if err != nil {
		return perfEntry{}, err
	}
	kind, size := s.order.unsigned(header, 4), int64(s.order.unsigned(header[6:], 2))
	if !plausibleRecord(kind, size) {
		return s.resume()
	}
	if size > s.end-s.at {
		s.stats.truncate(s.at, "a record of %d bytes, %d are left", size, s.end-s.at)
		s.at = s.end
		return perfEntry{}, io.EOF
	}
	record, err := s.peek(int(size))
	if err != nil {
		return perfEntry{}, err
	}
	entry := perfEntry{kind: uint32(kind), bytes: record, offset: s.at}
	s.at += size
	s.stepOverTail(&entry)
	return entry, nil
}

func plausibleRecord(kind uint64, size int64) bool {
	if size < recordHeader {
		return false
	}
	if kind >= perfHeaderAttr { // the tool's own may have any length
		return kind < perfLastTool
	}
	return kind > 0 && kind < perfLastKernel && size%8 == 0
}

// chainLength is how many records must follow each other before a place in the
// middle of damage is taken for the beginning of one.
const chainLength = 3

// resume looks for the next place where records begin.
func (s *recordScanner) resume() (perfEntry, error) {
	damaged := s.at
	for s.at++; s.at+recordHeader <= s.end; s.at++ {
		if s.chainAt(s.at) {
			s.stats.skip(damaged, "no record begins here; %d bytes were skipped", s.at-damaged)
			return s.next()
		}
	}
	s.stats.skip(damaged, "no record begins here, nor behind it (%d bytes)", s.end-damaged)
	s.at = s.end
	return perfEntry{}, io.EOF
}

func (s *recordScanner) chainAt(at int64) bool {
	saved := s.at
	defer func() { s.at = saved }()
	s.at = at
	for range chainLength {
		if s.at == s.end {
			return true
		}
		header, err := s.peek(recordHeader)
		if err != nil {
			return false
		}
		kind, size := s.order.unsigned(header, 4), int64(s.order.unsigned(header[6:], 2))
		if !plausibleRecord(kind, size) || size > s.end-s.at {
			return false
		}
		s.at += size
	}
	return true
}

// peek returns the next n bytes, valid until the next call.
func (s *recordScanner) peek(n int) ([]byte, error) {
	inside := s.at - s.start
	if inside >= 0 && inside+int64(n) <= int64(len(s.buffer)) {
		return s.buffer[inside : inside+int64(n)], nil
	}
	if int64(n) > s.end-s.at {
		return nil, io.EOF
	}
	if s.buffer == nil {
		s.buffer = make([]byte, min(perfBuffer, s.end-s.at))
	}
	s.buffer = s.buffer[:min(int64(cap(s.buffer)), s.end-s.at)]
	s.start = s.at
	got, err := s.src.ReadAt(s.buffer, s.at)
	s.buffer = s.buffer[:got]
	if got < n {
		s.end = s.at + int64(got)
		if err == nil || errors.Is(err, io.EOF) {
			s.stats.truncate(s.end, "the file ends before its data")
			return nil, io.EOF
		}
		return nil, inputError(s.at, err)
	}
	return s.buffer[:n], nil
}

// stepOverTail steps over the data that follows some records and is not in their
// size, and returns where it lies.
func (s *recordScanner) stepOverTail(entry *perfEntry) {
	var size uint64
	switch {
	case entry.kind == perfTracingData && len(entry.bytes) >= 12:
		size = s.order.unsigned(entry.bytes[8:], 4)
	case entry.kind == perfAuxtrace && len(entry.bytes) >= 16:
		size = s.order.unsigned(entry.bytes[8:], 8)
	}
	if size > uint64(s.end-s.at) {
		s.stats.truncate(s.at, "%d bytes belong to the record before, %d are left", size, s.end-s.at)
		size = uint64(s.end - s.at)
	}
	entry.tail, entry.tailEnd = s.at, s.at+int64(size)
	s.at += int64(size)
}

// packedRecords yields the records in compressed ones. Their contents are one
// zstd stream; plain records may stand between them.
type packedRecords struct {
	outer    *recordScanner
	decoder  *zstd.Decoder
	payload  []byte // compressed and not yet consumed
	offset   int64  // of the newest compressed record
	outerEOF bool
	outerErr error

	aside  []perfEntry // plain records met while looking for more payload
	buffer []byte
	start  int
	ended  bool
}

func newPackedRecords(outer *recordScanner, first perfEntry) (*packedRecords, error) {
	p := &packedRecords{outer: outer}
	p.setPayload(first)
	decoder, err := zstd.NewReader(p, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxPerfWindow))
	if err != nil {
		return nil, fmt.Errorf("at byte %d: %w", first.offset, err)
	}
	p.decoder = decoder
	return p, nil
}

// maxPerfWindow bounds the memory of decompression; perf's own levels use at
// most 8 MiB.
const maxPerfWindow = 16 << 20

func (p *packedRecords) setPayload(entry perfEntry) {
	p.offset = entry.offset
	content := entry.bytes[recordHeader:]
	if entry.kind == perfCompressed2 && len(content) >= 8 {
		size := p.outer.order.unsigned(content, 8)
		content = content[8:]
		content = content[:min(size, uint64(len(content)))]
	}
	p.payload = append(p.payload[:0], content...)
}

// Read feeds the decoder. It is called only when all that was decompressed so far
// has been handed out, so the records put aside belong before what comes next.
func (p *packedRecords) Read(out []byte) (int, error) {
	for len(p.payload) == 0 {
		entry, err := p.outer.next()
		if err != nil {
			p.outerEOF = true
			if !errors.Is(err, io.EOF) {
				p.outerErr = err
			}
			return 0, io.EOF
		}
		if isCompressed(entry.kind) {
			p.setPayload(entry)
			continue
		}
		entry.bytes = append([]byte(nil), entry.bytes...)
		p.aside = append(p.aside, entry)
	}
	n := copy(out, p.payload)
	p.payload = p.payload[n:]
	return n, nil
}

func (p *packedRecords) next() (perfEntry, error) {
	for {
		if len(p.aside) > 0 {
			entry := p.aside[0]
			p.aside = p.aside[1:]
			return entry, nil
		}
		if entry, ok := p.unpackedRecord(); ok {
			return entry, nil
		}
		if p.ended {
			return perfEntry{}, p.finish()
		}
		p.more()
	}
}

// unpackedRecord cuts the next record from what was decompressed.
func (p *packedRecords) unpackedRecord() (perfEntry, bool) {
	left := p.buffer[p.start:]
	if len(left) < recordHeader {
		return perfEntry{}, false
	}
	order := p.outer.order
	kind, size := order.unsigned(left, 4), int64(order.unsigned(left[6:], 2))
	if !plausibleRecord(kind, size) {
		p.outer.stats.truncate(p.offset, "what is compressed here is no sequence of records")
		p.start, p.ended = len(p.buffer), true
		p.decoder.Close()
		return perfEntry{}, false
	}
	if size > int64(len(left)) {
		return perfEntry{}, false
	}
	p.start += int(size)
	return perfEntry{kind: uint32(kind), bytes: left[:size], offset: p.offset}, true
}

const unpackStep = 64 << 10

// more decompresses the next block.
func (p *packedRecords) more() {
	left := copy(p.buffer, p.buffer[p.start:])
	p.buffer, p.start = p.buffer[:left], 0
	if cap(p.buffer) < left+unpackStep {
		grown := make([]byte, left, left+unpackStep)
		copy(grown, p.buffer)
		p.buffer = grown
	}
	n, err := p.decoder.Read(p.buffer[left : left+unpackStep])
	p.buffer = p.buffer[:left+n]
	if err == nil {
		return
	}
	p.ended = true
	p.decoder.Close()
	// perf does not end its stream, so its end at the last block is the rule.
	if !p.outerEOF {
		p.outer.stats.truncate(p.offset, "compressed data that cannot be unpacked: %v", err)
	}
}

func (p *packedRecords) finish() error {
	if left := len(p.buffer) - p.start; left > 0 {
		p.outer.stats.truncate(p.offset, "the compressed data ends within a record")
		p.start = len(p.buffer)
	}
	if p.outerErr != nil {
		return p.outerErr
	}
	return io.EOF
}
