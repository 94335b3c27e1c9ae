package sched

import (
	"math"

	"github.com/schedlab/schedlab/machine"
)

// select_idle_sibling: an idle CPU near the target (mechanisms.md 6.5, 6.7).
//
// "Usable" below means idle now or, from v5.4 on, running only idle-class
// tasks, which the wakee preempts at once.

// idleSiblingRule is a kernel version's search. It always returns a CPU: the
// target when nothing better is found.
type idleSiblingRule func(s *Scheduler, p *Placement, target int) int

// noCPU is the answer of a step that found nothing.
const noCPU = -1

func (s *Scheduler) selectIdleSibling(p *Placement, target int) int {
	s.work.Searches++
	stats := s.sisStats(p)
	stats.SISSearch++
	stats.SISScanned++ // the shortcuts count as one CPU scanned (mechanisms.md 11.1)
	if s.decision != nil {
		s.decision.Target = int32(target)
	}
	return s.profile.Wake.idleSibling(s, p, target)
}

// sisStats returns where a search is counted: on the waker's CPU.
func (s *Scheduler) sisStats(p *Placement) *CPUStats { return &s.rqs[p.Here].stats }

// usable reports whether wakee t would run on cpu at once.
func (s *Scheduler) usable(t *Task, cpu int) bool {
	return s.idle.Has(cpu) || (s.schedIdle.Has(cpu) && s.profile.Wake.preemptsSchedIdle(t))
}

// preemptsSchedIdle reports whether CPUs with only idle-class tasks are usable
// for t. Its policy counts, not whether its group is idle.
func (r *wakeRules) preemptsSchedIdle(t *Task) bool {
	return r.takesSchedIdle && !(r.idleTasksWait && t.policy == PolicyIdle)
}

// idleSibling414 is v4.14: two shortcuts, then three searches.
func idleSibling414(s *Scheduler, p *Placement, target int) int {
	if s.try(p.Task, target, RuleTargetIdle) {
		return target
	}
	if s.tryPrev(p, target) {
		return p.Prev
	}
	return s.searchThreeTimes(p, target)
}

// idleSibling510 is v5.10: all shortcuts, then three searches.
func idleSibling510(s *Scheduler, p *Placement, target int) int {
	if cpu := s.tryShortcuts(p, target); cpu != noCPU {
		return cpu
	}
	return s.searchThreeTimes(p, target)
}

// idleSibling517 is v5.12 and later: all shortcuts, then one search that looks
// either for an idle core or, with a budget, for any usable CPU. Without the
// hint of an idle core the siblings of prev, whose core holds the wakee's
// nearest caches, come first.
func idleSibling517(s *Scheduler, p *Placement, target int) int {
	if cpu := s.tryShortcuts(p, target); cpu != noCPU {
		return cpu
	}
	if s.rqs[target].llc == nil {
		return s.settle(target, RuleNoLLC)
	}
	if cpu := s.searchCache(p, target); cpu != noCPU {
		return cpu
	}
	return s.nothingUsable(p, target)
}

// searchCache looks through the target's cache.
func (s *Scheduler) searchCache(p *Placement, target int) int {
	s.sisStats(p).SISDomainSearch++
	wantCore := false
	if s.scratch.smt {
		wantCore = s.hasIdleCores(target)
		if !wantCore && s.SharesCache(p.Prev, target) {
			if cpu := s.trySiblings(p, p.Prev, target); cpu != noCPU {
				return cpu
			}
		}
	}
	return s.searchInside(p, target, wantCore)
}

// tryShortcuts looks at single CPUs where the wakee would find something of
// its own. It returns noCPU when a search is due.
func (s *Scheduler) tryShortcuts(p *Placement, target int) int {
	switch {
	case s.try(p.Task, target, RuleTargetIdle):
		return target
	case s.tryPrev(p, target):
		return p.Prev
	case s.stacksOnKthread(p):
		return s.take(p.Prev, RuleKthreadStacked)
	}
	return s.profile.Wake.recent(s, p, target)
}

// try takes cpu if it is usable.
func (s *Scheduler) try(t *Task, cpu int, rule Rule) bool {
	if !s.usable(t, cpu) {
		s.note(cpu, rule, VerdictBusy)
		return false
	}
	s.take(cpu, rule)
	return true
}

// take ends the search at cpu.
func (s *Scheduler) take(cpu int, rule Rule) int {
	s.note(cpu, rule, VerdictTaken)
	return s.settle(cpu, rule)
}

// tryPrev takes the CPU where the wakee last ran, if its cache is the target's.
func (s *Scheduler) tryPrev(p *Placement, target int) bool {
	if !s.prevWouldDo(p, target) {
		return false
	}
	s.take(p.Prev, RulePrevIdle)
	return true
}

func (s *Scheduler) prevWouldDo(p *Placement, target int) bool {
	switch {
	case p.Prev == target:
	case !s.SharesCache(p.Prev, target):
		s.note(p.Prev, RulePrevIdle, VerdictOtherLLC)
	case !s.usable(p.Task, p.Prev):
		s.note(p.Prev, RulePrevIdle, VerdictBusy)
	default:
		return true
	}
	return false
}

// stacksOnKthread reports whether the waker is a per-CPU kernel thread that
// works for the wakee, as when I/O completes in a workqueue: it will be done
// in a moment, and the wakee runs on right here (v5.6).
func (s *Scheduler) stacksOnKthread(p *Placement) bool {
	rq := &s.rqs[p.Here]
	waker := rq.curr
	return waker != nil && waker.kthread && !s.scratch.inInterrupt &&
		p.Prev == p.Here && rq.nr <= 1
}

// recentRule tries the CPU that the wakee used before prev. It stands for
// tasks that bounce between a few CPUs; each version keeps the memory of it
// differently. It returns noCPU when that CPU will not do.
type recentRule func(s *Scheduler, p *Placement, target int) int

// recentKeptUntilUsed is v4.16 to v5.10: the memory changes only when it was
// of use.
func recentKeptUntilUsed(s *Scheduler, p *Placement, target int) int {
	t := p.Task
	recent := int(t.recentUsed)
	cpu := s.tryRecent(p, target, recent, recent)
	if cpu != noCPU {
		t.recentUsed = int32(p.Prev)
	}
	return cpu
}

// recentRotatedSlip is v5.17: prev takes the place of the remembered CPU
// whenever this step is reached. The affinity test reads the field after that
// and so tests prev: a slip, which can place a wakee where it may not run.
func recentRotatedSlip(s *Scheduler, p *Placement, target int) int {
	recent := int(p.Task.recentUsed)
	p.Task.recentUsed = int32(p.Prev)
	return s.tryRecent(p, target, recent, p.Prev)
}

// recentRotated is v6.1: as v5.17 with the slip mended.
func recentRotated(s *Scheduler, p *Placement, target int) int {
	recent := int(p.Task.recentUsed)
	p.Task.recentUsed = int32(p.Prev)
	return s.tryRecent(p, target, recent, recent)
}

// tryRecent takes the CPU used before prev if it is usable, in the target's
// cache, and not already refused; tested is the CPU whose affinity counts.
func (s *Scheduler) tryRecent(p *Placement, target, recent, tested int) int {
	if !s.recentWouldDo(p, target, recent, tested) {
		return noCPU
	}
	return s.take(recent, RuleRecentUsed)
}

func (s *Scheduler) recentWouldDo(p *Placement, target, recent, tested int) bool {
	if recent == p.Prev || recent == target {
		return false
	}
	if !s.SharesCache(recent, target) {
		s.note(recent, RuleRecentUsed, VerdictOtherLLC)
		return false
	}
	refused := VerdictTaken
	switch {
	case !s.usable(p.Task, recent):
		refused = VerdictBusy
	case !p.Task.allowed.Has(tested):
		refused = VerdictNotAllowed
	}
	if refused != VerdictTaken {
		s.note(recent, RuleRecentUsed, refused)
		s.sisStats(p).SISRecentMiss++
		return false
	}
	s.sisStats(p).SISRecentHit++
	return true
}

// trySiblings takes the first usable SMT sibling of a CPU. Every sibling that
// is looked at counts as scanned, whatever its affinity.
func (s *Scheduler) trySiblings(p *Placement, of, target int) int {
	stats, span := s.sisStats(p), s.rqs[target].llc.Span
	for _, sibling := range s.scratch.siblings[of] {
		cpu := int(sibling)
		if cpu == of && s.profile.Wake.siblingsSkipSelf {
			continue
		}
		stats.SISScanned++
		s.work.SiblingProbes++
		if s.lines != nil {
			s.lookAt(p.Here, cpu)
		}
		switch {
		case !p.Task.allowed.Has(cpu):
			s.note(cpu, RuleSiblingIdle, VerdictNotAllowed)
		case !span.Has(cpu):
			s.note(cpu, RuleSiblingIdle, VerdictOtherLLC)
		case s.try(p.Task, cpu, RuleSiblingIdle):
			return cpu
		}
	}
	return noCPU
}

// nothingUsable ends a search in vain: the wakee waits at the target.
func (s *Scheduler) nothingUsable(p *Placement, target int) int {
	s.sisStats(p).SISFailed++
	return s.settle(target, RuleTarget)
}

// searchThreeTimes is the search of v4.14 and v5.10. Each part starts at the
// target, which is known to be busy.
func (s *Scheduler) searchThreeTimes(p *Placement, target int) int {
	if s.rqs[target].llc == nil {
		return s.settle(target, RuleNoLLC)
	}
	s.sisStats(p).SISDomainSearch++
	if s.scratch.smt && s.hasIdleCores(target) {
		if core, _ := s.searchIdleCore(p, p.Task.allowed, target, target); core != noCPU {
			return core
		}
	}
	if cpu := s.scanByAvgIdle(p, target); cpu != noCPU {
		return cpu
	}
	if s.scratch.smt {
		if cpu := s.trySiblings(p, target, target); cpu != noCPU {
			return cpu
		}
	}
	return s.nothingUsable(p, target)
}

// searchInside searches the target's cache as the kernel does, or as SIS_CORE
// does.
func (s *Scheduler) searchInside(p *Placement, target int, wantCore bool) int {
	if s.variants.core {
		return s.searchRecorded(p, target, wantCore)
	}
	return s.searchOnce(p, target, wantCore)
}

// searchOnce is select_idle_cpu of v5.17 and v6.1: a search for an idle core,
// which has no budget but may end with a single usable CPU that it came across,
// or a scan for any usable CPU. Both start behind the target.
func (s *Scheduler) searchOnce(p *Placement, target int, wantCore bool) int {
	waker := &s.rqs[p.Here]
	if waker.llc == nil {
		return noCPU
	}
	view := scanView{p.Task.allowed, unlimited}
	if s.variants.filter != nil {
		var worthwhile bool
		if view, worthwhile = s.variants.filter(s, p, target, wantCore); !worthwhile {
			s.noteBudget(0)
			return noCPU
		}
	}
	tests := view.limit
	measured := s.features.Has(SISProp) && !wantCore
	if measured {
		s.decayWakeAvgIdle(waker)
		tests = proportionalTests(waker, s.rqs[target].llc.SpanWeight, waker.wakeAvgIdle)
	}
	if shared := s.rqs[target].llcShared; s.features.Has(SISUtil) && shared != nil {
		tests = int(shared.NrIdleScan)
		if tests == 0 { // also with an idle core in sight
			s.noteBudget(0)
			return noCPU
		}
	}
	if wantCore {
		s.noteBudget(unlimited)
		core, single := s.searchIdleCore(p, view.set, target, target+1)
		if core == noCPU && single != noCPU {
			return s.settle(single, RuleIdleCPU)
		}
		return core
	}
	mark := s.spent()
	scan := s.scan(p, view.set, target, target+1, tests)
	if scan.cutOff {
		return noCPU // and the statistics stay as they were
	}
	if measured {
		took := s.elapsed(mark)
		waker.wakeAvgIdle -= min(waker.wakeAvgIdle, took)
		waker.llc.learnScanCost(took)
	}
	return scan.cpu
}

// scanByAvgIdle is select_idle_cpu of v4.14 and v5.10.
func (s *Scheduler) scanByAvgIdle(p *Placement, target int) int {
	waker := &s.rqs[p.Here]
	if waker.llc == nil {
		return noCPU
	}
	// The kernel found the plain average far too generous.
	avgIdle := waker.avgIdle / 512
	if s.features.Has(SISAvgCPU) && avgIdle < waker.scanCost() {
		s.noteBudget(0)
		return noCPU
	}
	tests := unlimited
	if s.features.Has(SISProp) {
		tests = proportionalTests(waker, s.rqs[target].llc.SpanWeight, avgIdle)
	}
	mark := s.spent()
	scan := s.scan(p, p.Task.allowed, target, target, tests)
	if scan.cutOff {
		return noCPU
	}
	waker.llc.learnScanCost(s.elapsed(mark))
	return scan.cpu
}

// unlimited is a scan without a budget.
const unlimited = math.MaxInt

// proportionalTests is SIS_PROP: the scan may take as long as the waker's CPU
// is idle on average, spread over the cache, but at least a budget of four. A
// budget counts down before each test, so one CPU fewer is tested.
func proportionalTests(waker *runqueue, spanWeight int, avgIdle int64) int {
	idle, cost := int64(spanWeight)*avgIdle, waker.scanCost()
	budget := int64(4)
	if idle > 4*cost {
		budget = idle / cost
	}
	return int(budget - 1)
}

// scanCost is what one scan has cost on average, never zero.
func (rq *runqueue) scanCost() int64 { return rq.llc.avgScanCost + 1 }

// learnScanCost moves the average an eighth of the way to a new sample.
func (d *Domain) learnScanCost(took int64) { d.avgScanCost += (took - d.avgScanCost) / 8 }

// decayWakeAvgIdle halves the idle time that wakeups may spend on scans once
// for every jiffy since the CPU was last woken from idle.
func (s *Scheduler) decayWakeAvgIdle(rq *runqueue) {
	for rq.wakeStamp < s.jiffies && rq.wakeAvgIdle > 0 {
		rq.wakeStamp++
		rq.wakeAvgIdle >>= 1
	}
}

// searchIdleCore looks for a core whose siblings are all idle; a failure takes
// the hint back that there is one. single is a usable CPU met on the way, for
// versions that remember one.
func (s *Scheduler) searchIdleCore(p *Placement, set machine.CPUMask, target, from int) (core, single int) {
	stats := s.sisStats(p)
	stats.SISCoreSearch++
	found := s.findIdleCore(p.Task, set, target, from)
	stats.SISScanned += int64(found.visited)
	s.work.SiblingProbes += int64(found.visited)
	if found.core != noCPU {
		return s.settle(found.core, RuleIdleCore), noCPU
	}
	stats.SISCoreMiss++
	s.forgetIdleCores(target)
	return noCPU, found.single
}

// scan looks for a usable CPU in the target's cache and counts the tests.
func (s *Scheduler) scan(p *Placement, set machine.CPUMask, target, from, tests int) scanResult {
	s.noteBudget(tests)
	found := s.findUsable(p.Task, set, target, from, tests)
	s.sisStats(p).SISScanned += int64(found.tested)
	s.work.Probes += int64(found.tested)
	if s.lines != nil {
		s.lookAtTested(p.Here, set, target, from, found.tested)
	}
	if found.cpu != noCPU {
		s.settle(found.cpu, RuleIdleCPU)
	}
	return found
}
