// Package machine describes a computer as the scheduler sees it: CPUs, SMT
// threads, clusters, last-level caches, packages, NUMA nodes and their
// distances. It is the lowest layer and imports nothing of schedlab.
//
// A [Machine] comes from a spec string ("2n24c2t"), a preset name, YAML, or an
// import of a running or copied machine; every way ends in [Machine.Validate].
package machine

// MaxCPUs is the largest CPU number plus one that a machine may have.
const MaxCPUs = 4096

// Machine is one computer. It is immutable once validated.
type Machine struct {
	// Name is a preset name, spec string, or what an import calls it.
	Name string
	// CPUs is indexed by CPU number. Gaps in the numbering are CPUs that are
	// not online.
	CPUs []CPU
	// Nodes are the NUMA nodes in increasing ID; nodes without CPUs (memory
	// only) are legal.
	Nodes []Node
	// Caches lists every known cache instance, smallest level first.
	Caches []Cache
}

// CPU is one logical CPU. Core, Cluster, LLC and Package are indices that are
// unique over the whole machine; two CPUs share the thing when they are equal.
// Offline CPUs have every index -1.
type CPU struct {
	Online  bool
	Core    int
	Cluster int // shared L2 or cluster tag, larger than the core and smaller than the LLC; -1 when there is none
	LLC     int // what Linux's MC level spans, never beyond the node; -1 when the CPU has none
	Package int
	Node    int // index into Machine.Nodes, not the node's ID
	// Capacity is relative to the fastest CPU, 1024 = full; 0 when offline.
	Capacity int
}

// Node is one NUMA node.
type Node struct {
	ID   int
	CPUs CPUMask // online CPUs; empty for a memory-only node
	// Distance[j] is the SLIT distance to Machine.Nodes[j].
	Distance []int
}

// Cache is one cache instance.
type Cache struct {
	Level int
	Type  string // "Data", "Instruction", "Unified", "" if unknown
	Size  int64  // bytes, 0 if unknown
	CPUs  CPUMask
}

// NumCPUs returns the number of CPU slots, offline ones included.
func (m *Machine) NumCPUs() int { return len(m.CPUs) }

// Online returns the set of online CPUs.
func (m *Machine) Online() CPUMask {
	return m.maskWhere(func(c *CPU) bool { return true })
}

// CoreMask returns the online SMT siblings of cpu, itself included.
func (m *Machine) CoreMask(cpu int) CPUMask {
	id := m.CPUs[cpu].Core
	return m.maskWhere(func(c *CPU) bool { return c.Core == id })
}

// ClusterMask returns the CPUs of cpu's cluster; the core when it has none.
func (m *Machine) ClusterMask(cpu int) CPUMask {
	id := m.CPUs[cpu].Cluster
	if id < 0 {
		return m.CoreMask(cpu)
	}
	return m.maskWhere(func(c *CPU) bool { return c.Cluster == id })
}

// LLCMask returns the CPUs that share cpu's last-level cache; the core when
// none is known.
func (m *Machine) LLCMask(cpu int) CPUMask {
	id := m.CPUs[cpu].LLC
	if id < 0 {
		return m.CoreMask(cpu)
	}
	return m.maskWhere(func(c *CPU) bool { return c.LLC == id })
}

// PackageMask returns the CPUs in cpu's package.
func (m *Machine) PackageMask(cpu int) CPUMask {
	id := m.CPUs[cpu].Package
	return m.maskWhere(func(c *CPU) bool { return c.Package == id })
}

// NodeMask returns the CPUs of cpu's NUMA node.
func (m *Machine) NodeMask(cpu int) CPUMask { return m.Nodes[m.CPUs[cpu].Node].CPUs.Clone() }

// Distance returns the SLIT distance between the nodes of two CPUs.
func (m *Machine) Distance(a, b int) int {
	return m.Nodes[m.CPUs[a].Node].Distance[m.CPUs[b].Node]
}

func (m *Machine) maskWhere(in func(*CPU) bool) CPUMask {
	mask := NewCPUMask(len(m.CPUs))
	for i := range m.CPUs {
		if c := &m.CPUs[i]; c.Online && in(c) {
			mask.Set(i)
		}
	}
	return mask
}
