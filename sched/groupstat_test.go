package sched

import "testing"

// The worked examples of mechanisms.md 9.11: a group of two CPUs, capacity
// 2048, imbalance_pct 117.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name       string
		g          groupStats
		imbalanced bool
		want       groupType
	}{
		// 3 > 2 tasks and 2048·100 = 204800 < 1800·117 = 210600.
		{"9.11 three tasks, util 1800: overloaded", groupStats{nr: 3, util: 1800, runnable: 2900}, false, groupOverloaded},
		// 2 tasks on 2 CPUs; 204800 > 1000·117 = 117000 and 2048·117 ≥ 1024·100.
		{"9.11 two tasks, util 1000: has spare", groupStats{nr: 2, util: 1000, runnable: 1024}, false, groupHasSpare},
		// 204800 < 210600 but nr is not above the weight.
		{"9.11 two tasks, util 1800: fully busy", groupStats{nr: 2, util: 1800, runnable: 2048}, false, groupFullyBusy},
		// One CPU free: spare whatever the averages say.
		{"fewer tasks than CPUs: has spare", groupStats{nr: 1, util: 2048, runnable: 9000}, false, groupHasSpare},
		// 2048·117 = 239616 < 2397·100 with utilization that would fit.
		{"three tasks that wait much: overloaded", groupStats{nr: 3, util: 1000, runnable: 2397}, false, groupOverloaded},
		// 239616 ≥ 2396·100 and 204800 > 117000: more tasks than CPUs, yet room.
		{"three tasks that wait little: has spare", groupStats{nr: 3, util: 1000, runnable: 2396}, false, groupHasSpare},
		{"imbalance flag outranks fully busy", groupStats{nr: 2, util: 1800, runnable: 2048}, true, groupImbalanced},
		{"overload outranks the imbalance flag", groupStats{nr: 3, util: 1800, runnable: 2900}, true, groupOverloaded},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.g.weight, c.g.capacity = 2, 2048
			if got := c.g.classify(117, c.imbalanced); got != c.want {
				t.Errorf("classify = %v, want %v", got, c.want)
			}
		})
	}
}
