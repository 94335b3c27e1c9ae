package sched

// Clusters (v6.7 and later, mechanisms-modern.md 1.6, 1.7): cores below one
// last-level cache that share an L2 cache or a tag directory. Data moves faster
// inside a cluster, so the search for an idle CPU begins in the target's; see
// also [Scheduler.initScanAreas]. They count only on machines where the level
// is neither a core nor the whole cache.

// sharesCluster reports whether two CPUs share a cluster, or, where the machine
// has none, a cache [cpus_share_resources].
func (s *Scheduler) sharesCluster(a, b int) bool { return s.rqs[a].clusterID == s.rqs[b].clusterID }

// idleSiblingOfClusters is v6.7 and later. On a machine without clusters it is
// v6.1's. With them the wakee's own CPUs outside the target's cluster are not
// taken at once: they are kept for the case that the search finds nothing.
func idleSiblingOfClusters(s *Scheduler, p *Placement, target int) int {
	if !s.scratch.clusters {
		return idleSibling517(s, p, target)
	}
	if s.try(p.Task, target, RuleTargetIdle) {
		return target
	}
	prevKept := s.prevWouldDo(p, target)
	if prevKept {
		if s.sharesCluster(p.Prev, target) {
			return s.take(p.Prev, RulePrevIdle)
		}
		s.note(p.Prev, RulePrevIdle, VerdictOtherCluster)
	}
	if s.stacksOnKthread(p) {
		return s.take(p.Prev, RuleKthreadStacked)
	}
	recent := int(p.Task.recentUsed)
	p.Task.recentUsed = int32(p.Prev)
	recentKept := s.recentWouldDo(p, target, recent, recent)
	if recentKept {
		if s.sharesCluster(recent, target) {
			return s.take(recent, RuleRecentUsed)
		}
		s.note(recent, RuleRecentUsed, VerdictOtherCluster)
	}
	if s.rqs[target].llc == nil {
		return s.settle(target, RuleNoLLC)
	}
	cpu := s.searchCache(p, target)
	switch {
	case cpu != noCPU:
		return cpu
	case prevKept:
		return s.take(p.Prev, RulePrevIdle)
	case recentKept:
		return s.take(recent, RuleRecentUsed)
	}
	return s.nothingUsable(p, target)
}
