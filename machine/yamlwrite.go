package machine

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// yamlWidth is where lists of CPU sets wrap.
const yamlWidth = 100

// WriteYAML writes m in the form that [Load] reads; loading it gives an equal
// machine. Errors are those of w.
func (m *Machine) WriteYAML(w io.Writer) error {
	out := bufio.NewWriter(w)
	y := &yamlWriter{out, m}
	y.printf("# %s\n", m.Counts())
	y.printf("name: %s\n", yamlQuote(m.Name))
	y.printf("cpus: %d\n", len(m.CPUs))
	y.nodes()
	y.sets("packages", m.parts(packageOf))
	y.sets("llcs", m.parts(llcOf))
	y.sets("clusters", m.parts(clusterOf))
	y.sets("cores", slices.DeleteFunc(m.parts(coreOf), func(s CPUMask) bool { return s.Count() == 1 }))
	y.capacities()
	y.caches()
	return out.Flush()
}

// String says the counts in one line: "2 packages, 2 nodes, ...".
func (c Counts) String() string {
	parts := []string{
		plural(c.Packages, "package"), plural(c.Nodes, "node"), plural(c.LLCs, "LLC"),
		plural(c.Cores, "core"), plural(c.CPUs, "CPU"),
	}
	if c.Clusters > 0 {
		parts = slices.Insert(parts, 3, plural(c.Clusters, "cluster"))
	}
	return strings.Join(parts, ", ")
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// parts returns the sets of online CPUs with an equal key, by lowest CPU.
func (m *Machine) parts(key func(*CPU) int) []CPUMask {
	var sets []CPUMask
	index := make(map[int]int)
	for i := range m.CPUs {
		c := &m.CPUs[i]
		if !c.Online || key(c) < 0 {
			continue
		}
		k, ok := index[key(c)]
		if !ok {
			k = len(sets)
			index[key(c)] = k
			sets = append(sets, NewCPUMask(len(m.CPUs)))
		}
		sets[k].Set(i)
	}
	return sets
}

// yamlWriter writes the parts of a machine; the buffer keeps the first error.
type yamlWriter struct {
	out *bufio.Writer
	m   *Machine
}

func (y *yamlWriter) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(y.out, format, args...) // Flush reports it
}

// yamlQuote quotes a text so that any name survives; Go's escapes that appear
// in it are YAML's too.
func yamlQuote(s string) string { return strconv.QuoteToASCII(strings.ToValidUTF8(s, "?")) }

func (y *yamlWriter) nodes() {
	y.printf("nodes:\n")
	for i := range y.m.Nodes {
		n := &y.m.Nodes[i]
		y.printf("  - {id: %d, cpus: %q}\n", n.ID, n.CPUs.String())
	}
	if len(y.m.Nodes) == 1 && y.m.Nodes[0].Distance[0] == localDistance {
		return
	}
	if other, ok := y.uniform(); ok {
		y.printf("distances: {self: %d, other: %d}\n", y.m.Nodes[0].Distance[0], other)
		return
	}
	y.printf("distances:\n")
	for i := range y.m.Nodes {
		y.printf("  - [%s]\n", joinInts(y.m.Nodes[i].Distance))
	}
}

// largestMatrix is up to where a matrix of equal distances is written out.
const largestMatrix = 8

// uniform returns the distance between any two nodes of a large machine, if it
// is the same for all.
func (y *yamlWriter) uniform() (int, bool) {
	if len(y.m.Nodes) <= largestMatrix {
		return 0, false
	}
	self, other := y.m.Nodes[0].Distance[0], y.m.Nodes[0].Distance[1]
	for i := range y.m.Nodes {
		for j, d := range y.m.Nodes[i].Distance {
			if i == j && d != self || i != j && d != other {
				return 0, false
			}
		}
	}
	return other, true
}

func joinInts(values []int) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.Itoa(v)
	}
	return strings.Join(texts, ", ")
}

// sets writes a list of sets. An empty list is written too: it says that there
// are none, where a missing one would be derived from the caches.
func (y *yamlWriter) sets(key string, sets []CPUMask) {
	if len(sets) == 0 && key == "cores" {
		return
	}
	y.printf("%s: [", key)
	y.wrapped(sets, "  ", len(key)+3)
	y.printf("]\n")
}

// wrapped writes quoted sets with commas, breaking lines before yamlWidth.
func (y *yamlWriter) wrapped(sets []CPUMask, indent string, column int) {
	for i, set := range sets {
		text := strconv.Quote(set.String())
		if i > 0 {
			if column += 2; column+len(text)+2 > yamlWidth {
				y.printf(",\n%s", indent)
				column = len(indent)
			} else {
				y.printf(", ")
			}
		}
		y.printf("%s", text)
		column += len(text)
	}
}

func (y *yamlWriter) capacities() {
	groups := y.m.parts(func(c *CPU) int { return c.Capacity })
	if len(groups) <= 1 {
		return
	}
	y.printf("capacities:\n")
	for _, set := range groups {
		y.printf("  - {cpus: %q, capacity: %d}\n", set.String(), y.m.CPUs[set.First()].Capacity)
	}
}

func (y *yamlWriter) caches() {
	if len(y.m.Caches) == 0 {
		return
	}
	y.printf("caches:\n")
	for _, group := range cacheGroups(y.m.Caches) {
		c := group[0]
		y.printf("  - {level: %d", c.Level)
		if c.Type != "" {
			y.printf(", type: %s", c.Type)
		}
		if c.Size > 0 {
			y.printf(", size: %s", formatSize(c.Size))
		}
		if each := y.each(group); each != "" {
			y.printf(", each: %s}\n", each)
			continue
		}
		y.printf(", cpus: [\n      ")
		sets := make([]CPUMask, len(group))
		for i := range group {
			sets[i] = group[i].CPUs
		}
		y.wrapped(sets, "      ", 6)
		y.printf("]}\n")
	}
}

// cacheGroups gathers instances of one level, type and size, in the order in
// which the first of each comes.
func cacheGroups(caches []Cache) [][]Cache {
	type kind struct {
		cacheKind
		size int64
	}
	var groups [][]Cache
	index := make(map[kind]int)
	for _, c := range caches {
		k := kind{cacheKind{c.Level, c.Type}, c.Size}
		i, ok := index[k]
		if !ok {
			i = len(groups)
			index[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// each names the thing of which every one has an instance, or "".
func (y *yamlWriter) each(group []Cache) string {
	for _, thing := range []struct {
		name string
		key  func(*CPU) int
	}{
		{"core", coreOf}, {"cluster", clusterOf}, {"llc", llcOf}, {"package", packageOf}, {"node", nodeOf},
	} {
		same := slices.EqualFunc(group, y.m.parts(thing.key), func(c Cache, s CPUMask) bool { return c.CPUs.Equal(s) })
		if same {
			return thing.name
		}
	}
	return ""
}
