package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/workload"
)

const (
	defaultKernel  = "v6.1"
	defaultMachine = "2n24c2t"
)

// runRequest is one `schedlab run` command line.
type runRequest struct {
	cell     experiment.Cell
	tunables []string
	supposed []string // cost parameters
	cgroups  []string
	stretch  string
	format   string
	stats    runStatistics
	trace    string
	quiet    bool
	stderr   io.Writer
}

func newRunCommand() *cobra.Command {
	var r runRequest
	cmd := &cobra.Command{
		Use:   "run [flags] BENCHMARK [the benchmark's own flags]",
		Short: "Run one benchmark on one machine and kernel",
		Long: `Run simulates one benchmark. Everything after the benchmark's name belongs to the
benchmark, which takes the flags of the real tool and prints what it prints;
what the scheduler did follows.

The same command prints the same bytes on any computer: all randomness comes
from --seed.`,
		Example: `  schedlab run --machine 2n24c2t --kernel v5.17 hackbench -g 12 -l 100 -P -p
  schedlab run --machine ivb-ep --kernel v4.14 --feature NO_WA_WEIGHT hackbench -g 20
  schedlab run --trace recorded --machine 2n2c2t hackbench -g 1 -f 4 -l 100
  schedlab run --cgroup "/service:cpu.max=200000 100000" --machine 2n2c2t schbench -m 1 -t 4 -r 1
  schedlab run --machine 1n4c1t rt-app periodic.json
  schedlab run --tunable migration_cost_ns=250000 --format csv perf bench sched pipe -l 2000`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.cell.Command = args
			r.stderr = cmd.ErrOrStderr()
			return r.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	r.addFlags(cmd)
	completeRun(cmd)
	return cmd
}

func (r *runRequest) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SetInterspersed(false) // what follows the benchmark's name is its own
	f.StringVar(&r.cell.Machine, "machine", defaultMachine, "preset, spec such as 2n24c2t, or machine file")
	f.StringVar(&r.cell.Kernel, "kernel", defaultKernel, "kernel version; see schedlab kernels")
	f.StringArrayVar(&r.cell.Features, "feature", nil, "scheduler `FEATURE`, NO_ in front switches it off; may be repeated")
	f.StringArrayVar(&r.supposed, "cost", nil, "`NAME=VALUE`: suppose another cost, such as probe=0; may be repeated")
	f.StringArrayVar(&r.tunables, "tunable", nil, "`NAME=VALUE`, such as migration_cost_ns=250000; may be repeated")
	f.StringArrayVar(&r.cgroups, "cgroup", nil, "`PATH:FILE=VALUE` of a cgroup, such as \"/service:cpu.max=50000 100000\"; may be repeated, the benchmark runs in the first")
	f.IntVar(&r.cell.HZ, "hz", experiment.DefaultHZ, "ticks a second: 100, 250, 300 or 1000")
	f.StringVar(&r.cell.Preemption, "preemption", experiment.DefaultPreemption, "none, voluntary, full or lazy")
	f.StringVar(&r.cell.Noise, "noise", experiment.Noises[0], "what wakes the kernel threads of idle CPUs: timed (their timers) or deferrable (nothing)")
	f.StringVar(&r.cell.Placement, "placement", "", "a registered placement `RULE` instead of the kernel's")
	f.StringVar(&r.cell.Costs, "costs", "", "cost `FILE` that ends in .json, or a built-in name (default: the machine's own, else default)")
	f.StringVar(&r.cell.TieBreak, "tie-break", "number", "which CPU goes first at equal times: number, or random by the seed")
	f.Uint64Var(&r.cell.Seed, "seed", experiment.DefaultSeed, "seed of workload, noise and random ties")
	f.StringVar(&r.stretch, "stretch", "", "simulate `WARMUP,MEASURE[,SETTLE]` of a long run, such as 400ms,300ms, and scale it")
	f.StringVar(&r.format, "format", "text", strings.Join(formats, ", "))
	r.stats.addFlags(f)
	f.BoolVar(&r.quiet, "quiet", false, "no progress")
	f.StringVar(&r.trace, "trace", "", "new `FOLDER` for a recording of everything that happens, for schedlab explain and trace viewers")
}

func (r *runRequest) run(ctx context.Context, out io.Writer) error {
	if len(r.cell.Command) == 0 {
		return errors.New("run needs a benchmark, such as: schedlab run hackbench -g 4 -P -p; schedlab benchmarks lists them")
	}
	if err := checkFeatures(r.cell.Features); err != nil {
		return err
	}
	if err := r.parseTunables(); err != nil {
		return err
	}
	if err := parseCgroups(r.cgroups, &r.cell); err != nil {
		return err
	}
	if err := r.parseStretch(); err != nil {
		return err
	}
	if err := checkFormat(r.format, formats); err != nil {
		return err
	}
	if err := r.stats.check(); err != nil {
		return err
	}
	if err := r.checkTrace(); err != nil {
		return err
	}
	s, err := experiment.NewSimulation(&r.cell)
	var help *workload.HelpError
	if errors.As(err, &help) {
		_, err := io.WriteString(out, help.Text)
		return err
	}
	if err != nil {
		return r.refusal(err)
	}
	return r.simulate(ctx, s, out)
}

func (r *runRequest) simulate(ctx context.Context, s *experiment.Simulation, out io.Writer) error {
	if err := checkLogFolder(s.Benchmark); err != nil {
		return err
	}
	s.SampleCounters(int64(r.stats.every))
	rec, err := beginTrace(s, r.trace)
	if err != nil {
		return fmt.Errorf("--trace %w", err)
	}
	result, err := r.watch(ctx, s)
	if err != nil {
		rec.abandon()
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: %w", err)
	}
	if err != nil {
		return &runError{err}
	}
	benchmark := s.Benchmark.Report(&result.Observation)
	printed := newRunReport(benchmark, result)
	printed.Caveats = s.Caveats()
	printed.Groups = groupReports(s.Groups())
	if err := printed.write(out, r.format); err != nil {
		return &runError{err}
	}
	if err := rec.finish(s, result, benchmark.Text); err != nil {
		return &runError{err}
	}
	if err := writeLogs(s.Benchmark, &result.Observation); err != nil {
		return &runError{err}
	}
	if err := r.stats.write(result.Counters); err != nil {
		return &runError{err}
	}
	if benchmark.Failure != "" {
		return &runError{errors.New(benchmark.Failure)}
	}
	return nil
}

// watch runs the simulation and shows how far it is.
func (r *runRequest) watch(ctx context.Context, s *experiment.Simulation) (*sim.Result, error) {
	progress := newProgress(r.stderr, r.quiet, "ms of virtual time", 0)
	defer progress.clear()
	s.Watch(func(now int64) { progress.set(int(now/1e6), 0, 0) })
	return s.Run(ctx)
}

func (r *runRequest) parseTunables() (err error) {
	if r.cell.Tunables, err = parseSettings("tunable", "migration_cost_ns=500000", r.tunables); err != nil {
		return err
	}
	r.cell.Supposed, err = parseSettings("cost", "probe=0", r.supposed)
	return err
}

// checkFeatures refuses a feature that is both switched on and off.
func checkFeatures(words []string) error {
	for _, word := range words {
		if slices.Contains(words, "NO_"+word) {
			return fmt.Errorf("--feature: %s and NO_%s contradict each other; keep one", word, word)
		}
	}
	return nil
}

// parseSettings reads the words that a flag was given.
func parseSettings(flag, example string, words []string) ([]experiment.Tunable, error) {
	var settings []experiment.Tunable
	for _, word := range words {
		name, text, found := strings.Cut(word, "=")
		value, err := strconv.ParseInt(text, 10, 64)
		if !found || err != nil {
			return nil, fmt.Errorf("--%s %q must be NAME=WHOLE NUMBER, such as %s", flag, word, example)
		}
		for _, s := range settings {
			if s.Name == name && s.Value != value {
				return nil, fmt.Errorf("--%s: %s is set to %d and to %d; keep one", flag, name, s.Value, value)
			}
		}
		settings = append(settings, experiment.Tunable{Name: name, Value: value})
	}
	return settings, nil
}

func (r *runRequest) parseStretch() (err error) {
	if r.stretch != "" {
		r.cell.Stretch, err = parseStretch("--stretch", r.stretch)
	}
	return err
}

// refusal names the part of the command line that a field of the cell comes
// from.
func (r *runRequest) refusal(err error) error {
	var field *experiment.FieldError
	if !errors.As(err, &field) {
		return err
	}
	name, _, _ := strings.Cut(field.Field, "[")
	name, _, _ = strings.Cut(name, ".")
	switch name {
	case "run":
		return field.Err // it begins with the benchmark's name
	case "features", "tunables", "cgroups":
		name = strings.TrimSuffix(name, "s")
	}
	return fmt.Errorf("--%s: %w", name, field.Err)
}
