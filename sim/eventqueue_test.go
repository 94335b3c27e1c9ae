package sim

import (
	"testing"

	"pgregory.net/rapid"
)

// The tournament must agree with a scan over all CPUs, ties going to the CPU
// that comes first in the order.
func TestEventQueueAgreesWithScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "cpus")
		order := rapid.Permutation(identity(n)).Draw(t, "order")
		q := newEventQueue(order)
		at := make([]int64, n)
		for i := range at {
			at[i] = never
		}
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			cpu := rapid.IntRange(0, n-1).Draw(t, "cpu")
			at[cpu] = rapid.SampledFrom([]int64{0, 1, 2, 3, 1 << 40, never}).Draw(t, "time")
			q.set(int32(cpu), at[cpu])

			want, wantAt := 0, int64(never)
			for _, c := range order {
				if at[c] < wantAt {
					want, wantAt = c, at[c]
				}
			}
			got, gotAt := q.next()
			if gotAt != wantAt || (wantAt != never && int(got) != want) {
				t.Fatalf("next is CPU %d at %d, want CPU %d at %d", got, gotAt, want, wantAt)
			}
		}
	})
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
