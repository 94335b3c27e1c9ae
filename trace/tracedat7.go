package trace

import (
	"bytes"
	"fmt"
)

// This file reads the head of a trace.dat of version 7: options tell where the
// sections lie, and any section may be compressed. (trace-cmd.dat.v7(5).)

// Options that name a section.
const (
	optionDone         = 0
	optionHeaderInfo   = 16
	optionFtraceEvents = 17
	optionEventFormats = 18
	optionCmdlines     = 21
)

// sectionPacked is the flag of a compressed section.
const sectionPacked = 1

const (
	maxSection       = 16 << 20 // what a section may unpack to
	maxOptionSection = 1024     // sections of options in a file
)

func (r *datReader) readVersion7(c *byteCursor) error {
	name := c.text("compression")
	c.text("version of the compression")
	next := c.number(8, "offset of the options")
	if c.err != nil {
		return c.err
	}
	codec, err := newCodec(name)
	if err != nil {
		return err
	}
	d := &dat7{reader: r, codec: codec, file: c}
	return d.read(next)
}

// dat7 is a file of version 7 while its head is read.
type dat7 struct {
	reader  *datReader
	codec   codec
	file    *byteCursor
	buffers [][]byte // the options that describe data
}

func (d *dat7) read(options uint64) error {
	for i := 0; options != 0; i++ {
		if i == maxOptionSection {
			return &damage{int64(options), "more option sections than any file has"}
		}
		section, err := d.section(options, "options")
		if err != nil {
			return d.settle(err)
		}
		options, err = d.readOptions(section)
		if err != nil {
			return d.settle(err)
		}
	}
	return d.settle(nil)
}

// settle adds the data that was found, also where the options are damaged.
func (d *dat7) settle(err error) error {
	for _, option := range d.buffers {
		if bufferErr := d.readBuffer(option); err == nil {
			err = bufferErr
		}
	}
	return err
}

// section returns a cursor over the content of the section at offset.
func (d *dat7) section(offset uint64, what string) (*byteCursor, error) {
	c := d.file
	c.seek(offset, what)
	c.number(2, what)
	flags := c.number(2, what)
	c.number(4, what)
	size := c.number(8, what)
	start := c.pos
	if flags&sectionPacked == 0 {
		if !c.has(size, what) {
			return nil, c.err
		}
		return &byteCursor{src: c.src, order: c.order, pos: start, end: start + int64(size)}, nil
	}
	packedSize := c.number(4, what)
	unpackedSize := c.number(4, what)
	packed := c.block(packedSize, what)
	if c.err != nil {
		return nil, c.err
	}
	if d.codec == nil {
		return nil, &damage{start, what + ": a compressed section in a file that names no compression"}
	}
	if unpackedSize > maxSection {
		return nil, &damage{start, fmt.Sprintf("%s: a section that says it unpacks to %d bytes", what, unpackedSize)}
	}
	content, err := d.codec.unpack(nil, packed, int(unpackedSize))
	if err != nil {
		return nil, &damage{start, fmt.Sprintf("%s: %v", what, err)}
	}
	return &byteCursor{src: bytes.NewReader(content), order: c.order, end: int64(len(content))}, nil
}

// readOptions reads one section of options and returns the offset of the next.
func (d *dat7) readOptions(c *byteCursor) (next uint64, err error) {
	for c.err == nil {
		id := c.number(2, "option")
		content := c.block(c.number(4, "size of an option"), "option")
		if c.err != nil {
			break
		}
		switch id {
		case optionDone:
			if len(content) < 8 {
				return 0, nil
			}
			return c.order.unsigned(content, 8), nil
		case optionBuffer:
			d.buffers = append(d.buffers, content)
		case optionHeaderInfo, optionFtraceEvents, optionEventFormats, optionCmdlines:
			if err := d.readSection(id, content); err != nil {
				return 0, err
			}
		default:
			d.reader.readOption(id, content)
		}
	}
	return 0, c.err
}

func (d *dat7) readSection(id uint64, option []byte) error {
	if len(option) < 8 {
		return nil
	}
	c, err := d.section(d.file.order.unsigned(option, 8), "section")
	if err != nil {
		return err
	}
	switch id {
	case optionHeaderInfo:
		d.reader.readHeaderInfo(c)
	case optionFtraceEvents:
		d.reader.readFtraceFormats(c)
	case optionEventFormats:
		d.reader.readSystems(c)
	case optionCmdlines:
		d.reader.readCmdlines(string(c.block(c.number(8, "size of the command lines"), "command lines")))
	}
	return c.err
}

// readBuffer reads where the data of each CPU of a buffer lies.
func (d *dat7) readBuffer(option []byte) error {
	c := &byteCursor{src: bytes.NewReader(option), order: d.file.order, end: int64(len(option))}
	sectionAt := c.number(8, "buffer")
	c.text("name of a buffer")
	c.text("clock of a buffer")
	page := c.number(4, "page size of a buffer")
	cpus := c.number(4, "CPUs of a buffer")
	if c.err != nil {
		return c.err
	}
	if page < 512 || page > 1<<20 || cpus > maxCPU {
		return &damage{int64(sectionAt), fmt.Sprintf("a buffer with pages of %d bytes and %d CPUs", page, cpus)}
	}
	d.file.err = nil
	d.file.seek(sectionAt, "buffer")
	d.file.number(2, "buffer")
	packed := d.file.number(2, "buffer")&sectionPacked != 0
	if d.file.err != nil {
		return d.file.err
	}
	d.reader.page = int(page)
	for ; cpus > 0 && c.err == nil; cpus-- {
		cpu := c.number(4, "CPU")
		offset := c.number(8, "offset of a CPU's data")
		size := c.number(8, "size of a CPU's data")
		if c.err == nil && cpu < maxCPU {
			d.addCPU(int32(cpu), offset, size, packed)
		}
	}
	return c.err
}

// chunkCountSize is the word before the chunks, which trace-cmd does not count in
// the size of a CPU's data.
const chunkCountSize = 4

func (d *dat7) addCPU(cpu int32, offset, size uint64, packed bool) {
	r := d.reader
	if !packed || size == 0 {
		r.addPlain(d.file, cpu, offset, size)
		return
	}
	if d.codec == nil || offset > uint64(r.size) || size > uint64(r.size)-offset {
		r.stats.truncate(d.file.pos, "the data of CPU %d (%d bytes at byte %d) cannot be in the file, which has %d bytes", cpu, size, offset, r.size)
		return
	}
	end := min(int64(offset+size)+chunkCountSize, r.size)
	cursor := byteCursor{src: r.src, order: r.order, pos: int64(offset), end: end}
	r.addStream(cpu, offset, size, &packedPages{cursor: cursor, codec: d.codec, pageSize: r.page})
}
