package sim

// turnOf is the first moment from at on at which an interrupt reaches a CPU:
// at itself, unless CPUs take turns.
//
// An emulator with one thread for all CPUs runs them in a circle. The guest's
// clock is the host's, so that a task seems to run all the time, but a CPU takes
// its ticks, timers and interrupts only in its turn: with 8 CPUs and turns of 4
// ms, one tick in eight.
func (m *Sim) turnOf(c *cpu, at int64) int64 {
	if m.turn == 0 || at == never {
		return at
	}
	circle := m.turn * int64(len(m.cpus))
	begin := at - at%circle + m.turn*int64(c.id)
	switch {
	case at < begin:
		return begin
	case at < begin+m.turn:
		return at
	}
	return begin + circle
}
