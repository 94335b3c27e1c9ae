package trace

import "strings"

// This file reads pages of the kernel's ring buffer, which trace.dat holds as
// they are. A page begins with the time of its first entry and the number of
// bytes in use; entries follow, each with the time since the one before:
//
//	+--------------+-----------------+------------------------------------+
//	| time, 8 bytes| in use, 4 or 8  | entries ...                        |
//	+--------------+-----------------+------------------------------------+
//
//	entry: 5 bits type or length / 4, 27 bits delta, [32 bits length or delta,] record

// Types of entries above the lengths, from linux/ring_buffer.h.
const (
	ringPadding    = 29
	ringTimeExtend = 30
	ringTimeStamp  = 31
	ringDeltaBits  = 27
)

// Flags in the number of bytes in use.
const (
	ringMissed       = 1 << 31 // entries were overwritten before this page
	ringMissedStored = 1 << 30 // their number follows the entries
	ringCommitMask   = 1<<27 - 1
)

// pageLayout is what header_page and header_event say.
type pageLayout struct {
	order      byteOrder
	commitSize int // bytes of the number in use, that of the kernel's long
	dataOffset int
	absolute   bool // entries of type 31 carry a full time stamp (since 4.17)
}

// parsePageLayout reads the two texts of a trace.dat.
func parsePageLayout(order byteOrder, headerPage, headerEvent string) pageLayout {
	layout := pageLayout{order: order, commitSize: 8, dataOffset: 16, absolute: strings.Contains(headerEvent, "time_stamp")}
	for _, line := range strings.Split(headerPage, "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "field:") {
			continue
		}
		f, err := parseFormatField(line)
		if err != nil {
			continue
		}
		switch f.name {
		case "commit":
			layout.commitSize = f.size
		case "data":
			layout.dataOffset = f.offset
		}
	}
	return layout
}

func (l *pageLayout) valid() bool {
	return (l.commitSize == 4 || l.commitSize == 8) && l.dataOffset == 8+l.commitSize
}

// ringPage walks one page.
type ringPage struct {
	layout *pageLayout
	data   []byte // the entries in use
	next   int
	time   int64
	missed int64 // entries lost before this page; 0: none, Unknown: not counted
	base   int64 // byte offset of the page in the file
}

// open starts at a page; it reports what is wrong, or "".
func (p *ringPage) open(layout *pageLayout, page []byte, offset int64) string {
	*p = ringPage{layout: layout, base: offset}
	if len(page) < layout.dataOffset {
		return "a page that is cut off"
	}
	p.time = int64(layout.order.unsigned(page, 8))
	commit := layout.order.unsigned(page[8:], layout.commitSize)
	used := int(commit & ringCommitMask)
	rest := page[layout.dataOffset:]
	fault := ""
	if used > len(rest) {
		fault = "a page that says it is fuller than it is long"
		used = len(rest)
	}
	p.data = rest[:used]
	if commit&ringMissed != 0 {
		p.missed = Unknown
		if commit&ringMissedStored != 0 && used+layout.commitSize <= len(rest) {
			p.missed = int64(layout.order.unsigned(rest[used:], layout.commitSize))
		}
	}
	return fault
}

// record returns the next entry that carries an event; ok is false at the end of
// the page. fault says what is wrong where the walk cannot go on.
func (p *ringPage) record() (record []byte, ok bool, fault string) {
	order := p.layout.order
	for {
		left := p.data[p.next:]
		if len(left) == 0 {
			return nil, false, ""
		}
		if len(left) < 4 {
			return nil, false, "an entry that is cut off"
		}
		kind, delta := p.header(left)
		switch kind {
		case ringPadding:
			if delta == 0 {
				return nil, false, p.paddingFault(left)
			}
			if len(left) < 8 {
				return nil, false, "an entry that is cut off"
			}
			length := int(order.unsigned(left[4:], 4))
			if length < 4 || length > len(left)-4 {
				return nil, false, "a discarded entry that is longer than its page"
			}
			p.time += delta
			p.next += 4 + length
		case ringTimeExtend, ringTimeStamp:
			if len(left) < 8 {
				return nil, false, "an entry that is cut off"
			}
			p.extend(kind, delta, int64(order.unsigned(left[4:], 4)))
			p.next += 8
			if kind == ringTimeStamp && !p.layout.absolute {
				p.next = min(p.next+8, len(p.data))
			}
		default:
			start, length := 4, 4*kind
			if kind == 0 {
				if len(left) < 8 {
					return nil, false, "an entry that is cut off"
				}
				start, length = 8, int(order.unsigned(left[4:], 4))-4
			}
			if length < 0 || start+length > len(left) {
				return nil, false, "an entry that is longer than its page"
			}
			p.time += delta
			p.next += start + (length+3)&^3
			p.next = min(p.next, len(p.data))
			return left[start : start+length], true, ""
		}
	}
}

// header splits the first word of an entry.
func (p *ringPage) header(entry []byte) (kind int, delta int64) {
	word := p.layout.order.unsigned(entry, 4)
	if p.layout.order.big {
		return int(word >> ringDeltaBits), int64(word & (1<<ringDeltaBits - 1))
	}
	return int(word & 31), int64(word >> 5)
}

// extend applies a longer delta or a full time stamp, whose upper 5 bits are
// those of the time so far.
func (p *ringPage) extend(kind int, low, high int64) {
	long := high<<ringDeltaBits | low
	switch {
	case kind == ringTimeExtend:
		p.time += long
	case p.layout.absolute:
		const upper = ^int64(1<<59 - 1)
		p.time = p.time&upper | long
	}
}

// paddingFault accepts padding to the end of a page only where nothing follows.
func (p *ringPage) paddingFault(left []byte) string {
	if len(left) > 8 {
		return "padding before the end of what the page says is in use"
	}
	return ""
}
