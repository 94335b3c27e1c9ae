package stats

// Table is one benchmark's comparison on one machine in one environment. Column
// 0 is the baseline.
type Table struct {
	Machine, Benchmark, Environment string
	Columns                         []Column
	Rows                            []Row
	Latencies                       []LatencyRow // of wakeups, in the order of the benchmark's rows
	Failures                        []Incident   // cells without a result
	Warnings                        []Incident   // cells whose result deserves a doubt
	Notes                           []string     // how the figures came about
}

// Column is one variant. Machine differs from the table's only when the variant
// names a machine of its own.
type Column struct {
	Variant, Machine, Kernel string
}

// Row is one statistic at one row label, over all columns of its table.
type Row struct {
	Statistic, Label, Unit string
	Better                 Direction
	Entries                []Entry // one per column
	Beside                 []Beside
}

// Entry is one variant's figure in a row.
type Entry struct {
	Failed      bool // no figure: at least one repeat failed
	Absent      bool // no figure: the variant does not report this statistic
	NoBaseline  bool // the figure stands, but the baseline has none: no percentage
	Summary     Summary
	Samples     []float64 // what Summary sums up, in the order of the repeats
	Delta       float64   // percent, positive is better
	DeltaRange  Interval  // 95 % interval of Delta
	Significant bool
}

// Compared says whether the entry has a percentage.
func (e *Entry) Compared() bool { return e.HasValue() && !e.NoBaseline }

// HasValue says whether the entry has a figure.
func (e *Entry) HasValue() bool { return !e.Failed && !e.Absent }

// Tested says whether the row's differences carry a significance mark.
func (r *Row) Tested() bool { return IsMean(r.Statistic) && r.Better != Neither }

// Incident is a failure or a warning of some repeats of one variant in one row.
type Incident struct {
	Row, Variant string
	Repeats      []int
	Text         string
}

// NewRow compares samples (one slice per column, column 0 the baseline; nil for
// a column that failed, empty for one that does not report it) by the rules of the statistic.
func NewRow(statistic, label, unit string, better Direction, samples [][]float64) Row {
	row := Row{Statistic: statistic, Label: label, Unit: unit, Better: better, Entries: make([]Entry, len(samples))}
	for i, s := range samples {
		switch {
		case s == nil:
			row.Entries[i].Failed = true
		case len(s) == 0:
			row.Entries[i].Absent = true
		default:
			row.Entries[i].Summary, row.Entries[i].Samples = Summarize(statistic, s), s
		}
	}
	for i := range row.Entries {
		row.compareToBaseline(i)
	}
	return row
}

func (r *Row) compareToBaseline(column int) {
	base, entry := &r.Entries[0], &r.Entries[column]
	switch {
	case !entry.HasValue():
	case !base.HasValue():
		entry.NoBaseline = true
	default:
		entry.Delta = PercentChange(r.Better, base.Summary.Mean, entry.Summary.Mean)
		if column > 0 {
			entry.DeltaRange = PercentInterval(r.Better, base.Summary, entry.Summary)
			entry.Significant = r.Tested() && Significant(base.Summary, entry.Summary)
		}
	}
}

// Regressed says whether any variant is significantly worse than the baseline
// in any row.
func (t *Table) Regressed() bool {
	for i := range t.Rows {
		for j := range t.Rows[i].Entries {
			e := &t.Rows[i].Entries[j]
			if e.Significant && e.Delta < 0 {
				return true
			}
		}
	}
	return false
}
