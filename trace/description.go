package trace

import "fmt"

// description is what the binary formats say about their records: trace.dat at
// its head, perf.data in a part of its own.
type description struct {
	order   byteOrder
	page    int // bytes of a page of the ring buffer
	layout  pageLayout
	formats *formatTable
	report  *Stats
}

func newDescription(stats *Stats) description {
	return description{formats: newFormatTable(), report: stats}
}

const maxFormats = 1 << 16

// readIntroduction reads the version, the byte order and sizes behind the magic.
func (d *description) readIntroduction(c *byteCursor) (version string) {
	version = c.text("version")
	d.order.big = c.number(1, "byte order") != 0
	c.order = d.order
	c.skip(1, "size of a long")
	at := c.pos
	d.page = int(c.number(4, "page size"))
	if c.err == nil && (d.page < 512 || d.page > 1<<20) {
		c.err = &damage{at, fmt.Sprintf("a page size of %d", d.page)}
	}
	return version
}

// readHeaderInfo reads the two descriptions of the ring buffer.
func (d *description) readHeaderInfo(c *byteCursor) {
	c.expect("header_page\x00", "page header")
	page := c.block(c.number(8, "size of the page header"), "page header")
	c.expect("header_event\x00", "event header")
	event := c.block(c.number(8, "size of the event header"), "event header")
	d.layout = parsePageLayout(d.order, string(page), string(event))
}

func (d *description) readFtraceFormats(c *byteCursor) {
	d.readFormats(c, "ftrace", c.number(4, "number of ftrace formats"))
}

func (d *description) readSystems(c *byteCursor) {
	systems := c.number(4, "number of event systems")
	for ; systems > 0 && c.err == nil; systems-- {
		system := c.text("name of an event system")
		d.readFormats(c, system, c.number(4, "number of events"))
	}
}

func (d *description) readFormats(c *byteCursor, system string, count uint64) {
	if count > maxFormats {
		c.fail("%d event descriptions", count)
	}
	for ; count > 0 && c.err == nil; count-- {
		start := c.pos
		text := c.block(c.number(8, "size of an event description"), "event description")
		if c.err != nil {
			return
		}
		if fault := d.formats.add(system, string(text)); fault != "" {
			d.report.warn(start, "%s, in system %q", fault, system)
		}
	}
}
