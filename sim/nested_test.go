package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// nestedCapture is a recording of while1 in five limited groups on an emulated
// machine of 8 CPUs. Its cpu.stat is in testdata; the rest is what one must know
// to simulate the same run.
type nestedCapture struct {
	recorded, kernel string
	// kworkers is the CPU time in 1/100 % that kernel threads took in the trace
	// (kworker, ksoftirqd, kdamond: the recording's own work), of all CPUs.
	kworkers int64
}

var nestedCaptures = []nestedCapture{
	{"5.10", "v5.10", 25}, {"6.1", "v6.1", 4}, {"6.12", "v6.12", 88}, {"7.2", "v7.2", 187},
}

const (
	nestedRoot = "/l1/l2/l3"
	// emulatedTurn: in the traces the loops are preempted every 28 or 32 ms, 8
	// turns of a jiffy, where the machine's ticks would do it after 3 or 4 ms.
	emulatedTurn = 4_000_000
	// limitsFirst: the shell wrote the limits some 0.35 s before it started the
	// programs, and read cpu.stat after they had ended.
	limitsFirst = 350_000_000
	// idlePeriods is time enough for the period timers to stop.
	idlePeriods = 300_000_000
)

// nestedScenario is while1 --groups as the shell of the recording runs it.
func nestedScenario(t *testing.T, c *nestedCapture, seed uint64) *workload.Scenario {
	t.Helper()
	bench, err := workload.Parse([]string{"while1", "--groups", "2,2,4,8,16", "--time", "5"})
	check(t, err)
	sc, err := bench.Build(workload.Shape{CPUs: 8, Nodes: 2})
	check(t, err)
	sc.SetCgroup(nestedRoot)
	shell := workload.Program{{Op: workload.OpSleep, N: limitsFirst}}
	for i := range sc.Tasks {
		if !sc.Tasks[i].Forked {
			sc.Tasks[i].Forked = true
			shell = append(shell, workload.Instr{Op: workload.OpFork, N: int64(i)})
		}
	}
	shell = append(shell, workload.Instr{Op: workload.OpWaitChildren},
		workload.Instr{Op: workload.OpSleep, N: idlePeriods}, workload.Instr{Op: workload.OpExit})
	add := func(p workload.Program, spec workload.TaskSpec) {
		spec.Program, spec.Process = int32(len(sc.Programs)), int32(len(sc.Tasks))
		sc.Programs, sc.Tasks = append(sc.Programs, p), append(sc.Tasks, spec)
	}
	add(shell, workload.TaskSpec{Name: "sh", StartCPU: workload.AnyCPU})
	const pause = 40_000_000
	for cpu := range 8 {
		add(workload.Program{
			{Op: workload.OpSleep, N: pause}, {Op: workload.OpRun, N: pause * c.kworkers / 10_000},
			{Op: workload.OpLoop, Target: 0, N: workload.Forever},
		}, workload.TaskSpec{Name: "kworker", Kernel: true, Background: true, StartCPU: cpu, Allowed: []int{cpu}})
	}
	workload.AddNoiseOn(sc, seed, []int{0, 1, 2, 3, 4, 5, 6, 7})
	return sc
}

// cpuStat is what a comparison needs of one group.
type cpuStat struct{ usage, periods, throttled float64 }

func (s cpuStat) throttledShare() float64 { return 100 * s.throttled / s.periods }

// simulateNested sums three runs up, so that one run's chance counts less.
func simulateNested(t *testing.T, c *nestedCapture) map[string]cpuStat {
	sum := map[string]cpuStat{}
	for seed := uint64(1); seed <= 3; seed++ {
		m := simulateWith(t, "2n2c2t", c.kernel, nestedScenario(t, c, seed), func(cfg *Config) {
			cfg.Seed, cfg.Turn = seed, emulatedTurn
			cfg.Check = seed == 1
			for i, ms := range []int64{50, 50, 100, 200, 400} {
				cfg.Limits = append(cfg.Limits, GroupLimit{
					Path:  fmt.Sprintf("%s/g%d", nestedRoot, i+1),
					Limit: sched.Limit{Quota: ms * 1e6, Period: 100e6},
				})
			}
		})
		run(t, m)
		for _, g := range m.Groups() {
			if g.Limit.Quota == sched.Unlimited {
				continue
			}
			s := sum[g.Path]
			s.usage += float64(g.Usage)
			s.periods += float64(g.Bandwidth.Periods)
			s.throttled += float64(g.Bandwidth.Throttled)
			sum[g.Path] = s
		}
	}
	return sum
}

// readCPUStats reads the groups of a cgroups.txt that have a limit.
func readCPUStats(t *testing.T, path string) map[string]cpuStat {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	all := map[string]cpuStat{}
	group, limited := "", false
	for line := range strings.Lines(string(data)) {
		if header, found := strings.CutPrefix(line, "== "); found {
			group, _, _ = strings.Cut(header, " ")
			limited = !strings.Contains(header, "max=max") && group != "/"
			continue
		}
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		value, err := strconv.ParseFloat(text, 64)
		check(t, err)
		if !limited {
			continue
		}
		s := all[group]
		switch name {
		case "usage_usec":
			s.usage = value
		case "nr_periods":
			s.periods = value
		case "nr_throttled":
			s.throttled = value
		}
		all[group] = s
	}
	return all
}

// The recorded tree on the recorded machine: each group's share of the CPU time
// of all five is within 10 % of the recording's, and the share of its periods
// that throttled it within 10 points.
func TestNestedGroupsAsRecorded(t *testing.T) {
	for i := range nestedCaptures {
		c := &nestedCaptures[i]
		t.Run(c.recorded, func(t *testing.T) {
			t.Parallel()
			recorded := readCPUStats(t, filepath.Join("testdata", "nested-while1", c.recorded+".txt"))
			simulated := simulateNested(t, c)
			if len(recorded) != 5 || len(simulated) != 5 {
				t.Fatalf("%d groups recorded, %d simulated, want 5", len(recorded), len(simulated))
			}
			var allRecorded, allSimulated float64
			for path := range recorded {
				allRecorded += recorded[path].usage
				allSimulated += simulated[path].usage
			}
			for g := 1; g <= 5; g++ {
				path := fmt.Sprintf("%s/g%d", nestedRoot, g)
				r, s := recorded[path], simulated[path]
				shareRecorded, shareSimulated := 100*r.usage/allRecorded, 100*s.usage/allSimulated
				t.Logf("%s: share %.2f %%, recorded %.2f %%; throttled in %.1f %% of periods, recorded %.1f %%",
					path, shareSimulated, shareRecorded, s.throttledShare(), r.throttledShare())
				if d := shareSimulated/shareRecorded - 1; d > 0.1 || d < -0.1 {
					t.Errorf("%s: %.2f %% of the CPU time, recorded %.2f %%: more than a tenth apart", path, shareSimulated, shareRecorded)
				}
				if d := s.throttledShare() - r.throttledShare(); d > 10 || d < -10 {
					t.Errorf("%s: throttled in %.1f %% of its periods, recorded %.1f %%: more than 10 points apart", path, s.throttledShare(), r.throttledShare())
				}
			}
		})
	}
}
