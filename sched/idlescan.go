package sched

import (
	"math/bits"

	"github.com/schedlab/schedlab/machine"
)

// The two loops of the idle search, each in two forms with the same result,
// statistics and side effects: one that tests CPU by CPU as the kernel does
// and can tell about each, used while decisions are recorded; and one that
// works on 64 CPUs at a time and counts the tests that the first would make.

// scanResult is what a scan for a usable CPU found.
type scanResult struct {
	cpu    int  // the first usable CPU, or noCPU
	tested int  // CPUs tested
	cutOff bool // the budget ran out first
}

// scanArea is a set of CPUs to look through.
type scanArea struct {
	span  machine.CPUMask
	words []maskWord
}

func newScanArea(span machine.CPUMask) scanArea { return scanArea{span, wordsOf(span)} }

// initScanAreas sets what a search around a CPU looks through: its cache. Its
// own cluster, where the cache consists of clusters, comes before the rest.
func (s *Scheduler) initScanAreas(rq *runqueue) {
	if rq.llc == nil {
		return
	}
	areas := s.scratch.areas
	cluster := rq.llc.Groups
	first := rq.llc.Span.First()
	if cluster.Flags&FlagCluster != 0 {
		first = cluster.Span.First()
	}
	if first < int(rq.cpu) {
		areas[rq.cpu] = areas[first]
		return
	}
	if cluster.Flags&FlagCluster == 0 {
		areas[rq.cpu] = []scanArea{newScanArea(rq.llc.Span)}
		return
	}
	rest := rq.llc.Span.Clone()
	rest.AndNot(cluster.Span)
	areas[rq.cpu] = []scanArea{newScanArea(cluster.Span), newScanArea(rest)}
}

// findUsable scans the areas around the target for the first usable CPU of set,
// each in CPU order from `from` on and around; at most tests CPUs are tested.
// The set is t's affinity, or what a filter leaves of it within that cache.
func (s *Scheduler) findUsable(t *Task, set machine.CPUMask, target, from, tests int) scanResult {
	found := scanResult{cpu: noCPU}
	for i := range s.scratch.areas[target] {
		area := &s.scratch.areas[target][i]
		tested := found.tested
		if s.decision != nil {
			found = s.findUsableByProbing(t, set, area, from, tests)
		} else {
			found = s.findUsableByWords(t, set, area, from, tests)
		}
		tests -= found.tested
		found.tested += tested
		if found.cpu != noCPU || found.cutOff {
			break
		}
	}
	return found
}

func (s *Scheduler) findUsableByProbing(t *Task, set machine.CPUMask, area *scanArea, from, tests int) scanResult {
	span, n := area.span, len(s.rqs)
	found := scanResult{cpu: noCPU}
	for i := range n {
		cpu := (from + i) % n
		if !span.Has(cpu) {
			continue
		}
		allowed := set.Has(cpu)
		if !allowed && !s.profile.Wake.budgetCountsDisallowed {
			s.note(cpu, RuleIdleCPU, whyOutside(t, cpu))
			continue
		}
		if tests == 0 {
			found.cutOff = true
			s.note(cpu, RuleIdleCPU, VerdictBudget)
			continue
		}
		tests--
		if !allowed {
			s.note(cpu, RuleIdleCPU, VerdictNotAllowed)
			continue
		}
		found.tested++
		if s.usable(t, cpu) {
			s.note(cpu, RuleIdleCPU, VerdictTaken)
			found.cpu = cpu
			return found
		}
		s.note(cpu, RuleIdleCPU, VerdictBusy)
	}
	return found
}

// whyOutside is the verdict on a CPU that is not in the set of a search.
func whyOutside(t *Task, cpu int) Verdict {
	if t.allowed.Has(cpu) {
		return VerdictFiltered
	}
	return VerdictNotAllowed
}

func (s *Scheduler) findUsableByWords(t *Task, set machine.CPUMask, area *scanArea, from, tests int) scanResult {
	rules := &s.profile.Wake
	preempts := rules.preemptsSchedIdle(t)
	found := scanResult{cpu: noCPU}
	for walk := wrapFrom(area.words, from); walk.next(); {
		w := walk.index
		testable := walk.bits & set[w]
		counted := testable
		if rules.budgetCountsDisallowed {
			counted = walk.bits
		}
		usable := s.idle[w]
		if preempts {
			usable |= s.schedIdle[w]
		}
		if hit := testable & usable; hit != 0 {
			first := hit & -hit
			upToFirst := first | (first - 1)
			if n := bits.OnesCount64(counted & upToFirst); n <= tests {
				found.tested += bits.OnesCount64(testable & upToFirst)
				found.cpu = w<<6 + bits.TrailingZeros64(first)
				return found
			}
			// The budget ends before the hit.
		} else if n := bits.OnesCount64(counted); n <= tests {
			tests -= n
			found.tested += bits.OnesCount64(testable)
			continue
		}
		found.cutOff = true
		found.tested += bits.OnesCount64(testable & lowest(counted, tests))
		return found
	}
	return found
}

// lowest returns the n lowest set bits of word.
func lowest(word uint64, n int) uint64 {
	rest := word
	for range n {
		rest &= rest - 1
	}
	return word &^ rest
}

// coreResult is what a search for an idle core found.
type coreResult struct {
	core    int // the CPU of the idle core that was met first, or noCPU
	single  int // a usable CPU of a core that is not idle, or noCPU
	visited int // siblings looked at
}

// findIdleCore searches the areas around the target for a core whose siblings
// are all idle. A core is entered at the first of its CPUs in set, and only once;
// all its siblings are looked at then.
func (s *Scheduler) findIdleCore(t *Task, set machine.CPUMask, target, from int) coreResult {
	found := coreResult{core: noCPU, single: noCPU}
	for i := range s.scratch.areas[target] {
		area := &s.scratch.areas[target][i]
		if s.decision != nil {
			s.findIdleCoreByProbing(t, set, area, from, &found)
		} else {
			s.findIdleCoreByWords(t, set, area, from, &found)
		}
		if found.core != noCPU {
			return found
		}
	}
	if found.single != noCPU {
		s.note(found.single, RuleIdleCPU, VerdictTaken)
	}
	return found
}

func (s *Scheduler) findIdleCoreByProbing(t *Task, set machine.CPUMask, area *scanArea, from int, found *coreResult) {
	n := len(s.rqs)
	left := area.span.Clone()
	for i := range n {
		cpu := (from + i) % n
		if !left.Has(cpu) {
			continue
		}
		if !set.Has(cpu) {
			s.note(cpu, RuleIdleCore, whyOutside(t, cpu))
			continue
		}
		if s.visitCore(t, cpu, found) {
			s.note(cpu, RuleIdleCore, VerdictTaken)
			found.core = cpu
			return
		}
		s.note(cpu, RuleIdleCore, VerdictCoreBusy)
		left.AndNot(s.cores[cpu])
	}
}

func (s *Scheduler) findIdleCoreByWords(t *Task, set machine.CPUMask, area *scanArea, from int, found *coreResult) {
	words, left := area.words, s.scratch.set
	for _, w := range words {
		left[w.index] = w.bits & set[w.index]
	}
	for walk := wrapFrom(words, from); walk.next(); {
		for here := left[walk.index] & walk.bits; here != 0; here &= left[walk.index] {
			cpu := walk.index<<6 + bits.TrailingZeros64(here)
			core := s.scratch.coreWords[cpu]
			lively := uint64(0)
			for _, w := range core {
				lively |= (s.idle[w.index] | s.schedIdle[w.index]) & w.bits
				left[w.index] &^= w.bits
			}
			if lively == 0 {
				found.visited += s.visitsOfBusyCore(cpu, found.single)
			} else if s.visitCore(t, cpu, found) {
				found.core = cpu
				return
			}
		}
	}
}

// visitsOfBusyCore is what visitCore comes to for a core on which nobody could
// ever be placed: most cores, while the machine is loaded.
func (s *Scheduler) visitsOfBusyCore(cpu, single int) int {
	if s.profile.Wake.coreStopsAtBusy || single != noCPU {
		return 1
	}
	return len(s.scratch.siblings[cpu])
}

// visitCore applies the kernel version's rule to the core of cpu and reports
// whether it is idle.
func (s *Scheduler) visitCore(t *Task, cpu int, found *coreResult) bool {
	idle, visited, single := s.profile.Wake.coreIdle(s, t, cpu, found.single)
	found.visited += visited
	found.single = single
	return idle
}

// coreRule looks at the siblings of cpu one by one and reports whether all are
// idle, how many it has visited, and which single usable CPU is remembered
// after that; before says which one already was.
type coreRule func(s *Scheduler, t *Task, cpu, before int) (idle bool, visited, single int)

// coreIdle414 is v4.14: every sibling is visited.
func coreIdle414(s *Scheduler, _ *Task, cpu, _ int) (idle bool, visited, single int) {
	idle = true
	for _, sibling := range s.scratch.siblings[cpu] {
		visited++
		idle = idle && s.idle.Has(int(sibling))
	}
	return idle, visited, noCPU
}

// coreIdle510 is v5.6 to v5.11: the first busy sibling settles it.
func coreIdle510(s *Scheduler, _ *Task, cpu, _ int) (idle bool, visited, single int) {
	for _, sibling := range s.scratch.siblings[cpu] {
		visited++
		if !s.idle.Has(int(sibling)) {
			return false, visited, noCPU
		}
	}
	return true, visited, noCPU
}

// coreIdle517 is v5.12 and later: while no usable CPU is remembered a busy
// sibling is no reason to stop, because the next one may be worth remembering.
// A sched-idle CPU can be remembered but does not make a core idle.
func coreIdle517(s *Scheduler, t *Task, cpu, before int) (idle bool, visited, single int) {
	idle, single = true, before
	for _, sibling := range s.scratch.siblings[cpu] {
		sib := int(sibling)
		visited++
		switch {
		case s.idle.Has(sib):
			if single == noCPU && t.allowed.Has(sib) {
				single = sib
			}
		case single != noCPU:
			return false, visited, single
		case s.usable(t, sib) && t.allowed.Has(sib):
			return false, visited, sib
		default:
			idle = false
		}
	}
	return idle, visited, single
}

// maskWord is one word of a CPU set that has something in it: a set of few
// CPUs on a large machine is a short list.
type maskWord struct {
	index int
	bits  uint64
}

// wordsOf lists the non-empty words of a mask.
func wordsOf(m machine.CPUMask) []maskWord {
	var words []maskWord
	for i, w := range m {
		if w != 0 {
			words = append(words, maskWord{i, w})
		}
	}
	return words
}

// wordWalk visits the words of a CPU set in CPU order from a given CPU on and
// around; the word that holds this CPU comes first with its upper part and
// last with its lower one.
type wordWalk struct {
	words []maskWord
	pos   int
	left  int    // words to come
	split uint64 // upper part of the first word; 0 when the set has no such word
	first bool
	maskWord
}

func wrapFrom(words []maskWord, from int) wordWalk {
	w := wordWalk{words: words, left: len(words), first: true}
	fromWord := from >> 6
	for w.pos < len(words) && words[w.pos].index < fromWord {
		w.pos++
	}
	if w.pos < len(words) && words[w.pos].index == fromWord {
		w.split = ^uint64(0) << (uint(from) & 63)
		w.left++
	}
	return w
}

func (w *wordWalk) next() bool {
	if w.left == 0 {
		return false
	}
	w.left--
	if w.pos == len(w.words) {
		w.pos = 0
	}
	w.maskWord = w.words[w.pos]
	w.pos++
	if w.split != 0 {
		if w.first {
			w.bits &= w.split
		} else if w.left == 0 {
			w.bits &^= w.split
		}
	}
	w.first = false
	return true
}
