package workload

import "math/bits"

// unixStream is one direction of an AF_UNIX stream socket pair: the messages
// that wait at the receiver, and the sender's account of their true size. Flow
// control is that account alone; it is shared by everybody who holds the
// sending descriptor (ipc-and-benchmarks.md 2.1).
type unixStream struct {
	// runs is a ring of messages, equal neighbours counted together: the
	// queue of a benchmark with one message size is a single run. Its length
	// is a power of two.
	runs  []messageRun
	first int32 // index of the oldest run
	count int32 // runs in use
	// consumed is the bytes already read of the oldest message.
	consumed int32
	// wmem is the true size of all messages the reader has not freed.
	wmem int32
}

// messageRun is a number of messages of the same length.
type messageRun struct {
	length, trueSize, messages int32
}

const (
	skbHeader    = 256 // aligned size of a socket buffer's header
	cacheLine    = 64
	minSizeClass = 256
	// wmemBias: the write-space test sees the account while the freed message
	// still holds a reference byte, above the socket's own one.
	wmemBias = 2
	// Bounds of one piece of a send: one allocation of four pages before
	// page fragments were used, one page and eight pages of fragments since.
	longestAlloc     = 4 * pageSize
	longestFragments = 8 * pageSize
)

// mayWrite is the test before each allocation: the message may overshoot.
func (u *unixStream) mayWrite(r *Rules) bool { return u.wmem < r.SndBuf }

// spacious is the test that lets a freed message wake blocked writers: at most
// a quarter of the buffer in use.
func (u *unixStream) spacious(r *Rules) bool { return 4*int64(u.wmem+wmemBias) <= int64(r.SndBuf) }

// pieceLength is how much of a send of n bytes goes into one message.
func (r *Rules) pieceLength(n int32) int32 {
	longest := longestAlloc - r.SharedInfo
	if r.PagedSend {
		longest = pageSize - r.SharedInfo + longestFragments
	}
	return min(n, r.SndBuf/2-64, longest)
}

// trueSize is what a message of n bytes costs the sender's account: header,
// the size class of data and fragment table, and page fragments.
func (r *Rules) trueSize(n int32) int32 {
	linear, paged := n, int32(0)
	if longest := pageSize - r.SharedInfo; r.PagedSend && n > longest {
		paged = min(n, alignUp(n-longest, pageSize))
		linear -= paged
	}
	data := alignUp(linear, cacheLine) + r.SharedInfo
	return sizeClass(data) + skbHeader + alignUp(paged, pageSize)
}

func alignUp(n, to int32) int32 { return (n + to - 1) &^ (to - 1) }

// sizeClass is the allocator's block size for n bytes.
func sizeClass(n int32) int32 {
	return max(minSizeClass, int32(1)<<bits.Len32(uint32(n-1)))
}

// push queues one message.
func (u *unixStream) push(length, trueSize int32) {
	u.wmem += trueSize
	if u.count > 0 {
		last := &u.runs[(u.first+u.count-1)&int32(len(u.runs)-1)]
		if last.length == length {
			last.messages++
			return
		}
	}
	if int(u.count) == len(u.runs) {
		u.grow()
	}
	u.runs[(u.first+u.count)&int32(len(u.runs)-1)] = messageRun{length, trueSize, 1}
	u.count++
}

func (u *unixStream) grow() {
	bigger := make([]messageRun, max(4, 2*len(u.runs)))
	for i := range u.count {
		bigger[i] = u.runs[(u.first+i)&int32(len(u.runs)-1)]
	}
	u.runs, u.first = bigger, 0
}

// pull takes up to n bytes from the oldest message; freed says that this used
// the message up.
func (u *unixStream) pull(n int32) (taken int32, freed bool) {
	run := &u.runs[u.first]
	taken = min(n, run.length-u.consumed)
	u.consumed += taken
	if u.consumed < run.length {
		return taken, false
	}
	u.consumed = 0
	u.wmem -= run.trueSize
	run.messages--
	if run.messages == 0 {
		u.first = (u.first + 1) & int32(len(u.runs)-1)
		u.count--
	}
	return taken, true
}

func (c *Channel) writeUnix(t TaskID, n int32, out *Outcome) {
	u, rules := &c.unix, &c.set.rules
	for out.Moved < n {
		if !u.mayWrite(rules) {
			c.set.sleep(&c.writers, t, waitAll)
			out.Blocked = true
			return
		}
		piece := rules.pieceLength(n - out.Moved)
		u.push(piece, rules.trueSize(piece))
		out.Moved += piece
		out.NewPages++
		c.wakeWatcher(out)
		c.set.wake(&c.readers, dataReady, out)
	}
}

func (c *Channel) readUnix(t TaskID, n int32, out *Outcome) {
	u, rules := &c.unix, &c.set.rules
	for out.Moved < n && u.count > 0 {
		taken, freed := u.pull(n - out.Moved)
		out.Moved += taken
		if freed && !c.writers.empty() && u.spacious(rules) {
			c.set.wake(&c.writers, spaceReady, out)
		}
	}
	if out.Moved == 0 {
		c.set.sleep(&c.readers, t, waitAll)
		out.Blocked = true
	}
}
