package calibrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/sim"
)

// Knob is a parameter that may be fitted, with the range in which it must stay.
type Knob struct {
	Parameter string
	// Start is where the search begins.
	Start, Low, High int64
	// With are parameters that have the same value, because their source gives
	// them one.
	With []string
	// Source says where a value comes from that is not searched for.
	Source string
	// Moves are parts of the names of the benchmarks that are simulated again
	// when it moves, because it matters most to them; empty: all. The others are
	// brought up to date at the end of a round.
	Moves []string
}

// parameters are all that the knob sets.
func (k *Knob) parameters() []string { return append([]string{k.Parameter}, k.With...) }

func (k *Knob) set(costs *sim.Costs, value int64) (*sim.Costs, error) {
	var err error
	for _, name := range k.parameters() {
		if costs, err = costs.With(name, value); err != nil {
			return nil, err
		}
	}
	return costs, nil
}

func (k *Knob) moves(f *Figure) bool {
	for _, m := range k.Moves {
		if strings.Contains(f.Benchmark, m) {
			return true
		}
	}
	return len(k.Moves) == 0
}

// Apart are the knobs that matter to the benchmarks of the chosen figures and to
// no other benchmark that is fitted to, so that the others stay as they are.
func Apart(knobs []Knob, chosen, known []Figure) ([]Knob, error) {
	benchmarks := map[string]bool{}
	for i := range chosen {
		benchmarks[chosen[i].Benchmark] = true
	}
	var apart []Knob
	for _, k := range knobs {
		inside, outside := 0, 0
		for i := range known {
			f := &known[i]
			switch {
			case !f.Fitted || !k.moves(f):
			case benchmarks[f.Benchmark]:
				inside++
			default:
				outside++
			}
		}
		if inside > 0 && outside == 0 && k.Low < k.High {
			apart = append(apart, k)
		}
	}
	if len(apart) == 0 {
		return nil, fmt.Errorf("no parameter moves %s alone", strings.Join(slices.Sorted(maps.Keys(benchmarks)), ", "))
	}
	return apart, nil
}

// StartAt moves the knobs to the values that costs have, each within its range.
func StartAt(costs *sim.Costs, knobs []Knob) ([]Knob, error) {
	moved := slices.Clone(knobs)
	for i := range moved {
		k := &moved[i]
		value, err := costs.Parameter(k.Parameter)
		if err != nil {
			return nil, err
		}
		k.Start = min(max(value, k.Low), k.High)
	}
	return moved, nil
}

// Search is a bounded coordinate search: it takes one knob after the other,
// tries it larger and smaller, goes on while that helps, and starts again with
// smaller steps.
type Search struct {
	Knobs       []Knob
	Figures     []Figure
	Evaluations int // at most that many; each simulates the figures that a knob moves
	Workers     int // simulations at once
	Log         func(format string, args ...any)
	Tried       func() // after each point; may be nil
}

// steps are the factors of the rounds.
var steps = []float64{1.5, 1.2, 1.1}

// state is a point of the search with what it predicts.
type state struct {
	costs       *sim.Costs
	predictions []Prediction // of the fitted figures
}

func (s *state) badness() float64 {
	sum := 0.0
	for i := range s.predictions {
		sum += s.predictions[i].badness()
	}
	return sum / float64(len(s.predictions))
}

// Fit searches from the knobs' starts on top of the given costs.
func (s *Search) Fit(ctx context.Context, costs *sim.Costs) (*sim.Costs, error) {
	var fitted []*Figure
	for i := range s.Figures {
		if s.Figures[i].Fitted {
			fitted = append(fitted, &s.Figures[i])
		}
	}
	if len(fitted) == 0 {
		return nil, fmt.Errorf("there is no figure to fit to")
	}
	var err error
	for _, k := range s.Knobs {
		if costs, err = k.set(costs, k.Start); err != nil {
			return nil, err
		}
	}
	best := &state{costs: costs}
	if best.predictions, err = Predict(ctx, costs, fitted, s.Workers); err != nil {
		return nil, err
	}
	left := s.Evaluations
	s.Log("start: mean error a factor of %.3f", factor(best.badness()))
	for _, step := range steps {
		for i := range s.Knobs {
			if best, err = s.climb(ctx, best, &s.Knobs[i], step, &left); err != nil {
				return nil, err
			}
		}
		if left == 0 {
			break
		}
		if best.predictions, err = Predict(ctx, best.costs, fitted, s.Workers); err != nil {
			return nil, err
		}
		s.Log("end of a round: mean error a factor of %.3f", factor(best.badness()))
	}
	return best.costs, nil
}

// climb moves one knob in the direction that helps, if there is one.
func (s *Search) climb(ctx context.Context, best *state, k *Knob, step float64, left *int) (*state, error) {
	for _, by := range []float64{step, 1 / step} {
		moved := false
		for *left > 0 {
			next, err := s.try(ctx, best, k, by)
			if err != nil {
				return nil, err
			}
			if next == nil {
				break
			}
			*left--
			if s.Tried != nil {
				s.Tried()
			}
			if next.badness() >= best.badness() {
				break
			}
			best, moved = next, true
			value, _ := best.costs.Parameter(k.Parameter)
			s.Log("%s = %d: mean error a factor of %.3f", k.Parameter, value, factor(best.badness()))
		}
		if moved {
			break
		}
	}
	return best, nil
}

// try is the neighbour of a point with one knob multiplied; nil at the end of
// its range.
func (s *Search) try(ctx context.Context, from *state, k *Knob, by float64) (*state, error) {
	have, err := from.costs.Parameter(k.Parameter)
	if err != nil {
		return nil, err
	}
	want := min(max(int64(math.Round(float64(have)*by)), k.Low), k.High)
	if want == have {
		return nil, nil
	}
	next := &state{predictions: append([]Prediction(nil), from.predictions...)}
	if next.costs, err = k.set(from.costs, want); err != nil {
		return nil, err
	}
	var moved []*Figure
	var places []int
	for i := range next.predictions {
		if f := next.predictions[i].Figure; k.moves(f) {
			moved, places = append(moved, f), append(places, i)
		}
	}
	fresh, err := Predict(ctx, next.costs, moved, s.Workers)
	for i, at := range places {
		if err == nil {
			next.predictions[at] = fresh[i]
		}
	}
	return next, err
}

// factor turns a mean squared logarithm into a typical ratio.
func factor(badness float64) float64 { return math.Exp(math.Sqrt(badness)) }

// Predict simulates figures under the given costs, those of one run together.
func Predict(ctx context.Context, costs *sim.Costs, figures []*Figure, workers int) ([]Prediction, error) {
	var runs [][]int // places in figures
	index := map[string]int{}
	for i, f := range figures {
		at, known := index[f.key()]
		if !known {
			at = len(runs)
			index[f.key()] = at
			runs = append(runs, nil)
		}
		runs[at] = append(runs[at], i)
	}
	predictions := make([]Prediction, len(figures))
	failures := make([]error, len(runs))
	turns := make(chan struct{}, max(1, workers))
	var group sync.WaitGroup
	for r, places := range runs {
		group.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			failures[r] = simulate(ctx, costs, figures, places, predictions)
		})
	}
	group.Wait()
	return predictions, errors.Join(failures...)
}

// simulate runs the cell that the figures at some places share.
func simulate(ctx context.Context, costs *sim.Costs, figures []*Figure, places []int, predictions []Prediction) error {
	first := figures[places[0]]
	failed := func(err error) error { return fmt.Errorf("%s %s: %w", first.Benchmark, first.Row, err) }
	s, err := experiment.NewSimulationWith(&first.Cell, costs)
	if err != nil {
		return failed(err)
	}
	result, err := s.Run(ctx)
	if err != nil {
		return failed(err)
	}
	report := s.Benchmark.Report(&result.Observation)
	if report.Failure != "" {
		return failed(errors.New(report.Failure))
	}
	out := outcomeOf(&report, result)
	for _, i := range places {
		read := figures[i].read
		if read == nil {
			read = firstMetric
		}
		value, err := read(out)
		if err != nil {
			return failed(err)
		}
		predictions[i] = Prediction{figures[i], value}
	}
	return nil
}
