package machine

import (
	"strings"
	"testing"
)

func TestValidateRefuses(t *testing.T) {
	for _, test := range []struct {
		name, want string
		spoil      func(*Machine)
	}{
		{"asymmetric distances", "distance 22 from node 1 to node 0, but 21 from node 0 to node 1", func(m *Machine) { m.Nodes[1].Distance[0] = 22 }},
		{"self-distance not smallest", "a node is nearest to itself", func(m *Machine) { m.Nodes[0].Distance[1] = 10 }},
		{"distance beyond a byte", "distance 256", func(m *Machine) { m.Nodes[0].Distance[1] = 256 }},
		{"distance of zero", "distance 0", func(m *Machine) { m.Nodes[0].Distance[0] = 0 }},
		{"short row", "node 0 has 1 distances, there are 2 nodes", func(m *Machine) { m.Nodes[0].Distance = []int{10} }},
		{"CPU in two nodes", "node 1 lists CPU 0", func(m *Machine) { m.Nodes[1].CPUs.Set(0) }},
		{"CPU in no node", "CPUs 0 are in a node that does not list them", func(m *Machine) { m.Nodes[0].CPUs.Clear(0) }},
		{"node that is not there", "CPU 0: is in no node", func(m *Machine) { m.CPUs[0].Node = 2 }},
		{"core in two LLCs", "share a core but not the LLC", func(m *Machine) { m.CPUs[4].LLC = 1 }},
		{"core in two packages", "share a core but not the package", func(m *Machine) { m.CPUs[4].Package = 1 }},
		{"core in two clusters", "share a core but not the cluster", func(m *Machine) { m.CPUs[4].Cluster = 3 }},
		{"LLC over two nodes", "share a LLC but not the node", func(m *Machine) {
			for i := range m.CPUs {
				m.CPUs[i].LLC = 0
			}
		}},
		{"no CPU online", "no CPU is online", func(m *Machine) {
			for i := range m.CPUs {
				m.CPUs[i] = offlineCPU
			}
		}},
		{"offline CPU with a place", "CPU 0: is offline but", func(m *Machine) { m.CPUs[0].Online = false; m.Nodes[0].CPUs.Clear(0) }},
		{"no CPUs", "no CPUs", func(m *Machine) { m.CPUs = nil }},
		{"too many CPUs", "at most 4096", func(m *Machine) { m.CPUs = make([]CPU, MaxCPUs+1) }},
		{"no nodes", "no NUMA node", func(m *Machine) { m.Nodes = nil }},
		{"node numbers falling", "must increase", func(m *Machine) { m.Nodes[1].ID = 0 }},
		{"capacity too large", "capacity 1025 is not in 1 to 1024", func(m *Machine) { m.CPUs[3].Capacity = 1025 }},
		{"capacity too small", "capacity 0 is not in 1 to 1024", func(m *Machine) { m.CPUs[3].Capacity = 0 }},
		{"nobody at full capacity", "the fastest CPU has capacity 512", func(m *Machine) {
			for i := range m.CPUs {
				m.CPUs[i].Capacity = 512
			}
		}},
		{"cache of no CPU", "at least one", func(m *Machine) { m.Caches[0].CPUs = NewCPUMask(len(m.CPUs)) }},
		{"two L3 of one CPU", "shares CPUs with another", func(m *Machine) { m.Caches[1].CPUs.Set(0) }},
		{"cache level", "cache level 0", func(m *Machine) { m.Caches[0].Level = 0 }},
		{"cache type", `type "Trace" of an L3 cache is not Data, Instruction or Unified`, func(m *Machine) { m.Caches[0].Type = "Trace" }},
	} {
		m := mustParse(t, "2n2c2t")
		test.spoil(m)
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}
