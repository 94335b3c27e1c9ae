package sched

import (
	"math/bits"

	"github.com/schedlab/schedlab/machine"
)

// Tickless balancing of v3.8 (mechanisms.md 9.9).

// nohzKick38 asks for a balance when tasks wait, or when the CPU's part of its
// cache, its core, is busy on more than one CPU; at most once a jiffy in the
// long run.
func nohzKick38(s *Scheduler, rq *runqueue) uint8 {
	if s.nohz.count == 0 || s.jiffies < s.nohz.nextBalance || (rq.nr < 2 && !s.sharesBusyGroup(rq)) {
		return 0
	}
	s.nohz.nextBalance++
	return kickBalance
}

// sharesBusyGroup looks at the CPU's groups of the domains that share a cache.
func (s *Scheduler) sharesBusyGroup(rq *runqueue) bool {
	for d := rq.sd; d != nil && d.has(FlagShareLLC); d = d.Parent {
		if s.busyCPUs(d.Groups.Span) > 1 {
			return true
		}
	}
	return false
}

// busyCPUs counts the CPUs of a set whose tick is not stopped.
func (s *Scheduler) busyCPUs(span machine.CPUMask) int {
	n := 0
	for w, word := range span {
		n += bits.OnesCount64(word &^ s.nohz.idle[w])
	}
	return n
}

// nohzBalance38 balances the CPU itself, then the other tickless CPUs in
// increasing order; all of them are due together afterwards.
func nohzBalance38(s *Scheduler, rq *runqueue, _ uint8) {
	s.decayBlocked(rq)
	s.rebalance(rq, Idle)
	for c := s.nohz.idle.First(); c >= 0 && !rq.needResched; c = s.nohz.idle.Next(c + 1) {
		other := &s.rqs[c]
		if other == rq || !other.idleCPU() {
			continue
		}
		s.recordIdleLoad(other)
		s.decayBlocked(other)
		s.rebalance(other, Idle)
		rq.nextBalance = min(rq.nextBalance, other.nextBalance)
	}
	s.nohz.nextBalance = rq.nextBalance
}
