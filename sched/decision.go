package sched

import "math"

// Kind says why a task is being placed.
type Kind uint8

// The placement kinds (mechanisms.md 6.1).
const (
	KindWake Kind = iota
	KindFork
	KindExec
)

// String returns the word used in reports.
func (k Kind) String() string { return [...]string{"wake", "fork", "exec"}[k] }

// Rule names the rule that decided a placement.
type Rule uint8

// Rules, in the order in which the wakeup path meets them. Why each one fires
// is documented where it is applied: affine.go, idlesibling.go, idlest.go.
const (
	RuleNone Rule = iota
	RulePinned
	RuleCustom
	RuleTargetIdle
	RulePrevIdle
	RuleKthreadStacked
	RuleRecentUsed
	RuleNoLLC
	RuleSiblingIdle
	RuleIdleCore
	RuleIdleCPU
	RuleTarget
	RuleSlowLocal
	RuleSlowIdlest
	RuleStayHere
	RuleFallback // the rule's choice was not allowed or not online
	RuleNoAffine // v3.8: no affine domain holds both CPUs, or the map has no entry: prev
	RuleMapPrev  // the balance map found no idle CPU near either: prev
	numRules
)

var ruleNames = [numRules]string{
	"none", "pinned", "custom rule", "target idle", "prev idle", "per-CPU kthread stacked",
	"recent_used_cpu idle", "no LLC", "SMT sibling idle", "idle core", "idle CPU",
	"nothing idle: target", "slow path: stay local", "slow path: idlest CPU", "asked to stay here", "fallback",
	"no affine domain: previous CPU", "balance map: previous CPU",
}

// String returns a short phrase for reports.
func (r Rule) String() string { return ruleNames[r] }

// Verdict says what the test of one candidate CPU gave.
type Verdict uint8

// Verdicts on a candidate.
const (
	VerdictTaken Verdict = iota
	VerdictBusy
	VerdictNotAllowed
	VerdictOtherLLC
	VerdictCoreBusy
	VerdictBudget   // the scan budget ran out before this CPU was tested
	VerdictNotBest  // would do, but another was better
	VerdictFiltered // the SIS filter leaves it out
	VerdictOtherCluster
)

var verdictNames = [...]string{"taken", "busy", "not allowed", "other LLC", "core busy", "budget exhausted", "not the best",
	"filtered out", "other cluster"}

// String returns a short phrase for reports.
func (v Verdict) String() string { return verdictNames[v] }

// Candidate is one CPU that a placement looked at, in order.
type Candidate struct {
	CPU     int32
	Step    Rule // the rule that tested it
	Verdict Verdict
}

// AffineReason says what wake_affine decided by.
type AffineReason uint8

// Outcomes of wake_affine (mechanisms.md 6.4).
const (
	AffineNotAsked AffineReason = iota // waker and previous CPU are the same, or no common domain
	AffineWide                         // wake_wide said no
	AffineNotAllowed
	AffineIdleHere
	AffineIdlePrev
	AffineSync
	AffineWeight
	AffineNode
	AffineCache
	AffineUndecided
	AffineBalanced     // v3.8: the loads would stay balanced
	AffineSyncBalanced // the same, asked by a waker that is about to sleep
	AffineLight        // v3.8: both CPUs together have less than an average task
)

var affineNames = [...]string{
	"not asked", "wide wakee set", "waker's CPU not allowed", "WA_IDLE: waker's CPU idle",
	"WA_IDLE: previous CPU idle", "WA_IDLE: sync and waker alone", "WA_WEIGHT", "node loads", "shared cache", "undecided: previous CPU",
	"loads balanced", "loads balanced, waker about to sleep", "both CPUs lightly loaded",
}

// String returns a short phrase for reports.
func (a AffineReason) String() string { return affineNames[a] }

// Decision is the record of one placement, filled when [Scheduler.Record] has
// been given one; recording is off (and free) otherwise.
type Decision struct {
	Kind       Kind
	Task       int32
	Here, Prev int32
	Sync       bool
	Affine     AffineReason
	Target     int32 // where the idle search started; Prev when there was none
	Budget     int32 // CPUs the domain scan might test; 0 = no scan, -1 = unlimited
	Rule       Rule
	CPU        int32 // the result
	Candidates []Candidate
}

// Record makes the scheduler fill d at every placement until Record(nil). The
// candidate list is reused from call to call.
func (s *Scheduler) Record(d *Decision) { s.decision = d }

// The functions below fill the record in progress; without one they cost a
// comparison.

func (s *Scheduler) beginDecision(p *Placement) {
	d := s.decision
	if d == nil {
		return
	}
	*d = Decision{
		Kind: p.Kind, Task: p.Task.ID, Here: int32(p.Here), Prev: int32(p.Prev), Sync: p.Sync,
		Target: int32(p.Prev), CPU: noCPU, Candidates: d.Candidates[:0],
	}
}

func (s *Scheduler) endDecision(cpu int) {
	if s.decision != nil {
		s.decision.CPU = int32(cpu)
	}
}

// note adds a candidate.
func (s *Scheduler) note(cpu int, step Rule, v Verdict) {
	if s.decision != nil {
		s.decision.Candidates = append(s.decision.Candidates, Candidate{int32(cpu), step, v})
	}
}

// settle notes which rule chose cpu, and returns cpu.
func (s *Scheduler) settle(cpu int, by Rule) int {
	if s.decision != nil {
		s.decision.Rule, s.decision.CPU = by, int32(cpu)
	}
	return cpu
}

func (s *Scheduler) noteAffine(why AffineReason) {
	if s.decision != nil {
		s.decision.Affine = why
	}
}

func (s *Scheduler) noteBudget(tests int) {
	if s.decision == nil {
		return
	}
	s.decision.Budget = -1
	if tests != unlimited {
		s.decision.Budget = int32(min(tests, math.MaxInt32))
	}
}

// ScannedThrough reports whether the placement scanned a cache for usable CPUs
// and ended before its budget did: then the kernel learns what the scan cost.
func (d *Decision) ScannedThrough() bool {
	scanned := false
	for _, c := range d.Candidates {
		if c.Step != RuleIdleCPU {
			continue
		}
		if c.Verdict == VerdictBudget {
			return false
		}
		scanned = true
	}
	return scanned
}
