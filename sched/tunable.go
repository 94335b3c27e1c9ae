package sched

import (
	"fmt"
	"math/bits"
	"sort"
	"strings"
)

// Tunables are the numbers that debugfs or /proc/sys let an administrator set.
// Times are nanoseconds and, where the kernel scales them by the number of
// CPUs, already scaled (mechanisms.md 1.3).
type Tunables struct {
	Latency            int64 // latency_ns
	MinGranularity     int64 // min_granularity_ns
	WakeupGranularity  int64 // wakeup_granularity_ns
	IdleMinGranularity int64 // idle_min_granularity_ns, not scaled
	MigrationCost      int64 // migration_cost_ns, not scaled
	NrMigrate          int64 // nr_migrate
	NrLatency          int64 // latency / min_granularity, rounded up
	ChildRunsFirst     int64 // sched_child_runs_first, 0 or 1
}

type tunableField struct {
	name     string
	min, max int64
	field    func(*Tunables) *int64
}

var tunableFields = []tunableField{
	{"child_runs_first", 0, 1, func(t *Tunables) *int64 { return &t.ChildRunsFirst }},
	{"idle_min_granularity_ns", 100_000, 1_000_000_000, func(t *Tunables) *int64 { return &t.IdleMinGranularity }},
	{"latency_ns", 100_000, 1_000_000_000, func(t *Tunables) *int64 { return &t.Latency }},
	{"migration_cost_ns", -1, 1_000_000_000, func(t *Tunables) *int64 { return &t.MigrationCost }},
	{"min_granularity_ns", 100_000, 1_000_000_000, func(t *Tunables) *int64 { return &t.MinGranularity }},
	{"nr_migrate", 0, 1 << 20, func(t *Tunables) *int64 { return &t.NrMigrate }},
	{"wakeup_granularity_ns", 0, 1_000_000_000, func(t *Tunables) *int64 { return &t.WakeupGranularity }},
}

// defaultTunables returns the v5.17 defaults for a machine with n online CPUs:
// 6, 0.75 and 1 ms times the "log" scaling factor (mechanisms.md 1.3).
func defaultTunables(n int) Tunables {
	f := scalingFactor(n)
	return Tunables{
		Latency:            6_000_000 * f,
		MinGranularity:     750_000 * f,
		WakeupGranularity:  1_000_000 * f,
		IdleMinGranularity: 750_000,
		MigrationCost:      500_000,
		NrMigrate:          32,
		NrLatency:          8,
	}
}

// scalingFactor is 1 + floor(log2(min(8, n))).
func scalingFactor(n int) int64 {
	return int64(bits.Len(uint(max(1, min(8, n)))))
}

// TunableNames lists the tunables in alphabetical order.
func TunableNames() []string {
	out := make([]string, len(tunableFields))
	for i, f := range tunableFields {
		out[i] = f.name
	}
	sort.Strings(out)
	return out
}

// SetTunable sets one tunable by its debugfs name ("migration_cost_ns"; a
// leading "sched_" is accepted). Writing latency_ns or min_granularity_ns
// recomputes nr_latency as the kernel's sysctl handler does.
func (c *Config) SetTunable(name string, value int64) error {
	short := strings.TrimPrefix(name, "sched_")
	for _, f := range tunableFields {
		if f.name != short {
			continue
		}
		if value < f.min || value > f.max {
			return fmt.Errorf("tunable %s must be between %d and %d, not %d", f.name, f.min, f.max, value)
		}
		if short == "idle_min_granularity_ns" && !c.Profile.GroupIdle {
			return fmt.Errorf("kernel %s has no tunable %s; it came with v5.15", c.Profile.Name, short)
		}
		t := &c.Tunables
		*f.field(t) = value
		if short == "latency_ns" || short == "min_granularity_ns" {
			t.NrLatency = (t.Latency + t.MinGranularity - 1) / t.MinGranularity
		}
		return nil
	}
	return fmt.Errorf("there is no tunable %q; there are %s", name, strings.Join(TunableNames(), ", "))
}
