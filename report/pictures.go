package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/chart"
	"github.com/schedlab/schedlab/stats"
)

// pictureName is the beginning of the names of a table's charts.
func pictureName(t *stats.Table, kind string) string {
	clean := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}
	return strings.Map(clean, strings.Join(nonEmpty(t.Machine, t.Benchmark, t.Environment), "_")) + "_" + kind
}

// drawnRows are the rows of the table's first compared statistic.
func drawnRows(t *stats.Table) []*stats.Row {
	var rows []*stats.Row
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Better != stats.Neither && (len(rows) == 0 || r.Statistic == rows[0].Statistic) {
			rows = append(rows, r)
		}
	}
	return rows
}

func labelsOf(rows []*stats.Row) []string {
	labels := make([]string, len(rows))
	for i, r := range rows {
		labels[i] = shownLabel(r.Label)
	}
	return labels
}

// deltaChart shows the percentages against the baseline.
func deltaChart(t *stats.Table) *chart.Picture {
	rows := drawnRows(t)
	if len(rows) == 0 || len(t.Columns) < 2 {
		return nil
	}
	c := chart.Ranges{Name: pictureName(t, "change"), Title: fmt.Sprintf("Change against %s: %s", t.Columns[0].Variant, title(t)),
		Categories: labelsOf(rows), Axis: rows[0].Statistic + ", up is better", Unit: " %", Signed: true, FromZero: true}
	if rows[0].Tested() {
		c.Full, c.Hollow = "significant", "not significant"
	}
	var extremes []string
	for column := 1; column < len(t.Columns); column++ {
		s := chart.Series{Name: t.Columns[column].Variant, Colour: column}
		for _, r := range rows {
			e := &r.Entries[column]
			s.Ranges = append(s.Ranges, chart.Range{Value: e.Delta, Low: e.DeltaRange.Low, High: e.DeltaRange.High,
				Known: e.Compared(), Interval: e.DeltaRange.Known, Strong: e.Significant || !r.Tested()})
		}
		c.Series = append(c.Series, s)
		if text := extremesOf(rows, column); text != "" {
			extremes = append(extremes, t.Columns[column].Variant+" "+text)
		}
	}
	c.Alt = fmt.Sprintf("Percent against %s by row, with 95 %% intervals; positive is better. %s.", t.Columns[0].Variant, strings.Join(extremes, "; "))
	return c.Picture()
}

// extremesOf tells a column's smallest and largest change in words.
func extremesOf(rows []*stats.Row, column int) string {
	low, high, found := 0.0, 0.0, false
	for _, r := range rows {
		if e := &r.Entries[column]; e.Compared() {
			if !found {
				low, high, found = e.Delta, e.Delta, true
			}
			low, high = math.Min(low, e.Delta), math.Max(high, e.Delta)
		}
	}
	if !found {
		return ""
	}
	return fmt.Sprintf("lies between %+.2f and %+.2f %%", low, high)
}

// distributionChart shows every repeat, in percent of the baseline's mean.
func distributionChart(t *stats.Table) *chart.Picture {
	rows := slices.DeleteFunc(drawnRows(t), func(r *stats.Row) bool { return !r.Entries[0].HasValue() || r.Entries[0].Summary.Mean == 0 })
	if len(rows) == 0 {
		return nil
	}
	better := map[stats.Direction]string{stats.Lower: "less is better", stats.Higher: "more is better"}[rows[0].Better]
	c := chart.Distribution{Name: pictureName(t, "repeats"), Title: "Every repeat: " + title(t), Categories: labelsOf(rows), Unit: " %",
		Axis: fmt.Sprintf("of %s's mean, %s", t.Columns[0].Variant, better)}
	repeats := 0
	for column := range t.Columns {
		s := chart.Samples{Name: t.Columns[column].Variant, Colour: column}
		for _, r := range rows {
			values, median := relativeSamples(r, column)
			s.Values, s.Medians = append(s.Values, values), append(s.Medians, median)
			repeats = max(repeats, len(values))
		}
		c.Series = append(c.Series, s)
	}
	c.Alt = fmt.Sprintf("Each dot is one sample of %s, up to %d a row and variant, in percent of the baseline's mean in that row; "+
		"lines across are medians, whiskers the 95 %% intervals of the means.", rows[0].Statistic, repeats)
	return c.Picture()
}

func relativeSamples(r *stats.Row, column int) ([]float64, chart.Range) {
	e, percent := &r.Entries[column], 100/r.Entries[0].Summary.Mean
	if !e.HasValue() || len(e.Samples) == 0 {
		return nil, chart.Range{}
	}
	values := make([]float64, len(e.Samples))
	for i, x := range e.Samples {
		values[i] = x * percent
	}
	in := e.Summary.Interval
	return values, chart.Range{Value: median(values), Low: in.Low * percent, High: in.High * percent, Interval: in.Known, Known: true}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// latencyChart shows the wakeup latencies of the row that was recorded, else of
// the first.
func latencyChart(t *stats.Table, recording *Recording) *chart.Picture {
	if len(t.Latencies) == 0 {
		return nil
	}
	line := &t.Latencies[0]
	for i := range t.Latencies {
		if recording != nil && t.Latencies[i].Label == recording.Row {
			line = &t.Latencies[i]
		}
	}
	c := chart.Percentiles{Name: pictureName(t, "wakeup-latency"), Title: "Wakeup latency" + rowSuffix(line.Label) + ": " + title(t),
		Axis: "from wakeup to running"}
	var told []string
	for column, l := range line.ByColumn {
		if l == nil {
			continue
		}
		variant := t.Columns[column].Variant
		c.Curves = append(c.Curves, chart.Curve{Name: variant, Colour: column, Points: latencyPoints(l)})
		told = append(told, fmt.Sprintf("%s: median %s, 99 %% within %s, longest %s of %d", variant,
			duration(l.Percentile(50)), duration(l.Percentile(99)), duration(l.Max()), l.Count()))
	}
	c.Alt = "How long tasks waited from their wakeup until they ran, by percentile, all repeats and what was simulated of them. " +
		strings.Join(told, "; ") + "."
	return c.Picture()
}

func rowSuffix(label string) string {
	if shownLabel(label) == "" {
		return ""
	}
	return ", row " + label
}

func duration(ns int64) string { return chart.Duration(float64(ns)) }

// latencyPoints leaves out the last class, which would stand at 100 percent,
// infinitely far to the right: the largest latency is put where the one before
// the last wakeup would be.
func latencyPoints(l *stats.Latency) []chart.Point {
	curve := l.Curve()
	points := []chart.Point{{X: 0, Y: float64(curve[0].NS)}}
	for _, p := range curve {
		percent := math.Min(p.Percent, 100*(1-0.5/float64(l.Count())))
		points = append(points, chart.Point{X: percent, Y: float64(p.NS)})
	}
	return points
}
