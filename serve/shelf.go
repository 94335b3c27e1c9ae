package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// shelf holds the recordings that were opened last.
type shelf struct {
	files   *Library
	limits  Limits
	ctx     context.Context // ends all loading
	builder chan struct{}   // has room for the one recording that is being built

	mutex sync.Mutex
	order []*loading // least recently used first
}

// loading is a recording on its way.
type loading struct {
	path string
	done chan struct{}

	mutex   sync.Mutex
	events  int64
	percent int

	rec *Recording // when done
	err error
}

func newShelf(ctx context.Context, l *Library, limits Limits) *shelf {
	return &shelf{files: l, limits: limits, ctx: ctx, builder: make(chan struct{}, 1)}
}

// get returns a recording, or how far its loading is when that takes longer than
// patience.
func (s *shelf) get(path string, patience time.Duration) (*Recording, *loading, error) {
	l := s.find(path)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.done:
		return l.rec, nil, l.err
	case <-timer.C:
		return nil, l, nil
	}
}

// find returns the recording's place on the shelf, and makes it the last used.
func (s *shelf) find(path string) *loading {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for i, l := range s.order {
		if l.path == path {
			s.order = append(append(s.order[:i:i], s.order[i+1:]...), l)
			return l
		}
	}
	l := &loading{path: path, done: make(chan struct{})}
	s.order = append(s.order, l)
	go s.load(l)
	return l
}

// load builds a recording, one after the other.
func (s *shelf) load(l *loading) {
	defer close(l.done)
	select {
	case s.builder <- struct{}{}:
		defer func() { <-s.builder }()
	case <-s.ctx.Done():
		l.err = s.ctx.Err()
		return
	}
	l.rec, l.err = s.build(l)
	if l.err != nil {
		s.drop(l) // the next request tries again
		return
	}
	s.makeRoom(l)
}

func (s *shelf) build(l *loading) (*Recording, error) {
	reader, file, err := s.files.OpenTrace(l.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }() // read only
	size := int64(0)
	if info, err := file.Stat(); err == nil {
		size = info.Size()
	}
	rec, err := Build(s.ctx, reader, s.limits, func(events int64) {
		read, err := file.Seek(0, io.SeekCurrent)
		if err != nil || size == 0 {
			read, size = 0, 1
		}
		l.report(events, int(min(100, read*100/size)))
	})
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	return rec, nil
}

func (l *loading) report(events int64, percent int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.events, l.percent = events, percent
}

// progress is how many events have been read and which share of the file.
func (l *loading) progress() (events int64, percent int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.events, l.percent
}

func (s *shelf) drop(gone *loading) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for i, l := range s.order {
		if l == gone {
			s.order = append(s.order[:i:i], s.order[i+1:]...)
			return
		}
	}
}

// makeRoom lets go of what was used least recently, until all recordings
// together are within the limits of one; the new one stays.
func (s *shelf) makeRoom(newest *loading) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	total := newest.rec.size()
	var kept []*loading
	for i := len(s.order) - 1; i >= 0; i-- {
		l := s.order[i]
		if l != newest && l.loaded() {
			if total += l.rec.size(); total > s.limits.Changes {
				continue
			}
		}
		kept = append([]*loading{l}, kept...)
	}
	s.order = kept
}

// loaded reports whether there is a recording already.
func (l *loading) loaded() bool {
	select {
	case <-l.done:
		return l.rec != nil
	default:
		return false
	}
}
