package sched

import (
	"math/bits"
	"testing"
)

// mechanisms.md 1.2: the whole table, nice -20 to 19, as sched_prio_to_weight
// prints it, and SCHED_IDLE below all of it.
func Test1_2_Weights(t *testing.T) {
	for first, row := range map[int8][]int64{
		-20: {88761, 71755, 56483, 46273, 36291},
		-15: {29154, 23254, 18705, 14949, 11916},
		-10: {9548, 7620, 6100, 4904, 3906},
		-5:  {3121, 2501, 1991, 1586, 1277},
		0:   {1024, 820, 655, 526, 423},
		5:   {335, 272, 215, 172, 137},
		10:  {110, 87, 70, 56, 45},
		15:  {36, 29, 23, 18, 15},
	} {
		for i, want := range row {
			nice := first + int8(i)
			wantInt(t, "weight", taskWeight(PolicyNormal, nice), want<<10)
			wantInt(t, "batch weighs the same", taskWeight(PolicyBatch, nice), want<<10)
			wantInt(t, "an idle task's nice does not count", taskWeight(PolicyIdle, nice), 3<<10)
		}
	}
	// Each step of nice is about a quarter more or less.
	for nice := int8(-20); nice < 19; nice++ {
		a, b := taskWeight(PolicyNormal, nice), taskWeight(PolicyNormal, nice+1)
		if a*100 < b*115 || a*100 > b*134 {
			t.Errorf("nice %d weighs %d, nice %d %d: not about 1.25 times", nice, a, nice+1, b)
		}
	}
}

// mechanisms.md 1.2, "Scaled multiplication": the kernel multiplies by an inverse
// that was rounded down, 2^32/w, and shifts. That loses at most one part in
// 2^32/w, which is w/2^32 of the result, and the fraction of a nanosecond; the
// plain quotient used here is never less.
func Test1_2_PlainQuotientAgainstTheInverse(t *testing.T) {
	byInverse := func(delta, weight, total int64) int64 {
		hi, lo := bits.Mul64(uint64(delta*weight), 1<<32/uint64(total))
		return int64(hi<<32 | lo>>32)
	}
	wantInt(t, "inverse of SCHED_IDLE's weight", 1<<32/weightIdle, 1431655765)
	wantInt(t, "inverse of nice 0", 1<<32/nice0Weight, 4194304)
	// 3 ms of nice 5: 9170149.25 exactly, 9170148.9 by the inverse 12820798.
	wantInt(t, "nice 5 in the kernel", byInverse(3_000_000, nice0Weight, 335), 9_170_148)
	wantInt(t, "nice 5 here", calcDelta(3_000_000, nice0Weight, 335), 9_170_149)
	for _, w := range niceWeights {
		for _, total := range []int64{w, w + nice0Weight, 10 * w} {
			const delta = 24_000_000
			plain, inverse := calcDelta(delta, w, total), byInverse(delta, w, total)
			if most := plain*total>>32 + 1; plain < inverse || plain-inverse > most {
				t.Errorf("24 ms * %d/%d: %d here, %d by the inverse; at most %d apart", w, total, plain, inverse, most)
			}
		}
	}
}

// mechanisms.md 0.3: scaling a non-zero weight down never gives less than 2.
func Test0_3_ScaleDown(t *testing.T) {
	for _, c := range []struct{ stored, want int64 }{
		{0, 0}, {1, 2}, {2, 2}, {3071, 2}, {3072, 3}, {1024 << 10, 1024}, {1024<<10 + 1023, 1024},
	} {
		wantInt(t, "table scale", scaleDown(c.stored), c.want)
	}
}
