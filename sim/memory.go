package sim

import (
	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/workload"
)

// memory is what going through a buffer costs, by where the buffer fits.
type memory struct {
	private int64 // bytes of a core's own caches; 0: not known, all fits
	last    int64 // bytes of one last-level cache
}

// What a core of the last ten years does [M]: it loads or stores about three
// bytes each ns when a program goes byte by byte, hits its own caches in about
// 4 ns, and keeps ten line fills under way when it knows the addresses ahead.
const (
	bytesPerNS  = 3
	privateHit  = 4
	fillsAtOnce = 10
	cacheLine   = 64
	bytesPerKiB = 1024
)

func newMemory(mach *machine.Machine) memory {
	mem := memory{}
	last := 0
	for _, c := range mach.Caches {
		last = max(last, c.Level)
	}
	for _, c := range mach.Caches {
		if c.Level == last {
			mem.last = max(mem.last, c.Size)
		} else {
			mem.private = max(mem.private, c.Size)
		}
	}
	return mem
}

// lineFill is what a line costs that the core's own caches do not hold, in a
// buffer of that size: from the last-level cache, or for the share that does not
// fit there from memory.
func (m *Sim) lineFill(size int64) int64 {
	mem := &m.periodic.memory
	switch {
	case mem.private == 0 || size <= mem.private:
		return 0
	case size <= mem.last:
		return m.costs.LineLLC
	}
	beyond := size - mem.last
	return m.costs.LineLLC + mulDiv(m.costs.LineMemory, beyond, size)
}

// touchCost is the time of an OpTouch.
func (m *Sim) touchCost(in *workload.Instr) int64 {
	fill := m.lineFill(in.M)
	lines := (in.N + cacheLine - 1) / cacheLine
	switch workload.Access(in.Slot) {
	case workload.AccessBlock:
		return mulDiv(m.costs.CopyPerKiB, in.N, bytesPerKiB) + lines*fill/fillsAtOnce
	case workload.AccessBytes:
		return in.N/bytesPerNS + lines*fill/fillsAtOnce
	case workload.AccessChase:
		return in.N * (privateHit + fill)
	}
	return in.N * (privateHit + fill/fillsAtOnce)
}
