package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlab/schedlab/chart"
	"github.com/schedlab/schedlab/occupancy"
	"github.com/schedlab/schedlab/page"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/stats"
)

// Recording is what was recorded of one row of a table.
type Recording struct {
	Row      string
	Variants []RecordedVariant // the baseline first
}

// RecordedVariant is one variant's run.
type RecordedVariant struct {
	Column int // of the table
	Map    *occupancy.Map
	SIS    []SISMoment // nil where no idle search was counted
}

// SISMoment are the ratios of the idle search, over all CPUs, in one interval.
type SISMoment struct {
	From, To float64 // seconds
	Searches float64
	Ratios   []stats.SISFigure
}

// SISOfMachine writes the idle search of all CPUs together, interval by
// interval, as [SISOverTime] does for every scope.
func SISOfMachine(w io.Writer, snaps []*sched.Snapshot) error {
	return writeSIS(w, snaps, func(s *SISScope) bool { return s.Name == machineScope })
}

// ReadSISOfMachine reads what [SISOfMachine] has written. Intervals without a
// search are left out. Errors begin with name and the line.
func ReadSISOfMachine(name string, r io.Reader) ([]SISMoment, error) {
	in := csv.NewReader(r)
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: no header line: %w", name, err)
	}
	ratios := (stats.SIS{}).Ratios()
	var moments []SISMoment
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			return moments, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		m, err := sisMoment(header, fields, ratios)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if m.Searches > 0 {
			moments = append(moments, m)
		}
	}
}

func sisMoment(header, fields []string, ratios []stats.SISFigure) (SISMoment, error) {
	value := func(column string) (float64, error) {
		i := slices.Index(header, column)
		if i < 0 {
			return 0, fmt.Errorf("there is no column %q", column)
		}
		return strconv.ParseFloat(fields[i], 64)
	}
	var m SISMoment
	var errs [3]error
	m.From, errs[0] = value("from")
	m.To, errs[1] = value("to")
	m.Searches, errs[2] = value((stats.SIS{}).Figures()[0].Name)
	if err := errors.Join(errs[:]...); err != nil {
		return m, err
	}
	for _, f := range ratios {
		v, err := value(f.Name)
		if err != nil {
			return m, err
		}
		m.Ratios = append(m.Ratios, stats.SISFigure{Name: f.Name, Value: v})
	}
	return m, nil
}

// parts are the pictures of a recording and the shares of time behind them.
func (r *Recording) parts(t *stats.Table) []page.Part {
	return []page.Part{page.Figure{Picture: r.statesChart(t)}, r.shares(t), page.Figure{Picture: r.sisChart(t)}}
}

func (r *Recording) statesChart(t *stats.Table) *chart.Picture {
	c := chart.CPUStates{Name: pictureName(t, "cpus"), Title: "What the CPUs did" + rowSuffix(r.Row) + ", first repeat: " + title(t),
		Marked: "idle while tasks wait elsewhere", Below: chart.Panel{Axis: "CPUs idle\nbeside waiting"}}
	for s := range occupancy.State(occupancy.NumStates) {
		c.States = append(c.States, s.String())
	}
	var told []string
	for _, v := range r.Variants {
		if v.Map == nil {
			continue
		}
		name := t.Columns[v.Column].Variant
		c.Variants = append(c.Variants, stateMap(name, v.Map))
		c.Below.Curves = append(c.Below.Curves, chart.Curve{Name: name, Colour: v.Column, Points: missedPoints(v.Map)})
		total := v.Map.Total()
		told = append(told, fmt.Sprintf("%s: %s of the CPU time idle, %s that tasks waiting on other CPUs could have used", name, sharePercent(total.In[occupancy.Idle], &total), sharePercent(total.Missed, &total)))
	}
	c.Alt = "Each row of pixels is a CPU, each column a slice of time, in the colour of what the CPU did for most of it. " +
		"Below: how many idle CPUs could have run a task that waited for another CPU. " + strings.Join(told, "; ") + "."
	return c.Picture()
}

func sharePercent(ns int64, total *occupancy.Slice) string {
	all := int64(0)
	for _, n := range total.In {
		all += n
	}
	return fmt.Sprintf("%.1f %%", 100*float64(ns)/float64(max(1, all)))
}

func stateMap(name string, m *occupancy.Map) chart.StateMap {
	s := chart.StateMap{Name: name, Length: float64(m.Length) / 1e9}
	for _, slices := range m.CPUs {
		states, marks := make([]uint8, len(slices)), make([]bool, len(slices))
		for i := range slices {
			states[i] = uint8(slices[i].Longest())
			marks[i] = slices[i].Longest() == occupancy.Idle && 2*slices[i].Missed > slices[i].In[occupancy.Idle]
		}
		s.States, s.Marks = append(s.States, states), append(s.Marks, marks)
	}
	return s
}

func missedPoints(m *occupancy.Map) []chart.Point {
	points := make([]chart.Point, len(m.CPUs[0]))
	for i := range points {
		points[i] = chart.Point{X: min(float64(i)+0.5, float64(m.Length)/float64(m.Width)) * float64(m.Width) / 1e9, Y: m.MissedCPUs(i)}
	}
	return points
}

// shares are the recorded runs' CPU time by state.
func (r *Recording) shares(t *stats.Table) *page.Table {
	table := &page.Table{Caption: "CPU time of the recorded runs", Columns: []page.Column{{}}}
	for s := range occupancy.State(occupancy.NumStates) {
		table.Columns = append(table.Columns, page.Column{Name: s.String()})
	}
	table.Columns = append(table.Columns, page.Column{Name: "of use to waiting tasks"}, page.Column{Name: "seconds recorded"})
	for _, v := range r.Variants {
		if v.Map == nil {
			continue
		}
		total := v.Map.Total()
		row := page.Row{Name: t.Columns[v.Column].Variant}
		for _, ns := range append(total.In[:len(total.In):len(total.In)], total.Missed) {
			row.Cells = append(row.Cells, page.Cell{Value: sharePercent(ns, &total)})
		}
		row.Cells = append(row.Cells, page.Cell{Value: fmt.Sprintf("%.4f", float64(v.Map.Length)/1e9)})
		table.Rows = append(table.Rows, row)
	}
	return table
}

func (r *Recording) sisChart(t *stats.Table) *chart.Picture {
	c := chart.OverTime{Name: pictureName(t, "sis"), Title: "Idle search over time" + rowSuffix(r.Row) + ", first repeat: " + title(t),
		Alt: "Ratios of select_idle_sibling's searches in each interval, over all CPUs. Search efficiency: searches by CPUs looked at; domain " +
			"search efficiency: the same where the shortcuts did not settle it; fast success rate: settled by the shortcuts; success rate: an idle CPU was found."}
	for i, f := range (stats.SIS{}).Ratios() {
		panel := chart.Panel{Axis: strings.ReplaceAll(strings.TrimPrefix(f.Name, "SIS "), " ", "\n"), Low: 0, High: 100, Unit: " %"}
		for _, v := range r.Variants {
			if len(v.SIS) == 0 {
				continue
			}
			curve := chart.Curve{Name: t.Columns[v.Column].Variant, Colour: v.Column}
			for _, m := range v.SIS {
				curve.Points = append(curve.Points, chart.Point{X: (m.From + m.To) / 2, Y: m.Ratios[i].Value})
			}
			panel.Curves = append(panel.Curves, curve)
		}
		c.Panels = append(c.Panels, panel)
	}
	return c.Picture()
}
