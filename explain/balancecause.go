package explain

import "github.com/schedlab/schedlab/sched"

// PassCause says why the model would have made a pass otherwise. Like [Cause]
// it is a possibility, found by trial in this order, not a proof.
type PassCause uint8

// The causes.
const (
	PassCauseNone PassCause = iota
	PassCauseChanged
	PassCauseDelayed
	PassCauseVerdict
	PassCauseAmount
	PassCauseAverages
	PassCauseCount
	PassCauseRule
	numPassCauses
)

var passCauseNames = [numPassCauses]string{
	PassCauseNone:     "none",
	PassCauseChanged:  "race: other CPUs changed the queues during the pass",
	PassCauseDelayed:  "unknown state: a task that the model holds for asleep",
	PassCauseVerdict:  "a verdict on one of the tasks differs",
	PassCauseAmount:   "unknown state: load averages (how much to move)",
	PassCauseAverages: "unknown state: load averages (how busy the groups are)",
	PassCauseCount:    "not told apart: a CPU between idle and busy, or a rule we lack",
	PassCauseRule:     "a rule we lack",
}

// String returns the cause as it is printed.
func (c PassCause) String() string { return passCauseNames[c] }

// cause tells the cause of a disagreement when the pass is over.
func (p *openPass) cause() PassCause {
	switch {
	case p.changed:
		return PassCauseChanged
	case p.delayed:
		return PassCauseDelayed
	case p.otherVerdict:
		return PassCauseVerdict
	case p.Shown && p.Source == p.Model.Source && p.Move == p.Model.Move:
		return PassCauseAmount
	}
	return p.supposed
}

// passTrial is one attempt to explain a pass.
type passTrial struct {
	cause PassCause
	what  sched.PassSupposition
}

// The trials for a kernel that moved something and for one that did not.
var (
	trialsMoves = []passTrial{
		{PassCauseAverages, sched.SupposeSourceHeavy},
		{PassCauseAverages, sched.SupposeSourceLight},
		{PassCauseAverages, sched.SupposeSourceLoaded},
		{PassCauseCount, sched.SupposeDestIdle},
		{PassCauseCount, sched.SupposeSourceMore},
	}
	trialsNone = []passTrial{
		{PassCauseAverages, sched.SupposeSourceLight},
		{PassCauseAverages, sched.SupposeSourceHeavy},
		{PassCauseAverages, sched.SupposeSourceUnloaded},
		{PassCauseCount, sched.SupposeDestBusy},
		{PassCauseCount, sched.SupposeSourceLess},
	}
)

// supposePass finds, in the state at the beginning of a pass, what would turn
// the model's answer into the opposite. Only passes that may become
// disagreements need it, and that is known at the end; so it is asked of all in
// which the model moves something, and of the others when the kernel moves its
// first task.
func (r *replay) supposePass(p *openPass, kernelMoves bool) PassCause {
	trials, source := trialsNone, p.Model.Source
	if kernelMoves {
		trials, source = trialsMoves, p.Source
	}
	for _, t := range trials {
		if (len(r.f.SupposePass(&p.question, t.what, source).Moved) > 0) == kernelMoves {
			return t.cause
		}
	}
	return PassCauseRule
}

// VerdictCause says why the model judges a task otherwise than the kernel.
type VerdictCause uint8

// The causes.
const (
	VerdictCauseNone VerdictCause = iota
	VerdictCauseAffinity
	VerdictCauseThrottling
	VerdictCauseDelayed
	VerdictCauseEligible
	VerdictCauseHeat
	VerdictCauseRule
	numVerdictCauses
)

var verdictCauseNames = [numVerdictCauses]string{
	VerdictCauseNone:       "none",
	VerdictCauseAffinity:   "unknown state: affinity",
	VerdictCauseThrottling: "unknown state: throttling",
	VerdictCauseDelayed:    "unknown state: a task that the model holds for asleep",
	VerdictCauseEligible:   "unknown state: virtual times (eligibility)",
	VerdictCauseHeat:       "unknown state: when the task ran last (cache heat)",
	VerdictCauseRule:       "a race with a switch, or a rule we lack",
}

// String returns the cause as it is printed.
func (c VerdictCause) String() string { return verdictCauseNames[c] }

// verdictCause names the state that the answer of one of both depends on. For a
// refusal of the model that is its reason; for one of the kernel it is the first
// of the reasons that it can have had, the most frequent one being tried first.
func (r *replay) verdictCause(v *openVerdict) VerdictCause {
	switch v.reason {
	case sched.RefusedPinned:
		return VerdictCauseAffinity
	case sched.RefusedThrottled:
		return VerdictCauseThrottling
	case sched.RefusedDelayed:
		return VerdictCauseDelayed
	case sched.RefusedIneligible:
		return VerdictCauseEligible
	case sched.RefusedHot:
		return VerdictCauseHeat
	case sched.NotRefused:
	default:
		return VerdictCauseRule
	}
	switch {
	case v.who.boundTo != 0:
		return VerdictCauseAffinity
	case r.f.MayBeIneligible(&v.ask):
		return VerdictCauseEligible
	case r.underQuota(v.who):
		return VerdictCauseThrottling
	case r.f.MayBeHot(&v.ask):
		return VerdictCauseHeat
	}
	return VerdictCauseRule
}

// underQuota reports whether a group of the task has limited CPU time.
func (r *replay) underQuota(k *task) bool {
	for g := k.Group(); g != nil; g = g.Parent() {
		if r.groups.quota[g] {
			return true
		}
	}
	return false
}
