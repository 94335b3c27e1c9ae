package trace

import "fmt"

// This file reads perf_event_attr and the layout of samples that it sets
// (perf_event_open(2)).

// Bits of sample_type, in the order in which samples carry the fields.
const (
	sampleIP         = 1 << 0
	sampleTID        = 1 << 1
	sampleTime       = 1 << 2
	sampleAddr       = 1 << 3
	sampleRead       = 1 << 4
	sampleCallchain  = 1 << 5
	sampleID         = 1 << 6
	sampleCPU        = 1 << 7
	samplePeriod     = 1 << 8
	sampleStreamID   = 1 << 9
	sampleRaw        = 1 << 10
	sampleIdentifier = 1 << 16
)

// Bits of read_format.
const (
	readTimeEnabled = 1 << 0
	readTimeRunning = 1 << 1
	readID          = 1 << 2
	readGroup       = 1 << 3
	readLost        = 1 << 4
)

const (
	attrMinimum     = 64 // PERF_ATTR_SIZE_VER0
	attrSampleIDAll = 18 // bit of the flags
)

// sampleLayout is where the fields of a sample and of the trailer of other
// records lie.
type sampleLayout struct {
	sampleType  uint64
	readFormat  uint64
	identifier  int // offsets in a sample, -1: none
	tid         int
	time        int
	cpu         int
	behindFixed int // where READ, CALLCHAIN and RAW begin
	trailer     int // bytes behind records that are no samples
	trailerTime int // offset of the time in it, -1: none
}

// parseAttr reads a perf_event_attr.
func parseAttr(attr []byte, order byteOrder) (*sampleLayout, error) {
	if len(attr) < attrMinimum {
		return nil, fmt.Errorf("an event attribute of %d bytes", len(attr))
	}
	l := newSampleLayout(order.unsigned(attr[24:], 8), order.unsigned(attr[32:], 8))
	flags := order.unsigned(attr[40:], 8)
	all := flags>>attrSampleIDAll&1 != 0
	if order.big { // bit fields are counted from the other end
		all = flags>>(63-attrSampleIDAll)&1 != 0
	}
	if !all {
		l.trailer, l.trailerTime = 0, -1
	}
	return l, nil
}

func newSampleLayout(sampleType, readFormat uint64) *sampleLayout {
	l := &sampleLayout{sampleType: sampleType, readFormat: readFormat}
	at := recordHeader
	place := func(bit uint64) int {
		if sampleType&bit == 0 {
			return -1
		}
		at += 8
		return at - 8
	}
	l.identifier = place(sampleIdentifier)
	place(sampleIP)
	l.tid = place(sampleTID)
	l.time = place(sampleTime)
	place(sampleAddr)
	place(sampleID)
	place(sampleStreamID)
	l.cpu = place(sampleCPU)
	place(samplePeriod)
	l.behindFixed = at
	l.placeTrailer()
	return l
}

// placeTrailer lays out the sample_id behind records that are no samples.
func (l *sampleLayout) placeTrailer() {
	l.trailerTime = -1
	for _, bit := range [...]uint64{sampleTID, sampleTime, sampleID, sampleStreamID, sampleCPU, sampleIdentifier} {
		if l.sampleType&bit == 0 {
			continue
		}
		if bit == sampleTime {
			l.trailerTime = l.trailer
		}
		l.trailer += 8
	}
}

// raw returns the tracepoint's record in a sample; ok is false when the sample
// is too short for what its type says.
func (l *sampleLayout) raw(sample []byte, order byteOrder) (raw []byte, ok bool) {
	at := l.behindFixed
	if l.sampleType&sampleRead != 0 {
		if at, ok = l.skipRead(sample, at, order); !ok {
			return nil, false
		}
	}
	if l.sampleType&sampleCallchain != 0 {
		if at+8 > len(sample) {
			return nil, false
		}
		entries := order.unsigned(sample[at:], 8)
		if entries > uint64(len(sample)/8) {
			return nil, false
		}
		at += 8 + 8*int(entries)
	}
	if at+4 > len(sample) {
		return nil, false
	}
	size := int(order.unsigned(sample[at:], 4))
	at += 4
	if size > len(sample)-at {
		return nil, false
	}
	return sample[at : at+size], true
}

func (l *sampleLayout) skipRead(sample []byte, at int, order byteOrder) (int, bool) {
	words := 1
	perValue := 1
	if l.readFormat&readID != 0 {
		perValue++
	}
	if l.readFormat&readLost != 0 {
		perValue++
	}
	if l.readFormat&readGroup != 0 {
		if at+8 > len(sample) {
			return 0, false
		}
		values := order.unsigned(sample[at:], 8)
		if values > uint64(len(sample)/8) {
			return 0, false
		}
		words += perValue * int(values)
	} else {
		words = perValue
	}
	if l.readFormat&readTimeEnabled != 0 {
		words++
	}
	if l.readFormat&readTimeRunning != 0 {
		words++
	}
	at += 8 * words
	return at, at <= len(sample)
}
