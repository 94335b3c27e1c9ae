package stats

import (
	"math"
	"sort"
)

// PredictedCell is one published percentage of a patched variant beside the
// simulated one.
type PredictedCell struct {
	Benchmark, Environment, Variant, Row string
	Published, Simulated                 float64 // percent, positive is better
	Starred                              bool    // in the document, or above 3 % where it has no marks
}

// RightSign says whether the simulated percentage is on the published side of
// zero.
func (c *PredictedCell) RightSign() bool { return c.Published*c.Simulated > 0 }

// Miss is how many percentage points lie between the two.
func (c *PredictedCell) Miss() float64 { return math.Abs(c.Published - c.Simulated) }

// PredictionScore says how well a benchmark's column of one variant in one
// environment was predicted.
type PredictionScore struct {
	Benchmark, Environment, Variant string
	Rows                            int // with both percentages
	Starred, RightSign              int // starred in the document; of those, on the right side of zero
	// Trivial is how many starred cells a predictor gets right that knows one
	// sign, the better one, for the whole column.
	Trivial int
	// Rank is Spearman's rank correlation over the rows; Ranked is false with
	// fewer than three rows, or when all percentages of a side are equal.
	Rank   float64
	Ranked bool
	// MedianRatio is the median of simulated by published percentage over the
	// starred cells, negative where the sign is wrong.
	MedianRatio float64
}

// PredictedCells lists the cells of rows that carry a test and stand beside a
// published line, in the order of the tables.
func PredictedCells(tables []Table) []PredictedCell {
	var cells []PredictedCell
	for t := range tables {
		table := &tables[t]
		for r := range table.Rows {
			row := &table.Rows[r]
			for b := range row.Beside {
				if row.Tested() {
					cells = append(cells, predictedCells(table, row, &row.Beside[b])...)
				}
			}
		}
	}
	return cells
}

func predictedCells(t *Table, row *Row, b *Beside) []PredictedCell {
	var cells []PredictedCell
	for _, a := range b.Agreements {
		cells = append(cells, PredictedCell{t.Benchmark, t.Environment, t.Columns[a.Column].Variant, row.Label,
			a.Published, a.Simulated, b.starred(a.Column, a.Published)})
	}
	return cells
}

// unmarkedCounts is from how many percent on a change counts in a document that
// marks none: less is within the scatter of such benchmarks.
const unmarkedCounts = 3

func (b *Beside) starred(column int, published float64) bool {
	for i := range b.Figures {
		if b.Figures[i].Column == column {
			return b.Figures[i].Significant || b.Figures[i].Unmarked && math.Abs(published) > unmarkedCounts
		}
	}
	return false
}

// ScorePredictions scores each column, in the order in which the columns first
// appear.
func ScorePredictions(cells []PredictedCell) []PredictionScore {
	type key struct{ benchmark, environment, variant string }
	index := map[key]int{}
	var columns [][]PredictedCell
	for _, c := range cells {
		k := key{c.Benchmark, c.Environment, c.Variant}
		at, known := index[k]
		if !known {
			at = len(columns)
			index[k] = at
			columns = append(columns, nil)
		}
		columns[at] = append(columns[at], c)
	}
	scores := make([]PredictionScore, len(columns))
	for i, column := range columns {
		scores[i] = scoreColumn(column)
	}
	return scores
}

func scoreColumn(cells []PredictedCell) PredictionScore {
	s := PredictionScore{Benchmark: cells[0].Benchmark, Environment: cells[0].Environment, Variant: cells[0].Variant, Rows: len(cells)}
	positive := 0
	var published, simulated, ratios []float64
	for i := range cells {
		c := &cells[i]
		published, simulated = append(published, c.Published), append(simulated, c.Simulated)
		if !c.Starred {
			continue
		}
		s.Starred++
		if c.RightSign() {
			s.RightSign++
		}
		if c.Published > 0 {
			positive++
		}
		ratios = append(ratios, c.Simulated/c.Published)
	}
	s.Trivial = max(positive, s.Starred-positive)
	s.Rank, s.Ranked = RankCorrelation(published, simulated)
	s.MedianRatio = Median(ratios)
	return s
}

// Median is the middle value, the mean of the two middle ones of an even
// number, NaN of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := append([]float64(nil), values...)
	sort.Float64s(sorted)
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// RankCorrelation is Spearman's: the correlation of the ranks, equal values
// sharing their mean rank. It is not known for fewer than three pairs or when
// one side does not vary.
func RankCorrelation(a, b []float64) (r float64, known bool) {
	if len(a) < 3 {
		return 0, false
	}
	x, y := ranks(a), ranks(b)
	mean := float64(len(a)+1) / 2
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mean, y[i]-mean
		xy += float64(dx * dy) // conversions forbid fused multiply-adds: same bytes everywhere
		xx += float64(dx * dx)
		yy += float64(dy * dy)
	}
	if xx == 0 || yy == 0 {
		return 0, false
	}
	return xy / math.Sqrt(xx*yy), true
}

// ranks numbers values from 1, the smallest.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return values[order[i]] < values[order[j]] })
	ranks := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, at := range order[from:to] {
			ranks[at] = float64(from+1+to) / 2
		}
		from = to
	}
	return ranks
}

// BaselineFit says how near the simulated baseline is to the published one: of
// the rows that carry a test, how many are within 25 %, and the largest factor
// between the two.
type BaselineFit struct {
	Benchmark, Environment string
	Rows, Close            int
	Worst                  float64
}

// closeBy is how far a figure may be off to count as close.
const closeBy = 0.25

// BaselineFits lists one fit per table that has published figures of the
// document's own baseline.
func BaselineFits(tables []Table) []BaselineFit {
	var fits []BaselineFit
	for t := range tables {
		fit := BaselineFit{Benchmark: tables[t].Benchmark, Environment: tables[t].Environment}
		for r := range tables[t].Rows {
			if row := &tables[t].Rows[r]; row.Tested() {
				fit.count(row)
			}
		}
		if fit.Rows > 0 {
			fits = append(fits, fit)
		}
	}
	return fits
}

func (f *BaselineFit) count(row *Row) {
	for i := range row.Beside {
		b := &row.Beside[i]
		figure := baselineFigure(b.Figures)
		if figure == nil || !row.Entries[figure.Column].HasValue() || b.Unit != row.Unit {
			continue
		}
		ratio := row.Entries[figure.Column].Summary.Mean / figure.Value
		f.Rows++
		if math.Abs(ratio-1) <= closeBy {
			f.Close++
		}
		f.Worst = max(f.Worst, ratio, 1/ratio)
	}
}
