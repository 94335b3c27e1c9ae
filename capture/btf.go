package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// A reader of the kernel's description of its own types (BTF,
// Documentation/bpf/btf.rst): enough to find where a member of a structure lies
// and what a function's parameters are called.

// btfPath is where a kernel with CONFIG_DEBUG_INFO_BTF shows it.
const btfPath = "/sys/kernel/btf/vmlinux"

// kernelTypes is a parsed description.
type kernelTypes struct {
	order   binary.ByteOrder
	strings []byte
	types   []btfType // by type id; 0 is void
	structs map[string]uint32
	funcs   map[string]uint32
}

// btfType is one type. What size means depends on the kind: bytes, or the id of
// another type.
type btfType struct {
	name   uint32
	kind   uint8
	flag   bool
	size   uint32
	extra  []byte // what follows the header
	length int    // vlen
}

// The kinds.
const (
	btfInt = iota + 1
	btfPtr
	btfArray
	btfStruct
	btfUnion
	btfEnum
	btfFwd
	btfTypedef
	btfVolatile
	btfConst
	btfRestrict
	btfFunc
	btfFuncProto
	btfVar
	btfDataSec
	btfFloat
	btfDeclTag
	btfTypeTag
	btfEnum64
)

const (
	btfMagic      = 0xeB9F
	btfHeaderSize = 24
	btfTypeSize   = 12
)

// parseTypes reads a description. Damage is an error with the byte offset.
func parseTypes(data []byte) (*kernelTypes, error) {
	t := &kernelTypes{structs: map[string]uint32{}, funcs: map[string]uint32{}}
	section, base, err := t.header(data)
	if err != nil {
		return nil, err
	}
	t.types = append(t.types, btfType{})
	for at := 0; at < len(section); {
		typ, next, err := t.read(section, at)
		if err != nil {
			return nil, fmt.Errorf("type %d at byte %d: %w", len(t.types), base+at, err)
		}
		id := uint32(len(t.types))
		t.types = append(t.types, typ)
		t.index(id, &typ)
		at = next
	}
	return t, nil
}

func (t *kernelTypes) header(data []byte) (section []byte, base int, err error) {
	if len(data) < btfHeaderSize {
		return nil, 0, errors.New("too short for a BTF header")
	}
	switch {
	case binary.LittleEndian.Uint16(data) == btfMagic:
		t.order = binary.LittleEndian
	case binary.BigEndian.Uint16(data) == btfMagic:
		t.order = binary.BigEndian
	default:
		return nil, 0, errors.New("no BTF: the magic number is missing")
	}
	headerLen := uint64(t.order.Uint32(data[4:]))
	part := func(at int) ([]byte, uint64, error) {
		from := headerLen + uint64(t.order.Uint32(data[at:]))
		to := from + uint64(t.order.Uint32(data[at+4:]))
		if to > uint64(len(data)) {
			return nil, 0, fmt.Errorf("bytes %d to %d are beyond the end, %d", from, to, len(data))
		}
		return data[from:to], from, nil
	}
	section, from, err := part(8)
	if err != nil {
		return nil, 0, fmt.Errorf("types: %w", err)
	}
	if t.strings, _, err = part(16); err != nil {
		return nil, 0, fmt.Errorf("strings: %w", err)
	}
	return section, int(from), nil
}

// read takes the type at an offset apart and returns where the next begins.
func (t *kernelTypes) read(section []byte, at int) (btfType, int, error) {
	if at+btfTypeSize > len(section) {
		return btfType{}, 0, errors.New("cut off")
	}
	info := t.order.Uint32(section[at+4:])
	typ := btfType{
		name: t.order.Uint32(section[at:]), kind: uint8(info >> 24 & 0x1f), flag: info>>31 != 0,
		size: t.order.Uint32(section[at+8:]), length: int(info & 0xffff),
	}
	n := 0
	switch typ.kind {
	case btfInt, btfVar, btfDeclTag:
		n = 4
	case btfArray:
		n = 12
	case btfStruct, btfUnion, btfDataSec, btfEnum64:
		n = 12 * typ.length
	case btfEnum, btfFuncProto:
		n = 8 * typ.length
	case btfPtr, btfFwd, btfTypedef, btfVolatile, btfConst, btfRestrict, btfFunc, btfFloat, btfTypeTag:
	default:
		return typ, 0, fmt.Errorf("unknown kind %d", typ.kind)
	}
	end := at + btfTypeSize + n
	if end > len(section) {
		return typ, 0, errors.New("cut off")
	}
	typ.extra = section[at+btfTypeSize : end]
	return typ, end, nil
}

// index finds structures and functions by name; of several of one name the
// first counts.
func (t *kernelTypes) index(id uint32, typ *btfType) {
	var into map[string]uint32
	switch typ.kind {
	case btfStruct:
		into = t.structs
	case btfFunc:
		into = t.funcs
	default:
		return
	}
	if name := t.text(typ.name); name != "" {
		if _, known := into[name]; !known {
			into[name] = id
		}
	}
}

func (t *kernelTypes) text(at uint32) string {
	if uint64(at) >= uint64(len(t.strings)) {
		return ""
	}
	text, _, _ := strings.Cut(string(t.strings[at:min(uint64(len(t.strings)), uint64(at)+256)]), "\x00")
	return text
}

// kernelField is a member of a structure.
type kernelField struct {
	offset int
	size   int // bytes; 0 when it is no number and no pointer
	signed bool
}

// maxTypeChain bounds chains of typedefs and nestings of structures: more is
// damage.
const maxTypeChain = 32

// field finds a member by its path, such as "task_struct.se.avg.load_avg".
// Members of unnamed parts are found as in C.
func (t *kernelTypes) field(path string) (kernelField, error) {
	parts := strings.Split(path, ".")
	id, known := t.structs[parts[0]]
	if !known {
		return kernelField{}, fmt.Errorf("the kernel has no struct %s", parts[0])
	}
	f := kernelField{}
	for i, name := range parts[1:] {
		bits, member, found := t.member(id, name, 0)
		if !found {
			return f, fmt.Errorf("the kernel's %s has no %s", strings.Join(parts[:i+1], "."), name)
		}
		if bits%8 != 0 {
			return f, fmt.Errorf("the kernel's %s is a bit field", path)
		}
		f.offset += bits / 8
		id = t.resolve(member)
	}
	f.size, f.signed = t.scalar(id)
	return f, nil
}

// member finds a member of a structure or union, also in its unnamed parts.
func (t *kernelTypes) member(id uint32, name string, depth int) (bits int, member uint32, found bool) {
	if depth > maxTypeChain || uint64(id) >= uint64(len(t.types)) {
		return 0, 0, false
	}
	typ := &t.types[id]
	if typ.kind != btfStruct && typ.kind != btfUnion {
		return 0, 0, false
	}
	for i := range typ.length {
		m := typ.extra[12*i:]
		offset := t.order.Uint32(m[8:])
		if typ.flag { // the upper byte is the width of a bit field
			offset &= 0xffffff
		}
		switch own := t.text(t.order.Uint32(m)); own {
		case name:
			return int(offset), t.order.Uint32(m[4:]), true
		case "":
			inner, at, ok := t.member(t.resolve(t.order.Uint32(m[4:])), name, depth+1)
			if ok {
				return int(offset) + inner, at, true
			}
		}
	}
	return 0, 0, false
}

// resolve follows typedefs and qualifiers.
func (t *kernelTypes) resolve(id uint32) uint32 {
	for range maxTypeChain {
		if uint64(id) >= uint64(len(t.types)) {
			return 0
		}
		switch typ := &t.types[id]; typ.kind {
		case btfTypedef, btfVolatile, btfConst, btfRestrict, btfTypeTag:
			id = typ.size
		default:
			return id
		}
	}
	return 0
}

// pointerSize is that of all machines on which probes work.
const pointerSize = 8

// scalar returns the size of a number or pointer.
func (t *kernelTypes) scalar(id uint32) (size int, signed bool) {
	const signedBit = 1 << 24
	switch typ := &t.types[id]; typ.kind {
	case btfInt:
		return int(typ.size), t.order.Uint32(typ.extra)&signedBit != 0
	case btfEnum, btfEnum64:
		return int(typ.size), typ.flag
	case btfPtr:
		return pointerSize, false
	}
	return 0, false
}

// parameters returns the names of a function's parameters.
func (t *kernelTypes) parameters(function string) ([]string, bool) {
	id, known := t.funcs[function]
	if !known {
		return nil, false
	}
	proto := t.types[id].size
	if uint64(proto) >= uint64(len(t.types)) || t.types[proto].kind != btfFuncProto {
		return nil, false
	}
	typ := &t.types[proto]
	var names []string
	for i := range typ.length {
		names = append(names, t.text(t.order.Uint32(typ.extra[8*i:])))
	}
	return names, true
}
