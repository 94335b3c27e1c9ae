package machine

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// readNodes reads the NUMA nodes, who is in them and how far apart they are.
func (s *sysfs) readNodes() error {
	ids, err := numberedDirs(s.fsys, "node", "node", maxNodes)
	if err != nil {
		return err
	}
	sets := make([]CPUMask, len(ids))
	for i, id := range ids {
		set, _, err := s.readSet(nodeDir(id), "cpulist", "cpumap")
		if err != nil {
			return err
		}
		if set == nil {
			set = NewCPUMask(s.d.slots())
		}
		set.And(s.d.online)
		sets[i] = set
	}
	links := s.linkedNodes(sets)
	s.d.nodeIDs = mergeIDs(ids, links)
	if err := s.readDistances(ids); err != nil {
		return err
	}
	s.mergeEmulated(ids, sets)
	return s.placeInNodes(ids, sets, links)
}

// linkedNodes finds the node of CPUs that no node lists by the link cpuN/nodeM:
// a node that is offline has no folder, but its CPUs may run.
func (s *sysfs) linkedNodes(sets []CPUMask) map[int]int {
	homeless := s.d.online.Clone()
	for _, set := range sets {
		homeless.AndNot(set)
	}
	links := make(map[int]int)
	for _, cpu := range homeless.CPUs() {
		ids, err := numberedDirs(s.fsys, cpuDir(cpu), "node", maxNodes)
		if err == nil && len(ids) == 1 {
			links[cpu] = ids[0]
		}
	}
	return links
}

// mergeIDs returns the nodes of both sources in increasing order.
func mergeIDs(ids []int, links map[int]int) []int {
	all := slices.Clone(ids)
	for _, id := range links {
		all = append(all, id)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// readDistances reads a row for each folder. A row has an entry for every
// online node; copies of machines with offline nodes have one for every
// possible node.
func (s *sysfs) readDistances(ids []int) error {
	known := false
	rows := make([][]int, len(s.d.nodeIDs))
	for i := range rows {
		rows[i] = make([]int, len(s.d.nodeIDs))
	}
	for _, id := range ids {
		text, ok := s.read(path.Join(nodeDir(id), "distance"))
		if !ok {
			continue
		}
		values := strings.Fields(text)
		columns := s.distanceColumns(ids, len(values))
		if columns == nil {
			s.d.note("node%d/distance has %d entries for %d nodes: left out", id, len(values), len(s.d.nodeIDs))
			continue
		}
		known = true
		if err := s.fillDistanceRow(rows, id, columns, values); err != nil {
			return err
		}
	}
	if known {
		s.d.distance = rows
	}
	return nil
}

// distanceColumns returns the nodes that n distances stand for.
func (s *sysfs) distanceColumns(ids []int, n int) []int {
	if n == len(ids) {
		return ids
	}
	if text, ok := s.read("node/possible"); ok {
		if possible, err := ParseCPUList(text, maxNodes); err == nil && len(possible) == n {
			return possible
		}
	}
	return nil
}

func (s *sysfs) fillDistanceRow(rows [][]int, id int, columns []int, values []string) error {
	row, _ := slices.BinarySearch(s.d.nodeIDs, id)
	for k, v := range values {
		d, err := parseDecimal(v)
		if err != nil || d < 1 || d > maxDistance {
			return fmt.Errorf("%s/distance: %q is not a distance of 1 to %d", nodeDir(id), abbreviate(v), maxDistance)
		}
		if col, ok := slices.BinarySearch(s.d.nodeIDs, columns[k]); ok {
			rows[row][col] = d
		}
	}
	return nil
}

// mergeEmulated drops a node that lists the same CPUs as an earlier one at no
// distance from it. Kernels booted with numa=fake split memory that way; for
// the scheduler the nodes are one.
func (s *sysfs) mergeEmulated(ids []int, sets []CPUMask) {
	if s.d.distance == nil {
		return
	}
	drop := make(map[int]bool)
	for i := range ids {
		for j := i + 1; j < len(ids) && !drop[ids[i]]; j++ {
			a, _ := slices.BinarySearch(s.d.nodeIDs, ids[i])
			b, _ := slices.BinarySearch(s.d.nodeIDs, ids[j])
			if !sets[i].Empty() && sets[i].Equal(sets[j]) && s.d.distance[a][b] == s.d.distance[a][a] {
				drop[ids[j]] = true
			}
		}
	}
	if len(drop) == 0 {
		return
	}
	s.d.note("%d nodes list the same CPUs as a lower one at its own distance (emulated NUMA, numa=fake): merged, as they are one node to the scheduler", len(drop))
	s.d.keepNodes(func(id int) bool { return !drop[id] })
	for i, id := range ids {
		if drop[id] {
			sets[i] = NewCPUMask(s.d.slots())
		}
	}
}

// keepNodes removes nodes from the list and from the matrix.
func (d *draft) keepNodes(keep func(id int) bool) {
	var at []int
	for i, id := range d.nodeIDs {
		if keep(id) {
			at = append(at, i)
		}
	}
	d.nodeIDs = pick(d.nodeIDs, at)
	d.distance = pick(d.distance, at)
	for i, row := range d.distance {
		d.distance[i] = pick(row, at)
	}
}

func pick[T any](from []T, at []int) []T {
	out := make([]T, len(at))
	for k, i := range at {
		out[k] = from[i]
	}
	return out
}

func (s *sysfs) placeInNodes(ids []int, sets []CPUMask, links map[int]int) error {
	for i, id := range ids {
		index, _ := slices.BinarySearch(s.d.nodeIDs, id)
		for cpu := sets[i].First(); cpu >= 0; cpu = sets[i].Next(cpu + 1) {
			if other := s.d.node[cpu]; other != unknown {
				return fmt.Errorf("%s lists CPU %d, which node%d lists too: Linux has a CPU in exactly one node, so this is no machine it can run; take the CPU out of one list", nodeDir(id), cpu, s.d.nodeIDs[other])
			}
			s.d.node[cpu] = index
		}
	}
	for cpu, id := range links {
		s.d.node[cpu], _ = slices.BinarySearch(s.d.nodeIDs, id)
	}
	if len(links) > 0 {
		s.d.note("%d CPUs are in nodes without a folder of their own (offline nodes): placed by their nodeN link", len(links))
	}
	return nil
}

// The folder of a running machine needs no more than reading; this makes sure
// that the in-memory trees offer the same.
var _ fs.ReadDirFS = (*memFS)(nil)
