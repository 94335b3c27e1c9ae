package machine

import "fmt"

// yamlBuilder turns a decoded file into a draft. It checks here what Validate
// checks later, because here the line is known.
type yamlBuilder struct {
	y *yamlMachine
	d *draft
}

func (y *yamlMachine) draft() (*draft, error) {
	slots, err := y.slots()
	if err != nil {
		return nil, err
	}
	b := &yamlBuilder{y, newDraft(y.Name, slots)}
	for _, step := range []func() error{
		b.placeNodes, b.fillDistances, b.groupCPUs, b.fillCapacities, b.addCaches,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.d, nil
}

// slots is the number of CPU slots: cpus, or what the nodes need.
func (y *yamlMachine) slots() (int, error) {
	if len(y.Nodes) == 0 {
		return 0, position{1, 1}.errorf("no nodes: list at least one, such as \"nodes: [{id: 0, cpus: 0-3}]\"")
	}
	if len(y.Nodes) > maxNodes {
		return 0, fmt.Errorf("%d nodes, Linux knows at most %d", len(y.Nodes), maxNodes)
	}
	last, at := unknown, position{}
	for _, n := range y.Nodes {
		for cpu := n.CPUs.cpus.Next(last + 1); cpu >= 0; cpu = n.CPUs.cpus.Next(cpu + 1) {
			last, at = cpu, n.CPUs.at
		}
	}
	if last == unknown {
		return 0, position{1, 1}.errorf("no CPU is online: give at least one node cpus")
	}
	if y.CPUs == nil {
		return last + 1, nil
	}
	if y.CPUs.value > MaxCPUs {
		return 0, y.CPUs.at.errorf("cpus: %d, at most %d are possible", y.CPUs.value, MaxCPUs)
	}
	if last >= y.CPUs.value {
		return 0, at.errorf("CPU %d, but cpus: %d in line %d allows 0 to %d: raise it to at least %d", last, y.CPUs.value, y.CPUs.at.line, y.CPUs.value-1, last+1)
	}
	return y.CPUs.value, nil
}

func (b *yamlBuilder) placeNodes() error {
	claims := newClaims(b.d.slots())
	for i, n := range b.y.Nodes {
		if n.ID == nil {
			return n.CPUs.at.errorf("the %s node has no id: add \"id: %d\"", ordinal(i+1), i)
		}
		if err := b.addNodeID(n.ID); err != nil {
			return err
		}
		for cpu := n.CPUs.cpus.First(); cpu >= 0; cpu = n.CPUs.cpus.Next(cpu + 1) {
			if err := claims.claim(cpu, n.CPUs.at, "node"); err != nil {
				return err
			}
			b.d.online.Set(cpu)
			b.d.node[cpu] = i
		}
	}
	return nil
}

func (b *yamlBuilder) addNodeID(id *yamlInt) error {
	ids := b.d.nodeIDs
	if len(ids) > 0 && id.value <= ids[len(ids)-1] {
		return id.at.errorf("node %d after node %d: list nodes by increasing id", id.value, ids[len(ids)-1])
	}
	b.d.nodeIDs = append(ids, id.value)
	return nil
}

func ordinal(n int) string {
	switch {
	case n%10 == 1 && n%100 != 11:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2 && n%100 != 12:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3 && n%100 != 13:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

func (b *yamlBuilder) fillDistances() error {
	n, told := len(b.y.Nodes), b.y.Distances
	if told == nil && n == 1 {
		b.d.distance = uniformDistances(1, 0)
		return nil
	}
	if told == nil {
		return b.y.Nodes[n-1].ID.at.errorf("%d nodes need distances: add a row for each node, such as \"distances: [[10, 21], [21, 10]]\", or \"distances: {self: 10, other: 21}\"", n)
	}
	rows := told.matrix(n)
	if len(rows) != n {
		return told.at.errorf("distances has %d rows for %d nodes: give one for each node", len(rows), n)
	}
	if f := findDistanceFault(rows, b.d.nodeIDs); f != nil {
		return told.place(f.row, f.col).errorf("%s", f.msg)
	}
	b.d.distance = rows
	return nil
}

// groupCPUs reads packages, llcs, clusters and cores, and checks that they nest
// as the scheduler's domains need.
func (b *yamlBuilder) groupCPUs() error {
	for _, g := range []struct {
		what   string
		sets   *yamlSets
		labels []int
	}{
		{"package", b.y.Packages, b.d.pkg},
		{"LLC", b.y.LLCs, b.d.llc},
		{"cluster", b.y.Clusters, b.d.cluster},
		{"core", b.y.Cores, b.d.core},
	} {
		if err := b.label(g.what, g.sets, g.labels); err != nil {
			return err
		}
	}
	if err := b.completePackages(); err != nil {
		return err
	}
	b.completeCores()
	b.d.llcsGiven, b.d.clustersGiven = b.y.LLCs != nil, b.y.Clusters != nil
	return b.checkNesting()
}

// label gives the CPUs of each set a label. Sets must be of online CPUs and
// have none in common.
func (b *yamlBuilder) label(what string, sets *yamlSets, labels []int) error {
	if sets == nil {
		return nil
	}
	claims := newClaims(b.d.slots())
	for i, set := range sets.sets {
		if err := b.checkOnline(set); err != nil {
			return err
		}
		for cpu := set.cpus.First(); cpu >= 0; cpu = set.cpus.Next(cpu + 1) {
			if err := claims.claim(cpu, set.at, what); err != nil {
				return err
			}
			labels[cpu] = i
		}
	}
	return nil
}

func (b *yamlBuilder) checkOnline(set yamlSet) error {
	for cpu := set.cpus.First(); cpu >= 0; cpu = set.cpus.Next(cpu + 1) {
		if !b.d.online.Has(cpu) {
			return set.at.errorf("CPU %d is in no node, so it is offline: add it to a node's cpus or take it out here", cpu)
		}
	}
	return nil
}

// completePackages makes each node a package when the file names none.
func (b *yamlBuilder) completePackages() error {
	if b.y.Packages == nil {
		copy(b.d.pkg, b.d.node)
		return nil
	}
	missing := b.d.onlineWhere(func(cpu int) bool { return b.d.pkg[cpu] == unknown })
	if !missing.Empty() {
		return b.y.Packages.at.errorf("CPUs %s are in no package: add them to one, or leave packages out to have one per node", missing)
	}
	return nil
}

// completeCores makes CPUs that are in no listed core a core each.
func (b *yamlBuilder) completeCores() {
	next := maxLabel(b.d.core) + 1
	b.d.eachOnline(func(cpu int) {
		if b.d.core[cpu] == unknown {
			b.d.core[cpu] = next
			next++
		}
	})
}

func (b *yamlBuilder) checkNesting() error {
	d, y := b.d, b.y
	for _, rule := range []struct {
		inner  string
		sets   *yamlSets
		outer  string
		labels []int
		active bool
	}{
		{"LLC", y.LLCs, "node", d.node, true},
		{"cluster", y.Clusters, "node", d.node, true},
		{"cluster", y.Clusters, "LLC", d.llc, y.LLCs != nil},
		{"core", y.Cores, "node", d.node, true},
		{"core", y.Cores, "package", d.pkg, true},
		{"core", y.Cores, "LLC", d.llc, y.LLCs != nil},
		{"core", y.Cores, "cluster", d.cluster, y.Clusters != nil},
	} {
		if rule.sets == nil || !rule.active {
			continue
		}
		if err := checkInside(rule.inner, rule.sets, rule.outer, rule.labels); err != nil {
			return err
		}
	}
	return nil
}

// checkInside reports a set whose CPUs do not have one label.
func checkInside(inner string, sets *yamlSets, outer string, labels []int) error {
	for _, set := range sets.sets {
		first := set.cpus.First()
		for cpu := first; cpu >= 0; cpu = set.cpus.Next(cpu + 1) {
			if labels[cpu] != labels[first] {
				return set.at.errorf("%s %s: CPUs %d and %d are not in the same %s; a %s lies inside one: divide it", inner, set.cpus, first, cpu, outer, inner)
			}
		}
	}
	return nil
}

func (b *yamlBuilder) fillCapacities() error {
	claims := newClaims(b.d.slots())
	b.d.eachOnline(func(cpu int) { b.d.capacity[cpu] = fullCapacity })
	for _, c := range b.y.Capacities {
		if c.Capacity.value < 1 || c.Capacity.value > fullCapacity {
			return c.Capacity.at.errorf("capacity %d is not in 1 to %d", c.Capacity.value, fullCapacity)
		}
		if err := b.checkOnline(c.CPUs); err != nil {
			return err
		}
		for cpu := c.CPUs.cpus.First(); cpu >= 0; cpu = c.CPUs.cpus.Next(cpu + 1) {
			if err := claims.claim(cpu, c.CPUs.at, "list of capacities"); err != nil {
				return err
			}
			b.d.capacity[cpu] = c.Capacity.value
		}
	}
	return b.checkFastest()
}

func (b *yamlBuilder) checkFastest() error {
	fastest := 0
	b.d.eachOnline(func(cpu int) { fastest = max(fastest, b.d.capacity[cpu]) })
	if fastest == fullCapacity {
		return nil
	}
	return b.y.Capacities[0].Capacity.at.errorf("the fastest CPU has capacity %d: capacities are relative to it, so give it %d", fastest, fullCapacity)
}

func (b *yamlBuilder) addCaches() error {
	claims := make(map[cacheKind]*claims)
	for i := range b.y.Caches {
		c := &b.y.Caches[i]
		cache, err := c.kind()
		if err != nil {
			return err
		}
		if claims[cacheKind{cache.Level, cache.Type}] == nil {
			claims[cacheKind{cache.Level, cache.Type}] = newClaims(b.d.slots())
		}
		if err := b.addInstances(c, cache, claims[cacheKind{cache.Level, cache.Type}]); err != nil {
			return err
		}
	}
	return nil
}

// kind reads what all instances have in common.
func (c *yamlCache) kind() (Cache, error) {
	cache := Cache{Level: c.Level.value, Type: c.Type.text}
	if cache.Level < 1 || cache.Level > maxCacheLevel {
		return cache, c.position().errorf("level %d is not a cache level of 1 to %d", cache.Level, maxCacheLevel)
	}
	switch cache.Type {
	case cacheData, cacheInstruction, cacheUnified, "":
	default:
		return cache, c.Type.at.errorf("type %q is not %s, %s or %s", abbreviate(cache.Type), cacheData, cacheInstruction, cacheUnified)
	}
	if c.Size.text == "" {
		return cache, nil
	}
	size, err := parseSize(c.Size.text)
	if err != nil {
		return cache, c.Size.at.errorf("%v", err)
	}
	cache.Size = size
	return cache, nil
}

// position is that of the first value there is.
func (c *yamlCache) position() position {
	places := []position{c.Level.at, c.Type.at, c.Size.at, c.Each.at}
	if c.CPUs != nil {
		places = append(places, c.CPUs.at)
	}
	for _, p := range places {
		if p.line > 0 {
			return p
		}
	}
	return position{1, 1}
}

func (b *yamlBuilder) addInstances(c *yamlCache, cache Cache, claims *claims) error {
	switch {
	case c.CPUs != nil && c.Each.text != "":
		return c.Each.at.errorf("both cpus and each: give one of them")
	case c.CPUs != nil:
		return b.addListed(c.CPUs, cache, claims)
	case c.Each.text != "":
		return b.addEach(c.Each, cache, claims)
	}
	return c.position().errorf("the L%d cache has no CPUs: add \"each: core\", or cpus", cache.Level)
}

func (b *yamlBuilder) addListed(sets *yamlSets, cache Cache, claims *claims) error {
	for _, set := range sets.sets {
		if err := b.checkOnline(set); err != nil {
			return err
		}
		cache.CPUs = NewCPUMask(b.d.slots())
		for cpu := set.cpus.First(); cpu >= 0; cpu = set.cpus.Next(cpu + 1) {
			if cache.Type != "" {
				if err := claims.claim(cpu, set.at, fmt.Sprintf("L%d %s cache", cache.Level, cache.Type)); err != nil {
					return err
				}
			}
			cache.CPUs.Set(cpu)
		}
		b.d.caches = append(b.d.caches, cache)
	}
	return nil
}

// addEach adds an instance for every core, cluster, LLC, package or node.
func (b *yamlBuilder) addEach(each yamlText, cache Cache, claims *claims) error {
	labels, err := b.labelsOf(each)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("L%d %s cache", cache.Level, cache.Type)
	for cpu, label := range labels {
		if label == unknown || cache.Type == "" {
			continue
		}
		if err := claims.claim(cpu, each.at, what); err != nil {
			return err
		}
	}
	b.d.addCachePer(labels, cache)
	return nil
}

func (b *yamlBuilder) labelsOf(each yamlText) ([]int, error) {
	switch each.text {
	case "core":
		return b.d.core, nil
	case "package":
		return b.d.pkg, nil
	case "node":
		return b.d.node, nil
	case "llc":
		if b.y.LLCs == nil {
			return nil, each.at.errorf("each: llc needs llcs; without them LLCs are taken from the caches")
		}
		return b.d.llc, nil
	case "cluster":
		if b.y.Clusters == nil {
			return nil, each.at.errorf("each: cluster needs clusters; without them clusters are taken from the caches")
		}
		return b.d.cluster, nil
	}
	return nil, each.at.errorf("each: %q is not core, cluster, llc, package or node", abbreviate(each.text))
}

// claims remembers who has a CPU, to report the second one that wants it.
type claims struct{ at []position }

func newClaims(slots int) *claims { return &claims{make([]position, slots)} }

func (c *claims) claim(cpu int, at position, what string) error {
	if before := c.at[cpu]; before.line > 0 {
		return at.errorf("CPU %d is in a second %s, the first is in line %d: take it out of one", cpu, what, before.line)
	}
	c.at[cpu] = at
	return nil
}
