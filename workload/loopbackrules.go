package workload

// LoopbackRules are the differences between kernel versions that TCP and UDP
// over the loopback device show (ipc-and-benchmarks.md 3).
type LoopbackRules struct {
	// MSS is the longest TCP segment that one packet of the device's MTU holds,
	// in bytes.
	MSS int32
	// SegmentMax is the longest segment that is handed to the device in one
	// piece and cut there, a multiple of MSS.
	SegmentMax int32
	// TCPSndBuf is the send buffer of a TCP socket once it is connected.
	TCPSndBuf int64
	// TCPRcvBuf is its initial receive buffer, as tools print it.
	TCPRcvBuf int32
	// Prequeue (up to v4.13): a segment for a task that is in recv is left to
	// that task, with the ACK.
	Prequeue bool
	// UDPRcvBuf is net.core.rmem_default: the receive buffer of a UDP socket.
	UDPRcvBuf int32
	// FullAtLimit (v3.8): a datagram is dropped when the memory in use has
	// reached the buffer; otherwise it has to be beyond it.
	FullAtLimit bool
	// BulkRelease: a reader moves the whole queue to one of its own and gives
	// the memory back by quarters of the buffer.
	BulkRelease bool
	// PagedDatagrams (from v5.14): what does not fit into four pages is held in
	// single ones instead of one long allocation.
	PagedDatagrams bool
	// SmallHeads (from v6.3 [M]): short datagrams have heads of one size, taken
	// from a cache of their own, instead of the allocator's next size class.
	SmallHeads bool
	// MustFit (from v6.18): a datagram that would go beyond the buffer is
	// dropped, unless nothing else is in it; before, the last one may overshoot.
	MustFit bool
}

// kernelLoopback lists, oldest first, the version from which each set holds.
// The send buffers are ten segments with room for headers (320), a socket buffer
// (256) and its fragment table, on v3.2 10*(16384+320+256+384), on v3.8
// 10*(65483+320+256+320); later twice ten of the next power of two and a socket
// buffer. The versions v3.12, v6.3 and the one that ended FullAtLimit are from
// memory; what v6.18 has is measured.
var kernelLoopback = []struct {
	major, minor int
	rules        LoopbackRules
}{
	{3, 2, LoopbackRules{MSS: 16384, SegmentMax: 3 * 16384, TCPSndBuf: 173_440, TCPRcvBuf: 87380, Prequeue: true, UDPRcvBuf: 229376}},
	{3, 8, LoopbackRules{MSS: 65483, SegmentMax: 65483, TCPSndBuf: 663_790, TCPRcvBuf: 87380, Prequeue: true, UDPRcvBuf: 212992, FullAtLimit: true}},
	{3, 12, LoopbackRules{MSS: 65483, SegmentMax: 65483, TCPSndBuf: 2_626_560, TCPRcvBuf: 87380, Prequeue: true, UDPRcvBuf: 212992, FullAtLimit: true}},
	{4, 14, LoopbackRules{MSS: 65483, SegmentMax: 65483, TCPSndBuf: 2_626_560, TCPRcvBuf: 87380, UDPRcvBuf: 212992, BulkRelease: true}},
	{4, 20, LoopbackRules{MSS: 65483, SegmentMax: 65483, TCPSndBuf: 2_626_560, TCPRcvBuf: 131072, UDPRcvBuf: 212992, BulkRelease: true}},
	{5, 14, LoopbackRules{MSS: 65483, SegmentMax: 65483, TCPSndBuf: 2_626_560, TCPRcvBuf: 131072, UDPRcvBuf: 212992, BulkRelease: true, PagedDatagrams: true}},
	{6, 3, LoopbackRules{MSS: 65483, SegmentMax: 65483, TCPSndBuf: 2_626_560, TCPRcvBuf: 131072, UDPRcvBuf: 212992, BulkRelease: true, PagedDatagrams: true, SmallHeads: true}},
	{6, 18, LoopbackRules{MSS: 65483, SegmentMax: 65483, TCPSndBuf: 2_626_560, TCPRcvBuf: 131072, UDPRcvBuf: 212992, BulkRelease: true, PagedDatagrams: true, SmallHeads: true, MustFit: true}},
}

// loopbackRulesOf are the rules of a version that is not too old.
func loopbackRulesOf(major, minor int) LoopbackRules {
	last := kernelLoopback[0].rules
	for _, k := range kernelLoopback {
		if major > k.major || major == k.major && minor >= k.minor {
			last = k.rules
		}
	}
	return last
}

// What the receiver's window begins with, and what it grows to: half of
// tcp_rmem's third value, 6 MiB.
const (
	initialWindow = 64 << 10
	widestWindow  = 3 << 20
)

// segmentOverhead is what a segment costs the sender's account beside its data:
// a socket buffer with room for the headers and its fragment table.
const segmentOverhead = 1280

// datagramHeaders are the IP and UDP headers (28), the room for the link's (16)
// and the 15 bytes by which that may have to be aligned.
const datagramHeaders = 28 + 16 + 15

// smallHead is the size of the heads that SmallHeads is about, fragment table
// included.
const smallHead = 576

// datagramSize is what a datagram of n bytes costs the receiver's account.
func (r *Rules) datagramSize(n int32) int32 {
	linear, paged := n+datagramHeaders, int32(0)
	if r.Loopback.PagedDatagrams && linear > longestAlloc-r.SharedInfo {
		linear, paged = datagramHeaders, n
	}
	head := alignUp(linear, cacheLine) + r.SharedInfo
	if r.Loopback.SmallHeads && head <= smallHead {
		return smallHead + skbHeader + paged
	}
	return sizeClass(head) + skbHeader + paged
}
