package sched

// The schedule balance map that Michael Wang proposed for v3.8 in January 2013:
// tables by CPU that take the place of the walk over its domains (mechanisms.md
// 8). The text of the patches is not at hand: this is a reconstruction, from
// what version 3 says about itself and from memory, and its uncertain points
// are features of their own:
//
//	SBM_WAKE_AFFINE   wake_affine has the last word before a wakee follows its
//	                  waker (on, as version 2 had it; version 3 may not)
//	SBM_WAKE_BALANCE  where versions 1 and 2 balance a wakeup, they do so over
//	                  the domains of forks (off: over those that balance at
//	                  wakeups, and there are none unless someone asks for them)

// balanceMapVersions exclude each other: each is another version of one patch.
var balanceMapVersions = Features(SchedBalanceMap, SchedBalanceMapV2, SchedBalanceMapV1)

// balanceMapPlacement returns the placement of one version.
func balanceMapPlacement(version FeatureSet) placeRule {
	wake := (*Scheduler).mapWake3
	switch {
	case version.Has(SchedBalanceMapV2):
		wake = (*Scheduler).mapWake2
	case version.Has(SchedBalanceMapV1):
		wake = (*Scheduler).mapWake1
	}
	return func(s *Scheduler, p *Placement) int {
		s.work.MapLookups++
		switch m := s.rqs[p.Here].sbm; {
		case p.Kind != KindWake:
			return s.descendMap(p, p.Kind, p.Here)
		case m == nil:
			return s.settle(p.Prev, RuleNoAffine)
		default:
			return wake(s, m, p)
		}
	}
}

// balanceMap is the map of one CPU.
type balanceMap struct {
	// starts holds, by kind of placement and level, the domain that places at
	// this kind; levels above the highest such domain repeat it, so that a
	// CPU with a shorter chain has an answer for every level of another one.
	// Levels that were dropped from the chain stay empty.
	starts [len(kindFlags)][]*Domain
	top    [len(kindFlags)]int
	// affine holds, by CPU, the lowest affine domain that holds that CPU too.
	affine []*Domain
}

func (b *domainBuilder) buildMaps() {
	b.eachCPU(func(cpu int) {
		rq := &b.s.rqs[cpu]
		rq.sbm = newBalanceMap(rq.sd, len(b.s.rqs), len(b.levels))
	})
}

func newBalanceMap(lowest *Domain, cpus, levels int) *balanceMap {
	m := &balanceMap{affine: make([]*Domain, cpus)}
	for kind := range m.starts {
		m.starts[kind] = make([]*Domain, levels)
	}
	for d := lowest; d != nil; d = d.Parent {
		m.add(d)
	}
	for kind, starts := range m.starts {
		for level := m.top[kind] + 1; level < levels; level++ {
			starts[level] = starts[m.top[kind]]
		}
	}
	return m
}

func (m *balanceMap) add(d *Domain) {
	for kind, flag := range kindFlags {
		if d.has(flag) {
			m.starts[kind][d.Level], m.top[kind] = d, d.Level
		}
	}
	if !d.has(FlagWakeAffine) {
		return
	}
	for c := d.Span.First(); c >= 0; c = d.Span.Next(c + 1) {
		if m.affine[c] == nil {
			m.affine[c] = d
		}
	}
}

// mapWake3 looks for an idle CPU near prev, then near the waker, and otherwise
// leaves the wakee where it was: wakeups do not balance.
func (s *Scheduler) mapWake3(m *balanceMap, p *Placement) int {
	if cpu, found := s.idleByMap(m, p); found {
		return cpu
	}
	return s.settle(p.Prev, RuleMapPrev)
}

// mapWake2 is mapWake3, but a wakeup without an idle CPU balances.
func (s *Scheduler) mapWake2(m *balanceMap, p *Placement) int {
	if cpu, found := s.idleByMap(m, p); found {
		return cpu
	}
	return s.balanceWakeByMap(p)
}

// mapWake1 asks wake_affine first, like v3.8, and balances when its search
// finds no idle CPU.
func (s *Scheduler) mapWake1(m *balanceMap, p *Placement) int {
	target := p.Prev
	if d := s.affineByMap(m, p); d != nil {
		target = s.wakeAffine(d, p)
	}
	if cpu := s.selectIdleSibling(p, target); s.idle.Has(cpu) {
		return cpu
	}
	return s.balanceWakeByMap(p)
}

// idleByMap is the search of versions 2 and 3. wake_affine, which is expensive,
// comes last.
func (s *Scheduler) idleByMap(m *balanceMap, p *Placement) (cpu int, found bool) {
	if cpu = s.selectIdleSibling(p, p.Prev); s.idle.Has(cpu) {
		return cpu, true
	}
	d := s.affineByMap(m, p)
	if d == nil {
		return noCPU, false
	}
	if cpu = s.selectIdleSibling(p, p.Here); !s.idle.Has(cpu) {
		return noCPU, false
	}
	return cpu, !s.features.Has(SBMWakeAffine) || s.wakeAffine(d, p) == p.Here
}

// affineByMap returns the domain in which the wakee may follow its waker, nil
// if there is none or no reason to.
func (s *Scheduler) affineByMap(m *balanceMap, p *Placement) *Domain {
	switch {
	case p.Here == p.Prev:
		return nil
	case !p.Task.allowed.Has(p.Here):
		s.noteAffine(AffineNotAllowed)
		return nil
	}
	s.work.MapLookups++
	return m.affine[p.Prev]
}

// balanceWakeByMap is what versions 1 and 2 do without an idle CPU.
func (s *Scheduler) balanceWakeByMap(p *Placement) int {
	kind := KindWake
	if s.features.Has(SBMWakeBalance) {
		kind = KindFork
	}
	return s.descendMap(p, kind, p.Prev)
}

// descendMap looks for the idlest CPU, from the top of cpu's map one level down
// at each step, whether or not the step chose another CPU.
func (s *Scheduler) descendMap(p *Placement, kind Kind, from int) int {
	cpu, m := from, s.rqs[from].sbm
	var d *Domain
	if m != nil {
		d = m.starts[kind][m.top[kind]]
	}
	for d != nil {
		if g := s.profile.SlowPath.idlestGroup(s, d, p, cpu); g != nil {
			cpu = s.idlestCPU(g, p.Task, cpu)
		}
		s.work.MapLookups++
		if m = s.rqs[cpu].sbm; d.Level == 0 || m == nil {
			break
		}
		d = m.starts[kind][d.Level-1]
	}
	switch {
	case cpu != from:
		return s.settle(cpu, RuleSlowIdlest)
	case p.Kind == KindWake:
		return s.settle(cpu, RuleMapPrev)
	}
	return s.settle(cpu, RuleSlowLocal)
}
