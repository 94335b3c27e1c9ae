package calibrate

import (
	"fmt"
	"io"
	"math"
)

// closeBy is how far off a prediction may be to count as good.
const closeBy = 0.25

// Score counts how good predictions are.
type Score struct {
	N, Close int     // of all; within 25 %
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
		if math.Abs(ratio-1) <= closeBy {
			s.Close++
		}
		s.Worst = max(s.Worst, ratio, 1/ratio)
	}
	return s
}

// String says it in words.
func (s Score) String() string {
	if s.N == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d within 25 %%, the worst off by a factor of %.2f", s.Close, s.N, s.Worst)
}

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
		err := row(p.Figure.Benchmark, p.Figure.shownRow(), decimal(p, p.Figure.Measured), decimal(p, p.Simulated), fmt.Sprintf("%.2f", p.Ratio()), kind)
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "fitted:    %v\npredicted: %v\nall:       %v\n",
		ScoreOf(predictions, func(f *Figure) bool { return f.Fitted }),
		ScoreOf(predictions, func(f *Figure) bool { return !f.Fitted }),
		ScoreOf(predictions, func(*Figure) bool { return true }))
	return err
}

func decimal(p *Prediction, x float64) string {
	switch p.Figure.Unit {
	case "seconds":
		return fmt.Sprintf("%.4f s", x)
	case "percent":
		return fmt.Sprintf("%.2f %%", x)
	case "transactions/s":
		return fmt.Sprintf("%.0f /s", x)
	}
	return fmt.Sprintf("%.0f us", x)
}
