package sim

import (
	"github.com/schedlab/schedlab/trace"
	"github.com/schedlab/schedlab/workload"
)

// priceLoopback sets what the calls on a TCP connection or a UDP socket cost.
// Each end has its own lock, and one task uses it: nobody is kept out.
func (m *Sim) priceLoopback(st *channelState, kind workload.ChannelKind) {
	switch kind {
	case workload.TCPStream:
		st.writeCost, st.readCost = m.costs.TCPSend, m.costs.TCPRecv
	case workload.UDPSocket:
		st.writeCost, st.readCost = m.costs.UDPSend, m.costs.UDPRecv
	default:
		return
	}
	st.loopback = true
	st.hold, st.lines, st.memoryLines = 0, m.costs.LoopbackLines, 0
}

// loopbackCost is the price of a call, with that of the segments that a write
// will transmit as it looks now. What a read copies is what there is, not what it asks for.
func (m *Sim) loopbackCost(st *channelState, in *workload.Instr, t *task) int64 {
	if in.Op == workload.OpPoll {
		return m.costs.Syscall + m.costs.Poll
	}
	base, bytes := st.readCost, min(t.left, st.ch.Ready())
	if in.Op == workload.OpWrite {
		base, bytes = st.writeCost, t.left
	}
	if in.Op != workload.OpTryRead {
		st.ch.EnterCall(in.Op == workload.OpWrite)
	}
	copied := m.copyCost(in, bytes)
	if in.Op == workload.OpWrite {
		st.segments, st.processed = st.ch.Leaving(bytes)
		copied += st.segments*m.costs.TCPTransmit + st.processed*m.costs.TCPReceive
	}
	switch {
	case t.resumed:
		return base/2 + copied
	case in.Op != workload.OpWrite && bytes == 0:
		return m.costs.Syscall + base/2
	}
	return m.costs.Syscall + base + copied
}

// copyCost is what moving the bytes themselves takes: nothing when a receiver
// throws them away, a reference to each page when they come from a file.
func (m *Sim) copyCost(in *workload.Instr, bytes int64) int64 {
	switch {
	case in.Slot != workload.NoCopy:
		return bytes * m.costs.CopyPerKiB >> 10
	case in.Op == workload.OpWrite:
		return (bytes + pageBytes - 1) / pageBytes * m.costs.SendfilePage
	}
	return 0
}

const pageBytes = 4096

// runLoopback is what a call has sent through the loopback device: its softirq
// runs before the call returns, here, and wakes from here. What of its work was
// not foreseen is done before the wakeups.
func (m *Sim) runLoopback(c *cpu, st *channelState) {
	out := &m.out
	c.debt += max(0, int64(out.Segments)-st.segments) * m.costs.TCPTransmit
	c.debt += max(0, int64(out.Received)-st.processed) * m.costs.TCPReceive
	c.debt += int64(out.Acks) * m.costs.TCPAck
	st.segments, st.processed = 0, 0
	m.result.Dropped += int64(out.Dropped)
	context := m.enter(trace.ContextSoftIRQ)
	for _, w := range out.Wakes {
		m.wake(c, &m.tasks[w.Task], w.Sync)
	}
	m.leave(context)
}
