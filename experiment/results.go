package experiment

import (
	"sort"

	"github.com/schedlab/schedlab/stats"
)

// FailedCells counts the cells without a result.
func (r *Results) FailedCells() int {
	n := 0
	for _, o := range r.Outcomes {
		if o.Failed != "" {
			n++
		}
	}
	return n
}

// Tables reduces the outcomes: one table per machine, benchmark and
// environment, in the plan's order.
func (r *Results) Tables() []stats.Table {
	x := r.Plan.experiment
	var tables []stats.Table
	for m := range r.Plan.machines() {
		for b := range x.benchmarks {
			if !x.benchmarks[b].runsOn(r.Plan.machines()[m]) {
				continue
			}
			for e := range x.environments {
				tables = append(tables, r.table(m, b, e))
			}
		}
	}
	return tables
}

// tableBuilder reduces the outcomes of one table. Outcomes are looked up by
// origin, so that the order in which cells finished cannot matter.
type tableBuilder struct {
	results                         *Results
	machine, benchmark, environment int
	columns                         []int // variant of each column, the baseline first
	table                           *stats.Table
}

func (r *Results) table(m, b, e int) stats.Table {
	x := r.Plan.experiment
	t := stats.Table{Machine: machineLabel(r.Plan.machines()[m].value), Benchmark: x.benchmarks[b].name.value,
		Environment: x.environments[e].name.value}
	builder := &tableBuilder{r, m, b, e, r.Plan.columns(), &t}
	builder.fillColumns()
	builder.fillRows()
	builder.fillIncidents()
	if x.published != nil {
		x.published.attach(&t)
	}
	return t
}

// columns lists the variants with the baseline first.
func (p *Plan) columns() []int {
	columns := []int{p.experiment.baseline}
	for v := range p.experiment.variants {
		if v != p.experiment.baseline {
			columns = append(columns, v)
		}
	}
	return columns
}

// index is the place of a cell in the plan.
func (p *Plan) index(o origin) int { return p.places[o] }

func (b *tableBuilder) cellIndex(row, variant, repeat int) int {
	return b.results.Plan.index(origin{b.machine, b.benchmark, b.environment, row, variant, repeat})
}

func (b *tableBuilder) outcome(row, variant, repeat int) *Outcome {
	return b.results.Outcomes[b.cellIndex(row, variant, repeat)]
}

func (b *tableBuilder) fillColumns() {
	for _, v := range b.columns {
		cell := &b.results.Plan.Cells[b.cellIndex(0, v, 1)]
		b.table.Columns = append(b.table.Columns, stats.Column{Variant: cell.Variant, Machine: cell.MachineName, Kernel: cell.Kernel})
	}
}

// figure names one row of a table.
type figure struct {
	statistic, label, unit string
	better                 stats.Direction
}

// fillRows adds the rows grouped by statistic, as mmtests prints them: each
// statistic's rows in the order of the experiment.
func (b *tableBuilder) fillRows() {
	var main *figure // the first statistic of all: what a row that failed everywhere would have been
	var rows []stats.Row
	var barren []int // places in rows where no variant reported anything
	for row, r := range b.results.Plan.rows[b.benchmark] {
		figures := b.figures(row, r.label)
		if len(figures) == 0 {
			barren = append(barren, len(rows))
			rows = append(rows, stats.NewRow("", r.label, "", stats.Neither, make([][]float64, len(b.columns))))
		}
		for i := range figures {
			if main == nil {
				main = &figures[i]
			}
			f := figures[i]
			rows = append(rows, stats.NewRow(f.statistic, f.label, f.unit, f.better, b.samples(row, f)))
		}
	}
	for _, i := range barren {
		if main != nil {
			rows[i].Statistic, rows[i].Unit, rows[i].Better = main.statistic, main.unit, main.better
		}
	}
	groupByStatistic(rows)
	b.table.Rows = rows
	b.fillSIS()
	b.fillLatencies()
}

// figures lists what the variants reported in a row, in the order of reporting.
func (b *tableBuilder) figures(row int, label string) []figure {
	var figures []figure
	seen := map[figure]bool{}
	for _, v := range b.columns {
		for repeat := 1; repeat <= b.results.Plan.repeats; repeat++ {
			for _, s := range b.outcome(row, v, repeat).Samples {
				f := figureOf(s, label)
				if !seen[f] {
					seen[f] = true
					figures = append(figures, f)
				}
			}
		}
	}
	return figures
}

func figureOf(s Sample, label string) figure {
	if s.Label != "" {
		label = s.Label
	}
	return figure{s.Statistic, label, s.Unit, stats.Direction(s.Better)}
}

// samples pools a figure over the repeats, one slice per column: nil when a
// repeat failed, empty when the variant does not report the figure.
func (b *tableBuilder) samples(row int, f figure) [][]float64 {
	label := b.results.Plan.rows[b.benchmark][row].label
	columns := make([][]float64, len(b.columns))
	for i, v := range b.columns {
		pooled := []float64{}
		for repeat := 1; repeat <= b.results.Plan.repeats && pooled != nil; repeat++ {
			o := b.outcome(row, v, repeat)
			if o.Failed != "" {
				pooled = nil
				break
			}
			for _, s := range o.Samples {
				if figureOf(s, label) == f {
					pooled = append(pooled, s.Value)
				}
			}
		}
		columns[i] = pooled
	}
	return columns
}

func groupByStatistic(rows []stats.Row) {
	rank := map[string]int{}
	for i := range rows {
		if _, known := rank[rows[i].Statistic]; !known {
			rank[rows[i].Statistic] = len(rank)
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rank[rows[i].Statistic] < rank[rows[j].Statistic] })
}

func (b *tableBuilder) fillIncidents() {
	failures, warnings, notes := &incidents{}, &incidents{}, map[string]bool{}
	for row, r := range b.results.Plan.rows[b.benchmark] {
		for _, v := range b.columns {
			variant := b.results.Plan.experiment.variants[v].name.value
			for repeat := 1; repeat <= b.results.Plan.repeats; repeat++ {
				o := b.outcome(row, v, repeat)
				if o.Failed != "" {
					failures.add(r.label, variant, o.Failed, repeat)
				}
				for _, w := range o.Warnings {
					warnings.add(r.label, variant, w, repeat)
				}
				for _, n := range o.Notes {
					if !notes[n] {
						notes[n] = true
						b.table.Notes = append(b.table.Notes, n)
					}
				}
			}
		}
	}
	b.table.Failures, b.table.Warnings = failures.list, warnings.list
}

// incidents merges equal texts of the same row and variant.
type incidents struct{ list []stats.Incident }

func (s *incidents) add(row, variant, text string, repeat int) {
	for i := range s.list {
		if in := &s.list[i]; in.Row == row && in.Variant == variant && in.Text == text {
			in.Repeats = append(in.Repeats, repeat)
			return
		}
	}
	s.list = append(s.list, stats.Incident{Row: row, Variant: variant, Repeats: []int{repeat}, Text: text})
}
