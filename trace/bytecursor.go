package trace

import (
	"bytes"
	"fmt"
	"io"
)

// byteCursor reads numbers, texts and blocks of a binary file in sequence. The
// first failure sticks: everything after it returns zero values, so that a
// caller checks once, at the end of a part.
type byteCursor struct {
	src   io.ReaderAt
	order byteOrder
	pos   int64
	end   int64
	err   error
}

// damage is an error with the place of the damage.
type damage struct {
	offset int64
	text   string
}

func (d *damage) Error() string { return fmt.Sprintf("at byte %d: %s", d.offset, d.text) }

func (c *byteCursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = &damage{c.pos, fmt.Sprintf(format, args...)}
	}
}

// block returns the next n bytes.
func (c *byteCursor) block(n uint64, what string) []byte {
	if !c.has(n, what) {
		return nil
	}
	b := make([]byte, n)
	if err := readFullAt(c.src, b, c.pos); err != nil {
		c.fail("%s: %v", what, err)
		return nil
	}
	c.pos += int64(n)
	return b
}

// skip steps over n bytes.
func (c *byteCursor) skip(n uint64, what string) {
	if c.has(n, what) {
		c.pos += int64(n)
	}
}

func (c *byteCursor) has(n uint64, what string) bool {
	if c.err != nil {
		return false
	}
	if left := c.end - c.pos; left < 0 || n > uint64(left) {
		c.fail("%s: %d bytes are announced, %d are left", what, n, max(left, 0))
		return false
	}
	return true
}

func (c *byteCursor) seek(offset uint64, what string) {
	if c.err == nil && offset > uint64(c.end) {
		c.fail("%s: lies at byte %d, behind the end of the file (%d bytes)", what, offset, c.end)
		return
	}
	c.pos = int64(offset)
}

func (c *byteCursor) number(size int, what string) uint64 {
	var buffer [8]byte
	if !c.has(uint64(size), what) {
		return 0
	}
	if err := readFullAt(c.src, buffer[:size], c.pos); err != nil {
		c.fail("%s: %v", what, err)
		return 0
	}
	c.pos += int64(size)
	return c.order.unsigned(buffer[:], size)
}

// text returns a text that ends in a zero byte.
func (c *byteCursor) text(what string) string {
	const most = 4096
	if c.err != nil {
		return ""
	}
	buffer := make([]byte, min(most, max(c.end-c.pos, 0)))
	if err := readFullAt(c.src, buffer, c.pos); err != nil {
		c.fail("%s: %v", what, err)
		return ""
	}
	end := bytes.IndexByte(buffer, 0)
	if end < 0 {
		c.fail("%s: a text without an end", what)
		return ""
	}
	c.pos += int64(end) + 1
	return string(buffer[:end])
}

// expect consumes a fixed text.
func (c *byteCursor) expect(text, what string) bool {
	got := c.block(uint64(len(text)), what)
	if c.err == nil && string(got) != text {
		c.pos -= int64(len(text))
		c.fail("%s: expected %q, found %q", what, text, got)
	}
	return c.err == nil
}

// readFullAt fills b.
func readFullAt(src io.ReaderAt, b []byte, offset int64) error {
	n, err := src.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
