package sched

import (
	"fmt"
	"strings"
	"testing"
)

// Parameters and flags on the recorded machine (mechanisms-modern.md 5.1).
func TestModernDomainParameters(t *testing.T) {
	const common = "BALANCE_NEWIDLE BALANCE_EXEC BALANCE_FORK WAKE_AFFINE "
	want := []string{
		"SMT 0-1 pct 110 tries 0 interval 2-4 imb 0: " + common + "SHARE_CPUCAPACITY SHARE_LLC PREFER_SIBLING",
		"MC 0-3 pct 117 tries 1 interval 4-8 imb 0: " + common + "SHARE_LLC PREFER_SIBLING",
		"NUMA 0-7 pct 117 tries 2 interval 8-16 imb 1: " + common + "SERIALIZE OVERLAP NUMA",
	}
	for _, kernel := range []string{"v6.12", "v7.2"} {
		s := newDomainScheduler(t, realMachine(), kernel)
		var got []string
		for d := s.Domains(0); d != nil; d = d.Parent {
			got = append(got, fmt.Sprintf("%s %s pct %d tries %d interval %d-%d imb %d: %s", d.Name, d.Span,
				d.ImbalancePct, d.CacheNiceTries, d.MinInterval, d.MaxInterval, d.ImbNUMANr,
				s.profile.Topology.flagText(d.Flags)))
			wantInt(t, "busy factor", d.BusyFactor, 16)
		}
		wantString(t, kernel, strings.Join(got, "\n"), strings.Join(want, "\n"))
		if text := s.DescribeDomains(0); !strings.Contains(text, "SHARE_LLC") || strings.Contains(text, "PKG_RES") {
			t.Errorf("%s describes its flags by their old names:\n%s", kernel, text)
		}
	}
}

// 5.1, HZ 250: due after 1, 1 and 2 jiffies when idle; busy 16 times as many
// ms, less one jiffy: 32 ms = 8-1, 64 ms = 16-1, 128 ms = 32-1.
func TestModernIntervals(t *testing.T) {
	l := newBalanceLab(t, "v7.2", realMachine())
	var idle, busy []string
	for d := l.rqs[0].sd; d != nil; d = d.Parent {
		idle = append(idle, fmt.Sprint(l.interval(&l.rqs[0], d, Idle)))
		busy = append(busy, fmt.Sprint(l.interval(&l.rqs[0], d, NotIdle)))
	}
	wantString(t, "idle", strings.Join(idle, "/"), "1/1/2")
	wantString(t, "busy", strings.Join(busy, "/"), "7/15/31")
	wantInt(t, "upper bound, HZ*8/10", l.maxBalanceInterval(), 200)
}

// 5.1: imb_numa_nr is an eighth of the node, or its number of LLCs.
func TestModernAllowedImbalance(t *testing.T) {
	for name, c := range map[string]struct {
		m    machineSpec
		want int64
	}{
		"48 CPUs a node, one LLC": {doc000, 6},
		"4 LLCs a node":           {machineSpec{nodes: 2, llcs: 4, cores: 2, threads: 2}, 4},
	} {
		for _, kernel := range []string{"v6.12", "v7.2"} {
			s := newDomainScheduler(t, c.m.build(), kernel)
			wantInt(t, kernel+", "+name, topDomain(s, 0).ImbNUMANr, c.want)
		}
	}
}

func TestModernLevels(t *testing.T) {
	levels := func(s *Scheduler, cpu int) string {
		var parts []string
		for d := s.Domains(cpu); d != nil; d = d.Parent {
			parts = append(parts, fmt.Sprintf("%s:%d", d.Name, d.Level))
		}
		return strings.Join(parts, " ")
	}
	twoLLCs := machineSpec{nodes: 2, llcs: 2, cores: 2, threads: 2}.build()
	oneCore := machineSpec{nodes: 2, llcs: 2, cores: 2, threads: 1}.build()
	split := machineSpec{nodes: 2, llcs: 2, cores: 2, threads: 2}.build()
	for i := range split.CPUs {
		split.CPUs[i].Package = 0
	}
	for _, c := range []struct{ name, kernel, got, want string }{
		{"DIE until v6.6", "v6.1", levels(newDomainScheduler(t, twoLLCs, "v6.1"), 0), "SMT:0 MC:2 DIE:3 NUMA:5"},
		{"PKG", "v6.12", levels(newDomainScheduler(t, twoLLCs, "v6.12"), 0), "SMT:0 MC:2 PKG:3 NUMA:5"},
		{"no SMT level without SMT", "v7.2", levels(newDomainScheduler(t, oneCore, "v7.2"), 0), "MC:1 PKG:2 NUMA:4"},
		{"but with the older one", "v6.12", levels(newDomainScheduler(t, oneCore, "v6.12"), 0), "MC:2 PKG:3 NUMA:5"},
		{"a package of two nodes has no PKG", "v7.2", levels(newDomainScheduler(t, split, "v7.2"), 0), "SMT:0 MC:2 NODE:3 NUMA:4"},
	} {
		wantString(t, c.kernel+", "+c.name, c.got, c.want)
	}
}

// 5.1: CLS has its own flag since v6.7. It goes when it is no more than a core,
// and then MC's groups are known as cores; otherwise they are clusters.
func TestClusterFlags(t *testing.T) {
	clusters := machineSpec{nodes: 1, llcs: 1, cores: 8, threads: 1, clusterCores: 4}.build()
	for kernel, want := range map[string]bool{"v6.1": false, "v6.12": true, "v7.2": true} {
		s := newDomainScheduler(t, clusters, kernel)
		cls, mc := s.Domains(2), s.Domains(2).Parent
		if cls.Name != "CLS" || cls.has(FlagCluster) != want || (mc.Groups.Flags&FlagCluster != 0) != want {
			t.Errorf("%s: %s", kernel, s.DescribeDomains(2))
		}
		if s.scratch.clusters != want || s.sharesCluster(2, 4) == want || !s.sharesCluster(0, 3) {
			t.Errorf("%s: clusters %v", kernel, s.scratch.clusters)
		}
	}
	s := newDomainScheduler(t, realMachine(), "v7.2")
	if s.scratch.clusters || !s.sharesCluster(0, 2) || s.sharesCluster(0, 4) {
		t.Error("without clusters the cache counts")
	}
	for g, i := s.Domains(0).Parent.Groups, 0; i < 2; g, i = g.Next, i+1 {
		if g.Flags&FlagShareCPUCapacity == 0 || g.Cores != 1 {
			t.Errorf("MC group %s: flags %s, %d cores", g.Span, g.Flags, g.Cores)
		}
	}
	if g := s.Domains(0).Parent.Parent.Groups; g.Cores != 2 || g.Flags&FlagShareCPUCapacity != 0 {
		t.Errorf("NUMA group %s: flags %s, %d cores", g.Span, g.Flags, g.Cores)
	}
}

// 1.7: until the first balance pass v7.2 scans the whole cache, older kernels
// nothing.
func TestFirstScanBudget(t *testing.T) {
	for kernel, want := range map[string]int64{"v6.1": 0, "v6.12": 0, "v7.2": 512} {
		s := newDomainScheduler(t, realMachine(), kernel)
		wantInt(t, kernel, int64(s.rqs[0].llcShared.NrIdleScan), want)
	}
}
