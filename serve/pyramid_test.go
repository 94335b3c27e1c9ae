package serve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawnRow makes a row of CPU or task with arbitrary steps, and spans in which
// others wait.
func drawnRow(t *rapid.T) *row {
	waits := newWaiting()
	r := &row{means: cpuMeaning{&waits}}
	values := []uint32{idleTask, 1, 2, 3, nobody}
	if rapid.Bool().Draw(t, "task") {
		r.means = taskMeaning{}
		values = []uint32{absent, taskValue(running, 0), taskValue(running, 5), taskValue(runnable, 0), taskValue(sleeping, 0)}
	}
	gap := rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(1, 5000))
	now := gap.Draw(t, "start")
	for range rapid.IntRange(1, 120).Draw(t, "steps") {
		r.set(now, rapid.SampledFrom(values).Draw(t, "value"))
		r.depth.set(now, uint32(rapid.IntRange(0, 5).Draw(t, "depth")))
		waits.set(now, rapid.IntRange(0, 1).Draw(t, "waiting"))
		now += gap.Draw(t, "gap")
	}
	r.last = now + 1
	waits.close(r.last)
	r.build()
	return r
}

// valueAt and depthAt look a moment up the slow way; ok is false where nothing
// is known.
func lookUp(s *steps, t int64) (v uint32, ok bool) {
	for i := range s.times {
		if s.times[i] <= t {
			v, ok = s.values[i], true
		}
	}
	return v, ok
}

// slowSummary counts nanosecond by nanosecond.
func slowSummary(r *row, from, to int64) (s summary, ran map[uint32]int64) {
	ran = map[uint32]int64{}
	for t := from; t < min(to, r.last); t++ {
		if v, ok := lookUp(&r.steps, t); ok {
			var one summary
			r.means.count(&one, v, t, t+1)
			s.busy, s.idle, s.depth = s.busy+one.busy, s.idle+one.idle, max(s.depth, one.depth)
			ran[one.key] += one.busy
		}
		if d, ok := lookUp(&r.depth, t); ok {
			s.depth = max(s.depth, uint16(d))
		}
	}
	return s, ran
}

// A pyramid tells of any bucket at any level what counting each nanosecond tells,
// and names what ran for more than half of the busy time.
func TestPyramidEqualsCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawnRow(t)
		level := rapid.IntRange(0, 22).Draw(t, "level")
		count := rapid.IntRange(1, 4).Draw(t, "count")
		first := rapid.Int64Range(0, r.last>>level+2).Draw(t, "first")
		out := make([]summary, count)
		r.summarise(out, first, level)
		for i, got := range out {
			from := (first + int64(i)) << level
			to := min(from+1<<level, r.last)
			want, ran := slowSummary(r, from, to)
			if got.busy != want.busy || got.idle != want.idle || got.depth != want.depth {
				t.Fatalf("bucket %d of level %d: %+v, want %+v", first+int64(i), level, got, want)
			}
			for key, ns := range ran {
				if 2*ns > want.busy && got.key != key {
					t.Fatalf("bucket %d of level %d names %d, but %d ran for %d of %d ns", first+int64(i), level, got.key, key, ns, want.busy)
				}
			}
		}
	})
}

func TestStepsForgetWhatLastsNoTime(t *testing.T) {
	var s steps
	s.set(5, 1)
	s.set(9, 2)
	s.set(9, 3) // instead of 2
	s.set(12, 3)
	s.set(14, 4)
	s.set(14, 3) // back: as if nothing had been
	s.set(13, 6)
	s.set(8, 7) // late: at the last moment known
	want := steps{[]int64{5, 9, 13}, []uint32{1, 3, 7}}
	if diff := cmp.Diff(want, s, cmp.AllowUnexported(steps{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for at, want := range map[int64]int{4: -1, 5: 0, 8: 0, 9: 1, 100: 2} {
		if got := s.at(at); got != want {
			t.Errorf("step at %d is %d, want %d", at, got, want)
		}
	}
	// [6, 9) overlaps the first step alone, [8, 10) both, [0, 5) none.
	for span, want := range map[[2]int64]int{{6, 9}: 1, {8, 10}: 2, {0, 5}: 0, {20, 30}: 1} {
		if got := s.within(span[0], span[1]); got != want {
			t.Errorf("%v overlaps %d steps, want %d", span, got, want)
		}
	}
}

func TestWaitingAddsUp(t *testing.T) {
	w := newWaiting()
	for _, c := range []struct {
		time  int64
		tasks int
	}{{10, 1}, {12, 3}, {20, 0}, {20, 1}, {30, 0}, {40, 2}, {40, 0}, {50, 1}} {
		w.set(c.time, c.tasks)
	}
	w.close(55)
	if diff := cmp.Diff([][]int64{{10, 50}, {30, 55}}, [][]int64{w.from, w.to}); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	for span, want := range map[[2]int64]int64{{0, 10}: 0, {0, 11}: 1, {15, 25}: 10, {0, 100}: 25, {29, 51}: 2, {60, 70}: 0} {
		if got := w.during(span[0], span[1]); got != want {
			t.Errorf("during %v: %d, want %d", span, got, want)
		}
	}
}
