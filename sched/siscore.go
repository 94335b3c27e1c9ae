package sched

import (
	"math/bits"

	"github.com/schedlab/schedlab/machine"
)

// SIS_CORE (PATCH v6, mechanisms.md 10.4) turns the filter round: a cache's
// mask holds CPUs that went idle, one a core, and the search tests only these.
// Nobody takes a CPU out when it becomes busy; failed searches do.
//
// The patch was made for kernels with SIS_UTIL. Here it stands on v5.17-tip:
// budgets are those of SIS_PROP, and the check of prev's siblings that goes
// before the search is that of the base. Without SMT it changes only the
// bookkeeping of scans that run out of budget.

// IdleMask is what a cache's shared record holds of its idle CPUs: at first
// all of them.
type IdleMask struct {
	CPUs machine.CPUMask
	Line SharedLine
}

// recordIdleCPU puts a CPU that goes idle into the mask unless a sibling
// stands there for the core.
func (s *Scheduler) recordIdleCPU(rq *runqueue) {
	if !s.scratch.smt || rq.llcShared == nil {
		return
	}
	m := &rq.llcShared.IdleCPUs
	s.readMask(&m.Line, rq, rq)
	if !m.CPUs.Intersects(s.cores[rq.cpu]) {
		s.writeMask(&m.Line, rq)
		m.CPUs.Set(int(rq.cpu))
	}
}

// searchRecorded is select_idle_cpu with SIS_CORE. A scan that fails makes the
// next one from the same target look at whole cores, because the mask names
// only one CPU of each.
func (s *Scheduler) searchRecorded(p *Placement, target int, wantCore bool) int {
	waker := &s.rqs[p.Here]
	if waker.llc == nil {
		return noCPU
	}
	tests := unlimited
	measured := s.features.Has(SISProp) && !wantCore
	if measured {
		s.decayWakeAvgIdle(waker)
		tests = proportionalTests(waker, s.rqs[target].llc.SpanWeight, waker.wakeAvgIdle)
	}
	mark := s.spent()
	var cpu int
	switch {
	case !s.scratch.smt:
		cpu = s.scan(p, p.Task.allowed, target, target+1, tests).cpu
	default:
		cpu = s.searchMask(p, target, tests, wantCore)
	}
	if measured {
		took := s.elapsed(mark)
		waker.wakeAvgIdle -= min(waker.wakeAvgIdle, took)
		waker.llc.learnScanCost(took)
	}
	return cpu
}

func (s *Scheduler) searchMask(p *Placement, target, tests int, wantCore bool) int {
	rq := &s.rqs[target]
	wholeCores := rq.scanCores
	rq.scanCores = false
	set := s.recordedIdle(p, target)
	switch {
	case wantCore:
		s.noteBudget(unlimited)
		return s.searchRecordedCores(p, set, target)
	case wholeCores:
		return s.scanRecordedCores(p, set, target, tests)
	}
	scan := s.scan(p, set, target, target+1, tests)
	if scan.cpu == noCPU {
		rq.scanCores = true
	}
	return scan.cpu
}

// recordedIdle is the wakee's affinity among the recorded CPUs of the target's
// cache.
func (s *Scheduler) recordedIdle(p *Placement, target int) machine.CPUMask {
	owner := &s.rqs[target]
	m := &owner.llcShared.IdleCPUs
	s.readMask(&m.Line, &s.rqs[p.Here], owner)
	set := s.scratch.filtered
	for _, w := range s.scratch.llcWords[target] {
		set[w.index] = m.CPUs[w.index] & p.Task.allowed[w.index]
	}
	return set
}

// searchRecordedCores looks for an idle core among those of the recorded CPUs;
// a core that several CPUs stand for is looked at for each. Failure empties
// the mask.
func (s *Scheduler) searchRecordedCores(p *Placement, set machine.CPUMask, target int) int {
	stats := s.sisStats(p)
	stats.SISCoreSearch++
	found := coreResult{core: noCPU, single: noCPU}
	for walk := wrapFrom(s.scratch.llcWords[target], target+1); walk.next() && found.core == noCPU; {
		for word := walk.bits & set[walk.index]; word != 0; word &= word - 1 {
			cpu := walk.index<<6 + bits.TrailingZeros64(word)
			if s.visitCore(p.Task, cpu, &found) {
				s.note(cpu, RuleIdleCore, VerdictTaken)
				found.core = cpu
				break
			}
			s.note(cpu, RuleIdleCore, VerdictCoreBusy)
		}
	}
	stats.SISScanned += int64(found.visited)
	s.work.SiblingProbes += int64(found.visited)
	if found.core != noCPU {
		return s.settle(found.core, RuleIdleCore)
	}
	stats.SISCoreMiss++
	s.forgetIdleCores(target)
	if found.single != noCPU {
		s.note(found.single, RuleIdleCPU, VerdictTaken)
		return s.settle(found.single, RuleIdleCPU)
	}
	m := &s.rqs[target].llcShared.IdleCPUs
	s.writeMask(&m.Line, &s.rqs[p.Here])
	clear(m.CPUs)
	return noCPU
}

// scanRecordedCores tests the recorded CPUs together with their siblings and
// takes those out of the mask whose whole core is busy.
func (s *Scheduler) scanRecordedCores(p *Placement, set machine.CPUMask, target, tests int) int {
	s.noteBudget(tests)
	m := &s.rqs[target].llcShared.IdleCPUs
	for walk := wrapFrom(s.scratch.llcWords[target], target+1); walk.next(); {
		for word := walk.bits & set[walk.index]; word != 0; word &= word - 1 {
			cpu := walk.index<<6 + bits.TrailingZeros64(word)
			if tests == 0 {
				s.note(cpu, RuleIdleCPU, VerdictBudget)
				s.rqs[target].scanCores = true
				return noCPU
			}
			tests--
			if usable := s.usableOnCore(p, cpu); usable != noCPU {
				return usable
			}
			s.writeMask(&m.Line, &s.rqs[p.Here])
			m.CPUs.Clear(cpu)
		}
	}
	return noCPU
}

// usableOnCore is the first usable CPU of a core that the wakee may use.
func (s *Scheduler) usableOnCore(p *Placement, core int) int {
	stats := s.sisStats(p)
	for _, sibling := range s.scratch.siblings[core] {
		cpu := int(sibling)
		stats.SISScanned++
		s.work.SiblingProbes++
		if !p.Task.allowed.Has(cpu) {
			s.note(cpu, RuleIdleCPU, VerdictNotAllowed)
		} else if s.try(p.Task, cpu, RuleIdleCPU) {
			return cpu
		}
	}
	return noCPU
}
