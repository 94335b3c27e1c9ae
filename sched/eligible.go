package sched

import "math/bits"

// eligible reports whether an entity has had no more than its share: its
// virtual time is not after the average of its queue, weighted, the running
// entity included (mechanisms-modern.md 2.1: Σ(v_j−v0)·w_j ≥ (v−v0)·Σw). The
// products are exact.
func (cfs *cfsRQ) eligible(se *Entity) bool {
	var before, after product // Σ |v_j−v|·w_j of the entities on either side of v
	add := func(e *Entity) {
		if d := e.vruntime - se.vruntime; d < 0 {
			before.add(-d, e.weight)
		} else {
			after.add(d, e.weight)
		}
	}
	for i := range cfs.line.slots {
		add(cfs.line.slots[i].se)
	}
	if c := cfs.curr; c != nil && c.onRQ {
		add(c)
	}
	return !after.less(before)
}

// product is a sum of products of non-negative numbers.
type product struct{ hi, lo uint64 }

func (p *product) add(a, b int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	var carry uint64
	p.lo, carry = bits.Add64(p.lo, lo, 0)
	p.hi += hi + carry
}

func (p product) less(q product) bool { return p.hi < q.hi || (p.hi == q.hi && p.lo < q.lo) }
