package sched

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// Tunables are the numbers that debugfs or /proc/sys let an administrator set.
// Times are nanoseconds and, where the kernel scales them by the number of
// CPUs, already scaled (mechanisms.md 1.3).
type Tunables struct {
	Latency            int64 // latency_ns
	MinGranularity     int64 // min_granularity_ns; base_slice_ns of EEVDF
	WakeupGranularity  int64 // wakeup_granularity_ns
	IdleMinGranularity int64 // idle_min_granularity_ns, not scaled
	MigrationCost      int64 // migration_cost_ns, not scaled
	NrMigrate          int64 // nr_migrate
	NrLatency          int64 // latency / min_granularity, rounded up
	ChildRunsFirst     int64 // sched_child_runs_first, 0 or 1
	Nohz               int64 // the boot option nohz=: 1 on, 0 off: idle CPUs keep their tick
	BandwidthSliceUS   int64 // cfs_bandwidth_slice_us, in us
}

type tunableField struct {
	name     string
	min, max int64
	field    func(*Tunables) *int64 // nil: without effect
}

// bootOption is set on a kernel's command line: no kernel lists it among its
// tunables.
const bootOption = "nohz"

// tunableRules are the tunables of a kernel version.
type tunableRules struct {
	missing []string // names in tunableFields that the kernel does not have
	latency int64    // ns before scaling
	slice   int64    // the shortest slice, or that of EEVDF, ns before scaling
}

// afterCFS are the tunables that v6.6 replaced by base_slice_ns.
var afterCFS = []string{"child_runs_first", "idle_min_granularity_ns", "latency_ns", "min_granularity_ns", "wakeup_granularity_ns"}

var (
	tunables414 = tunableRules{latency: 6_000_000, slice: 750_000, missing: []string{"base_slice_ns", "idle_min_granularity_ns"}}
	tunables517 = tunableRules{latency: 6_000_000, slice: 750_000, missing: []string{"base_slice_ns"}}
	tunables612 = tunableRules{slice: 700_000, missing: afterCFS}
)

var tunableFields = []tunableField{
	{"base_slice_ns", 100_000, 1_000_000_000, func(t *Tunables) *int64 { return &t.MinGranularity }},
	{"cfs_bandwidth_slice_us", 1, 1_000_000, func(t *Tunables) *int64 { return &t.BandwidthSliceUS }},
	{"child_runs_first", 0, 1, func(t *Tunables) *int64 { return &t.ChildRunsFirst }},
	{"idle_min_granularity_ns", 100_000, 1_000_000_000, func(t *Tunables) *int64 { return &t.IdleMinGranularity }},
	{"latency_ns", 100_000, 1_000_000_000, func(t *Tunables) *int64 { return &t.Latency }},
	{"migration_cost_ns", -1, 1_000_000_000, func(t *Tunables) *int64 { return &t.MigrationCost }},
	{"min_granularity_ns", 100_000, 1_000_000_000, func(t *Tunables) *int64 { return &t.MinGranularity }},
	{bootOption, 0, 1, func(t *Tunables) *int64 { return &t.Nohz }},
	{"nr_migrate", 0, 1 << 20, func(t *Tunables) *int64 { return &t.NrMigrate }},
	{"wakeup_granularity_ns", 0, 1_000_000_000, func(t *Tunables) *int64 { return &t.WakeupGranularity }},

	// Of other scheduling classes, of mechanisms that are not modelled, or about
	// reporting. tunable_scaling is applied already: see Tunables.
	{"autogroup_enabled", 0, 1, nil},
	{"deadline_period_max_us", 0, math.MaxInt64, nil},
	{"deadline_period_min_us", 0, math.MaxInt64, nil},
	{"energy_aware", 0, 1, nil},
	{"rr_timeslice_ms", -1, math.MaxInt64, nil},
	{"rt_period_us", 1, math.MaxInt64, nil},
	{"rt_runtime_us", -1, math.MaxInt64, nil},
	{"schedstats", 0, 1, nil},
	{"tunable_scaling", 0, 2, nil},
	{"util_clamp_max", 0, capacityFull, nil},
	{"util_clamp_min", 0, capacityFull, nil},
	{"util_clamp_min_rt_default", 0, capacityFull, nil},
}

// defaults returns the kernel's tunables for a machine with n online CPUs: its
// times, multiplied by the "log" scaling factor (mechanisms.md 1.3,
// mechanisms-modern.md 5.2).
func (r *tunableRules) defaults(n int) Tunables {
	f := scalingFactor(n)
	return Tunables{
		Latency:            r.latency * f,
		MinGranularity:     r.slice * f,
		WakeupGranularity:  1_000_000 * f,
		IdleMinGranularity: 750_000,
		MigrationCost:      500_000,
		NrMigrate:          32,
		NrLatency:          8,
		Nohz:               1,
		BandwidthSliceUS:   5000,
	}
}

// scalingFactor is 1 + floor(log2(min(8, n))).
func scalingFactor(n int) int64 {
	return int64(bits.Len(uint(max(1, min(8, n)))))
}

// TunableNames lists the tunables that have an effect on some kernel, in
// alphabetical order.
func TunableNames() []string {
	return namesOf(func(f *tunableField) bool { return f.field != nil })
}

// InertTunables lists, in alphabetical order, the tunables that kernels have
// and [Config.SetTunable] accepts but that change nothing in the simulator.
func InertTunables() []string {
	return namesOf(func(f *tunableField) bool { return f.field == nil })
}

// TunableNames lists the tunables of this kernel that have an effect, in
// alphabetical order.
func (p *Profile) TunableNames() []string {
	return namesOf(func(f *tunableField) bool { return f.field != nil && p.hasTunable(f.name) })
}

func namesOf(wanted func(*tunableField) bool) []string {
	var out []string
	for i := range tunableFields {
		if f := &tunableFields[i]; wanted(f) {
			out = append(out, f.name)
		}
	}
	sort.Strings(out)
	return out
}

func (p *Profile) hasTunable(name string) bool { return !slices.Contains(p.Tunables.missing, name) }

// SetTunable sets one tunable by its debugfs or sysctl name
// ("migration_cost_ns"; a leading "sched_" is accepted). Writing latency_ns or
// min_granularity_ns recomputes nr_latency as the kernel's sysctl handler does.
// Names of [InertTunables] are accepted on every kernel and change nothing. A
// name that the kernel does not have and a value out of range are errors.
func (c *Config) SetTunable(name string, value int64) error {
	short := strings.TrimPrefix(name, "sched_")
	i := slices.IndexFunc(tunableFields, func(f tunableField) bool { return f.name == short })
	if i < 0 || !c.Profile.hasTunable(short) {
		return fmt.Errorf("kernel %s has no tunable %q; it has %s", c.Profile.Name, name,
			strings.Join(c.Profile.TunableNames(), ", "))
	}
	f := &tunableFields[i]
	if value < f.min || value > f.max {
		return fmt.Errorf("tunable %s must be between %d and %d, not %d", f.name, f.min, f.max, value)
	}
	if f.field == nil {
		return nil
	}
	t := &c.Tunables
	*f.field(t) = value
	switch short {
	case "latency_ns", "min_granularity_ns":
		t.NrLatency = (t.Latency + t.MinGranularity - 1) / t.MinGranularity
	}
	return nil
}
