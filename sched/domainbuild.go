package sched

import "github.com/schedlab/schedlab/machine"

// domainBuilder makes the domains of a whole machine, level by level as the
// kernel does (mechanisms.md 5.2): first every CPU's full chain, then groups
// and what is computed from the full chain, then each chain loses its
// degenerate levels.
type domainBuilder struct {
	s      *Scheduler
	rules  *topologyRules
	spans  *spanTable
	levels []topologyLevel

	// By level and CPU. A CPU's chain ends below the first level whose domain
	// has SpanWeight 0.
	domains [][]Domain
	spanOf  [][]spanID

	groups groupTable
	mixed  map[spanID]bool // spans with more than one CPU capacity
}

// buildDomains gives every online CPU its chain of domains and the shortcuts
// into it.
func (s *Scheduler) buildDomains() {
	b := domainBuilder{
		s: s, rules: &s.profile.Topology, spans: newSpanTable(), mixed: map[spanID]bool{},
	}
	b.levels = b.rules.topologyLevels(s.machine, b.spans)
	b.buildChains()
	b.buildGroups()
	if b.rules.imbalance.known {
		b.eachCPU(b.setAllowedImbalance)
	}
	b.initCapacities()
	b.eachCPU(b.attach)
	b.linkSharedRecords()
	if b.s.variants.keepsMap {
		b.buildMaps()
	}
}

func (b *domainBuilder) eachCPU(do func(cpu int)) {
	for cpu := b.s.online.First(); cpu >= 0; cpu = b.s.online.Next(cpu + 1) {
		do(cpu)
	}
}

func (b *domainBuilder) buildChains() {
	n := len(b.s.rqs)
	b.domains = make([][]Domain, len(b.levels))
	b.spanOf = make([][]spanID, len(b.levels))
	unfinished := b.s.online.Clone()
	for l := range b.levels {
		if unfinished.Empty() {
			b.levels, b.domains, b.spanOf = b.levels[:l], b.domains[:l], b.spanOf[:l]
			return
		}
		b.domains[l] = make([]Domain, n)
		b.spanOf[l] = make([]spanID, n)
		for cpu := unfinished.First(); cpu >= 0; cpu = unfinished.Next(cpu + 1) {
			b.addDomain(l, cpu)
			if b.domains[l][cpu].Span.Equal(b.s.online) {
				unfinished.Clear(cpu)
			}
		}
	}
}

// addDomain puts a domain of level l on top of cpu's chain.
func (b *domainBuilder) addDomain(l, cpu int) {
	level := &b.levels[l]
	id := level.spans[cpu]
	var child *Domain
	if l > 0 {
		child = &b.domains[l-1][cpu]
		id = b.widen(id, child.Span)
	}
	w := b.spans.weight(id)
	d := &b.domains[l][cpu]
	*d = Domain{
		Name: level.name, Level: l, Span: b.spans.mask(id), SpanWeight: w, Flags: level.flags, Child: child,
		MinInterval: int64(w), MaxInterval: int64(2 * w),
		BusyFactor: b.rules.busyFactor, ImbalancePct: level.imbalancePct, CacheNiceTries: level.cacheNiceTries,
		BusyIdx: level.busyIdx, IdleIdx: level.idleIdx,
		lastBalance: b.s.jiffies, lastDecay: b.s.jiffies,
		newidle: firstNewidleRate,
	}
	d.applyIntervals(level)
	b.spanOf[l][cpu] = id
	if b.hasMixedCapacities(id) {
		d.Flags |= FlagAsymCPUCapacity
		if child != nil {
			child.Flags &^= FlagPreferSibling
		}
	}
	if child != nil {
		child.Parent = d
	}
}

// applyIntervals sets how often the domain is balanced.
func (d *Domain) applyIntervals(level *topologyLevel) {
	if level.minInterval != 0 {
		d.MinInterval, d.MaxInterval = level.minInterval, level.maxInterval
	}
	if level.busyFactor != 0 {
		d.BusyFactor = level.busyFactor
	}
	d.balanceInterval = d.MinInterval
}

// widen returns the span that also covers the child's: a level never loses
// CPUs of the level below (a node whose distance to itself is not the smallest
// of the machine would).
func (b *domainBuilder) widen(id spanID, child machine.CPUMask) spanID {
	if child.SubsetOf(b.spans.mask(id)) {
		return id
	}
	union := b.spans.mask(id).Clone()
	union.Or(child)
	return b.spans.intern(union)
}

func (b *domainBuilder) hasMixedCapacities(id spanID) bool {
	mixed, known := b.mixed[id]
	if known {
		return mixed
	}
	span := b.spans.mask(id)
	first := b.s.rqs[span.First()].capacityOrig
	for c := span.First(); c >= 0 && !mixed; c = span.Next(c + 1) {
		mixed = b.s.rqs[c].capacityOrig != first
	}
	b.mixed[id] = mixed
	return mixed
}

// setAllowedImbalance fills ImbNUMANr from the LLC upwards. It looks at the
// full chain: the level above the LLC may degenerate later (mechanisms.md 5.6).
func (b *domainBuilder) setAllowedImbalance(cpu int) {
	imbalance, unit := int64(0), 1
	for d := &b.domains[0][cpu]; d != nil; d = d.Parent {
		if d.Child == nil || d.has(FlagShareLLC) || !d.Child.has(FlagShareLLC) {
			d.ImbNUMANr = imbalance * int64(max(1, d.SpanWeight/unit))
			continue
		}
		llcs := d.SpanWeight / d.Child.SpanWeight
		imbalance = int64(llcs)
		if llcs == 1 {
			imbalance = int64(d.SpanWeight) >> b.rules.imbalance.shift
		}
		imbalance = max(imbalance, b.rules.imbalance.least)
		d.ImbNUMANr = imbalance
		unit = firstNUMAWeight(d)
	}
}

// firstNUMAWeight returns the size of the lowest NUMA domain above d, that of
// d when there is none.
func firstNUMAWeight(d *Domain) int {
	for up := d.Parent; up != nil; up = up.Parent {
		if up.has(FlagNUMA) {
			return up.SpanWeight
		}
	}
	return d.SpanWeight
}

// attach drops what does not help scheduling from cpu's chain and sets the
// CPU's shortcuts [cpu_attach_domain].
func (b *domainBuilder) attach(cpu int) {
	rq := &b.s.rqs[cpu]
	rq.sd = dropDegenerate(&b.domains[0][cpu], b.rules)
	rq.llc, rq.numa = nil, nil
	rq.llcSize, rq.llcID, rq.llcShared = 1, int32(cpu), nil
	for d := rq.sd; d != nil && d.has(FlagShareLLC); d = d.Parent {
		rq.llc = d
	}
	if rq.llc != nil {
		rq.llcSize, rq.llcID = int32(rq.llc.SpanWeight), int32(rq.llc.Span.First())
	}
	rq.clusterID = rq.llcID
	for d := rq.sd; d != nil && d.has(FlagShareLLC); d = d.Parent {
		if d.has(FlagCluster) {
			rq.clusterID = int32(d.Span.First())
			b.s.scratch.clusters = true
			break
		}
	}
	for d := rq.sd; d != nil && rq.numa == nil; d = d.Parent {
		if d.has(FlagNUMA) {
			rq.numa = d
		}
	}
}

// dropDegenerate removes domains without use from a chain and returns its new
// lowest one, nil when none is left.
func dropDegenerate(lowest *Domain, rules *topologyRules) *Domain {
	for d := lowest; d.Parent != nil; {
		parent := d.Parent
		if !parentDegenerate(d, parent) {
			d = parent
			continue
		}
		d.Parent = parent.Parent
		if d.Parent != nil {
			d.Parent.Child = d
			if rules.flagsFollowChild {
				d.Parent.Groups.Flags = d.Flags
			}
		}
		if !rules.forgetsPreference {
			d.Flags |= parent.Flags & FlagPreferSibling
		}
	}
	if !degenerate(lowest) {
		return lowest
	}
	parent := lowest.Parent
	if parent != nil {
		parent.Child = nil
		parent.Groups.Flags = 0
	}
	return parent
}

// degenerate reports whether a domain has nothing to balance and nothing to
// place by.
func degenerate(d *Domain) bool {
	if d.SpanWeight == 1 {
		return true
	}
	needsGroups := d.Flags &^ FlagWakeAffine
	if needsGroups != 0 && d.Groups.Next != d.Groups {
		return false
	}
	return !d.has(FlagWakeAffine)
}

// parentDegenerate reports whether parent adds nothing to its child d.
func parentDegenerate(d, parent *Domain) bool {
	if degenerate(parent) {
		return true
	}
	if !d.Span.Equal(parent.Span) {
		return false
	}
	counted := parent.Flags
	if parent.Groups.Next == parent.Groups {
		counted &= FlagWakeAffine
	}
	return counted&^d.Flags == 0
}

// linkSharedRecords gives the CPUs of each last-level cache their common
// record. No CPU has stopped its tick yet: all count as busy.
func (b *domainBuilder) linkSharedRecords() {
	records := map[spanID]*LLCShared{}
	b.eachCPU(func(cpu int) {
		rq := &b.s.rqs[cpu]
		if rq.llc == nil {
			return
		}
		id := b.spanOf[rq.llc.Level][cpu]
		shared := records[id]
		if shared == nil {
			shared = &LLCShared{NrBusyCPUs: rq.llcSize, NrIdleScan: b.rules.firstScanBudget}
			b.s.initFilterMasks(shared, rq.llc.Span)
			records[id] = shared
		}
		shared.Overload.noteStale(rq)
		rq.llc.Shared, rq.llcShared = shared, shared
	})
}
