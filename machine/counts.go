package machine

// Counts is how many of each thing a machine has online.
type Counts struct {
	Packages, Nodes, LLCs, Clusters, Cores, CPUs int
}

// Counts counts packages, nodes (memory-only ones included), LLCs, clusters,
// cores and CPUs. Only clusters larger than a core and smaller than an LLC
// count.
func (m *Machine) Counts() Counts {
	return Counts{
		Packages: m.distinct(packageOf),
		Nodes:    len(m.Nodes),
		LLCs:     m.distinct(llcOf),
		Clusters: m.distinct(clusterOf),
		Cores:    m.distinct(coreOf),
		CPUs:     m.Online().Count(),
	}
}

func (m *Machine) distinct(key func(*CPU) int) int {
	seen := make(map[int]bool)
	for i := range m.CPUs {
		if c := &m.CPUs[i]; c.Online && key(c) >= 0 {
			seen[key(c)] = true
		}
	}
	return len(seen)
}
