package workload

// tcpStream is one direction of a TCP connection over the loopback device
// (ipc-and-benchmarks.md 3.1 to 3.3). What a send transmits is received by a
// softirq before the call returns, in its sender's context and on its CPU: the
// segment is queued, an ACK may go back the same way, and a sleeping receiver
// is woken. Nothing is lost and nothing is in flight, so there are neither a
// congestion window nor timers.
//
// acked and freed differ while an ACK waits for a sender who is inside a send
// call; sent and received while segments wait for a receiver inside recv.
type tcpStream struct {
	reverse *Channel // the other direction, nil: nothing ever goes back
	noDelay bool     // TCP_NODELAY: no Nagle

	written  int64    // bytes that the sender has copied into its queue
	sent     position // what has been transmitted
	received position // what TCP has processed at the receiver
	acked    position // what the receiver has acknowledged
	freed    position // what the sender knows to be acknowledged
	read     int64    // bytes that the receiver has copied out
	edge     int64    // up to where the sender may transmit
	window   int64    // what the receiver offers from where it has read to
	copied   int64    // read since the window last grew

	smallEnd int64 // where the last segment below the MSS ended
	longest  int64 // the longest segment so far, at most the MSS

	sending   bool // the sender is inside a send call and owns its socket
	reading   bool // the receiver is inside recv, awake, and owns its socket
	receiving bool // it is inside recv, awake or not
	ackWaits  bool // for the sender to release its socket
	wantSpace bool // a sender sleeps for room in its queue
	replies   bool // the receiver answers: its ACKs ride on what it sends
}

// position is a place in the stream of bytes and the number of segments up to
// there.
type position struct{ bytes, segments int64 }

func newTCPStream(spec ChannelSpec) *tcpStream {
	return &tcpStream{noDelay: spec.NoDelay, window: initialWindow, edge: initialWindow}
}

// queued is the sender's write memory in use.
func (s *tcpStream) queued(r *LoopbackRules) int64 {
	unsent := s.written - s.sent.bytes
	longest := int64(r.SegmentMax)
	segments := s.sent.segments - s.freed.segments + (unsent+longest-1)/longest
	return s.written - s.freed.bytes + segments*segmentOverhead
}

// room is how much the segment at the end of the queue still takes, 0 when the
// next byte needs a new one.
func (s *tcpStream) room(r *LoopbackRules) int64 {
	last := (s.written - s.sent.bytes) % int64(r.SegmentMax)
	if last == 0 {
		return 0
	}
	return int64(r.SegmentMax) - last
}

// writeTCP copies into the queue and transmits what may go. Memory is asked for
// when a new segment is begun; who finds none sleeps until a third of it is
// free again.
func (c *Channel) writeTCP(t TaskID, n int32, out *Outcome) {
	s, rules := c.tcp, &c.set.rules.Loopback
	s.sending = true
	for out.Moved < n {
		room := s.room(rules)
		if room == 0 {
			if s.queued(rules) >= rules.TCPSndBuf && !c.makeRoom(out) {
				s.sending, s.wantSpace = false, true
				c.set.sleep(&c.writers, t, waitAll)
				out.Blocked = true
				return
			}
			room = int64(rules.SegmentMax)
		}
		part := int32(min(int64(n-out.Moved), room))
		s.written += int64(part)
		out.Moved += part
		if s.room(rules) == 0 {
			c.transmit(s.noDelay, out)
		}
	}
	c.transmit(s.noDelay, out)
	c.takeWaitingAcks(out)
	s.sending = false
}

// makeRoom transmits everything and handles the ACKs that came meanwhile. It
// reports whether there is memory now.
func (c *Channel) makeRoom(out *Outcome) bool {
	rules := &c.set.rules.Loopback
	c.transmit(true, out)
	c.takeWaitingAcks(out)
	return c.tcp.queued(rules) < rules.TCPSndBuf
}

// transmit sends segments as far as the window and Nagle's rule let it: a
// segment below the MSS waits while another one is not acknowledged.
func (c *Channel) transmit(noDelay bool, out *Outcome) {
	s, rules := c.tcp, &c.set.rules.Loopback
	for {
		length := min(s.written-s.sent.bytes, int64(rules.SegmentMax))
		if length == 0 || s.sent.bytes+length > s.edge && !s.reopens() {
			return
		}
		small := length < int64(rules.MSS)
		if small && !noDelay && s.smallEnd > s.freed.bytes && !s.ackIsLate() {
			return
		}
		c.deliver(length, small, out)
	}
}

// reopens offers the sender what a receiver that has read everything could: in
// a kernel a window update went out when it did, or a probe asks for one.
func (s *tcpStream) reopens() bool {
	if !s.ackIsLate() {
		return false
	}
	s.edge = max(s.edge, s.read+s.window)
	return true
}

// ackIsLate says that nobody has anything left to do that would bring the
// missing ACK: in a kernel it comes with the delayed-ACK timer, after 40 ms.
func (s *tcpStream) ackIsLate() bool {
	return s.read == s.sent.bytes && !s.reading && !s.ackWaits
}

// deliver takes one segment through the device to the receiver.
func (c *Channel) deliver(length int64, small bool, out *Outcome) {
	s, rules := c.tcp, &c.set.rules.Loopback
	s.sent.bytes += length
	s.sent.segments++
	if small {
		s.smallEnd = s.sent.bytes
	}
	s.longest = max(s.longest, min(length, int64(rules.MSS)))
	out.Segments++
	c.carryAck(out)
	if !s.reading && (!rules.Prequeue || !s.receiving) {
		c.receive(out)
	}
	c.set.wake(&c.readers, dataReady, out)
}

// carryAck acknowledges the other direction with a segment of this one, and
// remembers that there are such.
func (c *Channel) carryAck(out *Outcome) {
	if c.tcp.reverse == nil {
		return
	}
	other := c.tcp.reverse.tcp
	other.replies = true
	if other.received != other.acked {
		c.tcp.reverse.acknowledge(out)
	}
}

// receive processes the segments that have arrived. An ACK goes out at once
// when more than one segment is not acknowledged and the window can move: the
// receiver has read something since the last one.
func (c *Channel) receive(out *Outcome) {
	s := c.tcp
	out.Received += int32(s.sent.segments - s.received.segments)
	s.received = s.sent
	if s.unacknowledged() > s.longest && s.read+s.window > s.edge {
		c.sendAck(out)
	}
}

func (s *tcpStream) unacknowledged() int64 { return s.received.bytes - s.acked.bytes }

// sendAck sends an ACK of its own.
func (c *Channel) sendAck(out *Outcome) {
	out.Acks++
	c.acknowledge(out)
}

// acknowledge tells the sender how far the receiver is. A sender inside a send
// call hears of it when it releases its socket.
func (c *Channel) acknowledge(out *Outcome) {
	s := c.tcp
	s.acked = s.received
	s.edge = max(s.edge, s.read+s.window)
	if s.sending {
		s.ackWaits = true
		return
	}
	c.takeAck(out)
}

func (c *Channel) takeWaitingAcks(out *Outcome) {
	for s := c.tcp; s.ackWaits; {
		s.ackWaits = false
		c.takeAck(out)
	}
}

// takeAck is the sender's side of an ACK: memory becomes free, held segments
// may go, and a sender that waits for room is woken when the queue is down to
// two thirds, without the sync hint.
func (c *Channel) takeAck(out *Outcome) {
	s, rules := c.tcp, &c.set.rules.Loopback
	s.freed = s.acked
	c.transmit(s.noDelay, out)
	if s.wantSpace && 3*s.queued(rules) <= 2*rules.TCPSndBuf {
		s.wantSpace = false
		first := len(out.Wakes)
		c.set.wake(&c.writers, spaceReady, out)
		for i := range out.Wakes[first:] {
			out.Wakes[first+i].Sync = false
		}
	}
}

// readTCP copies out what there is, up to n bytes.
func (c *Channel) readTCP(t TaskID, n int32, out *Outcome) {
	s := c.tcp
	s.reading, s.receiving = true, true
	c.receiveBacklog(out)
	if s.received.bytes == s.read && s.holdsBack() {
		c.sendAck(out)
		c.receiveBacklog(out)
	}
	if s.received.bytes == s.read {
		s.reading = false
		c.set.sleep(&c.readers, t, waitAll)
		out.Blocked = true
		return
	}
	out.Moved = int32(min(int64(n), s.received.bytes-s.read))
	s.read += int64(out.Moved)
	s.widen(int64(out.Moved))
	if s.owesAck() {
		c.sendAck(out)
	}
	c.receiveBacklog(out) // what that ACK let the sender send
	s.reading, s.receiving = false, false
}

// receiveBacklog processes what has come while the receiver owned its socket.
func (c *Channel) receiveBacklog(out *Outcome) {
	for c.tcp.received != c.tcp.sent {
		c.receive(out)
	}
}

// owesAck is the test at the end of recv: more than a segment is not
// acknowledged, all is read and no reply will carry the ACK, or the window has
// at least doubled. Who has read everything lets a sender go on in any case.
func (s *tcpStream) owesAck() bool {
	drained := s.read == s.sent.bytes
	open, could := s.edge-s.received.bytes, s.read+s.window-s.received.bytes
	return s.unacknowledged() > s.longest ||
		drained && s.unacknowledged() > 0 && !s.replies ||
		drained && s.holdsBack() ||
		2*open <= s.window && could >= 2*open
}

// holdsBack says that the sender has more and waits for an ACK that is not on
// its way.
func (s *tcpStream) holdsBack() bool { return s.written > s.sent.bytes && !s.ackWaits }

// widen lets the window follow what the receiver reads.
func (s *tcpStream) widen(n int64) {
	s.copied += n
	for s.copied >= s.window && s.window < widestWindow {
		s.copied -= s.window
		s.window = min(2*s.window, widestWindow)
	}
}

// Leaving is how many segments a write of n bytes to a TCP connection would
// transmit if it began now, and how many of them its softirq would process.
func (c *Channel) Leaving(n int64) (segments, processed int64) {
	if c.variant != tcpDirection {
		return 0, 0
	}
	s, rules := c.tcp, &c.set.rules.Loopback
	longest := int64(rules.SegmentMax)
	unsent := s.written - s.sent.bytes + n
	segments = unsent / longest
	rest := unsent % longest
	if rest >= int64(rules.MSS) || rest > 0 && (s.noDelay || s.smallEnd <= s.freed.bytes || s.ackIsLate()) {
		segments++
	}
	if window := s.edge - s.sent.bytes; unsent > window {
		segments = min(segments, window/longest)
	}
	if s.reading || rules.Prequeue && s.receiving {
		return segments, 0
	}
	return segments, segments
}

// EnterCall says that a task is about to make a call: from now to its end, or
// to its sleep, it owns its end of a TCP connection.
func (c *Channel) EnterCall(write bool) {
	switch {
	case c.variant != tcpDirection:
	case write:
		c.tcp.sending = true
	default:
		c.tcp.reading, c.tcp.receiving = true, true
	}
}
