package experiment

import "github.com/schedlab/schedlab/stats"

// fillLatencies adds the wakeup latencies of every row, all repeats together.
func (b *tableBuilder) fillLatencies() {
	for row, r := range b.results.Plan.rows[b.benchmark] {
		line := stats.LatencyRow{Label: r.label, ByColumn: make([]*stats.Latency, len(b.columns))}
		any := false
		for i, v := range b.columns {
			line.ByColumn[i] = b.latencyOf(row, v)
			any = any || line.ByColumn[i] != nil
		}
		if any {
			b.table.Latencies = append(b.table.Latencies, line)
		}
	}
}

// latencyOf pools a variant's repeats, nil when one of them has no latencies.
func (b *tableBuilder) latencyOf(row, variant int) *stats.Latency {
	pooled := &stats.Latency{}
	for repeat := 1; repeat <= b.results.Plan.repeats; repeat++ {
		o := b.outcome(row, variant, repeat)
		if o.Failed != "" || o.Latency == nil {
			return nil
		}
		pooled.Merge(o.Latency)
	}
	return pooled
}
