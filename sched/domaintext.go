package sched

import (
	"fmt"
	"strings"
)

// flagNames lists the flags in debugfs order. SHARE_PKG_RESOURCES is called
// SHARE_LLC by v6.12 and later: see topologyRules.flagText.
var flagNames = []struct {
	flag DomainFlag
	name string
}{
	{FlagBalanceNewidle, "BALANCE_NEWIDLE"},
	{FlagBalanceExec, "BALANCE_EXEC"},
	{FlagBalanceFork, "BALANCE_FORK"},
	{FlagBalanceWake, "BALANCE_WAKE"},
	{FlagWakeAffine, "WAKE_AFFINE"},
	{FlagAsymCPUCapacity, "ASYM_CPUCAPACITY"},
	{FlagShareCPUCapacity, "SHARE_CPUCAPACITY"},
	{FlagCluster, "CLUSTER"},
	{FlagShareLLC, "SHARE_PKG_RESOURCES"},
	{FlagSerialize, "SERIALIZE"},
	{FlagPreferSibling, "PREFER_SIBLING"},
	{FlagOverlap, "OVERLAP"},
	{FlagNUMA, "NUMA"},
}

// String lists the flags as debugfs does, without the SD_ prefixes.
func (f DomainFlag) String() string {
	var names []string
	for _, n := range flagNames {
		if f&n.flag != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, " ")
}

// flagText lists the flags as the kernel version spells them.
func (r *topologyRules) flagText(f DomainFlag) string {
	if r.llcFlag == "" {
		return f.String()
	}
	return strings.Replace(f.String(), "SHARE_PKG_RESOURCES", r.llcFlag, 1)
}

// maxGroupsShown limits how many groups of a ring are printed.
const maxGroupsShown = 16

// DescribeDomains draws cpu's chain of scheduling domains, lowest first: span,
// groups in ring order with their capacities, parameters and flags, and the
// last-level cache that wakeups search. A number that is not a CPU of the
// machine is described as such.
func (s *Scheduler) DescribeDomains(cpu int) string {
	if cpu < 0 || cpu >= len(s.rqs) {
		return fmt.Sprintf("CPU %d does not exist: the machine has CPUs 0-%d\n", cpu, len(s.rqs)-1)
	}
	rq := &s.rqs[cpu]
	if !rq.online {
		return fmt.Sprintf("CPU %d is offline\n", cpu)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CPU %d", cpu)
	if rq.sd == nil {
		b.WriteString(": no scheduling domain\n")
		return b.String()
	}
	b.WriteByte('\n')
	for d := rq.sd; d != nil; d = d.Parent {
		s.describeDomain(&b, d)
	}
	if rq.llc == nil {
		b.WriteString("  LLC shared with no other CPU\n")
	} else {
		fmt.Fprintf(&b, "  LLC %s\n", rq.llc.Span)
	}
	return b.String()
}

func (s *Scheduler) describeDomain(b *strings.Builder, d *Domain) {
	fmt.Fprintf(b, "  %-4s span %s (%d CPUs, level %d)\n", d.Name, d.Span, d.SpanWeight, d.Level)
	b.WriteString("       groups")
	g := d.Groups
	for i := 0; ; i++ {
		if i == maxGroupsShown {
			b.WriteString(" ...")
			break
		}
		describeGroup(b, g)
		if g = g.Next; g == d.Groups {
			break
		}
	}
	fmt.Fprintf(b, "\n       interval %d-%d ms, busy x%d, imbalance %d %%, cache nice tries %d",
		d.MinInterval, d.MaxInterval, d.BusyFactor, d.ImbalancePct, d.CacheNiceTries)
	if d.BusyIdx != 0 || d.IdleIdx != 0 {
		fmt.Fprintf(b, ", load index busy %d idle %d", d.BusyIdx, d.IdleIdx)
	}
	if d.ImbNUMANr != 0 {
		fmt.Fprintf(b, ", NUMA imbalance %d", d.ImbNUMANr)
	}
	fmt.Fprintf(b, "\n       flags %s\n", s.profile.Topology.flagText(d.Flags))
}

// describeGroup prints {CPUs}capacity, and the CPUs that may balance for the
// group where they are not all of it.
func describeGroup(b *strings.Builder, g *CPUGroup) {
	fmt.Fprintf(b, " {%s", g.Span)
	if !g.Cap.BalanceMask.Equal(g.Span) {
		fmt.Fprintf(b, " by %s", g.Cap.BalanceMask)
	}
	fmt.Fprintf(b, "}%d", g.Cap.Capacity)
}
