package sim

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// 25 groups of 40 tasks: the parent's byte wakes all 1000 in one event. An
// interrupt is heeded after checkInterval events and wakeups, and the one event
// that leads across.
func TestAnInterruptIsHeededAmongManyWakeups(t *testing.T) {
	const tasks = 25 * 40
	scenario, err := mustBenchmark(t, "hackbench -g 25 -l 1000").Build(workload.Shape{CPUs: 2, Nodes: 1})
	check(t, err)
	m := simulateWith(t, "1n2c1t", "v6.1", scenario, func(c *Config) { c.Check = false })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var cancelledAt, lastSeen int64
	m.Watch(func(now int64) {
		if now < lastSeen {
			t.Errorf("time went back from %d to %d", lastSeen, now)
		}
		lastSeen = now
		if cancelledAt == 0 && m.result.Wakeups > 0 {
			cancelledAt = m.result.Events + m.result.Wakeups
			cancel()
		}
	})
	if _, err := m.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
	if more := m.result.Events + m.result.Wakeups - cancelledAt; cancelledAt == 0 || more > checkInterval+tasks {
		t.Errorf("%d events and wakeups between the interrupt and the end, want at most %d", more, checkInterval+tasks)
	}
}

func TestAKernelWithoutTicksIsRefused(t *testing.T) {
	scenario, err := mustBenchmark(t, "hackbench -g 1").Build(workload.Shape{CPUs: 1, Nodes: 1})
	check(t, err)
	m := simulate(t, "1n1c1t", "v6.1", scenario)
	profile, err := sched.LookupProfile("v6.1")
	check(t, err)
	cfg := Config{Sched: sched.NewConfig(m.sched.Machine(), profile), Costs: m.costs, Scenario: scenario}
	cfg.Sched.HZ = 0
	if _, err := New(cfg); err == nil || err.Error() != "HZ must be 100, 250, 300 or 1000, not 0" {
		t.Errorf("got %v", err)
	}
}

func mustBenchmark(t *testing.T, line string) workload.Benchmark {
	t.Helper()
	bench, err := workload.Parse(strings.Fields(line))
	check(t, err)
	return bench
}
