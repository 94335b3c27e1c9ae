package sched

import "math/bits"

// Lag: the virtual time of EEVDF, as far as it can be followed along the recording
// of a real kernel, which shows neither deadlines nor when a delayed sleeper left
// (mechanisms-modern.md 2.1, 2.3 to 2.5, 2.10). An entity's lag is how far it is
// behind the weighted average of its queue; it keeps its lag when it leaves and
// comes back. Only eligibility depends on it here, so only kernels whose
// balancer asks for that are followed so. A simulation knows all of EEVDF: see
// eevdf.go.

// average is V, the weighted average of the virtual times of a queue, the running
// entity included. That of an empty queue is the last one it had.
func (cfs *cfsRQ) average() int64 {
	base, c := cfs.vAverage, cfs.curr
	if c != nil && !c.onRQ {
		c = nil
	}
	switch {
	case c != nil:
		base = c.vruntime
	case len(cfs.line.slots) > 0:
		base = cfs.line.slots[0].se.vruntime
	}
	var before, after product // Σ |v−base|·w on either side
	var total int64
	add := func(e *Entity) {
		total += e.weight
		if d := e.vruntime - base; d < 0 {
			before.add(-d, e.weight)
		} else {
			after.add(d, e.weight)
		}
	}
	for i := range cfs.line.slots {
		add(cfs.line.slots[i].se)
	}
	if c != nil {
		add(c)
	}
	switch {
	case total == 0:
	case after.less(before):
		before.sub(after)
		base -= before.over(total, total-1)
	default:
		after.sub(before)
		base += after.over(total, 0)
	}
	cfs.vAverage = base
	return base
}

// over returns the product divided by n; up is added to round up.
func (p product) over(n, up int64) int64 {
	lo, carry := bits.Add64(p.lo, uint64(up), 0)
	quotient, _ := bits.Div64(p.hi+carry, lo, uint64(n))
	return int64(quotient)
}

func (p *product) sub(q product) {
	var borrow uint64
	p.lo, borrow = bits.Sub64(p.lo, q.lo, 0)
	p.hi -= q.hi + borrow
}

// scaled returns v·a/b, rounded towards zero.
func scaled(v, a, b int64) int64 {
	var p product
	if v < 0 {
		p.add(-v, a)
		return -p.over(b, 0)
	}
	p.add(v, a)
	return p.over(b, 0)
}

// noteLag takes an entity's lag before it leaves its queue, at most a slice and
// a tick of its own time.
func (s *Scheduler) noteLag(cfs *cfsRQ, se *Entity) {
	limit := toVirtual(s.tun.MinGranularity+1_000_000_000/s.hz, se.weight)
	se.lag = min(limit, max(-limit, cfs.average()-se.vruntime))
}

// placeByLag puts an entity where its lag, after it has joined, is what it was
// when it left. Who fell asleep with negative lag was delayed: it stayed until the
// average came up to it, and has none left, or still waits for that.
func (s *Scheduler) placeByLag(cfs *cfsRQ, se *Entity) {
	v := cfs.average()
	if se.delayable && se.lag < 0 {
		se.lag = min(0, max(se.lag, v-se.vruntime))
	}
	lag := se.lag
	if cfs.nr > 0 && lag != 0 {
		lag = scaled(lag, cfs.load+se.weight, cfs.load)
	}
	se.vruntime = v - lag
	se.delayable = false
}

// reweightLag keeps the lag of a queued entity in real time when its weight
// changes. It returns the new virtual time.
func (s *Scheduler) reweightLag(cfs *cfsRQ, se *Entity, weight int64) int64 {
	s.noteLag(cfs, se)
	se.lag = scaled(se.lag, se.weight, weight)
	return cfs.average() - se.lag
}

// moveInTime gives a queued entity another virtual time.
func (s *Scheduler) moveInTime(cfs *cfsRQ, se *Entity, v int64) {
	if cfs.curr == se {
		se.vruntime = v
		return
	}
	cfs.line.remove(se)
	se.vruntime = v
	cfs.line.insert(se)
}
