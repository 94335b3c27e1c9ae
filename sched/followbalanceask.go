package sched

// Questions about balancing: would the model have made this pass, what would it
// have moved, may this task move? They change nothing.

// PassQuestion is one balance pass of the kernel to ask about.
type PassQuestion struct {
	CPU, Span int // the CPU that tasks would go to; CPUs in the domain
	Idle      IdleType
	Failed    int64 // nr_balance_failed of the domain when the pass began
	Interval  int64 // its balance_interval in ms
}

// PassForecast is what the model would have done in a pass.
type PassForecast struct {
	Known   bool   // the CPU has such a domain
	Level   string // name of the domain: SMT, MC, NUMA ...
	Due     bool   // the interval since the last pass is over; always for newidle passes
	Dated   bool   // when the last pass was is known, so that Due tells something
	Elected bool   // the CPU is the one of its group that balances the domain
	// Source is the CPU to pull from, noCPU (-1) when the domain is balanced.
	Source    int
	Move      int64 // what to move, as the kernel numbers it: 0 load, 1 utilization, 2 tasks, 4 tasks that prefer the cache
	Imbalance int64 // how much of it
	Local     string
	Busiest   string
	Moved     []*Task
}

// BalanceState follows what a recording tells of a domain at the beginning of a
// pass: its failures, and its interval in ms.
func (f *Follower) BalanceState(q *PassQuestion) {
	if d := f.domainOf(q); d != nil {
		d.nrBalanceFailed, d.balanceInterval = int32(q.Failed), q.Interval
	}
}

// PassDone follows the end of a periodic pass: the next is due an interval later.
func (f *Follower) PassDone(q *PassQuestion) {
	if d := f.domainOf(q); d != nil && q.Idle != NewlyIdle {
		d.lastBalance = f.s.jiffies
	}
}

// Considered follows a pass that has judged a task without taking it (yet): the
// task goes to the far end of the list of its CPU.
func (f *Follower) Considered(t *Task) {
	if rq := &f.s.rqs[t.cpu]; t.queued && !t.other {
		rq.postpone(t, f.s.profile.Balance.detach.fromFront)
	}
}

// GroupPinned follows a pass that left an imbalance because of affinities, or
// found none: the level above is told.
func (f *Follower) GroupPinned(q *PassQuestion, pinned bool) {
	if d := f.domainOf(q); d != nil && d.Parent != nil {
		d.Parent.Groups.Cap.Imbalance = pinned
	}
}

func (f *Follower) domainOf(q *PassQuestion) *Domain {
	d := f.s.rqs[q.CPU].sd
	for d != nil && d.SpanWeight != q.Span {
		d = d.Parent
	}
	return d
}

// AskPass says what the model would do in a pass that begins now.
func (f *Follower) AskPass(q *PassQuestion) PassForecast {
	d := f.domainOf(q)
	if d == nil {
		return PassForecast{Source: noCPU}
	}
	out := f.forecast(q, d)
	out.Known, out.Level = true, d.Name
	out.Dated = d.lastBalance > 0 && q.Idle != NewlyIdle
	out.Due = !out.Dated || f.s.jiffies >= d.lastBalance+f.s.interval(&f.s.rqs[q.CPU], d, q.Idle)
	return out
}

// forecast makes the pass without consequences.
func (f *Follower) forecast(q *PassQuestion, d *Domain) PassForecast {
	s, out := f.s, PassForecast{Source: noCPU}
	rq := &s.rqs[q.CPU]
	env := s.beginPass(rq, d, q.Idle)
	if out.Elected = s.elected(env); !out.Elected {
		return out
	}
	undo := s.keepForPass(d)
	for f.tryForecast(env, &out) {
		env.candidates.Clear(int(env.src.cpu))
		if env.candidates.SubsetOf(d.Groups.Span) {
			break
		}
		env.loop = 0
	}
	undo()
	return out
}

// keepForPass remembers what a search changes. The averages of tickless CPUs,
// which it may decay, have been by the pass that is followed.
func (s *Scheduler) keepForPass(d *Domain) (undo func()) {
	overload, work, balanced, nohz := s.overload, s.work, d.balanced, s.nohz.nextBlocked
	var shared []LLCShared
	var records []*LLCShared
	for cpu := d.Span.First(); cpu >= 0; cpu = d.Span.Next(cpu + 1) {
		if r := s.rqs[cpu].llcShared; r != nil {
			shared, records = append(shared, *r), append(records, r)
		}
	}
	loads := s.keepQueueLoads(d)
	return func() {
		s.overload, s.work, d.balanced, s.nohz.nextBlocked = overload, work, balanced, nohz
		for i, r := range records {
			*r = shared[i]
		}
		for _, c := range loads {
			c.cfs.hLoad, c.cfs.hLoadJiffy = c.load, c.jiffy
		}
	}
}

// keepQueueLoads remembers the shares of the queues of a domain's CPUs.
func (s *Scheduler) keepQueueLoads(d *Domain) []cachedLoad {
	var out []cachedLoad
	for cpu := d.Span.First(); cpu >= 0; cpu = d.Span.Next(cpu + 1) {
		for _, g := range s.groups {
			cfs := g.queues[cpu]
			out = append(out, cachedLoad{cfs, cfs.hLoad, cfs.hLoadJiffy})
		}
	}
	return out
}

// tryForecast looks for a source and chooses tasks there. It reports whether
// the pass would try again without that source.
func (f *Follower) tryForecast(env *balanceEnv, out *PassForecast) (again bool) {
	s := f.s
	out.Source = noCPU
	group := s.profile.Balance.findBusiest(s, env)
	out.Local, out.Busiest = env.stats.local.kind.String(), env.stats.busiest.kind.String()
	if group == nil {
		return false
	}
	if env.src = s.busiestQueue(env, group); env.src == nil {
		return false
	}
	out.Source, out.Move, out.Imbalance = int(env.src.cpu), numberOf(env.move), env.imbalance
	env.flags |= envAllPinned
	if env.src.nr <= 1 {
		return false
	}
	pick := forecastPull{s: s, env: env}
	pick.all()
	out.Moved = pick.moved
	return env.has(envAllPinned)
}

// forecastPull chooses the tasks that a pass would detach without touching
// their queues. Only the load of a queue shrinks for the time of the pass, for
// the share of the next task goes by it.
type forecastPull struct {
	s       *Scheduler
	env     *balanceEnv
	moved   []*Task
	reduced []reducedLoad
}

type reducedLoad struct {
	cfs  *cfsRQ
	load int64
}

// all makes rounds as pull does: one for the destination, more for other CPUs
// of its group on which pinned tasks may run.
func (p *forecastPull) all() {
	env := p.env
	env.loopMax = min(p.s.tun.NrMigrate, int64(env.src.nr))
	for {
		p.round()
		if !env.has(envDstPinned) || env.imbalance <= 0 {
			break
		}
		env.candidates.Clear(int(env.dst.cpu))
		env.dst = &p.s.rqs[env.newDst]
		env.flags &^= envDstPinned
		env.loop = 0
	}
	for i := len(p.reduced) - 1; i >= 0; i-- {
		p.reduced[i].cfs.avg.loadAvg = p.reduced[i].load
	}
}

func (p *forecastPull) round() {
	s, env := p.s, p.env
	fromFront := s.profile.Balance.detach.fromFront
	left := int64(env.src.nr) - int64(len(p.moved))
	if left <= 1 {
		env.flags &^= envAllPinned
		return
	}
	for t := env.src.nextMigratable(fromFront); t != nil && env.imbalance > 0; t = nextInList(t, fromFront) {
		if p.has(t) {
			continue
		}
		if env.loop++; env.loop > env.loopMax || (env.idle != NotIdle && left <= 1) {
			return
		}
		if !s.consider(env, t).moves() || !s.withinImbalance(env, t) {
			continue
		}
		p.take(t)
		left--
		if env.idle == NewlyIdle && s.preemptKernel {
			return
		}
	}
}

func nextInList(t *Task, fromFront bool) *Task {
	if fromFront {
		return t.lruNext
	}
	return t.lruPrev
}

func (p *forecastPull) has(t *Task) bool {
	for _, m := range p.moved {
		if m == t {
			return true
		}
	}
	return false
}

func (p *forecastPull) take(t *Task) {
	a := &t.se.cfs.avg
	p.reduced = append(p.reduced, reducedLoad{t.se.cfs, a.loadAvg})
	a.loadAvg = max(0, a.loadAvg-t.se.avg.loadAvg)
	p.moved = append(p.moved, t)
}

// VerdictQuestion is one task of which the kernel asked whether it may move.
type VerdictQuestion struct {
	Task     *Task
	From, To int
	Pass     *PassQuestion // the pass that asks; nil: active balancing
	Move     int64         // what the pass moves, as in PassForecast
}

// Refusal is why a task may not move, as far as balancing of unmodified kernels
// knows reasons.
type Refusal uint8

// The refusals.
const (
	NotRefused Refusal = iota
	RefusedPinned
	RefusedRunning
	RefusedHot
	RefusedThrottled
	RefusedDelayed
	RefusedIneligible
	RefusedOther // per-CPU kernel thread, preferred cache
)

func refusalOf(v migrateVerdict) Refusal {
	switch v {
	case migrateCold, migrateForced, migrateActive:
		return NotRefused
	case migratePinned:
		return RefusedPinned
	case migrateRunning:
		return RefusedRunning
	case migrateHot:
		return RefusedHot
	case migrateThrottled:
		return RefusedThrottled
	case migrateDelayed:
		return RefusedDelayed
	case migrateIneligible:
		return RefusedIneligible
	}
	return RefusedOther
}

// AskVerdict answers as the model's can_migrate_task does.
func (f *Follower) AskVerdict(q *VerdictQuestion) Refusal {
	env := f.verdictEnv(q)
	if env == nil {
		return RefusedOther // no domain holds both CPUs
	}
	if !q.Task.queued && f.s.features.Has(DelayDequeue) {
		// The kernel looks at queued tasks only: this one has blocked but waits
		// for its delayed dequeue.
		q.Task.delayed = true
		defer func() { q.Task.delayed = false }()
	}
	return refusalOf(f.s.canMigrate(env, q.Task))
}

// verdictEnv is the pass that asks, or that of the stopper.
func (f *Follower) verdictEnv(q *VerdictQuestion) *balanceEnv {
	s := f.s
	d, idle := s.lowestWith(q.To, q.From), Idle
	if q.Pass != nil {
		d, idle = f.domainOf(q.Pass), q.Pass.Idle
	}
	if d == nil {
		return nil
	}
	env := s.beginPass(&s.rqs[q.To], d, idle)
	env.src, env.move = &s.rqs[q.From], moveNumbered(q.Move)
	if q.Pass == nil {
		env.flags = envActive
	}
	return env
}

// MayBeIneligible reports whether the kernel can have refused the task because
// of its virtual time.
func (f *Follower) MayBeIneligible(q *VerdictQuestion) bool {
	env := f.verdictEnv(q)
	return env != nil && f.s.profile.Balance.detach.keepsIneligible && f.s.features.Has(PlaceLag) &&
		env.d.nrBalanceFailed == 0 && q.Task.group.queues[q.To].nr > 0
}

// MayBeHot reports whether the kernel can have refused the task as cache hot.
func (f *Follower) MayBeHot(q *VerdictQuestion) bool {
	env := f.verdictEnv(q)
	return env != nil && q.Task.policy != PolicyIdle && !env.has(envActive) &&
		!(env.d.has(FlagShareCPUCapacity) && f.s.profile.Balance.detach.smtSiblingsCold) &&
		env.d.nrBalanceFailed <= env.d.CacheNiceTries
}

// The kernel's numbers of move types are ours, but for misfit tasks (3), which
// are not modelled, and for what comes behind it (v7.2).
const kernelMovesLLCTask = 4

func numberOf(m moveType) int64 {
	if m == moveLLCTask {
		return kernelMovesLLCTask
	}
	return int64(m)
}

func moveNumbered(n int64) moveType {
	switch {
	case n == kernelMovesLLCTask:
		return moveLLCTask
	case n < 0 || n > int64(moveTask):
		return moveTask
	}
	return moveType(n)
}
