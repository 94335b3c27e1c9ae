package bundle

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/schedlab/schedlab/machine"
)

const (
	cpuPath  = "/sys/devices/system/cpu/cpu%d/"
	nodePath = "/sys/devices/system/node/node%d/"
)

// WriteMachine describes a machine as sysfs would, a line for each file:
// "path: value". [machine.Import] reads it.
func WriteMachine(out io.Writer, m *machine.Machine) error {
	w := bufio.NewWriter(out)
	online := m.Online()
	_, _ = fmt.Fprintf(w, "/sys/devices/system/cpu/online: %s\n", online)
	for cpu := online.First(); cpu >= 0; cpu = online.Next(cpu + 1) {
		writeTopology(w, m, cpu)
	}
	for cpu := online.First(); cpu >= 0; cpu = online.Next(cpu + 1) {
		writeCaches(w, m, cpu)
	}
	for i := range m.Nodes {
		writeNode(w, &m.Nodes[i])
	}
	return w.Flush() // returns the first error of all writes
}

func writeTopology(w io.Writer, m *machine.Machine, cpu int) {
	c := &m.CPUs[cpu]
	path := fmt.Sprintf(cpuPath, cpu)
	_, _ = fmt.Fprintf(w, "%stopology/thread_siblings_list: %s\n", path, m.CoreMask(cpu))
	if c.Cluster >= 0 {
		_, _ = fmt.Fprintf(w, "%stopology/cluster_cpus_list: %s\n", path, m.ClusterMask(cpu))
	}
	if c.Package >= 0 {
		_, _ = fmt.Fprintf(w, "%stopology/package_cpus_list: %s\n", path, m.PackageMask(cpu))
	}
	if c.Capacity != 1024 {
		_, _ = fmt.Fprintf(w, "%scpu_capacity: %d\n", path, c.Capacity)
	}
}

// writeCaches lists the caches of a CPU; the last one is the machine's
// last-level cache, also when that is not among the known instances.
func writeCaches(w io.Writer, m *machine.Machine, cpu int) {
	index, level := 0, 0
	last := machine.CPUMask(nil)
	add := func(c *machine.Cache) {
		path := fmt.Sprintf(cpuPath+"cache/index%d/", cpu, index)
		_, _ = fmt.Fprintf(w, "%slevel: %d\n", path, c.Level)
		if c.Type != "" {
			_, _ = fmt.Fprintf(w, "%stype: %s\n", path, c.Type)
		}
		if c.Size > 0 {
			_, _ = fmt.Fprintf(w, "%ssize: %dK\n", path, c.Size>>10)
		}
		_, _ = fmt.Fprintf(w, "%sshared_cpu_list: %s\n", path, c.CPUs)
		index, level, last = index+1, c.Level, c.CPUs
	}
	for i := range m.Caches {
		if c := &m.Caches[i]; c.CPUs.Has(cpu) {
			add(c)
		}
	}
	if m.CPUs[cpu].LLC < 0 {
		return
	}
	if llc := m.LLCMask(cpu); last == nil || !llc.Equal(last) {
		add(&machine.Cache{Level: max(3, level+1), Type: "Unified", CPUs: llc})
	}
}

func writeNode(w io.Writer, n *machine.Node) {
	path := fmt.Sprintf(nodePath, n.ID)
	_, _ = fmt.Fprintf(w, "%scpulist: %s\n", path, n.CPUs)
	distances := make([]string, len(n.Distance))
	for i, d := range n.Distance {
		distances[i] = fmt.Sprint(d)
	}
	_, _ = fmt.Fprintf(w, "%sdistance: %s\n", path, strings.Join(distances, " "))
}
