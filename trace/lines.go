package trace

import (
	"bytes"
	"errors"
	"io"
)

const (
	firstLineBuffer = 64 << 10
	maxLine         = 1 << 20 // a longer line is no line of a trace
)

// lineScanner cuts an input into lines without copying them.
type lineScanner struct {
	input      io.Reader
	buffer     []byte
	start, end int   // unread part of buffer
	offset     int64 // of buffer[start] in the input
	err        error // of input; io.EOF at its end
}

// line is one line; text is valid until the next call.
type line struct {
	text    []byte // without the line feed
	offset  int64
	ended   bool // by a line feed, not by the end of the input
	tooLong bool // text is only its beginning
}

func newLineScanner(input io.Reader) *lineScanner {
	return &lineScanner{input: input, buffer: make([]byte, firstLineBuffer)}
}

// next returns io.EOF behind the last line. Where the input breaks with another
// error, the rest of the buffer is returned first.
func (s *lineScanner) next() (line, error) {
	searched := 0
	for {
		unread := s.buffer[s.start:s.end]
		if i := bytes.IndexByte(unread[searched:], '\n'); i >= 0 {
			return s.take(searched+i, 1), nil
		}
		searched = len(unread)
		if s.err != nil {
			if len(unread) == 0 {
				return line{}, s.err
			}
			return s.take(len(unread), 0), nil
		}
		if len(unread) >= maxLine {
			return s.skipLong()
		}
		s.fill()
	}
}

// take returns the first length bytes as a line and steps over it and its feed.
func (s *lineScanner) take(length, feed int) line {
	l := line{text: s.buffer[s.start : s.start+length], offset: s.offset, ended: feed > 0}
	s.start += length + feed
	s.offset += int64(length + feed)
	return l
}

// fill reads more behind the unread part, and makes room for it first.
func (s *lineScanner) fill() {
	if s.start > 0 {
		copy(s.buffer, s.buffer[s.start:s.end])
		s.end -= s.start
		s.start = 0
	}
	if s.end == len(s.buffer) {
		s.buffer = append(s.buffer, make([]byte, len(s.buffer))...)
	}
	n, err := s.input.Read(s.buffer[s.end:])
	s.end += n
	s.err = err
}

// skipLong drops everything up to the next line feed.
func (s *lineScanner) skipLong() (line, error) {
	long := line{text: bytes.Clone(s.buffer[s.start : s.start+80]), offset: s.offset, tooLong: true}
	for {
		s.offset += int64(s.end - s.start)
		s.start, s.end = 0, 0
		if s.err != nil {
			return long, nil
		}
		s.fill()
		if i := bytes.IndexByte(s.buffer[:s.end], '\n'); i >= 0 {
			s.start = i + 1
			s.offset += int64(i + 1)
			return long, nil
		}
	}
}

// broken returns the error that ended the input early, or nil.
func (s *lineScanner) broken() error {
	if s.err == nil || errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}
