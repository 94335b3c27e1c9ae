package sched

import "math/bits"

// Load weights (mechanisms.md 1.2). An entity stores its weight with ten more
// bits than the table ("stored scale"); most formulas use the table scale.
const (
	weightShift  = 10
	nice0Weight  = 1024
	nice0Stored  = nice0Weight << weightShift
	weightIdle   = 3
	minShares    = 2       // stored scale, floor of a group entity's weight
	maxShares    = 1 << 18 // table scale
	capacityFull = 1024
)

// niceWeights holds the weights of nice -20 to 19.
var niceWeights = [40]int64{
	88761, 71755, 56483, 46273, 36291,
	29154, 23254, 18705, 14949, 11916,
	9548, 7620, 6100, 4904, 3906,
	3121, 2501, 1991, 1586, 1277,
	1024, 820, 655, 526, 423,
	335, 272, 215, 172, 137,
	110, 87, 70, 56, 45,
	36, 29, 23, 18, 15,
}

// taskWeight returns the stored-scale weight of a policy and nice value.
func taskWeight(policy Policy, nice int8) int64 {
	if policy == PolicyIdle {
		return weightIdle << weightShift
	}
	return niceWeights[int(nice)+20] << weightShift
}

// scaleDown converts a stored weight to the table scale; a non-zero weight
// never becomes less than 2.
func scaleDown(w int64) int64 {
	if w == 0 {
		return 0
	}
	return max(2, w>>weightShift)
}

// calcDelta returns delta * weight / queueWeight for non-negative operands
// without overflow; both weights are on the same scale.
func calcDelta(delta, weight, queueWeight int64) int64 {
	if weight == queueWeight {
		return delta
	}
	hi, lo := bits.Mul64(uint64(delta), uint64(weight))
	if hi == 0 {
		return int64(lo / uint64(queueWeight))
	}
	q, _ := bits.Div64(hi%uint64(queueWeight), lo, uint64(queueWeight))
	return int64(q)
}

// toVirtual converts delta nanoseconds of running into virtual time for an
// entity of the given stored weight. Like every division by a weight it works
// on the table scale: a group with next to no share ages 512 times as fast as
// a nice-0 task, not half a million times.
func toVirtual(delta, weight int64) int64 {
	if weight == nice0Stored {
		return delta
	}
	return calcDelta(delta, nice0Weight, scaleDown(weight))
}
