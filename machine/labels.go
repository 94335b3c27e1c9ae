package machine

// A partition of CPUs is held as labels: one number per CPU, equal for CPUs of
// one part, -1 for CPUs in no part.

// canonical renumbers labels from 0 on in order of the lowest CPU that has
// them.
func canonical(online CPUMask, labels []int) []int {
	out := unknownLabels(len(labels))
	number := make(map[int]int)
	for cpu := online.First(); cpu >= 0; cpu = online.Next(cpu + 1) {
		if labels[cpu] < 0 {
			continue
		}
		n, ok := number[labels[cpu]]
		if !ok {
			n = len(number)
			number[labels[cpu]] = n
		}
		out[cpu] = n
	}
	return out
}

// countLabels returns the number of parts.
func countLabels(online CPUMask, labels []int) int {
	seen := make(map[int]bool)
	for cpu := online.First(); cpu >= 0; cpu = online.Next(cpu + 1) {
		if labels[cpu] >= 0 {
			seen[labels[cpu]] = true
		}
	}
	return len(seen)
}

// splitLabels cuts every part along the borders of the other partitions.
func splitLabels(online CPUMask, labels []int, others ...[]int) []int {
	out := canonical(online, labels)
	for _, other := range others {
		type pair struct{ a, b int }
		number := make(map[pair]int)
		for cpu := online.First(); cpu >= 0; cpu = online.Next(cpu + 1) {
			if out[cpu] < 0 {
				continue
			}
			key := pair{out[cpu], other[cpu]}
			n, ok := number[key]
			if !ok {
				n = len(number)
				number[key] = n
			}
			out[cpu] = n
		}
	}
	return out
}

// joinLabels merges parts until none cuts a part of inner in two. A CPU without
// a part joins that of the CPUs it shares an inner part with.
func joinLabels(online CPUMask, labels, inner []int) []int {
	root := make(map[int]int)
	find := func(l int) int {
		for {
			up, ok := root[l]
			if !ok {
				return l
			}
			l = up
		}
	}
	of := make(map[int]int) // inner part to the label it lies in
	for cpu := online.First(); cpu >= 0; cpu = online.Next(cpu + 1) {
		if labels[cpu] < 0 || inner[cpu] < 0 {
			continue
		}
		have, ok := of[inner[cpu]]
		if !ok {
			of[inner[cpu]] = labels[cpu]
			continue
		}
		if a, b := find(have), find(labels[cpu]); a != b {
			root[max(a, b)] = min(a, b)
		}
	}
	out := unknownLabels(len(labels))
	for cpu := online.First(); cpu >= 0; cpu = online.Next(cpu + 1) {
		l := labels[cpu]
		if l < 0 {
			var ok bool
			if l, ok = of[inner[cpu]]; !ok {
				continue
			}
		}
		out[cpu] = find(l)
	}
	return out
}

// fillLabels returns labels with the CPUs it does not place taken from other.
func fillLabels(labels, other []int) []int {
	out := make([]int, len(labels))
	offset := maxLabel(labels) + 1
	for cpu, l := range labels {
		if l < 0 && other[cpu] >= 0 {
			l = offset + other[cpu]
		}
		out[cpu] = l
	}
	return out
}

// dropTrivial removes the parts that are no larger than one part of inner or
// that are all of a part of outer or lie in none.
func dropTrivial(online CPUMask, labels, inner, outer []int) []int {
	size, innerSize, outerSize := partSizes(online, labels), partSizes(online, inner), partSizes(online, outer)
	out := unknownLabels(len(labels))
	for cpu := online.First(); cpu >= 0; cpu = online.Next(cpu + 1) {
		l := labels[cpu]
		if l < 0 || outer[cpu] < 0 || size[l] <= innerSize[inner[cpu]] || size[l] >= outerSize[outer[cpu]] {
			continue
		}
		out[cpu] = l
	}
	return out
}

func partSizes(online CPUMask, labels []int) map[int]int {
	size := make(map[int]int)
	for cpu := online.First(); cpu >= 0; cpu = online.Next(cpu + 1) {
		size[labels[cpu]]++
	}
	return size
}

// labelsFromCaches labels each CPU with the cache of the highest level it has
// among those that fit. Caches must be in order of level. Of two caches of one
// level the first in the list counts.
func labelsFromCaches(online CPUMask, caches []Cache, slots int, fits func(Cache) bool) []int {
	labels := unknownLabels(slots)
	level := make([]int, slots)
	for i, c := range caches {
		if !fits(c) {
			continue
		}
		for cpu := c.CPUs.First(); cpu >= 0; cpu = c.CPUs.Next(cpu + 1) {
			if online.Has(cpu) && level[cpu] < c.Level {
				labels[cpu], level[cpu] = i, c.Level
			}
		}
	}
	return labels
}
