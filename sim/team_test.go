package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/workload"
)

// free lets everything but the programs' own work take no time, and a turn of
// spinning 5 ns, so that 300,000 turns are 1.5 ms (ipc-and-benchmarks.md 4.6).
func free(cfg *Config) { cfg.Costs = &Costs{SMTSpeed: fullSpeed, IdleStates: 1, SpinTurn: 5} }

// teamOf is a scenario with one program for each thread, threads of one process,
// of which thread i starts on CPU i % cpus and stays there.
func teamOf(t *testing.T, cpus int, syncs []workload.SyncSpec, programs ...string) *workload.Scenario {
	t.Helper()
	sc := &workload.Scenario{Syncs: syncs}
	for i, text := range programs {
		sc.Programs = append(sc.Programs, mustParse(t, text))
		sc.Tasks = append(sc.Tasks, workload.TaskSpec{Name: "thread", Program: int32(i), StartCPU: i % cpus, Allowed: []int{i % cpus}})
	}
	return sc
}

// F7: the last of four comes to a barrier after 0.5 ms, while the others still
// spin: no sleeps, no wakes. After 10 ms they sleep: 3 wakes.
func TestF7SpinThenSleep(t *testing.T) {
	for late, want := range map[string]struct{ wakeups, end int64 }{
		"500µs": {0, 500_000}, "10ms": {3, 10_000_000},
	} {
		early := "teammeet s0 300000\nexit"
		sc := teamOf(t, 4, []workload.SyncSpec{{Kind: workload.TeamBarrier, Value: 4}}, early, early, early, "run "+late+"\n"+early)
		r := run(t, simulateWith(t, "1n4c1t", "v4.14", sc, free))
		if r.Wakeups != want.wakeups || r.End < want.end || r.End > want.end+1000 {
			t.Errorf("after %s: %d wakeups, end at %d ns; want %d and %d", late, r.Wakeups, r.End, want.wakeups, want.end)
		}
	}
}

// A spin counts turns, not time (4.6): with 100 turns, 500 ns, the threads of F8
// sleep although the last one comes after 600 ns; with 300,000 none does.
func TestF8ThrottledSpin(t *testing.T) {
	for turns, want := range map[int]int64{100: 3, 300_000: 0} {
		early := fmt.Sprintf("teammeet s0 %d\nexit", turns)
		sc := teamOf(t, 4, []workload.SyncSpec{{Kind: workload.TeamBarrier, Value: 4}}, early, early, early, "run 600ns\n"+early)
		if r := run(t, simulateWith(t, "1n4c1t", "v4.14", sc, free)); r.Wakeups != want {
			t.Errorf("%d turns: %d wakeups, want %d", turns, r.Wakeups, want)
		}
	}
}

// Time without the CPU does not count: with 3 ms of turns a thread that comes
// after 6 ms sleeps by 9 ms. Beside a loop it loses the CPU at 8 ms, when its slice
// of 6 ms is over, and finds the barrier open when it is back.
func TestPreemptedSpinCountsNoTurns(t *testing.T) {
	spinner := "teammeet s0 600000\nexit"
	sc := teamOf(t, 2, []workload.SyncSpec{{Kind: workload.TeamBarrier, Value: 2}}, "run 6ms\n"+spinner, "run 12ms\n"+spinner, "run 20ms\nexit")
	sc.Tasks[1].StartCPU, sc.Tasks[1].Allowed = 1, []int{1}
	alone := *sc
	alone.Programs, alone.Tasks = sc.Programs[:2], sc.Tasks[:2]
	sleeps := run(t, simulateWith(t, "1n2c1t", "v4.14", &alone, free)).Wakeups
	if sleeps != 1 {
		t.Fatalf("alone the spinner sleeps before the other comes after 12 ms: %d wakeups, want 1", sleeps)
	}
	if got := run(t, simulateWith(t, "1n2c1t", "v4.14", sc, free)).Wakeups; got != 0 {
		t.Errorf("beside a loop of 20 ms the spinner has spun for 2 ms by 12 ms: %d wakeups, want 0", got)
	}
}

// sweepOf is a pipeline of p threads over the planes, tau each.
func sweepOf(t *testing.T, cpus, p, planes int, tau string) *workload.Scenario {
	syncs := make([]workload.SyncSpec, p)
	var programs []string
	for i := range p {
		syncs[i].Kind = workload.Flag
		text := "again:\n"
		if i > 0 {
			text += fmt.Sprintf("handover s%d 1 0\n", i-1)
		}
		text += "run " + tau + "\n"
		if i < p-1 {
			text += fmt.Sprintf("handover s%d 0 1\n", i)
		}
		programs = append(programs, text+fmt.Sprintf("loop again %d\nexit", planes))
	}
	return teamOf(t, cpus, syncs, programs...)
}

// W11: 2 threads, 3 planes of 10 us: a sweep of 40 us without a wake. L1: P
// threads on P CPUs need (160 + P - 1) of them. Each look at a flag takes the
// simulator's shortest time, 1 ns.
func TestL1SweepInAPipeline(t *testing.T) {
	for _, c := range []struct{ threads, planes int }{{2, 3}, {8, 160}, {1, 160}} {
		m := simulateWith(t, fmt.Sprintf("1n%dc1t", c.threads), "v4.14", sweepOf(t, c.threads, c.threads, c.planes, "10µs"), free)
		r := run(t, m)
		want := int64(c.planes+c.threads-1) * 10_000
		if r.Wakeups != 0 || r.End < want || r.End > want+int64(4*(c.planes+c.threads)) {
			t.Errorf("%d threads, %d planes: %d ns and %d wakeups, want %d ns and none", c.threads, c.planes, r.End, r.Wakeups, want)
		}
	}
}

// L2: two neighbours on one CPU must be switched between for each plane, and a
// spinner gives the CPU up only at the end of its slice: more than 50 times L1.
func TestL2NeighboursOnOneCPU(t *testing.T) {
	apart := run(t, simulateWith(t, "1n2c1t", "v4.14", sweepOf(t, 2, 2, 40, "50µs"), free)).End
	together := run(t, simulateWith(t, "1n2c1t", "v4.14", sweepOf(t, 1, 2, 40, "50µs"), free)).End
	if together < 50*apart {
		t.Errorf("on one CPU %d ns, on two %d: want more than 50 times", together, apart)
	}
}

// L3, W12: with as many threads as CPUs nobody sleeps between the regions; with a
// CPU less the library throttles its spin and they do.
func TestL3RegionsWithoutSleeps(t *testing.T) {
	wakeups := func(spec string, variables ...string) int64 {
		m, _ := build(t, spec, "v4.14", append([]string{"lu", "--class", "S"}, variables...)...)
		return run(t, m).Wakeups
	}
	// A wakeup may be one of a thread that is forked while the first ones wait.
	if got := wakeups("1n4c1t", "OMP_PROC_BIND=true"); got > 3 {
		t.Errorf("4 bound threads on 4 CPUs: %d wakeups in 50 iterations, want at most those of the start", got)
	}
	if got := wakeups("1n4c1t", "OMP_WAIT_POLICY=passive"); got < 50*9 {
		t.Errorf("passive: %d wakeups, want one for each of 9 barriers in 50 iterations and more", got)
	}
}

// A read-only transaction has 16 statements, each with a wakeup of the server and
// one of the client; the mutex of the tables is free.
func TestSysbenchWakesTwiceAStatement(t *testing.T) {
	m, bench := build(t, "1n4c1t", "v4.14", "sysbench", "oltp_read_only", "run", "--time=0", "--events=100")
	r := run(t, m)
	if extra := r.Wakeups - 2*16*100; extra < 0 || extra > 10 {
		t.Errorf("%d wakeups in 100 transactions, want 32 each and a few", r.Wakeups)
	}
	if text := bench.Report(&r.Observation).Text; !strings.Contains(text, "    total number of events:              100\n") {
		t.Errorf("the report says\n%s", text)
	}
}

// 6.7: with its writes a transaction has 20 statements, 40 wakeups.
func TestSysbenchWakesFortyTimesATransaction(t *testing.T) {
	for _, driver := range []string{"mysql", "pgsql"} {
		m, _ := build(t, "1n4c1t", "v4.14", "sysbench", "oltp_read_write", "run", "--time=0", "--events=100", "--db-driver="+driver)
		r := run(t, m)
		if extra := r.Wakeups - 40*100; extra < 0 || extra > 10 {
			t.Errorf("%s: %d wakeups in 100 transactions, want 40 each and a few", driver, r.Wakeups)
		}
	}
}

// All threads together take --events, none more, with either server.
func TestSysbenchCountsEvents(t *testing.T) {
	for _, driver := range []string{"mysql", "pgsql"} {
		m, bench := build(t, "1n4c1t", "v4.14", "sysbench", "oltp_read_write", "run", "--threads=6", "--time=0", "--events=50", "--db-driver="+driver)
		if text := bench.Report(&run(t, m).Observation).Text; !strings.Contains(text, "    transactions:                        50     (") {
			t.Errorf("%s: the report says\n%s", driver, text)
		}
	}
}

// figure is a benchmark's figure on a kernel, without checks after each event.
func figure(t *testing.T, spec, kernel string, stretch workload.Stretch, features []string, argv ...string) float64 {
	t.Helper()
	bench, err := workload.Parse(argv)
	check(t, err)
	bench.(workload.Scalable).SetStretch(stretch)
	mach, err := machine.Parse(spec)
	check(t, err)
	sc, err := bench.Build(workload.Shape{CPUs: mach.NumCPUs(), Nodes: len(mach.Nodes)})
	check(t, err)
	m := simulateWith(t, spec, kernel, sc, func(cfg *Config) {
		cfg.Check = false
		for _, f := range features {
			check(t, cfg.Sched.SetFeature(f))
		}
	})
	return bench.Report(&run(t, m).Observation).Metrics[0].Value
}

var onlyIdle = []string{"NO_WA_WEIGHT", "NO_WA_BIAS"}

// With as many clients as CPUs, remembered loads draw the crowd into one of two
// caches again and again; WA_IDLE, which moves only to a CPU that is free, is
// faster by more than half.
func TestRememberedLoadsHerdSysbench(t *testing.T) {
	argv := []string{"sysbench", "oltp_read_only", "run", "--time=30", "--threads=40"}
	stretch := workload.Stretch{Warmup: 2e8, Measure: 1e8}
	before := figure(t, "ivb-ep", "v4.14-numa", stretch, nil, argv...)
	after := figure(t, "ivb-ep", "v4.14", stretch, onlyIdle, argv...)
	if after < 1.5*before {
		t.Errorf("%.0f transactions/s with remembered loads, %.0f with WA_IDLE: want more than half faster", before, after)
	}
}

// LU's threads wake by the hundred at a barrier: with remembered loads they all
// get the same answer, share CPUs, and spin for each other; with WA_IDLE each
// finds its CPU as it left it, as if it were bound.
func TestRememberedLoadsHerdLU(t *testing.T) {
	stretch := workload.Stretch{Warmup: 4e8, Measure: 4e8}
	argv := []string{"lu", "--class", "C", "OMP_NUM_THREADS=64"}
	before := figure(t, "4n8c2t", "v4.14-numa", stretch, nil, argv...)
	after := figure(t, "4n8c2t", "v4.14", stretch, onlyIdle, argv...)
	bound := figure(t, "4n8c2t", "v4.14-numa", stretch, nil, append(argv, "OMP_PROC_BIND=true")...)
	t.Logf("%.2f s before, %.2f s after, %.2f s bound", before, after, bound)
	if before < 1.5*after || after > 1.5*bound {
		t.Errorf("%.2f s with remembered loads, %.2f s with WA_IDLE, %.2f s bound", before, after, bound)
	}
}
