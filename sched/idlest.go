package sched

import "math/bits"

// The slow path: forks, execs, and wakeups where a domain asks for it, look
// for the idlest CPU of the whole domain (mechanisms.md 7). It descends: in
// each domain the idlest group, in this group the idlest CPU, and from there
// on through that CPU's smaller domains.

// slowPathRules says how a kernel version compares groups and CPUs.
type slowPathRules struct {
	// idlestGroup returns the group to move to, nil to stay in the local one.
	idlestGroup func(s *Scheduler, d *Domain, p *Placement, here int) *CPUGroup
	// idlestCPU chooses a CPU of a group of several; nil: the quickest to wake,
	// or the least loaded.
	idlestCPU func(s *Scheduler, g *CPUGroup, t *Task, here int) int
	// staysOnNode keeps a task on its node although another has more idle
	// CPUs; nil before v5.5.
	staysOnNode func(c nodeChoice) bool
	// takesSchedIdle: a CPU with nothing but idle-class tasks is taken at once.
	takesSchedIdle bool
	// idleTasksWait: but not for a SCHED_IDLE task (v7.2).
	idleTasksWait bool
}

// preemptsSchedIdle reports whether t takes a CPU with only idle-class tasks.
func (r *slowPathRules) preemptsSchedIdle(t *Task) bool {
	return r.takesSchedIdle && !(r.idleTasksWait && t.policy == PolicyIdle)
}

var slowPath414 = slowPathRules{idlestGroup: idlestGroup414}

var slowPath510 = slowPathRules{idlestGroup: idlestGroup510, staysOnNode: staysWhileAnyIdle, takesSchedIdle: true}

var slowPath517 = slowPathRules{idlestGroup: idlestGroup510, staysOnNode: staysBelowQuarter, takesSchedIdle: true}

var slowPath517tip = slowPathRules{idlestGroup: idlestGroup510, staysOnNode: staysWithinAllowance, takesSchedIdle: true}

var slowPath61 = slowPathRules{idlestGroup: idlestGroup510, staysOnNode: staysWithinAllowanceIfEven, takesSchedIdle: true}

var slowPath72 = func() slowPathRules {
	r := slowPath61
	r.idleTasksWait = true
	return r
}()

// placeByDescent is [find_idlest_cpu], from domain d down.
func (s *Scheduler) placeByDescent(d *Domain, p *Placement) int {
	t := p.Task
	if !d.Span.Intersects(t.allowed) {
		return s.settle(p.Prev, RuleSlowLocal)
	}
	if p.Kind != KindFork {
		s.syncEntityLoad(&t.se) // the sums are to be taken without the task
	}
	flag, cpu := kindFlags[p.Kind], p.Here
	for d != nil {
		s.work.DomainSteps++
		next := d.Child
		if d.has(flag) {
			if group := s.profile.SlowPath.idlestGroup(s, d, p, cpu); group != nil {
				if idlest := s.idlestCPU(group, t, cpu); idlest != cpu {
					cpu = idlest
					next = s.widestBelow(cpu, d.SpanWeight, flag)
				}
			}
		}
		d = next
	}
	if cpu == p.Here {
		return s.settle(cpu, RuleSlowLocal)
	}
	return s.settle(cpu, RuleSlowIdlest)
}

// widestBelow returns cpu's widest domain with the flag that spans fewer than
// weight CPUs.
func (s *Scheduler) widestBelow(cpu, weight int, flag DomainFlag) *Domain {
	var widest *Domain
	for d := s.rqs[cpu].sd; d != nil && d.SpanWeight < weight; d = d.Parent {
		if d.has(flag) {
			widest = d
		}
	}
	return widest
}

// groupChoice pairs a group with its sums.
type groupChoice struct {
	group *CPUGroup
	groupStats
}

// nodeChoice is the question whether to leave the node for a remote group that
// has spare room just as the local one.
type nodeChoice struct {
	domain        *Domain
	task          *Task
	local, remote groupChoice
}

// idlestGroup510 is v5.5 and later: the type of the groups decides, then their
// load or their idle CPUs [find_idlest_group].
func idlestGroup510(s *Scheduler, d *Domain, p *Placement, here int) *CPUGroup {
	var local, remote groupChoice
	for g, first := d.Groups, true; first || g != d.Groups; g, first = g.Next, false {
		if !g.Span.Intersects(p.Task.allowed) {
			continue
		}
		stats := s.statsWithout(d, g, p.Task)
		if g.Span.Has(here) {
			local = groupChoice{g, stats}
		} else if remote.group == nil || stats.idlerThan(&remote.groupStats) {
			remote = groupChoice{g, stats}
		}
	}
	switch {
	case remote.group == nil:
		return nil
	case local.group == nil || local.kind > remote.kind:
		return remote.group
	case local.kind < remote.kind:
		return nil
	}
	if s.remotePays(d, p.Task, &local, &remote) {
		return remote.group
	}
	return nil
}

// statsWithout sums up a group as it would be without the task itself, which
// an exec finds running there.
func (s *Scheduler) statsWithout(d *Domain, g *CPUGroup, t *Task) groupStats {
	stats := groupStats{capacity: g.Cap.Capacity, weight: int32(g.Weight)}
	for w, word := range g.Span {
		for ; word != 0; word &= word - 1 {
			rq := &s.rqs[w<<6+bits.TrailingZeros64(word)]
			s.work.GroupCPUs++
			own := int32(0)
			if t.queued && t.cpu == rq.cpu {
				own = 1
			}
			stats.load += s.cpuLoadWithout(rq, t)
			stats.util += s.cpuUtilWithout(rq, t)
			stats.runnable += s.cpuRunnableWithout(rq, t)
			stats.h += s.tasksOn(rq) - own
			stats.nr += rq.nr - own
			if rq.nr == own && idleWithout(rq, t) {
				stats.idleCPUs++
			}
		}
	}
	stats.kind = stats.classify(d.ImbalancePct, g.Cap.Imbalance)
	if stats.kind == groupFullyBusy || stats.kind == groupOverloaded {
		stats.avgLoad = stats.loadPerCapacity()
	}
	return stats
}

// idleWithout reports whether a CPU that has no other task would be idle.
func idleWithout(rq *runqueue, t *Task) bool {
	return (rq.curr == nil || rq.curr == t) && !rq.wakePending
}

// idlerThan orders remote groups; of equal ones the first is kept.
func (g *groupStats) idlerThan(best *groupStats) bool {
	if g.kind != best.kind {
		return g.kind < best.kind
	}
	switch g.kind {
	case groupOverloaded, groupFullyBusy:
		return g.avgLoad < best.avgLoad
	case groupHasSpare:
		if g.idleCPUs != best.idleCPUs {
			return g.idleCPUs > best.idleCPUs
		}
		return g.util < best.util
	}
	return false
}

// remotePays compares two groups of the same type.
func (s *Scheduler) remotePays(d *Domain, t *Task, local, remote *groupChoice) bool {
	switch local.kind {
	case groupOverloaded, groupFullyBusy:
		// Small differences are noise, large ones worth a move; in between
		// the relation decides. Leaving a node must pay more.
		margin := int64(capacityFull) * (d.ImbalancePct - 100) / 100
		switch {
		case d.has(FlagNUMA) && remote.avgLoad+margin >= local.avgLoad:
			return false
		case remote.avgLoad >= local.avgLoad+margin:
			return false
		}
		return 100*local.avgLoad > d.ImbalancePct*remote.avgLoad
	case groupHasSpare:
		// NUMA balancing is not modelled: no task has a preferred node.
		if d.has(FlagNUMA) && s.profile.SlowPath.staysOnNode(nodeChoice{d, t, *local, *remote}) {
			return false
		}
		return local.idleCPUs < remote.idleCPUs
	}
	return false
}

// staysWhileAnyIdle is v5.10: any idle CPU at home will do.
func staysWhileAnyIdle(c nodeChoice) bool { return c.local.idleCPUs > 0 }

// staysBelowQuarter is v5.17: home may hold tasks for a quarter of the domain.
func staysBelowQuarter(c nodeChoice) bool {
	return int(c.local.nr) < c.domain.SpanWeight/4
}

// staysWithinAllowance is v5.18: as many tasks as the topology gives good
// reason for (mechanisms.md 5.6), this one included.
func staysWithinAllowance(c nodeChoice) bool {
	return int64(c.local.nr)+1 <= c.domain.ImbNUMANr
}

// staysWithinAllowanceIfEven is v6.1: the allowance shrinks to the CPUs that
// the task may use, and holds only while the nodes are almost equally idle.
func staysWithinAllowanceIfEven(c nodeChoice) bool {
	usable := int64(0)
	for w, word := range c.local.group.Span {
		usable += int64(bits.OnesCount64(word & c.task.allowed[w]))
	}
	difference := c.local.idleCPUs - c.remote.idleCPUs
	if difference < 0 {
		difference = -difference
	}
	return difference <= numaImbalanceMin && int64(c.local.nr)+1 <= min(usable, c.domain.ImbNUMANr)
}

// groupSums414 is what v4.14 knows about a group, per capacity except spare.
type groupSums414 struct {
	group    *CPUGroup
	runnable int64 // load of queued tasks
	avg      int64 // load with blocked tasks
	spare    int64 // largest unused capacity of one CPU
}

// idlestGroup414 is v4.14: a group with room for the task first, else the one
// with clearly less load.
func idlestGroup414(s *Scheduler, d *Domain, p *Placement, here int) *CPUGroup {
	margin := int64(nice0Weight) * (d.ImbalancePct - 100) / 100
	scale := biasPercent(d)
	var local, idlest, roomiest groupSums414
	for g, first := d.Groups, true; first || g != d.Groups; g, first = g.Next, false {
		if !g.Span.Intersects(p.Task.allowed) {
			continue
		}
		sums := s.sums414(g, p.Task)
		if g.Span.Has(here) {
			local = sums
			continue
		}
		switch {
		case idlest.group == nil || idlest.runnable > sums.runnable+margin:
			idlest = sums
		case sums.runnable < idlest.runnable+margin && 100*idlest.avg > scale*sums.avg:
			// The yardstick for runnable stays the smallest one seen.
			idlest.group, idlest.avg = sums.group, sums.avg
		}
		if roomiest.spare < sums.spare {
			roomiest = sums
		}
	}
	if p.Kind != KindFork { // a new task's utilization is not known yet
		need := s.taskUtil(p.Task) / 2
		if local.spare > need && scale*local.spare > 100*roomiest.spare {
			return nil
		}
		if roomiest.spare > need {
			return roomiest.group
		}
	}
	switch {
	case idlest.group == nil:
		return nil
	case idlest.runnable > local.runnable+margin:
		return nil
	case local.runnable < idlest.runnable+margin && 100*local.avg < scale*idlest.avg:
		return nil
	}
	return idlest.group
}

func (s *Scheduler) sums414(g *CPUGroup, t *Task) groupSums414 {
	sums := groupSums414{group: g}
	for w, word := range g.Span {
		for ; word != 0; word &= word - 1 {
			rq := &s.rqs[w<<6+bits.TrailingZeros64(word)]
			s.work.GroupCPUs++
			sums.runnable += s.cpuLoad(rq)
			sums.avg += rq.cfs.avg.loadAvg
			sums.spare = max(sums.spare, rq.capacityOrig-s.cpuUtilWithout(rq, t))
		}
	}
	sums.runnable = sums.runnable * capacityFull / g.Cap.Capacity
	sums.avg = sums.avg * capacityFull / g.Cap.Capacity
	return sums
}

// idlestCPU picks a CPU of a group [find_idlest_group_cpu]: the one that wakes
// up fastest, of these the one that fell idle last and has the warmest cache;
// without an idle one the least loaded. The only CPU of a group is not tested,
// not even for the task's affinity.
func (s *Scheduler) idlestCPU(g *CPUGroup, t *Task, here int) int {
	if g.Weight == 1 {
		cpu := g.Span.First()
		s.note(cpu, RuleSlowIdlest, VerdictTaken)
		return cpu
	}
	choose := s.profile.SlowPath.idlestCPU
	if choose == nil {
		choose = (*Scheduler).idlestOfSeveral
	}
	cpu := choose(s, g, t, here)
	if s.decision != nil {
		s.noteIdlest(g, t, cpu)
	}
	return cpu
}

// takesSchedIdle reports whether a CPU with idle-class tasks only is as good as
// any for the task.
func (s *Scheduler) takesSchedIdle(t *Task) bool {
	pull := s.variants.pull
	return s.profile.SlowPath.preemptsSchedIdle(t) &&
		(pull == nil || !pull.idleTasksIgnoreSchedIdle || !t.hierarchicallyIdle())
}

func (s *Scheduler) idlestOfSeveral(g *CPUGroup, t *Task, here int) int {
	takesSchedIdle := s.takesSchedIdle(t)
	shallowest, leastLoaded := noCPU, here
	var exit, minLoad int64 = -1, -1 // -1: none yet
	lastStamp := int64(-1)           // a CPU that never ran anything has stamp 0
	for w, word := range g.Span {
		for word &= t.allowed[w]; word != 0; word &= word - 1 {
			cpu := w<<6 + bits.TrailingZeros64(word)
			rq := &s.rqs[cpu]
			s.work.GroupCPUs++
			if takesSchedIdle && s.schedIdle.Has(cpu) {
				return cpu
			}
			if !s.idle.Has(cpu) {
				if shallowest == noCPU {
					if load := s.cpuLoad(rq); minLoad < 0 || load < minLoad {
						minLoad, leastLoaded = load, cpu
					}
				}
				continue
			}
			inState := rq.idleExit > 0
			if inState && (exit < 0 || rq.idleExit < exit) {
				exit, lastStamp, shallowest = rq.idleExit, rq.idleStamp, cpu
			} else if (!inState || rq.idleExit == exit) && rq.idleStamp > lastStamp {
				lastStamp, shallowest = rq.idleStamp, cpu
			}
		}
	}
	if shallowest != noCPU {
		return shallowest
	}
	return leastLoaded
}

// noteIdlest records the CPUs of a group in the order in which they were seen.
func (s *Scheduler) noteIdlest(g *CPUGroup, t *Task, chosen int) {
	for cpu := g.Span.First(); cpu >= 0; cpu = g.Span.Next(cpu + 1) {
		switch {
		case !t.allowed.Has(cpu):
			s.note(cpu, RuleSlowIdlest, VerdictNotAllowed)
		case cpu == chosen:
			s.note(cpu, RuleSlowIdlest, VerdictTaken)
			if s.schedIdle.Has(cpu) && s.takesSchedIdle(t) {
				return // nobody after it was seen
			}
		case s.idle.Has(cpu):
			s.note(cpu, RuleSlowIdlest, VerdictNotBest)
		default:
			s.note(cpu, RuleSlowIdlest, VerdictBusy)
		}
	}
}

// SetIdleState tells the scheduler in which idle state a CPU sleeps, by the
// state's exit latency or anything that grows with it; 0 means none (running,
// polling, or no idle driver). Among idle CPUs the slow path prefers the
// quickest to wake.
func (s *Scheduler) SetIdleState(cpu int, exitLatency int64) { s.rqs[cpu].idleExit = exitLatency }
