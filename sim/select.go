package sim

import "github.com/schedlab/schedlab/workload"

// beginSelect prices a select: the call and a look at each watched descriptor.
// A task that slept in it looks at all of them again.
func (m *Sim) beginSelect(t *task, in *workload.Instr) int64 {
	cost := m.channelSet.CountWatched(in.Chan, in.N, t.id) * m.costs.SelectFD
	if t.resumed {
		return cost
	}
	return m.costs.Syscall + cost
}

func (m *Sim) completeSelect(t *task, in *workload.Instr) (blocks bool) {
	m.channelSet.Select(in.Chan, in.N, t.id, &m.out)
	t.resumed = m.out.Blocked
	if !m.out.Blocked {
		t.pc++
	}
	return m.out.Blocked
}

// completeTryRead reads what there is, or goes on without.
func (m *Sim) completeTryRead(c *cpu, t *task, in *workload.Instr) {
	t.left = 0
	st := &m.channels[in.Chan]
	if !st.ch.Readable() {
		t.pc = in.Target
		return
	}
	m.spill.add(st.ch, -1)
	st.ch.Read(t.id, int32(in.N), false, &m.out)
	m.spill.add(st.ch, 1)
	st.lastCPU = c.id
	for _, w := range m.out.Wakes {
		m.wake(c, &m.tasks[w.Task], w.Sync)
	}
	t.pc++
}
