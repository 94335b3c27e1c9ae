package sched

import "testing"

// mechanisms.md 1.2: each step of nice is about a quarter more or less; the ends
// and the middle as in the table; SCHED_IDLE is below all of them.
func Test1_2_Weights(t *testing.T) {
	for nice := int8(-20); nice < 19; nice++ {
		a, b := taskWeight(PolicyNormal, nice), taskWeight(PolicyNormal, nice+1)
		if a*100 < b*115 || a*100 > b*134 {
			t.Errorf("nice %d weighs %d, nice %d %d: not about 1.25 times", nice, a, nice+1, b)
		}
	}
	for nice, want := range map[int8]int64{-20: 88761, -10: 9548, 0: 1024, 5: 335, 10: 110, 19: 15} {
		wantInt(t, "weight", taskWeight(PolicyNormal, nice), want<<10)
		wantInt(t, "batch weighs the same", taskWeight(PolicyBatch, nice), want<<10)
		wantInt(t, "an idle task's nice does not count", taskWeight(PolicyIdle, nice), 3<<10)
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
