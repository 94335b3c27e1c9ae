package sched

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/schedlab/schedlab/machine"
)

// machineSpec describes a regular machine for tests.
type machineSpec struct {
	nodes, llcs, cores, threads int     // llcs per node, cores per LLC
	clusterCores                int     // cores per cluster; 0: no clusters
	distance                    [][]int // nil: 10 and 21
	adjacent                    bool    // siblings are numbered 2k and 2k+1, not k and k+cores
	memoryNodes                 int     // further nodes without CPUs
	offline                     []int
	slow                        []int // CPUs of half capacity
}

func (sp machineSpec) build() *machine.Machine {
	cores := sp.nodes * sp.llcs * sp.cores
	m := &machine.Machine{CPUs: make([]machine.CPU, cores*sp.threads)}
	for n := range sp.nodes + sp.memoryNodes {
		m.Nodes = append(m.Nodes, machine.Node{ID: n, CPUs: machine.NewCPUMask(len(m.CPUs)), Distance: sp.distances(n)})
	}
	for core := range cores {
		for th := range sp.threads {
			cpu := th*cores + core
			if sp.adjacent {
				cpu = core*sp.threads + th
			}
			llc := core / sp.cores
			c := machine.CPU{Online: true, Core: core, Cluster: -1, LLC: llc, Package: llc / sp.llcs, Node: llc / sp.llcs, Capacity: 1024}
			if sp.clusterCores > 0 {
				c.Cluster = core / sp.clusterCores
			}
			if slices.Contains(sp.slow, cpu) {
				c.Capacity = 512
			}
			if slices.Contains(sp.offline, cpu) {
				c = machine.CPU{Core: -1, Cluster: -1, LLC: -1, Package: -1, Node: -1}
			} else {
				m.Nodes[c.Node].CPUs.Set(cpu)
			}
			m.CPUs[cpu] = c
		}
	}
	return m
}

func (sp machineSpec) distances(node int) []int {
	if sp.distance != nil {
		return sp.distance[node]
	}
	row := make([]int, sp.nodes+sp.memoryNodes)
	for j := range row {
		row[j] = 21
	}
	row[node] = 10
	return row
}

// doc000 is the machine of document 000 (mechanisms.md 0.4).
var doc000 = machineSpec{nodes: 2, llcs: 1, cores: 24, threads: 2}

// ringOf4 is four nodes of two CPUs in a ring, opposite ones at distance far.
func ringOf4(far int) machineSpec {
	return machineSpec{nodes: 4, llcs: 1, cores: 2, threads: 1, distance: [][]int{
		{10, 20, far, 20}, {20, 10, 20, far}, {far, 20, 10, 20}, {20, far, 20, 10},
	}}
}

func newDomainScheduler(t testing.TB, m *machine.Machine, kernel string) *Scheduler {
	t.Helper()
	p, err := LookupProfile(kernel)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(NewConfig(m, p), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// chainOf prints names and spans: "SMT 0,48 | MC 0-23,48-71".
func chainOf(s *Scheduler, cpu int) string {
	var parts []string
	for d := s.Domains(cpu); d != nil; d = d.Parent {
		parts = append(parts, d.Name+" "+d.Span.String())
	}
	return strings.Join(parts, " | ")
}

// groupsOf prints a ring: "0-1 2-3".
func groupsOf(d *Domain) string {
	var parts []string
	for g := d.Groups; ; {
		parts = append(parts, g.Span.String())
		if g = g.Next; g == d.Groups {
			return strings.Join(parts, " ")
		}
	}
}

func wantString(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func wantInt(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %d, want %d", what, got, want)
	}
}

func Test5_3_DocumentMachineChain(t *testing.T) {
	s := newDomainScheduler(t, doc000.build(), "v5.17")
	wantString(t, "CPU 0", chainOf(s, 0), "SMT 0,48 | MC 0-23,48-71 | NUMA 0-95")
	wantString(t, "CPU 95", chainOf(s, 95), "SMT 47,95 | MC 24-47,72-95 | NUMA 0-95")
	numa := s.Domains(0).Parent.Parent
	wantInt(t, "imbalance_pct at NUMA", numa.ImbalancePct, 117)
	wantString(t, "groups at NUMA", groupsOf(numa), "0-23,48-71 24-47,72-95")
	rq := &s.rqs[50]
	wantInt(t, "sd_llc_size", int64(rq.llcSize), 48)
	wantInt(t, "sd_llc_id: first CPU of the span", int64(rq.llcID), 0)
	wantInt(t, "sd_llc_id on node 1", int64(s.rqs[95].llcID), 24)
	if rq.llc != s.Domains(50).Parent || rq.numa != s.Domains(50).Parent.Parent {
		t.Error("shortcuts do not point to MC and NUMA")
	}
	wantInt(t, "nr_busy_cpus starts at the LLC's size (5.5)", int64(rq.llcShared.NrBusyCPUs), 48)
	if rq.llcShared.HasIdleCores {
		t.Error("has_idle_cores starts at 0 (5.5)")
	}
	if !s.SharesCache(0, 71) || s.SharesCache(0, 24) {
		t.Error("CPUs 0 and 71 share a cache, 0 and 24 do not")
	}
}

func Test5_7_TwoNodesWithoutSMT(t *testing.T) {
	s := newDomainScheduler(t, machineSpec{nodes: 2, llcs: 1, cores: 4, threads: 1}.build(), "v5.17")
	wantString(t, "CPU 5", chainOf(s, 5), "MC 4-7 | NUMA 0-7")
	if s.Domains(5).Child != nil {
		t.Error("the dropped SMT domain is still MC's child")
	}
	wantString(t, "groups of MC start with the CPU's own", groupsOf(s.Domains(5)), "5 6 7 4")
}

func Test5_7_AllTicklessLeavesNoBusyCPU(t *testing.T) {
	for _, p := range Profiles() {
		s := newDomainScheduler(t, doc000.build(), p.Name)
		for cpu := range 95 {
			s.nohzEnter(&s.rqs[cpu])
		}
		wantInt(t, p.Name+", node 0 idle", int64(s.rqs[0].llcShared.NrBusyCPUs), 0)
		wantInt(t, p.Name+", CPU 95 left on node 1", int64(s.rqs[95].llcShared.NrBusyCPUs), 1)
		s.nohzEnter(&s.rqs[95])
		wantInt(t, p.Name+", all idle", int64(s.rqs[95].llcShared.NrBusyCPUs), 0)
		s.nohzExit(&s.rqs[7])
		wantInt(t, p.Name+", CPU 7 busy again", int64(s.rqs[0].llcShared.NrBusyCPUs), 1)
	}
}

func Test5_7_RingOfNodesOverlaps(t *testing.T) {
	s := newDomainScheduler(t, ringOf4(30).build(), "v5.17")
	wantString(t, "node 0", chainOf(s, 0), "MC 0-1 | NUMA 0-3,6-7 | NUMA 0-7")
	wantString(t, "node 2", chainOf(s, 4), "MC 4-5 | NUMA 2-7 | NUMA 0-7")

	near := s.Domains(0).Parent
	far := near.Parent
	wantString(t, "groups at distance 20", groupsOf(near), "0-1 2-3 6-7")
	// Node 2 is what node 0's own three nodes leave; its child domain is 2-7.
	wantString(t, "groups at distance 30", groupsOf(far), "0-3,6-7 2-7")
	wantString(t, "who balances for node 0's group", far.Groups.Cap.BalanceMask.String(), "0-1")
	wantString(t, "who balances for node 2's group", far.Groups.Next.Cap.BalanceMask.String(), "4-5")
	wantInt(t, "capacity of a group of three nodes", far.Groups.Cap.Capacity, 6*1024)
	if far.Groups.Next.Cap != s.Domains(4).Parent.Parent.Groups.Cap {
		t.Error("node 2 and node 0 do not share the record of node 2's group")
	}
	if !near.has(FlagOverlap) || !near.has(FlagWakeAffine) || !far.has(FlagWakeAffine) {
		t.Errorf("flags at 20 and 30: %s, %s", near.Flags, far.Flags)
	}
}

func Test5_7_BeyondReclaimDistanceNothingIsPlaced(t *testing.T) {
	for _, kernel := range []string{"v4.14", "v5.10", "v5.17", "v6.1"} {
		s := newDomainScheduler(t, ringOf4(40).build(), kernel)
		near := s.Domains(0).Parent
		wantString(t, kernel+" at 20", near.Flags.String(),
			"BALANCE_NEWIDLE BALANCE_EXEC BALANCE_FORK WAKE_AFFINE SERIALIZE OVERLAP NUMA")
		wantString(t, kernel+" at 40", near.Parent.Flags.String(), "BALANCE_NEWIDLE SERIALIZE OVERLAP NUMA")
	}
}

// In a line of four nodes a group may have to come from a lower level, because
// the child domain leaves the span that is being divided (mechanisms.md 5.2).
func Test5_2_GroupsDescendWhenChildLeavesTheSpan(t *testing.T) {
	line := machineSpec{nodes: 4, llcs: 1, cores: 2, threads: 1, distance: [][]int{
		{10, 20, 30, 40}, {20, 10, 20, 30}, {30, 20, 10, 20}, {40, 30, 20, 10},
	}}
	s := newDomainScheduler(t, line.build(), "v5.17")
	wantString(t, "node 0", chainOf(s, 0), "MC 0-1 | NUMA 0-3 | NUMA 0-5 | NUMA 0-7")
	wantString(t, "node 1", chainOf(s, 2), "MC 2-3 | NUMA 0-5 | NUMA 0-7")
	at30 := s.Domains(0).Parent.Parent
	// Own group: nodes 0 and 1. Node 2 is left; its domain at 20 spans nodes
	// 1-3, node 3 lies outside; one level down it is node 2 alone.
	wantString(t, "groups of node 0 at 30", groupsOf(at30), "0-3 4-5")
	// Node 3 is left of distance 40; its domain at 30 spans nodes 1-3.
	wantString(t, "groups of node 0 at 40", groupsOf(at30.Parent), "0-5 2-7")
}

func Test5_6_AllowedImbalance(t *testing.T) {
	fourLLCs := machineSpec{nodes: 2, llcs: 4, cores: 4, threads: 2}
	for _, c := range []struct {
		name, kernel string
		machine      machineSpec
		want         string
	}{
		// One LLC of 48 CPUs a node: 48/4 = 12 (v5.18), 48/8 = 6 (v6.1).
		{"document machine", "v5.17-tip", doc000, "SMT:0 MC:0 NUMA:12"},
		{"document machine", "v6.1", doc000, "SMT:0 MC:0 NUMA:6"},
		{"document machine", "v5.17", doc000, "SMT:0 MC:0 NUMA:0"},
		// Four LLCs of 8 CPUs a node of 32: 4; NUMA 64/64 = 1 times that.
		{"four LLCs a node", "v5.17-tip", fourLLCs, "SMT:0 MC:0 DIE:4 NUMA:4"},
		// Nodes of 2 CPUs: 2/8 = 0, at least 1 in v6.1; v5.18 has no lower
		// bound but 2/4 = 0. At distance 30: 8/6 = 1 times that.
		{"small nodes in a ring", "v6.1", ringOf4(30), "MC:0 NUMA:1 NUMA:1"},
		{"small nodes in a ring", "v5.17-tip", ringOf4(30), "MC:0 NUMA:0 NUMA:0"},
	} {
		s := newDomainScheduler(t, c.machine.build(), c.kernel)
		var got []string
		for d := s.Domains(0); d != nil; d = d.Parent {
			got = append(got, fmt.Sprintf("%s:%d", d.Name, d.ImbNUMANr))
		}
		wantString(t, c.name+" "+c.kernel, strings.Join(got, " "), c.want)
	}
}

func Test5_6_ImbalanceGrowsWithTheDomain(t *testing.T) {
	line := machineSpec{nodes: 4, llcs: 1, cores: 8, threads: 1, distance: [][]int{
		{10, 20, 30, 40}, {20, 10, 20, 30}, {30, 20, 10, 20}, {40, 30, 20, 10},
	}}
	s := newDomainScheduler(t, line.build(), "v5.17-tip")
	// 8/4 = 2 for a node; the first NUMA domain of node 0 has 16 CPUs:
	// 2·max(1, 16/16), 2·(24/16 = 1), 2·(32/16 = 2).
	var got []int64
	for d := s.Domains(0).Parent; d != nil; d = d.Parent {
		got = append(got, d.ImbNUMANr)
	}
	if want := []int64{2, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func Test5_3_Parameters(t *testing.T) {
	type params struct {
		min, max, busy, pct int64
		tries               int32
		idx                 [2]int32
	}
	m := machineSpec{nodes: 2, llcs: 2, cores: 4, threads: 2}.build()
	since510 := []params{
		{min: 2, max: 4, busy: 16, pct: 110}, {min: 8, max: 16, busy: 16, pct: 117, tries: 1},
		{min: 16, max: 32, busy: 16, pct: 117, tries: 1}, {min: 32, max: 64, busy: 16, pct: 117, tries: 2},
	}
	for kernel, want := range map[string][]params{
		"v4.14": {
			{2, 4, 32, 110, 0, [2]int32{0, 0}}, {8, 16, 32, 117, 1, [2]int32{2, 0}},
			{16, 32, 32, 125, 1, [2]int32{2, 1}}, {32, 64, 32, 125, 2, [2]int32{3, 2}},
		},
		"v5.10": since510, "v5.17": since510, "v5.17-tip": since510, "v6.1": since510,
	} {
		s := newDomainScheduler(t, m, kernel)
		wantString(t, kernel, chainOf(s, 0), "SMT 0,16 | MC 0-3,16-19 | DIE 0-7,16-23 | NUMA 0-31")
		d := s.Domains(0)
		for _, w := range want {
			got := params{d.MinInterval, d.MaxInterval, d.BusyFactor, d.ImbalancePct, d.CacheNiceTries, [2]int32{d.BusyIdx, d.IdleIdx}}
			if got != w || d.balanceInterval != w.min {
				t.Errorf("%s %s: got %+v (initial interval %d), want %+v", kernel, d.Name, got, d.balanceInterval, w)
			}
			d = d.Parent
		}
	}
}

// 5.3: a domain of nodes places up to the reclaim distance, 30, and no further.
// v3.8 places between the nodes of a usual machine (21) too.
func Test5_3_ReclaimDistance(t *testing.T) {
	for _, kernel := range []string{"v3.8", "v4.14", "v5.10", "v5.17", "v6.1", "v6.12", "v7.2"} {
		for distance, want := range map[int]bool{20: true, 21: true, 30: true, 31: false} {
			spec := machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 1, distance: [][]int{{10, distance}, {distance, 10}}}
			numa := topDomain(newDomainScheduler(t, spec.build(), kernel), 0)
			for _, flag := range []DomainFlag{FlagBalanceExec, FlagBalanceFork, FlagWakeAffine} {
				if numa.has(flag) != want {
					t.Errorf("%s, distance %d: %s %v, want %v", kernel, distance, flag, !want, want)
				}
			}
			if !numa.has(FlagBalanceNewidle) || !numa.has(FlagSerialize) {
				t.Errorf("%s, distance %d: flags %s", kernel, distance, numa.Flags)
			}
		}
	}
}

// 5.3: no mainline kernel balances at wakeups, on any level.
func Test5_3_NoDomainBalancesAtWakeups(t *testing.T) {
	for _, p := range Profiles() {
		s := newDomainScheduler(t, doc000.build(), p.Name)
		for d := s.Domains(0); d != nil; d = d.Parent {
			if d.has(FlagBalanceWake) {
				t.Errorf("%s %s: %s", p.Name, d.Name, d.Flags)
			}
		}
	}
}

func Test5_3_PreferSiblingIn414(t *testing.T) {
	s := newDomainScheduler(t, machineSpec{nodes: 2, llcs: 2, cores: 4, threads: 2}.build(), "v4.14")
	for d, want := range map[string]bool{"SMT": true, "MC": false, "DIE": true, "NUMA": false} {
		wantPreferSibling(t, s, d, want)
	}
	// With one LLC a node DIE equals MC and goes; MC inherits its flag (5.2).
	s = newDomainScheduler(t, doc000.build(), "v4.14")
	wantString(t, "chain", chainOf(s, 0), "SMT 0,48 | MC 0-23,48-71 | NUMA 0-95")
	wantPreferSibling(t, s, "MC", true)
}

func wantPreferSibling(t *testing.T, s *Scheduler, name string, want bool) {
	t.Helper()
	for d := s.Domains(0); d != nil; d = d.Parent {
		if d.Name == name {
			if d.has(FlagPreferSibling) != want {
				t.Errorf("%s: PREFER_SIBLING %v, want %v", name, !want, want)
			}
			return
		}
	}
	t.Errorf("no domain %s", name)
}

func Test5_4_Capacities(t *testing.T) {
	m := machineSpec{nodes: 2, llcs: 1, cores: 4, threads: 2}.build()
	for kernel, perCPU := range map[string]int64{"v3.2": 1178 / 2, "v3.8": 1178 / 2, "v4.14": 1178 / 2, "v5.17": 1024} {
		s := newDomainScheduler(t, m, kernel)
		wantInt(t, kernel+" CPU", s.rqs[3].capacity, perCPU)
		wantInt(t, kernel+" CPU, original", s.rqs[3].capacityOrig, perCPU)
		d := s.Domains(3)
		for _, weight := range []int64{1, 2, 8} { // groups of SMT, MC and NUMA
			gc := d.Groups.Cap
			if gc.Capacity != weight*perCPU || gc.MinCapacity != perCPU || gc.MaxCapacity != perCPU {
				t.Errorf("%s %s group: %d (%d to %d), want %d CPUs of %d", kernel, d.Name,
					gc.Capacity, gc.MinCapacity, gc.MaxCapacity, weight, perCPU)
			}
			d = d.Parent
		}
	}
	// Without SMT siblings v4.14 counts a whole CPU.
	s := newDomainScheduler(t, machineSpec{nodes: 1, llcs: 1, cores: 4, threads: 1}.build(), "v4.14")
	wantInt(t, "v4.14 without SMT", s.rqs[0].capacity, 1024)
}

func Test5_4_GroupCapacityIsRefreshedFromBelow(t *testing.T) {
	s := newDomainScheduler(t, machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 2, adjacent: true}.build(), "v5.17")
	s.setNow(2_000_000_000)
	s.rqs[1].capacityOrig = 300
	smt, mc, numa := s.Domains(1), s.Domains(1).Parent, s.Domains(1).Parent.Parent
	s.updateGroupCapacity(smt, 1)
	wantInt(t, "CPU 1", s.rqs[1].capacity, 300)
	wantInt(t, "MC's group before its own refresh", mc.Groups.Cap.Capacity, 2048)
	s.updateGroupCapacity(mc, 1)
	wantInt(t, "core", mc.Groups.Cap.Capacity, 1024+300)
	wantInt(t, "smallest CPU of the core", mc.Groups.Cap.MinCapacity, 300)
	wantInt(t, "largest CPU of the core", mc.Groups.Cap.MaxCapacity, 1024)
	s.updateGroupCapacity(numa, 1)
	wantInt(t, "node", numa.Groups.Cap.Capacity, 3*1024+300)
	// 2 s are 500 jiffies; intervals of 2, 4 and 8 ms are 1, 1 and 2 jiffies.
	wantInt(t, "next update of the CPU", smt.Groups.Cap.NextUpdate, 501)
	wantInt(t, "next update of the node", numa.Groups.Cap.NextUpdate, 502)
	// At most HZ·online/10 = 250·8/10 = 200 jiffies.
	numa.balanceInterval = 5000
	s.updateGroupCapacity(numa, 1)
	wantInt(t, "next update, clamped", numa.Groups.Cap.NextUpdate, 700)
}

func TestClusterLevelFromV516(t *testing.T) {
	m := machineSpec{nodes: 1, llcs: 1, cores: 8, threads: 1, clusterCores: 4}.build()
	for kernel, want := range map[string]string{
		"v5.10": "MC 0-7", "v5.17": "CLS 0-3 | MC 0-7", "v5.17-tip": "CLS 0-3 | MC 0-7", "v6.1": "CLS 0-3 | MC 0-7",
	} {
		s := newDomainScheduler(t, m, kernel)
		wantString(t, kernel, chainOf(s, 2), want)
		wantInt(t, kernel+" LLC", int64(s.rqs[2].llcSize), 8)
	}
}

func TestLLCLargerThanTheNodeCountsPerNode(t *testing.T) {
	m := machineSpec{nodes: 2, llcs: 1, cores: 4, threads: 1}.build()
	for i := range m.CPUs {
		m.CPUs[i].LLC = 0
	}
	s := newDomainScheduler(t, m, "v5.17")
	wantString(t, "CPU 0", chainOf(s, 0), "MC 0-3 | NUMA 0-7")
	if s.SharesCache(0, 4) {
		t.Error("CPUs of two nodes share an LLC domain")
	}
}

func TestOddMachines(t *testing.T) {
	t.Run("one CPU has no domain", func(t *testing.T) {
		for _, p := range Profiles() {
			s := newDomainScheduler(t, machineSpec{nodes: 1, llcs: 1, cores: 1, threads: 1}.build(), p.Name)
			if rq := &s.rqs[0]; rq.sd != nil || rq.llc != nil || rq.llcShared != nil || rq.llcSize != 1 || rq.llcID != 0 {
				t.Errorf("%s: %s", p.Name, s.DescribeDomains(0))
			}
		}
	})
	t.Run("memory-only nodes", func(t *testing.T) {
		m := machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 1, memoryNodes: 1, distance: [][]int{
			{10, 20, 17}, {20, 10, 28}, {17, 28, 10},
		}}.build()
		for _, p := range Profiles() {
			wantString(t, p.Name, chainOf(newDomainScheduler(t, m, p.Name), 0), "MC 0-1 | NUMA 0-3")
		}
	})
	t.Run("offline CPUs are in no span", func(t *testing.T) {
		s := newDomainScheduler(t, machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 2, adjacent: true, offline: []int{1, 4, 5}}.build(), "v5.17")
		wantString(t, "CPU 0, sibling offline", chainOf(s, 0), "MC 0,2-3 | NUMA 0,2-3,6-7")
		wantString(t, "CPU 2", chainOf(s, 2), "SMT 2-3 | MC 0,2-3 | NUMA 0,2-3,6-7")
		// Node 1 has only one core left: MC equals SMT and goes.
		wantString(t, "CPU 6", chainOf(s, 6), "SMT 6-7 | NUMA 0,2-3,6-7")
		wantInt(t, "LLC of node 1", int64(s.rqs[6].llcSize), 2)
		if s.Domains(1) != nil {
			t.Error("an offline CPU has a domain")
		}
		wantString(t, "description", s.DescribeDomains(1), "CPU 1 is offline\n")
	})
	t.Run("uneven LLCs", func(t *testing.T) {
		m := machineSpec{nodes: 1, llcs: 1, cores: 6, threads: 1}.build()
		for cpu, llc := range []int{0, 0, 0, 1, 1, 2} {
			m.CPUs[cpu].LLC = llc
		}
		s := newDomainScheduler(t, m, "v5.17")
		wantString(t, "CPU 0", chainOf(s, 0), "MC 0-2 | DIE 0-5")
		wantString(t, "CPU 5 alone in its LLC", chainOf(s, 5), "DIE 0-5")
		wantString(t, "groups of DIE", groupsOf(s.Domains(3).Parent), "3-4 5 0-2")
		if s.rqs[5].llc != nil || s.rqs[5].llcSize != 1 || s.rqs[5].llcID != 5 {
			t.Error("CPU 5 has an LLC domain")
		}
	})
	t.Run("two capacities", func(t *testing.T) {
		// CPUs 2 and 3 are slow: MC mixes, the two SMT domains do not.
		m := machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 2, adjacent: true, slow: []int{2, 3}}.build()
		s := newDomainScheduler(t, m, "v5.10")
		smt, mc := s.Domains(0), s.Domains(0).Parent
		if smt.has(FlagAsymCPUCapacity) || !mc.has(FlagAsymCPUCapacity) {
			t.Errorf("ASYM_CPUCAPACITY: SMT %s, MC %s", smt.Flags, mc.Flags)
		}
		if smt.has(FlagPreferSibling) {
			t.Error("the child of an asymmetric domain keeps PREFER_SIBLING")
		}
		// From v5.16 MC's child is CLS. It loses the flag, then goes because it
		// equals SMT, which keeps its own.
		if !newDomainScheduler(t, m, "v5.17").Domains(0).has(FlagPreferSibling) {
			t.Error("SMT below a dropped CLS loses PREFER_SIBLING")
		}
		wantInt(t, "slow core", mc.Groups.Next.Cap.Capacity, 1024)
		wantInt(t, "slow core's largest CPU", mc.Groups.Next.Cap.MaxCapacity, 512)
	})
}

func TestGroupsAreSharedBetweenCPUs(t *testing.T) {
	s := newDomainScheduler(t, doc000.build(), "v5.17")
	a, b := s.Domains(0), s.Domains(48)
	if a == b {
		t.Fatal("CPUs 0 and 48 share a domain object")
	}
	if a.Groups != b.Groups.Next || b.Groups != a.Groups.Next {
		t.Error("SMT siblings have groups of their own")
	}
	if a.Parent.Groups != b.Parent.Groups || a.Parent.Parent.Groups != b.Parent.Parent.Groups {
		t.Error("CPUs of one core see different groups of cores and nodes")
	}
	if a.Parent.Shared == nil || a.Parent.Shared != s.rqs[71].llcShared || a.Parent.Shared == s.rqs[24].llcShared {
		t.Error("one record for each LLC expected")
	}
	if a.Shared != nil || a.Parent.Parent.Shared != nil {
		t.Error("only the LLC domain has the shared record")
	}
}

// A hundred random CPU numberings would not find this: where the last CPU of a
// span belongs to a group that is not the last by first CPU, it decides the
// order of the ring.
func TestRingOrderIsThatOfTheLastCPU(t *testing.T) {
	m := machineSpec{nodes: 1, llcs: 3, cores: 2, threads: 1}.build()
	for cpu, llc := range []int{0, 1, 2, 2, 0, 1} { // {0,4} {1,5} {2,3}
		m.CPUs[cpu].LLC = llc
	}
	s := newDomainScheduler(t, m, "v5.17")
	wantString(t, "from CPU 5", groupsOf(s.Domains(5).Parent), "1,5 0,4 2-3")
	wantString(t, "from CPU 0", groupsOf(s.Domains(0).Parent), "0,4 2-3 1,5")
}

func TestDomainsOf4096CPUs(t *testing.T) {
	m := machineSpec{nodes: 64, llcs: 2, cores: 16, threads: 2, distance: meshDistances(8)}.build()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := newDomainScheduler(t, m, "v6.1")
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	if allocated > 1<<30 {
		t.Errorf("building took %d MB, want at most 1 GB", allocated>>20)
	}
	if top := topDomain(s, 4095); top.SpanWeight != 4096 {
		t.Errorf("the top domain spans %d CPUs", top.SpanWeight)
	}
}

// meshDistances returns the distances of k x k nodes in a grid: 10, then 12
// for each hop.
func meshDistances(k int) [][]int {
	abs := func(x int) int { return max(x, -x) }
	out := make([][]int, k*k)
	for i := range out {
		out[i] = make([]int, k*k)
		for j := range out {
			hops := abs(i/k-j/k) + abs(i%k-j%k)
			out[i][j] = 10 + 2*hops
		}
	}
	return out
}

func topDomain(s *Scheduler, cpu int) *Domain {
	d := s.Domains(cpu)
	for d.Parent != nil {
		d = d.Parent
	}
	return d
}

func BenchmarkBuildDomains4096(b *testing.B) {
	m := machineSpec{nodes: 64, llcs: 2, cores: 16, threads: 2, distance: meshDistances(8)}.build()
	s := newDomainScheduler(b, m, "v6.1")
	b.ReportAllocs()
	for b.Loop() {
		s.buildDomains()
	}
}

// realMachine is the machine of the recorded kernels: two nodes with one LLC
// each, siblings next to each other, distances 10 and 20.
func realMachine() *machine.Machine {
	return machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 2, adjacent: true, distance: [][]int{{10, 20}, {20, 10}}}.build()
}

// TestAgainstKernel61Debugfs compares with the domain names, imbalance
// percentages and flags that a real 6.1 shows in debugfs.
func TestAgainstKernel61Debugfs(t *testing.T) {
	compareWithDebugfs(t, newDomainScheduler(t, realMachine(), "v6.1"), "testdata/domain/debugfs-6.1.txt")
}

// compareWithDebugfs reads lines ".../cpu3/domain1 MC ibp=117 flags=SD_A SD_B"
// and requires exactly those domains.
func compareWithDebugfs(t *testing.T, s *Scheduler, path string) {
	t.Helper()
	want := map[int][]string{}
	for _, line := range readLines(t, path) {
		at := strings.Index(line, "/domains/cpu")
		if at < 0 {
			continue
		}
		where, what, _ := strings.Cut(line[at+len("/domains/cpu"):], " ")
		number, _, _ := strings.Cut(where, "/")
		cpu, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		want[cpu] = append(want[cpu], strings.TrimSpace(what))
	}
	if len(want) != s.NumCPUs() {
		t.Fatalf("%s lists %d CPUs, the machine has %d", path, len(want), s.NumCPUs())
	}
	for cpu := range s.NumCPUs() {
		var got []string
		for d := s.Domains(cpu); d != nil; d = d.Parent {
			flags := "SD_" + strings.ReplaceAll(d.Flags.String(), " ", " SD_")
			got = append(got, fmt.Sprintf("%s ibp=%d flags=%s", d.Name, d.ImbalancePct, flags))
		}
		if !slices.Equal(got, want[cpu]) {
			t.Errorf("%s, CPU %d:\n got %s\nwant %s", path, cpu, strings.Join(got, "\n     "), strings.Join(want[cpu], "\n     "))
		}
	}
}

// TestAgainstKernelSchedstat compares with the spans that real kernels print
// in /proc/schedstat, 7.2 with the names; 5.10 and 6.12 show their domains
// nowhere else.
func TestAgainstKernelSchedstat(t *testing.T) {
	for _, version := range []string{"5.10", "6.1", "6.12", "7.2"} {
		path := "testdata/domain/schedstat-" + version + ".txt"
		compareWithSchedstat(t, newDomainScheduler(t, realMachine(), "v"+version), path)
	}
}

// compareWithSchedstat reads "cpu0 ..." and "domain1 0f ..." lines; schedstat 17
// and later have the name: "domain1 MC 0f ...".
func compareWithSchedstat(t *testing.T, s *Scheduler, path string) {
	t.Helper()
	want, cpu, named := map[int][]string{}, -1, false
	for _, line := range readLines(t, path) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 0 && strings.HasPrefix(fields[0], "cpu"):
			cpu++
		case len(fields) > 1 && strings.HasPrefix(fields[0], "domain"):
			span := fields[1]
			if _, err := strconv.ParseUint(span, 16, 64); err != nil && len(fields) > 2 {
				named, span = true, fields[1]+" "+fields[2]
			}
			want[cpu] = append(want[cpu], span)
		}
	}
	if len(want) != s.NumCPUs() {
		t.Fatalf("%s lists %d CPUs, the machine has %d", path, len(want), s.NumCPUs())
	}
	digits := (s.NumCPUs() + 3) / 4
	for c := range s.NumCPUs() {
		var got []string
		for d := s.Domains(c); d != nil; d = d.Parent {
			span := fmt.Sprintf("%0*x", digits, d.Span[0])
			if named {
				span = d.Name + " " + span
			}
			got = append(got, span)
		}
		if !slices.Equal(got, want[c]) {
			t.Errorf("%s, CPU %d: got %v, want %v", path, c, got, want[c])
		}
	}
}

// TestAgainstKernelLevels compares with the numbers of levels that load_balance
// was seen with: 5.10 counts SMT MC DIE NODE NUMA, 6.1 has CLS below MC.
func TestAgainstKernelLevels(t *testing.T) {
	for kernel, want := range map[string]string{"v5.10": "0:2 1:4 4:8", "v6.1": "0:2 2:4 5:8", "v6.12": "0:2 2:4 5:8", "v7.2": "0:2 2:4 5:8"} {
		s := newDomainScheduler(t, realMachine(), kernel)
		var got []string
		for d := s.Domains(3); d != nil; d = d.Parent {
			got = append(got, fmt.Sprintf("%d:%d", d.Level, d.SpanWeight))
		}
		wantString(t, kernel+" level:span", strings.Join(got, " "), want)
	}
}

func TestPresets(t *testing.T) {
	for _, preset := range machine.Presets() {
		m, err := machine.Resolve(preset.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range Profiles() {
			checkDomains(t, m, p)
		}
	}
}

// TestSharedTopologies checks the domains of every real machine description.
func TestSharedTopologies(t *testing.T) {
	dir := sharedDir(t, "inputs")
	if dir == "" {
		return
	}
	paths, err := filepath.Glob(filepath.Join(dir, "topology", "*", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no topologies in %s (%v)", dir, err)
	}
	for _, path := range paths {
		imported, err := machine.Import(path)
		if err != nil {
			t.Logf("refused, as package machine tests: %v", err)
			continue
		}
		for _, p := range Profiles() {
			t.Run(filepath.Base(path)+" "+p.Name, func(t *testing.T) { checkDomains(t, imported.Machine, p) })
		}
	}
}

// sharedDir returns a folder of the recordings that are too large to commit,
// "" where they are absent.
func sharedDir(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("SCHEDLAB_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	dir = filepath.Join(dir, name)
	if _, err := os.Stat(dir); err != nil {
		t.Logf("%s is absent (set SCHEDLAB_SHARED): left out, the committed recordings are compared", dir)
		return ""
	}
	return dir
}

// TestAgainstSharedCaptures repeats the comparisons with real kernels over all
// recordings, with the machine as their machine.txt describes it.
func TestAgainstSharedCaptures(t *testing.T) {
	dir := sharedDir(t, "captures")
	if dir == "" {
		return
	}
	for _, c := range []struct {
		folder, kernel string
		debugfs        bool
	}{{"5.10", "v5.10", false}, {"6.1", "v6.1", true}, {"6.1-2n4c2t", "v6.1", true},
		{"6.12", "v6.12", false}, {"7.2", "v7.2", false}} {
		folder := filepath.Join(dir, c.folder)
		description := filepath.Join(folder, "machine.txt")
		imported, err := machine.Import(description)
		if err != nil {
			t.Fatal(err)
		}
		s := newDomainScheduler(t, imported.Machine, c.kernel)
		if c.debugfs {
			compareWithDebugfs(t, s, description)
		}
		stats, err := filepath.Glob(filepath.Join(folder, "*", "schedstat.before"))
		if err != nil || len(stats) == 0 {
			t.Fatalf("no schedstat in %s (%v)", folder, err)
		}
		for _, path := range stats {
			compareWithSchedstat(t, s, path)
		}
	}
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var lines []string
	for in := bufio.NewScanner(f); in.Scan(); {
		lines = append(lines, in.Text())
	}
	return lines
}

// TestDescribeDomains runs testdata/domain/describe: "machine" builds one,
// "domains" prints the chains of some of its CPUs under a kernel.
func TestDescribeDomains(t *testing.T) {
	var m *machine.Machine
	datadriven.RunTest(t, "testdata/domain/describe", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "machine":
			spec := machineSpec{nodes: 1, llcs: 1, cores: 1, threads: 1}
			for key, field := range map[string]*int{
				"nodes": &spec.nodes, "llcs": &spec.llcs, "cores": &spec.cores, "threads": &spec.threads, "cluster": &spec.clusterCores,
			} {
				d.MaybeScanArgs(t, key, field)
			}
			spec.adjacent = d.HasArg("adjacent")
			spec.distance = parseDistances(t, d.Input)
			m = spec.build()
			return fmt.Sprintf("%d CPUs\n", m.NumCPUs())
		case "domains":
			var kernel string
			var cpu int
			d.ScanArgs(t, "kernel", &kernel)
			d.ScanArgs(t, "cpu", &cpu)
			return newDomainScheduler(t, m, kernel).DescribeDomains(cpu)
		}
		t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
		return ""
	})
}

func parseDistances(t *testing.T, input string) [][]int {
	t.Helper()
	var out [][]int
	for line := range strings.Lines(input) {
		var row []int
		for _, f := range strings.Fields(line) {
			v, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		out = append(out, row)
	}
	return out
}
