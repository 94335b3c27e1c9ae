package machine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHwlocLocality checks where hwloc's view and Linux's differ.
func TestHwlocLocality(t *testing.T) {
	for _, test := range []struct {
		name, xml string
		want      Counts
		notes     []string
		check     func(*testing.T, *Machine)
	}{
		{
			// A Xeon Phi in flat mode: HBM node 1 is local to the CPUs of node 0, but Linux has no CPU in it.
			name: "HBM beside DRAM",
			xml: `<topology><object type="Machine" cpuset="0x3" complete_cpuset="0x3" complete_nodeset="0x3">
				<object type="NUMANode" os_index="1" cpuset="0x3" complete_nodeset="0x2"/>
				<object type="NUMANode" os_index="0" cpuset="0x3" complete_nodeset="0x1"/>
				<object type="Package" os_index="0" cpuset="0x3"><object type="L2Cache" cpuset="0x3" depth="2" cache_type="0" cache_size="1048576">
				<object type="Core" cpuset="0x1"><object type="PU" os_index="0"/></object>
				<object type="Core" cpuset="0x2"><object type="PU" os_index="1"/></object></object></object></object>
				<distances2 type="NUMANode" kind="5" indexing="os"><indexes>0 1</indexes><u64values>10 31 31 10</u64values></distances2></topology>`,
			want:  Counts{Packages: 1, Nodes: 2, LLCs: 1, Cores: 2, CPUs: 2},
			notes: []string{"several nodes are local to CPUs 0-1"},
			check: func(t *testing.T, m *Machine) {
				if m.Nodes[0].CPUs.String() != "0-1" || !m.Nodes[1].CPUs.Empty() || m.Nodes[0].Distance[1] != 31 {
					t.Errorf("nodes %+v, want CPUs 0-1 in node 0 and node 1 at 31", m.Nodes)
				}
			},
		},
		{
			// Two kinds of core with the kernel's capacities, clusters from Linux 5.16.
			name: "kinds and clusters",
			xml: `<topology version="2.0"><object type="Machine" cpuset="0xf" complete_cpuset="0xf" complete_nodeset="0x1">
				<object type="NUMANode" os_index="0" cpuset="0xf" complete_nodeset="0x1"/>
				<object type="Package" os_index="0" cpuset="0xf"><object type="L3Cache" cpuset="0xf" depth="3" cache_type="0">
				<object type="Group" subtype="Cluster" cpuset="0x3"><object type="Core" cpuset="0x1"><object type="PU" os_index="0"/></object><object type="Core" cpuset="0x2"><object type="PU" os_index="1"/></object></object>
				<object type="Core" cpuset="0x4"><object type="PU" os_index="2"/></object><object type="Core" cpuset="0x8"><object type="PU" os_index="3"/></object></object></object></object>
				<cpukind cpuset="0x3"><info name="LinuxCapacity" value="446"/></cpukind><cpukind cpuset="0xc"><info name="LinuxCapacity" value="1024"/></cpukind></topology>`,
			want: Counts{Packages: 1, Nodes: 1, LLCs: 1, Clusters: 1, Cores: 4, CPUs: 4},
			check: func(t *testing.T, m *Machine) {
				if m.CPUs[1].Capacity != 446 || m.CPUs[2].Capacity != 1024 || m.ClusterMask(0).String() != "0-1" {
					t.Errorf("CPU 1 %+v, CPU 2 %+v, want capacities 446 and 1024 and cluster 0-1", m.CPUs[1], m.CPUs[2])
				}
			},
		},
		{
			// Version 1 with offline CPUs included.
			name: "version 1, one CPU offline",
			xml: `<topology><object type="Machine" cpuset="0x3" complete_cpuset="0x3" online_cpuset="0x1"><object type="Socket" os_index="0" cpuset="0x3">
				<object type="Core" cpuset="0x3"><object type="PU" os_index="0"/><object type="PU" os_index="1"/></object></object></object></topology>`,
			want:  Counts{Packages: 1, Nodes: 1, LLCs: 1, Cores: 1, CPUs: 1},
			notes: []string{"CPUs 1 are offline", "no NUMA nodes", "no caches"},
		},
		{
			// What a benchmark measured, and bandwidths, are no SLIT.
			name: "other matrices",
			xml: `<topology><object type="Machine" complete_nodeset="0x3"><object type="NUMANode" os_index="0" cpuset="0x1"/><object type="NUMANode" os_index="1" cpuset="0x2"/>
				<object type="Package" cpuset="0x3"/><object type="Core" cpuset="0x1"/><object type="Core" cpuset="0x2"/><object type="L2Cache" depth="2" cpuset="0x1"/><object type="L2Cache" depth="2" cpuset="0x2"/>
				<object type="PU" os_index="0"/><object type="PU" os_index="1"/></object>
				<distances2 type="NUMANode" kind="6" indexing="os"><indexes>0 1</indexes><u64values>1000 9000 9000 1000</u64values></distances2>
				<distances2 type="NUMANode" kind="9" indexing="os"><indexes>0 1</indexes><u64values>40 20 20 40</u64values></distances2></topology>`,
			want:  Counts{Packages: 1, Nodes: 2, LLCs: 2, Cores: 2, CPUs: 2},
			notes: []string{"no distance matrix: assumed 10 to itself and 20"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := finishImport("odd", []byte(test.xml), parseHwloc)
			if err != nil {
				t.Fatal(err)
			}
			if c := got.Machine.Counts(); c != test.want {
				t.Errorf("%+v, want %+v", c, test.want)
			}
			checkNotes(t, got.Notes, test.notes)
			if test.check != nil {
				test.check(t, got.Machine)
			}
			if diff := cmp.Diff(got.Machine, roundTrip(t, got.Machine)); diff != "" {
				t.Errorf("YAML does not give the same machine:\n%s", diff)
			}
		})
	}
}
