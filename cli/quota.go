package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/quota"
	"github.com/schedlab/schedlab/workload"
)

// quotaRequest is one `schedlab quota` command line.
type quotaRequest struct {
	given    quota.Description // by flags
	set      *pflag.FlagSet
	cell     experiment.Cell
	tunables []string
	cgroups  []string
	path     string
	capture  string
	which    quota.Which
	cpus     string
	periods  string
	bursts   string
	warmup   time.Duration
	time     time.Duration
	repeats  int
	workers  int
	format   string
	svg      string
	out      string
	quiet    bool
}

func newQuotaCommand() *cobra.Command {
	var r quotaRequest
	cmd := &cobra.Command{
		Use:   "quota [SERVICE.yaml]",
		Short: "What another CPU limit would do to a service's latency",
		Long: `Quota simulates a service under many CPU limits (cpu.max, cpu.max.burst), periods
and numbers of threads. It prints throughput, latency, throttling and wasted CPU
of each, recommends the smallest limit that keeps --p99, and says in words why a
service is throttled that uses less than its limit.

The service is described by flags or in a YAML file with keys of the same names
(docs/quota.md): requests arrive whether or not the last one was answered, wait
in one queue, and each is worked off by one of the threads. Latency is from
arrival to answer.

Limits are in CPUs: 1.5 in a period of 100 ms is cpu.max "150000 100000". Without
--cpus they lie around what the requests need. Bursts are in percent of the
limit. "Used" are the CPUs of the service itself; "throttled for" sums over its
CPUs; "wasted" is quota left over in periods in which it was throttled.`,
		Example: `  schedlab quota --machine 1n4c2t --threads 8 --rate 500 --size exp:2ms --p99 20ms
  schedlab quota --rate 300 --size lognormal:1ms,20ms --threads 4,16 --period 20ms,100ms --cpus 1,1.5,2
  schedlab quota --cgroup "/pod:cpu.max=200000 100000" --path /pod/app --rate 100 --cpus 0.5,1,2 --period 100ms
  schedlab quota --p99 50ms --svg quota.svg --format csv service.yaml
  schedlab quota --rate 300 --size exp:2ms --cpus 1,2 --p99 50ms --out results
  schedlab quota --capture captures/6.1/hb-pipe --task hackbench --machine 2n2c2t --cpus 2,4,8 --period 100ms`,
		Args: atMostOne("a file that describes the service"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.set = cmd.Flags()
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			return r.run(cmd.Context(), file, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	r.addFlags(cmd)
	completeFlags(cmd, map[string]completion{"format": completeNames(fixed(formats...))})
	return cmd
}

func (r *quotaRequest) addFlags(cmd *cobra.Command) {
	f, d := cmd.Flags(), quota.Default()
	f.IntSliceVar(&r.given.Threads, "threads", d.Threads, "worker threads; several numbers are compared")
	f.Float64Var(&r.given.Rate, "rate", d.Rate, "requests a second")
	f.StringVar(&r.given.Arrivals, "arrivals", d.Arrivals, "poisson, or constant intervals")
	f.IntVar(&r.given.Batch, "batch", d.Batch, "requests that arrive at once")
	f.StringVar(&r.given.Size, "size", d.Size, "CPU time of a request: 2ms, exp:2ms (the mean) or lognormal:1ms,20ms (median, 99th percentile)")
	f.IntVar(&r.given.Footprint, "footprint", d.Footprint, "`KIB` of cache of a thread")
	f.StringVar(&r.given.Machine, "machine", d.Machine, "preset, spec such as 1n4c2t, or machine file")
	f.StringVar(&r.given.Kernel, "kernel", d.Kernel, "kernel version; see schedlab kernels")
	f.StringVar(&r.given.P99, "p99", d.P99, "recommend the smallest limit that keeps the 99th percentile within this `TIME`")
	f.StringVar(&r.capture, "capture", "", "take arrivals, sizes and threads from a `RECORDING`: a trace or the folder of a bundle")
	f.StringVar(&r.which.Task, "task", "", "with --capture: the service's threads are those of this `NAME` or process number")
	f.StringVar(&r.which.Group, "group", "", "with --capture: they are those in this cgroup `PATH`")
	f.StringVar(&r.cpus, "cpus", "", "limits in CPUs, such as 0.5,1,2 (default: around what the requests need)")
	f.StringVar(&r.periods, "period", "100ms,50ms,20ms,10ms", "periods, 1ms to 1s")
	f.StringVar(&r.bursts, "burst", "", "bursts in percent of the limit, 0 to 100 (default: 0,100 where the kernel has them)")
	f.StringVar(&r.path, "path", "/service", "the service's cgroup")
	f.StringArrayVar(&r.cgroups, "cgroup", nil, "`PATH:FILE=VALUE` of a cgroup above it or beside it; may be repeated")
	f.StringArrayVar(&r.cell.Features, "feature", nil, "scheduler `FEATURE`, NO_ in front switches it off; may be repeated")
	f.StringArrayVar(&r.tunables, "tunable", nil, "`NAME=VALUE`, such as cfs_bandwidth_slice_us=1000; may be repeated")
	f.IntVar(&r.cell.HZ, "hz", experiment.DefaultHZ, "ticks a second: 100, 250, 300 or 1000")
	f.StringVar(&r.cell.Preemption, "preemption", experiment.DefaultPreemption, "none, voluntary, full or lazy")
	f.DurationVar(&r.warmup, "warmup", time.Second, "virtual time before requests count")
	f.DurationVar(&r.time, "time", 0, "virtual time in which requests count (default: for 20000 requests, fewer when there are many points)")
	f.IntVar(&r.repeats, "repeats", 2, "simulations of each point with other requests")
	f.Uint64Var(&r.cell.Seed, "seed", experiment.DefaultSeed, "seed of arrivals, sizes and noise")
	f.IntVar(&r.workers, "workers", 0, "simulations at once (default: one per CPU)")
	f.StringVar(&r.format, "format", "text", strings.Join(formats, ", "))
	f.StringVar(&r.svg, "svg", "", "also draw the 99th percentiles as a heat map in this `FILE`")
	f.StringVar(&r.out, "out", "", "folder for results.csv, results.json, report.html and its charts")
	f.BoolVar(&r.quiet, "quiet", false, "no progress")
}

func (r *quotaRequest) run(ctx context.Context, file string, out, progress io.Writer) error {
	if err := checkFormat(r.format, formats); err != nil {
		return err
	}
	if r.svg != "" {
		if err := checkOutput("--svg", r.svg); err != nil {
			return err
		}
	}
	if err := checkFeatures(r.cell.Features); err != nil {
		return err
	}
	if err := makeOut(r.out); err != nil {
		return err
	}
	description, err := r.describe(file)
	if err != nil {
		return err
	}
	target, err := description.Target()
	if err != nil {
		return err
	}
	observed, err := r.observe()
	if err != nil {
		return err
	}
	if observed != nil && !r.set.Changed("threads") {
		description.Threads = []int{observed.Threads}
	}
	sweep, axes, err := r.plan(&description, observed)
	if err != nil {
		return err
	}
	settings := axes.Settings(r.cpus == "")
	if err := sweep.Check(settings); err != nil {
		return quotaRefusal(err)
	}
	report := quota.Report{Service: describeService(&description, observed, sweep), Need: sweep.Service.CPUs(), Target: target, Notes: quotaNotes(sweep)}
	err = r.simulate(ctx, sweep, settings, &report, progress)
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted: %w", err)
	case err != nil:
		return &runError{err}
	}
	if err := report.Write(out, r.format); err != nil {
		return &runError{err}
	}
	return r.draw(&report)
}

// simulate runs the sweep and, with a target, what lies around it.
func (r *quotaRequest) simulate(ctx context.Context, sweep *quota.Sweep, settings []quota.Setting, report *quota.Report, watcher io.Writer) error {
	sweeping := newProgress(watcher, r.quiet, "simulations", len(settings)*sweep.Repeats)
	var err error
	report.Points, err = sweep.Run(ctx, settings, sweeping.step)
	sweeping.clear()
	if err != nil || report.Target == 0 {
		return err
	}
	refining := newProgress(watcher, r.quiet, "simulations between the limits", 0)
	report.Refined, err = sweep.Refine(ctx, report.Points, report.Target, refining.step)
	refining.clear()
	return err
}

// describe is the file's description with the flags that were given in its
// place.
func (r *quotaRequest) describe(file string) (quota.Description, error) {
	d := quota.Default()
	if file != "" {
		var err error
		if d, err = quota.Load(file); err != nil {
			return d, err
		}
	}
	g := &r.given
	r.override("threads", func() { d.Threads = g.Threads })
	r.override("rate", func() { d.Rate = g.Rate })
	r.override("arrivals", func() { d.Arrivals = g.Arrivals })
	r.override("batch", func() { d.Batch = g.Batch })
	r.override("size", func() { d.Size = g.Size })
	r.override("footprint", func() { d.Footprint = g.Footprint })
	r.override("machine", func() { d.Machine = g.Machine })
	r.override("kernel", func() { d.Kernel = g.Kernel })
	r.override("p99", func() { d.P99 = g.P99 })
	return d, nil
}

// override takes a flag that was given.
func (r *quotaRequest) override(flag string, take func()) {
	if r.set.Changed(flag) {
		take()
	}
}

// observe takes the service from a recording, if there is one.
func (r *quotaRequest) observe() (*quota.Observed, error) {
	named := r.which.Task != "" || r.which.Group != ""
	switch {
	case r.capture == "" && named:
		return nil, errors.New("--task and --group say which threads of a recording are the service's: add --capture RECORDING")
	case r.capture == "":
		return nil, nil
	case !named || (r.which.Task != "" && r.which.Group != ""):
		return nil, errors.New("--capture needs to know which threads are the service's: add either --task NAME or --group PATH")
	}
	for _, flag := range []string{"rate", "size", "arrivals", "batch"} {
		if r.set.Changed(flag) {
			return nil, fmt.Errorf("--%s is taken from the recording: leave it or --capture out", flag)
		}
	}
	return quota.Observe(r.capture, r.which)
}

// serviceOf is the service of the description, with what a recording says of it
// in its place.
func (r *quotaRequest) serviceOf(d *quota.Description, observed *quota.Observed) (workload.Service, error) {
	described := *d
	if observed != nil {
		described.Rate = observed.Rate()
	}
	measure := r.time
	if measure == 0 {
		measure = quota.MeasuredTime(described.Rate, 1)
	}
	v, err := described.Service(d.Threads[0], r.warmup, measure)
	if observed != nil {
		v.Intervals, v.Sizes = observed.Intervals, observed.Sizes
	}
	return v, err
}

// plan checks what does not need a simulation.
func (r *quotaRequest) plan(d *quota.Description, observed *quota.Observed) (*quota.Sweep, *quota.Axes, error) {
	if r.repeats < 1 || r.repeats > 100 {
		return nil, nil, fmt.Errorf("--repeats is %d; write a number from 1 to 100", r.repeats)
	}
	if len(d.Threads) == 0 {
		return nil, nil, errors.New("threads: there is no number of threads; write at least one")
	}
	service, err := r.serviceOf(d, observed)
	if err != nil {
		return nil, nil, err
	}
	r.cell.Machine, r.cell.Kernel = d.Machine, d.Kernel
	if r.cell.Tunables, err = parseSettings("tunable", "cfs_bandwidth_slice_us=1000", r.tunables); err != nil {
		return nil, nil, err
	}
	if err := parseCgroups(r.cgroups, &r.cell); err != nil {
		return nil, nil, err
	}
	if !strings.HasPrefix(r.path, "/") || strings.Trim(r.path, "/") == "" {
		return nil, nil, fmt.Errorf("--path %q is not the path of a cgroup, such as /service", r.path)
	}
	sweep := &quota.Sweep{Base: r.cell, Path: "/" + strings.Trim(r.path, "/"), Service: service, Repeats: r.repeats, Workers: r.workers}
	axes, err := r.axes(d, service.CPUs())
	if err == nil && r.time == 0 {
		sweep.Service.Time = int64(quota.MeasuredTime(1e9/service.Intervals.Mean(), len(axes.Settings(r.cpus == ""))*r.repeats))
	}
	return sweep, axes, err
}

func (r *quotaRequest) axes(d *quota.Description, need float64) (*quota.Axes, error) {
	axes := &quota.Axes{Threads: d.Threads}
	var err error
	if axes.Periods, err = parsePeriods(r.periods); err != nil {
		return nil, err
	}
	if axes.Bursts, err = r.parseBursts(d.Kernel); err != nil {
		return nil, err
	}
	if err := errors.Join(noneTwice("threads", axes.Threads), noneTwice("--period", axes.Periods), noneTwice("--burst", axes.Bursts)); err != nil {
		return nil, err
	}
	if r.cpus != "" {
		if axes.CPUs, err = parseCPUs(r.cpus); err != nil {
			return nil, err
		}
		return axes, noneTwice("--cpus", axes.CPUs)
	}
	mach, err := machine.Resolve(d.Machine)
	if err != nil {
		return nil, fmt.Errorf("--machine: %w", err)
	}
	axes.CPUs = quota.DefaultCPUs(need, float64(mach.Online().Count()))
	return axes, nil
}

// noneTwice refuses an axis that would simulate and print the same line again.
func noneTwice[T int | int64 | float64](axis string, values []T) error {
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return fmt.Errorf("%s: %v appears twice; leave one out", axis, v)
		}
	}
	return nil
}

func parseCPUs(text string) ([]float64, error) {
	var cpus []float64
	for word := range strings.SplitSeq(text, ",") {
		c, err := strconv.ParseFloat(word, 64)
		if err != nil || !(c >= 0 && c <= 1e6) {
			return nil, fmt.Errorf("--cpus %q: %q is not a number of CPUs such as 1.5", text, word)
		}
		cpus = append(cpus, c)
	}
	return cpus, nil
}

func parsePeriods(text string) ([]int64, error) {
	var periods []int64
	for word := range strings.SplitSeq(text, ",") {
		p, err := time.ParseDuration(word)
		if err != nil || p <= 0 {
			return nil, fmt.Errorf("--period %q: %q is not a length of time such as 100ms", text, word)
		}
		periods = append(periods, int64(p))
	}
	return periods, nil
}

// parseBursts reads --burst; without it a burst is tried where the kernel has
// it.
func (r *quotaRequest) parseBursts(kernel string) ([]int, error) {
	if r.bursts == "" {
		if quota.HasBurst(kernel) {
			return []int{0, 100}, nil
		}
		return []int{0}, nil
	}
	var bursts []int
	for word := range strings.SplitSeq(r.bursts, ",") {
		b, err := strconv.Atoi(word)
		if err != nil || b < 0 || b > 100 {
			return nil, fmt.Errorf("--burst %q: %q is not a percentage of the limit, 0 to 100", r.bursts, word)
		}
		bursts = append(bursts, b)
	}
	return bursts, nil
}

// quotaRefusal names the flag that a field of the cell comes from.
func quotaRefusal(err error) error {
	var field *experiment.FieldError
	if !errors.As(err, &field) {
		return err
	}
	name, _, _ := strings.Cut(field.Field, "[")
	name, _, _ = strings.Cut(name, ".")
	switch name {
	case "cgroups":
		return field.Err // it names the path and the rule
	case "features", "tunables":
		name = strings.TrimSuffix(name, "s")
	}
	return fmt.Errorf("--%s: %w", name, field.Err)
}

func describeService(d *quota.Description, observed *quota.Observed, s *quota.Sweep) string {
	if observed != nil {
		return fmt.Sprintf("Service on %s, kernel %s: %s, %s each of %d simulated",
			d.Machine, d.Kernel, observed.Describe(), time.Duration(s.Service.Time), s.Repeats)
	}
	arrivals := d.Arrivals
	if d.Batch > 1 {
		arrivals += fmt.Sprintf(" in batches of %d", d.Batch)
	}
	return fmt.Sprintf("Service on %s, kernel %s: %g requests/s (%s) of %s, %s each of %d simulated",
		d.Machine, d.Kernel, d.Rate, arrivals, d.Size, time.Duration(s.Service.Time), s.Repeats)
}

// fewRequests is how many make a 99.9th percentile worth reading.
const fewRequests = 10_000

func quotaNotes(s *quota.Sweep) []string {
	v := &s.Service
	var notes []string
	if n := float64(v.Time) / v.Intervals.Mean() * float64(s.Repeats); n < fewRequests {
		notes = append(notes, fmt.Sprintf("about %.0f requests count for each line, so p99.9 stands on %.0f of them; a longer --time has more", n, n/1000))
	}
	return notes
}

func (r *quotaRequest) draw(report *quota.Report) error {
	if r.out != "" {
		write := func(format string) func(io.Writer) error {
			return func(w io.Writer) error { return report.Write(w, format) }
		}
		if err := writeOut(r.out, report.Page(), map[string]func(io.Writer) error{"results.csv": write("csv"), "results.json": write("json")}); err != nil {
			return &runError{err}
		}
	}
	if r.svg == "" {
		return nil
	}
	f, err := os.Create(r.svg)
	if err != nil {
		return &runError{fmt.Errorf("--svg: %w", err)}
	}
	if err := errors.Join(report.WriteSVG(f), f.Close()); err != nil {
		return &runError{fmt.Errorf("--svg %s: %w", r.svg, err)}
	}
	return nil
}
