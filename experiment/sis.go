package experiment

import "github.com/schedlab/schedlab/stats"

// fillSIS adds the ratios of the idle search below the benchmark's own figures,
// as the tables of 2022 have them: not per row, but over all rows of a repeat,
// so that each row weighs as much as it searched.
func (b *tableBuilder) fillSIS() {
	totals := make([][]*stats.SIS, len(b.columns)) // by column and repeat; nil where a cell has no counters
	any := false
	for i, v := range b.columns {
		for repeat := 1; repeat <= b.results.Plan.repeats; repeat++ {
			total := b.sisOf(v, repeat)
			any = any || total != nil
			totals[i] = append(totals[i], total)
		}
	}
	if !any {
		return
	}
	for f, name := range (stats.SIS{}).Ratios() {
		samples := make([][]float64, len(b.columns))
		for i := range totals {
			samples[i] = ratiosOf(totals[i], f)
		}
		b.table.Rows = append(b.table.Rows, stats.NewRow("Ops", name.Name, "percent", stats.Neither, samples))
	}
}

// sisOf sums the counters of a variant's repeat over all rows, nil when a cell
// failed or counted nothing.
func (b *tableBuilder) sisOf(variant, repeat int) *stats.SIS {
	total := &stats.SIS{}
	for row := range b.results.Plan.rows[b.benchmark] {
		o := b.outcome(row, variant, repeat)
		if o.Failed != "" || o.SIS == nil {
			return nil
		}
		*total = total.Add(*o.SIS)
	}
	return total
}

// ratiosOf is one ratio of each repeat, nil if one of them is missing.
func ratiosOf(totals []*stats.SIS, ratio int) []float64 {
	var values []float64
	for _, t := range totals {
		if t == nil {
			return nil
		}
		values = append(values, t.Ratios()[ratio].Value)
	}
	return values
}
