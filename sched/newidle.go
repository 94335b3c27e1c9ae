package sched

// Balancing by a CPU that is about to go idle (mechanisms.md 9.8). It costs
// the time of a CPU that has nothing to do, but delays whatever is woken on it
// next; so it is bounded by how long the CPU usually idles and by what a pass
// has cost before.

// newidleRules is what differs in newidle balancing.
type newidleRules struct {
	// tooShort reports whether the CPU usually idles too briefly to try.
	tooShort func(s *Scheduler, rq *runqueue) bool
	// seesPending: a wakeup waiting on the CPU's wake list ends the search.
	seesPending bool
	// refusesWork: a pass is refused once the CPU has work (v6.0).
	refusesWork bool
	// chargesUpdate: decaying the CPU's blocked averages counts as cost of the
	// first pass.
	chargesUpdate bool
	// costRestartsDecay: a new highest cost stays for a whole second.
	costRestartsDecay bool
	// decaysNohz: passes decay the blocked load of tickless CPUs that they look
	// at (v5.10).
	decaysNohz bool
	// updatesWhenTooShort and updatesAtEnd say when the CPU decays the blocked
	// load of tickless CPUs: when it does not search, or whenever it found
	// nothing.
	updatesWhenTooShort, updatesAtEnd bool
	// rollsDice reports whether NI_RANDOM applies to a domain (newidlerate.go);
	// nil: the kernel has no such feature.
	rollsDice func(d *Domain) bool
	// whole replaces all of this (newidle38.go).
	whole func(s *Scheduler, rq *runqueue) int
	// longIdleFills: an idle period longer than what can be averaged counts as
	// all of that at once (before v3.14 [M]).
	longIdleFills bool
}

func shorterThanMigration(s *Scheduler, rq *runqueue) bool { return rq.avgIdle < s.tun.MigrationCost }

func shorterThanLowestDomain(_ *Scheduler, rq *runqueue) bool {
	return rq.sd != nil && rq.avgIdle < rq.sd.maxNewidleCost
}

// newidleBalance tries to find work for a CPU without any. It returns how many
// tasks it has now, or 0. Tasks of other scheduling classes do not exist here,
// so the kernel's −1 for them does not either.
func (s *Scheduler) newidleBalance(rq *runqueue) int {
	rules := &s.profile.Balance.newidle
	if s.observer != nil {
		s.observer.LooksForWork(int(rq.cpu))
	}
	if rules.seesPending && rq.wakePending {
		return 0
	}
	if rules.whole != nil {
		return rules.whole(s, rq)
	}
	rq.idleStamp = s.now
	next := s.jiffies + s.hz
	pulled := 0
	searched := s.overload && !rules.tooShort(s, rq)
	if searched {
		pulled, next = s.searchDomains(rq, next)
	} else if d := rq.sd; d != nil {
		next = min(next, d.lastBalance+s.idleInterval(d))
	}
	rq.nextBalance = min(rq.nextBalance, next)
	switch {
	case pulled > 0:
		rq.idleStamp = 0
	case rules.updatesAtEnd || (rules.updatesWhenTooShort && !searched):
		s.updateIdleLoads(rq)
	}
	return pulled
}

// searchDomains makes passes from the lowest domain upwards until one yields a
// task or the CPU's usual idle time would be used up. next is when the CPU's
// domains are due next.
func (s *Scheduler) searchDomains(rq *runqueue, next int64) (pulled int, _ int64) {
	rules := &s.profile.Balance.newidle
	s.enterBalancing(rq)
	mark := s.spent()
	s.decayBlocked(rq)
	if !rules.chargesUpdate {
		mark = s.spent()
	}
	var spent int64
	overloadNearby := false
	if v := s.variants.pull; v != nil {
		overloadNearby = v.beforeNewidle(s, rq)
		if v.chargesNewidle {
			spent, mark = s.elapsed(mark), s.spent()
		}
	}
	for d := rq.sd; d != nil; d = d.Parent {
		s.work.DomainSteps++
		next = min(next, d.lastBalance+s.idleInterval(d))
		if rq.avgIdle < spent+d.maxNewidleCost {
			break
		}
		if d.has(FlagBalanceNewidle) {
			weight, skip := s.rollDice(d)
			if skip {
				continue
			}
			moved := s.balancePass(rq, d, NewlyIdle).moved
			pulled += moved
			cost := s.elapsed(mark)
			mark = s.spent()
			s.raiseNewidleCost(d, cost)
			if cost > 0 && moved > 0 {
				s.countNewidle(d, weight)
			} else if cost > 0 {
				s.countNewidle(d, 0)
			}
			spent += cost
		}
		if s.variants.newidleDone(rq, pulled, overloadNearby) || (rules.seesPending && rq.wakePending) {
			break
		}
	}
	s.setMaxIdleBalanceCost(rq, max(rq.maxIdleBalanceCost, spent))
	if pulled == 0 && rq.cfs.h > 0 {
		pulled = 1
	}
	return pulled, next
}

func (s *Scheduler) raiseNewidleCost(d *Domain, cost int64) {
	if cost > d.maxNewidleCost {
		d.maxNewidleCost = cost
		if s.profile.Balance.newidle.costRestartsDecay {
			d.lastDecay = s.jiffies
		}
	} else if s.profile.Balance.newidle.costRestartsDecay {
		decayNewidleCost(s, d)
	}
}
