package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zlib"
	"google.golang.org/protobuf/encoding/protowire"
)

// A Perfetto trace has no global order: bundles of CPUs follow each other as they
// were drained, and what tells the kernel's version may come last. So the file
// is read twice: first for an index of the bundles of each CPU, then by merging
// the CPUs.

// bundleRef is where a bundle lies.
type bundleRef struct {
	offset   int64
	size     int32
	unpacked bool  // in the file of unpacked packets, not in the trace
	lost     bool  // the recorder lost events before it
	previous int64 // time of the last event of the CPU's bundle before; 0: not told
}

// perfettoIndex is what the first reading found.
type perfettoIndex struct {
	stats    *Stats
	names    *Names
	comms    *comms
	cpus     map[int32][]bundleRef
	order    []int32 // CPUs as they appeared
	states   stateCode
	generic  map[int32]*genericMessage // events described in the trace
	unpacked *os.File                  // contents of compressed packets
	overruns map[uint64]uint64         // by CPU, when the recording began
	kinds    map[uint64]*packetKinds   // by sequence
	size     int64                     // of unpacked
	scratch  []byte
}

// genericMessage describes an event that has no message of its own in Perfetto.
type genericMessage struct {
	name   string
	fields map[int32]string
}

// portableStates are the numbers that mean the same in every kernel; others are
// unknown when the trace does not name its kernel.
var portableStates = stateCode{bits: modernStates.bits[:6], known: 0x3f}

func newPerfettoIndex(b *base, comms *comms) *perfettoIndex {
	return &perfettoIndex{
		stats: &b.stats, names: b.names, comms: comms,
		cpus: make(map[int32][]bundleRef), states: portableStates,
		generic: make(map[int32]*genericMessage), overruns: make(map[uint64]uint64), kinds: make(map[uint64]*packetKinds),
	}
}

// read indexes a whole trace.
func (x *perfettoIndex) read(src io.ReaderAt, size int64) error {
	in := &offsetReader{in: bufio.NewReaderSize(io.NewSectionReader(src, 0, size), 64<<10)}
	for {
		start := in.offset
		packet, ok, err := x.readPacket(in, size)
		if err != nil {
			return err
		}
		if !ok {
			x.doubtKinds()
			return nil
		}
		if packet != nil {
			x.addPacket(packet, in.offset-int64(len(packet)), start, false)
		}
	}
}

// offsetReader counts what it reads.
type offsetReader struct {
	in     *bufio.Reader
	offset int64
}

func (r *offsetReader) ReadByte() (byte, error) {
	b, err := r.in.ReadByte()
	if err == nil {
		r.offset++
	}
	return b, err
}

// readPacket returns the next packet, nil for another field of the trace; ok is
// false at the end.
func (x *perfettoIndex) readPacket(in *offsetReader, size int64) (packet []byte, ok bool, err error) {
	start := in.offset
	tag, err := readVarint(in)
	if errors.Is(err, io.EOF) {
		return nil, false, nil
	}
	if err != nil || protowire.Type(tag&7) != protowire.BytesType || tag>>3 == 0 {
		x.stats.truncate(start, "no packet begins here; %d bytes cannot be read", size-start)
		return nil, false, notEOF(err)
	}
	length, err := readVarint(in)
	if err != nil || length > uint64(size-in.offset) {
		x.stats.truncate(start, "a packet of %d bytes, %d are left", length, size-in.offset)
		return nil, false, notEOF(err)
	}
	if uint64(cap(x.scratch)) < length {
		x.scratch = make([]byte, length+length/4)
	}
	packet = x.scratch[:length]
	n, err := io.ReadFull(in.in, packet)
	in.offset += int64(n)
	if err != nil {
		x.stats.truncate(in.offset, "the trace ends within a packet")
		return nil, false, notEOF(err)
	}
	if tag>>3 != traceFieldPacket {
		x.stats.skip(start, "field %d, which no Perfetto trace has", tag>>3)
		return nil, true, nil
	}
	return packet, true, nil
}

// notEOF keeps only the errors of the file system.
func notEOF(err error) error {
	var bad *varintError
	if err == nil || isEOF(err) || errors.As(err, &bad) {
		return nil
	}
	return err
}

type varintError struct{}

func (*varintError) Error() string { return "a number of more than 10 bytes" }

func readVarint(in io.ByteReader) (uint64, error) {
	var value uint64
	for shift := 0; shift < 64; shift += 7 {
		b, err := in.ReadByte()
		if err != nil {
			if shift > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		value |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return value, nil
		}
	}
	return 0, &varintError{}
}

// addPacket indexes one packet, whose content begins at base; at is its place for
// messages.
func (x *perfettoIndex) addPacket(packet []byte, base, at int64, unpacked bool) {
	fields := protoFields{rest: packet}
	var sequence uint64
	content := packetContent{}
	for {
		f, ok := fields.next()
		if !ok {
			break
		}
		if f.id == packetSequence {
			sequence = f.number
		}
		if !f.isBytes() {
			continue
		}
		content.note(f.id)
		end := base + int64(len(packet)-len(fields.rest))
		switch f.id {
		case packetFtrace:
			x.addBundle(f.bytes, end-int64(len(f.bytes)), at, unpacked)
		case packetProcessTree:
			x.addProcessTree(f.bytes)
		case packetSystemInfo:
			x.addSystemInfo(f.bytes)
		case packetFtraceStats:
			x.addFtraceStats(f.bytes)
		case packetCompressed:
			if !unpacked {
				x.addCompressed(f.bytes, at)
			}
		}
	}
	if fields.fault || content.beyond {
		x.stats.skip(at, "a packet that is damaged")
	}
	x.noteKinds(sequence, content, at)
}

// packetContent is what a packet carries.
type packetContent struct {
	ftrace, other bool
	beyond        bool // a field that no packet has
}

func (c *packetContent) note(field int32) {
	switch {
	case field == packetFtrace:
		c.ftrace = true
	case field > maxPacketField:
		c.beyond = true
	case field != packetFtraceStats && field != packetProcessTree && field != packetSystemInfo && field != packetDefaults:
		c.other = true
	}
}

// packetKinds counts what the packets of one sequence carry. The kernel's events
// come from a writer of their own, so a packet with something else among them is
// one whose kind is damaged.
type packetKinds struct {
	ftrace, other int64
	firstOther    int64 // its place
}

func (x *perfettoIndex) noteKinds(sequence uint64, content packetContent, at int64) {
	kinds := x.kinds[sequence]
	if kinds == nil {
		if sequence == 0 || len(x.kinds) >= maxSequences {
			return
		}
		kinds = &packetKinds{}
		x.kinds[sequence] = kinds
	}
	switch {
	case content.ftrace:
		kinds.ftrace++
	case content.other:
		if kinds.other == 0 {
			kinds.firstOther = at
		}
		kinds.other++
	}
}

// maxSequences bounds the table; traces have some dozens.
const maxSequences = 1 << 14

// doubtKinds counts the packets that are not what their writer writes.
func (x *perfettoIndex) doubtKinds() {
	for _, sequence := range slices.Sorted(maps.Keys(x.kinds)) {
		if kinds := x.kinds[sequence]; kinds.ftrace > 0 && kinds.other > 0 {
			x.stats.skip(kinds.firstOther, "%d packets that are no ftrace, among those of a writer of ftrace", kinds.other)
		}
	}
}

func (x *perfettoIndex) addBundle(bundle []byte, offset, at int64, unpacked bool) {
	ref := bundleRef{offset: offset, size: int32(len(bundle)), unpacked: unpacked}
	cpu := UnknownCPU
	fields := protoFields{rest: bundle}
	for {
		f, ok := fields.next()
		if !ok {
			break
		}
		switch {
		case f.id == bundleCPU && f.number < maxCPU:
			cpu = int32(f.number)
		case f.id == bundleLost:
			ref.lost = f.number != 0
		case f.id == bundlePreviousEnd:
			ref.previous = int64(f.number)
		case f.id == bundleError:
			x.stats.skip(at, "the recorder could not parse a page of the kernel's buffer")
		case f.id == bundleDescriptor && f.isBytes():
			x.addDescriptor(f.bytes)
		}
		if !isBundleField(f) {
			x.stats.skip(at, "a bundle with a field %d of type %d, which none has", f.id, f.wire)
		}
	}
	if x.cpus[cpu] == nil {
		x.order = append(x.order, cpu)
	}
	x.cpus[cpu] = append(x.cpus[cpu], ref)
}

// isBundleField checks the number and the type of a bundle's field.
func isBundleField(f protoField) bool {
	switch f.id {
	case bundleEvent, bundleCompact, bundleError, bundleDescriptor, bundleBrokenPage:
		return f.isBytes()
	}
	return !f.isBytes() && f.id <= bundleLastField
}

// addDescriptor learns an event that the trace describes: its number, and a
// DescriptorProto with its name and fields.
func (x *perfettoIndex) addDescriptor(message []byte) {
	generic := &genericMessage{fields: make(map[int32]string)}
	var id int32
	each(message, func(f protoField) {
		switch f.id {
		case 1:
			id = int32(f.number)
		case 2:
			each(f.bytes, func(f protoField) {
				switch f.id {
				case 1:
					generic.name = string(f.bytes)
				case 2:
					generic.addField(f.bytes)
				}
			})
		}
	})
	if id > 0 && generic.name != "" && len(x.generic) < maxFormats {
		x.generic[id] = generic
	}
}

func (g *genericMessage) addField(message []byte) {
	var name string
	var number int32
	each(message, func(f protoField) {
		switch f.id {
		case 1:
			name = string(f.bytes)
		case 3:
			number = int32(f.number)
		}
	})
	if name != "" && len(g.fields) < maxFormatFields {
		g.fields[number] = name
	}
}

// each calls f for every field of a message.
func each(message []byte, f func(protoField)) {
	fields := protoFields{rest: message}
	for {
		field, ok := fields.next()
		if !ok {
			return
		}
		f(field)
	}
}

// addProcessTree learns the names of threads.
func (x *perfettoIndex) addProcessTree(tree []byte) {
	const threads, threadID, threadName = 2, 1, 2
	each(tree, func(f protoField) {
		if f.id != threads {
			return
		}
		var tid int32
		var name []byte
		each(f.bytes, func(f protoField) {
			switch f.id {
			case threadID:
				tid = int32(f.number)
			case threadName:
				name = f.bytes
			}
		})
		x.comms.learn(tid, x.names.intern(name))
	})
}

// addSystemInfo takes the numbering of states from the kernel's release.
func (x *perfettoIndex) addSystemInfo(info []byte) {
	const utsname, release = 1, 3
	each(info, func(f protoField) {
		if f.id != utsname {
			return
		}
		each(f.bytes, func(f protoField) {
			if f.id == release {
				x.states = statesOfRelease(string(f.bytes))
			}
		})
	})
}

// statesOfRelease returns the numbering of a kernel such as "6.1.0-55-amd64".
func statesOfRelease(release string) stateCode {
	var major, minor int
	if n, _ := fmt.Sscanf(strings.TrimSpace(release), "%d.%d", &major, &minor); n != 2 {
		return portableStates
	}
	if major > 4 || major == 4 && minor >= 14 {
		return modernStates
	}
	if major == 4 || major == 3 && minor >= 19 {
		return oldStates
	}
	return portableStates
}

// addFtraceStats counts what the kernel overwrote between the beginning and the
// end of the recording.
func (x *perfettoIndex) addFtraceStats(message []byte) {
	const phase, cpuStats, phaseEnd = 1, 2, 2
	const cpuNumber, overrun, dropped = 1, 3, 8
	isEnd := false
	each(message, func(f protoField) {
		if f.id == phase {
			isEnd = f.number == phaseEnd
		}
		if f.id != cpuStats {
			return
		}
		var cpu, lost uint64
		each(f.bytes, func(f protoField) {
			switch f.id {
			case cpuNumber:
				cpu = f.number
			case overrun, dropped:
				lost += f.number
			}
		})
		if !isEnd {
			x.overruns[cpu] = lost
		} else if lost > x.overruns[cpu] && lost < 1<<62 {
			x.stats.Lost += int64(lost - x.overruns[cpu])
			x.stats.LostMarks++
		}
	})
}

// maxUnpacked bounds the temporary file of unpacked packets.
const maxUnpacked = 8 << 30

// addCompressed unpacks packets into the temporary file and indexes them there.
func (x *perfettoIndex) addCompressed(packed []byte, at int64) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		x.stats.skip(at, "compressed packets that cannot be unpacked: %v", err)
		return
	}
	if x.unpacked == nil {
		if x.unpacked, err = os.CreateTemp("", "schedlab-trace-*"); err != nil {
			x.stats.skip(at, "compressed packets: %v", err)
			return
		}
		_ = os.Remove(x.unpacked.Name())
	}
	start := x.size
	n, err := io.Copy(io.NewOffsetWriter(x.unpacked, start), io.LimitReader(z, maxUnpacked-start))
	x.size += n
	if err != nil {
		x.stats.skip(at, "compressed packets that cannot be unpacked: %v", err)
	}
	x.indexUnpacked(start, at)
}

// indexUnpacked reads packets of the temporary file from start on.
func (x *perfettoIndex) indexUnpacked(start, at int64) {
	inner := *x
	inner.scratch = nil
	in := &offsetReader{in: bufio.NewReader(io.NewSectionReader(x.unpacked, start, x.size-start)), offset: start}
	for {
		packet, ok, err := inner.readPacket(in, x.size)
		if err != nil || !ok {
			break
		}
		if packet != nil {
			inner.addPacket(packet, in.offset-int64(len(packet)), at, true)
		}
	}
	x.order, x.states = inner.order, inner.states
}
