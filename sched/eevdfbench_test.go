package sched

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkPick is one pick and one charge on a queue of n loops, in the order
// that they have after a while of taking turns.
func BenchmarkPick(b *testing.B) {
	for _, kernel := range []string{"v6.1", "v6.12", "v7.2"} {
		for _, n := range []int{2, 16, 256} {
			b.Run(fmt.Sprintf("%s/%d", kernel, n), func(b *testing.B) {
				l := newLab(b, uniprocessor(), kernel)
				r := rand.New(rand.NewPCG(1, uint64(n)))
				for range n {
					l.hog(TaskSpec{Nice: int8(r.IntN(7) - 3)}, 0)
				}
				l.settle()
				l.advance(second)
				now := l.clock
				b.ReportAllocs()
				for b.Loop() {
					now += 100 * microsecond
					l.Schedule(now, 0, false)
				}
			})
		}
	}
}
