package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress shows on one line of a terminal how much is done, how fast it goes
// and how long the rest will take. Its methods may be called from several
// goroutines.
type progress struct {
	what    string // such as "cells"
	out     io.Writer
	watched bool
	now     func() time.Time
	columns func() int // of the terminal; 0: not known

	mutex       sync.Mutex
	start       time.Time
	drawn       time.Time
	done, total int // total 0: not known
	before      int // of done: those that were there at the start
}

// redraw is how often a line is drawn at most that something sets all the time.
const redraw = 100 * time.Millisecond

// newProgress begins to show progress on out, if it is a terminal and quiet is
// false.
func newProgress(out io.Writer, quiet bool, what string, total int) *progress {
	p := &progress{what: what, out: out, watched: isTerminal(out) && !quiet, now: time.Now, columns: func() int { return columnsOf(out) }, total: total}
	p.begin()
	return p
}

func (p *progress) begin() {
	p.start = p.now()
	p.draw()
}

// step says that one more is done.
func (p *progress) step() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done++
	p.draw()
}

// set says how many are done, and how many of them were at the start.
func (p *progress) set(done, total, before int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done, p.total, p.before = done, total, before
	if p.now().Sub(p.drawn) >= redraw || done == total {
		p.draw()
	}
}

// clear removes the line, to be drawn again by the next step.
func (p *progress) clear() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.watched {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func (p *progress) draw() {
	if !p.watched {
		return
	}
	p.drawn = p.now()
	text := p.text()
	// A line that reaches the last column would wrap, and "\r" no longer erase it.
	if columns := p.columns(); columns > 0 {
		text = text[:min(len(text), columns-1)]
	}
	_, _ = fmt.Fprintf(p.out, "\r%s\x1b[K", text)
}

func (p *progress) text() string {
	text := fmt.Sprintf("%d of %d %s", p.done, p.total, p.what)
	if p.total == 0 {
		text = fmt.Sprintf("%d %s", p.done, p.what)
	}
	ran, elapsed := p.done-p.before, p.now().Sub(p.start)
	if ran <= 0 || elapsed <= 0 {
		return text
	}
	text += ", " + rate(float64(ran)/elapsed.Seconds())
	if p.done < p.total {
		left := elapsed / time.Duration(ran) * time.Duration(p.total-p.done)
		text += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return text
}

// rate has two digits that say something.
func rate(perSecond float64) string {
	switch {
	case perSecond >= 10:
		return fmt.Sprintf("%.0f/s", perSecond)
	case perSecond >= 1:
		return fmt.Sprintf("%.1f/s", perSecond)
	}
	return fmt.Sprintf("%.1f/min", perSecond*60)
}
