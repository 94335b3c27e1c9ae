package explain

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/schedlab/schedlab/chart"
	"github.com/schedlab/schedlab/page"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/stats"
)

// Page is the result as a page.
func (r *Result) Page() *page.Page {
	total := r.total()
	all := total.all()
	p := &page.Page{Title: "How much of real placement do the rules explain?", Verdict: []page.Sentence{{Text: verdict(all, total)}},
		Lead: []string{"A decision agrees when the rules of that kernel version choose the CPU that the kernel chose, in the state that it saw. " +
			"Intervals are Wilson's, at 95 %."}}
	p.Sections = append(p.Sections, page.Section{Title: "Agreement", Parts: []page.Part{
		page.Figure{Picture: r.kindChart()}, r.table()}})
	p.Sections = append(p.Sections, page.Section{Title: "What disagrees", Parts: []page.Part{causeChart(total), r.disagreementTable()}})
	p.Sections = append(p.Sections, page.Section{Title: "How well is the hidden state rebuilt?", Parts: []page.Part{
		page.Figure{Picture: r.calibrationChart(total)}, page.Figure{Picture: r.hiddenChart()}}})
	if section := r.balanceSection(); section != nil {
		p.Sections = append(p.Sections, *section)
	}
	if notes := r.pageNotes(); len(notes) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: "Notes", Parts: []page.Part{notes}})
	}
	return p
}

func verdict(all Count, s *summary) string {
	if all.Decisions == 0 {
		return "No placement was recorded."
	}
	in := stats.ProportionInterval(all.Agree, all.Decisions)
	return fmt.Sprintf("The rules explain %s %% of %d placements (95 %% interval %.2f to %.2f %%); staying on the previous CPU would agree with %s %%.",
		percent(all), all.Decisions, 100*in.Low, 100*in.High, percentOf(float64(s.prev), all.Decisions))
}

// kinds are the kinds of placements in the order of tables.
var kinds = []sched.Kind{sched.KindWake, sched.KindFork, sched.KindExec}

// rangeOf is an agreement with its interval, in percent.
func rangeOf(c Count) chart.Range {
	in := stats.ProportionInterval(c.Agree, c.Decisions)
	return chart.Range{Value: 100 * c.Share(), Low: 100 * in.Low, High: 100 * in.High, Known: in.Known, Interval: in.Known, Strong: true}
}

func (r *Result) kindChart() *chart.Picture {
	kernels, sums := r.byKernel()
	c := chart.Ranges{Name: "agreement", Title: "Agreement by kernel and kind of placement", Categories: kernels, Axis: "agreement", Unit: " %",
		Alt: "How often the rules choose as the kernel did, with 95 % intervals, beside who always stays on the previous CPU. The table has the figures."}
	for i, kind := range kinds {
		s := chart.Series{Name: kind.String(), Colour: i + 1}
		for _, k := range kernels {
			s.Ranges = append(s.Ranges, rangeOf(sums[k].byKind[kind]))
		}
		c.Series = append(c.Series, s)
	}
	stay := chart.Series{Name: "stay on the previous CPU", Colour: 0}
	for _, k := range kernels {
		stay.Ranges = append(stay.Ranges, rangeOf(Count{sums[k].all().Decisions, sums[k].prev}))
	}
	c.Series = append(c.Series, stay)
	return c.Picture()
}

// table has a line for each capture, with the fields of the CSV in its data
// attributes, then sums by kernel.
func (r *Result) table() *page.Table {
	t := &page.Table{Columns: []page.Column{{Name: "capture"}, {Name: "kernel"}, {Name: "decisions"}, {Name: "agree"}}}
	for _, kind := range kinds {
		t.Columns = append(t.Columns, page.Column{Name: kind.String()})
	}
	t.Columns = append(t.Columns, page.Column{Name: "plain", Detail: "hidden state ignored"}, page.Column{Name: "stay on prev"}, page.Column{Name: "random idle"})
	for _, c := range r.Captures {
		s := newSummary()
		s.add(c)
		row := s.pageRow(c.Bundle.Dir, c.Bundle.Kernel)
		for i, field := range s.csvRecord(c.Bundle)[:len(csvHeader)] {
			row.Data = append(row.Data, page.Datum{Name: strings.ReplaceAll(csvHeader[i], "_", "-"), Value: field})
		}
		t.Rows = append(t.Rows, row)
	}
	kernels, sums := r.byKernel()
	for _, k := range kernels {
		t.Rows = append(t.Rows, sums[k].pageRow("all of "+k, k))
	}
	return t
}

func (s *summary) pageRow(name, kernel string) page.Row {
	all := s.all()
	row := page.Row{Name: shortPath(name), Cells: []page.Cell{{Value: kernel}, {Value: fmt.Sprint(all.Decisions)}, agreementCell(all)}}
	for _, kind := range kinds {
		row.Cells = append(row.Cells, agreementCell(s.byKind[kind]))
	}
	return page.Row{Name: row.Name, Cells: append(row.Cells, page.Cell{Value: percent(s.plain)},
		page.Cell{Value: percentOf(float64(s.prev), all.Decisions)}, page.Cell{Value: percentOf(s.random, all.Decisions)})}
}

// shortPath leaves of a long path the end, which tells captures apart.
func shortPath(path string) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

func agreementCell(c Count) page.Cell {
	in := stats.ProportionInterval(c.Agree, c.Decisions)
	if !in.Known {
		return page.Cell{Value: "-"}
	}
	return page.Cell{Value: percent(c) + " %", Detail: fmt.Sprintf("[%.2f, %.2f] n=%d", 100*in.Low, 100*in.High, c.Decisions)}
}

func causeChart(total *summary) page.Part {
	all := total.all()
	if all.Agree == all.Decisions {
		return page.Prose{Sentence: page.Sentence{Text: "Nothing disagrees."}}
	}
	c := chart.Bars{Name: "causes", Title: fmt.Sprintf("%d disagreements by cause", all.Decisions-all.Agree), Axis: "decisions",
		Alt: "Each decision that the rules would have made otherwise is put to the first cause that can be shown for it."}
	for _, cause := range total.sortedCauses() {
		c.Bars = append(c.Bars, chart.Bar{Name: cause.String(), Value: float64(total.causes[cause])})
	}
	return page.Figure{Picture: c.Picture()}
}

// shownDisagreements is how many decisions a page lists; the file beside it has
// all.
const shownDisagreements = 100

func (r *Result) disagreementTable() page.Part {
	list := r.disagreements()
	if len(list) == 0 {
		return page.Notes{}
	}
	t := &page.Table{Caption: fmt.Sprintf("The first %d of %d", min(len(list), shownDisagreements), len(list)), Columns: []page.Column{{Name: "capture"},
		{Name: "time, s"}, {Name: "kind"}, {Name: "task"}, {Name: "waker's CPU"}, {Name: "previous"}, {Name: "kernel chose"}, {Name: "rules choose"}, {Name: "rule"}, {Name: "cause"}}}
	for _, d := range list[:min(len(list), shownDisagreements)] {
		t.Rows = append(t.Rows, page.Row{Name: shortPath(d.Path), Cells: []page.Cell{{Value: fmt.Sprintf("%.6f", d.Time)}, {Value: d.Kind},
			{Value: fmt.Sprintf("%s-%d", d.Comm, d.PID)}, {Value: fmt.Sprint(d.Here)}, {Value: fmt.Sprint(d.Prev)}, {Value: fmt.Sprint(d.Kernel)},
			{Value: fmt.Sprint(d.Model)}, {Value: d.Rule, Prose: true}, {Value: d.Cause, Prose: true}}})
	}
	return t
}

func (r *Result) calibrationChart(total *summary) *chart.Picture {
	c := chart.Lines{Name: "calibration", Title: "Rebuilt loads beside recorded ones", XAxis: "within so many percent of the recorded value", YAxis: "percent of all values",
		Alt: "How many of the rebuilt averages are so near to those that the probes read: the load and the utilization of the task that is placed, and the load of the CPU that it last ran on."}
	for i, of := range []struct {
		name string
		d    *Deviations
	}{{"load of the task", &total.loads.Load}, {"utilization of the task", &total.loads.Util}, {"load of the previous CPU", &total.loads.CPULoad}} {
		n, within := of.d.total(), int64(0)
		if n == 0 {
			continue
		}
		curve := chart.Curve{Name: fmt.Sprintf("%s (%d)", of.name, n), Colour: i + 1}
		for step, percent := range deviationSteps {
			within += of.d[step]
			curve.Points = append(curve.Points, chart.Point{X: percent, Y: 100 * float64(within) / float64(n)})
		}
		c.Curves = append(c.Curves, curve)
	}
	return c.Picture()
}

func (r *Result) hiddenChart() *chart.Picture {
	kernels, sums := r.byKernel()
	c := chart.Ranges{Name: "hidden-state", Title: "Rebuilt state equal to the recorded one", Categories: kernels, Axis: "equal", Unit: " %",
		Alt: "How often wakee_flips and recent_used_cpu are rebuilt exactly, and averages within 2 %, with 95 % intervals."}
	for i, of := range []struct {
		name  string
		count func(h *HiddenCounts) Count
	}{
		{"wakee_flips", func(h *HiddenCounts) Count { return h.Flips }}, {"recent_used_cpu", func(h *HiddenCounts) Count { return h.Recent }},
		{"load", func(h *HiddenCounts) Count { return h.Load }}, {"utilization", func(h *HiddenCounts) Count { return h.Util }},
		{"load of the CPU", func(h *HiddenCounts) Count { return h.CPULoad }},
	} {
		s := chart.Series{Name: of.name, Colour: i + 1}
		for _, k := range kernels {
			s.Ranges = append(s.Ranges, rangeOf(of.count(&sums[k].hidden)))
		}
		c.Series = append(c.Series, s)
	}
	return c.Picture()
}

// balanceSection is nil when no balance pass was recorded.
func (r *Result) balanceSection() *page.Section {
	kernels, sums := r.balanceByKernel()
	t := &page.Table{Columns: []page.Column{{Name: "kernel"}, {Name: "passes"}, {Name: "that moved tasks"}, {Name: "that moved none"}, {Name: "verdicts on tasks"}}}
	c := chart.Ranges{Name: "balance", Title: "Agreement about load balancing", Categories: kernels, Axis: "agreement", Unit: " %",
		Alt:    "How often the rules would have moved tasks, or none, where the kernel did, and how often they judge a task as it did; 95 % intervals.",
		Series: []chart.Series{{Name: "passes that moved tasks", Colour: 1}, {Name: "passes that moved none", Colour: 2}, {Name: "verdicts on tasks", Colour: 3}}}
	recorded := false
	for _, k := range kernels {
		all := sums[k].Total()
		recorded = recorded || all.passes()+all.Verdicts.Decisions > 0
		for i, count := range []Count{all.Moved, all.None, all.Verdicts} {
			c.Series[i].Ranges = append(c.Series[i].Ranges, rangeOf(count))
		}
		t.Rows = append(t.Rows, page.Row{Name: k, Cells: []page.Cell{{Value: fmt.Sprint(all.passes())}, agreementCell(all.Moved), agreementCell(all.None), agreementCell(all.Verdicts)}})
	}
	if !recorded {
		return nil
	}
	return &page.Section{Title: "Load balancing", Parts: []page.Part{page.Figure{Picture: c.Picture()}, t}}
}

// pageNotes lists what is doubtful, each once.
func (r *Result) pageNotes() page.Notes {
	var b strings.Builder
	r.writeNotes(&b)
	var notes page.Notes
	for text := range strings.Lines(b.String()) {
		notes = append(notes, page.Sentence{Text: strings.TrimSpace(text)})
	}
	return notes
}
