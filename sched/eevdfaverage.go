package sched

import "math/bits"

// weightedTimes are the entities in a queue's line, summed up: V, the average of
// their virtual times by weight, is zero + times/weights (mechanisms-modern.md
// 2.1). zero follows V, so that the products stay small.
type weightedTimes struct {
	zero    int64 // ns of virtual time: V as of the last time it was asked for
	times   int64 // Σ (v − zero)·w
	weights int64 // Σ w
}

func (w *weightedTimes) add(v, weight int64) {
	w.times += (v - w.zero) * weight
	w.weights += weight
}

func (w *weightedTimes) remove(v, weight int64) {
	w.times -= (v - w.zero) * weight
	w.weights -= weight
}

// rebase measures all times from another zero.
func (w *weightedTimes) rebase(zero int64) {
	w.times -= (zero - w.zero) * w.weights
	w.zero = zero
}

func (s *Scheduler) lineUpByDeadline(cfs *cfsRQ, se *Entity, weight int64) {
	cfs.waiting.add(se.vruntime, s.time.eevdf.averageWeight(weight))
	cfs.line.insertAt(se.deadline, se)
}

func (s *Scheduler) stepOutByDeadline(cfs *cfsRQ, se *Entity) {
	cfs.waiting.remove(se.vruntime, s.time.eevdf.averageWeight(se.weight))
	cfs.line.removeAt(se.deadline, se)
}

// competing returns the sums of a queue with its running entity, which is not in
// the line.
func (s *Scheduler) competing(cfs *cfsRQ) weightedTimes {
	all := cfs.waiting
	if c := cfs.curr; c != nil && c.onRQ {
		all.add(c.vruntime, s.time.eevdf.averageWeight(c.weight))
	}
	return all
}

// virtualTime is V, rounded down; that of an empty queue is the last one it had.
func (s *Scheduler) virtualTime(cfs *cfsRQ) int64 {
	all := s.competing(cfs)
	v := all.zero
	if all.weights > 0 {
		v += floorDiv(all.times, all.weights)
	}
	cfs.waiting.rebase(v)
	return v
}

// isEligible compares v with V without dividing: Σ(v_j−v0)·w_j ≥ (v−v0)·W.
func (s *Scheduler) isEligible(cfs *cfsRQ, se *Entity) bool {
	all := s.competing(cfs)
	return !less(all.times, se.vruntime-all.zero, all.weights)
}

// less reports whether sum is less than a·b, exactly; b is not negative.
func less(sum, a, b int64) bool {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if a < 0 {
		hi -= uint64(b)
	}
	sumHi := sum >> 63
	if int64(hi) != sumHi {
		return sumHi < int64(hi)
	}
	return uint64(sum) < lo
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
