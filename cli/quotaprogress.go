package cli

import (
	"fmt"
	"io"
	"sync"
)

// progressCounter shows how many simulations are done, on a terminal.
type progressCounter struct {
	mutex       sync.Mutex
	out         io.Writer // nil: nobody watches
	done, total int
}

func quotaProgress(out io.Writer, quiet bool, total int) *progressCounter {
	if quiet || !isTerminal(out) {
		out = nil
	}
	return &progressCounter{out: out, total: total}
}

func (p *progressCounter) step() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done++
	if p.out != nil {
		fmt.Fprintf(p.out, "\r%d of %d", p.done, p.total)
	}
}

func (p *progressCounter) end() {
	if p.out != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
