package quota

import (
	"fmt"
	"io"
	"math"

	"github.com/schedlab/schedlab/chart"
	"github.com/schedlab/schedlab/page"
)

// HeatMap shows the 99th percentiles: limits from left to right, periods, bursts
// and threads from top to bottom. A frame marks what meets the target. It is nil
// for a report without points.
func (r *Report) HeatMap() *chart.Picture {
	limits := r.limits()
	h := chart.HeatMap{Name: "quota-p99", Title: "99th percentile of the latency by CPU limit", ColumnAxis: "limit in CPUs",
		Alt: r.Service + ". Rows are periods, bursts and numbers of threads; bright cells are slow."}
	for _, cpus := range limits {
		h.Columns = append(h.Columns, fmt.Sprintf("%.2f", cpus))
	}
	if r.Target > 0 {
		h.Framed = "99th percentile within " + r.Target.String()
	}
	for row, points := range seriesOf(r.Points) {
		h.Rows = append(h.Rows, seriesName(points[0]))
		for _, p := range points {
			h.Cells = append(h.Cells, chart.Cell{Row: row, Column: columnOf(limits, p.CPUs()), Value: float64(p.Percentile(99)) * 1e3,
				Framed: r.Target > 0 && p.Meets(r.Target)})
		}
	}
	return h.Picture()
}

// WriteSVG writes the heat map as a file of its own.
func (r *Report) WriteSVG(w io.Writer) error {
	picture := r.HeatMap()
	if picture == nil {
		return fmt.Errorf("there is no point to draw")
	}
	data, err := picture.SVG()
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

func seriesName(p *Point) string {
	return fmt.Sprintf("%s, burst %d %%, %d thr.", ms(p.Limit.Period), p.burstPercent(), p.Threads)
}

// limits are the CPUs of all points, ascending.
func (r *Report) limits() []float64 {
	var limits []float64
	for i := range r.Points {
		if c := r.Points[i].CPUs(); columnOf(limits, c) < 0 {
			at := 0
			for at < len(limits) && limits[at] < c {
				at++
			}
			limits = append(limits[:at], append([]float64{c}, limits[at:]...)...)
		}
	}
	return limits
}

// columnOf finds a limit; short periods round it to whole microseconds.
func columnOf(limits []float64, cpus float64) int {
	for i, l := range limits {
		if math.Abs(l-cpus) < 0.005*l {
			return i
		}
	}
	return -1
}

// sweepChart shows a figure of every point over the limits, a line for each
// period, burst and number of threads.
func (r *Report) sweepChart(c chart.Lines, figure func(p *Point) float64) page.Figure {
	c.XAxis = "limit in CPUs"
	for i, points := range seriesOf(r.Points) {
		curve := chart.Curve{Name: seriesName(points[0]), Colour: i + 1}
		for _, p := range points {
			curve.Points = append(curve.Points, chart.Point{X: p.CPUs(), Y: figure(p)})
		}
		c.Curves = append(c.Curves, curve)
	}
	return page.Figure{Picture: c.Picture()}
}

// Page is the report as a page.
func (r *Report) Page() *page.Page {
	p := &page.Page{Title: "What another CPU limit would do", Subtitle: r.Service,
		Verdict: []page.Sentence{r.verdict()}, Lead: []string{fmt.Sprintf("The requests need %.2f CPUs.", r.Need)}}
	results := page.Section{Title: "Latency by limit", Parts: []page.Part{page.Figure{Picture: r.HeatMap()}, r.table()}}
	for _, note := range r.Notes {
		results.Parts = append(results.Parts, page.Notes{{Text: "note: " + note}})
	}
	p.Sections = append(p.Sections, results)
	if section := r.reasons(); section != nil {
		p.Sections = append(p.Sections, *section)
	}
	p.Sections = append(p.Sections, page.Section{Title: "Sweeps", Parts: []page.Part{
		r.sweepChart(chart.Lines{Name: "quota-sweep-p99", Title: "99th percentile of the latency", YAxis: "latency", Durations: true,
			Level: float64(r.Target.Nanoseconds()), Alt: "From arrival to answer, over the limit. " + r.levelText()},
			func(p *Point) float64 { return float64(p.Percentile(99)) * 1e3 }),
		r.sweepChart(chart.Lines{Name: "quota-sweep-throttled", Title: "Throttled periods", YAxis: "percent of all periods",
			Alt: "In how many periods the service was throttled."},
			func(p *Point) float64 { return 100 * float64(p.Stat.Throttled) / float64(max(1, p.Stat.Periods)) }),
		r.sweepChart(chart.Lines{Name: "quota-sweep-wasted", Title: "Wasted quota", YAxis: "CPUs",
			Alt: "Quota that was left over in periods in which the service was throttled, on average over the run."},
			(*Point).Wasted),
	}})
	return p
}

func (r *Report) levelText() string {
	if r.Target == 0 {
		return ""
	}
	return "The dashed line is the target, " + r.Target.String() + "."
}

// verdict is the recommendation, or without a target the most telling throttling.
func (r *Report) verdict() page.Sentence {
	switch {
	case r.Target > 0 && r.Recommended() != nil:
		return page.Sentence{Text: r.recommendation(), Mood: page.Good}
	case r.Target > 0:
		return page.Sentence{Text: r.recommendation(), Mood: page.Bad}
	}
	if p := ThrottledBelow(r.Points); p != nil {
		return page.Sentence{Text: Reasons(p)[0], Mood: page.Doubt}
	}
	return page.Sentence{Text: fmt.Sprintf("In none of %d settings is the service throttled below its limit; no target for the 99th percentile was given.", len(r.Points))}
}

// reasons is the section on why a service is throttled below its limit, nil when
// none is.
func (r *Report) reasons() *page.Section {
	p := ThrottledBelow(r.Points)
	if p == nil {
		return nil
	}
	s := &page.Section{Title: "Why is it throttled below its limit?"}
	for _, text := range append(Reasons(p), Remedies(p, r.Points)...) {
		s.Parts = append(s.Parts, page.Prose{Sentence: page.Sentence{Text: text}})
	}
	return s
}

// table has the figures of the CSV, each under its column's name in the cell's
// data attributes.
func (r *Report) table() *page.Table {
	t := &page.Table{Columns: []page.Column{{Name: "cpu.max"}}}
	for _, name := range []string{"CPUs", "burst", "threads", "requests/s", "p50", "p99", "p99.9", "throttled", "used", "wasted", ""} {
		t.Columns = append(t.Columns, page.Column{Name: name})
	}
	for i := range r.Points {
		p := &r.Points[i]
		row := page.Row{Name: p.Limit.Max()}
		for j, field := range r.fields(p) {
			row.Data = append(row.Data, page.Datum{Name: dataName(csvColumns[j]), Value: field})
		}
		mood, remark := page.Plain, ""
		switch {
		case p.Overloaded():
			mood, remark = page.Bad, "cannot keep up"
		case r.Target > 0 && p.Meets(r.Target):
			mood, remark = page.Good, "keeps the target"
		}
		for _, text := range []string{fmt.Sprintf("%.2f", p.CPUs()), fmt.Sprintf("%d %%", p.burstPercent()), fmt.Sprint(p.Threads),
			fmt.Sprintf("%.1f", p.Throughput), us(p.Percentile(50))} {
			row.Cells = append(row.Cells, page.Cell{Value: text})
		}
		row.Cells = append(row.Cells, page.Cell{Value: us(p.Percentile(99)), Mood: mood})
		for _, text := range []string{us(p.Percentile(99.9)), fmt.Sprintf("%d of %d", p.Stat.Throttled, p.Stat.Periods),
			fmt.Sprintf("%.2f", p.Used), fmt.Sprintf("%.2f", p.Wasted())} {
			row.Cells = append(row.Cells, page.Cell{Value: text})
		}
		row.Cells = append(row.Cells, page.Cell{Value: remark, Mood: mood})
		t.Rows = append(t.Rows, row)
	}
	return t
}
