package serve

// summary is what happened on a row within one bucket of time.
type summary struct {
	busy   int64  // ns in which the row ran something
	idle   int64  // ns lost: a CPU idle while others wait, a task that waits
	weight int64  // ns by which key leads, see vote
	key    uint32 // what ran for most of the busy time
	depth  uint16 // the largest depth
}

// vote counts time for a key so that a key with more than half of the busy time
// is always kept (Boyer and Moore's majority vote, which can be merged).
func (s *summary) vote(key uint32, ns int64) {
	switch {
	case key == s.key:
		s.weight += ns
	case s.weight >= ns:
		s.weight -= ns
	default:
		s.key, s.weight = key, ns-s.weight
	}
}

func (s *summary) add(o *summary) {
	s.busy += o.busy
	s.idle += o.idle
	s.depth = max(s.depth, o.depth)
	s.vote(o.key, o.weight)
}

// meaning says what the values of a row stand for.
type meaning interface {
	// count adds what it means that the row had a value over [from, to).
	count(s *summary, value uint32, from, to int64)
}

// row is a line of the timeline: a CPU or a task.
type row struct {
	steps
	depth steps // a CPU's runnable tasks; a task has none
	means meaning
	last  int64 // end of the recording

	base   int // buckets of levels[0] last 1<<base ns
	first  int64
	levels [][]summary // levels[k][i] is bucket i + first>>k of level base+k
}

// stepsPerBucket is how many steps the finest buckets of a pyramid have on
// average: the finer, the larger; the coarser, the more is walked for a tile.
const stepsPerBucket = 16

// maxLevel bounds levels; buckets of 1<<maxLevel ns last 13 days.
const maxLevel = 50

// build makes the pyramid, when all steps are known.
func (r *row) build() {
	n := len(r.times) + len(r.depth.times)
	if n == 0 {
		return
	}
	start, end := r.span()
	for r.base < maxLevel && (end-start)>>r.base > int64(n/stepsPerBucket) {
		r.base++
	}
	r.first = start >> r.base
	finest := make([]summary, (max(end-1, start)>>r.base)-r.first+1)
	r.walk(finest, r.first<<r.base, r.base)
	r.levels = append(r.levels, finest)
	for first := r.first; len(finest) > 1 || first > 0; first >>= 1 {
		finest = halved(finest, first)
		r.levels = append(r.levels, finest)
	}
}

// span is from the first step to the last change: what follows is the same to
// the end, but must be counted.
func (r *row) span() (start, end int64) {
	start = r.last
	if len(r.times) > 0 {
		start = r.times[0]
	}
	if len(r.depth.times) > 0 {
		start = min(start, r.depth.times[0])
	}
	return start, max(r.last, start+1)
}

func halved(fine []summary, first int64) []summary {
	last := first + int64(len(fine)) - 1
	coarse := make([]summary, last>>1-first>>1+1)
	for i := range fine {
		coarse[(first+int64(i))>>1-first>>1].add(&fine[i])
	}
	return coarse
}

// summarise fills out with consecutive buckets of a level, the first of which is
// bucket number first.
func (r *row) summarise(out []summary, first int64, level int) {
	k := level - r.base
	if k < 0 || len(r.levels) == 0 {
		r.walk(out, first<<level, level)
		return
	}
	// Above the top of the pyramid there is the same single bucket 0.
	shift := k
	if k >= len(r.levels) {
		k = len(r.levels) - 1
	}
	have, begin := r.levels[k], r.first>>shift
	for i := range out {
		if at := first + int64(i) - begin; at >= 0 && at < int64(len(have)) {
			out[i] = have[at]
		}
	}
}

// walk fills out with buckets of 1<<level ns from a moment on, step by step.
func (r *row) walk(out []summary, from int64, level int) {
	to := min(from+int64(len(out))<<level, r.last)
	for i := max(r.at(from), 0); i < len(r.times) && r.times[i] < to; i++ {
		eachBucket(max(r.times[i], from), min(r.end(i, r.last), to), from, level, func(bucket int, a, b int64) {
			r.means.count(&out[bucket], r.values[i], a, b)
		})
	}
	for i := max(r.depth.at(from), 0); i < len(r.depth.times) && r.depth.times[i] < to; i++ {
		depth := uint16(min(r.depth.values[i], 1<<16-1))
		eachBucket(max(r.depth.times[i], from), min(r.depth.end(i, r.last), to), from, level, func(bucket int, _, _ int64) {
			out[bucket].depth = max(out[bucket].depth, depth)
		})
	}
}

// eachBucket cuts [a, b) at the borders of buckets of 1<<level ns, the first of
// which begins at origin.
func eachBucket(a, b, origin int64, level int, f func(bucket int, a, b int64)) {
	for a < b {
		bucket := (a - origin) >> level
		end := min(b, origin+(bucket+1)<<level)
		f(int(bucket), a, end)
		a = end
	}
}
