package sim

import (
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// runPatched runs hackbench with pipes beside an idle cgroup that runs one
// messaging group.
func runPatched(t *testing.T, spec, groups, loops string, checked bool, features ...string) *Result {
	t.Helper()
	scenario := scenarioOf(t, spec, "hackbench", "-P", "-p", "-g", groups, "-f", "4", "-l", loops)
	noise := scenarioOf(t, spec, "perf", "bench", "sched", "messaging", "-g", "1", "-l", "1000000")
	noise.SetCgroup("/noise")
	scenario.AddBackground(noise)
	return runOn(t, spec, scenario, checked, features...)
}

func scenarioOf(t *testing.T, spec string, argv ...string) *workload.Scenario {
	t.Helper()
	mach, err := machine.Parse(spec)
	check(t, err)
	bench, err := workload.Parse(argv)
	check(t, err)
	scenario, err := bench.Build(workload.Shape{CPUs: mach.NumCPUs(), Nodes: len(mach.Nodes)})
	check(t, err)
	return scenario
}

// runOn runs a scenario on v5.17-tip with features on; the cgroup /noise is
// idle-class. checked looks at the invariants after every event.
func runOn(t *testing.T, spec string, scenario *workload.Scenario, checked bool, features ...string) *Result {
	t.Helper()
	mach, err := machine.Parse(spec)
	check(t, err)
	profile, err := sched.LookupProfile("v5.17-tip")
	check(t, err)
	cfg := sched.NewConfig(mach, profile)
	for _, f := range features {
		check(t, cfg.SetFeature(f))
	}
	rules, err := workload.RulesFor("v5.17-tip")
	check(t, err)
	costs, err := CostsFor(mach.Name)
	check(t, err)
	m, err := New(Config{
		Sched: cfg, Costs: costs, Rules: rules, Scenario: scenario, Seed: 1, Check: checked,
		Cgroups: []CgroupSetting{{Path: "/noise", File: "cpu.idle", Value: 1}},
	})
	check(t, err)
	m.SampleCounters(4_000_000)
	return run(t, m)
}

// Every version of the patches keeps the invariants under a load of normal and
// idle-class tasks.
func TestPatchesKeepInvariants(t *testing.T) {
	for _, features := range []string{
		"SIS_FILTER", "SIS_FILTER SCHED_IDLE_BALANCE", "SIS_FILTER_V1 SCHED_IDLE_BALANCE_V1",
		"SIS_FILTER_V3", "SIS_CORE", "SIS_CORE SCHED_IDLE_BALANCE",
	} {
		r := runPatched(t, "2n2c2t", "2", "20", true, strings.Fields(features)...)
		if r.Messages < 2*16*20 { // 2 groups, 4 x 4 pairs
			t.Errorf("%s: %d messages", features, r.Messages)
		}
	}
}

// On a saturated machine a vanilla search looks at 6 CPUs (1 for the shortcuts,
// 2 siblings of prev, 3 within the least budget), one that the filter ends
// early at 3: 16.7 and 33.3 % (mechanisms.md 10.1). Three endless loops per CPU
// saturate; two tasks that wake each other search. The first 60 ms, in which scan
// budgets decay and the mask fills, are left out.
func TestSearchEfficiencyOfSaturatedMachine(t *testing.T) {
	for _, c := range []struct {
		features []string
		want     float64
	}{{nil, 100.0 / 6}, {[]string{"SIS_FILTER"}, 100.0 / 3}} {
		r := runOn(t, "2n8c2t", saturated(t), false, c.features...)
		var settled sched.CPUStats
		for _, snap := range r.Counters {
			if snap.Now >= 60_000_000 {
				settled = searches(snap)
				break
			}
		}
		end := searches(r.Counters[len(r.Counters)-1])
		n := end.SISSearch - settled.SISSearch
		if r.End < 100_000_000 || n < 1000 {
			t.Fatalf("%v: only %d searches in %d ns", c.features, n, r.End)
		}
		got := float64(n) * 100 / float64(end.SISScanned-settled.SISScanned)
		if got < c.want-1 || got > c.want+1 {
			t.Errorf("%v: search efficiency %.1f %% of %d searches, want %.1f %%", c.features, got, n, c.want)
		}
	}
}

func searches(snap *sched.Snapshot) sched.CPUStats {
	var sum sched.CPUStats
	for i := range snap.CPUs {
		sum.Add(&snap.CPUs[i].Stats)
	}
	return sum
}

func saturated(t *testing.T) *workload.Scenario {
	pair := scenarioOf(t, "2n8c2t", "perf", "bench", "sched", "pipe", "-l", "4000")
	pair.AddBackground(scenarioOf(t, "2n8c2t", "while1", "-n", "96", "--pin"))
	return pair
}

// Counters are copied about every 4 ms of a run, and at its end; they add up to
// the totals and never fall.
func TestCountersOverTime(t *testing.T) {
	r := runPatched(t, "2n2c2t", "2", "200", false, "SIS_FILTER")
	if want := r.End / 4_000_000; int64(len(r.Counters)) < want/2 || int64(len(r.Counters)) > want+1 {
		t.Errorf("%d copies in %d ns", len(r.Counters), r.End)
	}
	var total, before, now int64
	for i, snap := range r.Counters {
		total = 0
		for c := range snap.CPUs {
			total += snap.CPUs[c].Stats.SISSearch
		}
		if total < before || snap.Now < now || (i > 0 && snap.Now == now && i < len(r.Counters)-1) {
			t.Errorf("copy %d at %d ns: %d searches after %d", i, snap.Now, total, before)
		}
		before, now = total, snap.Now
	}
	if total != r.Sched.SISSearch {
		t.Errorf("%d searches at the end, %d in all", total, r.Sched.SISSearch)
	}
}

// With the schedule balance map a wakee that finds an idle CPU near prev stays
// there, where v3.8 draws it to its waker: far fewer wakeups move.
func TestBalanceMapLeavesWakeesWhereTheyWere(t *testing.T) {
	moved := func(features ...string) int64 {
		scenario := scenarioOf(t, "1n6c2t", "hackbench", "-g", "1", "-f", "5", "-l", "300", "-P", "-p")
		r := run(t, simulateWith(t, "1n6c2t", "v3.8", scenario, func(c *Config) {
			for _, f := range features {
				check(t, c.Sched.SetFeature(f))
			}
		}))
		total := int64(0)
		for _, n := range r.Migrations {
			total += n
		}
		return total
	}
	walk, withMap := moved(), moved("SCHED_BALANCE_MAP")
	if withMap*4 > walk {
		t.Errorf("%d wakeups moved with the map, %d with the walk; want less than a quarter", withMap, walk)
	}
}

// What only the patches do has prices of its own, so that no calibration of
// what all kernels do can touch it.
func TestPatchCostsAreTheirOwn(t *testing.T) {
	costs, err := LoadCosts("default")
	check(t, err)
	p := costs.Sched
	for name, v := range map[string]int64{
		"mask_update": p.MaskUpdate, "mask_lookup": p.MaskLookup, "mask_fetch": p.MaskFetch,
		"mask_fetch_remote": p.MaskFetchRemote, "pull_probe": p.PullProbe,
	} {
		if v <= 0 {
			t.Errorf("%s costs %d", name, v)
		}
	}
	work := sched.Work{MaskUpdates: 1, MaskLookups: 1, MaskFetches: 1, MaskFetchesRemote: 1, PullProbes: 1}
	// 150 + 5 + 75 + 250 + 40
	if got := p.Cost(&work); got != 520 {
		t.Errorf("one of each costs %d, want 520: these prices are frozen", got)
	}
}
