package explain

import "github.com/schedlab/schedlab/sched"

// Cause says why the model disagrees with the kernel.
//
// A cause is found by trial: which single piece of state, had it been
// different, would have made the model choose as the kernel did? State that
// the recording shows exactly (who runs where, who is queued) is not tried,
// except for a CPU that was just changing. If no piece of state explains the
// choice, a rule is missing.
//
// A cause is a possibility, not a proof: with many suppositions and few CPUs
// some choices can be explained by chance. docs/explain.md says how often made-up
// choices are.
type Cause uint8

// The causes, in the order in which they are tried.
const (
	CauseNone Cause = iota
	CauseIdleCores
	CauseScan
	CauseRecent
	CauseFlips
	CauseLoads
	CauseIdleSince
	CauseGroupLoads
	CauseSeveral
	CauseChanging
	CauseRace
	CauseRule
	numCauses
)

var causeNames = [numCauses]string{
	CauseNone:       "none",
	CauseIdleCores:  "unknown state: idle-core hint",
	CauseScan:       "unknown state: scan budget",
	CauseRecent:     "unknown state: recent_used_cpu",
	CauseFlips:      "unknown state: wakee_flips",
	CauseLoads:      "unknown state: load averages",
	CauseIdleSince:  "unknown state: since when CPUs idle",
	CauseGroupLoads: "unknown state: loads of CPU groups",
	CauseSeveral:    "unknown state: several",
	CauseChanging:   "not told apart: a CPU between idle and busy, or a rule we lack",
	CauseRace:       "race: two placements overlap",
	CauseRule:       "a rule we lack",
}

// String returns the cause as it is printed.
func (c Cause) String() string { return causeNames[c] }

// trial is one attempt to explain a choice.
type trial struct {
	cause Cause
	what  sched.Supposition
}

// findCause tries suppositions until one makes the model choose as the kernel
// did. The one that does is followed: what a search leaves behind, such as a
// rotated recent_used_cpu, is then what the kernel's search left.
func (r *replay) findCause(a *ask, chosen int) Cause {
	if r.result.Events != a.event+1 {
		// Other events came in between: the state is not the one that was asked.
		return r.findCauseLate(a, chosen)
	}
	var found Cause
	r.eachTrial(a, chosen, func(t trial) bool {
		r.f.Restore(&a.Question)
		if r.f.Suppose(&a.Question, t.what, nil) != chosen {
			return false
		}
		found = t.cause
		r.learn(a, chosen, &t)
		return true
	})
	if found != CauseNone {
		return found
	}
	r.f.Restore(&a.Question)
	r.f.Ask(&a.Question, nil)
	if a.overlaps {
		return CauseRace
	}
	return CauseRule
}

// findCauseLate is findCause without consequences for the model.
func (r *replay) findCauseLate(a *ask, chosen int) Cause {
	if a.overlaps {
		return CauseRace
	}
	q := a.Question
	r.f.Remember(&q)
	defer r.f.Restore(&q)
	found := CauseRule
	r.eachTrial(a, chosen, func(t trial) bool {
		r.f.Restore(&q)
		if r.f.Suppose(&q, t.what, nil) != chosen {
			return false
		}
		found = t.cause
		return true
	})
	return found
}

// learn keeps what a choice of the kernel tells about state that could not be
// known before.
func (r *replay) learn(a *ask, chosen int, t *trial) {
	switch t.cause {
	case CauseIdleSince:
		r.f.LearnIdleSince(chosen, a.predicted)
	case CauseScan:
		r.f.LearnScanCost(&a.Question, t.what.Scan)
	}
}

// eachTrial offers the suppositions in order until try is content.
func (r *replay) eachTrial(a *ask, chosen int, try func(trial) bool) {
	if a.Kind != sched.KindWake {
		r.eachSlowTrial(chosen, a, try)
		return
	}
	singles := r.singleTrials(a, chosen)
	for _, t := range singles {
		if try(t) {
			return
		}
	}
	// Pairs: one side of the loads, and anything else.
	for _, side := range [...]sched.LoadSide{sched.LoadsFavourHere, sched.LoadsFavourPrev} {
		for _, t := range singles {
			if t.cause == CauseLoads || t.cause == CauseChanging {
				continue
			}
			t.what.Loads, t.cause = side, CauseSeveral
			if try(t) {
				return
			}
		}
	}
	for _, t := range r.changingTrials(a, chosen) {
		if try(t) {
			return
		}
	}
}

// singleTrials lists suppositions about one piece of state.
func (r *replay) singleTrials(a *ask, chosen int) []trial {
	var out []trial
	add := func(cause Cause, change func(*sched.Supposition)) {
		t := trial{cause, sched.Nothing()}
		change(&t.what)
		out = append(out, t)
	}
	add(CauseLoads, func(s *sched.Supposition) { s.Loads = sched.LoadsFavourPrev })
	add(CauseLoads, func(s *sched.Supposition) { s.Loads = sched.LoadsFavourHere })
	for i := range 2 {
		add(CauseIdleCores, func(s *sched.Supposition) { s.IdleCores[i] = true })
	}
	for _, n := range r.otherBudgets(a) {
		add(CauseScan, func(s *sched.Supposition) { s.Scan = n })
		for i := range 2 {
			add(CauseSeveral, func(s *sched.Supposition) { s.Scan, s.IdleCores[i] = n, true })
		}
	}
	add(CauseRecent, func(s *sched.Supposition) { s.Recent = int32(chosen) })
	add(CauseRecent, func(s *sched.Supposition) { s.Recent = int32(a.Prev) })
	add(CauseFlips, func(s *sched.Supposition) { s.Wide = 1 })
	add(CauseFlips, func(s *sched.Supposition) { s.Wide = 0 })
	return out
}

// otherBudgets lists the scan budgets that are not the present one, the nearest
// first.
func (r *replay) otherBudgets(a *ask) []int32 {
	now, most := r.f.ScanBudget(a.Prev), r.f.LLCSize(a.Prev)
	var out []int32
	if r.features.Has(sched.SISProp) {
		out = append(out, most) // the budget is computed at each scan
		now = most
	}
	for d := int32(1); d <= most; d++ {
		if now+d <= most {
			out = append(out, now+d)
		}
		if now-d >= 0 {
			out = append(out, now-d)
		}
	}
	return out
}

// changingTrials lists suppositions about CPUs that were just falling idle or
// becoming busy.
func (r *replay) changingTrials(a *ask, chosen int) []trial {
	busy, idle := sched.Nothing(), sched.Nothing()
	busy.Busy = int32(a.predicted)
	idle.Idle = int32(chosen)
	both := busy
	both.Idle = int32(chosen)
	out := []trial{{CauseChanging, busy}, {CauseChanging, idle}, {CauseChanging, both}}
	if a.overlaps {
		for i := range out {
			out[i].cause = CauseRace
		}
	}
	return out
}

// eachSlowTrial offers suppositions about the slow path.
func (r *replay) eachSlowTrial(chosen int, a *ask, try func(trial) bool) {
	fresh, light := sched.Nothing(), sched.Nothing()
	fresh.Freshest = int32(chosen)
	light.Lightest = int32(chosen)
	both := fresh
	both.Lightest = int32(chosen)
	for _, t := range []trial{{CauseIdleSince, fresh}, {CauseGroupLoads, light}, {CauseGroupLoads, both}} {
		if try(t) {
			return
		}
	}
	for _, t := range r.changingTrials(a, chosen) {
		if try(t) {
			return
		}
	}
}
