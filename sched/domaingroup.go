package sched

import (
	"encoding/binary"

	"github.com/schedlab/schedlab/machine"
)

// groupTable shares groups, rings and capacity records between the CPUs that
// see the same ones.
type groupTable struct {
	members    map[spanAt]*ringMember
	list       []*ringMember // by ringMember.id
	capacities map[cpuAt]*GroupCapacity
	rings      map[string]*CPUGroup // of overlapping levels, by member IDs; starts at the smallest
	rest       machine.CPUMask      // scratch: CPUs not yet covered
	sequence   []int32              // scratch
	key        []byte               // scratch
}

type spanAt struct {
	level int
	span  spanID
}

type cpuAt struct{ level, cpu int }

// ringMember is a group of an overlapping level before it is part of a ring.
type ringMember struct {
	id    int32
	group CPUGroup
}

func (b *domainBuilder) buildGroups() {
	b.groups = groupTable{
		members: map[spanAt]*ringMember{}, capacities: map[cpuAt]*GroupCapacity{},
		rings: map[string]*CPUGroup{}, rest: machine.NewCPUMask(len(b.s.rqs)),
	}
	for l := range b.levels {
		if b.levels[l].overlap {
			b.buildOverlapping(l)
		} else {
			b.buildPartition(l)
		}
	}
}

// buildPartition makes the groups of a level whose spans are equal or
// disjoint: one ring for all CPUs of a span.
func (b *domainBuilder) buildPartition(l int) {
	ownGroup := make([]*CPUGroup, len(b.s.rqs))
	b.eachCPU(func(cpu int) {
		d := &b.domains[l][cpu]
		if d.SpanWeight == 0 {
			return
		}
		if d.Span.First() == cpu {
			b.linkRing(l, d, ownGroup)
		}
		d.Groups = ownGroup[cpu]
	})
}

// linkRing makes the groups of d's span. Every CPU of the span links the
// common groups in the order in which it meets them, so the order that the
// last one meets them in stays.
func (b *domainBuilder) linkRing(l int, d *Domain, ownGroup []*CPUGroup) {
	rest := b.groups.rest
	rest.CopyFrom(d.Span)
	var first, last *CPUGroup
	for cpu := lastCPU(d.Span); cpu >= 0; cpu = nextWrapped(rest, cpu) {
		g := b.partitionGroup(l, cpu)
		for c := g.Span.First(); c >= 0; c = g.Span.Next(c + 1) {
			ownGroup[c] = g
		}
		rest.AndNot(g.Span)
		if first == nil {
			first = g
		} else {
			last.Next = g
		}
		last = g
	}
	last.Next = first
}

// partitionGroup makes the group of cpu: the span of its child domain, or the
// CPU alone at the lowest level.
func (b *domainBuilder) partitionGroup(l, cpu int) *CPUGroup {
	g := &CPUGroup{}
	if l > 0 {
		child := &b.domains[l-1][cpu]
		g.Span, g.Weight, g.Flags = child.Span, child.SpanWeight, child.Flags
	} else {
		alone := b.spans.intern(machine.MaskOf(len(b.s.rqs), cpu))
		g.Span, g.Weight = b.spans.mask(alone), 1
	}
	g.Cores = b.coresIn(g.Span)
	g.Cap = newGroupCapacity(g.Weight, g.Span)
	return g
}

// coresIn counts the cores that have a CPU in span.
func (b *domainBuilder) coresIn(span machine.CPUMask) int {
	n := 0
	for c := span.First(); c >= 0; c = span.Next(c + 1) {
		if firstInBoth(b.s.cores[c], span) == c {
			n++
		}
	}
	return n
}

// buildOverlapping makes the groups of a level whose spans overlap without
// being equal. CPUs that meet the same groups in the same cyclic order share a
// ring.
func (b *domainBuilder) buildOverlapping(l int) {
	t := &b.groups
	known := map[ringView]*CPUGroup{}
	b.eachCPU(func(cpu int) {
		d := &b.domains[l][cpu]
		if d.SpanWeight == 0 {
			return
		}
		t.rest.CopyFrom(d.Span)
		t.rest.AndNot(b.domains[l-1][cpu].Span)
		view := ringView{b.spanOf[l][cpu], b.spanOf[l-1][cpu], nextWrapped(t.rest, cpu)}
		if known[view] == nil {
			b.collectMembers(l, cpu)
			known[view] = t.ringFrom(&t.list[t.sequence[0]].group)
		}
		d.Groups = known[view]
	})
}

// ringView is all that the ring of a CPU depends on: its span, its own group
// and the first CPU outside that group.
type ringView struct {
	span, own spanID
	next      int
}

// ringFrom returns the ring of the collected sequence, at the given member.
func (t *groupTable) ringFrom(own *CPUGroup) *CPUGroup {
	g := t.ring()
	for g.Cap != own.Cap || !sameMask(g.Span, own.Span) {
		g = g.Next
	}
	return g
}

// collectMembers lists the groups of cpu's domain of level l, own one first:
// each CPU not yet covered adds the child span of its own domain of the level.
func (b *domainBuilder) collectMembers(l, cpu int) {
	t := &b.groups
	span := b.domains[l][cpu].Span
	t.sequence = t.sequence[:0]
	t.rest.CopyFrom(span)
	for c := cpu; c >= 0; c = nextWrapped(t.rest, c) {
		if b.domains[l][c].SpanWeight == 0 {
			t.rest.Clear(c) // its chain covered the machine at a lower level
			continue
		}
		m := b.member(b.descend(l, c, span), c)
		t.rest.AndNot(m.group.Span)
		t.sequence = append(t.sequence, m.id)
	}
}

// descend returns the level at or below l whose child on CPU c lies within
// span; then on down past levels that will be dropped because they equal their
// child.
func (b *domainBuilder) descend(l, c int, span machine.CPUMask) int {
	if b.domains[l-1][c].Span.SubsetOf(span) {
		return l
	}
	for l > 1 && !b.domains[l-1][c].Span.SubsetOf(span) {
		l--
	}
	for l > 1 && b.spanOf[l-1][c] == b.spanOf[l][c] {
		l--
	}
	return l
}

// member returns the group that CPU c contributes from its domain of level l.
func (b *domainBuilder) member(l, c int) *ringMember {
	t := &b.groups
	key := spanAt{l, b.spanOf[l-1][c]}
	if m := t.members[key]; m != nil {
		return m
	}
	child := &b.domains[l-1][c]
	m := &ringMember{id: int32(len(t.list)), group: CPUGroup{
		Span: child.Span, Weight: child.SpanWeight, Cores: b.coresIn(child.Span), Flags: child.Flags, Cap: b.memberCapacity(l, key.span),
	}}
	t.members[key] = m
	t.list = append(t.list, m)
	return m
}

// memberCapacity returns the record of a group of an overlapping level. It
// belongs to the CPUs whose own child domain is exactly the group: only they
// balance on the group's behalf.
func (b *domainBuilder) memberCapacity(l int, group spanID) *GroupCapacity {
	span := b.spans.mask(group)
	balancers := machine.NewCPUMask(len(b.s.rqs))
	for c := span.First(); c >= 0; c = span.Next(c + 1) {
		if b.domains[l][c].SpanWeight > 0 && b.spanOf[l-1][c] == group {
			balancers.Set(c)
		}
	}
	key := cpuAt{l, balancers.First()}
	gc := b.groups.capacities[key]
	if gc == nil {
		gc = newGroupCapacity(b.spans.weight(group), b.spans.mask(b.spans.intern(balancers)))
		b.groups.capacities[key] = gc
	}
	return gc
}

// ring returns the ring of the collected sequence, at its smallest member.
func (t *groupTable) ring() *CPUGroup {
	start := 0
	for i, id := range t.sequence {
		if id < t.sequence[start] {
			start = i
		}
	}
	rotated := func(i int) int32 { return t.sequence[(start+i)%len(t.sequence)] }
	t.key = t.key[:0]
	for i := range t.sequence {
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(rotated(i)))
	}
	if head := t.rings[string(t.key)]; head != nil {
		return head
	}
	groups := make([]CPUGroup, len(t.sequence))
	for i := range groups {
		groups[i] = t.list[rotated(i)].group
		groups[i].Next = &groups[(i+1)%len(groups)]
	}
	t.rings[string(t.key)] = &groups[0]
	return &groups[0]
}

// nextWrapped returns the first CPU of mask after cpu, wrapping round; -1 when
// mask is empty.
func nextWrapped(mask machine.CPUMask, cpu int) int {
	if c := mask.Next(cpu + 1); c >= 0 {
		return c
	}
	return mask.First()
}

func lastCPU(mask machine.CPUMask) int {
	last := -1
	for c := mask.First(); c >= 0; c = mask.Next(c + 1) {
		last = c
	}
	return last
}

// sameMask reports whether two interned masks are one.
func sameMask(a, b machine.CPUMask) bool { return &a[0] == &b[0] }
