package workload

// Pipes from v5.5 on: readers and writers sleep exclusively on queues of their
// own, first come first woken (ipc-and-benchmarks.md 1.2).

func (c *Channel) writeExclusive(t TaskID, n int32, resumed bool, out *Outcome) {
	p := &c.pipe
	wasEmpty := p.empty()
	p.put(n, resumed, out)
	if out.Moved < n {
		if wasEmpty {
			c.set.wake(&c.readers, dataReady, out)
		}
		c.set.sleep(&c.writers, t, waitExclusive)
		out.Blocked = true
		return
	}
	if wasEmpty || p.polled {
		c.set.wake(&c.readers, dataReady, out)
	}
	// A writer that slept passes the space that is left on to the next one.
	if resumed && !p.full() {
		c.set.wake(&c.writers, spaceReady, out)
	}
}

func (c *Channel) readExclusive(t TaskID, n int32, resumed bool, out *Outcome) {
	p := &c.pipe
	if p.empty() {
		c.set.sleep(&c.readers, t, waitExclusive)
		out.Blocked = true
		return
	}
	wasFull := p.full()
	taken, freed := p.drain(n, c.set.rules.SparePages)
	out.Moved = taken
	if wasFull && (c.variant == exclusivePipe || freed > 0) {
		c.set.wake(&c.writers, spaceReady, out)
	}
	if resumed && !p.empty() {
		c.set.wake(&c.readers, dataReady, out)
	}
}
