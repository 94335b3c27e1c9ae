package explain

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// balanceByKernel adds up the captures of each kernel.
func (r *Result) balanceByKernel() (kernels []string, sums map[string]*Balance) {
	sums = map[string]*Balance{}
	for _, c := range r.Captures {
		k := c.Bundle.Kernel
		if sums[k] == nil {
			sums[k] = &Balance{}
			kernels = append(kernels, k)
		}
		sums[k].plus(&c.Balance)
	}
	return kernels, sums
}

// WriteBalanceText prints agreement about balancing by kernel, level and idle
// type, and the causes of what differs.
func (r *Result) WriteBalanceText(w io.Writer) error {
	var b strings.Builder
	if err := r.writeBalance(&b); err != nil {
		return err
	}
	text := strings.TrimPrefix(b.String(), "\n")
	if text == "" {
		text = "no balance passes were recorded: that takes the probes lb, lbr, cm and cmr\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// writeBalance prints nothing when no capture holds a pass.
func (r *Result) writeBalance(w io.Writer) error {
	total := Balance{}
	var rows strings.Builder
	rows.WriteString("kernel\tlevel\tCPU is\tpasses\tdue %\tmoved\tagree %\tsame tasks\tnone\tagree %\tguess none\tverdicts\tagree %\tguess no\t\n")
	kernels, sums := r.balanceByKernel()
	for _, k := range kernels {
		b := sums[k]
		for _, c := range b.Cells {
			c.writeRow(&rows, k, c.Level, c.Idle.String())
		}
		all := b.Total()
		all.writeRow(&rows, k, "all", "")
		total.plus(b)
	}
	all := total.Total()
	if all.passes()+all.Verdicts.Decisions == 0 {
		return nil
	}
	if len(kernels) > 1 {
		all.writeRow(&rows, "total", "", "")
	}
	if _, err := io.WriteString(w, "\nbalancing:\n"); err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if _, err := io.WriteString(tw, rows.String()); err != nil {
		return err
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, balanceLegend+total.causesText())
	return err
}

const balanceLegend = "\nmoved, none: passes in which the kernel moved tasks, or none, and how often the model would have moved some,\n" +
	"or none; guess none, guess no: agreement of who says that nothing ever moves.\n"

func (b *BalanceCounts) writeRow(w *strings.Builder, names ...string) {
	fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%s\t%d\t%s\t%s\t%d\t%s\t%s\t\n", strings.Join(names, "\t"),
		b.passes(), percent(b.Due), b.Moved.Decisions, percent(b.Moved), percent(b.Same), b.None.Decisions, percent(b.None),
		percentOf(float64(b.None.Decisions), b.passes()),
		b.Verdicts.Decisions, percent(b.Verdicts), percentOf(float64(b.Refused), b.Verdicts.Decisions))
}

// namedCount is how often a cause occurred.
type namedCount struct {
	name string
	n    int64
}

func (b *Balance) passCauses() []namedCount {
	var out []namedCount
	for c, n := range b.Causes {
		out = append(out, namedCount{PassCause(c).String(), n})
	}
	return occurred(out)
}

func (b *Balance) verdictCauses() []namedCount {
	var out []namedCount
	for c, n := range b.VerdictCauses {
		out = append(out, namedCount{VerdictCause(c).String(), n})
	}
	return occurred(out)
}

// occurred drops what never occurred and puts the most frequent first.
func occurred(list []namedCount) []namedCount {
	list = slices.DeleteFunc(list, func(c namedCount) bool { return c.n == 0 })
	slices.SortStableFunc(list, func(a, b namedCount) int { return cmp.Compare(b.n, a.n) })
	return list
}

func (b *Balance) causesText() string {
	var out strings.Builder
	all := b.Total()
	writeCounts(&out, "passes", all.passes()-all.Moved.Agree-all.None.Agree, b.passCauses())
	writeCounts(&out, "verdicts", all.Verdicts.Decisions-all.Verdicts.Agree, b.verdictCauses())
	return out.String()
}

func writeCounts(out *strings.Builder, what string, n int64, causes []namedCount) {
	if n == 0 {
		return
	}
	fmt.Fprintf(out, "\n%d %s differ:\n", n, what)
	for _, c := range causes {
		fmt.Fprintf(out, "%6d  %s\n", c.n, c.name)
	}
}

// agreementJSON is a [Count] as it is printed for balancing.
type agreementJSON struct {
	Decisions int64 `json:"n"`
	Agree     int64 `json:"agree"`
}

type balanceCountsJSON struct {
	PassesMoved agreementJSON `json:"passes_moved"`
	PassesNone  agreementJSON `json:"passes_none"`
	Verdicts    agreementJSON `json:"verdicts"`
	SameTasks   agreementJSON `json:"same_tasks"`
	Due         agreementJSON `json:"due"`
	Source      agreementJSON `json:"source"`
	Refused     int64         `json:"verdicts_no"`
}

type balanceCellJSON struct {
	Level string `json:"level"`
	Idle  string `json:"idle"`
	balanceCountsJSON
}

type balanceJSON struct {
	balanceCountsJSON
	By            []balanceCellJSON `json:"by,omitempty"`
	Causes        map[string]int64  `json:"causes,omitempty"`
	VerdictCauses map[string]int64  `json:"verdict_causes,omitempty"`
}

func (b *BalanceCounts) json() balanceCountsJSON {
	return balanceCountsJSON{
		PassesMoved: agreementJSON(b.Moved), PassesNone: agreementJSON(b.None), Verdicts: agreementJSON(b.Verdicts),
		SameTasks: agreementJSON(b.Same), Due: agreementJSON(b.Due), Source: agreementJSON(b.Source), Refused: b.Refused,
	}
}

func (b *Balance) json() balanceJSON {
	all := b.Total()
	out := balanceJSON{balanceCountsJSON: all.json(), Causes: countMap(b.passCauses()), VerdictCauses: countMap(b.verdictCauses())}
	for _, c := range b.Cells {
		out.By = append(out.By, balanceCellJSON{c.Level, c.Idle.String(), c.BalanceCounts.json()})
	}
	return out
}

func countMap(list []namedCount) map[string]int64 {
	out := map[string]int64{}
	for _, c := range list {
		out[c.name] = c.n
	}
	return out
}

// WriteBalanceJSON prints an object by kernel.
func (r *Result) WriteBalanceJSON(w io.Writer) error {
	out := map[string]balanceJSON{}
	kernels, sums := r.balanceByKernel()
	for _, k := range kernels {
		out[k] = sums[k].json()
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// WriteBalanceCSV prints a line for each capture, level and idle type.
func (r *Result) WriteBalanceCSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	if err := cw.Write(append([]string{"path", "kernel", "level", "idle"}, balanceColumns...)); err != nil {
		return err
	}
	for _, c := range r.Captures {
		for _, cell := range c.Balance.Cells {
			record := append([]string{c.Bundle.Dir, c.Bundle.Kernel, cell.Level, cell.Idle.String()}, cell.csvFields()...)
			if err := cw.Write(record); err != nil {
				return err
			}
		}
	}
	cw.Flush()
	return cw.Error()
}

// balanceColumns are the names of csvFields.
var balanceColumns = []string{
	"passes_moved", "passes_moved_agree", "passes_none", "passes_none_agree", "verdicts", "verdicts_agree",
	"same_tasks", "same_tasks_agree", "due", "due_agree", "source", "source_agree", "verdicts_no",
}

func (b *BalanceCounts) csvFields() []string {
	var out []string
	for _, c := range [...]Count{b.Moved, b.None, b.Verdicts, b.Same, b.Due, b.Source} {
		out = append(out, strconv.FormatInt(c.Decisions, 10), strconv.FormatInt(c.Agree, 10))
	}
	return append(out, strconv.FormatInt(b.Refused, 10))
}

// WriteBalanceDisagreementsText lists every pass that the model would have made
// otherwise.
func (r *Result) WriteBalanceDisagreementsText(w io.Writer) error {
	var b strings.Builder
	for _, c := range r.Captures {
		for _, p := range c.Balance.Kept {
			fmt.Fprintf(&b, "%s %.6f balance %s for CPU %d (%s): kernel moved %d, model %d: %s: %s\n",
				c.Bundle.Dir, float64(p.Time)/1e9, p.Model.Level, p.CPU, p.Idle, p.Pulled, len(p.Model.Moved), p.outcome(), p.Cause)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// outcome says what the model found in the pass.
func (p *BalancePass) outcome() string {
	switch {
	case !p.Model.Elected:
		return "another CPU balances this domain"
	case p.Model.Source < 0:
		return fmt.Sprintf("balanced, local group %s, busiest %s", p.Model.Local, p.Model.Busiest)
	}
	return fmt.Sprintf("CPU %d, %s %d, local group %s, busiest %s",
		p.Model.Source, moveName(p.Model.Move), p.Model.Imbalance, p.Model.Local, p.Model.Busiest)
}

func moveName(move int64) string {
	switch move {
	case 0:
		return "load"
	case 1:
		return "utilization"
	}
	return "tasks"
}
