package calibrate

import (
	"cmp"
	"fmt"
	"io"
	"math"
)

// closeBy is how far off a prediction may be to count as good, and
// closeSwitches by which factor a number of context switches may.
const (
	closeBy       = 0.25
	closeSwitches = 2
)

const unitSwitches = "switches"

func (f *Figure) countsSwitches() bool { return f.Unit == unitSwitches }

// Score counts how good predictions are.
type Score struct {
	N, Close int     // of all; good
	Worst    float64 // the largest factor between simulated and measured
}

// ScoreOf scores those predictions that want says.
func ScoreOf(predictions []Prediction, want func(*Figure) bool) Score {
	var s Score
	for i := range predictions {
		p := &predictions[i]
		if !want(p.Figure) {
			continue
		}
		ratio := p.Ratio()
		s.N++
		if p.good() {
			s.Close++
		}
		s.Worst = max(s.Worst, ratio, 1/ratio)
	}
	return s
}

func (p *Prediction) good() bool {
	ratio := p.Ratio()
	if p.Figure.countsSwitches() {
		return max(ratio, 1/ratio) <= closeSwitches
	}
	return math.Abs(ratio-1) <= closeBy
}

func (s Score) words(good string) string {
	if s.N == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d %s, the worst off by a factor of %.2f", s.Close, s.N, good, s.Worst)
}

// String says it in words.
func (s Score) String() string { return s.words("within 25 %") }

// Print writes measured beside simulated, then the scores of the figures that
// were fitted to and of those that were not.
func Print(w io.Writer, predictions []Prediction) error {
	wide := 0
	for i := range predictions {
		wide = max(wide, len(predictions[i].Figure.Benchmark))
	}
	row := func(cells ...any) error {
		_, err := fmt.Fprintf(w, "%-*s %-22s %12s %12s %8s  %s\n", append([]any{wide}, cells...)...)
		return err
	}
	if err := row("benchmark", "row", "measured", "simulated", "ratio", ""); err != nil {
		return err
	}
	for i := range predictions {
		p := &predictions[i]
		kind := "predicted"
		if p.Figure.Fitted {
			kind = "fitted"
		}
		err := row(p.Figure.Benchmark, cmp.Or(p.Figure.Shown, p.Figure.Row), decimal(p, p.Figure.Measured), decimal(p, p.Simulated), fmt.Sprintf("%.2f", p.Ratio()), kind)
		if err != nil {
			return err
		}
	}
	return printScores(w, predictions)
}

func printScores(w io.Writer, predictions []Prediction) error {
	other := func(f *Figure) bool { return !f.countsSwitches() }
	_, err := fmt.Fprintf(w, "fitted:    %v\npredicted: %v\nall:       %v\n",
		ScoreOf(predictions, func(f *Figure) bool { return other(f) && f.Fitted }),
		ScoreOf(predictions, func(f *Figure) bool { return other(f) && !f.Fitted }),
		ScoreOf(predictions, other))
	if switches := ScoreOf(predictions, (*Figure).countsSwitches); err == nil && switches.N > 0 {
		_, err = fmt.Fprintf(w, "switches:  %s\n", switches.words("within a factor of 2"))
	}
	return err
}

func decimal(p *Prediction, x float64) string {
	switch p.Figure.Unit {
	case "seconds":
		return fmt.Sprintf("%.4f s", x)
	case "percent":
		return fmt.Sprintf("%.2f %%", x)
	case unitSwitches:
		return fmt.Sprintf("%.0f", x)
	case "transactions/s":
		return fmt.Sprintf("%.0f /s", x)
	}
	return fmt.Sprintf("%.0f us", x)
}
