package sim

import (
	"math"
	"testing"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// What is not said otherwise follows from mechanisms.md 15.9.

func TestTypicalPeriod(t *testing.T) {
	const none = math.MaxInt64
	for _, c := range []struct {
		what    string
		periods [rememberedPeriods]int32
		below   int64
		want    int64
	}{
		{"all alike", [...]int32{100, 100, 100, 100, 100, 100, 100, 100}, 5000, 100},
		{"a deviation of 20 us", [...]int32{80, 120, 80, 120, 80, 120, 80, 120}, 5000, 100},
		// Variance 100² and mean 1000²/36 = 166² above it.
		{"a deviation of a tenth", [...]int32{900, 1100, 900, 1100, 900, 1100, 900, 1100}, 5000, 1000},
		// Mean 1200, deviation 458; without the two longest 1000 and 342.
		{"scattered", [...]int32{500, 700, 900, 1100, 1300, 1500, 1700, 1900}, 5000, none},
		{"two long ones are left out", [...]int32{10, 10, 40_000, 10, 10, 50_000, 10, 10}, 5000, 10},
		{"a third long one is not", [...]int32{10, 10, 40_000, 10, 30_000, 50_000, 10, 10}, 5000, none},
		{"not below what is guessed already", [...]int32{100, 100, 100, 100, 100, 100, 100, 100}, 100, none},
	} {
		g := idleGovernor{periods: c.periods}
		if got := g.typicalPeriod(c.below); got != c.want {
			t.Errorf("%s: %d us, want %d", c.what, got, c.want)
		}
	}
}

// sleeper is a simulation of one idle CPU with a tick of 4 ms.
func sleeper(t *testing.T) *Sim {
	t.Helper()
	sc := &workload.Scenario{
		Programs: []workload.Program{mustParse(t, "exit")},
		Tasks:    []workload.TaskSpec{{Name: "nobody"}},
	}
	return simulateWith(t, "1n1c1t", "v5.17", sc, func(c *Config) { c.Sched.HZ = 250 })
}

// A CPU whose timer is 1 ms away and that is always woken after half of it, less
// the way out, expects half: factor/8 = 1024·500/1000.
func TestGuessLearnsFromTimers(t *testing.T) {
	m := sleeper(t)
	c, g := &m.cpus[0], &m.governors[0]
	for i := range 200 {
		c.timerAt = m.now + 1_000_000
		g.since, g.timer, g.state = m.now, 1000, idleShallow
		// Lengths that scatter too much to be typical: 300, 400, ... 700 us.
		m.now += int64(i%5+3)*100_000 + m.costs.IdleShallow
		m.endIdle(c, false)
	}
	if got := g.guess(); got < 430 || got > 570 {
		t.Errorf("guess of %d us, want 500 within what the last one of 300 to 700 moves it", got)
	}
}

func TestTickThatEndsAPeriodSpeaksForALongOne(t *testing.T) {
	m := sleeper(t)
	c, g := &m.cpus[0], &m.governors[0]
	g.since, g.timer = m.now, 20_000
	m.now += 4_000_000
	m.endIdle(c, true)
	if got := g.periods[0]; got != 20_000 { // 45 ms, bounded by the timer
		t.Errorf("a period of %d us, want 20000", got)
	}
	g.timer = 3000 // within the tick: as measured, less the 1 us of C1's exit
	g.since, g.state = m.now, idleShallow
	m.now += 2_000_000
	m.endIdle(c, true)
	if got := g.periods[1]; got != 1999 {
		t.Errorf("a period of %d us, want 1999", got)
	}
}

func TestIdleStateChoice(t *testing.T) {
	short := [rememberedPeriods]int32{10, 10, 10, 10, 10, 10, 10, 10}
	some := [rememberedPeriods]int32{100, 100, 100, 100, 100, 100, 100, 100}
	long := newIdleGovernors(1)[0].periods
	const us = 1000
	for _, c := range []struct {
		what    string
		states  int64
		periods [rememberedPeriods]int32
		timer   int64 // ns from now
		tick    int64 // ns from now, 0: stopped
		want    int32
	}{
		{"a timer nearer than C1 is worth", 4, long, 1900, 4000 * us, idlePoll},
		{"short periods: C1 and not polling", 4, short, 4_000_000 * us, 4000 * us, idleShallow},
		{"some: C1E", 4, some, 4_000_000 * us, 4000 * us, idleMedium},
		{"some, but the tick comes first", 4, some, 4_000_000 * us, 10 * us, idleShallow},
		{"long", 4, long, 4_000_000 * us, 4000 * us, idleDeep},
		{"a timer", 4, long, 500 * us, 4000 * us, idleMedium},
		{"stopped tick: a short guess is not trusted", 4, short, 4_000_000 * us, 0, idleDeep},
		{"stopped tick and a near timer", 4, short, 100 * us, 0, idleMedium},
		{"the machine has three states", 3, long, 4_000_000 * us, 0, idleMedium},
		{"two", 2, long, 4_000_000 * us, 0, idleShallow},
		{"one", 1, long, 4_000_000 * us, 0, idlePoll},
	} {
		m := sleeper(t)
		costs := *m.costs
		costs.IdleStates = c.states
		m.costs = &costs
		cpu, g := &m.cpus[0], &m.governors[0]
		g.periods = c.periods
		cpu.timerAt, cpu.nextTick = m.now+c.timer, m.now+c.tick
		if c.tick == 0 {
			cpu.nextTick = never
		}
		m.beginIdle(cpu)
		if g.state != c.want {
			t.Errorf("%s: state %d, want %d", c.what, g.state, c.want)
		}
	}
}

// A worker of schbench sleeps 60 ms: its CPU goes as deep as it can, and the
// sample holds the way out: 1, 5 and 40 us.
func TestDeepestStateShowsInSchbench(t *testing.T) {
	median := func(states int64) int64 {
		bench, err := workload.Parse([]string{"schbench", "-m", "1", "-t", "1", "-r", "3", "-w", "0"})
		check(t, err)
		sc, err := bench.Build(workload.Shape{CPUs: 4, Nodes: 1})
		check(t, err)
		m := simulateWith(t, "1n4c1t", "v5.17", sc, func(c *Config) {
			costs := *c.Costs
			costs.IdleStates = states
			c.Costs = &costs
		})
		value, _ := run(t, m).Observation.Recorders[0].Samples.Percentile(50)
		return value
	}
	c1 := median(2)
	for states, want := range map[int64]int64{3: c1 + 4, 4: c1 + 39} {
		if got := median(states); got < want-1 || got > want+1 {
			t.Errorf("%d states: %d us, want %d within 1: %d us with C1 alone", states, got, want, c1)
		}
	}
}

// Two CPUs pass a token: each finds the other idle, and writes its flags or,
// if it halts, interrupts it.
func TestIdleCPUsThatWatchTheirFlagsNeedNoInterrupt(t *testing.T) {
	interrupts := func(monitor int64) int64 {
		bench, err := workload.Parse([]string{"perf", "bench", "sched", "pipe", "-l", "1000"})
		check(t, err)
		sc, err := bench.Build(workload.Shape{CPUs: 2, Nodes: 1})
		check(t, err)
		sc.Tasks[0].Allowed, sc.Tasks[1].Allowed = []int{0}, []int{1}
		return run(t, simulateWith(t, "1n2c1t", "v5.17", sc, func(c *Config) {
			costs := *c.Costs
			costs.IdleMonitor = monitor
			c.Costs = &costs
		})).IPIs
	}
	if n := interrupts(1); n > 5 { // start and end
		t.Errorf("%d interrupts between CPUs that watch their flags", n)
	}
	if n := interrupts(0); n < 2000 || n > 2010 {
		t.Errorf("%d interrupts between CPUs that halt, want one for each of 2000 wakeups", n)
	}
}

// A wakeup costs 10 us, of which queueing the task takes 4. Within a cache the
// waker does both; a task of another cache is queued by its own CPU.
func TestWakeListIsQueuedByItsOwnCPU(t *testing.T) {
	for _, c := range []struct {
		machine      string
		spends, runs int64
	}{{"1n2c1t", 10_000, 14_000}, {"2n1c1t", 6000, 10_000}} {
		sc := &workload.Scenario{
			Marks: 3, Channels: []workload.ChannelSpec{{Kind: workload.Pipe}},
			Programs: []workload.Program{
				mustParse(t, "sleep 1ms\nrun 1us\nmark 0\nwrite c0 1\nrun 1us\nmark 1\nexit"),
				mustParse(t, "read c0 1\nmark 2\nexit"),
			},
			Tasks: []workload.TaskSpec{{Name: "waker", Allowed: []int{0}}, {Name: "wakee", Process: 1, Program: 1, Allowed: []int{1}, StartCPU: 1}},
		}
		m := simulateWith(t, c.machine, "v5.17", sc, func(c *Config) {
			c.Costs = &Costs{
				Name: "a wakeup and nothing else", Sched: sched.Prices{}, Wakeup: 10_000, QueueLockHold: 4000,
				SMTSpeed: fullSpeed, IdleStates: 1, IdleMonitor: 1,
			}
		})
		marks := run(t, m).Observation.Marks
		if got := marks[1] - marks[0] - 1000; got < c.spends || got > c.spends+10 {
			t.Errorf("%s: the waker spent %d ns, want %d", c.machine, got, c.spends)
		}
		// It runs when it has been queued. Within a cache the CPU meets the waker's
		// lock, which is held for 4 us from then on.
		if got := marks[2] - marks[0]; got < c.runs || got > c.runs+100 {
			t.Errorf("%s: the wakee ran after %d ns, want %d", c.machine, got, c.runs)
		}
	}
}

func TestIdleParametersAreChecked(t *testing.T) {
	costs, err := LoadCosts(defaultCosts)
	check(t, err)
	for name, bad := range map[string]int64{"idle_states": 5, "idle_monitor": 2} {
		if _, err := costs.With(name, bad); err == nil {
			t.Errorf("%s may be %d", name, bad)
		}
	}
}
