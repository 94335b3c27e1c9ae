package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
)

// Latency is a histogram of latencies in ns. Its classes are as wide as a
// sixteenth of the power of two below them, so that a value is known to about
// 6 %.
type Latency struct {
	counts map[int]int64 // by class
	total  int64
	most   int64
}

// LatencyRow are the latencies of one benchmark row, by column: of all repeats
// together, nil where there are none.
type LatencyRow struct {
	Label    string
	ByColumn []*Latency
}

// classBits is how many bits after the first one tell a class.
const classBits = 4

func classOf(ns int64) int {
	ns = max(ns, 0)
	if ns < 1<<(classBits+1) {
		return int(ns)
	}
	shift := bits.Len64(uint64(ns)) - 1 - classBits
	return shift<<classBits + int(ns>>shift)
}

// upper is the largest value of a class.
func upper(class int) int64 {
	if class < 1<<(classBits+1) {
		return int64(class)
	}
	shift := class>>classBits - 1
	return (int64(class&(1<<classBits-1)+1<<classBits)+1)<<shift - 1
}

// Add counts a latency so many times.
func (l *Latency) Add(ns, times int64) {
	if times <= 0 {
		return
	}
	if l.counts == nil {
		l.counts = map[int]int64{}
	}
	l.counts[classOf(ns)] += times
	l.total += times
	l.most = max(l.most, ns)
}

// Merge adds what another histogram counted.
func (l *Latency) Merge(o *Latency) {
	for class, n := range o.counts { // in any order: sums
		l.Add(min(upper(class), o.most), n)
	}
}

// Count is how many latencies were counted.
func (l *Latency) Count() int64 { return l.total }

// Max is the largest latency, in ns.
func (l *Latency) Max() int64 { return l.most }

// LatencyPoint says that Percent of all latencies are NS or less.
type LatencyPoint struct {
	Percent float64
	NS      int64
}

// Curve lists the classes from the shortest latency on. The last point, of 100
// percent, is the largest latency.
func (l *Latency) Curve() []LatencyPoint {
	var points []LatencyPoint
	seen := int64(0)
	for class := range classOf(l.most) + 1 {
		if n := l.counts[class]; n > 0 {
			seen += n
			points = append(points, LatencyPoint{100 * float64(seen) / float64(l.total), min(upper(class), l.most)})
		}
	}
	return points
}

// Percentile is a latency that so many percent do not exceed, in ns; 0 when
// nothing was counted.
func (l *Latency) Percentile(percent float64) int64 {
	wanted := int64(math.Ceil(percent / 100 * float64(l.total)))
	seen := int64(0)
	for class := range classOf(l.most) + 1 {
		if seen += l.counts[class]; seen >= wanted && seen > 0 {
			return min(upper(class), l.most)
		}
	}
	return l.most
}

// latencyJSON is the short form: pairs of class and count, ascending.
type latencyJSON struct {
	Max    int64   `json:"max_ns"`
	Counts []int64 `json:"counts"`
}

// MarshalJSON implements json.Marshaler.
func (l *Latency) MarshalJSON() ([]byte, error) {
	form := latencyJSON{Max: l.most, Counts: []int64{}}
	for class := range classOf(l.most) + 1 {
		if n := l.counts[class]; n > 0 {
			form.Counts = append(form.Counts, int64(class), n)
		}
	}
	return json.Marshal(form)
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *Latency) UnmarshalJSON(data []byte) error {
	var form latencyJSON
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	*l = Latency{most: form.Max}
	if len(form.Counts)%2 != 0 {
		return fmt.Errorf("a histogram with %d numbers, which come in pairs", len(form.Counts))
	}
	for i := 0; i < len(form.Counts); i += 2 {
		class, n := form.Counts[i], form.Counts[i+1]
		if class < 0 || class > int64(classOf(form.Max)) || n <= 0 {
			return fmt.Errorf("%d latencies of class %d in a histogram up to %d ns", n, class, form.Max)
		}
		if l.counts == nil {
			l.counts = map[int]int64{}
		}
		l.counts[int(class)] += n
		l.total += n
	}
	return nil
}
