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
	PassCauseDelayed:  "unknown state: a blocked task still queued (DELAY_DEQUEUE)",
	PassCauseVerdict:  "a verdict on one of the tasks differs",
	PassCauseAmount:   "unknown state: load averages (how much to move)",
	PassCauseAverages: "unknown state: load averages (how busy the groups are)",
	PassCauseCount:    "not told apart: a CPU between idle and busy, or a rule we lack",
	PassCauseRule:     "a rule we lack",
}

// String returns the cause as it is printed.
func (c PassCause) String() string { return passCauseNames[c] }

// passCause looks for the cause of a disagreement. The suppositions are tried in
// the state behind the pass, which is that before it unless tasks were moved;
// so the queues of moved tasks are tried as they are, too.
func (r *replay) passCause(p *openPass) PassCause {
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
		{PassCauseCount, sched.SupposeDestIdle},
		{PassCauseCount, sched.SupposeSourceMore},
	}
	trialsNone = []passTrial{
		{PassCauseAverages, sched.SupposeSourceLight},
		{PassCauseAverages, sched.SupposeSourceHeavy},
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
