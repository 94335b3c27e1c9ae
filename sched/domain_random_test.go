package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/schedlab/schedlab/machine"
)

// randomMachine draws a machine with uneven LLCs, clusters, memory-only nodes,
// offline CPUs, mixed capacities, any numbering of CPUs and any symmetric
// distances.
func randomMachine(t *rapid.T) *machine.Machine {
	var cpus []machine.CPU
	nodes := rapid.IntRange(1, 5).Draw(t, "nodes")
	core, llc, cluster := 0, 0, 0
	for node := range nodes {
		for range rapid.IntRange(1, 3).Draw(t, "LLCs") {
			for c := range rapid.IntRange(1, 4).Draw(t, "cores") {
				capacity := rapid.SampledFrom([]int{1024, 1024, 1024, 512}).Draw(t, "capacity")
				for range rapid.IntRange(1, 2).Draw(t, "threads") {
					cpus = append(cpus, machine.CPU{Online: true, Core: core, Cluster: cluster + c/2, LLC: llc, Node: node, Package: node, Capacity: capacity})
				}
				core++
			}
			cluster += 2
			llc++
		}
	}
	cpus = rapid.Permutation(cpus).Draw(t, "numbering")
	for i := range cpus {
		if rapid.IntRange(0, 9).Draw(t, "offline") == 0 && i > 0 {
			cpus[i] = machine.CPU{Core: -1, Cluster: -1, LLC: -1, Package: -1, Node: -1}
		}
	}
	m := &machine.Machine{CPUs: cpus}
	addRandomNodes(t, m, nodes+rapid.IntRange(0, 1).Draw(t, "memory nodes"))
	return m
}

func addRandomNodes(t *rapid.T, m *machine.Machine, n int) {
	for id := range n {
		node := machine.Node{ID: id, CPUs: machine.NewCPUMask(len(m.CPUs)), Distance: make([]int, n)}
		node.Distance[id] = 10
		for cpu, c := range m.CPUs {
			if c.Node == id {
				node.CPUs.Set(cpu)
			}
		}
		m.Nodes = append(m.Nodes, node)
		for j := range id {
			d := rapid.SampledFrom([]int{12, 20, 21, 31, 40}).Draw(t, "distance")
			m.Nodes[id].Distance[j], m.Nodes[j].Distance[id] = d, d
		}
	}
}

func TestRandomMachines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := randomMachine(t)
		p := rapid.SampledFrom(Profiles()).Draw(t, "kernel")
		checkDomains(t, m, p)
	})
}

// checkDomains builds the domains of m twice and checks all that must hold on
// any machine.
func checkDomains(t rapid.TB, m *machine.Machine, p *Profile) {
	s, err := New(NewConfig(m, p), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := New(NewConfig(m, p), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range m.Online().CPUs() {
		checkSpans(t, s, cpu)
		for d := s.Domains(cpu); d != nil; d = d.Parent {
			checkGroups(t, s, d, cpu)
			checkSharing(t, s, d, cpu)
			checkFlags(t, s, d, cpu)
		}
		checkShortcuts(t, s, cpu)
		if s.DescribeDomains(cpu) != again.DescribeDomains(cpu) {
			t.Fatalf("two builds differ:\n%s%s", s.DescribeDomains(cpu), again.DescribeDomains(cpu))
		}
	}
}

// checkSpans compares a chain with the definition: each set of CPUs that cpu
// shares something with, where it adds a CPU to the one before.
func checkSpans(t rapid.TB, s *Scheduler, cpu int) {
	m := s.machine
	sets := []machine.CPUMask{m.CoreMask(cpu)}
	if len(s.profile.Topology.levels) == 5 {
		sets = append(sets, m.ClusterMask(cpu))
	}
	sets = append(sets, cacheOf(m, cpu), m.NodeMask(cpu))
	limits := slices.Clone(m.Nodes[m.CPUs[cpu].Node].Distance)
	slices.Sort(limits)
	if s.profile.Topology.oneNUMALevel {
		limits = limits[len(limits)-1:]
	}
	for _, limit := range limits {
		near := machine.NewCPUMask(len(m.CPUs))
		for _, c := range m.Online().CPUs() {
			if m.Distance(cpu, c) <= limit {
				near.Set(c)
			}
		}
		sets = append(sets, near)
	}
	var want, got []string
	last := 1
	for _, set := range sets {
		if n := set.Count(); n > last {
			want, last = append(want, set.String()), n
		}
	}
	for d := s.Domains(cpu); d != nil; d = d.Parent {
		got = append(got, d.Span.String())
		if d.SpanWeight != d.Span.Count() || !d.Span.Has(cpu) {
			t.Fatalf("CPU %d, %s: weight %d of span %s", cpu, d.Name, d.SpanWeight, d.Span)
		}
		if d.Parent != nil && (d.Parent.Child != d || d.Parent.Level <= d.Level) {
			t.Fatalf("CPU %d: %s and its parent are not linked\n%s", cpu, d.Name, s.DescribeDomains(cpu))
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("CPU %d: spans %v, want %v", cpu, got, want)
	}
}

// cacheOf returns the CPUs of cpu's node that share its last-level cache.
func cacheOf(m *machine.Machine, cpu int) machine.CPUMask {
	mask := m.LLCMask(cpu)
	mask.And(m.NodeMask(cpu))
	return mask
}

// checkGroups: the own group comes first and is the child's span; the ring
// covers the span, without overlap unless the level overlaps.
func checkGroups(t rapid.TB, s *Scheduler, d *Domain, cpu int) {
	own := machine.MaskOf(len(s.rqs), cpu)
	if d.Child != nil {
		own = d.Child.Span
	}
	if !d.Groups.Span.Equal(own) {
		t.Fatalf("CPU %d, %s: first group %s, want %s", cpu, d.Name, d.Groups.Span, own)
	}
	covered, members := machine.NewCPUMask(len(s.rqs)), 0
	for g := d.Groups; ; {
		if g.Weight != g.Span.Count() || !g.Span.SubsetOf(d.Span) {
			t.Fatalf("CPU %d, %s: group %s (%d CPUs) of span %s", cpu, d.Name, g.Span, g.Weight, d.Span)
		}
		if !d.has(FlagOverlap) && g.Span.Intersects(covered) {
			t.Fatalf("CPU %d, %s: groups overlap: %s", cpu, d.Name, groupsOf(d))
		}
		if b := g.Cap.BalanceMask; b.Empty() || !b.SubsetOf(g.Span) {
			t.Fatalf("CPU %d, %s: group %s is balanced by %s", cpu, d.Name, g.Span, b)
		}
		checkCapacity(t, s, g)
		covered.Or(g.Span)
		if g = g.Next; g == d.Groups {
			break
		}
		if members++; members > d.SpanWeight {
			t.Fatalf("CPU %d, %s: the ring of groups does not come back to its start", cpu, d.Name)
		}
	}
	if !covered.Equal(d.Span) {
		t.Fatalf("CPU %d, %s: groups cover %s of %s", cpu, d.Name, covered, d.Span)
	}
}

func checkCapacity(t rapid.TB, s *Scheduler, g *CPUGroup) {
	want := GroupCapacity{MinCapacity: 1 << 20}
	for _, c := range g.Span.CPUs() {
		capacity := s.rqs[c].capacity
		want.Capacity += capacity
		want.MinCapacity = min(want.MinCapacity, capacity)
		want.MaxCapacity = max(want.MaxCapacity, capacity)
	}
	if gc := g.Cap; gc.Capacity != want.Capacity || gc.MinCapacity != want.MinCapacity || gc.MaxCapacity != want.MaxCapacity {
		t.Fatalf("group %s: capacity %d (%d to %d), want %d (%d to %d)", g.Span,
			gc.Capacity, gc.MinCapacity, gc.MaxCapacity, want.Capacity, want.MinCapacity, want.MaxCapacity)
	}
}

// checkSharing: CPUs whose domains of one level have equal spans and own
// groups see the same groups, through domain objects of their own.
func checkSharing(t rapid.TB, s *Scheduler, d *Domain, cpu int) {
	for _, c := range d.Groups.Span.CPUs() {
		for other := s.Domains(c); other != nil && c != cpu; other = other.Parent {
			if other == d {
				t.Fatalf("CPUs %d and %d share the domain object of %s", cpu, c, d.Name)
			}
			if other.Level != d.Level || !other.Span.Equal(d.Span) || !other.Groups.Span.Equal(d.Groups.Span) {
				continue
			}
			if other.Groups.Cap != d.Groups.Cap || !d.has(FlagOverlap) && other.Groups != d.Groups {
				t.Fatalf("CPUs %d and %d do not share their group of %s", cpu, c, d.Name)
			}
		}
	}
}

func checkFlags(t rapid.TB, s *Scheduler, d *Domain, cpu int) {
	if d.Child != nil && d.has(FlagShareLLC) && !d.Child.has(FlagShareLLC) {
		t.Fatalf("%s shares the cache, its child %s does not", d.Name, d.Child.Name)
	}
	if d.has(FlagShareCPUCapacity) && d.Child != nil {
		t.Fatalf("%s shares a core and has a child", d.Name)
	}
	if numa := d.Name == "NUMA"; d.has(FlagNUMA) != numa || d.has(FlagSerialize) != numa || d.has(FlagOverlap) != numa || numa && d.has(FlagPreferSibling) {
		t.Fatalf("%s has flags %s", d.Name, d.Flags)
	}
	near := true
	capacities := map[int]bool{}
	for _, a := range d.Span.CPUs() {
		capacities[s.machine.CPUs[a].Capacity] = true
		near = near && s.machine.Distance(cpu, a) <= s.profile.Topology.reclaimDistance
	}
	if d.has(FlagAsymCPUCapacity) != (len(capacities) > 1) {
		t.Fatalf("%s %s has flags %s but %d capacities", d.Name, d.Span, d.Flags, len(capacities))
	}
	if want := map[bool]DomainFlag{true: farFlags, false: 0}[near]; d.Flags&farFlags != want {
		t.Fatalf("%s %s (near: %v) has flags %s", d.Name, d.Span, near, d.Flags)
	}
}

func checkShortcuts(t rapid.TB, s *Scheduler, cpu int) {
	rq := &s.rqs[cpu]
	llc := cacheOf(s.machine, cpu)
	wantID := llc.First()
	if int(rq.llcSize) != llc.Count() || int(rq.llcID) != wantID {
		t.Fatalf("CPU %d: LLC of %d CPUs, ID %d; the machine has %s", cpu, rq.llcSize, rq.llcID, llc)
	}
	if (rq.llc == nil) != (llc.Count() == 1) || rq.llc != nil && rq.llc.Shared != rq.llcShared {
		t.Fatalf("CPU %d: LLC domain %v for %s", cpu, rq.llc, llc)
	}
	if rq.llc == nil {
		return
	}
	for c := range s.rqs {
		if shares := llc.Has(c); (s.rqs[c].llcShared == rq.llcShared) != shares {
			t.Fatalf("CPUs %d and %d share an LLC: %v; a record: %v", cpu, c, shares, !shares)
		}
	}
	if rq.llcShared.NrBusyCPUs != rq.llcSize {
		t.Fatalf("CPU %d: %d busy CPUs in an LLC of %d", cpu, rq.llcShared.NrBusyCPUs, rq.llcSize)
	}
}
