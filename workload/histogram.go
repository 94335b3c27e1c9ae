package workload

import "math/bits"

// The buckets of a [Histogram]: values below exactValues have one each, larger
// ones share 256 per power of two.
const (
	bucketBits   = 8
	bucketGroup  = 1 << bucketBits
	bucketGroups = 19
	numBuckets   = bucketGroups * bucketGroup
	exactValues  = 2 * bucketGroup
)

// Histogram counts samples as schbench does (ipc-and-benchmarks.md 6.3), to
// the relative precision of 1/512.
type Histogram struct {
	Count    int64
	Min, Max int64 // of all samples; 0 without any
	Sum      int64 // of all samples
	buckets  [numBuckets]int64
}

// Add counts one sample; negative ones count as 0.
func (h *Histogram) Add(value int64) {
	value = max(0, value)
	if h.Count == 0 || value < h.Min {
		h.Min = value
	}
	h.Max = max(h.Max, value)
	h.Count++
	h.Sum += value
	h.buckets[bucketOf(value)]++
}

// Merge adds the samples of another histogram.
func (h *Histogram) Merge(o *Histogram) {
	switch {
	case o.Count == 0:
		return
	case h.Count == 0:
		h.Min = o.Min
	}
	h.Min, h.Max = min(h.Min, o.Min), max(h.Max, o.Max)
	h.Count, h.Sum = h.Count+o.Count, h.Sum+o.Sum
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
}

// bucketOf is the bucket of a value; the last one takes what is beyond.
func bucketOf(value int64) int {
	if value < exactValues {
		return int(value)
	}
	shift := bits.Len64(uint64(value)) - 1 - bucketBits
	within := int(value>>shift) & (bucketGroup - 1)
	return min(numBuckets-1, (shift+1)<<bucketBits+within)
}

// bucketValue is the middle of a bucket, rounded down.
func bucketValue(bucket int) int64 {
	if bucket < exactValues {
		return int64(bucket)
	}
	shift := bucket>>bucketBits - 1
	base := int64(1) << (shift + bucketBits)
	within := int64(bucket & (bucketGroup - 1))
	return base + (2*within+1)<<shift/2
}

// Percentile returns the value of the first bucket up to which a share of
// percent/100 of the samples, or more, are counted, and how many samples lie
// up to there. It returns zeros without samples.
func (h *Histogram) Percentile(percent float64) (value, below int64) {
	if h.Count == 0 {
		return 0, 0
	}
	want := percent / 100 * float64(h.Count)
	for bucket, n := range h.buckets {
		below += n
		if float64(below) >= want {
			return bucketValue(bucket), below
		}
	}
	return bucketValue(numBuckets - 1), below
}

// Recorder is a histogram in the making.
type Recorder struct {
	// Samples are those since the last time they were forgotten.
	Samples Histogram
	// Snapshots are copies taken on the way, oldest first.
	Snapshots []Histogram
	// Tally counts events without a sample, since the last time it was forgotten.
	Tally int64
}
