package sched

import (
	"strings"
	"testing"
)

func configFor(t *testing.T, kernel string) Config {
	t.Helper()
	p, err := LookupProfile(kernel)
	if err != nil {
		t.Fatal(err)
	}
	return NewConfig(uniprocessor(), p)
}

// mechanisms.md 1.3: f = 1 + floor(log2(min(8, n))).
func Test1_3_ScaledDefaults(t *testing.T) {
	for i, f := range []int64{1, 2, 2, 3, 3, 3, 3, 4, 4} {
		wantInt(t, "factor", scalingFactor(i+1), f)
	}
	tun := tunables517.defaults(4096)
	wantInt(t, "latency", tun.Latency, 24_000_000)
	wantInt(t, "min_granularity", tun.MinGranularity, 3_000_000)
	wantInt(t, "wakeup_granularity", tun.WakeupGranularity, 4_000_000)
	wantInt(t, "idle_min_granularity is not scaled", tun.IdleMinGranularity, 750_000)
	wantInt(t, "migration_cost is not scaled", tun.MigrationCost, 500_000)
	wantInt(t, "nr_migrate", tun.NrMigrate, 32)
	wantInt(t, "nr_latency", tun.NrLatency, 8)
}

// mechanisms.md 1.3: nr_latency is recomputed when one of its two terms is
// written: 24 ms / 5 ms = 4.8, rounded up.
func Test1_3_NrLatencyFollows(t *testing.T) {
	cfg := configFor(t, "v5.17")
	for _, set := range []string{"latency_ns=24000000", "sched_min_granularity_ns=5000000"} {
		if err := applySetting(&cfg, set); err != nil {
			t.Fatal(err)
		}
	}
	wantInt(t, "nr_latency", cfg.Tunables.NrLatency, 5)
}

func TestSettingsThatCannotBe(t *testing.T) {
	for _, c := range []struct{ kernel, set, want string }{
		{"v5.17", "latency_ns=1", "between 100000 and 1000000000, not 1"},
		{"v5.17", "migration_cost_ns=-2", "between -1"},
		{"v5.17", "nonsense=1", "it has cfs_bandwidth_slice_us, child_runs_first"},
		{"v5.10", "idle_min_granularity_ns=1000000", "kernel v5.10 has no tunable"},
		{"v5.17", "SIS_UTIL", "kernel v5.17 has no scheduler feature"},
		{"v5.17", "NO_NO_WA_IDLE", "no scheduler feature"},
		{"v4.14-numa", "NO_WA_WEIGHT", "kernel v4.14-numa has no scheduler feature"},
		{"v4.14", "UTIL_EST", "WAKEUP_PREEMPTION"},
	} {
		cfg := configFor(t, c.kernel)
		err := applySetting(&cfg, c.set)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want an error with %q", c.kernel, c.set, err, c.want)
		}
	}
	cfg := configFor(t, "v5.17")
	cfg.HZ = 1024
	if _, err := New(cfg, nil); err == nil || !strings.Contains(err.Error(), "100, 250, 300 or 1000") {
		t.Errorf("HZ 1024: %v", err)
	}
	if _, err := LookupProfile("v9"); err == nil || !strings.Contains(err.Error(), "v4.13-numa, v4.14-numa, v4.14, v5.10") {
		t.Errorf("kernel v9: %v", err)
	}
}

// Every feature of every kernel can be switched on and off by its name.
func TestEveryFeatureCanBeSet(t *testing.T) {
	for _, p := range Profiles() {
		cfg := NewConfig(uniprocessor(), p)
		for f := Feature(0); f < numFeatures; f++ {
			known := p.Known.Has(f)
			for _, word := range []string{f.String(), "NO_" + f.String()} {
				if err := cfg.SetFeature(word); (err == nil) != known {
					t.Errorf("%s: %s: %v", p.Name, word, err)
				}
				if known && cfg.Features.Has(f) == strings.HasPrefix(word, "NO_") {
					t.Errorf("%s: %s has no effect", p.Name, word)
				}
			}
		}
		if p.Defaults&^p.Known != 0 {
			t.Errorf("%s: defaults that it does not know: %v", p.Name, (p.Defaults &^ p.Known).Names())
		}
	}
}

// mechanisms.md 0.3: jiffies are floor(now*HZ/10^9), milliseconds round up.
func Test0_3_Jiffies(t *testing.T) {
	for _, c := range []struct{ hz, now, jiffies, jiffiesPerMs int64 }{
		{100, 9_999_999, 0, 1}, {100, 10_000_000, 1, 1},
		{250, 3_999_999, 0, 1}, {250, 4_000_000, 1, 1}, {250, 1_000_000_000, 250, 1},
		{300, 3_333_333, 0, 1}, {300, 3_333_334, 1, 1}, {300, 6_666_666, 1, 1}, {300, 6_666_667, 2, 1},
		{1000, 999_999, 0, 1}, {1000, 1_000_000, 1, 1},
	} {
		cfg := configFor(t, "v5.17")
		cfg.HZ = c.hz
		s, err := New(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		for now := max(0, c.now-5); now <= c.now; now++ {
			s.setNow(now)
		}
		wantInt(t, "jiffies", s.jiffies, c.jiffies)
		wantInt(t, "1 ms in jiffies", s.msToJiffies(1), c.jiffiesPerMs)
	}
}
