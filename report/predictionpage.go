package report

import (
	"fmt"

	"github.com/schedlab/schedlab/chart"
	"github.com/schedlab/schedlab/page"
	"github.com/schedlab/schedlab/stats"
)

// predictionSentence says how many of a document's significant changes are
// simulated with the published sign; "" where nothing is published.
func predictionSentence(tables []stats.Table) string {
	if all := stats.TotalPrediction(stats.PredictedCells(tables)); all.Starred > 0 {
		return fmt.Sprintf("Of the document's %d significant changes (above 3 %% where it marks none) %d have the published sign here (%.0f %%); a predictor that knows one sign per column has %d.",
			all.Starred, all.RightSign, 100*float64(all.RightSign)/float64(all.Starred), all.Trivial)
	}
	all := stats.TotalSteps(stats.UntestedSteps(tables))
	if all.Steps == 0 {
		return ""
	}
	return fmt.Sprintf("Of the document's %d changes %d are within a factor of 2 here.", all.Steps, all.Within)
}

// predictionSection compares with what was published, nil where nothing was.
func predictionSection(tables []stats.Table) *page.Section {
	cells, steps := stats.PredictedCells(tables), stats.UntestedSteps(tables)
	s := &page.Section{Title: "How well is the published predicted?"}
	switch {
	case len(cells) > 0:
		s.Parts = []page.Part{page.Figure{Picture: predictionChart(cells)}, scoreTable(cells),
			fitTable(stats.BaselineFits(tables)), missTable(cells)}
	case len(steps) > 0:
		var all []stats.PredictedCell
		for _, row := range steps {
			for _, step := range row.Steps {
				all = append(all, step.PredictedCell)
			}
		}
		s.Parts = []page.Part{page.Figure{Picture: predictionChart(all)}, missTable(all)}
	default:
		return nil
	}
	return s
}

func predictionChart(cells []stats.PredictedCell) *chart.Picture {
	c := chart.Scatter{Name: "prediction", Title: "Every change of the document, published and simulated", XAxis: "published change, positive is better",
		YAxis: "simulated change", Unit: " %", Full: "significant in the document", Hollow: "not significant there",
		Alt: "Each mark is one percentage of the document. On the dashed line both agree; in the quarters above right and below left the sign does. " +
			"The tables below have the figures."}
	index := map[string]int{}
	for _, cell := range cells {
		i, known := index[cell.Variant]
		if !known {
			i = len(c.Series)
			index[cell.Variant] = i
			c.Series = append(c.Series, chart.ScatterSeries{Name: cell.Variant, Colour: i + 1})
		}
		s := &c.Series[i]
		s.Points, s.Strong = append(s.Points, chart.Point{X: cell.Published, Y: cell.Simulated}), append(s.Strong, cell.Starred)
	}
	return c.Picture()
}

func scoreTable(cells []stats.PredictedCell) *page.Table {
	t := &page.Table{Caption: "Changes, simulated beside published", Columns: []page.Column{{}, {Name: "variant"}, {Name: "right sign", Detail: "of starred"},
		{Name: "one sign", Detail: "for all"}, {Name: "rank corr."}, {Name: "median ratio"}}}
	for _, s := range stats.ScorePredictions(cells) {
		t.Rows = append(t.Rows, page.Row{Name: place(s.Benchmark, s.Environment), Cells: []page.Cell{{Value: s.Variant},
			{Value: share(s.RightSign, s.Starred)}, {Value: share(s.Trivial, s.Starred)}, {Value: rank(&s)}, {Value: ratio(s.MedianRatio)}}})
	}
	all := stats.TotalPrediction(cells)
	t.Rows = append(t.Rows, page.Row{Name: "all", Cells: []page.Cell{{}, {Value: share(all.RightSign, all.Starred)},
		{Value: share(all.Trivial, all.Starred)}, {Value: fmt.Sprintf("%d of %d", all.WellRanked, all.Ranked)}, {Value: ratio(all.MedianRatio)}}})
	return t
}

func fitTable(fits []stats.BaselineFit) *page.Table {
	t := &page.Table{Caption: "Baseline, simulated beside published", Columns: []page.Column{{}, {Name: "rows within 25 %"}, {Name: "worst factor"}}}
	add := func(name string, f stats.BaselineFit) {
		t.Rows = append(t.Rows, page.Row{Name: name,
			Cells: []page.Cell{{Value: fmt.Sprintf("%d of %d", f.Close, f.Rows)}, {Value: fmt.Sprintf("%.2f", f.Worst)}}})
	}
	for _, f := range fits {
		add(place(f.Benchmark, f.Environment), f)
	}
	if len(fits) > 1 {
		add("all", stats.TotalFit(fits))
	}
	return t
}

func missTable(cells []stats.PredictedCell) *page.Table {
	t := &page.Table{Caption: "The largest misses", Columns: []page.Column{{}, {Name: "row"}, {Name: "variant"}, {Name: "published"}, {Name: "simulated"}}}
	for _, c := range missed(cells) {
		published := chart.Percent(c.Published)
		if c.Starred {
			published = "*" + published
		}
		t.Rows = append(t.Rows, page.Row{Name: place(c.Benchmark, c.Environment),
			Cells: []page.Cell{{Value: shownLabel(c.Row)}, {Value: c.Variant}, {Value: published}, {Value: chart.Percent(c.Simulated)}}})
	}
	return t
}
