package sched

import "math/bits"

// Per-entity load tracking, bit-exact in integers (mechanisms.md 2). Time is
// counted in units of 1024 ns; 1024 units make a period; a contribution
// halves every 32 periods.
const (
	peltPeriod     = 1024
	peltHalfLife   = 32
	peltMax        = 47742          // limit of the series Σ 1024·y^n
	peltMinDivider = peltMax - 1024 // divider of a full history without the current period
	peltForgotten  = 63 * peltHalfLife
)

// neverUpdated marks an average that is attached to no queue.
const neverUpdated = -1

// decayFactors holds y^n as 32-bit fractions.
var decayFactors = [peltHalfLife]uint32{
	0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6, 0xe0ccdeeb, 0xdbfbb796,
	0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85, 0xc5672a10, 0xc12c4cc9, 0xbd08a39e, 0xb8fbaf46,
	0xb504f333, 0xb123f581, 0xad583ee9, 0xa9a15ab4, 0xa5fed6a9, 0xa2704302, 0x9ef5325f, 0x9b8d39b9,
	0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a, 0x8b95c1e3, 0x88980e80, 0x85aac367, 0x82cd8698,
}

// Avg is one entity's or queue's set of geometric averages.
type Avg struct {
	last    int64 // ns of the last update, a multiple of 1024; neverUpdated if detached
	contrib int64 // units of the running period already counted, 0 to 1023

	loadSum, runnableSum, utilSum int64
	loadAvg, runnableAvg, utilAvg int64
}

// decay returns v·y^n.
func decay(v int64, n int64) int64 {
	if n > peltForgotten {
		return 0
	}
	u := uint64(v)
	if n >= peltHalfLife {
		u >>= uint(n / peltHalfLife)
		n %= peltHalfLife
	}
	hi, lo := bits.Mul64(u, uint64(decayFactors[n]))
	return int64(hi<<32 | lo>>32)
}

// accumulate brings the sums up to now. load and runnable are what is
// contributed per unit, running whether the owner executes. It reports
// whether at least one period ended, so that the averages must be refreshed.
func (a *Avg) accumulate(now, load, runnable int64, running bool) bool {
	delta := now - a.last
	if delta < 0 {
		a.last = now
		return false
	}
	delta >>= 10
	if delta == 0 {
		return false
	}
	a.last += delta << 10
	if load == 0 {
		runnable, running = 0, false
	}

	total := delta + a.contrib
	periods := total / peltPeriod
	c := delta
	if periods > 0 {
		a.loadSum = decay(a.loadSum, periods)
		a.runnableSum = decay(a.runnableSum, periods)
		a.utilSum = decay(a.utilSum, periods)
		if load != 0 {
			rest := total % peltPeriod
			c = decay(peltPeriod-a.contrib, periods) +
				(peltMax - decay(peltMax, periods) - peltPeriod) + rest
		}
	}
	a.contrib = total % peltPeriod
	if load != 0 {
		a.loadSum += load * c
		a.runnableSum += runnable * c << 10
		if running {
			a.utilSum += c << 10
		}
	}
	return periods > 0
}

// divider is what a sum is divided by to become an average.
func (a *Avg) divider() int64 { return peltMinDivider + a.contrib }

// refresh recomputes the averages from the sums; weight is the owner's weight
// for a load sum that counts time only, 1 for a queue.
func (a *Avg) refresh(weight int64) {
	d := a.divider()
	a.loadAvg = weight * a.loadSum / d
	a.runnableAvg = a.runnableSum / d
	a.utilAvg = a.utilSum / d
}

// subtract returns a−b, but never less than 0.
func subtract(a, b int64) int64 { return max(0, a-b) }
