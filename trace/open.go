package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
)

var gzipMagic = []byte{0x1f, 0x8b}

// Open opens a recording. The format is recognised by its content; a gzipped
// file is read through. Next's errors name the path.
func Open(path string) (Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	reader, err := openFile(file)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return reader, nil
}

func openFile(file *os.File) (Reader, error) {
	buffered := bufio.NewReaderSize(file, 64<<10)
	var input io.Reader = buffered
	if head, _ := buffered.Peek(len(gzipMagic)); bytes.Equal(head, gzipMagic) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("a damaged gzip file: %w", err)
		}
		input = unzipped
	}
	r := NewTextReader(input).(*textReader)
	r.closer = file
	return r, nil
}
