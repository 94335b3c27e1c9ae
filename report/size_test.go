package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/schedlab/schedlab/occupancy"
	"github.com/schedlab/schedlab/stats"
)

// largest is a table with as much in it as documents have: 15 rows, 4 variants,
// 10 repeats, and two recordings of a machine with 96 CPUs without any order,
// which images cannot make small.
func largest(number int, random *rand.Rand) (stats.Table, *Recording) {
	t := stats.Table{Machine: "large", Benchmark: fmt.Sprint("benchmark-", number), Environment: "quiet"}
	for _, v := range []string{"vanilla", "first", "second", "third"} {
		t.Columns = append(t.Columns, stats.Column{Variant: v, Machine: "large", Kernel: "v5.17"})
	}
	for row := range 15 {
		samples := make([][]float64, len(t.Columns))
		line := stats.LatencyRow{Label: fmt.Sprint(row), ByColumn: make([]*stats.Latency, len(t.Columns))}
		for column := range samples {
			line.ByColumn[column] = &stats.Latency{}
			for range 10 {
				samples[column] = append(samples[column], 1+random.Float64())
			}
			for range 2000 {
				line.ByColumn[column].Add(1<<random.IntN(30)+random.Int64N(1000), 1)
			}
		}
		t.Rows = append(t.Rows, stats.NewRow("Amean", fmt.Sprint(row), "seconds", stats.Lower, samples))
		t.Latencies = append(t.Latencies, line)
	}
	r := &Recording{Row: "3"}
	for column := range 2 {
		m := &occupancy.Map{Width: 1e6, Length: 600e6}
		for range 96 {
			slices := make([]occupancy.Slice, 600)
			for i := range slices {
				slices[i].In[random.IntN(occupancy.NumStates)] = 1e6
			}
			m.CPUs = append(m.CPUs, slices)
		}
		r.Variants = append(r.Variants, RecordedVariant{Column: column, Map: m})
	}
	return t, r
}

// A page of 24 such tables, more than any document's full run has, stays below
// 5 MB.
func TestLargeReportsStaySmall(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const measured, tables = 3, 24
	var all []stats.Table
	var recordings []*Recording
	for i := range measured {
		table, recording := largest(i, random)
		all, recordings = append(all, table), append(recordings, recording)
	}
	var b bytes.Buffer
	if err := Page("large", all, recordings).Write(&b); err != nil {
		t.Fatal(err)
	}
	if size := b.Len() / measured * tables; size > 5_000_000 {
		t.Errorf("%d bytes for %d tables", size, tables)
	} else {
		t.Logf("%d bytes for %d tables", size, tables)
	}
}
