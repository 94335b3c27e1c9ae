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
}

// beginLoopback prices a call.
func (m *Sim) beginLoopback(c *cpu, t *task, st *channelState, in *workload.Instr) int64 {
	switch in.Op {
	case workload.OpWrite:
		st.ch.EnterCall(true)
		return m.beginSend(c, t, st, in)
	case workload.OpPoll:
		return m.costs.Syscall + m.costs.Poll
	case workload.OpRead, workload.OpReadSome:
		st.ch.EnterCall(false)
	}
	return m.beginReceive(c, t, st, in)
}

// beginSend is a send with the segments that it will transmit as it looks now.
func (m *Sim) beginSend(c *cpu, t *task, st *channelState, in *workload.Instr) int64 {
	cost := st.writeCost + m.copyCost(in, t.left)
	if t.resumed {
		cost -= st.writeCost / 2
	} else {
		cost += m.costs.Syscall
	}
	if st.ch.Datagrams() {
		st.fresh = true
		return cost + m.loopbackLines(c, st)
	}
	st.segments, st.processed = st.ch.Leaving(t.left)
	if st.segments > 0 {
		cost += m.loopbackLines(c, st)
	}
	return cost + st.segments*m.costs.TCPTransmit + st.processed*m.costs.TCPReceive
}

// beginReceive is a recv that copies what there is, not what it asks for.
func (m *Sim) beginReceive(c *cpu, t *task, st *channelState, in *workload.Instr) int64 {
	ready := min(t.left, st.ch.Ready())
	cost := m.copyCost(in, ready)
	switch {
	case t.resumed:
		cost += st.readCost / 2
	case ready == 0:
		cost += m.costs.Syscall + st.readCost/2
	default:
		cost += m.costs.Syscall + st.readCost
	}
	if st.fresh {
		st.fresh = false
		cost += m.loopbackLines(c, st)
	}
	return cost
}

// loopbackLines are the lines of sockets and buffers that the other end's CPU
// has written.
func (m *Sim) loopbackLines(c *cpu, st *channelState) int64 {
	if st.lastCPU == c.id || st.lastCPU < 0 {
		return 0
	}
	return m.costs.LoopbackLines * m.lineCost(c.id, st.lastCPU)
}

// copyCost is what moving the bytes themselves takes: nothing when a receiver
// throws them away, a reference to each page when they come from a file. When
// more waits in all queues than the caches hold, the rest of it goes through
// memory.
func (m *Sim) copyCost(in *workload.Instr, bytes int64) int64 {
	switch {
	case in.Slot != workload.NoCopy:
		return bytes*m.costs.LoopbackCopy>>10 + m.spill.of(bytes*m.costs.CopyMemory>>10)
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
	st.fresh = st.fresh || out.Segments > 0
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
