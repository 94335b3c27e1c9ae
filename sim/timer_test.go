package sim

import (
	"testing"

	"github.com/schedlab/schedlab/workload"
)

// The names T1 to T4 are those of ipc-and-benchmarks.md 5.

// sleepers runs the programs on a machine of one CPU and returns the marks.
func sleepers(t *testing.T, kernel string, hz int64, programs ...string) []int64 {
	t.Helper()
	sc := &workload.Scenario{Marks: len(programs)}
	for i, text := range programs {
		sc.Programs = append(sc.Programs, mustParse(t, text))
		sc.Tasks = append(sc.Tasks, workload.TaskSpec{Name: "sleeper", Program: int32(i), Process: int32(i), Allowed: []int{0}})
	}
	m := simulateWith(t, "1n1c1t", kernel, sc, func(c *Config) { c.Sched.HZ = hz })
	return run(t, m).Observation.Marks
}

// latency is the most that may lie between the moment a timer fires and the
// moment its task runs: the interrupt, the way out of idle, a switch.
const latency = 100_000

func wantAt(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got < want || got > want+latency {
		t.Errorf("%s at %d ns, want %d to %d", what, got, want, want+latency)
	}
}

func TestT1IsolatedSleeperWakesAtTheEndOfItsSlack(t *testing.T) {
	marks := sleepers(t, "v5.17", 250, "sleep 1ms\nmark 0\nexit")
	wantAt(t, "usleep(1000) returns", marks[0], 1_050_000)
}

func TestT2SleepersWithinOneWindowFireTogether(t *testing.T) {
	// The second goes to sleep a little later, when the first has let it run;
	// it asks for 10 us less, so its window ends first, and the window of the
	// first has begun by then.
	marks := sleepers(t, "v5.17", 250, "sleep 1ms\nmark 0\nsleep 1ms\nexit", "sleep 990us\nmark 1\nsleep 1ms\nexit")
	wantAt(t, "the first sleeper", marks[0], 1_040_000)
	wantAt(t, "the second sleeper", marks[1], 1_040_000)
	if marks[0] >= 1_050_000 {
		t.Errorf("the first sleeper waited for its own timer, until %d ns", marks[0])
	}
}

func TestT3TheTickFiresTimersWhoseWindowHasBegun(t *testing.T) {
	// A tick every millisecond of a CPU that is busy from 60 us on; the window
	// of the sleeper is 3.98 to 4.03 ms.
	marks := sleepers(t, "v5.17", 1000, "sleep 3980us\nmark 0\nexit", "sleep 10us\nrun 10ms\nmark 1\nexit")
	wantAt(t, "the sleeper", marks[0], 4_000_000)
	if marks[0] >= 4_030_000 {
		t.Errorf("the sleeper waited for its own timer, until %d ns", marks[0])
	}
}

func TestT4JiffyTimersFireWithATick(t *testing.T) {
	// Armed in the middle of a jiffy of 4 ms: from v4.8 the second tick that
	// follows, before that the next one.
	const program = "run 2ms\nsleepticks 1\nmark 0\nexit"
	for kernel, want := range map[string]int64{"v5.17": 8_000_000, "v4.14": 8_000_000, "v4.7": 4_000_000} {
		rules, err := workload.RulesFor(kernel)
		check(t, err)
		sc := &workload.Scenario{
			Programs: []workload.Program{mustParse(t, program)}, Marks: 1,
			Tasks: []workload.TaskSpec{{Name: "sleeper", StartCPU: workload.AnyCPU}},
		}
		m := simulateWith(t, "1n1c1t", "v4.14", sc, func(c *Config) { c.Rules = rules })
		wantAt(t, kernel+": schedule_timeout(1) returns", run(t, m).Observation.Marks[0], want)
	}
}

// A spin of wall time is as long alone as beside another task or on a busy
// core; losing the CPU matters only at its end.
func TestSpinOfWallTime(t *testing.T) {
	spin := func(spec string, allowed []int, others ...int) int64 {
		sc := &workload.Scenario{Marks: 2, Programs: []workload.Program{
			mustParse(t, "mark 0\nspin 30ms\nmark 1\nexit"), mustParse(t, "again: run 1s\nloop again forever"),
		}}
		sc.Tasks = append(sc.Tasks, workload.TaskSpec{Name: "spinner", Allowed: allowed, StartCPU: allowed[0]})
		for i, cpu := range others {
			sc.Tasks = append(sc.Tasks, workload.TaskSpec{
				Name: "hog", Program: 1, Process: int32(i + 1), Allowed: []int{cpu}, StartCPU: cpu, Background: true,
			})
		}
		marks := run(t, simulateWith(t, spec, "v5.17", sc, nil)).Observation.Marks
		return marks[1] - marks[0]
	}
	// The clock must show more than 30000 us, so 30 to 30.001 ms, and the first
	// reading comes after what it took to get on the CPU.
	if got := spin("1n1c1t", []int{0}); got < 30_000_000 || got > 30_010_000 {
		t.Errorf("alone the spin takes %d ns, want 30 ms", got)
	}
	if got := spin("1n1c2t", []int{0}, 1); got < 30_000_000 || got > 30_010_000 {
		t.Errorf("beside a busy sibling the spin takes %d ns, want 30 ms", got)
	}
	// The hog has half of the CPU in slices of 3 ms, up to the next tick of 4 ms:
	// the end can fall into one of them, two ticks at most.
	if got := spin("1n1c1t", []int{0}, 0); got < 30_000_000 || got > 30_000_000+8_000_000 {
		t.Errorf("beside a hog the spin takes %d ns, want at most two ticks more than 30 ms", got)
	}
}

// A deferrable timer of 1 ms neither wakes an idle CPU nor fires beside another
// timer: it waits for a tick, every 4 ms, that finds the CPU busy. The CPU has
// work from 9.05 to 12.05 ms, so it is the one at 12 ms, and then the CPU is free.
func TestDeferrableTimersWaitForATickOfABusyCPU(t *testing.T) {
	sc := &workload.Scenario{
		Marks:    2,
		Programs: []workload.Program{mustParse(t, "sleep 1ms\nmark 0\nsleep 1s\nexit"), mustParse(t, "sleep 9ms\nmark 1\nrun 3ms\nexit")},
		Tasks: []workload.TaskSpec{
			{Name: "kworker", Allowed: []int{0}, Deferrable: true, Background: true},
			{Name: "worker", Program: 1, Process: 1, Allowed: []int{0}},
		},
	}
	marks := run(t, simulate(t, "1n1c1t", "v4.14", sc)).Observation.Marks
	wantAt(t, "the worker", marks[1], 9_050_000)
	wantAt(t, "the deferred one", marks[0], 12_050_000)
}
