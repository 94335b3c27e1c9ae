package trace

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// pageBuilder writes a page as a kernel of either byte order does.
type pageBuilder struct {
	order binary.AppendByteOrder
	big   bool
	data  []byte
}

func (b *pageBuilder) word(v uint32) { b.data = b.order.AppendUint32(b.data, v) }

// entry writes an entry's first word.
func (b *pageBuilder) entry(kind, delta uint32) {
	if b.big {
		b.word(kind<<27 | delta)
	} else {
		b.word(delta<<5 | kind)
	}
}

// page puts the head before the entries, of a page of 256 bytes.
func (b *pageBuilder) page(time, flags uint64) []byte {
	out := b.order.AppendUint64(nil, time)
	out = b.order.AppendUint64(out, uint64(len(b.data))|flags)
	out = append(out, b.data...)
	if flags&ringMissedStored != 0 {
		out = b.order.AppendUint64(out, 42)
	}
	return append(out, make([]byte, 256-len(out))...)
}

// Times by hand: the page begins at 1000; 1000+5 = 1005; the extension adds
// 1<<27 + 3 = 134217731, so 134218736; the discarded entry adds 2; the last entry
// another 10: 134218748. The time stamp is 7<<27 | 9 = 939524105.
func TestRingPage(t *testing.T) {
	for _, big := range []bool{false, true} {
		t.Run(fmt.Sprint("big=", big), func(t *testing.T) {
			b := &pageBuilder{order: binary.LittleEndian, big: big}
			if big {
				b.order = binary.BigEndian
			}
			b.entry(1, 5) // 4 bytes
			b.word(0xa1a1a1a1)
			b.entry(ringTimeExtend, 3)
			b.word(1)
			b.entry(ringPadding, 2) // discarded: 8 more bytes, of which its length takes 4
			b.word(8)
			b.word(0)
			b.entry(0, 10) // the length stands behind: 4 for itself and 12
			b.word(16)
			for range 3 {
				b.word(0xb2b2b2b2)
			}
			b.entry(ringTimeStamp, 9)
			b.word(7)
			b.entry(2, 0)
			b.word(0xc3c3c3c3)
			b.word(0xc3c3c3c3)

			layout := &pageLayout{order: byteOrder{big}, commitSize: 8, dataOffset: 16, absolute: true}
			var p ringPage
			if fault := p.open(layout, b.page(1000, ringMissed|ringMissedStored), 0); fault != "" {
				t.Fatal(fault)
			}
			if p.missed != 42 {
				t.Errorf("%d entries missed, want 42", p.missed)
			}
			for _, want := range []struct {
				time   int64
				length int
				first  byte
			}{{1005, 4, 0xa1}, {134218748, 12, 0xb2}, {939524105, 8, 0xc3}} {
				record, ok, fault := p.record()
				if !ok || fault != "" || p.time != want.time || len(record) != want.length || record[0] != want.first {
					t.Fatalf("%x at %d (%v %q), want %+v", record, p.time, ok, fault, want)
				}
			}
			if _, ok, fault := p.record(); ok || fault != "" {
				t.Errorf("more behind the last entry: %v %q", ok, fault)
			}
		})
	}
}

func TestRingPageDamage(t *testing.T) {
	layout := &pageLayout{commitSize: 8, dataOffset: 16, absolute: true}
	build := func(f func(b *pageBuilder)) []byte {
		b := &pageBuilder{order: binary.LittleEndian}
		f(b)
		return b.page(0, 0)
	}
	for name, page := range map[string][]byte{
		"longer than the page":   build(func(b *pageBuilder) { b.entry(28, 0) }),
		"cut off":                build(func(b *pageBuilder) { b.entry(0, 0) }),
		"no length":              build(func(b *pageBuilder) { b.entry(0, 0); b.word(0) }),
		"padding and more":       build(func(b *pageBuilder) { b.entry(ringPadding, 0); b.word(0); b.word(0); b.word(0) }),
		"discarded beyond it":    build(func(b *pageBuilder) { b.entry(ringPadding, 1); b.word(9999) }),
		"a time that is cut off": build(func(b *pageBuilder) { b.entry(ringTimeExtend, 1) }),
	} {
		var p ringPage
		if fault := p.open(layout, page, 0); fault != "" {
			t.Fatal(fault)
		}
		if record, ok, fault := p.record(); ok || fault == "" {
			t.Errorf("%s: %x passes", name, record)
		}
	}
	var p ringPage
	full := build(func(*pageBuilder) {})
	binary.LittleEndian.PutUint64(full[8:], 4000)
	if fault := p.open(layout, full, 0); fault == "" {
		t.Error("a page of 256 bytes that says it holds 4000 passes")
	}
}

// multiplyShift must not lose the upper bits: (2^40 * 3) >> 10 = 3 * 2^30.
func TestMultiplyShift(t *testing.T) {
	for _, c := range []struct {
		raw         uint64
		mult, shift uint32
		want        int64
	}{{1 << 40, 3, 10, 3 << 30}, {1000, 5, 1, 2500}, {1 << 50, 1 << 20, 40, 1 << 30}, {123456789, 1 << 31, 31, 123456789}} {
		if got := multiplyShift(c.raw, c.mult, c.shift); got != c.want {
			t.Errorf("%d * %d >> %d = %d, want %d", c.raw, c.mult, c.shift, got, c.want)
		}
	}
}
