package trace

import "google.golang.org/protobuf/encoding/protowire"

// protoFields walks the fields of a message.
type protoFields struct {
	rest  []byte
	fault bool // the message is damaged behind what was returned
}

// protoField is one field: number holds a varint or fixed value, bytes a text or
// a message.
type protoField struct {
	id     int32
	wire   protowire.Type
	number uint64
	bytes  []byte
}

// next returns the next field; ok is false at the end and at damage.
func (p *protoFields) next() (f protoField, ok bool) {
	if len(p.rest) == 0 || p.fault {
		return f, false
	}
	id, wire, n := protowire.ConsumeTag(p.rest)
	if n < 0 {
		p.fault = true
		return f, false
	}
	f.id, f.wire = int32(id), wire
	rest := p.rest[n:]
	switch wire {
	case protowire.VarintType:
		f.number, n = protowire.ConsumeVarint(rest)
	case protowire.Fixed64Type:
		f.number, n = protowire.ConsumeFixed64(rest)
	case protowire.Fixed32Type:
		var small uint32
		small, n = protowire.ConsumeFixed32(rest)
		f.number = uint64(small)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(rest)
	default: // groups: Perfetto has none
		n = -1
	}
	if n < 0 {
		p.fault = true
		return f, false
	}
	p.rest = rest[n:]
	return f, true
}

func (f *protoField) isBytes() bool { return f.wire == protowire.BytesType }

// varints walks a packed array of varints.
type varints struct{ rest []byte }

func (v *varints) next() (uint64, bool) {
	number, n := protowire.ConsumeVarint(v.rest)
	if n < 0 {
		v.rest = nil
		return 0, false
	}
	v.rest = v.rest[n:]
	return number, true
}

// count returns how many numbers are left.
func (v *varints) count() int {
	n := 0
	for _, b := range v.rest {
		if b < 0x80 {
			n++
		}
	}
	return n
}
