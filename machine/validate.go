package machine

import (
	"errors"
	"fmt"
)

// maxNodes is the largest number of NUMA nodes a Linux kernel can be built for
// (NODES_SHIFT 10).
const maxNodes = 1024

// maxDistance is the largest SLIT entry: the ACPI table holds bytes.
const maxDistance = 255

// Cache types as sysfs spells them; a cache whose type no source told has "".
const (
	cacheData        = "Data"
	cacheInstruction = "Instruction"
	cacheUnified     = "Unified"
)

// Validate reports the first thing about m that no Linux machine can be: a
// distance matrix that is not symmetric or in which another node is as near as
// the node itself, a CPU in no node or in two, node masks that disagree with
// the CPUs, cores that are not inside one cluster, LLC, node and package, LLCs
// that cross nodes (Linux clips its MC level to the node), no online CPU, more
// than [MaxCPUs] CPUs, a capacity outside 1 to 1024, or no CPU of capacity 1024.
func (m *Machine) Validate() error {
	for _, check := range []func(*Machine) error{
		checkSize, checkCPUs, checkNodes, checkDistances, checkNesting, checkCaches,
	} {
		if err := check(m); err != nil {
			return fmt.Errorf("machine %s: %w", m.Name, err)
		}
	}
	return nil
}

func checkSize(m *Machine) error {
	switch n := len(m.CPUs); {
	case n == 0:
		return errors.New("no CPUs")
	case n > MaxCPUs:
		return fmt.Errorf("%d CPUs, at most %d are possible", n, MaxCPUs)
	case m.Online().Empty():
		return errors.New("no CPU is online")
	case len(m.Nodes) == 0:
		return errors.New("no NUMA node; a machine without NUMA has one")
	case len(m.Nodes) > maxNodes:
		return fmt.Errorf("%d nodes, Linux knows at most %d", len(m.Nodes), maxNodes)
	}
	return nil
}

func checkCPUs(m *Machine) error {
	fastest := 0
	for i := range m.CPUs {
		if err := checkCPU(&m.CPUs[i], len(m.Nodes)); err != nil {
			return fmt.Errorf("CPU %d: %w", i, err)
		}
		fastest = max(fastest, m.CPUs[i].Capacity)
	}
	if fastest != fullCapacity {
		return fmt.Errorf("the fastest CPU has capacity %d: capacities are relative to it, so it has %d", fastest, fullCapacity)
	}
	return nil
}

func checkCPU(c *CPU, nodes int) error {
	if !c.Online {
		if *c != offlineCPU {
			return errors.New("is offline but has a place or a capacity")
		}
		return nil
	}
	switch {
	case c.Core < 0 || c.Package < 0:
		return errors.New("has no core or no package")
	case c.Cluster < -1 || c.LLC < -1:
		return errors.New("has a negative cluster or LLC other than -1")
	case c.Node < 0 || c.Node >= nodes:
		return fmt.Errorf("is in no node (index %d of %d)", c.Node, nodes)
	case c.Capacity < 1 || c.Capacity > fullCapacity:
		return fmt.Errorf("capacity %d is not in 1 to %d", c.Capacity, fullCapacity)
	}
	return nil
}

func checkNodes(m *Machine) error {
	seen := NewCPUMask(len(m.CPUs))
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if n.ID < 0 || i > 0 && n.ID <= m.Nodes[i-1].ID {
			return fmt.Errorf("node %d: node numbers must increase from 0 on", n.ID)
		}
		if len(n.CPUs) != len(seen) {
			return fmt.Errorf("node %d: mask of %d words in a machine of %d", n.ID, len(n.CPUs), len(seen))
		}
		for cpu := n.CPUs.First(); cpu >= 0; cpu = n.CPUs.Next(cpu + 1) {
			if cpu >= len(m.CPUs) || m.CPUs[cpu].Node != i {
				return fmt.Errorf("node %d lists CPU %d, which is not one of its online CPUs", n.ID, cpu)
			}
		}
		seen.Or(n.CPUs)
	}
	if missing := m.Online(); !missing.Equal(seen) {
		missing.AndNot(seen)
		return fmt.Errorf("CPUs %s are in a node that does not list them", missing)
	}
	return nil
}

func checkDistances(m *Machine) error {
	rows := make([][]int, len(m.Nodes))
	ids := make([]int, len(m.Nodes))
	for i := range m.Nodes {
		rows[i], ids[i] = m.Nodes[i].Distance, m.Nodes[i].ID
	}
	if f := findDistanceFault(rows, ids); f != nil {
		return f
	}
	return nil
}

// distanceFault is a wrong entry of a distance matrix.
type distanceFault struct {
	row, col int
	msg      string
}

func (f *distanceFault) Error() string { return f.msg }

// findDistanceFault returns the first wrong entry, in reading order, or nil.
// An entry below the diagonal is compared with its mirror above it.
func findDistanceFault(rows [][]int, ids []int) *distanceFault {
	for i, row := range rows {
		if len(row) != len(ids) {
			return &distanceFault{i, 0, fmt.Sprintf("node %d has %d distances, there are %d nodes: give one for each", ids[i], len(row), len(ids))}
		}
		for j, d := range row {
			if msg := distanceFaultAt(rows, ids, i, j, d); msg != "" {
				return &distanceFault{i, j, msg}
			}
		}
	}
	return nil
}

func distanceFaultAt(rows [][]int, ids []int, i, j, d int) string {
	switch {
	case d < 1 || d > maxDistance:
		return fmt.Sprintf("distance %d from node %d to node %d is not in 1 to %d", d, ids[i], ids[j], maxDistance)
	case i != j && i < len(rows[i]) && d <= rows[i][i]:
		return fmt.Sprintf("distance %d from node %d to node %d is not larger than %d, the distance of node %d to itself: a node is nearest to itself, usually at 10", d, ids[i], ids[j], rows[i][i], ids[i])
	case j < i && rows[j][i] != d:
		return fmt.Sprintf("distance %d from node %d to node %d, but %d from node %d to node %d: make them equal", d, ids[i], ids[j], rows[j][i], ids[j], ids[i])
	}
	return ""
}

// nesting is one rule "every inner thing lies inside one outer thing".
type nesting struct {
	inner, outer       string
	innerKey, outerKey func(*CPU) int
}

func coreOf(c *CPU) int    { return c.Core }
func clusterOf(c *CPU) int { return c.Cluster }
func llcOf(c *CPU) int     { return c.LLC }
func nodeOf(c *CPU) int    { return c.Node }
func packageOf(c *CPU) int { return c.Package }

// nestings is what the scheduler's SMT, CLS, MC and NUMA levels need. Packages
// and nodes do not nest in either direction: both sub-NUMA clustering and
// machines with NUMA switched off exist.
var nestings = []nesting{
	{"core", "cluster", coreOf, clusterOf},
	{"core", "LLC", coreOf, llcOf},
	{"core", "package", coreOf, packageOf},
	{"core", "node", coreOf, nodeOf},
	{"cluster", "LLC", clusterOf, llcOf},
	{"cluster", "node", clusterOf, nodeOf},
	{"LLC", "node", llcOf, nodeOf},
}

func checkNesting(m *Machine) error {
	for _, rule := range nestings {
		if err := rule.check(m); err != nil {
			return err
		}
	}
	return nil
}

func (r nesting) check(m *Machine) error {
	first := make(map[int]int) // inner key to the first CPU that has it
	for i := range m.CPUs {
		c := &m.CPUs[i]
		key := r.innerKey(c)
		if !c.Online || key < 0 {
			continue
		}
		f, seen := first[key]
		if !seen {
			first[key] = i
			continue
		}
		if a, b := r.outerKey(&m.CPUs[f]), r.outerKey(c); a != b {
			return fmt.Errorf("CPUs %d and %d share a %s but not the %s around it", f, i, r.inner, r.outer)
		}
	}
	return nil
}

func checkCaches(m *Machine) error {
	online := m.Online()
	claimed := make(map[cacheKind]CPUMask)
	for i := range m.Caches {
		if err := checkCache(&m.Caches[i], online); err != nil {
			return err
		}
		if err := claimCPUs(claimed, &m.Caches[i]); err != nil {
			return err
		}
		if i > 0 && m.Caches[i].Level < m.Caches[i-1].Level {
			return errors.New("caches are not in order of level")
		}
	}
	return nil
}

// cacheKind is what at most one cache of a CPU is.
type cacheKind struct {
	level int
	typ   string
}

// claimCPUs reports a CPU that has two caches of one level and type. Caches of
// untold type are left alone: an L1d and an L1i share their CPUs rightly.
func claimCPUs(claimed map[cacheKind]CPUMask, c *Cache) error {
	if c.Type == "" {
		return nil
	}
	k := cacheKind{c.Level, c.Type}
	if claimed[k] == nil {
		claimed[k] = NewCPUMask(len(c.CPUs) * 64)
	}
	if claimed[k].Intersects(c.CPUs) {
		return fmt.Errorf("the L%d %s cache of CPUs %s shares CPUs with another of its kind", c.Level, c.Type, c.CPUs)
	}
	claimed[k].Or(c.CPUs)
	return nil
}

func checkCache(c *Cache, online CPUMask) error {
	switch c.Type {
	case cacheData, cacheInstruction, cacheUnified, "":
	default:
		return fmt.Errorf("type %[2]q of an L%[1]d cache is not %[3]s, %[4]s or %[5]s", c.Level, abbreviate(c.Type), cacheData, cacheInstruction, cacheUnified)
	}
	switch {
	case c.Level < 1 || c.Level > maxCacheLevel:
		return fmt.Errorf("cache level %d is not in 1 to %d", c.Level, maxCacheLevel)
	case c.Size < 0:
		return fmt.Errorf("an L%d cache of negative size %d", c.Level, c.Size)
	case len(c.CPUs) != len(online) || c.CPUs.Empty() || !c.CPUs.SubsetOf(online):
		return fmt.Errorf("an L%d cache of CPUs %q: they must be online CPUs, at least one", c.Level, c.CPUs)
	}
	return nil
}

// maxCacheLevel leaves room above the L4 that some machines have.
const maxCacheLevel = 9
