package sim

import (
	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/workload"
)

// chargeCost is the price of work that a program names, a little more or less.
func (m *Sim) chargeCost(t *task, in *workload.Instr) int64 {
	price := mulDiv(m.costs.Prices[in.Chan], in.N, 1000)
	if in.M == 0 {
		return price
	}
	spread := mulDiv(price, in.M, 100)
	return price - spread + t.rng.Int64N(2*spread+1)
}

// lookupCost is what random reads of a large memory take beyond those of a small
// one: the share of it that the CPU's last-level cache cannot hold comes from
// memory, line by line.
func (m *Sim) lookupCost(c *cpu, in *workload.Instr) int64 {
	cache := m.ownCache[c.id]
	if cache == 0 || in.M <= cache {
		return 0
	}
	return mulDiv(in.N*m.costs.LineMemory, in.M-cache, in.M)
}

// ownCaches is the size of the last-level cache of each CPU, 0 if not known.
func ownCaches(mach *machine.Machine) []int64 {
	sizes := make([]int64, mach.NumCPUs())
	levels := make([]int, mach.NumCPUs())
	for _, cache := range mach.Caches {
		for cpu := cache.CPUs.First(); cpu >= 0; cpu = cache.CPUs.Next(cpu + 1) {
			if cache.Level >= levels[cpu] {
				levels[cpu], sizes[cpu] = cache.Level, cache.Size
			}
		}
	}
	return sizes
}
