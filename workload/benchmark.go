package workload

// Shape is what a benchmark may know of the machine it is built for.
type Shape struct {
	CPUs  int // CPUs are numbered 0 to CPUs-1
	Nodes int // NUMA nodes with CPUs
}

// Observation is what a run hands back for the report.
type Observation struct {
	// Marks are the times in ns of the scenario's marks, -1 for one that was
	// never reached.
	Marks []int64
	// EndTime is the virtual time in ns at which the run ended.
	EndTime int64
	// Work is the CPU time in ns each task used, by TaskID; nil when it was
	// not recorded.
	Work []int64
}

// Metric is one figure of a report, in the form of a results row.
type Metric struct {
	Statistic string // Amean for times, Hmean for throughputs
	Unit      string
	Better    string // lower or higher
	Value     float64
}

// Report is what a benchmark says about a run.
type Report struct {
	// Text is what the real tool prints on stdout.
	Text string
	// Metrics are the figures, the tool's main one first.
	Metrics []Metric
	// Failure is why there is no figure, "" when there is.
	Failure string
}

// Benchmark is a workload with a name and a result.
type Benchmark interface {
	// Name is what the benchmark is listed as.
	Name() string
	// Build returns the scenario for a machine, or why it cannot run there.
	Build(machine Shape) (*Scenario, error)
	// Report turns the observation of one run of the scenario into the tool's
	// own result.
	Report(obs *Observation) Report
}
