package sim

import (
	"github.com/schedlab/schedlab/trace"
	"github.com/schedlab/schedlab/workload"
)

// Requests of clients outside the machine (workload.Source): they arrive as
// interrupts, spread over the online CPUs as a network card with a queue for
// each does.

// armArrival sets the timer that stands for the next packet of a source.
func (m *Sim) armArrival(r *workload.Requests) {
	ns, nth := r.NextArrival(len(m.interrupted))
	c := &m.cpus[m.interrupted[nth]]
	at := m.now + ns
	c.timers = append(c.timers, timer{soft: at, hard: at, arrival: r})
	c.timerAt = min(c.timerAt, at)
	m.requeue(c)
}

// receiveArrivals handles the requests that are due on CPU c.
func (m *Sim) receiveArrivals(c *cpu) {
	due := m.arrivals
	m.arrivals = nil
	for _, r := range due {
		r.Arrive(m.now, &m.out)
		m.sched.InInterrupt(true)
		context := m.enter(trace.ContextHardIRQ)
		for i := range m.out.Wakes {
			m.wake(c, &m.tasks[m.out.Wakes[i].Task], false)
		}
		m.leave(context)
		m.sched.InInterrupt(false)
		m.armArrival(r)
	}
	m.arrivals = due[:0]
}

// beginRequest prices a step of a worker: requests are read from a socket and
// answered on it. A read that will sleep does half of its work before.
func (m *Sim) beginRequest(t *task, in *workload.Instr) int64 {
	switch {
	case in.Op == workload.OpServe:
		return t.request.Work
	case in.Op == workload.OpAnswer:
		return m.costs.Syscall + m.costs.UnixSend
	case t.resumed:
		return m.costs.UnixRecv / 2
	case !m.requests[in.Chan].Waiting():
		return m.costs.Syscall + m.costs.UnixRecv/2
	}
	return m.costs.Syscall + m.costs.UnixRecv
}

// completeRequest ends a step of a worker. It reports whether the worker goes to
// sleep.
func (m *Sim) completeRequest(t *task, in *workload.Instr) (blocks bool) {
	switch in.Op {
	case workload.OpReceive:
		t.request = m.requests[in.Chan].Receive(t.id, &m.out)
		t.resumed = m.out.Blocked
		if m.out.Blocked {
			return true
		}
	case workload.OpAnswer:
		m.requests[in.Chan].Answer(m.now, t.request)
		t.request = workload.Request{}
	}
	t.pc++
	return false
}

// finishRequests closes the books of all sources.
func (m *Sim) finishRequests() []*workload.RequestCounts {
	var working []workload.Request
	for i := range m.tasks {
		if t := &m.tasks[i]; t.request.Given() {
			working = append(working, t.request)
		}
	}
	var counts []*workload.RequestCounts
	for i := range m.requests {
		counts = append(counts, m.requests[i].Finish(m.now, working))
	}
	return counts
}
