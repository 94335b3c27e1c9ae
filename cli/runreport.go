package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/workload"
)

// runReport is what a run says in every format; times are seconds of virtual
// time unless a name says otherwise.
type runReport struct {
	Text         string            `json:"-"`
	Notes        []string          `json:"notes,omitempty"`
	Caveats      []string          `json:"caveats,omitempty"` // about features that are no kernel's
	Unsimulated  []string          `json:"unsimulated,omitempty"`
	Metrics      []workload.Metric `json:"metrics"`
	Figures      []figure          `json:"figures"`
	EndSeconds   float64           `json:"end_s"`
	Groups       []groupReport     `json:"cgroups,omitempty"` // those with a limit
	latencyCount int64
}

// figure is one line of a report.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

func newRunReport(b workload.Report, r *sim.Result) *runReport {
	rep := &runReport{Text: b.Text, Notes: b.Notes, Unsimulated: b.Unsimulated, Metrics: b.Metrics, EndSeconds: seconds(r.End), latencyCount: r.WakeLatency.TotalCount()}
	add := func(name string, value float64, unit string) {
		rep.Figures = append(rep.Figures, figure{name, value, unit})
	}
	add("context switches", float64(r.Switches), "")
	add("wakeups", float64(r.Wakeups), "")
	for d := sim.SameCore; d < len(r.Migrations); d++ {
		add("migrations, "+sim.DistanceNames[d], float64(r.Migrations[d]), "")
	}
	if r.Dropped > 0 {
		add("datagrams dropped", float64(r.Dropped), "")
	}
	for _, q := range []float64{50, 90, 99, 99.9} {
		add(fmt.Sprintf("wakeup latency p%g", q), float64(r.WakeLatency.ValueAtQuantile(q))/1e3, "us")
	}
	add("wakeup latency max", float64(r.WakeLatency.Max())/1e3, "us")
	add("busy", seconds(r.BusyNS), "CPU-s")
	add("idle", seconds(r.IdleNS), "CPU-s")
	add("switching, waking, ticks", seconds(r.KernelNS), "CPU-s")
	add("cache refill", seconds(r.RefillNS), "CPU-s")
	add("idle beside waiting tasks", seconds(r.UnconservedNS), "CPU-s")
	rep.Figures = append(rep.Figures, sisFigures(r)...)
	return rep
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// write prints the report as text, json or csv.
func (r *runReport) write(w io.Writer, format string) error {
	switch format {
	case "json":
		return r.writeJSON(w)
	case "csv":
		return r.writeCSV(w)
	}
	return r.writeText(w)
}

func (r *runReport) writeText(w io.Writer) error {
	var b strings.Builder
	b.WriteString(r.Text)
	b.WriteByte('\n')
	for _, gap := range r.Unsimulated {
		b.WriteString("note: " + gap + "\n")
	}
	for _, note := range r.Notes {
		b.WriteString(note + "; what follows counts what was simulated\n")
	}
	for _, caveat := range r.Caveats {
		b.WriteString(caveat + "\n")
	}
	for _, f := range r.Figures {
		line := fmt.Sprintf("%-26s %14.*f %s", f.Name, f.precision(), f.Value, f.Unit)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for i := range r.Groups {
		b.WriteString(r.Groups[i].text())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// precision is the number of decimals worth reading.
func (f figure) precision() int {
	switch f.Unit {
	case "us":
		return 1
	case "%":
		return 2
	case "CPU-s":
		return 3
	}
	return 0
}

func (r *runReport) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func (r *runReport) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"name", "value", "unit"}}
	for _, m := range r.Metrics {
		rows = append(rows, []string{strings.TrimSpace(m.Statistic + " " + m.Label), decimal(m.Value), m.Unit})
	}
	for _, f := range r.Figures {
		rows = append(rows, []string{f.Name, decimal(f.Value), f.Unit})
	}
	for _, g := range r.Groups {
		for _, c := range g.Stat {
			rows = append(rows, []string{g.Path + " " + c.Name, strconv.FormatInt(c.Value, 10), ""})
		}
	}
	return out.WriteAll(rows)
}

// decimal is the shortest decimal that reads back as the same number.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
