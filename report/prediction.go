package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/schedlab/schedlab/stats"
)

// largestMisses is how many cells the summary lists.
const largestMisses = 10

// Prediction writes how well the tables predict what was published beside them:
// the baseline, the score of every column beside a predictor that knows one
// sign per column, and the largest misses. A document without significance tests
// has its changes listed instead.
func Prediction(w io.Writer, tables []stats.Table) error {
	cells := stats.PredictedCells(tables)
	steps := stats.UntestedSteps(tables)
	if len(cells) == 0 && len(steps) == 0 {
		return nil
	}
	out := &textWriter{w: bufio.NewWriter(w), width: pageWidth}
	out.line("")
	out.line("How well is the published predicted?")
	if len(cells) == 0 {
		out.steps(steps)
		return out.w.Flush()
	}
	out.baselineFits(stats.BaselineFits(tables))
	out.scores(cells)
	out.misses(cells)
	return out.w.Flush()
}

func (t *textWriter) baselineFits(fits []stats.BaselineFit) {
	t.line("")
	t.line(fmt.Sprintf("%-36s %18s %14s", "baseline, simulated : published", "rows within 25 %", "worst factor"))
	line := func(name string, f stats.BaselineFit) {
		t.line(fmt.Sprintf("%-36s %18s %14.2f", name, fmt.Sprintf("%d of %d", f.Close, f.Rows), f.Worst))
	}
	for _, f := range fits {
		line(place(f.Benchmark, f.Environment), f)
	}
	if len(fits) > 1 {
		line("all", stats.TotalFit(fits))
	}
}

func place(benchmark, environment string) string { return benchmark + " [" + environment + "]" }

// scoreLegend explains the columns of a score.
const scoreLegend = "Right sign: starred cells of the document (without stars: above 3 %) whose simulated change is on the same side of zero. One sign: " +
	"how many a predictor gets right that knows one sign per line of this table, which it took from the document. " +
	"Rank: Spearman's correlation over the rows; at the end, how many reach 0.5. Ratio: simulated by published " +
	"change, the median of the starred cells."

func (t *textWriter) scores(cells []stats.PredictedCell) {
	const layout = "%-36s %-10s %13s %13s %9s %13s"
	t.line("")
	t.line(fmt.Sprintf(layout, "change, simulated : published", "", "right sign", "one sign", "rank", "median"))
	t.line(fmt.Sprintf(layout, "", "variant", "of starred", "for all", "corr.", "ratio"))
	for _, s := range stats.ScorePredictions(cells) {
		t.line(fmt.Sprintf(layout, place(s.Benchmark, s.Environment), s.Variant,
			share(s.RightSign, s.Starred), share(s.Trivial, s.Starred), rank(&s), ratio(s.MedianRatio)))
	}
	all := stats.TotalPrediction(cells)
	t.line(fmt.Sprintf(layout, "all", "", share(all.RightSign, all.Starred), share(all.Trivial, all.Starred),
		fmt.Sprintf("%d of %d", all.WellRanked, all.Ranked), ratio(all.MedianRatio)))
	t.wrapped(scoreLegend, "  ")
}

func rank(s *stats.PredictionScore) string {
	if !s.Ranked {
		return "-"
	}
	return fmt.Sprintf("%+.2f", s.Rank)
}

func share(part, whole int) string {
	if whole == 0 {
		return "none"
	}
	return fmt.Sprintf("%d/%d %3.0f%%", part, whole, 100*float64(part)/float64(whole))
}

func ratio(r float64) string {
	if math.IsNaN(r) {
		return "-"
	}
	return fmt.Sprintf("%+.2f", r)
}

// missed are the cells that miss by most, the worst first.
func missed(cells []stats.PredictedCell) []stats.PredictedCell {
	sorted := append([]stats.PredictedCell(nil), cells...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Miss() > sorted[j].Miss() })
	return sorted[:min(largestMisses, len(sorted))]
}

func (t *textWriter) misses(cells []stats.PredictedCell) {
	t.line("")
	t.line(fmt.Sprintf("%-36s %-6s %-10s %10s %10s", "the largest misses", "row", "variant", "published", "simulated"))
	for _, c := range missed(cells) {
		published := fmt.Sprintf("%+.2f %%", c.Published)
		if c.Starred {
			published = "*" + published
		}
		t.line(fmt.Sprintf("%-36s %-6s %-10s %10s %10s", place(c.Benchmark, c.Environment), shownLabel(c.Row), c.Variant,
			published, fmt.Sprintf("%+.2f %%", c.Simulated)))
	}
}
