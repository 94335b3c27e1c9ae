package machine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// SLIT distances of machines made from a spec string: 10 to itself, 21 to
// every other node, as two-socket Xeons report (mechanisms.md 0.4). Linux
// itself assumes 10 and 20 when the firmware has no table; imports do that.
const (
	localDistance      = 10
	specRemoteDistance = 21
	linuxRemote        = 20
)

// fullCapacity is the capacity of the fastest CPU of a machine.
const fullCapacity = 1024

// shape is a regular machine: what a spec string says.
type shape struct {
	nodes, llcsPerNode, coresPerLLC, threads int
}

func (s shape) coresPerNode() int { return s.llcsPerNode * s.coresPerLLC }
func (s shape) cores() int        { return s.nodes * s.coresPerNode() }
func (s shape) cpus() int         { return s.cores() * s.threads }

var specPattern = regexp.MustCompile(`^([0-9]+)n(?:([0-9]+)l)?([0-9]+)c([0-9]+)t$`)

// looksLikeSpec reports whether a name was meant as a spec string.
func looksLikeSpec(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// parseShape reads "2n24c2t" or "2n4l6c2t".
func parseShape(spec string) (shape, error) {
	m := specPattern.FindStringSubmatch(spec)
	if m == nil {
		return shape{}, fmt.Errorf("machine %q: not a spec such as 2n24c2t (nodes, cores per node, threads per core) or 2n4l6c2t (nodes, LLCs per node, cores per LLC, threads)", abbreviate(spec))
	}
	if m[2] == "" {
		m[2] = "1"
	}
	var v [4]int
	for i, field := range []string{"nodes", "LLCs per node", "cores", "threads"} {
		n, err := strconv.Atoi(m[i+1])
		if err != nil || n < 1 || n > MaxCPUs {
			return shape{}, fmt.Errorf("machine %q: %s must be 1 to %d, not %s", abbreviate(spec), field, MaxCPUs, abbreviate(m[i+1]))
		}
		v[i] = n
	}
	s := shape{nodes: v[0], llcsPerNode: v[1], coresPerLLC: v[2], threads: v[3]}
	if s.nodes > maxNodes {
		return shape{}, fmt.Errorf("machine %q: %d nodes, Linux knows at most %d", spec, s.nodes, maxNodes)
	}
	if total := s.cpus(); total > MaxCPUs { // each factor is at most 2^12: no overflow
		return shape{}, fmt.Errorf("machine %q: %d CPUs, at most %d are possible", spec, total, MaxCPUs)
	}
	return s, nil
}

// Parse makes a machine from a preset name ("ivb-ep") or a spec string:
// "2n24c2t" is nodes, cores per node and threads per core, "2n4l6c2t" is
// nodes, LLCs per node, cores per LLC and threads. The first threads of all
// cores are numbered first, node by node, then the second threads, as x86
// servers do: CPU 0 and CPU 48 are siblings on 2n24c2t. Each node is one
// package; distances are 10 and 21.
func Parse(spec string) (*Machine, error) {
	if p, ok := presetNamed(spec); ok {
		return p.build()
	}
	if !looksLikeSpec(spec) {
		return nil, fmt.Errorf("machine %q: no preset of that name (%s) and not a spec such as 2n24c2t", abbreviate(spec), strings.Join(presetNames(), ", "))
	}
	s, err := parseShape(spec)
	if err != nil {
		return nil, err
	}
	return s.build(spec, cacheSizes{})
}

// cacheSizes are bytes per instance; a level of size 0 is left out, except the
// LLC, which a spec string says is there without giving its size.
type cacheSizes struct {
	l1d, l1i, l2 int64 // per core
	llc          int64 // per LLC
	llcLevel     int   // 0 means 3
}

// build numbers the CPUs of a regular machine.
func (s shape) build(name string, sizes cacheSizes) (*Machine, error) {
	d := newDraft(name, s.cpus())
	for n := range s.nodes {
		d.nodeIDs = append(d.nodeIDs, n)
	}
	cores := s.cores()
	for cpu := range s.cpus() {
		core := cpu % cores
		d.online.Set(cpu)
		d.core[cpu] = core
		d.node[cpu] = core / s.coresPerNode()
		d.pkg[cpu] = d.node[cpu]
		d.llc[cpu] = core / s.coresPerLLC
		d.capacity[cpu] = fullCapacity
	}
	d.distance = uniformDistances(s.nodes, specRemoteDistance)
	s.addCaches(d, sizes)
	m, _, err := d.assemble()
	return m, err
}

func (s shape) addCaches(d *draft, sizes cacheSizes) {
	perCore := []Cache{
		{Level: 1, Type: cacheData, Size: sizes.l1d},
		{Level: 1, Type: cacheInstruction, Size: sizes.l1i},
		{Level: 2, Type: cacheUnified, Size: sizes.l2},
	}
	for _, c := range perCore {
		if c.Size > 0 {
			d.addCachePer(d.core, c)
		}
	}
	llc := Cache{Level: 3, Type: cacheUnified, Size: sizes.llc}
	if sizes.llcLevel != 0 {
		llc.Level = sizes.llcLevel
	}
	d.addCachePer(d.llc, llc)
}

// uniformDistances is the matrix of n fully connected nodes.
func uniformDistances(n, remote int) [][]int {
	rows := make([][]int, n)
	for i := range rows {
		rows[i] = make([]int, n)
		for j := range rows[i] {
			rows[i][j] = remote
		}
		rows[i][i] = localDistance
	}
	return rows
}
