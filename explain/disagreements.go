package explain

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// disagreement is one decision that the model would have made otherwise, as it
// is listed.
type disagreement struct {
	Path   string  `json:"path"`
	Time   float64 `json:"time"` // seconds, as in the trace
	Kind   string  `json:"kind"`
	PID    int32   `json:"pid"`
	Comm   string  `json:"comm"`
	Here   int32   `json:"here"`
	Prev   int32   `json:"prev"`
	Sync   bool    `json:"sync"`
	Kernel int     `json:"kernel"`
	Model  int32   `json:"model"`
	Affine string  `json:"affine"`
	Rule   string  `json:"rule"`
	Cause  string  `json:"cause"`
}

// disagreements lists them in the order of captures and time.
func (r *Result) disagreements() []disagreement {
	var out []disagreement
	for _, c := range r.Captures {
		for _, d := range c.Kept {
			if d.Agrees() {
				continue
			}
			out = append(out, disagreement{
				Path: c.Bundle.Dir, Time: float64(d.Time) / 1e9, Kind: d.Record.Kind.String(), PID: d.PID, Comm: d.Comm,
				Here: d.Record.Here, Prev: d.Record.Prev, Sync: d.Record.Sync, Kernel: d.Kernel, Model: d.Record.CPU,
				Affine: d.Record.Affine.String(), Rule: d.Record.Rule.String(), Cause: d.Cause.String(),
			})
		}
	}
	return out
}

// WriteDisagreementsText lists every disagreement on a line.
func (r *Result) WriteDisagreementsText(w io.Writer) error {
	var b strings.Builder
	for _, d := range r.disagreements() {
		sync := ""
		if d.Sync {
			sync = " sync"
		}
		fmt.Fprintf(&b, "%s %.6f %s %s-%d here %d prev %d%s: kernel %d, model %d (%s; %s): %s\n",
			d.Path, d.Time, d.Kind, d.Comm, d.PID, d.Here, d.Prev, sync, d.Kernel, d.Model, d.Affine, d.Rule, d.Cause)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteDisagreementsJSON lists them as an array.
func (r *Result) WriteDisagreementsJSON(w io.Writer) error {
	list := r.disagreements()
	if list == nil {
		list = []disagreement{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(list)
}

// WriteDisagreementsCSV lists them one a line.
func (r *Result) WriteDisagreementsCSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	if err := cw.Write([]string{"path", "time", "kind", "pid", "comm", "here", "prev", "sync", "kernel", "model", "affine", "rule", "cause"}); err != nil {
		return err
	}
	for _, d := range r.disagreements() {
		record := []string{
			d.Path, strconv.FormatFloat(d.Time, 'f', 6, 64), d.Kind, strconv.Itoa(int(d.PID)), d.Comm,
			strconv.Itoa(int(d.Here)), strconv.Itoa(int(d.Prev)), strconv.FormatBool(d.Sync),
			strconv.Itoa(d.Kernel), strconv.Itoa(int(d.Model)), d.Affine, d.Rule, d.Cause,
		}
		if err := cw.Write(record); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}
