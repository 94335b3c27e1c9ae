package sched

import "github.com/schedlab/schedlab/machine"

// How a task that becomes runnable gets its CPU (mechanisms.md 6 and 7).
//
// Two CPUs are special for a wakeup: the one where the waker runs ("here") and
// the one where the wakee last ran ("prev"). The choice is made in two stages.
//
//  1. Which of the two attracts the wakee, the target? Staying near the waker
//     helps tasks that exchange data; staying at prev keeps the wakee's cache.
//     wake_wide (this file) refuses to follow a waker with many wakees,
//     wake_affine (affine.go) weighs the two CPUs.
//  2. Is there an idle CPU near the target? select_idle_sibling
//     (idlesibling.go) tries a few likely CPUs, then searches the target's
//     last-level cache within a budget. Without success the wakee goes to the
//     target and waits there.
//
// Forks and execs have no cache worth staying for. They take the slow path
// (idlest.go), which descends from the widest domain to the idlest CPU.
//
// What differs between kernel versions is data: wakeRules at the end of this
// file, slowPathRules in idlest.go.
// Asymmetric CPU capacities and energy-aware placement are left out: every
// rule here is the one for symmetric machines.

// selectCPU chooses the CPU of a task that is woken, forked or execs
// [select_task_rq]. A task that may use only one CPU is not placed at all: it
// counts neither as a search nor in its waker's wakee_flips.
func (s *Scheduler) selectCPU(t *Task, prev, here int, kind Kind, sync bool) int {
	p := &s.scratch.request
	*p = Placement{Task: t, Prev: prev, Here: here, Kind: kind, Sync: sync}
	s.beginDecision(p)
	if s.observer != nil {
		s.observer.PlacementBegins(p)
	}
	var cpu int
	switch {
	case t.nAllowed <= 1:
		cpu = s.settle(t.allowed.First(), RulePinned)
	case s.custom != nil:
		cpu = s.customPlacement(p)
	default:
		cpu = s.KernelPlacement(p)
	}
	cpu = s.legalCPU(t, cpu)
	s.endDecision(cpu)
	if s.observer != nil {
		s.observer.PlacementEnds(p, cpu)
	}
	return cpu
}

// KernelPlacement returns the CPU that the profile's own rules choose
// [select_task_rq_fair]. A [PlacementRule] calls it for the cases that it
// leaves to the kernel, at most once per placement: like the kernel it updates
// wakee_flips, recent_used_cpu, scan costs and counters. The result may be
// outside the task's affinity; the caller of the rule mends that.
func (s *Scheduler) KernelPlacement(p *Placement) int {
	if place := s.variants.place; place != nil {
		return place(s, p)
	}
	wantAffine := false
	if p.Kind == KindWake {
		waker := s.waker(p.Here)
		s.recordWakee(waker, p.Task)
		if p.StayHere && p.Task.allowed.Has(p.Here) {
			return s.settle(p.Here, RuleStayHere)
		}
		wantAffine = s.followsWaker(waker, p)
	}

	target := p.Prev
	var slowPath *Domain
	flag := kindFlags[p.Kind]
	for d := s.rqs[p.Here].sd; d != nil; d = d.Parent {
		s.work.DomainSteps++
		if wantAffine && d.has(FlagWakeAffine) && d.Span.Has(p.Prev) {
			if p.Here != p.Prev {
				target = s.wakeAffine(d, p)
			}
			slowPath = nil // wake_affine goes before the balance flags
			break
		}
		if d.has(flag) {
			slowPath = d
		} else if !wantAffine {
			break
		}
	}

	if slowPath != nil {
		return s.placeByDescent(slowPath, p)
	}
	if p.Kind != KindWake {
		return s.settle(target, RuleSlowLocal)
	}
	cpu := s.selectIdleSibling(p, target)
	if wantAffine && s.profile.Wake.wakerMarksHere {
		s.waker(p.Here).recentUsed = int32(p.Here)
	}
	return cpu
}

// kindFlags are the domain flags that send each kind of placement down the
// slow path. Mainline sets BALANCE_WAKE nowhere.
var kindFlags = [...]DomainFlag{KindWake: FlagBalanceWake, KindFork: FlagBalanceFork, KindExec: FlagBalanceExec}

// waker returns the task that counts as the waker on a CPU: the running one,
// also when an interrupt does the work, or the CPU's idle task.
func (s *Scheduler) waker(here int) *Task {
	if curr := s.rqs[here].curr; curr != nil {
		return curr
	}
	return &s.scratch.idleTasks[here]
}

// recordWakee counts in wakee_flips how often a waker turns to another wakee.
// The count is halved when the last halving is over a second old, once however
// long ago that was (mechanisms.md 6.3).
func (s *Scheduler) recordWakee(waker, wakee *Task) {
	if s.jiffies > waker.flipDecay+s.hz {
		waker.flips >>= 1
		waker.flipDecay = s.jiffies
	}
	if waker.lastWakee != wakee {
		waker.lastWakee = wakee
		waker.flips++
	}
}

// followsWaker reports whether the wakee may be drawn towards its waker.
func (s *Scheduler) followsWaker(waker *Task, p *Placement) bool {
	switch {
	case wakeWide(waker.flips, p.Task.flips, s.rqs[p.Here].llcSize):
		s.noteAffine(AffineWide)
	case !p.Task.allowed.Has(p.Here):
		s.noteAffine(AffineNotAllowed)
	default:
		return true
	}
	return false
}

// wakeWide reports whether waker and wakee belong to a crowd: one that wakes
// so many tasks, each of which wakes many itself, that they would not fit into
// one last-level cache anyway. Such wakees stay where they were.
func wakeWide(wakerFlips, wakeeFlips, llcSize int32) bool {
	lo, hi := int64(min(wakerFlips, wakeeFlips)), int64(max(wakerFlips, wakeeFlips))
	size := int64(llcSize)
	return lo >= size && hi >= lo*size
}

// legalCPU replaces a choice that the task may not use or that is not online:
// by the first CPU that it may use on the node where it was, else anywhere
// [select_fallback_rq]. A task without any such CPU gets the first online one.
func (s *Scheduler) legalCPU(t *Task, cpu int) int {
	if t.allowed.Has(cpu) && s.online.Has(cpu) {
		return cpu
	}
	fallback := s.fallbackCPU(t)
	s.note(fallback, RuleFallback, VerdictTaken)
	return s.settle(fallback, RuleFallback)
}

func (s *Scheduler) fallbackCPU(t *Task) int {
	if node := s.scratch.nodeOf[t.cpu]; node >= 0 {
		if cpu := firstInBoth(t.allowed, s.machine.Nodes[node].CPUs); cpu != noCPU {
			return cpu
		}
	}
	if cpu := firstInBoth(t.allowed, s.online); cpu != noCPU {
		return cpu
	}
	return s.online.First()
}

// firstInBoth returns the lowest CPU that both sets hold, or noCPU.
func firstInBoth(a, b machine.CPUMask) int {
	for cpu := a.First(); cpu >= 0; cpu = a.Next(cpu + 1) {
		if b.Has(cpu) {
			return cpu
		}
	}
	return noCPU
}

// InInterrupt tells the scheduler whether the wakeups to come are made by an
// interrupt handler instead of the running task. Only the rule that lets a
// wakee stack on a per-CPU kernel thread asks (mechanisms.md 6.5 step 3).
func (s *Scheduler) InInterrupt(on bool) { s.scratch.inInterrupt = on }

// wakeRules says how a kernel version places wakeups. Each field is a variant
// that the named file describes.
type wakeRules struct {
	// place is the whole of the choice, where it differs: then idleSibling and
	// affine are what it uses; nil: what this file says.
	place placeRule

	affine      affineRule      // affine.go
	idleSibling idleSiblingRule // idlesibling.go
	recent      recentRule      // idlesibling.go; nil before v4.16
	coreIdle    coreRule        // idlescan.go

	// affineCountsPrev: a wake_affine that decides for prev counts as an
	// affine move, too.
	affineCountsPrev bool
	// wakerMarksHere: after waking a task that could have been drawn to it, the
	// waker's own recent_used_cpu becomes the CPU it runs on.
	wakerMarksHere bool
	// takesSchedIdle: a CPU that runs only idle-class tasks is as good as an
	// idle one (v5.4).
	takesSchedIdle bool
	// idleTasksWait: but not for a wakee that is SCHED_IDLE itself (v7.2).
	idleTasksWait bool
	// budgetCountsDisallowed: the scan walks the whole cache domain, and CPUs
	// outside the wakee's affinity use up its budget.
	budgetCountsDisallowed bool
	// coreStopsAtBusy: in the search for an idle core the first busy sibling
	// settles that a core is not idle, always.
	coreStopsAtBusy bool
	// siblingsSkipSelf: the SMT check leaves out the CPU whose siblings it
	// looks at.
	siblingsSkipSelf bool

	// remembersCaches: balance passes note what affineByCaches compares.
	remembersCaches bool

	queueRemotely remoteRule // remotequeue.go
}

// placeRule chooses a CPU for any kind of placement.
type placeRule func(s *Scheduler, p *Placement) int

var wake38 = wakeRules{
	place:         placeByWalk38,
	affine:        affine38,
	idleSibling:   idleSibling38,
	coreIdle:      coreIdle414,
	queueRemotely: queueToOtherCache,
}

// wake32 differs from v3.8 in that every wakee of another CPU is queued by that
// CPU [M: commit 518cd6234178].
var wake32 = func() wakeRules {
	r := wake38
	r.queueRemotely = queueToOtherCPU
	return r
}()

var wake414 = wakeRules{
	affine:                 affine414,
	idleSibling:            idleSibling414,
	coreIdle:               coreIdle414,
	budgetCountsDisallowed: true,
	queueRemotely:          queueToOtherCache,
}

var wake413numa = wakeRules{
	affine:                 affineByNodes,
	idleSibling:            idleSibling414,
	coreIdle:               coreIdle414,
	budgetCountsDisallowed: true,
	queueRemotely:          queueToOtherCache,
}

var wake414numa = func() wakeRules {
	r := wake413numa
	r.affine, r.remembersCaches = affineByCaches, true
	return r
}()

var wake510 = wakeRules{
	affine:           affine510,
	idleSibling:      idleSibling510,
	recent:           recentKeptUntilUsed,
	coreIdle:         coreIdle510,
	coreStopsAtBusy:  true,
	affineCountsPrev: true,
	wakerMarksHere:   true,
	takesSchedIdle:   true,
	queueRemotely:    queueToOtherCacheOrSwitching,
}

var wake517 = wakeRules{
	affine:           affine517,
	idleSibling:      idleSibling517,
	recent:           recentRotatedSlip,
	coreIdle:         coreIdle517,
	affineCountsPrev: true,
	takesSchedIdle:   true,
	queueRemotely:    queueToOtherCacheOrSwitching,
}

var wake61 = wakeRules{
	affine:           affine517,
	idleSibling:      idleSibling517,
	recent:           recentRotated,
	coreIdle:         coreIdle517,
	takesSchedIdle:   true,
	siblingsSkipSelf: true,
	queueRemotely:    queueToOtherCacheOrEmpty,
}

// wake612 is v6.12: clusters (cluster.go) and, in affine.go, what delayed tasks
// mean for a sync waker. The rest is v6.1.
var wake612 = wakeRules{
	affine:           affine517,
	idleSibling:      idleSiblingOfClusters,
	recent:           recentRotated,
	coreIdle:         coreIdle517,
	takesSchedIdle:   true,
	siblingsSkipSelf: true,
	queueRemotely:    queueToOtherCacheOrEmpty,
}

var wake72 = func() wakeRules {
	r := wake612
	r.idleTasksWait = true
	return r
}()
