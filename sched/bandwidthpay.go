package sched

// How queues take runtime from their pool, pay with it, and give it back
// (mechanisms.md 4.2, 4.7, 4.9).

// expiryRules say when the slice of a queue is void.
type expiryRules struct {
	// older reports whether a slice, past its end, is of an earlier period than
	// the pool is in now; otherwise the two clocks differ and it lasts a tick
	// longer.
	older func(b *queueBandwidth, p *bandwidthPool) bool
	// current reports whether a slice is of the pool's period: only that is
	// given back.
	current func(b *queueBandwidth, p *bandwidthPool) bool
}

func sameEnd(b *queueBandwidth, p *bandwidthPool) bool    { return b.expires == p.expires }
func sameRefill(b *queueBandwidth, p *bandwidthPool) bool { return b.refills == p.refills }

var (
	expiry32 = expiryRules{
		older:   func(b *queueBandwidth, p *bandwidthPool) bool { return b.expires < p.expires },
		current: sameEnd,
	}
	// expiry414 has the test the wrong way round: slices last forever while the
	// period timer runs.
	expiry414 = expiryRules{older: sameEnd, current: sameEnd}
	expiry418 = expiryRules{
		older:   func(b *queueBandwidth, p *bandwidthPool) bool { return b.refills != p.refills },
		current: sameRefill,
	}
)

// pay charges a queue for d ns that one of its tasks has run.
func (s *Scheduler) pay(q *cfsRQ, d int64) {
	s.work.BandwidthChecks++
	b := q.bandwidth
	if b == nil || !b.enabled {
		return
	}
	b.remaining -= d
	q.tg.pool.books.taken += d
	if s.bandwidth.expiry != nil {
		s.expireSlice(q)
	}
	switch {
	case b.remaining > 0 || b.throttled || q.throttled:
	case s.profile.ThrottlesTasks:
		s.throttleTasks(q)
	case !s.takeSlice(q, s.bandwidthSlice()) && q.curr != nil:
		if s.bandwidth.states {
			s.enterThrottling(q)
		}
		s.resched(q.rq)
	}
}

// expireSlice voids what a queue has left of an earlier period. A debt stays.
func (s *Scheduler) expireSlice(q *cfsRQ) {
	b, p := q.bandwidth, q.tg.pool
	switch {
	case s.now < b.expires || b.remaining < 0:
	case s.bandwidth.expiry.older(b, p):
		p.books.lost += b.remaining
		p.account.Expired += b.remaining
		b.remaining = 0
	default:
		b.expires += s.tickNS()
	}
}

// bandwidthSlice is what a queue takes from its pool at a time, in ns.
func (s *Scheduler) bandwidthSlice() int64 { return s.tun.BandwidthSliceUS * 1000 }

func (s *Scheduler) tickNS() int64 { return 1_000_000_000 / s.hz }

// takeSlice asks the pool to bring a queue up to target. It reports whether the
// queue has runtime now.
func (s *Scheduler) takeSlice(q *cfsRQ, target int64) bool {
	b, p := q.bandwidth, q.tg.pool
	s.work.PoolLocks++
	if p.limit.Quota == Unlimited {
		p.books.filled += target - b.remaining
		b.remaining = target
		return true
	}
	if !p.active && s.bandwidth.refillsInactive {
		s.refill(p)
	}
	s.startPeriod(p, int(q.rq.cpu))
	give := max(0, min(p.runtime, target-b.remaining))
	if p.runtime > 0 {
		p.idle = false
	}
	p.runtime -= give
	b.remaining += give
	b.stamp(p)
	return b.remaining > 0
}

// stamp notes which period a slice is of.
func (b *queueBandwidth) stamp(p *bandwidthPool) {
	if b.refills != p.refills {
		b.expires, b.refills = p.expires, p.refills
	}
}

// giveBack returns the surplus of a queue that an entity has just left, if it
// has become empty; tasks elsewhere can use it.
func (s *Scheduler) giveBack(q *cfsRQ) {
	s.work.BandwidthChecks++
	b := q.bandwidth
	if b == nil || !b.enabled || (q.nr > 0) != s.bandwidth.returnsWhileBusy {
		return
	}
	surplus := b.remaining - keptOnReturn
	if surplus <= 0 {
		return
	}
	p := q.tg.pool
	s.work.PoolLocks++
	b.remaining -= surplus
	if s.bandwidth.expiry != nil && !s.bandwidth.expiry.current(b, p) {
		p.books.lost += surplus
		p.account.Expired += surplus
		return
	}
	p.runtime += surplus
	if p.runtime > s.bandwidthSlice() && p.first != nil {
		s.startSlack(p, int(q.rq.cpu))
	}
}

// joined is called when the running task has become part of other queues: each
// must have a slice, or asks for a reschedule.
func (s *Scheduler) joined(t *Task) {
	switch {
	case !s.hooked:
	case s.profile.ThrottlesTasks:
		s.armIfThrottled(t)
	default:
		s.payAll(t)
	}
}

// payAll charges the queues of the running task for what it has run.
func (s *Scheduler) payAll(t *Task) {
	for se := &t.se; se != nil; se = se.parent {
		s.pay(se.cfs, 0)
	}
}

func (s *Scheduler) initBandwidth() {
	s.bandwidth = s.profile.Bandwidth.withPatches(s.features)
	s.hooked = s.bandwidth.alwaysHooked
}
