package workload

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// cpuMatrix is "perf sched cpu-matrix", a patch of 2011 whose text is lost: a
// reconstruction from its command line alone (ipc-and-benchmarks.md 6.10). A
// task multiplies matrices of -s bytes, reads the clock after every -i
// multiplications, and is busy -p percent of the time.
type cpuMatrix struct {
	burners
	size, iterations, percent int
}

func newCPUMatrix() *cpuMatrix {
	return &cpuMatrix{burners: burners{time: 10e9}, size: 1 << 10, iterations: 1000, percent: 100}
}

// reconstruction is what every report of the benchmark says of itself.
const matrixReconstruction = "cpu-matrix is a reconstruction: the patch that added it to perf is lost"

// matrixStep is the ns of one multiplication and addition of two elements of
// four bytes, some 2.5 cycles.
const matrixStep = 1

const mostMatrixBytes = 64 << 20

// Name implements [Benchmark].
func (c *cpuMatrix) Name() string { return "perf sched cpu-matrix" }

func (c *cpuMatrix) options() []option {
	return append([]option{
		{"s", "", "SIZE", "bytes of a matrix, k and m allowed (1k)", c.setSize},
		{"i", "", "N", "multiplications between two looks at the clock (1000)", toInt(&c.iterations, 1, 1e9)},
		{"p", "", "PERCENT", "of the time that a task is busy (100)", toInt(&c.percent, 1, 100)},
	}, c.timeOptions()...)
}

func (c *cpuMatrix) setSize(arg string) error {
	digits, unit := arg, 1
	switch {
	case strings.HasSuffix(arg, "k"):
		digits, unit = strings.TrimSuffix(arg, "k"), 1<<10
	case strings.HasSuffix(arg, "m"):
		digits, unit = strings.TrimSuffix(arg, "m"), 1<<20
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > mostMatrixBytes/unit {
		return fmt.Errorf("%q is not a size from 4 to 64m bytes, such as 1k", arg)
	}
	c.size = max(4, n*unit)
	return nil
}

func (c *cpuMatrix) check() error {
	if c.roundWork() > spinChunk*1000 {
		return fmt.Errorf("-i %d multiplications of -s %d bytes take %d s between two looks at the clock; at most 1000 s can be simulated",
			c.iterations, c.size, c.roundWork()/1e9)
	}
	return c.tree.check()
}

// roundWork is the ns between two looks at the clock.
func (c *cpuMatrix) roundWork() int64 {
	side := int64(math.Sqrt(float64(c.size / 4)))
	return side * side * side * matrixStep * int64(c.iterations)
}

// Build implements [Benchmark].
func (c *cpuMatrix) Build(machine Shape) (*Scenario, error) {
	round := c.roundWork()
	p := Program{{Op: OpRun, N: round}, {Op: OpStamp}}
	if c.percent < 100 {
		p = append(p, Instr{Op: OpSleep, N: round * int64(100-c.percent) / int64(c.percent)})
	}
	p = append(p, Instr{Op: OpLoop, Target: 0, N: Forever})
	s := &Scenario{Programs: []Program{p}}
	for i := range max(1, c.tree.tasks()) {
		s.Tasks = append(s.Tasks, TaskSpec{Name: "cpu-matrix", Process: int32(i), Footprint: int32(3 * c.size), StartCPU: AnyCPU})
	}
	c.spread(s, machine)
	return s, nil
}

// Report implements [Benchmark].
func (c *cpuMatrix) Report(obs *Observation) Report {
	report := c.report(obs)
	if !c.tree.given() {
		report = c.alone(obs)
	}
	if report.Failure == "" {
		report.Notes = append(report.Notes, matrixReconstruction)
	}
	return report
}

func (c *cpuMatrix) alone(obs *Observation) Report {
	if len(obs.Work) == 0 {
		return Report{Failure: "the CPU time of its task was not recorded"}
	}
	_, mean, _ := leastMeanMost(obs.Work)
	return Report{
		Text:    fmt.Sprintf("cpu-matrix: %.3f CPU seconds in %s\n", mean, secondsText(obs.EndTime)),
		Metrics: []Metric{{Statistic: "Amean", Unit: "seconds of CPU", Better: "higher", Value: mean}},
	}
}
