package report

import (
	"bufio"
	"fmt"
	"io"

	"github.com/schedlab/schedlab/page"
	"github.com/schedlab/schedlab/stats"
)

// MarkdownPrediction writes what [Prediction] says in the form of [Markdown].
func MarkdownPrediction(w io.Writer, tables []stats.Table) error {
	if err := MarkdownScore(w, tables); err != nil || len(stats.PredictedCells(tables)) == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n\n", scoreLegend)
	return err
}

// MarkdownScore is [MarkdownPrediction] without the meaning of its columns, which
// [MarkdownOverview] explains.
func MarkdownScore(w io.Writer, tables []stats.Table) error {
	cells, steps := stats.PredictedCells(tables), stats.UntestedSteps(tables)
	out := &markdownWriter{w: bufio.NewWriter(w)}
	switch {
	case len(cells) > 0:
		if text := predictionSentence(tables); text != "" {
			out.paragraph(text)
		}
		out.fromPage(scoreTable(cells))
		out.fromPage(fitTable(stats.BaselineFits(tables)))
		out.fromPage(missTable(cells))
	case len(steps) > 0:
		out.paragraph(stepSentence(steps))
		out.fromPage(stepTable(steps))
	}
	return out.w.Flush()
}

func stepTable(rows []stats.StepRow) *page.Table {
	t := &page.Table{Caption: "Changes, simulated beside published", Columns: []page.Column{{}, {Name: "row"}, {Name: "variant"},
		{Name: "published"}, {Name: "simulated"}, {Name: "ratio"}}}
	for i := range rows {
		for _, s := range rows[i].Steps {
			t.Rows = append(t.Rows, page.Row{Name: place(s.Benchmark, s.Environment), Cells: []page.Cell{{Value: shownLabel(s.Row)}, {Value: s.Variant},
				{Value: fmt.Sprintf("%+.2f %%", s.Published)}, {Value: fmt.Sprintf("%+.2f %%", s.Simulated)}, {Value: ratio(s.Ratio)}}})
		}
	}
	return t
}

// DocumentScore is a document's name, how much of it was run, and its tables.
type DocumentScore struct {
	Name   string
	Run    string // such as "1 of 2 parts"
	Tables []stats.Table
}

// MarkdownOverview writes one line for each document: how well it is predicted.
func MarkdownOverview(w io.Writer, documents []DocumentScore) error {
	lines := [][]string{{"", "run", "right sign", "one sign for all", "rank correlation >= 0.5", "median ratio", "baseline within 25 %", "worst factor"}}
	var untested []string
	for i := range documents {
		d := &documents[i]
		cells, steps := stats.PredictedCells(d.Tables), stats.UntestedSteps(d.Tables)
		if len(cells) == 0 && len(steps) > 0 {
			untested = append(untested, fmt.Sprintf("%s, %s: %s", d.Name, d.Run, stepSentence(steps)))
			continue
		}
		all, fit := stats.TotalPrediction(cells), stats.TotalFit(stats.BaselineFits(d.Tables))
		line := []string{d.Name, d.Run, share(all.RightSign, all.Starred), share(all.Trivial, all.Starred), fmt.Sprintf("%d of %d columns", all.WellRanked, all.Ranked),
			ratio(all.MedianRatio), fmt.Sprintf("%d of %d rows", fit.Close, fit.Rows), fmt.Sprintf("%.2f", fit.Worst)}
		if len(cells) == 0 {
			line = []string{d.Name, d.Run, "", "", "", "", "", ""}
		}
		lines = append(lines, line)
	}
	out := &markdownWriter{w: bufio.NewWriter(w)}
	out.pipes(lines)
	out.paragraph(scoreLegend)
	for _, text := range untested {
		out.paragraph(escaped(text))
	}
	return out.w.Flush()
}
