package sched

import "github.com/schedlab/schedlab/machine"

// The SIS filter (mechanisms.md 10.1): the CPUs of a last-level cache keep a
// mask of those among them that are overloaded, that is, have several normal
// tasks, and the idle search spends none of its budget on these.
//
// The mask is a line that all of them read at wakeups. So each CPU remembers
// what it last wrote and writes only changes, and looks for a change only at
// its tick and when it goes idle: a CPU that drops from two normal tasks to
// one stays in the mask until its next tick.

// OverloadMask is what a cache's shared record holds of its overloaded CPUs.
type OverloadMask struct {
	CPUs machine.CPUMask
	// Count is incremented and decremented with CPUs' bits. After domains have
	// been rebuilt it may differ from their number, and be negative: see Stale.
	Count int32
	// Stale is the number of CPUs that had already counted themselves when the
	// record was made. They will take back what this record never got
	// (mechanisms.md 10.5 example 9).
	Stale int32
	Line  SharedLine
}

// noteStale counts a CPU that joins a new record.
func (m *OverloadMask) noteStale(rq *runqueue) {
	if rq.overloaded {
		m.Stale++
	}
}

// overloadRules says what an overloaded CPU is and when it looks for a change.
type overloadRules struct {
	overloaded func(rq *runqueue) bool
	// idleTicks: also at ticks while the CPU idles.
	idleTicks bool
	// whenMoved: also when balancing has moved tasks, on both CPUs.
	whenMoved bool
}

// overloadRFC is RFC v1 and v2: only tasks of the fair class count.
var overloadRFC = overloadRules{overloaded: hasWaitingNormal}

// overloadV3 is PATCH v3: tasks of all classes count (mechanisms.md 10.4).
var overloadV3 = overloadRules{
	overloaded: func(rq *runqueue) bool { return rq.nr-rq.cfs.hIdle > 1 },
	idleTicks:  true,
	whenMoved:  true,
}

// normalTasks is how many of the CPU's fair tasks are not hierarchically idle.
func (rq *runqueue) normalTasks() int32 { return rq.cfs.h - rq.cfs.hIdle }

// hasWaitingNormal reports whether at least one normal task has to wait.
func hasWaitingNormal(rq *runqueue) bool { return rq.normalTasks() > 1 }

// updateOverloaded brings the mask up to date with one CPU. A CPU without a
// last-level cache to share leaves its own note as it is, too.
func (s *Scheduler) updateOverloaded(rq *runqueue) {
	overloaded := s.variants.overload.overloaded(rq)
	if overloaded == rq.overloaded || rq.llcShared == nil {
		return
	}
	m := &rq.llcShared.Overload
	s.writeMask(&m.Line, rq)
	if overloaded {
		m.CPUs.Set(int(rq.cpu))
		m.Count++
	} else {
		m.CPUs.Clear(int(rq.cpu))
		m.Count--
	}
	rq.overloaded = overloaded
	if s.observer != nil {
		s.observer.OverloadChanged(int(rq.cpu), overloaded)
	}
}

// noteMoved looks for a change on a CPU whose tasks balancing has moved.
func (s *Scheduler) noteMoved(rq *runqueue) {
	if v := s.variants.overload; v != nil && v.whenMoved {
		s.updateOverloaded(rq)
	}
}

// scanView is what a search may look at.
type scanView struct {
	set   machine.CPUMask // within the target's cache; more than the wakee's affinity is never in it
	limit int             // tests of a scan without SIS_PROP
}

// filterRule narrows the search of the target's cache, or reports that it is
// not worthwhile.
type filterRule func(s *Scheduler, p *Placement, target int, wantCore bool) (scanView, bool)

// filterRFCv1 leaves the overloaded CPUs out.
func filterRFCv1(s *Scheduler, p *Placement, target int, _ bool) (scanView, bool) {
	return s.leaveOverloadedOut(p, target, s.overloadNear(p, target)), true
}

// filterRFCv2 gives up when more than 15/16 of the cache's CPUs are
// overloaded, however few the wakee may use and whatever the hint of an idle
// core says.
func filterRFCv2(s *Scheduler, p *Placement, target int, _ bool) (scanView, bool) {
	m := s.overloadNear(p, target)
	weight := int32(s.rqs[target].llc.SpanWeight)
	if m.Count > weight-weight>>4 {
		return scanView{}, false
	}
	return s.leaveOverloadedOut(p, target, m), true
}

func (s *Scheduler) leaveOverloadedOut(p *Placement, target int, m *OverloadMask) scanView {
	if m.Count == 0 {
		return scanView{p.Task.allowed, unlimited}
	}
	return scanView{s.withoutOverloaded(p, target, m), unlimited}
}

// filterV3 gives up when all CPUs are overloaded, and takes back the hint of
// an idle core; without such a hint also when fewer than a sixteenth of what
// the wakee could use are not. A single overloaded CPU is not filtered out.
//
// The kernel computes that sixteenth in the variable of the scan budget, which
// keeps the value where SIS_PROP sets none: the scan then ends one CPU early.
func filterV3(s *Scheduler, p *Placement, target int, wantCore bool) (scanView, bool) {
	m := s.overloadNear(p, target)
	weight := int32(s.rqs[target].llc.SpanWeight)
	reachable := min(weight, p.Task.nAllowed)
	switch {
	case m.Count == weight:
		if wantCore {
			s.forgetIdleCores(target)
		}
		return scanView{}, false
	case !wantCore && weight-m.Count < reachable>>4:
		return scanView{}, false
	}
	view := scanView{p.Task.allowed, int(reachable) - 1}
	if m.Count > 1 {
		view.set = s.withoutOverloaded(p, target, m)
	}
	return view, true
}

// overloadNear reads the mask of the target's cache.
func (s *Scheduler) overloadNear(p *Placement, target int) *OverloadMask {
	owner := &s.rqs[target]
	m := &owner.llcShared.Overload
	s.readMask(&m.Line, &s.rqs[p.Here], owner)
	return m
}

// withoutOverloaded is the wakee's affinity within the target's cache but for
// the overloaded CPUs. The set is valid until the next one is made.
func (s *Scheduler) withoutOverloaded(p *Placement, target int, m *OverloadMask) machine.CPUMask {
	set := s.scratch.filtered
	for _, w := range s.scratch.llcWords[target] {
		set[w.index] = p.Task.allowed[w.index] &^ m.CPUs[w.index]
	}
	return set
}
