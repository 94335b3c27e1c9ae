package sched

// BandwidthAccount says why a group is throttled: where its runtime was when
// the pool could not pay any more. The kernel does not count this. Times are ns.
type BandwidthAccount struct {
	// Exhausted is the number of periods in which a queue was throttled. What
	// follows, up to Held, is summed over their first throttlings.
	Exhausted int64
	Early     int64 // from then to the end of the period
	Used      int64 // what the group had run in the period
	Running   int64 // CPUs that had tasks of it to run, the throttled one among them
	Parked    int64 // slices on CPUs that had none
	Held      int64 // slices on other CPUs that had

	// Unused is the quota that was left, in the pool or in slices, at the end of
	// periods with a throttled queue.
	Unused int64
	// Expired is what slices lost because their period was over (before v5.4).
	Expired int64
}

// bandwidthAccount is the account with what it needs to be kept.
type bandwidthAccount struct {
	BandwidthAccount
	takenBefore int64 // books.taken when the period began
	throttled   bool  // a queue has been throttled in the period
}

// Account returns the group's account up to now.
func (g *TaskGroup) Account() BandwidthAccount {
	if g.pool == nil {
		return BandwidthAccount{}
	}
	return g.pool.account.BandwidthAccount
}

// accountThrottle notes the first throttling of a period: that of q.
func (s *Scheduler) accountThrottle(q *cfsRQ) {
	p := q.tg.pool
	a := &p.account
	if a.throttled {
		return
	}
	a.throttled = true
	a.Exhausted++
	a.Early += max(0, p.next-s.now)
	a.Used += p.books.taken - a.takenBefore
	for _, other := range q.tg.queues {
		slice := max(0, other.bandwidth.remaining)
		switch {
		case other == q:
			a.Running++
		case other.nr > 0:
			a.Running++
			a.Held += slice
		default:
			a.Parked += slice
		}
	}
}

// accountPeriod closes a period; it is called before the pool is refilled.
func (p *bandwidthPool) accountPeriod() {
	a := &p.account
	if p.first != nil {
		a.Unused += max(0, p.limit.Quota-(p.books.taken-a.takenBefore))
	}
	a.takenBefore = p.books.taken
	a.throttled = false
}
