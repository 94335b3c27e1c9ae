package sched

// What load balancing makes of preferred caches (v7.2, mechanisms-modern.md
// 4.5; llcpref.go says whose they are).

// llcVerdict says whether a task may follow its preference, or leave it, when
// the use of the two caches is looked at.
type llcVerdict uint8

const (
	llcFree llcVerdict = iota // nothing is known, or both are full: as without preferences
	llcNo
	llcYes
)

// String returns the word used in reports.
func (v llcVerdict) String() string { return [...]string{"free", "no", "yes"}[v] }

// recordLLCUse notes how much of each cache is used. Passes of the domain above
// the caches do it.
func (s *Scheduler) recordLLCUse(env *balanceEnv, g *CPUGroup, gs *groupStats) {
	if s.llcs == nil || env.idle == NewlyIdle || env.owner.llc == nil || env.d.Child != env.owner.llc {
		return
	}
	if shared := s.rqs[g.Span.First()].llcShared; shared != nil {
		shared.Util, shared.Capacity = gs.util, gs.capacity
	}
}

// llcPolicy judges a move of a task with utilization u between the caches of
// two CPUs; toPreferred says that it prefers the destination's, otherwise the
// source's. A preferred cache is filled up to half of its capacity (three
// quarters without SMT), beyond that as long as it is not used a fifth more
// than the other one.
func (s *Scheduler) llcPolicy(src, dst int, u int64, toPreferred bool) llcVerdict {
	from, to := s.rqs[src].llcShared, s.rqs[dst].llcShared
	if from == nil || to == nil || from.Capacity == 0 || to.Capacity == 0 {
		return llcFree
	}
	left, joined := max(0, from.Util-u), to.Util+u
	leftFits, joinedFits := s.fitsLLC(left, from.Capacity), s.fitsLLC(joined, to.Capacity)
	refused := !joinedFits && clearlyMore(joined, left)
	if !toPreferred {
		refused = leftFits || !clearlyMore(left, joined)
	}
	switch {
	case !leftFits && !joinedFits:
		return llcFree
	case refused:
		return llcNo
	}
	return llcYes
}

func (s *Scheduler) fitsLLC(util, capacity int64) bool {
	percent := int64(75)
	if s.scratch.smt {
		percent = 50
	}
	return 100*util < capacity*percent
}

func clearlyMore(a, b int64) bool { return 100*a > 120*b }

// stillPatient: until that many passes have failed, preferences are respected.
func (env *balanceEnv) stillPatient() bool { return env.d.nrBalanceFailed < env.d.CacheNiceTries+1 }

// prefers counts the tasks queued on src that prefer dst's cache.
func (s *Scheduler) prefers(src, dst *runqueue) int32 {
	if s.llcs == nil {
		return 0
	}
	return s.llcs.cpus[src.cpu].byLLC[s.llcs.index[dst.llcID]]
}

// wantsLLC reports whether a group holds tasks that should come to dst's cache.
func (s *Scheduler) wantsLLC(env *balanceEnv, g *CPUGroup, gs *groupStats) bool {
	return gs.prefersDst > 0 && !env.d.has(FlagShareLLC) && env.stillPatient() &&
		s.llcPolicy(g.Span.First(), int(env.dst.cpu), 0, true) == llcYes
}

// staysForLLC reports whether a task's preference speaks against its move. In a
// pass that was made for tasks that prefer dst's cache, others are not wanted.
func (s *Scheduler) staysForLLC(env *balanceEnv, t *Task) bool {
	if s.llcs == nil {
		return false
	}
	from, to := env.src.llcID, env.dst.llcID
	switch {
	case env.stillPatient() && env.move == moveLLCTask && t.preferredLLC != to:
		return true
	case t.preferredLLC == noLLC || from == to || t.space.cpu == noLLC:
		return false
	case t.preferredLLC != from && t.preferredLLC != to:
		return false
	case s.tooManyThreads(t.space, int(t.space.cpu)):
		return false
	}
	return s.llcPolicy(int(env.src.cpu), int(env.dst.cpu), s.taskUtil(t), t.preferredLLC == to) == llcNo
}

// leavesLLCForGood reports whether active balancing would push a task out of
// the cache that it, like all others there, prefers.
func (s *Scheduler) leavesLLCForGood(env *balanceEnv) bool {
	src := env.src
	if s.llcs == nil || src.llcID == env.dst.llcID || src.cfs.runnable() != s.llcs.cpus[src.cpu].satisfied {
		return false
	}
	if src.nr <= 1 {
		return true
	}
	return src.curr != nil && s.llcPolicy(int(src.cpu), int(env.dst.cpu), s.taskUtil(src.curr), false) == llcNo
}

// activeNeeded72 starts at once for a task that runs outside the cache that it
// prefers, and never ends such a preference.
func activeNeeded72(s *Scheduler, env *balanceEnv) bool {
	if s.leavesLLCForGood(env) {
		return false
	}
	return env.move == moveLLCTask || activeNeeded517(s, env)
}
