package sched

// affine38 is v3.2 and v3.8: would the loads of the two CPUs stay balanced with
// the wakee here (mechanisms.md 6.4)? A waker that is about to sleep does not
// count. Otherwise the wakee comes only if both CPUs together have less to do
// than an average task makes.
func affine38(s *Scheduler, d *Domain, p *Placement) (int, AffineReason) {
	hereRQ, prevRQ := &s.rqs[p.Here], &s.rqs[p.Prev]
	here, prev := s.cpuLoad(hereRQ), s.cpuLoad(prevRQ)
	if p.Sync {
		waker := s.waker(p.Here)
		w := seWeight(&waker.se)
		here += effectiveLoad(waker.group, p.Here, -w, -w)
		prev += effectiveLoad(waker.group, p.Prev, 0, -w)
	}
	balanced := here <= 0 || s.staysBalanced(d, p, here, prev)
	switch {
	case balanced && p.Sync:
		return p.Here, AffineSyncBalanced
	case balanced:
		return p.Here, AffineBalanced
	case here <= prev && here+s.cpuLoad(prevRQ) <= s.loadPerTask(hereRQ):
		return p.Here, AffineLight
	}
	return p.Prev, AffineUndecided
}

// staysBalanced compares load per capacity, multiplied out, with the wakee here
// and not at prev, where it does not count yet.
func (s *Scheduler) staysBalanced(d *Domain, p *Placement, here, prev int64) bool {
	g, w := p.Task.group, seWeight(&p.Task.se)
	here = 100 * s.rqs[p.Prev].capacity * (here + effectiveLoad(g, p.Here, w, w))
	prev = biasPercent(d) * s.rqs[p.Here].capacity * (prev + effectiveLoad(g, p.Prev, 0, w))
	return here <= prev
}
