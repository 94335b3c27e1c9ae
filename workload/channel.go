package workload

// Wake says that a sleeping task becomes runnable. Sync is the kernel's hint
// that the waker is about to sleep.
type Wake struct {
	Task TaskID
	Sync bool
}

// Outcome is what one call of Write, Read or Poll did. The caller owns it and
// passes it again and again; each call overwrites it and reuses Wakes.
type Outcome struct {
	// Wakes are the sleepers that become runnable, in the kernel's order. They
	// happen near the end of the call, or before the caller goes to sleep when
	// Blocked is set.
	Wakes []Wake
	// Moved is the bytes this call transferred.
	Moved int32
	// NewPages is the memory this call allocated: pages of a pipe beyond those
	// it kept spare, socket buffers of a stream.
	NewPages int32
	// Segments is how many TCP segments with data were transmitted in this call,
	// Received how many were processed by the receiving side's TCP, by whichever
	// side, and Acks how many ACKs without data were sent and processed.
	Segments, Received, Acks int32
	// Dropped is how many datagrams found the receiver's buffer full.
	Dropped int32
	// Calls is how often an operation on a synchronisation object entered the
	// kernel.
	Calls int32
	// Blocked: the caller was put on the wait queue and must sleep. Once some
	// Outcome has woken it, it repeats the call for the remaining bytes with
	// resumed set.
	Blocked bool
}

// Channel is one pipe, one direction of a stream socket pair or of a TCP
// connection, or a UDP socket with those who send to it. A call is one
// attempt of a task to write, read or poll; it moves what it can and says who
// is woken and whether the caller sleeps:
//
//   - Write is over when Blocked is false; all its bytes have then moved.
//   - Read is over when Blocked is false; as with read(2), fewer than n bytes
//     may have moved, but over all its attempts at least one.
//   - Poll is over, the channel readable, when Blocked is false.
//
// An attempt that ends in Blocked may have moved some bytes before.
//
// Calls must come from tasks that are running: a task that was told to sleep
// calls only after a wake, and then the same function with resumed set.
type Channel struct {
	set     *Channels
	readers waitList // everybody's list in a shared pipe
	writers waitList
	pipe    pipe
	unix    unixStream
	tcp     *tcpStream
	udp     *udpSocket
	variant channelVariant
	watcher nodeRef // the task that watches the channel (watch.go)
}

// channelVariant is the kind of a channel together with its version's rules.
type channelVariant uint8

const (
	sharedPipe channelVariant = iota
	exclusivePipe
	slotFreedPipe
	unixSocket
	tcpDirection
	udpReceiver
)

func variantOf(kind ChannelKind, rules Rules) channelVariant {
	switch kind {
	case UnixStream:
		return unixSocket
	case TCPStream:
		return tcpDirection
	case UDPSocket:
		return udpReceiver
	}
	switch rules.Pipe {
	case PipeShared:
		return sharedPipe
	case PipeSlotFreed:
		return slotFreedPipe
	}
	return exclusivePipe
}

// Write attempts to write n >= 1 bytes for task t.
func (c *Channel) Write(t TaskID, n int32, resumed bool, out *Outcome) {
	out.reset()
	switch c.variant {
	case sharedPipe:
		c.writeShared(t, n, resumed, out)
	case exclusivePipe, slotFreedPipe:
		c.writeExclusive(t, n, resumed, out)
	case unixSocket:
		c.writeUnix(t, n, out)
	case tcpDirection:
		c.writeTCP(t, n, out)
	case udpReceiver:
		c.writeUDP(n, out)
	}
}

// Read attempts to read n >= 1 bytes for task t.
func (c *Channel) Read(t TaskID, n int32, resumed bool, out *Outcome) {
	out.reset()
	switch c.variant {
	case sharedPipe:
		c.readShared(t, n, resumed, out)
	case exclusivePipe, slotFreedPipe:
		c.readExclusive(t, n, resumed, out)
	case unixSocket:
		c.readUnix(t, n, out)
	case tcpDirection:
		c.readTCP(t, n, out)
	case udpReceiver:
		c.readUDP(t, n, out)
	}
}

// Poll waits until the channel is readable; it takes nothing out. A poller
// that was woken but finds the channel empty again sleeps on in its old place
// in the queue.
func (c *Channel) Poll(t TaskID, _ bool, out *Outcome) {
	out.reset()
	c.pipe.polled = true
	if c.Readable() {
		c.set.unlink(&c.readers, t)
		return
	}
	c.set.sleep(&c.readers, t, waitPoll)
	out.Blocked = true
}

// Memory is how many bytes of memory hold what waits in the channel: pages of
// a pipe, true sizes of a socket's messages.
func (c *Channel) Memory() int64 {
	switch c.variant {
	case unixSocket:
		return int64(c.unix.wmem)
	case tcpDirection:
		return c.tcp.written - c.tcp.read
	case udpReceiver:
		return int64(c.udp.memory)
	}
	return int64(c.pipe.used) * pageSize
}

// Readable reports whether a read would return at once.
func (c *Channel) Readable() bool {
	switch c.variant {
	case unixSocket:
		return c.unix.count > 0
	case tcpDirection:
		return c.tcp.sent.bytes > c.tcp.read
	case udpReceiver:
		return c.udp.waiting > 0
	}
	return c.pipe.used > 0
}

// Datagrams reports whether the channel is a UDP socket.
func (c *Channel) Datagrams() bool { return c.variant == udpReceiver }

// Ready is how many bytes a read from a TCP connection or a UDP socket would
// return at most.
func (c *Channel) Ready() int64 {
	switch {
	case c.variant == tcpDirection:
		return c.tcp.sent.bytes - c.tcp.read
	case c.variant == udpReceiver && c.udp.waiting > 0:
		length, _ := c.udp.queue.next()
		return int64(length)
	}
	return 0
}

func (out *Outcome) reset() {
	out.Wakes = out.Wakes[:0]
	out.Moved, out.NewPages, out.Calls, out.Blocked = 0, 0, 0, false
	out.Segments, out.Received, out.Acks, out.Dropped = 0, 0, 0, 0
}

// Channels is the state of all channels of a scenario.
type Channels struct {
	rules    Rules
	specs    []ChannelSpec
	channels []Channel
	nodes    []waitNode // of task i at i+1
}

// NewChannels returns the channels of s, all empty with nobody waiting.
func NewChannels(s *Scenario, rules Rules) *Channels {
	cs := &Channels{
		rules:    rules,
		specs:    s.Channels,
		channels: make([]Channel, len(s.Channels)),
		nodes:    make([]waitNode, len(s.Tasks)+1),
	}
	cs.Reset()
	return cs
}

// At returns channel number i of the scenario. The pointer stays valid.
func (cs *Channels) At(i int32) *Channel { return &cs.channels[i] }

// Len returns the number of channels.
func (cs *Channels) Len() int { return len(cs.channels) }

// Reset empties every channel and forgets every waiter, keeping the memory.
func (cs *Channels) Reset() {
	clear(cs.nodes)
	for i := range cs.channels {
		c := &cs.channels[i]
		*c = Channel{
			set:     cs,
			variant: variantOf(cs.specs[i].Kind, cs.rules),
			unix:    unixStream{runs: c.unix.runs},
		}
		switch c.variant {
		case tcpDirection:
			c.tcp = newTCPStream(cs.specs[i])
		case udpReceiver:
			c.udp = &udpSocket{}
		}
	}
	for i := range cs.channels {
		if reverse := cs.specs[i].Reverse; reverse != 0 {
			cs.channels[i].tcp.reverse = &cs.channels[i+int(reverse)]
		}
	}
}
