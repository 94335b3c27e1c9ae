package experiment

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// fakeRunner reports a figure that is a function of the cell alone: base by
// row, minus 10 % for variants named "fast", plus seed-driven noise of 1 %.
type fakeRunner struct {
	ran   atomic.Int64
	check func(*Cell) error
	run   func(context.Context, *Cell) (*Outcome, error) // nil: the figure above
}

func (f *fakeRunner) Check(c *Cell) error {
	if f.check == nil {
		return nil
	}
	return f.check(c)
}

func (f *fakeRunner) Run(ctx context.Context, c *Cell) (*Outcome, error) {
	f.ran.Add(1)
	if f.run != nil {
		return f.run(ctx, c)
	}
	return fakeOutcome(c), nil
}

func fakeOutcome(c *Cell) *Outcome {
	value := float64(len(c.Command)) + 0.1*float64(len(c.Row))
	if strings.Contains(c.Variant, "fast") {
		value *= 0.9
	}
	value *= 1 + 0.01*float64(c.Seed%1000)/1000
	return &Outcome{Samples: []Sample{
		{Statistic: "Amean", Unit: "seconds", Better: "lower", Value: value},
		{Statistic: "Ops", Label: "migrations", Unit: "count", Value: float64(c.Seed % 7)},
	}}
}

const smallExperiment = `machine: [2n4c2t, 4n2c1t]
kernel: v5.17
variants:
  - {name: old, kernel: v4.14, features: [NO_WA_WEIGHT]}
  - {name: fast, tunables: {b_ns: 2, a_ns: -1}}
benchmarks:
  - {name: pipes, run: hackbench -p -l 10, rows: {-g: [1, 12]}}
  - {name: alone, run: "while1 -n 3"}
repeats: 2
quick: {repeats: 1, rows: {-g: [4]}}
`

func mustParse(t testing.TB, text string) *Experiment {
	t.Helper()
	x, err := Parse("small.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func mustPlan(t testing.TB, text string, o Options) *Plan {
	t.Helper()
	p, err := mustParse(t, text).Plan(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustExecute(t testing.TB, p *Plan, runner Runner, o RunOptions) *Results {
	t.Helper()
	r, err := Execute(context.Background(), p, runner, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show prints results completely, for comparison by bytes.
func show(r *Results) string { return fmt.Sprintf("%+v", r.Tables()) }
