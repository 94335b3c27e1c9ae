package sched

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// recordedVersions are the kernels whose feature bits and tunables were read
// from debugfs and /proc/sys, all on 8 CPUs.
var recordedVersions = []string{"5.10", "6.1", "6.12", "7.2"}

// notAsRecorded is the bit whose recorded value need not be the default: the
// kernel itself switches it at boot.
var notAsRecorded = Features(RTPushIPI)

// TestRecordedFeatures: every bit that a real kernel lists can be set, and the
// recorded values are the defaults.
func TestRecordedFeatures(t *testing.T) {
	for _, version := range recordedVersions {
		cfg := recordedConfig(t, version)
		lines := readLines(t, "testdata/tunables/"+version+".txt")
		words := strings.Fields(lines[0])
		applyFeatures(t, &cfg, words)
		if len(words) != len(cfg.Profile.Known.Names()) {
			t.Errorf("%s lists %d features, the profile knows %v", version, len(words), cfg.Profile.Known.Names())
		}
		want := cfg.Profile.Defaults | cfg.Profile.Implied
		if got := cfg.Features; got&^notAsRecorded != want&^notAsRecorded {
			t.Errorf("%s: recorded %v\nby default %v", version, got.Names(), want.Names())
		}
	}
}

func recordedConfig(t *testing.T, version string) Config {
	t.Helper()
	p, err := LookupProfile("v" + version)
	if err != nil {
		t.Fatal(err)
	}
	return NewConfig(realMachine(), p)
}

func applyFeatures(t *testing.T, cfg *Config, words []string) {
	t.Helper()
	for _, word := range words {
		if err := cfg.SetFeature(word); err != nil {
			t.Error(err)
		}
	}
}

// TestRecordedTunables: every number that a real kernel shows can be set, and
// those with an effect are the defaults of 8 CPUs.
func TestRecordedTunables(t *testing.T) {
	for _, version := range recordedVersions {
		cfg := recordedConfig(t, version)
		before := cfg.Tunables
		applyTunables(t, &cfg, readLines(t, "testdata/tunables/"+version+".txt"))
		if cfg.Tunables != before {
			t.Errorf("%s: recorded %+v\nby default %+v", version, cfg.Tunables, before)
		}
	}
}

// applyTunables sets "name: value" and "/proc/sys/kernel/sched_name: value"
// lines. A value is empty where the machine lacks what it is about; then only
// the name is looked at.
func applyTunables(t *testing.T, cfg *Config, lines []string) {
	t.Helper()
	n := 0
	for _, line := range lines {
		name, value, found := strings.Cut(line, ": ")
		if !found || strings.Contains(name, " ") {
			continue
		}
		name = filepath.Base(name)
		v, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil {
			v = 1
		}
		if err := cfg.SetTunable(name, v); err != nil {
			t.Error(err)
		}
		n++
	}
	if n < 10 {
		t.Errorf("only %d tunables", n)
	}
}

func TestSharedTunables(t *testing.T) {
	dir := sharedDir(t, "captures")
	if dir == "" {
		return
	}
	for _, version := range recordedVersions {
		paths, err := filepath.Glob(filepath.Join(dir, version, "*", "tunables.txt"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no tunables of %s (%v)", version, err)
		}
		for _, path := range paths {
			cfg, lines := recordedConfig(t, version), readLines(t, path)
			applyFeatures(t, &cfg, strings.Fields(lines[0]))
			applyTunables(t, &cfg, lines)
		}
	}
}

// Bits and numbers of one kernel are refused by others, with what there is.
func TestForeignNamesAreRefused(t *testing.T) {
	for _, c := range []struct{ kernel, feature, tunable, mend string }{
		{"v5.10", "SIS_UTIL", "base_slice_ns", "latency_ns"},
		{"v5.10", "NI_RANDOM", "idle_min_granularity_ns", "min_granularity_ns"},
		{"v6.12", "SIS_PROP", "latency_ns", "base_slice_ns"},
		{"v6.12", "NI_RATE", "sched_child_runs_first", "base_slice_ns"},
		{"v7.2", "DOUBLE_TICK", "wakeup_granularity_ns", "base_slice_ns"},
		{"v7.2", "NO_GENTLE_FAIR_SLEEPERS", "min_granularity_ns", "base_slice_ns"},
	} {
		cfg := recordedConfig(t, strings.TrimPrefix(c.kernel, "v"))
		before := cfg.Features
		if err := cfg.SetFeature(c.feature); err == nil || cfg.Features != before || !strings.Contains(err.Error(), "WA_IDLE") {
			t.Errorf("%s, %s: %v", c.kernel, c.feature, err)
		}
		err := cfg.SetTunable(c.tunable, 1_000_000)
		if err == nil || !strings.Contains(err.Error(), c.kernel) || !strings.Contains(err.Error(), c.mend) {
			t.Errorf("%s, %s: %v", c.kernel, c.tunable, err)
		}
	}
}

// 5.2: 0.70 ms for one CPU, times 4 for 8.
func TestBaseSlice(t *testing.T) {
	cfg := recordedConfig(t, "6.12")
	if cfg.Tunables.MinGranularity != 2_800_000 {
		t.Errorf("by default %+v", cfg.Tunables)
	}
	if err := cfg.SetTunable("base_slice_ns", 1_000_000); err != nil {
		t.Fatal(err)
	}
	if cfg.Tunables.MinGranularity != 1_000_000 {
		t.Errorf("after base_slice_ns=1000000 %+v", cfg.Tunables)
	}
}

// Inert names are checked, and change nothing.
func TestInertTunables(t *testing.T) {
	cfg := recordedConfig(t, "7.2")
	before := cfg.Tunables
	for _, name := range InertTunables() {
		if err := cfg.SetTunable("sched_"+name, 1); err != nil || cfg.Tunables != before {
			t.Errorf("%s: %v, %+v", name, err, cfg.Tunables)
		}
	}
	if err := cfg.SetTunable("tunable_scaling", 3); err == nil {
		t.Error("tunable_scaling 3 is accepted")
	}
	if p := cfg.Profile; !p.IsInert("HRTICK_DL") || p.IsInert("HRTICK") || p.IsInert("PLACE_LAG") || p.IsInert("SIS_PROP") {
		t.Error("HRTICK_DL, and no bit with an effect or of other kernels, is inert on v7.2")
	}
	for _, p := range Profiles() {
		if p.Inert&^p.Known != 0 || p.Defaults&^p.Known != 0 || p.Implied&p.Known != 0 {
			t.Errorf("%s: bits that the kernel does not have: %v", p.Name,
				(p.Inert|p.Defaults)&^p.Known|p.Implied&p.Known)
		}
	}
}
