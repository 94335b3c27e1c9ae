package trace

// This file reads the head of a trace.dat of version 6, where one part follows
// the other:
//
//	"header_page" "header_event" | ftrace's formats | systems with formats |
//	kallsyms | printk | command lines | number of CPUs | options | data
//
// (trace-cmd.dat(5), version 6.)

func (r *datReader) readVersion6(c *byteCursor) error {
	r.readHeaderInfo(c)
	r.readFtraceFormats(c)
	r.readSystems(c)
	c.skip(c.number(4, "size of kallsyms"), "kallsyms")
	c.skip(c.number(4, "size of the printk formats"), "printk formats")
	r.readCmdlines(string(c.block(c.number(8, "size of the command lines"), "command lines")))
	cpus := c.number(4, "number of CPUs")
	if c.err == nil && cpus > maxCPU {
		c.fail("%d CPUs", cpus)
	}
	buffers := r.readOptions6(c)
	if c.err != nil {
		return c.err
	}
	r.readData6(c, cpus)
	for _, offset := range buffers {
		c.seek(offset, "buffer")
		r.readData6(c, cpus)
	}
	return c.err
}

// readOptions6 reads the options, if any, and returns the offsets of the data of
// further instances. It stops before the word that names the kind of data.
func (r *datReader) readOptions6(c *byteCursor) (buffers []uint64) {
	const word = 10
	kind := c.block(word, "kind of data")
	if c.err != nil || string(kind) != "options  \x00" {
		c.pos -= word
		return nil
	}
	for c.err == nil {
		id := c.number(2, "option")
		if id == 0 {
			return buffers
		}
		content := c.block(c.number(4, "size of an option"), "option")
		if id == optionBuffer && len(content) >= 8 {
			buffers = append(buffers, r.order.unsigned(content, 8))
			continue
		}
		r.readOption(id, content)
	}
	return buffers
}

// readData6 reads where the data of each CPU lies.
func (r *datReader) readData6(c *byteCursor, cpus uint64) {
	if !c.expect("flyrecord\x00", "kind of data (text of a latency tracer cannot be read)") {
		return
	}
	for cpu := uint64(0); cpu < cpus && c.err == nil; cpu++ {
		offset := c.number(8, "offset of a CPU's data")
		size := c.number(8, "size of a CPU's data")
		if c.err != nil {
			return
		}
		r.addPlain(c, int32(cpu), offset, size)
	}
}

// addPlain adds the uncompressed data of a CPU, as far as the file has it.
func (r *datReader) addPlain(c *byteCursor, cpu int32, offset, size uint64) {
	if offset > uint64(r.size) || size > uint64(r.size)-offset {
		r.stats.truncate(c.pos, "the data of CPU %d (%d bytes at byte %d) is not all in the file, which has %d bytes", cpu, size, offset, r.size)
		if offset >= uint64(r.size) {
			return
		}
		size = uint64(r.size) - offset
	}
	r.addStream(cpu, offset, size, newPlainPages(r.src, int64(offset), int64(size), r.page))
}
