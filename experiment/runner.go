package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/schedlab/schedlab/stats"
)

// Runner runs cells. Its methods are called from several goroutines at once,
// and the outcome of a cell must be a function of the cell alone.
type Runner interface {
	// Check refuses a cell that cannot be run: an unknown machine, kernel,
	// feature, tunable or benchmark flag. It is called before anything runs and
	// returns a *FieldError where a field is to blame.
	Check(c *Cell) error
	// Run simulates a cell. It returns promptly when ctx is done. An error is
	// for a cell that could not be run to a result; a run that came to no valid
	// figure says so in Outcome.Failed.
	Run(ctx context.Context, c *Cell) (*Outcome, error)
}

// Sample is one figure that a benchmark reported.
type Sample struct {
	Statistic string  `json:"statistic"`       // "Amean", "Hmean", or the name of a plain one
	Label     string  `json:"label,omitempty"` // row label instead of the cell's; it names the cell's row too ("99.0th-qrtle-47")
	Unit      string  `json:"unit"`
	Better    string  `json:"better"` // "lower", "higher", or "" for a counter that is not compared
	Value     float64 `json:"value"`
}

// Outcome is what a cell came to.
type Outcome struct {
	Samples  []Sample   `json:"samples,omitempty"`
	SIS      *stats.SIS `json:"sis,omitempty"`      // what the idle search counted in the whole run; nil: nothing was counted
	Warnings []string   `json:"warnings,omitempty"` // doubts about the figures: work-conservation violations
	Notes    []string   `json:"notes,omitempty"`    // how the figures came about: "simulated over a stretch of 2 s"
	// Latency is from wakeup to running, of all wakeups that were simulated; nil:
	// not measured. Span is how long was simulated, in ns of virtual time.
	Latency *stats.Latency `json:"wakeup_latency,omitempty"`
	Span    int64          `json:"span_ns,omitempty"`
	Failed  string         `json:"failed,omitempty"` // why there are no figures; empty: there are
}

// failure is an outcome without figures.
func failure(format string, args ...any) *Outcome {
	return &Outcome{Failed: fmt.Sprintf(format, args...)}
}

// validated turns an outcome whose figures cannot stand into a failure: none at
// all, not finite, or a mean that collapsed to zero.
func validated(o *Outcome) *Outcome {
	if o == nil {
		return failure("the benchmark reported nothing")
	}
	if o.Failed != "" {
		return &Outcome{Failed: o.Failed, Warnings: o.Warnings, Notes: o.Notes}
	}
	if len(o.Samples) == 0 {
		return failure("the benchmark reported nothing")
	}
	for i := range o.Samples {
		if why := o.Samples[i].flaw(); why != "" {
			return &Outcome{Failed: why, Warnings: o.Warnings, Notes: o.Notes}
		}
	}
	return o
}

func (s *Sample) flaw() string {
	switch {
	case s.Statistic == "":
		return "a sample without the name of its statistic"
	case s.Better != string(stats.Lower) && s.Better != string(stats.Higher) && s.Better != string(stats.Neither):
		return fmt.Sprintf("%s says %q is better", s.Statistic, s.Better)
	case math.IsNaN(s.Value) || math.IsInf(s.Value, 0):
		return fmt.Sprintf("%s is %v", s.Statistic, s.Value)
	case stats.IsMean(s.Statistic) && s.Value <= 0:
		return fmt.Sprintf("%s collapsed to %v", s.Statistic, s.Value)
	}
	return ""
}
