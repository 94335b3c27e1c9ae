package workload

import (
	"testing"

	"pgregory.net/rapid"
)

// The examples of ipc-and-benchmarks.md 6.3: 9136 = 8192 + 29.5*32 and
// 1190 = 1024 + 41.5*4 are values that the published tables show.
func TestHistogramPrintsTheMiddleOfABucket(t *testing.T) {
	for _, c := range []struct{ sample, want int64 }{
		{0, 0}, {1, 1}, {511, 511},
		{512, 513},                   // two values a bucket: 512 + 0.5*2
		{8192 + 29*32, 9136},         // first of its bucket
		{8192 + 30*32 - 1, 9136},     // last of it
		{1024 + 41*4, 1190},          // four values a bucket
		{1024 + 42*4, 1190 + 4},      // the next one
		{1 << 40, bucketValue(4863)}, // beyond the last of 19*256
	} {
		var h Histogram
		h.Add(c.sample)
		if got, _ := h.Percentile(50); got != c.want {
			t.Errorf("sample %d is shown as %d, want %d", c.sample, got, c.want)
		}
	}
}

func TestPercentileIsTheFirstBucketThatReachesTheShare(t *testing.T) {
	var h Histogram
	for v := range int64(1000) {
		h.Add(v / 10) // ten samples of each of 0 to 99
	}
	for percent, want := range map[float64]int64{50: 49, 75: 74, 90: 89, 99: 98, 99.5: 99, 99.9: 99} {
		if got, _ := h.Percentile(percent); got != want {
			t.Errorf("%v %%: %d, want %d", percent, got, want)
		}
	}
	if _, below := h.Percentile(50); below != 500 {
		t.Errorf("%d samples up to the median, want 500", below)
	}
	if h.Min != 0 || h.Max != 99 || h.Count != 1000 {
		t.Errorf("min %d, max %d, count %d", h.Min, h.Max, h.Count)
	}
}

// Any value is shown within half a bucket, 1/512 of it.
func TestHistogramPrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64Range(0, 1<<26-1).Draw(t, "value")
		var h Histogram
		h.Add(v)
		got, _ := h.Percentile(50)
		if diff := max(got-v, v-got); diff*512 > v {
			t.Fatalf("%d is shown as %d", v, got)
		}
	})
}
