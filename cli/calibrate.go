package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/calibrate"
	"github.com/schedlab/schedlab/internal/suggest"
	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/workload"
)

// calibration is one `schedlab calibrate` command line.
type calibration struct {
	machine, timings string
	costs, out, from string
	stretch          string
	rows             []string
	benchmarks       []string
	evaluations      int
	workers          int
	quiet            bool
	check            bool

	stdout, stderr io.Writer
}

func newCalibrateCommand() *cobra.Command {
	var c calibration
	cmd := &cobra.Command{
		Use:   "calibrate MACHINE",
		Short: "Fit cost parameters to measurements of an unpatched kernel",
		Long: `Calibrate searches cost parameters, each within its range, with which the
simulator comes near to what a machine did under an unpatched kernel, prints
measured beside simulated for the figures it was fitted to and for the others,
and writes a cost file.

  xeon-8260   the column "vanilla" of the document of April 2022, quiet
  x86-12      the column "prev" of the document of January 2013
  native      a file of timings (--timings) of a machine with two CPUs

It reads baseline figures only, and refuses parameters that only patched kernels
pay. --check fits nothing: it prints how good a cost file is. --from begins at a
cost file and, with --benchmark, fits only what moves no other benchmark: a part
anew, the rest as it is.`,
		Example: `  schedlab calibrate xeon-8260 --out xeon-8260.json
  schedlab calibrate xeon-8260 --check --benchmark hackbench-thread-pipes --rows 12,48
  schedlab calibrate xeon-8260 --from xeon-8260 --benchmark hackbench-process-sockets --stretch 600ms,150ms,2s
  schedlab calibrate x86-12 --check --stretch 100ms,100ms
  schedlab calibrate native --timings timings.csv --out native.json`,
		Args: exactlyOne("xeon-8260, x86-12 or native"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.machine, c.stdout, c.stderr = args[0], cmd.OutOrStdout(), cmd.ErrOrStderr()
			return c.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.timings, "timings", "", "CSV `FILE` of a machine's timings, for native")
	f.StringVar(&c.costs, "costs", "", "with --check: cost `FILE` or built-in name (default: the machine's own)")
	f.StringVar(&c.from, "from", "", "built-in cost file `NAME` where the search begins (default: the first value of each parameter)")
	f.StringVar(&c.out, "out", "", "cost `FILE` to write (default: none)")
	f.StringVar(&c.stretch, "stretch", "", "`WARMUP,MEASURE[,SETTLE]` of the long benchmarks (default: as the document is reproduced)")
	f.StringSliceVar(&c.rows, "rows", nil, "only these rows (default: all)")
	f.StringSliceVar(&c.benchmarks, "benchmark", nil, "only these benchmarks (default: all)")
	f.IntVar(&c.evaluations, "evaluations", 60, "how many points the search may try")
	f.IntVar(&c.workers, "workers", 1, "simulations at once")
	f.BoolVar(&c.check, "check", false, "fit nothing, print how good the costs are")
	f.BoolVar(&c.quiet, "quiet", false, "no progress")
	return cmd
}

func (c *calibration) run(ctx context.Context) error {
	if c.costs != "" && !c.check {
		return errors.New("--costs is what --check looks at: add --check, or leave it out to fit costs")
	}
	if c.evaluations < 1 {
		return fmt.Errorf("--evaluations is %d; write 1 or more", c.evaluations)
	}
	if c.out != "" {
		if err := checkOutput("--out", c.out); err != nil {
			return err
		}
	}
	known, knobs, err := c.subject()
	if err != nil {
		return err
	}
	figures, err := c.chosen(known)
	if err != nil {
		return err
	}
	base, knobs, err := c.beginning(knobs, figures, known)
	if err != nil {
		return err
	}
	costs, err := c.costsOf(ctx, base, figures, knobs)
	if err != nil {
		return err
	}
	all := make([]*calibrate.Figure, len(figures))
	for i := range figures {
		all[i] = &figures[i]
	}
	predictions, err := calibrate.Predict(ctx, costs, all, c.workers)
	if err != nil {
		return c.failure(ctx, err)
	}
	if err := calibrate.Print(c.stdout, predictions); err != nil {
		return &runError{err}
	}
	return c.write(costs, knobs)
}

// stretchOr is the stretch of the command line, or the machine's own.
func (c *calibration) stretchOr(own string) (workload.Stretch, error) {
	if c.stretch == "" {
		return parseStretch("--stretch", own)
	}
	return parseStretch("--stretch", c.stretch)
}

// subject is what was measured on the machine and what may be fitted.
func (c *calibration) subject() ([]calibrate.Figure, []calibrate.Knob, error) {
	switch c.machine {
	case calibrate.Xeon8260:
		stretch, err := c.stretchOr("600ms,150ms")
		if err != nil {
			return nil, nil, err
		}
		figures, err := calibrate.XeonFigures(stretch)
		return figures, calibrate.XeonKnobs(), err
	case calibrate.MapMachine:
		stretch, err := c.stretchOr("400ms,150ms")
		if err != nil {
			return nil, nil, err
		}
		figures, err := calibrate.MapFigures(stretch)
		return figures, calibrate.MapKnobs(), err
	case calibrate.Native:
		if c.timings == "" {
			return nil, nil, fmt.Errorf("native needs the machine's timings; write --timings FILE.csv")
		}
		file, err := os.Open(c.timings)
		if err != nil {
			return nil, nil, fmt.Errorf("--timings: %w", err)
		}
		defer func() { _ = file.Close() }() // only read
		figures, err := calibrate.NativeFigures(c.timings, io.LimitReader(file, maxTimingsBytes))
		return figures, calibrate.NativeKnobs(), err
	}
	return nil, nil, fmt.Errorf("there are no measurements of a machine %q; choose %s, %s or %s", c.machine, calibrate.Xeon8260, calibrate.MapMachine, calibrate.Native)
}

// maxTimingsBytes is far above any real file of timings.
const maxTimingsBytes = 1 << 20

// chosen keeps the figures that --rows and --benchmark name.
func (c *calibration) chosen(figures []calibrate.Figure) ([]calibrate.Figure, error) {
	var kept []calibrate.Figure
	for _, f := range figures {
		if listed(c.rows, f.Row) && listed(c.benchmarks, f.Benchmark) {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("no figure of %s is in rows %s of benchmarks %s", c.machine, strings.Join(c.rows, ","), strings.Join(c.benchmarks, ","))
	}
	return kept, nil
}

func listed(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return len(names) == 0
}

// costsOf fits costs, or with --check takes those that are there.
func (c *calibration) costsOf(ctx context.Context, base *sim.Costs, figures []calibrate.Figure, knobs []calibrate.Knob) (*sim.Costs, error) {
	switch {
	case c.check && c.costs == "":
		return sim.CostsFor(c.machine)
	case c.check:
		return namedCosts(c.costs)
	}
	progress := newProgress(c.stderr, c.quiet, "points", c.evaluations)
	search := calibrate.Search{Knobs: knobs, Figures: figures, Evaluations: c.evaluations, Workers: c.workers, Tried: progress.step,
		Log: func(format string, args ...any) {
			progress.clear()
			_, _ = fmt.Fprintf(c.stderr, format+"\n", args...)
		}}
	fitted, err := search.Fit(ctx, base)
	progress.clear()
	if err != nil {
		return nil, c.failure(ctx, err)
	}
	return fitted, nil
}

func namedCosts(name string) (*sim.Costs, error) {
	if strings.HasSuffix(name, ".json") {
		return sim.LoadCostFile(name)
	}
	return sim.LoadCosts(name)
}

// beginning is where the search begins: the costs below the knobs, and the
// knobs to search with their first values.
func (c *calibration) beginning(knobs []calibrate.Knob, chosen, known []calibrate.Figure) (*sim.Costs, []calibrate.Knob, error) {
	if c.from == "" {
		base, err := calibrate.BaseCosts()
		return base, knobs, err
	}
	if names := sim.CostNames(); !slices.Contains(names, c.from) {
		return nil, nil, fmt.Errorf("--from: no built-in cost file %q; %s", c.from, suggest.DidYouMean(c.from, names))
	}
	base, err := sim.LoadCosts(c.from)
	if err != nil {
		return nil, nil, err
	}
	if knobs, err = calibrate.Apart(knobs, chosen, known); err == nil {
		knobs, err = calibrate.StartAt(base, knobs)
	}
	return base, knobs, err
}

// failure is what the simulations came to; an interrupt is said once, not for
// each of them.
func (c *calibration) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", ctx.Err())
	}
	return &runError{err}
}

func (c *calibration) write(costs *sim.Costs, knobs []calibrate.Knob) error {
	if c.out == "" {
		return nil
	}
	provenance := "calibrated on the quiet column vanilla of " + calibrate.Document
	switch c.machine {
	case calibrate.MapMachine:
		provenance = "calibrated on the column prev of " + calibrate.MapDocument
	case calibrate.Native:
		provenance = "calibrated on the pinned and one-group rows of its timings"
	}
	text, err := calibrate.CostFile(c.from, costs, knobs, "Calibrated by schedlab calibrate "+c.machine+".", provenance)
	if err == nil {
		err = os.WriteFile(c.out, text, 0o644)
	}
	if err != nil {
		return &runError{err}
	}
	return nil
}
