package sched

import (
	"fmt"
	"math"
	"math/bits"
)

// CFS bandwidth control: a group gets at most its quota of CPU time in every
// period (mechanisms.md 4, mechanisms-modern.md 3). The group has a pool of
// runtime that its period timer refills. Its queue on each CPU takes slices
// from the pool and pays with them for what its tasks run. A queue that cannot
// pay is throttled until the pool has runtime again.
//
// This file has the state and the limit, bandwidthpay.go how queues take, pay
// and give back, bandwidththrottle.go how they vanish and come back,
// bandwidthtimer.go the timers, bandwidthtask.go the throttling of single tasks
// and throttlestate.go a patch of 2011.

// Unlimited is the [Limit.Quota] of a group without a limit.
const Unlimited = math.MaxInt64

const (
	minQuota      = 1_000_000     // ns; also the shortest period
	maxPeriod     = 1_000_000_000 // ns
	defaultPeriod = 100_000_000   // ns

	keptOnReturn   = 1_000_000 // ns that an emptied queue keeps of its slice
	slackPeriod    = 5_000_000 // ns from a return to its distribution
	refreshTooSoon = 2_000_000 // ns before a refill, in which distributing is not worth it
)

// Limit is what cpu.max and cpu.max.burst say, in ns.
type Limit struct {
	Quota  int64 // CPU time per period, at least 1 ms, or Unlimited
	Period int64 // 1 ms to 1 s
	Burst  int64 // unused quota that later periods may use, 0 to Quota
}

// NoLimit returns cpu.max of a group that nobody has limited.
func NoLimit() Limit { return Limit{Quota: Unlimited, Period: defaultPeriod} }

// BandwidthStats are the counters of cpu.stat that bandwidth control writes;
// times are ns.
type BandwidthStats struct {
	Periods       int64 // nr_periods: that ended while the group was active
	Throttled     int64 // nr_throttled: those at whose end a queue was throttled
	ThrottledTime int64 // throttled_usec: Σ over CPUs, finished throttlings only
	Bursts        int64 // nr_bursts: periods that used more than the quota
	BurstTime     int64 // burst_usec: what they used beyond it
}

// bandwidthRules is what differs between kernels.
type bandwidthRules struct {
	// expiry: what a queue has not used by the end of the period is lost; nil:
	// it keeps it (v5.4).
	expiry *expiryRules
	// burst: cpu.max.burst exists (v5.14).
	burst bool
	// refillsFirst: the pool is refilled even when its timer then stops (v5.14).
	refillsFirst bool
	// refillsInactive: a pool whose timer had stopped is refilled when a queue
	// asks it (v3.2); afterwards the pool is full when its timer stops.
	refillsInactive bool
	// throttlesAtPick: a queue out of runtime is found before the choice of the
	// next task, and newidle balancing follows (v3.15 [M]). Before, the CPU looks
	// for work first, then puts the running task back, and only that throttles.
	throttlesAtPick bool
	// asksOnceMore: a queue about to be throttled asks the pool for the least
	// that lets it run (v5.8).
	asksOnceMore bool
	// newestFirst: what was throttled last is served first (v3.17 to v4.19 [M]).
	newestFirst bool
	// returnsWhileBusy is v3.2's inverted test: a queue gives back when it has
	// tasks left instead of when it has none (mechanisms.md 4.10, 2).
	returnsWhileBusy bool
	// alwaysHooked: the hooks cost even while no group has a limit (before v3.3).
	alwaysHooked bool
	// states: throttle states (throttlestate.go).
	states bool
	// remoteByIPI: other CPUs unthrottle their own queues (v6.6).
	remoteByIPI bool
	// randomPhase: periods begin anywhere, not at multiples of their length
	// since boot (v6.12).
	randomPhase bool
	// clockNeedsTasks: an empty queue's time does not count as throttled (v6.6).
	clockNeedsTasks bool
}

var (
	bandwidth32 = bandwidthRules{expiry: &expiry32, refillsInactive: true, returnsWhileBusy: true, alwaysHooked: true}
	bandwidth38 = bandwidthRules{expiry: &expiry32, refillsInactive: true} // with the patches that were merged in v3.3
	// Between v3.16 and v4.18 a mistake kept slices from expiring [M].
	bandwidth414 = bandwidthRules{expiry: &expiry414, throttlesAtPick: true, newestFirst: true}
	bandwidth418 = bandwidthRules{expiry: &expiry418, throttlesAtPick: true, newestFirst: true}
	bandwidth54  = bandwidthRules{throttlesAtPick: true}
	bandwidth510 = bandwidthRules{throttlesAtPick: true, asksOnceMore: true}
	bandwidth517 = bandwidthRules{throttlesAtPick: true, asksOnceMore: true, burst: true, refillsFirst: true}
	// v7.2 throttles tasks: when, is Profile.ThrottlesTasks.
	bandwidth612 = bandwidthRules{
		throttlesAtPick: true, asksOnceMore: true, burst: true, refillsFirst: true,
		remoteByIPI: true, randomPhase: true, clockNeedsTasks: true,
	}
)

// bandwidthPatches are what the document of 2011 adds to v3.2.
var bandwidthPatches = Features(BandwidthStaticKey, BandwidthReturnFix, ThrottleStates)

// withPatches returns the rules of a kernel with these features.
func (r bandwidthRules) withPatches(features FeatureSet) bandwidthRules {
	if features.Has(BandwidthStaticKey) {
		r.alwaysHooked = false
	}
	if features.Has(BandwidthReturnFix) {
		r.returnsWhileBusy = false
	}
	if features.Has(ThrottleStates) {
		r.states = true
	}
	if features.Has(BandwidthExpiry) {
		r.expiry = &expiry418
	}
	return r
}

// bandwidthPool is the runtime that a group's queues share.
type bandwidthPool struct {
	limit   Limit
	runtime int64 // ns left
	snap    int64 // runtime after the last refill
	// expires and refills stamp slices where they expire: the end of the period,
	// and its number.
	expires, refills int64

	idle         bool // nobody has asked since the last refill
	active       bool // the period timer runs
	firing       bool // it is being handled
	slackStarted bool
	next         int64 // ns: when the period ends

	first, last *cfsRQ // throttled queues, in the order of their turn

	periodTimer, slackTimer Timer

	stats   BandwidthStats
	books   bandwidthBooks
	account bandwidthAccount
}

// bandwidthBooks balance: what was filled in is in the pool, was taken, or was
// lost (checked by the invariants). All ns.
type bandwidthBooks struct{ filled, taken, lost int64 }

// queueBandwidth is a queue's part of its group's bandwidth; nil while the
// group has never had a limit.
type queueBandwidth struct {
	enabled          bool
	throttled        bool  // on the pool's list
	comesBack        bool  // on its CPU's list of queues to unthrottle
	remaining        int64 // ns to run; negative is debt
	expires, refills int64 // stamp of the slice
	throttledAt      int64 // ns
	clockRuns        bool  // throttledAt counts
	next, prev       *cfsRQ
}

// Limit returns the group's cpu.max and cpu.max.burst. The kernel itself
// lengthens periods that are too short for their own timer.
func (g *TaskGroup) Limit() Limit {
	if g.pool == nil {
		return NoLimit()
	}
	return g.pool.limit
}

// BandwidthStats returns the group's counters.
func (g *TaskGroup) BandwidthStats() BandwidthStats {
	if g.pool == nil {
		return BandwidthStats{}
	}
	return g.pool.stats
}

// Throttled reports whether the group itself is throttled on a CPU.
func (g *TaskGroup) Throttled(cpu int) bool {
	b := g.queues[cpu].bandwidth
	return b != nil && b.throttled
}

// SetLimit writes cpu.max and cpu.max.burst of a group, which may be running:
// the pool is refilled, slices are void, and what is throttled is set free. A
// value out of range, or a child that may use more CPUs than its parent, is an
// error and changes nothing.
func (s *Scheduler) SetLimit(now int64, g *TaskGroup, l Limit) error {
	if err := s.checkLimit(g, l); err != nil {
		return err
	}
	s.setNow(now)
	if g.pool == nil {
		if l.Quota == Unlimited {
			return nil
		}
		s.initPool(g)
	}
	p := g.pool
	enabled := l.Quota != Unlimited
	s.countLimited(p, enabled)
	p.limit = l
	if enabled {
		s.refill(p)
		s.startPeriod(p, s.online.First())
	}
	for cpu, q := range g.queues {
		if !s.online.Has(cpu) {
			continue
		}
		s.resetSlice(p, q, enabled)
	}
	return nil
}

// resetSlice makes a queue begin anew under a changed limit.
func (s *Scheduler) resetSlice(p *bandwidthPool, q *cfsRQ, enabled bool) {
	b := q.bandwidth
	p.books.lost += b.remaining // a debt is forgiven
	b.enabled, b.remaining = enabled, 0
	switch {
	case b.throttled:
		s.unthrottle(q)
	case q.throttled:
		s.leaveThrottling(q)
	}
}

func (s *Scheduler) initPool(g *TaskGroup) {
	p := &bandwidthPool{limit: NoLimit()}
	p.periodTimer = Timer{pool: p}
	p.slackTimer = Timer{pool: p, slack: true}
	if s.bandwidth.randomPhase {
		p.next = int64(s.dice()) % defaultPeriod
	}
	g.pool = p
	queues := make([]queueBandwidth, len(g.queues))
	for cpu := range g.queues {
		g.queues[cpu].bandwidth = &queues[cpu]
	}
}

// countLimited keeps the switch that turns the hooks of bandwidth control on.
func (s *Scheduler) countLimited(p *bandwidthPool, enabled bool) {
	was := p.limit.Quota != Unlimited
	switch {
	case enabled && !was:
		s.limitedGroups++
	case was && !enabled:
		s.limitedGroups--
	}
	s.hooked = s.limitedGroups > 0 || s.bandwidth.alwaysHooked
}

func (s *Scheduler) checkLimit(g *TaskGroup, l Limit) error {
	switch {
	case g.parent == nil:
		return fmt.Errorf("cpu.max cannot be set on the root group")
	case l.Period < minQuota || l.Period > maxPeriod:
		return fmt.Errorf("cpu.max of %s: the period must be between 1000 us (1 ms) and 1000000 us (1 s), not %s", g.name, usec(l.Period))
	case l.Quota <= 0:
		return fmt.Errorf("cpu.max of %s: a limit of %s is no time to run in; write at least 1000 (1 ms), or max for no limit", g.name, usec(l.Quota))
	case l.Quota < minQuota:
		return fmt.Errorf("cpu.max of %s: the limit must be at least 1000 us, not %s", g.name, usec(l.Quota))
	case l.Burst < 0:
		return fmt.Errorf("cpu.max.burst of %s is negative", g.name)
	case l.Burst > 0 && !s.bandwidth.burst:
		return fmt.Errorf("kernel %s has no cpu.max.burst (group %s); it came with v5.14", s.profile.Name, g.name)
	case l.Burst > l.Quota:
		return fmt.Errorf("cpu.max.burst of %s: %s is more than its limit of %s; a group can save at most one period's quota", g.name, usec(l.Burst), usec(l.Quota))
	}
	return s.checkFits(g, l)
}

func usec(ns int64) string { return fmt.Sprintf("%d us", ns/1000) }

// checkFits compares a limit with the nearest limits above and below: what a
// group may use is part of what its parent may use (mechanisms.md 4.8).
func (s *Scheduler) checkFits(g *TaskGroup, l Limit) error {
	if l.Quota == Unlimited {
		return nil
	}
	for up := g.parent; up != nil; up = up.parent {
		if above := up.Limit(); above.Quota != Unlimited {
			if l.exceeds(above) {
				return childAboveParent(g.name, l, up.name, above)
			}
			break
		}
	}
	for _, below := range s.groups {
		if below == g || !below.within(g) {
			continue
		}
		if b := below.Limit(); b.Quota != Unlimited && b.exceeds(l) {
			return childAboveParent(below.name, b, g.name, l)
		}
	}
	return nil
}

func childAboveParent(child string, c Limit, parent string, p Limit) error {
	return fmt.Errorf("cpu.max of %s: %s CPUs are more than the %s CPUs of %s above it; a child may not have more than its parent",
		child, c.cpus(), p.cpus(), parent)
}

// exceeds compares two limits by how many CPUs they amount to.
func (l Limit) exceeds(o Limit) bool {
	high, low := bits.Mul64(uint64(l.Quota), uint64(o.Period))
	otherHigh, otherLow := bits.Mul64(uint64(o.Quota), uint64(l.Period))
	return high > otherHigh || (high == otherHigh && low > otherLow)
}

func (l Limit) cpus() string { return fmt.Sprintf("%.3g", float64(l.Quota)/float64(l.Period)) }

// freeLimited lets the queues of a CPU that goes offline run without limit, so
// that their tasks can leave.
func (s *Scheduler) freeLimited(rq *runqueue) {
	s.HandleUnthrottle(s.now, int(rq.cpu))
	for _, g := range s.groups {
		if g.pool != nil {
			s.resetSlice(g.pool, g.queues[rq.cpu], false)
		}
	}
}

// limitQueues limits the queues of a CPU that has come online.
func (s *Scheduler) limitQueues(rq *runqueue) {
	for _, g := range s.groups {
		if g.pool != nil {
			g.queues[rq.cpu].bandwidth.enabled = g.pool.limit.Quota != Unlimited
		}
	}
}

// HasBurst reports whether the kernel has cpu.max.burst.
func (p *Profile) HasBurst() bool { return p.Bandwidth.burst }
