package trace

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// datStream is the data of one CPU: pages, and the entries in them.
type datStream struct {
	reader *datReader
	cpu    int32
	first  int64 // byte offset of the data
	pages  pageSource

	page    ringPage
	opened  bool
	record  []byte // of the next entry, in page
	time    int64  // raw stamp of the next entry
	lost    int64  // entries lost before it; 0: none
	missed  bool   // some page told of lost entries
	entries int64  // records met
}

// advance moves to the next record; it reports false at the end.
func (s *datStream) advance() bool {
	for {
		if s.opened {
			record, ok, fault := s.page.record()
			if fault != "" {
				s.reader.stats.skip(s.page.base, "CPU %d: %s", s.cpu, fault)
			}
			if ok {
				s.record, s.time = record, s.page.time
				s.entries++
				return true
			}
		}
		if !s.nextPage() {
			return false
		}
	}
}

func (s *datStream) nextPage() bool {
	page, offset, err := s.pages.next()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			s.reader.stats.truncate(offset, "CPU %d: %v", s.cpu, err)
		}
		s.opened = false
		return false
	}
	if fault := s.page.open(&s.reader.layout, page, offset); fault != "" {
		s.reader.stats.skip(offset, "CPU %d: %s", s.cpu, fault)
	}
	s.opened = true
	if s.page.missed != 0 {
		s.lost, s.missed = s.page.missed, true
	}
	return true
}

func (s *datStream) recordOffset() int64 { return s.page.base + int64(s.page.next) }

// pageSource yields the pages of one CPU, with their byte offsets in the file.
// A page is valid until the next call; the error is io.EOF behind the last one.
type pageSource interface {
	next() (page []byte, offset int64, err error)
}

// plainPages reads pages that lie in the file as they are.
type plainPages struct {
	src         io.ReaderAt
	at, end     int64
	pageSize    int
	buffer      []byte
	bufferStart int64
	filled      int
}

// readAhead is how much of a CPU's data is read at once.
const readAhead = 64 << 10

func newPlainPages(src io.ReaderAt, offset, size int64, pageSize int) *plainPages {
	return &plainPages{src: src, at: offset, end: offset + size, pageSize: pageSize}
}

func (p *plainPages) next() ([]byte, int64, error) {
	if p.at >= p.end {
		return nil, p.at, io.EOF
	}
	offset := p.at
	length := int(min(int64(p.pageSize), p.end-p.at))
	if inside := int(offset - p.bufferStart); p.buffer == nil || inside+length > p.filled {
		if err := p.fill(offset, length); err != nil {
			return nil, offset, err
		}
	}
	inside := int(offset - p.bufferStart)
	p.at += int64(length)
	return p.buffer[inside : inside+length], offset, nil
}

func (p *plainPages) fill(offset int64, need int) error {
	if p.buffer == nil {
		p.buffer = make([]byte, min(int64(max(readAhead, p.pageSize)), p.end-offset))
	}
	want := int(min(int64(len(p.buffer)), p.end-offset))
	n, err := p.src.ReadAt(p.buffer[:want], offset)
	p.bufferStart, p.filled = offset, n
	if n < need {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("the data ends within a page: %w", err)
	}
	return nil
}

// packedPages reads pages that are compressed in chunks.
type packedPages struct {
	cursor   byteCursor
	codec    codec
	pageSize int
	chunks   uint64 // left
	started  bool
	packed   []byte
	unpacked []byte
	used     int
	offset   int64 // of the chunk
}

// maxChunk bounds what one chunk may unpack to. trace-cmd packs ten pages.
const maxChunk = 8 << 20

func (p *packedPages) next() ([]byte, int64, error) {
	if !p.started {
		p.started = true
		p.chunks = p.cursor.number(4, "number of chunks")
	}
	for p.used >= len(p.unpacked) {
		if p.chunks == 0 || p.cursor.err != nil {
			return nil, p.cursor.pos, p.endError()
		}
		p.chunks--
		if err := p.unpack(); err != nil {
			p.chunks, p.unpacked, p.used = 0, nil, 0
			return nil, p.offset, err
		}
	}
	length := min(p.pageSize, len(p.unpacked)-p.used)
	page := p.unpacked[p.used : p.used+length]
	p.used += length
	return page, p.offset, nil
}

// endError reports why there are no more pages; bytes behind the last chunk mean
// that the number of chunks is wrong.
func (p *packedPages) endError() error {
	if p.cursor.err != nil {
		err := p.cursor.err
		p.cursor.err, p.chunks = nil, 0
		p.cursor.pos = p.cursor.end
		return err
	}
	if left := p.cursor.end - p.cursor.pos; left > chunkCountSize {
		p.cursor.pos = p.cursor.end
		return fmt.Errorf("%d bytes follow the last chunk that is announced", left)
	}
	return io.EOF
}

func (p *packedPages) unpack() error {
	p.offset = p.cursor.pos
	packedSize := p.cursor.number(4, "size of a chunk")
	size := p.cursor.number(4, "unpacked size of a chunk")
	if p.cursor.err != nil || !p.cursor.has(packedSize, "a chunk") {
		err := p.cursor.err
		p.cursor.err = nil
		p.cursor.pos = p.cursor.end
		return err
	}
	if size > maxChunk {
		return fmt.Errorf("a chunk that says it unpacks to %d bytes", size)
	}
	if uint64(cap(p.packed)) < packedSize {
		p.packed = make([]byte, packedSize)
	}
	p.packed = p.packed[:packedSize]
	if err := readFullAt(p.cursor.src, p.packed, p.cursor.pos); err != nil {
		return err
	}
	p.cursor.pos += int64(packedSize)
	var err error
	p.unpacked, err = p.codec.unpack(p.unpacked[:0], p.packed, int(size))
	p.used = 0
	return err
}

// codec unpacks blocks.
type codec interface {
	// unpack appends to out what packed holds, which must be size bytes.
	unpack(out, packed []byte, size int) ([]byte, error)
}

// newCodec returns the codec that a trace.dat names.
func newCodec(name string) (codec, error) {
	switch name {
	case "zlib":
		return &zlibCodec{}, nil
	case "zstd":
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSection))
		return &zstdCodec{decoder}, err
	case "none", "":
		return nil, nil
	}
	return nil, fmt.Errorf("compressed with %q; zlib, zstd and none can be read: convert it with trace-cmd convert --compression none", name)
}

type zstdCodec struct{ decoder *zstd.Decoder }

func (c *zstdCodec) unpack(out, packed []byte, size int) ([]byte, error) {
	out, err := c.decoder.DecodeAll(packed, out)
	if err != nil {
		return nil, fmt.Errorf("a compressed block that cannot be unpacked: %w", err)
	}
	return out, checkUnpacked(len(out), size)
}

type zlibCodec struct{ input byteSource }

func (c *zlibCodec) unpack(out, packed []byte, size int) ([]byte, error) {
	c.input = byteSource{rest: packed}
	z, err := zlib.NewReader(&c.input)
	if err != nil {
		return nil, fmt.Errorf("a compressed block that cannot be unpacked: %w", err)
	}
	if cap(out) < size {
		out = make([]byte, 0, size)
	}
	n, err := io.ReadFull(z, out[:size])
	if err != nil {
		return nil, fmt.Errorf("a compressed block that cannot be unpacked: %w", err)
	}
	var extra [1]byte
	if more, err := z.Read(extra[:]); more > 0 || err != io.EOF {
		return nil, fmt.Errorf("a compressed block of more than the %d bytes announced, or damaged: %w", size, err)
	}
	return out[:n], nil
}

func checkUnpacked(got, want int) error {
	if got != want {
		return fmt.Errorf("a compressed block of %d bytes, %d are announced", got, want)
	}
	return nil
}

// byteSource is an io.Reader and io.ByteReader over a block.
type byteSource struct{ rest []byte }

func (b *byteSource) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *byteSource) ReadByte() (byte, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	c := b.rest[0]
	b.rest = b.rest[1:]
	return c, nil
}
