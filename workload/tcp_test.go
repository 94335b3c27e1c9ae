package workload

import (
	"testing"

	"pgregory.net/rapid"
)

// The numbered tests are those of ipc-and-benchmarks.md 3.5.

// connection is a TCP connection whose calls a test makes by hand: task 0
// writes to there and reads from back, task 1 the other way round.
type connection struct {
	t           rapid.TB
	there, back *Channel
	out         Outcome
	asleep      [2]bool
	wakes       []Wake
}

const (
	client TaskID = 0
	server TaskID = 1
)

func newConnection(t rapid.TB, kernel string, noDelay bool) *connection {
	t.Helper()
	rules, err := RulesFor(kernel)
	if err != nil {
		t.Fatal(err)
	}
	s := &Scenario{Tasks: make([]TaskSpec, 2), Channels: []ChannelSpec{
		{Kind: TCPStream, NoDelay: noDelay, Reverse: 1}, {Kind: TCPStream, NoDelay: noDelay, Reverse: -1},
	}}
	set := NewChannels(s, rules)
	return &connection{t: t, there: set.At(0), back: set.At(1)}
}

func (c *connection) write(task TaskID, n int32) *Outcome {
	if task == client {
		return c.call(task, n, c.there.Write)
	}
	return c.call(task, n, c.back.Write)
}

func (c *connection) read(task TaskID, n int32) *Outcome {
	if task == client {
		return c.call(task, n, c.back.Read)
	}
	return c.call(task, n, c.there.Read)
}

func (c *connection) call(task TaskID, n int32, op func(TaskID, int32, bool, *Outcome)) *Outcome {
	c.t.Helper()
	if c.asleep[task] {
		c.t.Fatalf("task %d is called while it sleeps", task)
	}
	op(task, n, false, &c.out)
	c.asleep[task] = c.out.Blocked
	for _, w := range c.out.Wakes {
		if !c.asleep[w.Task] {
			c.t.Fatalf("task %d is woken while awake", w.Task)
		}
		c.asleep[w.Task] = false
		c.wakes = append(c.wakes, w)
	}
	return &c.out
}

func (c *connection) mustSleep(out *Outcome) {
	c.t.Helper()
	if !out.Blocked {
		c.t.Fatalf("the task did not sleep: moved %d", out.Moved)
	}
}

func (c *connection) mustMove(out *Outcome, n int32) {
	c.t.Helper()
	if out.Blocked || out.Moved != n {
		c.t.Fatalf("moved %d, blocked %t; want %d without sleeping", out.Moved, out.Blocked, n)
	}
}

// A transaction of TCP_RR: two wakes, both sync, no ACK of its own: it rides on
// the reply.
func TestN1RequestAndReplyWakeTwice(t *testing.T) {
	for _, kernel := range []string{"v3.2", "v3.8", "v4.14", "v5.17"} {
		c := newConnection(t, kernel, false)
		c.mustSleep(c.read(server, 1))
		acks := int32(0)
		for range 100 {
			c.mustMove(c.write(client, 1), 1)
			c.mustSleep(c.read(client, 1))
			c.mustMove(c.read(server, 1), 1)
			acks += c.out.Acks
			c.mustMove(c.write(server, 1), 1)
			acks += c.out.Acks
			c.mustSleep(c.read(server, 1))
			c.mustMove(c.read(client, 1), 1)
			acks += c.out.Acks
		}
		if len(c.wakes) != 200 {
			t.Errorf("%s: %d wakes in 100 transactions, want 200", kernel, len(c.wakes))
		}
		for i, w := range c.wakes {
			if !w.Sync || w.Task != TaskID(1-i%2) {
				t.Fatalf("%s: wake %d: %+v, want the peer, sync", kernel, i, w)
			}
		}
		if acks > 1 { // the server's first ACK comes before it has ever replied
			t.Errorf("%s: %d ACKs of their own, want at most the first", kernel, acks)
		}
	}
}

// v5.17: a segment costs 65483 + 1280 = 66763 bytes of 2626560: the 40th is the
// last to be begun, and 40 of them are 2619320 bytes of data. A sleeper is woken
// at 1751040 or less, 26 segments: by the ACK that covers the 14th.
func TestN5BlockedSenderWakesAtTwoThirds(t *testing.T) {
	c := newConnection(t, "v5.17", false)
	out := c.write(client, 4_000_000)
	c.mustSleep(out)
	if out.Moved != 2_619_320 {
		t.Fatalf("%d bytes fit, want 2619320", out.Moved)
	}
	if out.Segments != 1 {
		t.Errorf("%d segments in the first window of 64 KiB, want 1", out.Segments)
	}
	for c.asleep[client] {
		c.mustMove(c.read(server, 65483), 65483)
		freed := c.there.tcp.freed.segments
		if woken := !c.asleep[client]; woken != (freed >= 14) {
			t.Fatalf("%d segments acknowledged: awake %t, want to be woken from 14 on", freed, woken)
		}
	}
	if len(c.wakes) != 1 || c.wakes[0].Sync {
		t.Errorf("wakes %+v, want one without the sync hint", c.wakes)
	}
}

// 3.3: the send buffer of a connected socket. On v3.2 and v3.8 ten segments with
// room for headers (320), a socket buffer's header and table; then twice ten of
// the next power of two above 65483 and some, and a header.
func TestSendBuffersOfTCP(t *testing.T) {
	for kernel, want := range map[string]struct {
		mss    int32
		sndBuf int64
		rcvBuf int32
	}{
		"v3.2":  {16384, 10 * (16384 + 320 + 256 + 384), 87380}, // 173440
		"v3.8":  {65483, 10 * (65483 + 320 + 256 + 320), 87380}, // 663790
		"v4.14": {65483, 2 * 10 * (131072 + 256), 87380},        // 2626560
		"v5.17": {65483, 2 * 10 * (131072 + 256), 131072},
	} {
		rules, err := RulesFor(kernel)
		if err != nil {
			t.Fatal(err)
		}
		if l := rules.Loopback; l.MSS != want.mss || l.TCPSndBuf != want.sndBuf || l.TCPRcvBuf != want.rcvBuf {
			t.Errorf("%s: MSS %d, buffers %d and %d; want %+v", kernel, l.MSS, l.TCPSndBuf, l.TCPRcvBuf, want)
		}
	}
}

// N5 for any buffer S: no wake above 2/3 S, one, not sync, by the ACK that brings
// the queue there, which is the reader's doing.
func TestN5WakesAtTwoThirdsOfAnyBuffer(t *testing.T) {
	for _, kernel := range []string{"v3.2", "v3.8", "v4.14", "v5.17"} {
		c := newConnection(t, kernel, false)
		c.mustSleep(c.write(client, 4_000_000))
		rules := &c.there.set.rules.Loopback
		if queued := c.there.tcp.queued(rules); queued < rules.TCPSndBuf {
			t.Errorf("%s: the sender sleeps with %d of %d bytes in use", kernel, queued, rules.TCPSndBuf)
		}
		for c.asleep[client] {
			if c.asleep[server] {
				t.Fatalf("%s: both sleep", kernel)
			}
			before := c.there.tcp.queued(rules)
			c.read(server, 16384)
			if queued := c.there.tcp.queued(rules); c.asleep[client] != (3*queued > 2*rules.TCPSndBuf) {
				t.Fatalf("%s: %d of %d bytes in use, sender asleep %t", kernel, queued, rules.TCPSndBuf, c.asleep[client])
			} else if !c.asleep[client] && 3*before <= 2*rules.TCPSndBuf {
				t.Errorf("%s: woken although %d of %d bytes were in use before", kernel, before, rules.TCPSndBuf)
			}
		}
		if len(c.wakes) != 1 || c.wakes[0] != (Wake{Task: client}) {
			t.Errorf("%s: wakes %+v, want the sender's, without the sync hint", kernel, c.wakes)
		}
	}
}

// A segment that arrives while the receiver copies waits for it to release its
// socket: nobody is woken, and it is there before recv sleeps.
func TestN6SegmentForAReceiverInsideRecv(t *testing.T) {
	c := newConnection(t, "v5.17", true)
	c.mustMove(c.write(client, 100), 100)
	c.there.EnterCall(false)
	c.mustMove(c.write(client, 50), 50)
	if c.out.Received != 0 {
		t.Error("the softirq processed a segment of a socket that is owned")
	}
	c.mustMove(c.read(server, 1000), 150)
	if c.out.Received != 1 || len(c.wakes) != 0 {
		t.Errorf("recv processed %d segments, wakes %+v; want 1 and none", c.out.Received, c.wakes)
	}
}

// With the prequeue three segments for a reader that is woken and does not run
// yet are left to it; without it the softirqs process them.
func TestN7Prequeue(t *testing.T) {
	for kernel, byReader := range map[string]int32{"v3.2": 3, "v3.8": 3, "v4.14": 0, "v5.17": 0} {
		c := newConnection(t, kernel, true)
		c.mustSleep(c.read(server, 1000))
		for range 3 {
			c.mustMove(c.write(client, 100), 100)
			if want := 1 - byReader/3; c.out.Received != want {
				t.Errorf("%s: a softirq processed %d segments, want %d", kernel, c.out.Received, want)
			}
		}
		c.mustMove(c.read(server, 1000), 300)
		if c.out.Received != byReader || len(c.wakes) != 1 {
			t.Errorf("%s: the reader processed %d segments after %d wakes, want %d after 1", kernel, c.out.Received, len(c.wakes), byReader)
		}
	}
}

// Nagle: one small segment may be out; what is written meanwhile goes together
// when the ACK comes, from the receiver's call, which finds it before it sleeps.
func TestNagleCollectsSmallWrites(t *testing.T) {
	c := newConnection(t, "v5.17", false)
	c.mustSleep(c.read(server, 65536))
	segments := int32(0)
	for range 10 {
		c.mustMove(c.write(client, 64), 64)
		segments += c.out.Segments
	}
	if segments != 1 || len(c.wakes) != 1 {
		t.Fatalf("%d segments, %d wakes; want 1 and 1", segments, len(c.wakes))
	}
	c.mustMove(c.read(server, 65536), 64)
	if c.out.Acks != 1 || c.out.Segments != 1 {
		t.Fatalf("the reader's ACKs %d, segments that they let go %d; want 1 and 1", c.out.Acks, c.out.Segments)
	}
	c.mustMove(c.read(server, 65536), 9*64)
	if len(c.wakes) != 1 {
		t.Errorf("%d wakes, want 1", len(c.wakes))
	}
}

// With TCP_NODELAY each write is a segment.
func TestNoDelaySendsEachWrite(t *testing.T) {
	c := newConnection(t, "v5.17", true)
	for range 10 {
		if c.mustMove(c.write(client, 64), 64); c.out.Segments != 1 {
			t.Fatalf("%d segments, want 1", c.out.Segments)
		}
	}
}

// A writer inside send hears of an ACK when it releases its socket: it sends
// what was held itself.
func TestAckWaitsForASenderInsideSend(t *testing.T) {
	c := newConnection(t, "v5.17", false)
	c.mustMove(c.write(client, 64), 64)
	c.mustMove(c.write(client, 64), 64) // held
	c.there.EnterCall(true)
	c.mustMove(c.read(server, 1000), 64)
	if c.out.Acks != 1 || c.out.Segments != 0 {
		t.Fatalf("%d ACKs, %d segments in the reader's call; want 1 and 0", c.out.Acks, c.out.Segments)
	}
	c.mustSleep(c.read(server, 1000))
	c.mustMove(c.write(client, 64), 64)
	if c.out.Segments != 1 || c.there.Ready() != 128 || len(c.wakes) != 1 {
		t.Errorf("%d segments, %d bytes there, %d wakes; want 1, 128, 1", c.out.Segments, c.there.Ready(), len(c.wakes))
	}
}

// On v3.2 a segment goes to the device in pieces of at most three MSS.
func TestSegmentsOfTheOldMTU(t *testing.T) {
	c := newConnection(t, "v3.2", true)
	c.mustMove(c.write(client, 64000), 64000)
	if c.out.Segments != 2 { // 49152 + 14848
		t.Errorf("%d segments, want 2", c.out.Segments)
	}
}

// Whatever both ends do: nothing is lost, nobody sleeps beside data, and never
// do both sleep while there is something to move.
func TestConnectionNeverHangs(t *testing.T) {
	kernels := []string{"v3.2", "v3.8", "v4.14", "v5.17"}
	rapid.Check(t, func(t *rapid.T) {
		c := newConnection(t, rapid.SampledFrom(kernels).Draw(t, "kernel"), rapid.Bool().Draw(t, "nodelay"))
		left := [2]int32{} // of a write that slept
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			task := TaskID(rapid.IntRange(0, 1).Draw(t, "task"))
			n := rapid.SampledFrom([]int32{1, 64, 3000, 16384, 65483, 65536, 300_000, 3_000_000}).Draw(t, "bytes")
			switch {
			case c.asleep[task]:
			case left[task] > 0 || rapid.Bool().Draw(t, "write"):
				if left[task] > 0 {
					n = left[task]
				}
				left[task] = n - c.write(task, n).Moved
			default:
				c.read(task, n)
			}
			for _, d := range []*Channel{c.there, c.back} {
				checkStream(t, d.tcp)
			}
		}
		for task := range TaskID(2) { // the other one reads all
			for other := 1 - task; !c.asleep[other]; {
				if left[other] > 0 {
					left[other] -= c.write(other, left[other]).Moved
				} else {
					c.read(other, 1<<20)
				}
			}
		}
		if c.asleep[0] && c.asleep[1] && left[0]+left[1] == 0 {
			for _, d := range []*Channel{c.there, c.back} {
				if d.tcp.written != d.tcp.read {
					t.Fatalf("both readers sleep beside %d bytes", d.tcp.written-d.tcp.read)
				}
			}
		}
	})
}

func checkStream(t rapid.TB, s *tcpStream) {
	t.Helper()
	order := []int64{s.freed.bytes, s.acked.bytes, s.received.bytes, s.sent.bytes, s.written}
	for i := 1; i < len(order); i++ {
		if order[i] < order[i-1] {
			t.Fatalf("freed, acked, received, sent, written are %d", order)
		}
	}
	if s.read > s.received.bytes || s.sent.bytes > s.edge {
		t.Fatalf("read %d of %d received; sent %d up to %d", s.read, s.received.bytes, s.sent.bytes, s.edge)
	}
	if s.wantSpace && s.read == s.sent.bytes && s.written == s.sent.bytes {
		t.Fatal("a sender sleeps and all it sent is read")
	}
}

// W9: a stream of 16 KiB whose receiver is faster. Each send is a segment and
// wakes the receiver; its ACK, since it has read everything, frees the sender's
// memory and wakes nobody.
func TestW9StreamWithAFastReceiver(t *testing.T) {
	c := newConnection(t, "v5.17", false)
	c.mustSleep(c.read(server, 16384))
	for i := range 50 {
		if c.mustMove(c.write(client, 16384), 16384); c.out.Segments != 1 || len(c.wakes) != i+1 {
			t.Fatalf("send %d: %d segments, %d wakes so far; want 1 and %d", i, c.out.Segments, len(c.wakes), i+1)
		}
		if c.mustMove(c.read(server, 16384), 16384); c.out.Acks != 1 {
			t.Fatalf("recv %d sends %d ACKs, want 1", i, c.out.Acks)
		}
		c.mustSleep(c.read(server, 16384))
	}
	if queued := c.there.tcp.queued(&c.there.set.rules.Loopback); queued != 0 {
		t.Errorf("%d bytes of the sender's memory are still in use", queued)
	}
}

// answered makes the server one that replies: its ACKs ride on what it sends.
func (c *connection) answered() {
	c.mustMove(c.write(server, 1), 1)
	c.mustMove(c.read(client, 1), 1)
}

// The second segment that is not acknowledged brings an ACK from the softirq if
// the receiver has read since the last one, so that the window can move.
func TestSoftirqAcknowledgesTheSecondSegment(t *testing.T) {
	c := newConnection(t, "v5.17", true)
	c.answered()
	c.mustMove(c.write(client, 16384), 16384)
	c.mustMove(c.write(client, 16384), 16384)
	if c.out.Acks != 0 {
		t.Errorf("%d ACKs although nothing was read, want 0", c.out.Acks)
	}
	c.mustMove(c.read(server, 16384), 16384) // 32 KiB are not acknowledged: the reader's ACK
	c.mustMove(c.read(server, 16384), 16384)
	c.mustMove(c.write(client, 16384), 16384)
	if c.out.Acks != 0 || c.there.tcp.unacknowledged() != 16384 {
		t.Errorf("%d ACKs for one segment, want none yet", c.out.Acks)
	}
	c.mustMove(c.write(client, 16384), 16384)
	if c.out.Acks != 1 || c.there.tcp.queued(&c.there.set.rules.Loopback) != 0 {
		t.Errorf("%d ACKs, want 1 that frees the sender's memory", c.out.Acks)
	}
}

// A segment that Nagle's rule holds back for a receiver that lets its ACKs ride
// on answers: the receiver acknowledges when it has read everything, or finds
// nothing to read.
func TestReaderLetsHeldSegmentsGo(t *testing.T) {
	c := newConnection(t, "v5.17", false)
	c.answered()
	c.mustMove(c.write(client, 64), 64)
	c.mustMove(c.write(client, 64), 64) // held
	if c.mustMove(c.read(server, 64), 64); c.out.Acks != 1 || c.out.Segments != 1 {
		t.Fatalf("%d ACKs, %d segments; want 1 and 1", c.out.Acks, c.out.Segments)
	}
	c.mustMove(c.read(server, 64), 64)
	c.there.EnterCall(false)
	c.mustMove(c.write(client, 64), 64) // held: the receiver is inside recv
	if c.out.Segments != 0 {
		t.Fatalf("%d segments, want 0", c.out.Segments)
	}
	if c.mustMove(c.read(server, 64), 64); c.out.Acks != 1 {
		t.Errorf("%d ACKs, want 1", c.out.Acks)
	}
}

// The window doubles with each window that is read, from 64 KiB to 3 MiB.
func TestWindowFollowsTheReader(t *testing.T) {
	s := newTCPStream(ChannelSpec{})
	for _, c := range []struct{ read, want int64 }{
		{65535, 64 << 10}, {1, 128 << 10}, {128<<10 - 1, 128 << 10}, {1, 256 << 10}, {100 << 20, 3 << 20}, {100 << 20, 3 << 20},
	} {
		if s.widen(c.read); s.window != c.want {
			t.Errorf("after %d more bytes the window is %d, want %d", c.read, s.window, c.want)
		}
	}
}
