package sim

import (
	"testing"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// The names S1 to S3 are those of ipc-and-benchmarks.md 6.3.

func TestS1OneWorker(t *testing.T) {
	const seconds = 10
	m, _ := build(t, "1n4c1t", "v5.17", "schbench", "-m", "1", "-t", "1", "-r", "10", "-w", "0")
	r := run(t, m)
	cycles := r.Observation.Recorders[0].Samples.Count
	// A cycle is 30 ms of the worker, 30 ms of the message thread and 30 to
	// 37.5 ms of sleep with its slack.
	if cycles < seconds*1000/98 || cycles > seconds*1000/90 {
		t.Errorf("%d cycles in %d s, want one in 90 to 97.6 ms", cycles, seconds)
	}
	// Per cycle one wake each way and one timer; the main thread wakes once a
	// second, and a few more at the start and the end.
	if extra := r.Wakeups - 3*cycles - seconds; extra < 0 || extra > 5 {
		t.Errorf("%d wakeups in %d cycles, want 3 a cycle and %d to %d", r.Wakeups, cycles, seconds, seconds+5)
	}
}

func TestS2FourWorkers(t *testing.T) {
	const seconds = 10
	r := run(t, fourWorkers(t, "10"))
	cycles := r.Observation.Recorders[0].Samples.Count / 4
	if extra := r.Wakeups - 6*cycles - seconds; extra < 0 || extra > 10 {
		t.Errorf("%d wakeups in %d cycles, want 4 + 1 + 1 a cycle and %d to %d", r.Wakeups, cycles, seconds, seconds+10)
	}
	// Calls a cycle: four posts of the message thread and its wait, four waits
	// of the workers, one post that wakes it and one that finds no sleeper: the
	// message thread is on its way when the second worker ends its spin.
	if extra := r.FutexCalls - 11*cycles; extra < -5 || extra > 15 {
		t.Errorf("%d futex calls in %d cycles, want 11 a cycle", r.FutexCalls, cycles)
	}
}

// fourWorkers has a wake cost w of 20 us and a constant c of 16 us, and no
// other costs that matter. So the workers come and go 20 us apart.
func fourWorkers(t *testing.T, seconds string) *Sim {
	t.Helper()
	bench, err := workload.Parse([]string{"schbench", "-m", "1", "-t", "4", "-r", seconds, "-w", "0"})
	check(t, err)
	sc, err := bench.Build(workload.Shape{CPUs: 8, Nodes: 1})
	check(t, err)
	return simulateWith(t, "1n8c1t", "v5.17", sc, func(c *Config) {
		costs := *c.Costs
		costs.Sched = sched.Prices{}
		costs.Wakeup, costs.IPISend, costs.QueueLockHold, costs.LineLLC, costs.Atomic = 0, 0, 0, 0, 0
		costs.RefillCore, costs.RefillLLC = 0, 0
		costs.FutexWake = 20_000
		costs.SwitchIdle = 4000
		costs.IdlePoll, costs.IdleShallow, costs.IdleMedium, costs.IdleDeep = 12_000, 12_000, 12_000, 12_000
		c.Costs = &costs
	})
}

// With a cost of w per wake and a constant c the worker in place i of the list
// measures i*w + c.
func TestS3SamplesGrowWithThePlaceInTheList(t *testing.T) {
	samples := &run(t, fourWorkers(t, "3")).Observation.Recorders[0].Samples
	for i, percent := range []float64{12, 37, 62, 87} {
		want := int64(i+1)*20 + 16
		// Two readings of a clock of whole microseconds, and the end of the spin.
		if got, _ := samples.Percentile(percent); got < want || got > want+2 {
			t.Errorf("place %d: %d us, want %d to %d", i+1, got, want, want+2)
		}
	}
}

func TestSchbenchPrintsWhatTheToolPrints(t *testing.T) {
	m, bench := build(t, "1n4c1t", "v5.17", "schbench", "-m", "1", "-t", "2", "-r", "4", "-w", "1", "-i", "2")
	r := run(t, m)
	report := bench.Report(&r.Observation)
	if len(report.Metrics) != 7 || report.Metrics[4].Label != "99.0th-qrtle-2" || report.Metrics[4].Statistic != "Lat" {
		t.Errorf("metrics %+v: want seven, the fifth Lat 99.0th-qrtle-2", report.Metrics)
	}
	if n := len(r.Observation.Recorders[0].Snapshots); n != 1 {
		t.Errorf("%d reports on the way, want 1: after 2 of 4 seconds", n)
	}
	t.Log(report.Text)
}

func TestSchbenchIsTheSameTwice(t *testing.T) {
	text := func() string {
		m, bench := build(t, "2n4c2t", "v5.17-tip", "schbench", "-t", "8", "-r", "2", "-w", "0")
		return bench.Report(&run(t, m).Observation).Text
	}
	if a, b := text(), text(); a != b {
		t.Errorf("two runs of the same cell differ:\n%s\n%s", a, b)
	}
}

// Futexes through the whole simulator: tasks that share a mutex and meet at a
// barrier all get through, and nobody is inside twice.
func TestMutexAndBarrierInPrograms(t *testing.T) {
	const tasks, rounds = 8, 50
	sc := &workload.Scenario{
		Syncs:    []workload.SyncSpec{{Kind: workload.Mutex}, {Kind: workload.Barrier, Value: tasks}},
		Programs: []workload.Program{mustParse(t, "again: lock s0\nrun 10us\nunlock s0\nmeet s1\nloop again 50\nexit")},
	}
	for i := range tasks {
		sc.Tasks = append(sc.Tasks, workload.TaskSpec{Name: "member", Process: 1, StartCPU: i % 4})
	}
	for _, kernel := range []string{"v4.14", "v5.17"} {
		r := run(t, simulateWith(t, "1n4c1t", kernel, sc, nil))
		if least := int64(tasks * rounds * 10_000); r.End < least {
			t.Errorf("%s: %d sections of 10 us under one mutex took %d ns, less than one after the other", kernel, tasks*rounds, r.End)
		}
		if r.Wakeups < rounds*(tasks-1) {
			t.Errorf("%s: %d wakeups, want at least 7 a round", kernel, r.Wakeups)
		}
	}
}

// Up to v4.1 a waker holds the hash bucket's lock until all its wakes are done,
// so that whom it woke first waits at the bucket for the last (ipc-and-benchmarks.md 4.1).
func TestFutexWakesUnderTheBucketLock(t *testing.T) {
	const wakeup = 50_000
	back := func(rules string) int64 { // when the first who was woken has called again
		sc := &workload.Scenario{Marks: 1, Syncs: []workload.SyncSpec{{Kind: workload.Word}}, Programs: []workload.Program{
			mustParse(t, "futexwait s0 0\nfutexwake s0 1\nrun 1us\nmark 0\nexit"),
			mustParse(t, "run 10us\nfutexwait s0 0\nexit"),
			mustParse(t, "run 1ms\nfutexwake s0 3\nexit"),
		}}
		for i, program := range []int32{0, 1, 1, 2} {
			sc.Tasks = append(sc.Tasks, workload.TaskSpec{
				Name: "task", Program: program, Process: 1, Allowed: []int{i}, StartCPU: i,
			})
		}
		var err error
		m := simulateWith(t, "1n4c1t", "v4.14", sc, func(c *Config) {
			costs := *c.Costs
			costs.Wakeup = wakeup
			c.Costs = &costs
			c.Rules, err = workload.RulesFor(rules)
		})
		check(t, err)
		return run(t, m).Observation.Marks[0]
	}
	held, dropped := back("v3.8"), back("v4.2")
	if difference := held - dropped; difference < wakeup || difference > 2*wakeup+10_000 {
		t.Errorf("back at the bucket after %d ns with v3.8 and %d ns with v4.2, want up to two more wakes of %d ns between", held, dropped, wakeup)
	}
}
