package sched

// The timers of bandwidth control: each period refills the pool and pays the
// debts of throttled queues; the slack timer distributes what was given back
// (mechanisms.md 4.5 to 4.7).

// Timer is a timer that the scheduler has armed at its driver: see
// [Driver.ArmTimer].
type Timer struct {
	pool  *bandwidthPool
	slack bool
}

// ExpireTimer is a timer's interrupt on cpu, at or after the time for which it
// was armed.
func (s *Scheduler) ExpireTimer(now int64, cpu int, t *Timer) {
	s.setNow(now)
	if t.slack {
		s.expireSlack(t.pool, cpu)
	} else {
		s.expirePeriod(t.pool, cpu)
	}
}

// startPeriod makes sure that the period timer runs.
func (s *Scheduler) startPeriod(p *bandwidthPool, cpu int) {
	if p.active {
		return
	}
	p.active = true
	p.forward(s.now)
	s.driver.ArmTimer(cpu, p.next, &p.periodTimer)
}

// forward moves the end of the period past now and returns how many periods
// have ended.
func (p *bandwidthPool) forward(now int64) int64 {
	if now < p.next {
		return 0
	}
	n := (now-p.next)/p.limit.Period + 1
	p.next += n * p.limit.Period
	return n
}

// tooShortPasses is how often in a row a period may end while its own end is
// being handled before it is made longer.
const tooShortPasses = 3

// expirePeriod handles the end of a period, and of those that end meanwhile: to
// unthrottle queues takes time.
func (s *Scheduler) expirePeriod(p *bandwidthPool, cpu int) {
	begun := s.spent()
	p.firing = true
	ends, idle := 0, false
	for {
		overrun := p.forward(s.now + s.elapsed(begun))
		if overrun == 0 {
			break
		}
		idle = s.endPeriod(p, cpu, overrun)
		if ends++; ends > tooShortPasses {
			p.lengthen()
			ends = 0
		}
	}
	p.firing = false
	if idle {
		p.active = false
		return
	}
	s.driver.ArmTimer(cpu, p.next, &p.periodTimer)
}

// lengthen doubles a period that its own timer cannot keep up with; the group's
// share stays the same.
func (p *bandwidthPool) lengthen() {
	if l := &p.limit; l.Period*2 < maxPeriod && l.Quota != Unlimited {
		l.Period, l.Quota, l.Burst = l.Period*2, l.Quota*2, l.Burst*2
	}
}

// endPeriod ends a period and begins the next. It reports whether the timer may
// stop.
func (s *Scheduler) endPeriod(p *bandwidthPool, cpu int, overrun int64) (stop bool) {
	if p.limit.Quota == Unlimited {
		return true
	}
	p.stats.Periods += overrun
	p.accountPeriod()
	if s.bandwidth.refillsFirst {
		s.refill(p)
	}
	if p.idle && p.first == nil {
		return true
	}
	if !s.bandwidth.refillsFirst {
		s.refill(p)
	}
	if p.first == nil {
		p.idle = true
		return false
	}
	p.stats.Throttled += overrun
	s.distribute(p, cpu)
	p.idle = false
	return false
}

// refill begins a period's runtime. What was left of the last one is lost,
// unless the group may save it for a burst.
func (s *Scheduler) refill(p *bandwidthPool) {
	s.work.PoolLocks++
	left := p.runtime
	if s.bandwidth.burst {
		p.runtime += p.limit.Quota
		if used := p.snap - p.runtime; used > 0 { // more than came in: from what was saved
			p.stats.Bursts++
			p.stats.BurstTime += used
		}
		p.runtime = min(p.runtime, p.limit.Quota+p.limit.Burst)
		p.snap = p.runtime
	} else {
		p.runtime = p.limit.Quota
	}
	p.refills++
	p.expires = s.now + p.limit.Period
	p.books.filled += p.limit.Quota
	p.books.lost += left + p.limit.Quota - p.runtime
}

// distribute pays the debts of throttled queues in their turn, as far as the
// pool goes.
func (s *Scheduler) distribute(p *bandwidthPool, cpu int) {
	here := &s.rqs[cpu]
	var own []*cfsRQ
	for q := p.first; q != nil && p.runtime > 0; {
		next := q.bandwidth.next
		if q.rq != here {
			s.work.RemoteLocks++
		}
		if !q.bandwidth.comesBack && s.payDebt(p, q) {
			switch {
			case !s.bandwidth.remoteByIPI:
				s.unthrottle(q)
			case q.rq == here:
				own = append(own, q)
			default:
				s.unthrottleRemotely(q)
			}
		}
		q = next
	}
	for _, q := range own {
		if q.bandwidth.throttled {
			s.unthrottle(q)
		}
	}
}

// payDebt gives a throttled queue the least that lets it run, and reports
// whether the pool had that.
func (s *Scheduler) payDebt(p *bandwidthPool, q *cfsRQ) bool {
	b := q.bandwidth
	if s.profile.ThrottlesTasks && q.curr != nil {
		s.updateCurr(q)
	}
	s.work.PoolLocks++
	give := min(p.runtime, max(0, 1-b.remaining))
	p.runtime -= give
	b.remaining += give
	b.stamp(p)
	return b.remaining > 0
}

// unthrottleRemotely leaves the work to the queue's own CPU.
func (s *Scheduler) unthrottleRemotely(q *cfsRQ) {
	rq := q.rq
	q.bandwidth.comesBack = true
	rq.comingBack = append(rq.comingBack, q)
	if len(rq.comingBack) == 1 {
		s.driver.UnthrottleIPI(int(rq.cpu))
	}
}

// HandleUnthrottle sets free the queues of cpu that another CPU has paid for.
// The driver calls it when an UnthrottleIPI arrives.
func (s *Scheduler) HandleUnthrottle(now int64, cpu int) {
	s.setNow(now)
	rq := &s.rqs[cpu]
	queues := rq.comingBack
	rq.comingBack = nil
	for _, q := range queues {
		q.bandwidth.comesBack = false
		if q.bandwidth.throttled {
			s.unthrottle(q)
		}
	}
}

// startSlack has surplus distributed soon, unless a refill comes anyway.
func (s *Scheduler) startSlack(p *bandwidthPool, cpu int) {
	if p.slackStarted || s.refillWithin(p, slackPeriod+refreshTooSoon) {
		return
	}
	p.slackStarted = true
	s.driver.ArmTimer(cpu, s.now+slackPeriod, &p.slackTimer)
}

func (s *Scheduler) refillWithin(p *bandwidthPool, d int64) bool { return p.firing || p.next-s.now < d }

func (s *Scheduler) expireSlack(p *bandwidthPool, cpu int) {
	p.slackStarted = false
	if p.limit.Quota == Unlimited || s.refillWithin(p, refreshTooSoon) || p.runtime <= s.bandwidthSlice() {
		return
	}
	s.distribute(p, cpu)
}
