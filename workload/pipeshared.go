package workload

// Pipes up to v5.4: everybody sleeps on one queue, newest first, and every
// effective wake call wakes them all (ipc-and-benchmarks.md 1.3).

func (c *Channel) writeShared(t TaskID, n int32, resumed bool, out *Outcome) {
	p := &c.pipe
	if resumed {
		p.waitingWriters--
	}
	p.put(n, resumed, out)
	if out.Moved > 0 {
		c.set.wake(&c.readers, dataReady, out)
	}
	if out.Moved < n {
		p.waitingWriters++
		c.set.sleep(&c.readers, t, waitAll)
		out.Blocked = true
	}
}

func (c *Channel) readShared(t TaskID, n int32, resumed bool, out *Outcome) {
	p := &c.pipe
	node := &c.set.nodes[refOf(t)]
	if !resumed {
		node.partial, node.freed = false, false
	}
	taken, freed := p.drain(n, c.set.rules.SparePages)
	out.Moved = taken
	node.partial = node.partial || taken > 0
	// The note that a slot was freed outlives the sleep: such a reader wakes
	// once before sleeping and once more at its end.
	node.freed = node.freed || freed > 0
	if node.freed {
		c.set.wake(&c.readers, spaceReady, out)
	}
	// A reader that got something goes on waiting for the rest only while a
	// writer sleeps in the middle of its write.
	satisfied := taken == n || node.partial && p.waitingWriters == 0
	if !satisfied {
		c.set.sleep(&c.readers, t, waitAll)
		out.Blocked = true
	}
}
