package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/schedlab/schedlab/stats"
)

// Measures of a chart, in SVG units.
const (
	chartHeight = 260.0
	chartLeft   = 56.0
	chartTop    = 12.0
	chartBottom = 40.0
	barWidth    = 14.0
	groupGap    = 14.0
	minPlot     = 300.0
)

// palette colours the variants after the baseline, in order (Okabe and Ito's
// colours, which are told apart by colour-blind readers too).
var palette = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000"}

func color(column int) string { return palette[(column-1)%len(palette)] }

// chart draws the percentages of one table: a group of bars per row, a bar per
// variant, whiskers for the 95 % interval. Significant bars are full, others
// pale. It is empty when there is nothing to draw.
func chart(t *stats.Table) template.HTML {
	rows := chartRows(t)
	variants := len(t.Columns) - 1
	if len(rows) == 0 || variants < 1 {
		return ""
	}
	scale := newScale(rows)
	group := float64(variants)*barWidth + groupGap
	plot := math.Max(minPlot, group*float64(len(rows)))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">`,
		chartLeft+plot+8, chartHeight, chartLeft+plot+8, chartHeight, template.HTMLEscapeString(title(t)+": percent against "+t.Columns[0].Variant))
	scale.draw(&b, plot)
	for i, row := range rows {
		left := chartLeft + group*float64(i) + groupGap/2
		for column := 1; column <= variants; column++ {
			drawBar(&b, scale, &row.Entries[column], left+barWidth*float64(column-1), color(column))
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle" class="row">%s</text>`,
			left+barWidth*float64(variants)/2, chartHeight-chartBottom+16, template.HTMLEscapeString(shownLabel(row.Label)))
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" class="row">rows: %s; up is better</text></svg>`,
		chartLeft, chartHeight-6, template.HTMLEscapeString(rows[0].Statistic))
	return template.HTML(b.String()) //nolint:gosec // every string in it is escaped above
}

// chartRows are the rows of the table's first compared statistic.
func chartRows(t *stats.Table) []*stats.Row {
	var rows []*stats.Row
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Better != stats.Neither && (len(rows) == 0 || r.Statistic == rows[0].Statistic) {
			rows = append(rows, r)
		}
	}
	return rows
}

// scale maps percentages to heights.
type scale struct{ low, high, step float64 }

func newScale(rows []*stats.Row) scale {
	low, high := 0.0, 0.0
	for _, r := range rows {
		for i := range r.Entries {
			e := &r.Entries[i]
			if !e.Compared() {
				continue
			}
			low, high = math.Min(low, e.Delta), math.Max(high, e.Delta)
			if e.DeltaRange.Known {
				low, high = math.Min(low, e.DeltaRange.Low), math.Max(high, e.DeltaRange.High)
			}
		}
	}
	s := scale{step: niceStep(high - low)}
	s.low, s.high = math.Floor(low/s.step)*s.step, math.Ceil(high/s.step)*s.step
	if s.low == s.high {
		s.low, s.high = -s.step, s.step
	}
	return s
}

// niceStep is 1, 2 or 5 times a power of ten with some five steps in span.
func niceStep(span float64) float64 {
	if span <= 0 || math.IsInf(span, 0) || math.IsNaN(span) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(span/5)))
	for _, factor := range []float64{1, 2, 5} {
		if unit*factor*5 >= span {
			return unit * factor
		}
	}
	return unit * 10
}

func (s scale) y(percent float64) float64 {
	return chartTop + (s.high-percent)/(s.high-s.low)*(chartHeight-chartTop-chartBottom)
}

func (s scale) draw(b *strings.Builder, plot float64) {
	for i := 0; ; i++ {
		tick := s.low + float64(i)*s.step
		if tick > s.high+s.step/2 {
			return
		}
		class := "grid"
		if math.Abs(tick) < s.step/2 {
			class = "zero"
		}
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" class="%s"/>`, chartLeft, chartLeft+plot, s.y(tick), s.y(tick), class)
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="end">%s %%</text>`, chartLeft-6, s.y(tick)+4, tickLabel(tick, s.step))
	}
}

func tickLabel(tick, step float64) string {
	if math.Abs(tick) < step/2 {
		return "0"
	}
	decimals := max(0, int(-math.Floor(math.Log10(step))))
	return fmt.Sprintf("%+.*f", decimals, tick)
}

func drawBar(b *strings.Builder, s scale, e *stats.Entry, x float64, fill string) {
	if !e.Compared() {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle" class="failed">×</text>`, x+barWidth/2, s.y(0)-3)
		return
	}
	top, bottom := s.y(math.Max(e.Delta, 0)), s.y(math.Min(e.Delta, 0))
	opacity := "0.35"
	if e.Significant {
		opacity = "1"
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity="%s"/>`,
		x+1, top, barWidth-2, bottom-top, fill, opacity)
	if r := e.DeltaRange; r.Known {
		fmt.Fprintf(b, `<path d="M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6" class="whisker"/>`,
			x+barWidth/2, s.y(r.High), s.y(r.Low), x+barWidth/2-3, s.y(r.High), x+barWidth/2-3, s.y(r.Low))
	}
}
