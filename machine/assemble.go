package machine

import (
	"cmp"
	"fmt"
	"slices"
)

// unknown marks a label, place or index that a source does not tell.
const unknown = -1

// offlineCPU is what every CPU slot that is not online holds.
var offlineCPU = CPU{Core: unknown, Cluster: unknown, LLC: unknown, Package: unknown, Node: unknown}

// draft is what a source says about a machine, before Linux's own rules are
// applied to it. Labels are arbitrary numbers: CPUs with equal labels share the
// thing, -1 means that the source does not tell.
type draft struct {
	name     string
	online   CPUMask // sized for len(core) CPUs
	core     []int
	cluster  []int
	llc      []int // only when the source names LLCs; else taken from caches
	pkg      []int
	node     []int // index into nodeIDs
	capacity []int // any scale; 0 when not told

	nodeIDs  []int   // increasing
	distance [][]int // by index into nodeIDs; 0 where not told, nil when nothing is
	caches   []Cache

	// llcsGiven and clustersGiven say that the labels are complete: a CPU
	// without one has none, and nothing is derived from the caches.
	llcsGiven, clustersGiven bool

	notes []string
}

func newDraft(name string, slots int) *draft {
	return &draft{
		name:     name,
		online:   NewCPUMask(slots),
		core:     unknownLabels(slots),
		cluster:  unknownLabels(slots),
		llc:      unknownLabels(slots),
		pkg:      unknownLabels(slots),
		node:     unknownLabels(slots),
		capacity: make([]int, slots),
	}
}

func unknownLabels(n int) []int {
	labels := make([]int, n)
	for i := range labels {
		labels[i] = unknown
	}
	return labels
}

func (d *draft) slots() int { return len(d.core) }

func (d *draft) note(format string, args ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, args...))
}

// addCachePer adds one instance of c for every group of online CPUs with an
// equal label; CPUs without one have no such cache.
func (d *draft) addCachePer(labels []int, c Cache) {
	instance := make(map[int]int)
	for cpu := d.online.First(); cpu >= 0; cpu = d.online.Next(cpu + 1) {
		if labels[cpu] == unknown {
			continue
		}
		i, ok := instance[labels[cpu]]
		if !ok {
			i = len(d.caches)
			instance[labels[cpu]] = i
			c.CPUs = NewCPUMask(d.slots())
			d.caches = append(d.caches, c)
		}
		d.caches[i].CPUs.Set(cpu)
	}
}

// assemble completes a draft as Linux would, numbers everything and validates.
// The notes say what was assumed or repaired, and begin with the source's own.
func (d *draft) assemble() (*Machine, []string, error) {
	if d.online.Empty() {
		return nil, d.notes, fmt.Errorf("machine %s: no CPU is online", d.name)
	}
	d.completeNodes()
	d.completeDistances()
	d.completeCores()
	d.completePackages()
	d.keepCoresTogether()
	d.tidyCaches()
	d.completeLLCs()
	d.completeClusters()
	d.completeCapacities()
	m := d.build()
	if err := m.Validate(); err != nil {
		return nil, d.notes, err
	}
	return m, d.notes, nil
}

// eachOnline calls f for every online CPU in increasing order.
func (d *draft) eachOnline(f func(cpu int)) {
	for cpu := d.online.First(); cpu >= 0; cpu = d.online.Next(cpu + 1) {
		f(cpu)
	}
}

// onlineWhere returns the online CPUs for which in holds.
func (d *draft) onlineWhere(in func(cpu int) bool) CPUMask {
	m := NewCPUMask(d.slots())
	d.eachOnline(func(cpu int) {
		if in(cpu) {
			m.Set(cpu)
		}
	})
	return m
}

// completeNodes puts CPUs that no node claims into the first node, where Linux
// leaves CPUs whose node the firmware does not name.
func (d *draft) completeNodes() {
	if len(d.nodeIDs) == 0 {
		d.nodeIDs = []int{0}
		d.distance = uniformDistances(1, 0)
		d.note("no NUMA nodes are named: one node holds all CPUs")
		d.eachOnline(func(cpu int) { d.node[cpu] = 0 })
		return
	}
	homeless := d.onlineWhere(func(cpu int) bool { return d.node[cpu] == unknown })
	if homeless.Empty() {
		return
	}
	for _, cpu := range homeless.CPUs() {
		d.node[cpu] = 0
	}
	d.note("CPUs %s are in no node: they are put into node %d, the first, as Linux does", homeless, d.nodeIDs[0])
}

// completeDistances fills what the source leaves out with Linux's own default,
// 10 and 20 (LOCAL_DISTANCE and REMOTE_DISTANCE).
func (d *draft) completeDistances() {
	n := len(d.nodeIDs)
	if d.distance == nil {
		d.distance = uniformDistances(n, linuxRemote)
		if n > 1 {
			d.note("no distance matrix: assumed %d to itself and %d to other nodes, as Linux does without a SLIT", localDistance, linuxRemote)
		}
		return
	}
	filled := 0
	for i, row := range d.distance {
		for j, known := range row {
			if known != 0 {
				continue
			}
			d.distance[i][j] = d.likelyDistance(i, j)
			filled++
		}
	}
	if filled > 0 && n > 1 {
		d.note("%d of %d distances are not told: taken from the opposite direction where that is, else assumed %d and %d", filled, n*n, localDistance, linuxRemote)
	}
}

func (d *draft) likelyDistance(i, j int) int {
	switch {
	case i == j:
		return localDistance
	case d.distance[j][i] != 0:
		return d.distance[j][i]
	default:
		return linuxRemote
	}
}

// completeCores makes a CPU whose siblings are not told a core of its own.
func (d *draft) completeCores() {
	alone := d.onlineWhere(func(cpu int) bool { return d.core[cpu] == unknown })
	if alone.Empty() {
		return
	}
	next := maxLabel(d.core) + 1
	for _, cpu := range alone.CPUs() {
		d.core[cpu] = next
		next++
	}
	d.note("no thread siblings are told for CPUs %s: each is taken as a core of its own", alone)
}

// completePackages makes the CPUs of a node without package information one
// package.
func (d *draft) completePackages() {
	loose := d.onlineWhere(func(cpu int) bool { return d.pkg[cpu] == unknown })
	if loose.Empty() {
		return
	}
	next := maxLabel(d.pkg) + 1
	for _, cpu := range loose.CPUs() {
		d.pkg[cpu] = next + d.node[cpu]
	}
	d.note("no package is told for CPUs %s: one package per node is assumed", loose)
}

func maxLabel(labels []int) int { return max(slices.Max(labels), unknown) }

// keepCoresTogether splits a core whose threads are in different nodes or
// packages. Linux ignores such a sibling ("not on the same node", x86
// topology_sane) and goes on; so do we.
func (d *draft) keepCoresTogether() {
	split := splitLabels(d.online, d.core, d.node, d.pkg)
	if n := countLabels(d.online, split) - countLabels(d.online, d.core); n > 0 {
		d.note("%s with threads in two nodes or packages: split there, as Linux ignores such siblings", plural(n, "core"))
	}
	d.core = split
}

// tidyCaches limits caches to online CPUs, takes a CPU that two caches of one
// level and type claim out of the second, drops caches left empty, and sorts.
func (d *draft) tidyCaches() {
	claimed := make(map[cacheKind]CPUMask)
	disputed := NewCPUMask(d.slots())
	var kept []Cache
	for _, c := range d.caches {
		c.CPUs.And(d.online)
		if c.Type != "" { // an L1d and an L1i of untold type share their CPUs rightly
			k := cacheKind{c.Level, c.Type}
			if claimed[k] == nil {
				claimed[k] = NewCPUMask(d.slots())
			}
			twice := c.CPUs.Clone()
			twice.And(claimed[k])
			disputed.Or(twice)
			c.CPUs.AndNot(twice)
			claimed[k].Or(c.CPUs)
		}
		if !c.CPUs.Empty() {
			kept = append(kept, c)
		}
	}
	if !disputed.Empty() {
		d.note("CPUs %s are listed in two caches of one level and type: left in the first", disputed)
	}
	d.caches = kept
	sortCaches(d.caches)
}

// sortCaches orders caches by level, type, first CPU and size.
func sortCaches(caches []Cache) {
	slices.SortStableFunc(caches, func(a, b Cache) int {
		return cmp.Or(
			cmp.Compare(a.Level, b.Level),
			cmp.Compare(a.Type, b.Type),
			cmp.Compare(a.CPUs.First(), b.CPUs.First()),
			cmp.Compare(a.Size, b.Size),
		)
	})
}

// completeLLCs decides what Linux's MC level spans: the cache of the highest
// level a CPU has, limited to the node (on x86 by match_llc, else by
// cpu_coregroup_mask), never smaller than the core. Without any cache known it
// is the package inside the node, as cpu_coregroup_mask has it on arm64 and
// s390.
func (d *draft) completeLLCs() {
	if d.llcsGiven {
		return
	}
	d.llc = labelsFromCaches(d.online, d.caches, d.slots(), func(c Cache) bool { return c.Type != cacheInstruction })
	d.cachelessLLCs()
	d.widenToCores()
	clipped := splitLabels(d.online, d.llc, d.node)
	if n := countLabels(d.online, clipped) - countLabels(d.online, d.llc); n > 0 {
		d.note("last-level caches span several nodes: limited to the node, as Linux limits its MC level (%s more)", plural(n, "LLC"))
	}
	d.llc = clipped
}

func (d *draft) cachelessLLCs() {
	bare := d.onlineWhere(func(cpu int) bool { return d.llc[cpu] == unknown })
	if bare.Empty() {
		return
	}
	next := maxLabel(d.llc) + 1
	for _, cpu := range bare.CPUs() {
		d.llc[cpu] = next + d.pkg[cpu]
	}
	d.note("no caches are told for CPUs %s: the package inside the node is taken as the LLC, as Linux's MC level does on arm64 and s390", bare)
}

// widenToCores joins LLCs that cut a core in two: Linux widens such a domain to
// hold its child ("arch topology borken").
func (d *draft) widenToCores() {
	joined := joinLabels(d.online, d.llc, d.core)
	if n := countLabels(d.online, d.llc) - countLabels(d.online, joined); n > 0 {
		d.note("cores whose threads have different last-level caches: %s joined to another, as Linux widens such a domain", plural(n, "LLC"))
	}
	d.llc = joined
}

// completeClusters keeps a cluster where it is larger than the core and smaller
// than the LLC: at any other size Linux's CLS level degenerates. Where no
// cluster is told, CPUs that share an L2 below the LLC are one, as on x86
// (cpu_l2c_shared_mask).
func (d *draft) completeClusters() {
	if d.clustersGiven {
		return
	}
	l2 := labelsFromCaches(d.online, d.caches, d.slots(), func(c Cache) bool {
		return c.Level == 2 && c.Type != cacheInstruction
	})
	labels := fillLabels(d.cluster, l2)
	labels = joinLabels(d.online, labels, d.core)
	labels = splitLabels(d.online, labels, d.llc)
	d.cluster = dropTrivial(d.online, labels, d.core, d.llc)
}

// completeCapacities scales capacities so that the fastest online CPU has 1024.
func (d *draft) completeCapacities() {
	most := 0
	d.eachOnline(func(cpu int) { most = max(most, d.capacity[cpu]) })
	if most == 0 {
		d.eachOnline(func(cpu int) { d.capacity[cpu] = fullCapacity })
		return
	}
	untold := d.onlineWhere(func(cpu int) bool { return d.capacity[cpu] == 0 })
	if !untold.Empty() {
		d.note("no capacity is told for CPUs %s: taken as the fastest", untold)
	}
	d.eachOnline(func(cpu int) {
		told := d.capacity[cpu]
		if told == 0 {
			told = most
		}
		d.capacity[cpu] = max(1, told*fullCapacity/most)
	})
}

// build numbers cores, clusters, LLCs and packages by their lowest CPU, so that
// equal machines are equal values whatever their source.
func (d *draft) build() *Machine {
	core := canonical(d.online, d.core)
	cluster := canonical(d.online, d.cluster)
	llc := canonical(d.online, d.llc)
	pkg := canonical(d.online, d.pkg)
	m := &Machine{Name: d.name, CPUs: make([]CPU, d.slots()), Caches: d.caches}
	for i, id := range d.nodeIDs {
		m.Nodes = append(m.Nodes, Node{ID: id, CPUs: NewCPUMask(d.slots()), Distance: d.distance[i]})
	}
	for cpu := range m.CPUs {
		if !d.online.Has(cpu) {
			m.CPUs[cpu] = offlineCPU
			continue
		}
		m.CPUs[cpu] = CPU{
			Online: true, Core: core[cpu], Cluster: cluster[cpu], LLC: llc[cpu],
			Package: pkg[cpu], Node: d.node[cpu], Capacity: d.capacity[cpu],
		}
		m.Nodes[d.node[cpu]].CPUs.Set(cpu)
	}
	return m
}
