package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

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
	stretch  string
	format   string
}

func newRunCommand() *cobra.Command {
	var r runRequest
	cmd := &cobra.Command{
		Use:   "run [flags] BENCHMARK [the benchmark's own flags]",
		Short: "Run one benchmark on one machine and kernel",
		Long: `Run simulates one benchmark. Everything after the benchmark's name belongs to the
benchmark, which takes the flags of the real tool and prints what it prints;
what the scheduler did follows.`,
		Example: `  schedlab run --machine 2n24c2t --kernel v5.17 hackbench -g 12 -l 100 -P -p
  schedlab run --machine ivb-ep --kernel v4.14 --feature NO_WA_WEIGHT hackbench -g 20`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.cell.Command = args
			return r.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVar(&r.cell.Machine, "machine", defaultMachine, "preset, spec such as 2n24c2t, or machine file")
	f.StringVar(&r.cell.Kernel, "kernel", defaultKernel, "kernel version; see schedlab kernels")
	f.StringArrayVar(&r.cell.Features, "feature", nil, "scheduler feature, NO_ in front switches it off; may be repeated")
	f.StringArrayVar(&r.tunables, "tunable", nil, "NAME=VALUE, such as migration_cost_ns=250000; may be repeated")
	f.IntVar(&r.cell.HZ, "hz", 250, "ticks a second: 100, 250, 300 or 1000")
	f.StringVar(&r.cell.Preemption, "preemption", "voluntary", "none, voluntary, full or lazy")
	f.StringVar(&r.cell.Placement, "placement", "", "a registered placement rule instead of the kernel's")
	f.StringVar(&r.cell.Costs, "costs", "", "cost file (default: the machine's own, else the default one)")
	f.StringVar(&r.stretch, "stretch", "", "WARMUP,MEASURE such as 400ms,300ms: simulate that much of a long run and scale")
	f.Uint64Var(&r.cell.Seed, "seed", 1, "seed of workload and noise")
	f.StringVar(&r.format, "format", "text", "text, json or csv")
	return cmd
}

func (r *runRequest) run(ctx context.Context, out io.Writer) error {
	if len(r.cell.Command) == 0 {
		return fmt.Errorf("run needs a benchmark, such as: schedlab run hackbench -g 4 -P -p; schedlab benchmarks lists them")
	}
	if err := r.parseTunables(); err != nil {
		return err
	}
	if err := r.parseStretch(); err != nil {
		return err
	}
	write, ok := map[string]func(io.Writer, *runReport) error{"text": writeRunText, "json": writeRunJSON, "csv": writeRunCSV}[r.format]
	if !ok {
		return fmt.Errorf("--format is %q; choose text, json or csv", r.format)
	}
	s, err := experiment.NewSimulation(&r.cell)
	var help *workload.HelpError
	if errors.As(err, &help) {
		_, err := io.WriteString(out, help.Text)
		return err
	}
	if err != nil {
		return err
	}
	result, err := s.Run(ctx)
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		return &runError{err}
	}
	benchmark := s.Benchmark.Report(&result.Observation)
	if err := write(out, newRunReport(benchmark, result)); err != nil {
		return &runError{err}
	}
	if benchmark.Failure != "" {
		return &runError{errors.New(benchmark.Failure)}
	}
	return nil
}

func (r *runRequest) parseTunables() error {
	for _, word := range r.tunables {
		name, text, found := strings.Cut(word, "=")
		value, err := strconv.ParseInt(text, 10, 64)
		if !found || err != nil {
			return fmt.Errorf("--tunable %q must be NAME=WHOLE NUMBER, such as migration_cost_ns=500000", word)
		}
		r.cell.Tunables = append(r.cell.Tunables, experiment.Tunable{Name: name, Value: value})
	}
	return nil
}

func (r *runRequest) parseStretch() error {
	if r.stretch == "" {
		return nil
	}
	warmup, measure, found := strings.Cut(r.stretch, ",")
	warm, errWarm := time.ParseDuration(warmup)
	measured, errMeasured := time.ParseDuration(measure)
	if !found || errWarm != nil || errMeasured != nil || warm < 0 || measured <= 0 {
		return fmt.Errorf("--stretch %q must be WARMUP,MEASURE, two times such as 400ms,300ms", r.stretch)
	}
	r.cell.Stretch = workload.Stretch{Warmup: int64(warm), Measure: int64(measured)}
	return nil
}

// runReport is what a run says in every format; times are seconds of virtual
// time unless a name says otherwise.
type runReport struct {
	Text         string            `json:"-"`
	Notes        []string          `json:"notes,omitempty"`
	Metrics      []workload.Metric `json:"metrics"`
	Figures      []figure          `json:"figures"`
	EndSeconds   float64           `json:"end_s"`
	latencyCount int64
}

// figure is one line of a report.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

func newRunReport(b workload.Report, r *sim.Result) *runReport {
	rep := &runReport{Text: b.Text, Notes: b.Notes, Metrics: b.Metrics, EndSeconds: seconds(r.End), latencyCount: r.WakeLatency.TotalCount()}
	add := func(name string, value float64, unit string) {
		rep.Figures = append(rep.Figures, figure{name, value, unit})
	}
	add("context switches", float64(r.Switches), "")
	add("wakeups", float64(r.Wakeups), "")
	for d := sim.SameCore; d < len(r.Migrations); d++ {
		add("migrations, "+sim.DistanceNames[d], float64(r.Migrations[d]), "")
	}
	for _, q := range []float64{50, 90, 99, 99.9} {
		add(fmt.Sprintf("wakeup latency p%g", q), float64(r.WakeLatency.ValueAtQuantile(q))/1e3, "us")
	}
	add("wakeup latency max", float64(r.WakeLatency.Max())/1e3, "us")
	add("busy", seconds(r.BusyNS), "CPU-s")
	add("idle", seconds(r.IdleNS), "CPU-s")
	add("switching, waking, ticks", seconds(r.KernelNS), "CPU-s")
	add("cache refill", seconds(r.RefillNS), "CPU-s")
	add("idle beside waiting tasks", seconds(r.UnconservedNS), "CPU-s")
	return rep
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

func writeRunText(w io.Writer, r *runReport) error {
	var b strings.Builder
	b.WriteString(r.Text)
	b.WriteByte('\n')
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "%s\n", note)
	}
	for _, f := range r.Figures {
		precision := 0
		switch f.Unit {
		case "us":
			precision = 1
		case "CPU-s":
			precision = 3
		}
		fmt.Fprintf(&b, "%-28s %14.*f %s\n", f.Name, precision, f.Value, f.Unit)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeRunJSON(w io.Writer, r *runReport) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func writeRunCSV(w io.Writer, r *runReport) error {
	var b strings.Builder
	b.WriteString("name,value,unit\n")
	for _, m := range r.Metrics {
		fmt.Fprintf(&b, "%s,%v,%s\n", strings.TrimSpace(m.Statistic+" "+m.Label), m.Value, m.Unit)
	}
	for _, f := range r.Figures {
		fmt.Fprintf(&b, "%q,%v,%s\n", f.Name, f.Value, f.Unit)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
