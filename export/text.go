package export

import (
	"io"

	"github.com/schedlab/schedlab/trace"
)

// textSink writes ftrace text with the resolution that the recording has, which
// its reader knows from the first event on.
type textSink struct {
	out         io.Writer
	reader      trace.Reader
	fourColumns bool
	writer      trace.Writer
}

func (s *textSink) begin() {
	if s.writer == nil {
		s.writer = trace.NewTextWriter(s.out, s.reader.Names(), trace.TextOptions{
			Microseconds: s.reader.Stats().Resolution == 1000, FourColumns: s.fourColumns,
		})
	}
}

func (s *textSink) write(e *trace.Event) error {
	s.begin()
	return s.writer.Write(e)
}

func (s *textSink) close() error {
	s.begin()
	return s.writer.Close()
}
