package quota

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Report is everything that a sweep has to say.
type Report struct {
	Service string        // one line
	Need    float64       // CPUs that the requests need, without the kernel's work
	Target  time.Duration // of the 99th percentile, 0 for none
	Points  []Point       // in the order of the sweep
	Refined []Point       // tried for the recommendation
	Notes   []string
}

// Recommended is the smallest limit that meets the target, nil without one.
func (r *Report) Recommended() *Point {
	if r.Target == 0 {
		return nil
	}
	return Smallest(append(r.Points[:len(r.Points):len(r.Points)], r.Refined...), r.Target)
}

// Write prints the report as text, csv or json.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "csv":
		return r.writeCSV(w)
	case "json":
		return r.writeJSON(w)
	}
	return r.writeText(w)
}

func (r *Report) writeText(w io.Writer) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\nThe requests need %.2f CPUs.\n", r.Service, r.Need)
	for _, series := range seriesOf(r.Points) {
		first := series[0]
		fmt.Fprintf(&out, "\nperiod %s, burst %d %%, %d threads\n", ms(first.Limit.Period), first.burstPercent(), first.Threads)
		fmt.Fprintf(&out, "%8s %-18s %11s %10s %10s %10s %14s %9s %7s %7s\n",
			"CPUs", "cpu.max", "requests/s", "p50", "p99", "p99.9", "throttled", "for", "used", "wasted")
		for _, p := range series {
			out.WriteString(r.row(p))
		}
	}
	r.writeAdvice(&out)
	_, err := w.Write(out.Bytes())
	return err
}

// row is a line of the table. A point that meets the target has a star; one that
// cannot keep up says so.
func (r *Report) row(p *Point) string {
	mark := " "
	if r.Target > 0 && p.Meets(r.Target) {
		mark = "*"
	}
	late := ""
	if p.Overloaded() {
		late = "  cannot keep up"
	}
	return fmt.Sprintf("%8.2f %-18s %11.1f %10s %10s%s%10s %14s %8.1f%% %7.2f %7.2f%s\n",
		p.CPUs(), p.Limit.Max(), p.Throughput, us(p.Percentile(50)), us(p.Percentile(99)), mark, us(p.Percentile(99.9)),
		fmt.Sprintf("%d of %d", p.Stat.Throttled, p.Stat.Periods), p.throttledPercent(), p.Used, p.Wasted(), late)
}

// throttledPercent is how long the service was throttled on some CPU, summed
// over its CPUs, by the time of the run.
func (p *Point) throttledPercent() float64 {
	return 100 * float64(p.Stat.ThrottledTime) / float64(max(1, p.End))
}

func (r *Report) writeAdvice(out *bytes.Buffer) {
	if r.Target > 0 {
		out.WriteString("\n")
		wrap(out, r.recommendation())
	}
	if p := ThrottledBelow(r.Points); p != nil {
		out.WriteString("\nWhy is it throttled below its limit?\n")
		for _, paragraph := range append(Reasons(p), Remedies(p, r.Points)...) {
			wrap(out, "* "+paragraph)
		}
	}
	if len(r.Notes) > 0 {
		out.WriteString("\n")
	}
	for _, note := range r.Notes {
		wrap(out, "note: "+note)
	}
}

// recommendation is one sentence or two.
func (r *Report) recommendation() string {
	best := r.Recommended()
	if best == nil {
		return fmt.Sprintf("No limit that was tried keeps the 99th percentile within %s; the least was %s.", r.Target, us(r.leastP99()))
	}
	return fmt.Sprintf("The smallest limit that keeps the 99th percentile within %s is %.2f CPUs: %s (p99 %s, p99.9 %s, used %.2f CPUs).",
		r.Target, best.CPUs(), best.describe(), us(best.WorstP99), us(best.Percentile(99.9)), best.Used)
}

func (r *Report) leastP99() int64 {
	least := r.Points[0].WorstP99
	for i := range r.Points {
		least = min(least, r.Points[i].WorstP99)
	}
	return least
}

const columns = 100

// wrap writes a paragraph in lines of at most so many columns; those after the
// first are indented.
func wrap(out *bytes.Buffer, text string) {
	line := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case line+1+len(word) > columns:
			out.WriteString("\n  ")
			line = 2
		default:
			out.WriteString(" ")
			line++
		}
		out.WriteString(word)
		line += len(word)
	}
	out.WriteString("\n")
}

// row is a point in machine-readable form; latencies are us, CPUs are CPUs.
type pointRow struct {
	CPUs        float64 `json:"cpus"`
	Max         string  `json:"cpu.max"`
	Burst       int64   `json:"cpu.max.burst"`
	Threads     int     `json:"threads"`
	Requests    int64   `json:"requests"`
	Unanswered  int64   `json:"unanswered"`
	Throughput  float64 `json:"requests_per_s"`
	P50         int64   `json:"p50_usec"`
	P99         int64   `json:"p99_usec"`
	P999        int64   `json:"p99.9_usec"`
	WorstP99    int64   `json:"worst_p99_usec"`
	Periods     int64   `json:"nr_periods"`
	Throttled   int64   `json:"nr_throttled"`
	ThrottledUS int64   `json:"throttled_usec"`
	Used        float64 `json:"used_cpus"`
	Wasted      float64 `json:"wasted_cpus"`
	Meets       bool    `json:"meets"`
}

func (r *Report) pointRow(p *Point) pointRow {
	return pointRow{
		CPUs: p.CPUs(), Max: p.Limit.Max(), Burst: p.Limit.Burst / 1000, Threads: p.Threads,
		Requests: p.Requests.Arrived, Unanswered: p.Requests.Unanswered, Throughput: p.Throughput,
		P50: p.Percentile(50), P99: p.Percentile(99), P999: p.Percentile(99.9), WorstP99: p.WorstP99,
		Periods: p.Stat.Periods, Throttled: p.Stat.Throttled, ThrottledUS: p.Stat.ThrottledTime / 1000,
		Used: p.Used, Wasted: p.Wasted(), Meets: r.Target > 0 && p.Meets(r.Target),
	}
}

func (r *Report) writeJSON(w io.Writer) error {
	document := struct {
		Service     string     `json:"service"`
		Need        float64    `json:"need_cpus"`
		TargetUS    int64      `json:"p99_target_usec,omitempty"`
		Points      []pointRow `json:"points"`
		Recommended *pointRow  `json:"recommended"`
		Why         []string   `json:"why,omitempty"`
		Notes       []string   `json:"notes,omitempty"`
	}{Service: r.Service, Need: r.Need, TargetUS: r.Target.Microseconds(), Notes: r.Notes}
	for i := range r.Points {
		document.Points = append(document.Points, r.pointRow(&r.Points[i]))
	}
	if best := r.Recommended(); best != nil {
		row := r.pointRow(best)
		document.Recommended = &row
	}
	if p := ThrottledBelow(r.Points); p != nil {
		document.Why = append(Reasons(p), Remedies(p, r.Points)...)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(document)
}

// csvColumns are the names of what fields returns.
var csvColumns = []string{"cpus", "cpu.max", "cpu.max.burst", "threads", "requests", "unanswered", "requests_per_s", "p50_usec", "p99_usec",
	"p99.9_usec", "worst_p99_usec", "nr_periods", "nr_throttled", "throttled_usec", "used_cpus", "wasted_cpus", "meets"}

// dataName is a column's name as that of a data attribute.
func dataName(column string) string { return strings.NewReplacer("_", "-", ".", "-").Replace(column) }

func (r *Report) fields(point *Point) []string {
	p := r.pointRow(point)
	return []string{decimal(p.CPUs), p.Max, whole(p.Burst), strconv.Itoa(p.Threads), whole(p.Requests), whole(p.Unanswered),
		decimal(p.Throughput), whole(p.P50), whole(p.P99), whole(p.P999), whole(p.WorstP99), whole(p.Periods), whole(p.Throttled),
		whole(p.ThrottledUS), decimal(p.Used), decimal(p.Wasted), strconv.FormatBool(p.Meets)}
}

func (r *Report) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{csvColumns}
	for i := range r.Points {
		rows = append(rows, r.fields(&r.Points[i]))
	}
	return out.WriteAll(rows)
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
