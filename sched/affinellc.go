package sched

// affineByCaches is v4.14-rc from a731ebe6f17b to d153b153446f, which is what the
// document of October 2017 calls "pre" (mechanisms.md 6.4): within a cache a wakee
// stays and select_idle_sibling looks around; between caches what decides is the
// number of tasks on each of the two, and when both are full their loads. Neither
// is counted at the wakeup. They are what the last balance pass over each cache
// has seen, which may be long ago: until the next one every wakeup gets the same
// answer, and a whole crowd follows it into one cache. This is the regression that
// the WA_ features mended.
func affineByCaches(s *Scheduler, d *Domain, p *Placement) (int, AffineReason) {
	if s.SharesCache(p.Prev, p.Here) {
		return p.Prev, AffineUndecided
	}
	here, prev := s.rqs[p.Here].llcShared, s.rqs[p.Prev].llcShared
	if here == nil || prev == nil {
		return p.Prev, AffineUndecided
	}
	hereLoad := here.Seen.Load
	if p.Sync {
		waker := s.taskHLoad(s.waker(p.Here))
		if waker > hereLoad {
			return p.Here, AffineNode
		}
		hereLoad -= waker
	}
	switch {
	case prev.Seen.Tasks < s.rqs[p.Prev].llcSize && prev.Seen.Tasks < here.Seen.Tasks+1:
		return p.Prev, AffineNode // there is room, and no more of a crowd than here
	case here.Seen.Tasks < s.rqs[p.Here].llcSize && here.Seen.Tasks+1 < prev.Seen.Tasks:
		return p.Here, AffineNode
	}
	wakee := s.taskHLoad(p.Task)
	if 100*prev.Seen.Capacity*(hereLoad+wakee) <= biasPercent(d)*here.Seen.Capacity*(prev.Seen.Load-wakee) {
		return p.Here, AffineNode
	}
	return p.Prev, AffineNode
}

// cacheSums is what a balance pass has seen of a cache.
type cacheSums struct {
	Tasks          int32
	Load, Capacity int64
}

// noteCacheSums keeps what a pass over a cache's domain has summed up.
func (s *Scheduler) noteCacheSums(env *balanceEnv, tasks int32, load, capacity int64) {
	if s.profile.Wake.remembersCaches && env.d.Shared != nil {
		env.d.Shared.Seen = cacheSums{tasks, load, capacity}
	}
}
