package workload

// udpSocket is a receiving UDP socket on the loopback device. Its sender is
// never blocked: the memory of a datagram is the receiver's as soon as it is
// sent, and what does not fit there is dropped (ipc-and-benchmarks.md 3.4).
type udpSocket struct {
	queue unixStream // of the datagrams; its account is what they hold
	// memory is what counts against the receive buffer: the datagrams in the
	// queue, and those that were read and not yet given back.
	memory int32
	// waiting is how many datagrams there are, private how many of them, the
	// oldest, the reader has moved to its own queue.
	waiting, private int64
	// kept is the memory of read datagrams that was not yet given back.
	kept int32
}

// full is the test for each datagram that arrives, of that size.
func (u *udpSocket) full(r *LoopbackRules, size int32) bool {
	switch {
	case r.MustFit:
		return u.memory > 0 && u.memory+size > r.UDPRcvBuf
	case r.FullAtLimit:
		return u.memory >= r.UDPRcvBuf
	}
	return u.memory > r.UDPRcvBuf
}

// writeUDP sends one datagram. The softirq that receives it runs before the
// call returns, on the sender's CPU.
func (c *Channel) writeUDP(n int32, out *Outcome) {
	u, rules := c.udp, &c.set.rules
	out.Moved = n
	size := rules.datagramSize(n)
	if u.full(&rules.Loopback, size) {
		out.Dropped++
		return
	}
	u.queue.push(n, size)
	u.memory += size
	u.waiting++
	c.set.wake(&c.readers, dataReady, out)
}

// readUDP takes one datagram; what is longer than n is lost.
func (c *Channel) readUDP(t TaskID, n int32, out *Outcome) {
	u, rules := c.udp, &c.set.rules.Loopback
	if u.waiting == 0 {
		c.set.sleep(&c.readers, t, waitExclusive)
		out.Blocked = true
		return
	}
	if u.private == 0 {
		u.private = u.waiting
	}
	length, size := u.queue.next()
	u.queue.pull(length)
	u.waiting--
	u.private--
	out.Moved = min(n, length)
	u.kept += size
	if !rules.BulkRelease || u.private == 0 || u.kept >= rules.UDPRcvBuf/4 {
		u.memory -= u.kept
		u.kept = 0
	}
}

// next is the length and the true size of the oldest message.
func (u *unixStream) next() (length, trueSize int32) {
	run := &u.runs[u.first]
	return run.length, run.trueSize
}
