package sched

import (
	"math/bits"

	"github.com/schedlab/schedlab/machine"
)

// How v3.2 and v3.8 place tasks (mechanisms.md 6.4, 6.5, 7.3). A wakeup walks
// up from the waker's CPU to the first affine domain that holds prev. Without
// one the wakee stays at prev, and nobody looks for an idle CPU.

// placeByWalk38 is select_task_rq_fair of v3.8.
func placeByWalk38(s *Scheduler, p *Placement) int {
	wantAffine := false
	if p.Kind == KindWake {
		if wantAffine = p.Task.allowed.Has(p.Here); !wantAffine {
			s.noteAffine(AffineNotAllowed)
		}
	}
	var slowPath *Domain
	for d := s.rqs[p.Here].sd; d != nil; d = d.Parent {
		s.work.DomainSteps++
		if wantAffine && d.has(FlagWakeAffine) && d.Span.Has(p.Prev) {
			return s.selectIdleSibling(p, s.target38(d, p))
		}
		if d.has(kindFlags[p.Kind]) {
			slowPath = d
		}
	}
	switch {
	case slowPath != nil:
		return s.placeByDescent(slowPath, p)
	case p.Kind == KindWake:
		return s.settle(p.Prev, RuleNoAffine)
	}
	return s.settle(p.Here, RuleSlowLocal)
}

// target38 is the CPU around which an idle one is looked for.
func (s *Scheduler) target38(d *Domain, p *Placement) int {
	if p.Here == p.Prev {
		return p.Prev
	}
	return s.wakeAffine(d, p)
}

// idleSibling38 is select_idle_sibling of v3.8: the target if it is idle, else
// the first group whose CPUs all are. From the cache's domain downwards: groups
// there are cores, so a whole idle core goes before an idle sibling of the
// target. Nothing bounds the search.
func idleSibling38(s *Scheduler, p *Placement, target int) int {
	if s.idle.Has(target) && (target == p.Here || target == p.Prev) {
		rule := RuleTargetIdle
		if target == p.Prev {
			rule = RulePrevIdle
		}
		return s.take(target, rule)
	}
	s.note(target, RuleTargetIdle, VerdictBusy)
	if s.rqs[target].llc == nil {
		return s.settle(target, RuleNoLLC)
	}
	s.sisStats(p).SISDomainSearch++
	for d := s.rqs[target].llc; d != nil; d = d.Child {
		if cpu := s.idleGroupOf(d, p); cpu != noCPU {
			return cpu
		}
	}
	return s.nothingUsable(p, target)
}

// idleGroupOf returns the first allowed CPU of the first group of a domain that
// is idle as a whole, own group first.
func (s *Scheduler) idleGroupOf(d *Domain, p *Placement) int {
	for g, first := d.Groups, true; first || g != d.Groups; g, first = g.Next, false {
		rule := RuleIdleCore
		if g.Weight == 1 {
			rule = RuleIdleCPU
		}
		cpu := firstInBoth(g.Span, p.Task.allowed)
		if cpu == noCPU {
			s.note(g.Span.First(), rule, VerdictNotAllowed)
			continue
		}
		tested, idle := s.testGroup(g.Span)
		s.work.Probes += tested
		s.sisStats(p).SISScanned += tested
		if idle {
			return s.take(cpu, rule)
		}
		s.note(cpu, rule, VerdictCoreBusy)
	}
	return noCPU
}

// testGroup reports whether all CPUs of a set are idle, and how many tests that
// takes: the first busy one ends them.
func (s *Scheduler) testGroup(span machine.CPUMask) (tested int64, idle bool) {
	for w, word := range span {
		if busy := word &^ s.idle[w]; busy != 0 {
			upToFirst := busy&-busy | (busy&-busy - 1)
			return tested + int64(bits.OnesCount64(word&upToFirst)), false
		}
		tested += int64(bits.OnesCount64(word))
	}
	return tested, true
}

var slowPath38 = slowPathRules{idlestGroup: idlestGroup38, idlestCPU: (*Scheduler).leastLoaded38}

// idlestGroup38 compares plain loads per capacity: another group must be
// clearly emptier.
func idlestGroup38(s *Scheduler, d *Domain, p *Placement, here int) *CPUGroup {
	var idlest *CPUGroup
	var local, least int64
	for g, first := d.Groups, true; first || g != d.Groups; g, first = g.Next, false {
		if !g.Span.Intersects(p.Task.allowed) {
			continue
		}
		load := s.groupLoad38(g)
		switch {
		case g.Span.Has(here):
			local = load
		case idlest == nil || load < least:
			idlest, least = g, load
		}
	}
	if idlest == nil || 100*local < biasPercent(d)*least {
		return nil
	}
	return idlest
}

func (s *Scheduler) groupLoad38(g *CPUGroup) int64 {
	load := int64(0)
	for w, word := range g.Span {
		s.work.GroupCPUs += int64(bits.OnesCount64(word))
		for ; word != 0; word &= word - 1 {
			load += s.cpuLoad(&s.rqs[firstBit(w, word)])
		}
	}
	return load * capacityFull / g.Cap.Capacity
}

// leastLoaded38 is find_idlest_cpu of v3.8: the smallest load, of equal ones
// the first, but here if it is among them.
func (s *Scheduler) leastLoaded38(g *CPUGroup, t *Task, here int) int {
	best, least := here, int64(-1)
	for w, word := range g.Span {
		for word &= t.allowed[w]; word != 0; word &= word - 1 {
			cpu := firstBit(w, word)
			s.work.GroupCPUs++
			load := s.cpuLoad(&s.rqs[cpu])
			if least < 0 || load < least || (load == least && cpu == here) {
				best, least = cpu, load
			}
		}
	}
	return best
}
