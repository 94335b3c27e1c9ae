package sched

import (
	"encoding/binary"
	"slices"

	"github.com/schedlab/schedlab/machine"
)

// topologyRules is what a kernel version builds sched domains from
// (mechanisms.md 5.2, 5.3).
type topologyRules struct {
	levels []levelRules // from SMT to NODE
	numa   levelRules   // each further NUMA distance

	busyFactor int64
	// reclaimDistance is the largest SLIT distance over which tasks are still
	// placed at exec, fork and wakeup.
	reclaimDistance int
	// memoryNodeLevels: distances to nodes without CPUs make levels too
	// (before v5.18). Those levels always degenerate; they only show in
	// [Domain.Level].
	memoryNodeLevels bool
	// smtCapacity is what the threads of one core have together; 0 means that
	// each counts as a whole CPU.
	smtCapacity int64
	imbalance   imbalanceRules
	// llcFlag is how debugfs spells FlagShareLLC; "" is SHARE_PKG_RESOURCES.
	llcFlag string
	// flagsFollowChild: when a level goes, the groups of the next higher one
	// take the flags of what is now below them (v6.6).
	flagsFollowChild bool
	// forgetsPreference: a domain that goes does not hand PREFER_SIBLING down
	// (before v3.12 [M]).
	forgetsPreference bool
	// oneNUMALevel: all nodes make one level, whatever their distances (before
	// v3.6, which puts up to 16 nodes into it).
	oneNUMALevel bool
	// firstScanBudget is SIS_UTIL's budget until the first balance pass.
	firstScanBudget int32
}

// levelRules are the parameters of one topology level.
type levelRules struct {
	name           string
	set            levelSet
	flags          DomainFlag
	imbalancePct   int64
	cacheNiceTries int32
	busyIdx        int32
	idleIdx        int32
	present        func(m *machine.Machine) bool // nil: on every machine

	// What older kernels set for each level; 0 stands for what is the same on
	// all: the number of the domain's CPUs and twice that, in ms, and
	// topologyRules.busyFactor.
	minInterval, maxInterval, busyFactor int64
}

// imbalanceRules say how many tasks may stay on a node (mechanisms.md 5.6).
type imbalanceRules struct {
	known bool
	shift uint  // node CPUs >> shift when the node has one LLC
	least int64 // lower bound
}

// levelSet says which CPUs share a level.
type levelSet uint8

const (
	coreSet levelSet = iota
	clusterSet
	llcSet
	nodeSet
	distanceSet // nodes within a SLIT distance
	numLevelSets
)

const (
	commonFlags = FlagBalanceNewidle | FlagBalanceExec | FlagBalanceFork | FlagWakeAffine
	numaFlags   = commonFlags | FlagSerialize | FlagNUMA
	farFlags    = FlagBalanceExec | FlagBalanceFork | FlagWakeAffine // off beyond the reclaim distance
)

// The levels of v5.10 to v6.1. Before v4.20 PREFER_SIBLING was a property of
// some levels; since then only NUMA levels lack it.
var (
	smtLevel = levelRules{name: "SMT", set: coreSet, imbalancePct: 110,
		flags: commonFlags | FlagPreferSibling | FlagShareCPUCapacity | FlagShareLLC}
	clusterLevel = levelRules{name: "CLS", set: clusterSet, imbalancePct: 117, cacheNiceTries: 1,
		flags: commonFlags | FlagPreferSibling | FlagShareLLC}
	mcLevel = levelRules{name: "MC", set: llcSet, imbalancePct: 117, cacheNiceTries: 1,
		flags: commonFlags | FlagPreferSibling | FlagShareLLC}
	dieLevel = levelRules{name: "DIE", set: nodeSet, imbalancePct: 117, cacheNiceTries: 1,
		flags: commonFlags | FlagPreferSibling}
	nodeLevel = levelRules{name: "NODE", set: distanceSet, imbalancePct: 117, cacheNiceTries: 1,
		flags: commonFlags | FlagPreferSibling}
	numaLevel = levelRules{name: "NUMA", set: distanceSet, imbalancePct: 117, cacheNiceTries: 2,
		flags: numaFlags}
)

// Before v4.x each level had intervals of its own, in ms.
var (
	smt38Level = levelRules{name: "SMT", set: coreSet, imbalancePct: 110, minInterval: 1, maxInterval: 2,
		flags: commonFlags | FlagShareCPUCapacity | FlagShareLLC}
	mc38Level = levelRules{name: "MC", set: llcSet, imbalancePct: 125, cacheNiceTries: 1, busyIdx: 2,
		minInterval: 1, maxInterval: 4, flags: commonFlags | FlagShareLLC}
	cpu38Level = levelRules{name: "CPU", set: nodeSet, imbalancePct: 125, cacheNiceTries: 1, busyIdx: 2, idleIdx: 1,
		minInterval: 1, maxInterval: 4, flags: commonFlags | FlagPreferSibling}
)

var topology38 = topologyRules{
	levels: []levelRules{smt38Level, mc38Level, cpu38Level},
	numa: levelRules{name: "NUMA", set: distanceSet, imbalancePct: 125, cacheNiceTries: 2, busyIdx: 3, idleIdx: 2,
		busyFactor: 32, flags: numaFlags},
	busyFactor: 64, reclaimDistance: 30, memoryNodeLevels: true, smtCapacity: 1178, forgetsPreference: true,
}

// In v3.2 the caches of a node prefer that tasks spread over them, and there is
// one level of nodes (called NODE there), which forks and wakeups cross at any
// distance [M].
var topology32 = func() topologyRules {
	r := topology38
	mc := mc38Level
	mc.flags |= FlagPreferSibling
	r.levels = []levelRules{smt38Level, mc, cpu38Level}
	r.numa.minInterval, r.numa.maxInterval = 8, 32
	r.oneNUMALevel, r.reclaimDistance = true, 255
	return r
}()

var topology414 = topologyRules{
	levels: []levelRules{
		{name: "SMT", set: coreSet, imbalancePct: 110,
			flags: commonFlags | FlagPreferSibling | FlagShareCPUCapacity | FlagShareLLC},
		{name: "MC", set: llcSet, imbalancePct: 117, cacheNiceTries: 1, busyIdx: 2,
			flags: commonFlags | FlagShareLLC},
		{name: "DIE", set: nodeSet, imbalancePct: 125, cacheNiceTries: 1, busyIdx: 2, idleIdx: 1,
			flags: commonFlags | FlagPreferSibling},
		{name: "NODE", set: distanceSet, imbalancePct: 125, cacheNiceTries: 1, busyIdx: 2, idleIdx: 1,
			flags: commonFlags | FlagPreferSibling},
	},
	numa: levelRules{name: "NUMA", set: distanceSet, imbalancePct: 125, cacheNiceTries: 2, busyIdx: 3, idleIdx: 2,
		flags: numaFlags},
	busyFactor: 32, reclaimDistance: 30, memoryNodeLevels: true, smtCapacity: 1178,
}

var topology510 = topologyRules{
	levels:     []levelRules{smtLevel, mcLevel, dieLevel, nodeLevel},
	numa:       numaLevel,
	busyFactor: 16, reclaimDistance: 30, memoryNodeLevels: true,
}

var topology517 = topologyRules{
	levels:     []levelRules{smtLevel, clusterLevel, mcLevel, dieLevel, nodeLevel},
	numa:       numaLevel,
	busyFactor: 16, reclaimDistance: 30, memoryNodeLevels: true,
}

var topology517tip = topologyRules{
	levels:     []levelRules{smtLevel, clusterLevel, mcLevel, dieLevel, nodeLevel},
	numa:       numaLevel,
	busyFactor: 16, reclaimDistance: 30, memoryNodeLevels: true,
	imbalance: imbalanceRules{known: true, shift: 2},
}

var topology61 = topologyRules{
	levels:     []levelRules{smtLevel, clusterLevel, mcLevel, dieLevel, nodeLevel},
	numa:       numaLevel,
	busyFactor: 16, reclaimDistance: 30,
	imbalance: imbalanceRules{known: true, shift: 3, least: 1},
}

// The levels of v6.7 and later: clusters have a flag of their own, and DIE is
// called PKG. Where packages hold several nodes PKG is left out, because the
// NUMA levels span what it would (mechanisms-modern.md 5.1).
var (
	cluster67Level = func() levelRules {
		l := clusterLevel
		l.flags |= FlagCluster
		return l
	}()
	pkgLevel = func() levelRules {
		l := dieLevel
		l.name, l.present = "PKG", packagesHoldOneNode
		return l
	}()
	smt72Level = func() levelRules {
		l := smtLevel
		l.present = someCoreHasThreads
		return l
	}()
)

var topology612 = topologyRules{
	levels:     []levelRules{smtLevel, cluster67Level, mcLevel, pkgLevel, nodeLevel},
	numa:       numaLevel,
	busyFactor: 16, reclaimDistance: 30,
	imbalance: imbalanceRules{known: true, shift: 3, least: 1},
	llcFlag:   "SHARE_LLC", flagsFollowChild: true,
}

// In v7.2 the budget shares its place with a mark from the time when domains
// are built, and until the first balance pass it reads as that mark: the bit of
// SHARE_LLC.
var topology72 = topologyRules{
	levels:     []levelRules{smt72Level, cluster67Level, mcLevel, pkgLevel, nodeLevel},
	numa:       numaLevel,
	busyFactor: 16, reclaimDistance: 30,
	imbalance: imbalanceRules{known: true, shift: 3, least: 1},
	llcFlag:   "SHARE_LLC", flagsFollowChild: true, firstScanBudget: 512,
}

func packagesHoldOneNode(m *machine.Machine) bool {
	nodeOf := map[int]int{}
	for i := range m.CPUs {
		c := &m.CPUs[i]
		if !c.Online {
			continue
		}
		if node, seen := nodeOf[c.Package]; seen && node != c.Node {
			return false
		}
		nodeOf[c.Package] = c.Node
	}
	return true
}

func someCoreHasThreads(m *machine.Machine) bool {
	seen := map[int]bool{}
	for i := range m.CPUs {
		if c := &m.CPUs[i]; c.Online {
			if seen[c.Core] {
				return true
			}
			seen[c.Core] = true
		}
	}
	return false
}

// topologyLevel is one level of a machine: its parameters and every CPU's span.
type topologyLevel struct {
	levelRules
	spans   []spanID // by CPU
	overlap bool     // spans of different CPUs may overlap without being equal
}

// topologyLevels lists the levels of m from the bottom up.
func (r *topologyRules) topologyLevels(m *machine.Machine, spans *spanTable) []topologyLevel {
	classes := nestedClasses(m)
	distances := distinctDistances(m, classes[nodeSet], r.memoryNodeLevels)
	within := nodesWithin(m, distances)

	var levels []topologyLevel
	for i := range r.levels {
		rules := r.levels[i]
		switch {
		case rules.present != nil && !rules.present(m):
		case rules.set != distanceSet:
			masks := classMasks(classes[rules.set])
			levels = append(levels, newTopologyLevel(rules, classes[rules.set], masks, spans))
		case len(distances) > 0:
			l := newTopologyLevel(rules, classes[nodeSet], within[0], spans)
			l.overlap = !isPartition(l.spans, spans)
			levels = append(levels, l)
		}
	}
	first := 1
	if r.oneNUMALevel {
		first = max(1, len(distances)-1)
	}
	for k := first; k < len(distances); k++ {
		l := newTopologyLevel(r.numa, classes[nodeSet], within[k], spans)
		l.overlap = true
		l.flags |= FlagOverlap
		if distances[k] > r.reclaimDistance {
			l.flags &^= farFlags
		}
		levels = append(levels, l)
	}
	return levels
}

// newTopologyLevel gives each CPU the mask of its class.
func newTopologyLevel(rules levelRules, class []int, masks []machine.CPUMask, spans *spanTable) topologyLevel {
	ids := make([]spanID, len(masks))
	for c, mask := range masks {
		if mask != nil {
			ids[c] = spans.intern(mask)
		}
	}
	l := topologyLevel{levelRules: rules, spans: make([]spanID, len(class))}
	for cpu, c := range class {
		if c >= 0 {
			l.spans[cpu] = ids[c]
		}
	}
	return l
}

// nestedClasses numbers the node, LLC, cluster and core of every CPU so that
// each kind lies within the one before: an LLC that spans nodes counts per
// node, as in the kernel, which takes the smaller of the two sets. Offline
// CPUs have class -1.
func nestedClasses(m *machine.Machine) [numLevelSets][]int {
	var classes [numLevelSets][]int
	classes[nodeSet] = make([]int, len(m.CPUs))
	for cpu := range m.CPUs {
		classes[nodeSet][cpu] = -1
		if m.CPUs[cpu].Online {
			classes[nodeSet][cpu] = m.CPUs[cpu].Node
		}
	}
	classes[llcSet] = refine(m, classes[nodeSet], func(c *machine.CPU) int { return c.LLC })
	classes[clusterSet] = refine(m, classes[llcSet], func(c *machine.CPU) int { return c.Cluster })
	classes[coreSet] = refine(m, classes[clusterSet], func(c *machine.CPU) int { return c.Core })
	return classes
}

// refine splits classes by id; a CPU whose id is unknown (-1) shares only with
// its own core.
func refine(m *machine.Machine, outer []int, id func(*machine.CPU) int) []int {
	type key struct {
		outer, id int
		isCore    bool
	}
	numbers := map[key]int{}
	inner := make([]int, len(outer))
	for cpu, class := range outer {
		if class < 0 {
			inner[cpu] = -1
			continue
		}
		k := key{outer: class, id: id(&m.CPUs[cpu])}
		if k.id < 0 {
			k.id, k.isCore = m.CPUs[cpu].Core, true
		}
		n, seen := numbers[k]
		if !seen {
			n = len(numbers)
			numbers[k] = n
		}
		inner[cpu] = n
	}
	return inner
}

// classMasks returns the CPUs of each class.
func classMasks(class []int) []machine.CPUMask {
	masks := make([]machine.CPUMask, slices.Max(class)+1)
	for cpu, c := range class {
		if c < 0 {
			continue
		}
		if masks[c] == nil {
			masks[c] = machine.NewCPUMask(len(class))
		}
		masks[c].Set(cpu)
	}
	return masks
}

// distinctDistances lists the SLIT distances of m in increasing order.
func distinctDistances(m *machine.Machine, nodeOf []int, memoryNodes bool) []int {
	counts := make([]bool, len(m.Nodes))
	for i := range counts {
		counts[i] = memoryNodes || slices.Contains(nodeOf, i)
	}
	seen := map[int]bool{}
	var out []int
	for i := range m.Nodes {
		for j, d := range m.Nodes[i].Distance {
			if counts[i] && counts[j] && !seen[d] {
				seen[d] = true
				out = append(out, d)
			}
		}
	}
	slices.Sort(out)
	return out
}

// nodesWithin returns, for each distance and node, the CPUs of the nodes that
// are no farther.
func nodesWithin(m *machine.Machine, distances []int) [][]machine.CPUMask {
	cpusOf := make([][]int, len(m.Nodes))
	for cpu := range m.CPUs {
		if c := &m.CPUs[cpu]; c.Online && c.Node < len(cpusOf) {
			cpusOf[c.Node] = append(cpusOf[c.Node], cpu)
		}
	}
	within := make([][]machine.CPUMask, len(distances))
	for k := range within {
		within[k] = make([]machine.CPUMask, len(m.Nodes))
		for i := range m.Nodes {
			within[k][i] = machine.NewCPUMask(len(m.CPUs))
		}
	}
	for i := range m.Nodes {
		for j, d := range m.Nodes[i].Distance {
			k, known := slices.BinarySearch(distances, d)
			if !known {
				continue // the distance of a memory-only node
			}
			for _, cpu := range cpusOf[j] {
				within[k][i].Set(cpu)
			}
		}
		for k := 1; k < len(within); k++ {
			within[k][i].Or(within[k-1][i])
		}
	}
	return within
}

// isPartition reports whether any two spans are equal or disjoint.
func isPartition(spans []spanID, table *spanTable) bool {
	for cpu, id := range spans {
		if id == noSpan {
			continue
		}
		mask := table.mask(id)
		for c := mask.First(); c >= 0; c = mask.Next(c + 1) {
			if spans[c] != id {
				return false
			}
		}
		if !mask.Has(cpu) {
			return false
		}
	}
	return true
}

// spanID names a mask of a [spanTable].
type spanID int32

const noSpan spanID = 0

// spanTable keeps one copy of each distinct CPU mask, so that CPUs with the
// same span share its memory and equal spans have equal IDs.
type spanTable struct {
	ids     map[string]spanID
	masks   []machine.CPUMask
	weights []int
	buf     []byte
}

func newSpanTable() *spanTable {
	return &spanTable{ids: map[string]spanID{}, masks: make([]machine.CPUMask, 1), weights: make([]int, 1)}
}

// intern returns the ID of mask, which must not change afterwards.
func (t *spanTable) intern(mask machine.CPUMask) spanID {
	t.buf = t.buf[:0]
	for _, w := range mask {
		t.buf = binary.LittleEndian.AppendUint64(t.buf, w)
	}
	if id, ok := t.ids[string(t.buf)]; ok {
		return id
	}
	id := spanID(len(t.masks))
	t.ids[string(t.buf)] = id
	t.masks = append(t.masks, mask)
	t.weights = append(t.weights, mask.Count())
	return id
}

func (t *spanTable) mask(id spanID) machine.CPUMask { return t.masks[id] }
func (t *spanTable) weight(id spanID) int           { return t.weights[id] }
