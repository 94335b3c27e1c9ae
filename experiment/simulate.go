package experiment

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/schedlab/schedlab/internal/suggest"
	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/stats"
	"github.com/schedlab/schedlab/trace"
	"github.com/schedlab/schedlab/workload"
)

// Simulator is the Runner over package sim.
type Simulator struct{}

// Check builds everything that the cell names, without running it.
func (Simulator) Check(c *Cell) error {
	_, err := NewSimulation(c)
	return err
}

// Run simulates the cell and takes its benchmark's metrics.
func (Simulator) Run(ctx context.Context, c *Cell) (*Outcome, error) {
	s, err := NewSimulation(c)
	if err != nil {
		return nil, err
	}
	result, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	o := outcomeOf(s.Benchmark.Report(&result.Observation), result)
	o.Notes = append(o.Notes, s.Caveats()...)
	for _, s := range c.Supposed {
		o.Notes = append(o.Notes, fmt.Sprintf("supposed that %s costs %d", s.Name, s.Value))
	}
	if len(o.Samples) > 0 {
		o.Samples = append(o.Samples, cpuStats(c, s.Groups())...)
	}
	return o, nil
}

// unconservedPercents are the shares of a run's CPU time, largest first, from
// which idle CPUs beside waiting tasks are worth a warning. They are few, so
// that repeats that differ little get the same warning, and one line.
var unconservedPercents = []int64{50, 40, 30, 20, 10, 5}

// driftPercents are, likewise, the differences between the halves of a measured
// stretch from which its rate is in doubt.
var driftPercents = []int64{50, 20, 10}

func outcomeOf(report workload.Report, result *sim.Result) *Outcome {
	counters := result.WholeCounters()
	sis := stats.SISOf(&counters)
	o := &Outcome{Failed: report.Failure, Notes: report.Notes, SIS: &sis, Latency: latencyOf(result), Span: result.End}
	for _, metric := range report.Metrics {
		o.Samples = append(o.Samples, Sample{
			Statistic: metric.Statistic, Label: metric.Label, Unit: metric.Unit, Better: metric.Better, Value: metric.Value,
		})
	}
	o.Warnings = append(o.Warnings, report.Unsimulated...)
	total := result.BusyNS + result.IdleNS
	if percent := step(unconservedPercents, 100*result.UnconservedNS/max(1, total)); percent > 0 {
		o.Warnings = append(o.Warnings, fmt.Sprintf(
			"work conservation: at least %d %% of the CPU time was idle while a task that could have used it waited", percent))
	}
	if result.Stretch == nil {
		return o
	}
	if percent := step(driftPercents, result.Stretch.DriftPercent()); percent > 0 {
		o.Warnings = append(o.Warnings, fmt.Sprintf(
			"the stretch was not steady: the rates of its halves differ by at least %d %%; a longer warm-up would help", percent))
	}
	return o
}

// latencyOf takes a run's wakeup latencies, nil when nothing woke up.
func latencyOf(result *sim.Result) *stats.Latency {
	if result.WakeLatency == nil {
		return nil
	}
	l := &stats.Latency{}
	for _, class := range result.WakeLatency.Distribution() {
		l.Add(class.To, class.Count)
	}
	if l.Count() == 0 {
		return nil
	}
	return l
}

// step is the first of the thresholds that a percentage reaches, 0 if none.
func step(thresholds []int64, percent int64) int64 {
	for _, t := range thresholds {
		if percent >= t {
			return t
		}
	}
	return 0
}

// Simulation is one cell, ready to run.
type Simulation struct {
	Benchmark workload.Benchmark
	sim       *sim.Sim
	config    sched.Config
}

// Run executes the cell to its end or until ctx is done.
func (s *Simulation) Run(ctx context.Context) (*sim.Result, error) { return s.sim.Run(ctx) }

// Watch is [sim.Sim.Watch].
func (s *Simulation) Watch(watcher func(now int64)) { s.sim.Watch(watcher) }

// SampleCounters is [sim.Sim.SampleCounters].
func (s *Simulation) SampleCounters(every int64) { s.sim.SampleCounters(every) }

// Record is [sim.Sim.Record].
func (s *Simulation) Record(out trace.Writer, names *trace.Names) { s.sim.Record(out, names) }

// Config returns the scheduler's configuration.
func (s *Simulation) Config() sched.Config { return s.config }

// Groups is [sim.Sim.Groups].
func (s *Simulation) Groups() []sim.Group { return s.sim.Groups() }

// Counters returns the scheduler's counters as they are now.
func (s *Simulation) Counters() *sched.Snapshot { return s.sim.Counters() }

// NewSimulation builds what a cell describes. A field that cannot be is a
// *FieldError.
func NewSimulation(c *Cell) (*Simulation, error) { return NewSimulationWith(c, nil) }

// NewSimulationWith is NewSimulation with these costs instead of those that the
// cell names; nil: those of the cell.
func NewSimulationWith(c *Cell, costs *sim.Costs) (*Simulation, error) {
	mach, err := machine.Resolve(c.Machine)
	if err != nil {
		return nil, &FieldError{"machine", err}
	}
	if costs == nil {
		if costs, err = costsOf(c, mach); err != nil {
			return nil, &FieldError{"costs", err}
		}
	}
	config, err := schedConfig(c, mach)
	if err != nil {
		return nil, err
	}
	benchmark, scenario, err := scenarioOf(c, mach)
	if err != nil {
		return nil, err
	}
	run := sim.Config{Sched: config, Scenario: scenario, Costs: costs, Seed: c.Seed}
	if run.Rules, err = workload.RulesFor(c.Kernel); err != nil {
		return nil, &FieldError{"kernel", err}
	}
	if run.Preemption, err = sim.ParsePreemption(c.Preemption); err != nil {
		return nil, &FieldError{"preemption", err}
	}
	if run.ShuffleTies, err = shuffleTies(c.TieBreak); err != nil {
		return nil, &FieldError{"tie-break", err}
	}
	if run.Cgroups, err = cgroupSettings(c); err != nil {
		return nil, err
	}
	if run.Limits, err = cgroupLimits(c); err != nil {
		return nil, err
	}
	s, err := sim.New(run)
	var limit *sim.LimitError
	if errors.As(err, &limit) {
		return nil, &FieldError{limitField(c, limit.Path), err}
	}
	if err != nil {
		return nil, err
	}
	config.Prices = run.Costs.Sched
	return &Simulation{Benchmark: benchmark, sim: s, config: config}, nil
}

// Caveats lists what a report has to say about the simulated features.
func (s *Simulation) Caveats() []string { return s.config.Caveats() }

func schedConfig(c *Cell, mach *machine.Machine) (sched.Config, error) {
	profile, err := sched.LookupProfile(c.Kernel)
	if err != nil {
		return sched.Config{}, &FieldError{"kernel", err}
	}
	config := sched.NewConfig(mach, profile)
	config.HZ = int64(c.HZ)
	if err := sched.CheckHZ(config.HZ); err != nil {
		return config, &FieldError{"hz", err}
	}
	for i, f := range c.Features {
		if err := config.SetFeature(f); err != nil {
			return config, &FieldError{fmt.Sprintf("features[%d]", i), err}
		}
	}
	for _, t := range c.Tunables {
		if err := config.SetTunable(t.Name, t.Value); err != nil {
			return config, &FieldError{"tunables." + t.Name, err}
		}
	}
	if c.Placement != "" {
		if config.Placement, err = sched.LookupPlacement(c.Placement); err != nil {
			return config, &FieldError{"placement", err}
		}
	}
	return config, nil
}

// scenarioOf builds the benchmark, what runs beside it, and the kernel threads
// that make repeats differ.
func scenarioOf(c *Cell, mach *machine.Machine) (workload.Benchmark, *workload.Scenario, error) {
	shape := workload.Shape{CPUs: mach.NumCPUs(), Nodes: len(mach.Nodes)}
	benchmark, err := benchmarkOf(c)
	if err != nil {
		return nil, nil, &FieldError{"run", err}
	}
	if err := applyStretch(benchmark, c.Stretch); err != nil {
		return nil, nil, &FieldError{"stretch", err}
	}
	scenario, err := buildScenario(benchmark, c.Cgroup, shape)
	if err != nil {
		return nil, nil, &FieldError{"run", err}
	}
	pin(scenario, c.CPUs)
	for i, job := range c.Background {
		beside, err := backgroundScenario(job, shape)
		if err != nil {
			return nil, nil, &FieldError{fmt.Sprintf("background[%d]", i), err}
		}
		scenario.AddBackground(beside)
	}
	if err := addNoise(scenario, c, mach.Online().CPUs()); err != nil {
		return nil, nil, &FieldError{"noise", err}
	}
	return benchmark, scenario, nil
}

// Noises are the values of [Cell.Noise].
var Noises = []string{"timed", "deferrable"}

func addNoise(scenario *workload.Scenario, c *Cell, cpus []int) error {
	switch c.Noise {
	case "", Noises[0]:
		workload.AddNoiseOn(scenario, c.Seed, cpus)
	case Noises[1]:
		workload.AddDeferrableNoiseOn(scenario, c.Seed, cpus)
	default:
		return fmt.Errorf("%q is not known; choose %s", c.Noise, suggest.Enumerate(Noises))
	}
	return nil
}

func benchmarkOf(c *Cell) (workload.Benchmark, error) {
	if c.Workload != nil {
		return c.Workload, nil
	}
	return workload.Parse(c.Command)
}

// pin lets the tasks run on the given CPUs only, as taskset does; none: on all.
func pin(scenario *workload.Scenario, cpus []int) {
	for i := range scenario.Tasks {
		if len(cpus) > 0 {
			scenario.Tasks[i].Allowed, scenario.Tasks[i].StartCPU = cpus, cpus[0]
		}
	}
}

func backgroundScenario(job BackgroundJob, shape workload.Shape) (*workload.Scenario, error) {
	benchmark, err := workload.Parse(job.Command)
	if err != nil {
		return nil, err
	}
	scenario, err := buildScenario(benchmark, job.Cgroup, shape)
	if err == nil && scenario.EndsByItself() {
		err = fmt.Errorf("%s ends by itself, so it cannot be a background job", benchmark.Name())
	}
	return scenario, err
}

func buildScenario(benchmark workload.Benchmark, cgroup string, shape workload.Shape) (*workload.Scenario, error) {
	scenario, err := benchmark.Build(shape)
	if err != nil {
		return nil, err
	}
	scenario.SetCgroup(cgroup)
	return scenario, nil
}

func costsOf(c *Cell, mach *machine.Machine) (*sim.Costs, error) {
	costs, err := fileCosts(c, mach)
	for _, s := range c.Supposed {
		if err == nil {
			costs, err = costs.Suppose(s.Name, s.Value)
		}
	}
	return costs, err
}

func fileCosts(c *Cell, mach *machine.Machine) (*sim.Costs, error) {
	if c.Costs == "" {
		return sim.CostsFor(mach.Name)
	}
	if isPath(c.Costs) {
		return sim.LoadCostFile(c.Costs)
	}
	return sim.LoadCosts(c.Costs)
}

// TieBreaks are the values of [Cell.TieBreak].
var TieBreaks = []string{"number", "random"}

func shuffleTies(tieBreak string) (bool, error) {
	switch tieBreak {
	case "", "number":
		return false, nil
	case "random":
		return true, nil
	}
	return false, fmt.Errorf("there is no tie-break %q; choose %s", tieBreak, suggest.Enumerate(TieBreaks))
}

func cgroupSettings(c *Cell) ([]sim.CgroupSetting, error) {
	var out []sim.CgroupSetting
	for i, s := range c.Cgroups {
		if s.File == "" {
			continue
		}
		field := fmt.Sprintf("cgroups[%d]", i)
		switch s.File {
		case "cpu.weight", "cpu.idle":
		case fileMax, fileBurst:
			continue // cgroupLimits
		default:
			return nil, &FieldError{field, fmt.Errorf("%s of cgroup %s is not simulated; there are cpu.weight, cpu.idle, %s and %s", s.File, s.Path, fileMax, fileBurst)}
		}
		value, err := strconv.ParseInt(s.Value, 10, 64)
		if err != nil {
			return nil, &FieldError{field, fmt.Errorf("%s of cgroup %s must be a whole number, not %q", s.File, s.Path, s.Value)}
		}
		out = append(out, sim.CgroupSetting{Path: s.Path, File: s.File, Value: value})
	}
	return out, nil
}
