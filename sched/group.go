package sched

import "fmt"

// TaskGroup is a control group with the cpu controller: one queue and one
// entity on every CPU (mechanisms.md 3).
type TaskGroup struct {
	name     string
	parent   *TaskGroup
	shares   int64 // stored scale
	idle     bool
	queues   []*cfsRQ
	entities []*Entity // nil entries at the root
	loadAvg  int64     // Σ of the queues' published load averages
	children []*TaskGroup
	pool     *bandwidthPool // nil: never had a limit
}

// Name returns the group's path, "/" for the root.
func (g *TaskGroup) Name() string { return g.name }

// Parent returns the enclosing group, nil for the root.
func (g *TaskGroup) Parent() *TaskGroup { return g.parent }

// Idle reports whether cpu.idle is set.
func (g *TaskGroup) Idle() bool { return g.idle }

// Root returns the root group.
func (s *Scheduler) Root() *TaskGroup { return s.root }

func (s *Scheduler) newRootGroup() *TaskGroup {
	return &TaskGroup{
		name: "/", shares: nice0Stored,
		queues: make([]*cfsRQ, len(s.rqs)), entities: make([]*Entity, len(s.rqs)),
	}
}

// NewGroup makes a control group with the default weight below parent.
func (s *Scheduler) NewGroup(parent *TaskGroup, name string) *TaskGroup {
	n := len(s.rqs)
	g := &TaskGroup{
		name: name, parent: parent, shares: nice0Stored,
		queues: make([]*cfsRQ, n), entities: make([]*Entity, n),
	}
	queues, entities := make([]cfsRQ, n), make([]Entity, n)
	for cpu := range s.rqs {
		q, se := &queues[cpu], &entities[cpu]
		up := parent.queues[cpu]
		*q = cfsRQ{rq: &s.rqs[cpu], tg: g, se: se, parent: up}
		*se = Entity{weight: g.shares, my: q, cfs: up, parent: parent.entities[cpu]}
		if se.parent != nil {
			se.depth = se.parent.depth + 1
		}
		if s.profile.WeightLoad {
			se.weight = minWholeShares << weightShift // nothing of the group is here yet
			q.window.stamp = 1                        // and the first update forgets the time before
		}
		g.queues[cpu], g.entities[cpu] = q, se
	}
	parent.children = append(parent.children, g)
	s.groups = append(s.groups, g)
	return g
}

// SetWeight sets cpu.weight, 1 to 10000; 100 is the default share of 1024
// (mechanisms.md 3.1). An idle group refuses it, and so does the root.
func (s *Scheduler) SetWeight(g *TaskGroup, weight int64) error {
	switch {
	case weight < 1 || weight > 10000:
		return fmt.Errorf("cpu.weight of %s must be between 1 and 10000, not %d", g.name, weight)
	case g.parent == nil:
		return fmt.Errorf("cpu.weight cannot be set on the root group")
	case g.idle:
		return fmt.Errorf("cpu.weight of %s cannot be set while its cpu.idle is 1", g.name)
	}
	shares := (weight*nice0Weight + 50) / 100
	s.setShares(g, min(maxShares, max(minShares, shares))<<weightShift)
	return nil
}

// SetIdle sets cpu.idle: the whole group counts as idle work with the weight
// of a SCHED_IDLE task (mechanisms.md 3.4, v5.15+).
func (s *Scheduler) SetIdle(g *TaskGroup, idle bool) error {
	switch {
	case !s.profile.GroupIdle:
		return fmt.Errorf("kernel %s has no cpu.idle (group %s); it came with v5.15", s.profile.Name, g.name)
	case g.parent == nil:
		return fmt.Errorf("cpu.idle cannot be set on the root group")
	case g.idle == idle:
		return nil
	}
	g.idle = idle
	for cpu := range g.queues {
		s.markIdleQueue(g.queues[cpu], idle)
	}
	if idle {
		s.setShares(g, weightIdle<<weightShift)
	} else {
		s.setShares(g, nice0Stored)
	}
	return nil
}

// markIdleQueue moves one queue's tasks between the normal and the idle
// count of the queues above, up to the first idle ancestor.
func (s *Scheduler) markIdleQueue(q *cfsRQ, idle bool) {
	delta := q.h - q.hIdle
	if !idle {
		delta = -delta
	}
	q.idle = idle
	if !q.se.onRQ {
		return
	}
	if idle {
		q.parent.idleNr++
	} else {
		q.parent.idleNr--
	}
	counts := !q.throttled
	for se := q.se; se != nil && se.onRQ && counts; se = se.parent {
		se.cfs.hIdle += delta
		counts = !se.cfs.idle && !se.cfs.throttled
	}
	s.refreshIdle(q.rq)
}

func (s *Scheduler) setShares(g *TaskGroup, shares int64) {
	g.shares = shares
	for _, se := range g.entities {
		for level := se; level != nil; level = level.parent {
			s.updateLoadAvg(level.cfs, level, updateGroupLoad)
			s.updateGroupWeight(level)
		}
	}
}

// publishLoad tells the group what its queue contributes, unless the change
// is below 1/64: the group's sum is a line that all CPUs share.
func (s *Scheduler) publishLoad(cfs *cfsRQ) {
	if cfs.se == nil {
		return
	}
	now := s.now
	if s.profile.PublishesByPresent {
		now = max(now, s.present)
	}
	if s.profile.SlowPublishing && now-cfs.publishedAt < publishPeriod {
		return
	}
	if s.profile.WindowShares {
		return // sharewindow.go does
	}
	noise := cfs.tgContrib / 64
	if s.profile.WeightLoad {
		noise = cfs.tgContrib / 8
	}
	delta := cfs.avg.loadAvg - cfs.tgContrib
	if delta > noise || -delta > noise {
		cfs.tg.loadAvg += delta
		cfs.tgContrib = cfs.avg.loadAvg
		cfs.publishedAt = now
	}
}

// publishPeriod is the shortest time, in ns, between two publications of one
// queue on kernels that limit them.
const publishPeriod = 1_000_000

// groupWeight is a group's weight on one CPU: its shares in proportion to the
// load it has here (mechanisms.md 3.1).
func (s *Scheduler) groupWeight(q *cfsRQ) int64 {
	if s.profile.WeightLoad {
		return wholeGroupWeight(q)
	}
	shares := q.tg.shares
	load := scaleDown(q.load)
	if !s.weightedSums() { // v4.14 goes by what is queued alone
		load = max(load, q.avg.loadAvg)
	}
	total := q.tg.loadAvg - q.tgContrib + load
	w := shares * load
	if total > 0 {
		w /= total
	}
	return min(shares, max(minShares, w))
}

// updateGroupWeight recomputes the weight of a group's entity
// (mechanisms-modern.md 6).
func (s *Scheduler) updateGroupWeight(se *Entity) {
	q := se.my
	switch {
	case q == nil, s.profile.KeepsEmptyWeight && q.load == 0:
		return
	case !s.profile.ThrottlesTasks && s.throttledHierarchy(q):
		return
	}
	if w := s.groupWeight(q); w != se.weight {
		s.reweight(se, w)
	}
}

// reweight changes an entity's weight, on its queue or not; what its averages
// contribute to the queue follows; CFS leaves its vruntime alone.
func (s *Scheduler) reweight(se *Entity, weight int64) {
	cfs := se.cfs
	if se.onRQ {
		if cfs.curr == se {
			s.updateCurr(cfs)
		}
	}
	if s.time.reweigh != nil {
		s.time.reweigh(s, cfs, se, weight)
	}
	if se.onRQ {
		cfs.load += weight - se.weight
	}
	if s.weightedSums() {
		se.weight = weight // the averages follow with time
		return
	}
	s.subLoad(cfs, se)
	se.weight = weight
	se.avg.loadAvg = seWeight(se) * se.avg.loadSum / se.avg.divider()
	s.addLoad(cfs, se)
}

// propagateGroup takes over into a group's entity, and into the queue that
// entity is on, what has changed in the group's own queue.
func (s *Scheduler) propagateGroup(cfs *cfsRQ, se *Entity) bool {
	g := se.my
	if g == nil || !g.propagate {
		return false
	}
	g.propagate = false
	sum := g.propSum
	g.propSum = 0
	cfs.markPropagate(sum)
	propagateUtil(cfs, se, g)
	propagateRunnable(cfs, se, g)
	if s.weightedSums() {
		propagateLoad414(cfs, se, g)
	} else {
		propagateLoad(cfs, se, g, sum)
	}
	return true
}

func propagateUtil(cfs *cfsRQ, se *Entity, g *cfsRQ) {
	takeOver(g.avg.utilAvg, cfs.avg.divider(),
		&se.avg.utilAvg, &se.avg.utilSum, &cfs.avg.utilAvg, &cfs.avg.utilSum)
}

func propagateRunnable(cfs *cfsRQ, se *Entity, g *cfsRQ) {
	takeOver(g.avg.runnableAvg, cfs.avg.divider(),
		&se.avg.runnableAvg, &se.avg.runnableSum, &cfs.avg.runnableAvg, &cfs.avg.runnableSum)
}

// takeOver gives a group's entity the average of the group's queue, and the
// queue that the entity is on the difference.
func takeOver(group, divider int64, entityAvg, entitySum, queueAvg, queueSum *int64) {
	delta := group - *entityAvg
	if delta == 0 {
		return
	}
	sum := group * divider
	deltaSum := sum - *entitySum
	*entityAvg, *entitySum = group, sum
	*queueAvg = max(0, *queueAvg+delta)
	*queueSum = max(0, *queueSum+deltaSum, *queueAvg*peltMinDivider)
}

// propagateLoad: a group entity's load sum counts how long the group had
// something to run. What arrives adds to it up to all of the time; what leaves
// can at most bring it down to the average of what stays.
func propagateLoad(cfs *cfsRQ, se *Entity, g *cfsRQ, sum int64) {
	if sum == 0 {
		return
	}
	d := cfs.avg.divider()
	if sum > 0 {
		sum = min(sum+se.avg.loadSum, d)
	} else {
		stays := int64(0)
		if w := scaleDown(g.load); w > 0 {
			stays = g.avg.loadSum / w
		}
		sum = min(se.avg.loadSum, stays)
	}
	sum = max(sum, se.avg.utilSum>>10)

	load := seWeight(se) * sum
	avg := load / d
	delta := avg - se.avg.loadAvg
	if delta == 0 {
		return
	}
	deltaSum := load - seWeight(se)*se.avg.loadSum
	se.avg.loadSum, se.avg.loadAvg = sum, avg
	cfs.avg.loadAvg = max(0, cfs.avg.loadAvg+delta)
	cfs.avg.loadSum = max(0, cfs.avg.loadSum+deltaSum, cfs.avg.loadAvg*peltMinDivider)
}

// propagateLoad414 takes the group's load here for its entity's, scaled down to
// the part of the group's shares that it stands for once the whole group loads
// more than a task of that weight would (v4.14 [V]).
func propagateLoad414(cfs *cfsRQ, se *Entity, g *cfsRQ) {
	load := g.avg.loadAvg
	shares := scaleDown(g.tg.shares)
	if total := g.tg.loadAvg + 1 - g.tgContrib + load; total > shares {
		load = load * shares / total
	}
	delta := load - se.avg.loadAvg
	if delta == 0 {
		return
	}
	se.avg.loadAvg, se.avg.loadSum = load, load*se.avg.divider()
	cfs.avg.loadAvg = max(0, cfs.avg.loadAvg+delta)
	cfs.avg.loadSum = cfs.avg.loadAvg * cfs.avg.divider()
	if se.onRQ {
		cfs.runnableLoadAvg = max(0, cfs.runnableLoadAvg+delta)
		cfs.runnableLoadSum = cfs.runnableLoadAvg * cfs.avg.divider()
	}
}

// attachToQueueOf points a task at its group's queue on a CPU.
func (s *Scheduler) attachToQueueOf(t *Task, cpu int) {
	if t.se.delayable && t.se.cfs != t.group.queues[cpu] {
		t.se.lag, t.se.delayable = max(0, t.se.lag), false
	}
	t.cpu = int32(cpu)
	t.se.cfs = t.group.queues[cpu]
	t.se.parent = t.group.entities[cpu]
	t.se.depth = 0
	if t.se.parent != nil {
		t.se.depth = t.se.parent.depth + 1
	}
}

// SetGroup moves a task to another control group [sched_change_group].
func (s *Scheduler) SetGroup(now int64, t *Task, g *TaskGroup) {
	s.setNow(now)
	if t.group == g {
		return
	}
	rq := &s.rqs[t.cpu]
	if t.limbo {
		s.takeFromLimbo(t)
		s.changeQueue(t, g, true)
		s.rejoin(t)
		return
	}
	queued, running := t.queued, rq.curr == t
	if queued {
		s.deactivateTask(rq, t, 0)
	}
	if running {
		s.putCurrent(rq)
	}
	// A task that was woken on another CPU and waits there to be queued has
	// left its old queue's virtual time already, as a queued one has now.
	s.changeQueue(t, g, !queued && !(t.pending && t.wakeMigrated))
	if queued {
		s.activateTask(rq, t, 0)
	}
	if running {
		rq.curr, rq.arrivedAt = t, now
		s.setNextUp(&t.se)
		s.joined(t)
		s.refreshIdle(rq)
		s.resched(rq)
	}
}

// changeQueue takes a task that is on no queue, and its averages, from one
// group's queue to another's. The vruntime of a sleeping task is absolute: it
// keeps its distance to the queue's virtual time, but is not further behind
// than a wakeup now would leave it.
func (s *Scheduler) changeQueue(t *Task, g *TaskGroup, absolute bool) {
	se := &t.se
	attached := se.avg.last != neverUpdated
	absolute = absolute && attached
	if absolute {
		s.place(se.cfs, se, false)
		se.vruntime -= se.cfs.minVruntime
	}
	if attached {
		s.detachForMove(se)
	}
	t.group = g
	s.attachToQueueOf(t, int(t.cpu))
	if attached {
		s.attachAfterMove(se)
	}
	if absolute {
		se.vruntime += se.cfs.minVruntime
	}
}
