package sim

import (
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/workload"
)

// A transaction of one client wakes its backend and is woken by it: 2 wakeups
// (ipc-and-benchmarks.md 6.6), besides those of the start.
func TestPgbenchWakesTwiceATransaction(t *testing.T) {
	m, bench := build(t, "1n4c1t", "v3.8", "pgbench", "-S", "-t", "500")
	r := run(t, m)
	if extra := r.Wakeups - 2*500; extra < 0 || extra > 10 {
		t.Errorf("%d wakeups in 500 transactions, want 2 each and a few", r.Wakeups)
	}
	if text := bench.Report(&r.Observation).Text; !strings.Contains(text, "actually processed: 500/500\n") {
		t.Errorf("the report says\n%s", text)
	}
}

// Every client makes its transactions, whatever the threads, and none more.
func TestPgbenchCountsTransactions(t *testing.T) {
	for _, threads := range []string{"1", "2", "8"} {
		m, bench := build(t, "1n4c1t", "v3.8", "pgbench", "-S", "-c", "8", "-j", threads, "-t", "40")
		if text := bench.Report(&run(t, m).Observation).Text; !strings.Contains(text, "actually processed: 320/320\n") {
			t.Errorf("-j %s: the report says\n%s", threads, text)
		}
	}
}

// With 8 clients one thread is busy all the time: it handles 8 replies for a
// wakeup of its own now and then. So there are less wakeups than with a thread
// for each client.
func TestOneThreadIsWokenLessOften(t *testing.T) {
	wakeups := func(threads string) int64 {
		m, _ := build(t, "1n12c1t", "v3.8", "pgbench", "-S", "-c", "8", "-j", threads, "-t", "100")
		return run(t, m).Wakeups
	}
	one, each := wakeups("1"), wakeups("8")
	if one > each*3/4 || one < each/2 {
		t.Errorf("800 transactions: %d wakeups with one thread, %d with eight; want between half and three quarters", one, each)
	}
}

// A run of 0.1 s with 8 clients, made with other costs, in transactions.
func pgbenchTransactions(t *testing.T, spec string, argv []string, edit func(*Costs)) int64 {
	t.Helper()
	bench, err := workload.Parse(append([]string{"pgbench", "-S", "-T", "1"}, argv...))
	check(t, err)
	bench.(workload.Scalable).SetStretch(workload.Stretch{Warmup: 2e7, Measure: 1e8})
	mach, err := machine.Parse(spec)
	check(t, err)
	sc, err := bench.Build(workload.Shape{CPUs: mach.NumCPUs(), Nodes: 1})
	check(t, err)
	m := simulateWith(t, spec, "v3.8", sc, func(cfg *Config) {
		costs := *cfg.Costs
		edit(&costs)
		cfg.Costs = &costs
	})
	return run(t, m).Observation.Recorders[0].Tally
}

// Pages that do not fit into shared buffers cost their price: with 20 us for a
// page and 1.97 pages a transaction, one client is slower by about 40 us of 80.
func TestLargeDatabasesReadPages(t *testing.T) {
	price := func(c *Costs) {
		c.Prices[workload.PricePageRead] = 20_000
		c.IdlePoll, c.IdleShallow, c.IdleMedium, c.IdleDeep = 0, 0, 0, 0 // who waits longer sleeps deeper
	}
	small := pgbenchTransactions(t, "1n4c1t", []string{"-s", "1"}, price)
	large := pgbenchTransactions(t, "1n4c1t", []string{"-s", "500"}, price)
	if added := 1e8/large - 1e8/small; added < 38_000 || added > 41_000 {
		t.Errorf("%d and %d transactions: a large database costs %d ns, want 1.97 pages of 20 us", small, large, added)
	}
}

// Of 40 MB a cache of 30 MB does not hold a quarter; with 100 ns a line, 40
// lines cost 1 us. What fits costs nothing, and neither does an unknown cache.
func TestLookupCost(t *testing.T) {
	for _, c := range []struct{ cache, bytes, want int64 }{
		{30e6, 40e6, 1000}, {30e6, 30e6, 0}, {30e6, 1, 0}, {0, 40e6, 0},
	} {
		m := &Sim{costs: &Costs{LineMemory: 100}, ownCache: []int64{c.cache}}
		if got := m.lookupCost(&cpu{}, &workload.Instr{N: 40, M: c.bytes}); got != c.want {
			t.Errorf("%d bytes, a cache of %d: %d ns, want %d", c.bytes, c.cache, got, c.want)
		}
	}
	mach, err := machine.Resolve("x86-12")
	check(t, err)
	if got := ownCaches(mach)[11]; got != 12<<20 {
		t.Errorf("the last-level cache of CPU 11 of x86-12 is %d bytes, want 12 MiB", got)
	}
}

// spinners are tasks on CPUs of their own that take one lock for 1 us, once.
func spinners(t *testing.T, n int, limit int64) *Result {
	t.Helper()
	sc := &workload.Scenario{Programs: []workload.Program{mustParse(t, "spinlocked s0 1us 0\nexit")},
		Syncs: []workload.SyncSpec{{Kind: workload.SpinLock}}}
	for i := range n {
		sc.Tasks = append(sc.Tasks, workload.TaskSpec{Name: "spinner", Process: int32(i), StartCPU: i})
	}
	m := simulateWith(t, "1n16c1t", "v3.8", sc, func(cfg *Config) {
		costs := *cfg.Costs
		costs.Atomic, costs.LineLLC, costs.LineRemote, costs.ExitProcess = 0, 100, 100, 0
		costs.SpinLimit, costs.SpinSleep, costs.TimerSlack = limit, 1e6, 0
		cfg.Costs = &costs
	})
	return run(t, m)
}

// Twelve takers at once: the k-th waits for k-1 sections of 1 us, and for the
// line, which each that still waits takes away once: more than 12 us together,
// and more with each taker than with the one before.
func TestSpinlockContention(t *testing.T) {
	one, six, twelve := spinners(t, 1, 1e9).End, spinners(t, 6, 1e9).End, spinners(t, 12, 1e9).End
	if six-one < 5_000 || twelve-one < 11_000 {
		t.Errorf("ends after %d, %d and %d ns: sections overlap", one, six, twelve)
	}
	if twelve-six <= 6*(six-one)/5 {
		t.Errorf("the last six takers cost %d ns, the five before them %d: contention does not grow", twelve-six, six-one)
	}
}

// Who has spun for the limit sleeps for a millisecond, and comes back.
func TestSpinlockBackOff(t *testing.T) {
	if end := spinners(t, 12, 1e9).End; end > 1e6 {
		t.Fatalf("without a limit the run takes %d ns", end)
	}
	r := spinners(t, 12, 3000)
	if r.End < 1e6 || r.End > 4e6 {
		t.Errorf("with a limit of 3 us the run ends after %d ns, want a sleep of 1 ms and not many", r.End)
	}
}

// On v3.8 the backends that find no idle core come to pgbench's CPU and preempt
// it. Where wakeups do not preempt, one thread serves 32 clients the faster by a
// third and more.
func TestBackendsPreemptTheirWaker(t *testing.T) {
	transactions := func(preempt string) int64 {
		bench, err := workload.Parse(strings.Fields("pgbench -S -T 1 -c 32"))
		check(t, err)
		bench.(workload.Scalable).SetStretch(workload.Stretch{Warmup: 1e8, Measure: 1e8})
		sc, err := bench.Build(workload.Shape{CPUs: 12, Nodes: 1})
		check(t, err)
		m := simulateWith(t, "1n6c2t", "v3.8", sc, func(cfg *Config) {
			costs, err := LoadCosts("x86-12")
			check(t, err)
			cfg.Costs = costs
			check(t, cfg.Sched.SetFeature(preempt))
		})
		return run(t, m).Observation.Recorders[0].Tally
	}
	with, without := transactions("WAKEUP_PREEMPTION"), transactions("NO_WAKEUP_PREEMPTION")
	if 3*without < 4*with {
		t.Errorf("%d transactions with preemption, %d without: want a third more", with, without)
	}
}
