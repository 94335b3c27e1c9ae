package explain

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/schedlab/schedlab/sched"
)

// Result is what all captures of one request gave.
type Result struct {
	Captures []*Explained
}

// Explained is one capture: explained with the recorded hidden state and, when
// there is any, once more without it.
type Explained struct {
	*Capture
	Plain *Capture // nil when the recording holds no hidden state
}

// total adds up captures.
func (r *Result) total() *summary {
	t := newSummary()
	for _, c := range r.Captures {
		t.add(c)
	}
	return t
}

// summary is the sum over some captures.
type summary struct {
	byKind  [3]Count
	plain   Count
	prev    int64
	random  float64
	hidden  HiddenCounts
	loads   Calibration
	causes  [numCauses]int64
	balance Balance
}

func newSummary() *summary { return &summary{} }

func (s *summary) add(c *Explained) {
	for k := range c.ByKind {
		s.byKind[k].plus(c.ByKind[k])
	}
	if c.Plain != nil {
		s.plain.plus(c.Plain.Total())
	}
	s.prev += c.Prev
	s.random += c.Random
	s.hidden.plus(&c.Hidden)
	s.loads.plus(&c.Calibration)
	for i, n := range c.Causes {
		s.causes[i] += n
	}
	s.balance.plus(&c.Balance)
}

func (c *Count) plus(o Count) {
	c.Decisions += o.Decisions
	c.Agree += o.Agree
}

func (h *HiddenCounts) plus(o *HiddenCounts) {
	h.Flips.plus(o.Flips)
	h.Recent.plus(o.Recent)
	h.Load.plus(o.Load)
	h.Util.plus(o.Util)
	h.CPULoad.plus(o.CPULoad)
}

func (s *summary) all() Count {
	var t Count
	for _, k := range s.byKind {
		t.plus(k)
	}
	return t
}

// WriteText prints a table of the captures, sums by kernel, and the causes.
func (r *Result) WriteText(w io.Writer) error {
	var rows strings.Builder
	rows.WriteString("capture\tkernel\tdecisions\tagree %\twake\tfork\texec\tplain\tstay on prev\trandom idle\tflips\trecent\tload\t\n")
	for _, c := range r.Captures {
		s := newSummary()
		s.add(c)
		s.writeRow(&rows, c.Bundle.Dir, c.Bundle.Kernel)
	}
	kernels, sums := r.byKernel()
	if len(kernels) > 1 {
		for _, k := range kernels {
			sums[k].writeRow(&rows, "all of "+k, k)
		}
	}
	total := r.total()
	total.writeRow(&rows, "total", "")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := io.WriteString(tw, rows.String()); err != nil {
		return err
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("\nplain: agreement when the recorded hidden state is ignored; flips, recent, load: how often the\n" +
		"rebuilt wakee_flips and recent_used_cpu equal the recorded ones and loads are within 2 %.\n")
	total.writeCauses(&b)
	if err := r.writeBalance(&b); err != nil {
		return err
	}
	r.writeNotes(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Result) byKernel() (kernels []string, sums map[string]*summary) {
	sums = map[string]*summary{}
	for _, c := range r.Captures {
		k := c.Bundle.Kernel
		if sums[k] == nil {
			sums[k] = newSummary()
			kernels = append(kernels, k)
		}
		sums[k].add(c)
	}
	return kernels, sums
}

func (s *summary) writeRow(w *strings.Builder, name, kernel string) {
	all := s.all()
	fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, kernel, all.Decisions, percent(all),
		percent(s.byKind[sched.KindWake]), percent(s.byKind[sched.KindFork]), percent(s.byKind[sched.KindExec]), percent(s.plain),
		percentOf(float64(s.prev), all.Decisions), percentOf(s.random, all.Decisions),
		percent(s.hidden.Flips), percent(s.hidden.Recent), percent(s.hidden.Load))
}

func percent(c Count) string { return percentOf(float64(c.Agree), c.Decisions) }

func percentOf(part float64, whole int64) string {
	if whole == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*part/float64(whole), 'f', 2, 64)
}

func (s *summary) writeCauses(b *strings.Builder) {
	all := s.all()
	if all.Agree == all.Decisions {
		return
	}
	fmt.Fprintf(b, "\n%d disagreements:\n", all.Decisions-all.Agree)
	for _, c := range s.sortedCauses() {
		fmt.Fprintf(b, "%6d  %s\n", s.causes[c], c)
	}
}

// sortedCauses lists the causes that occurred, the most frequent first.
func (s *summary) sortedCauses() []Cause {
	var out []Cause
	for c := CauseNone + 1; c < numCauses; c++ {
		if s.causes[c] > 0 {
			out = append(out, c)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return s.causes[out[i]] > s.causes[out[j]] })
	return out
}

// writeNotes prints each note once, with the captures that it is about.
func (r *Result) writeNotes(b *strings.Builder) {
	var texts []string
	about := map[string][]string{}
	for _, c := range r.Captures {
		for _, n := range c.notes() {
			if about[n] == nil {
				texts = append(texts, n)
			}
			about[n] = append(about[n], c.Bundle.Dir)
		}
	}
	for _, n := range texts {
		if dirs := about[n]; len(dirs) == 1 {
			fmt.Fprintf(b, "note: %s: %s\n", dirs[0], n)
		} else {
			fmt.Fprintf(b, "note: %d captures: %s\n", len(dirs), n)
		}
	}
}

// notes says what is doubtful about a capture.
func (c *Explained) notes() []string {
	notes := append([]string(nil), c.Bundle.Notes...)
	if !c.Stats.Clean() {
		notes = append(notes, "the trace is damaged or incomplete: "+strings.TrimSpace(firstProblem(c.Stats.String())))
	}
	if c.Skipped > 0 {
		notes = append(notes, fmt.Sprintf("%d events are of CPUs that the machine does not have", c.Skipped))
	}
	if !c.Probes {
		notes = append(notes, "no placement probes: decisions are taken from sched_waking to sched_wakeup, without sync flags and affinities")
	}
	return notes
}

func firstProblem(stats string) string {
	_, problem, found := strings.Cut(stats, "warning: ")
	if !found {
		return stats
	}
	first, _, _ := strings.Cut(problem, "\n")
	return first
}

// countJSON and its relatives are the JSON form.
type kindsJSON struct {
	Wake Count `json:"wake"`
	Fork Count `json:"fork"`
	Exec Count `json:"exec"`
}

type sumJSON struct {
	Decisions      int64            `json:"decisions"`
	Agree          int64            `json:"agree"`
	Agreement      float64          `json:"agreement"`
	ByKind         kindsJSON        `json:"by_kind"`
	BaselinePrev   float64          `json:"baseline_prev"`
	BaselineRandom float64          `json:"baseline_random"`
	PlainAgreement *float64         `json:"plain_agreement"`
	Hidden         hiddenJSON       `json:"hidden"`
	Causes         map[string]int64 `json:"causes"`
	Balance        balanceJSON      `json:"balance"`
}

type hiddenJSON struct {
	Flips   Count `json:"wakee_flips"`
	Recent  Count `json:"recent_used_cpu"`
	Load    Count `json:"load"`
	Util    Count `json:"util"`
	CPULoad Count `json:"cpu_load"`
}

type captureJSON struct {
	Path   string `json:"path"`
	Kernel string `json:"kernel"`
	sumJSON
	Notes []string `json:"notes,omitempty"`
}

type resultJSON struct {
	Captures []captureJSON `json:"captures"`
	Total    sumJSON       `json:"total"`
}

func (s *summary) json() sumJSON {
	all := s.all()
	out := sumJSON{
		Decisions: all.Decisions, Agree: all.Agree, Agreement: all.Share(),
		ByKind: kindsJSON{s.byKind[sched.KindWake], s.byKind[sched.KindFork], s.byKind[sched.KindExec]},
		Hidden: hiddenJSON{s.hidden.Flips, s.hidden.Recent, s.hidden.Load, s.hidden.Util, s.hidden.CPULoad},
		Causes: map[string]int64{}, Balance: s.balance.json(),
	}
	if all.Decisions > 0 {
		out.BaselinePrev = float64(s.prev) / float64(all.Decisions)
		out.BaselineRandom = s.random / float64(all.Decisions)
	}
	if s.plain.Decisions > 0 {
		share := s.plain.Share()
		out.PlainAgreement = &share
	}
	for _, c := range s.sortedCauses() {
		out.Causes[c.String()] = s.causes[c]
	}
	return out
}

// WriteJSON prints one object: captures and total.
func (r *Result) WriteJSON(w io.Writer) error {
	out := resultJSON{Captures: []captureJSON{}, Total: r.total().json()}
	for _, c := range r.Captures {
		s := newSummary()
		s.add(c)
		out.Captures = append(out.Captures, captureJSON{Path: c.Bundle.Dir, Kernel: c.Bundle.Kernel, sumJSON: s.json(), Notes: c.notes()})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

var csvHeader = []string{
	"path", "kernel", "decisions", "agree", "agreement", "wake_decisions", "wake_agree", "fork_decisions", "fork_agree",
	"exec_decisions", "exec_agree", "plain_decisions", "plain_agree", "baseline_prev", "baseline_random",
}

// WriteCSV prints one line a capture.
func (r *Result) WriteCSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	if err := cw.Write(append(slices.Clip(csvHeader), balanceColumns...)); err != nil {
		return err
	}
	for _, c := range r.Captures {
		s := newSummary()
		s.add(c)
		if err := cw.Write(s.csvRecord(c.Bundle)); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

func (s *summary) csvRecord(b *Bundle) []string {
	all := s.all()
	share := func(part float64) string {
		return strconv.FormatFloat(part/float64(max(1, all.Decisions)), 'f', 6, 64)
	}
	record := []string{b.Dir, b.Kernel}
	add := func(c Count) {
		record = append(record, strconv.FormatInt(c.Decisions, 10), strconv.FormatInt(c.Agree, 10))
	}
	add(all)
	record = append(record, strconv.FormatFloat(all.Share(), 'f', 6, 64))
	for _, k := range s.byKind {
		add(k)
	}
	add(s.plain)
	record = append(record, share(float64(s.prev)), share(s.random))
	balance := s.balance.Total()
	return append(record, balance.csvFields()...)
}
