package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"
)

var gzipMagic = []byte{0x1f, 0x8b}

// Open opens a recording. The format is recognised by its content; a gzipped
// file is read through.
func Open(path string) (Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return OpenFile(file)
}

// OpenFile is [Open] for a file that is open already. It takes the file over:
// Close closes it, and so does an error.
func OpenFile(file *os.File) (Reader, error) {
	reader, err := openFile(file)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return reader, nil
}

// openFile takes the file over when it succeeds.
func openFile(file *os.File) (Reader, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errors.New("is a folder; name the trace in it, such as trace.txt.gz")
	}
	source := &input{file: file, size: info.Size()}
	head := make([]byte, sniffLength)
	n, err := io.ReadFull(file, head)
	if err != nil && !isEOF(err) {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	head = head[:n]
	if bytes.HasPrefix(head, gzipMagic) {
		if head, err = source.unzip(); err != nil {
			return nil, err
		}
	}
	return openAs(sniff(head), source)
}

// input is a file to be read, and what Close has to release.
type input struct {
	file   *os.File
	size   int64
	zipped io.Reader // the content, where file is gzipped
}

// unzip puts the decompressed content in the place of the file and returns its
// beginning.
func (in *input) unzip() ([]byte, error) {
	zipped, err := gzip.NewReader(bufio.NewReaderSize(in.file, 64<<10))
	if err != nil {
		return nil, fmt.Errorf("a damaged gzip file: %w", err)
	}
	buffered := bufio.NewReaderSize(zipped, 64<<10)
	in.zipped = buffered
	head, err := buffered.Peek(sniffLength)
	if err != nil && len(head) == 0 {
		return nil, fmt.Errorf("a damaged gzip file: %w", err)
	}
	return head, nil
}

// stream returns the content from its beginning.
func (in *input) stream() io.Reader {
	if in.zipped != nil {
		return in.zipped
	}
	return in.file
}

// seekable returns the content for random access: of a gzipped file a temporary
// copy, which vanishes with the reader. damaged is the error that ended it early.
func (in *input) seekable() (src io.ReaderAt, size int64, damaged error, err error) {
	if in.zipped == nil {
		return in.file, in.size, nil, nil
	}
	spool, err := os.CreateTemp("", "schedlab-trace-*")
	if err != nil {
		return nil, 0, nil, err
	}
	_ = os.Remove(spool.Name())
	size, damaged = io.CopyN(spool, in.zipped, maxSpool)
	switch {
	case errors.Is(damaged, io.EOF):
		damaged = nil
	case damaged == nil:
		damaged = fmt.Errorf("it unpacks to more than %d GiB; the rest is left out", maxSpool>>30)
	}
	_ = in.file.Close()
	in.file = spool
	return spool, size, damaged, nil
}

type format uint8

const (
	formatNone format = iota
	formatText
	formatDat
	formatPerf
	formatPerfetto
)

const sniffLength = 4096

// maxSpool bounds the temporary copy of a gzipped file, so that a small file
// cannot fill the disk.
const maxSpool = 16 << 30

// sniff recognises a format by the beginning of its content.
func sniff(head []byte) format {
	switch {
	case bytes.HasPrefix(head, datMagic):
		return formatDat
	case bytes.HasPrefix(head, perfMagic), bytes.HasPrefix(head, perfMagicBig):
		return formatPerf
	case isPerfetto(head):
		return formatPerfetto
	case isText(head):
		return formatText
	}
	return formatNone
}

// isPerfetto recognises a packet of sensible length whose content begins with a
// field. Text cannot look like it: 0x0a is a line feed, and the length that
// follows would have to fit what comes then.
func isPerfetto(head []byte) bool {
	id, wire, n := protowire.ConsumeTag(head)
	if n < 0 || id != traceFieldPacket || wire != protowire.BytesType {
		return false
	}
	length, m := protowire.ConsumeVarint(head[n:])
	if m < 0 || length == 0 {
		return false
	}
	packet := head[n+m:]
	if length < uint64(len(packet)) {
		fields := protoFields{rest: packet[:length]}
		for {
			if _, ok := fields.next(); !ok {
				return !fields.fault
			}
		}
	}
	_, wire, n = protowire.ConsumeTag(packet)
	return n > 0 && wire <= protowire.Fixed32Type && !isText(head)
}

// isText accepts what has no control characters but those of lines; the names of
// tasks may be in any encoding.
func isText(head []byte) bool {
	odd := 0
	for _, c := range head {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			odd++
		}
	}
	if !utf8.Valid(head) {
		odd++
	}
	return len(head) > 0 && odd*100 <= len(head)
}

func openAs(f format, in *input) (Reader, error) {
	switch f {
	case formatText:
		r := NewTextReader(in.stream()).(*textReader)
		r.closer = in.file
		return r, nil
	case formatNone:
		return nil, ErrNotATrace
	}
	src, size, damaged, err := in.seekable()
	if err != nil {
		return nil, err
	}
	reader, shared, err := openSeekable(f, src, size)
	if err != nil {
		return nil, err
	}
	shared.closer = in.file
	if damaged != nil {
		shared.stats.truncate(size, "the gzip file is damaged: %v", damaged)
	}
	return reader, nil
}

func openSeekable(f format, src io.ReaderAt, size int64) (Reader, *base, error) {
	switch f {
	case formatDat:
		r, err := newDatReader(src, size)
		if err != nil {
			return nil, nil, err
		}
		return r, &r.base, nil
	case formatPerfetto:
		r, err := newPerfettoReader(src, size)
		if err != nil {
			return nil, nil, err
		}
		return r, &r.base, nil
	case formatPerf:
		r, err := newPerfReader(src, size)
		if err != nil {
			return nil, nil, err
		}
		return r, &r.base, nil
	}
	return nil, nil, ErrNotATrace
}
