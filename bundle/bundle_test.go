package bundle_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlab/schedlab/bundle"
	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/explain"
	"github.com/schedlab/schedlab/machine"
)

// record runs a cell and writes its bundle.
func record(t *testing.T, cell *experiment.Cell) string {
	t.Helper()
	cell.Preemption, cell.TieBreak = "voluntary", "number"
	if cell.HZ == 0 {
		cell.HZ = 250
	}
	s, err := experiment.NewSimulation(cell)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	folder, err := bundle.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Record(folder.Trace())
	before := s.Counters()
	result, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	after := result.Counters[len(result.Counters)-1]
	err = folder.Finish(&bundle.Simulation{
		Config: s.Config(), Groups: s.Groups(), Before: before, After: after, Output: s.Benchmark.Report(&result.Observation).Text,
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func explained(t *testing.T, dir string) *explain.Capture {
	t.Helper()
	b, err := explain.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := explain.Run(context.Background(), b, explain.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func commandLine(text string) []string { return strings.Fields(text) }

// What a simulation decided, and the hidden state behind it, follows from its
// recording without a single exception: the rules are the same, so a difference
// would be something that the recording leaves out.
func TestExplainReproducesASimulation(t *testing.T) {
	noise := func(c *experiment.Cell) {
		c.Cgroups = []experiment.CgroupSetting{
			{Path: "/be", File: "cpu.idle", Value: "1"}, {Path: "/ls", File: "cpu.weight", Value: "300"}, {Path: "/ls/inner"},
		}
		c.Cgroup = "/ls/inner"
		c.Background = []experiment.BackgroundJob{{Command: commandLine("messaging -g 1"), Cgroup: "/be"}}
	}
	plain := func(*experiment.Cell) {}
	feature := func(name string) func(*experiment.Cell) {
		return func(c *experiment.Cell) { c.Features = []string{name} }
	}
	for _, c := range []struct {
		name, kernel, machine, command string
		change                         func(*experiment.Cell)
	}{
		{"v4.13-numa", "v4.13-numa", "2n4c2t", "hackbench -g 1 -l 60 -p -P", plain},
		{"v4.14", "v4.14", "2n4c2t", "hackbench -g 1 -l 60 -p -P", plain},
		{"v5.10", "v5.10", "2n4c2t", "hackbench -g 1 -l 60 -p -P", plain},
		{"v5.17", "v5.17", "2n4c2t", "hackbench -g 1 -l 60 -T", plain},
		{"v6.1", "v6.1", "2n4c2t", "hackbench -g 2 -l 60 -p -P", plain},
		{"v6.1 clusters", "v6.1", "2n4l6c2t", "hackbench -g 1 -l 60 -P", plain},
		{"v6.12", "v6.12", "2n4c2t", "hackbench -g 1 -l 60 -p -P", plain},
		{"v7.2", "v7.2", "2n4c2t", "hackbench -g 1 -l 60 -p -P", plain},
		{"v5.10 groups", "v5.10", "2n2c2t", "hackbench -g 1 -f 6 -l 60", func(c *experiment.Cell) {
			noise(c)
			c.Cgroups[0] = experiment.CgroupSetting{Path: "/be", File: "cpu.weight", Value: "20"}
		}},
		{"v6.1 groups", "v6.1", "2n2c2t", "hackbench -g 1 -f 6 -l 60", noise},
		{"v6.12 groups", "v6.12", "2n2c2t", "hackbench -g 1 -f 6 -l 60", noise},
		{"v7.2 groups", "v7.2", "2n2c2t", "hackbench -g 1 -f 6 -l 60", noise},
		{"1000 HZ", "v6.1", "2n2c2t", "schbench -m 2 -t 6 -r 1", func(c *experiment.Cell) { c.HZ = 1000 }},
		{"features and tunables", "v6.1", "2n4c2t", "hackbench -g 1 -l 60 -p -P", func(c *experiment.Cell) {
			c.Features = []string{"NO_SIS_UTIL", "SIS_PROP", "NO_WA_WEIGHT"}
			c.Tunables = []experiment.Tunable{{Name: "migration_cost_ns", Value: 100_000}}
		}},
		{"more tasks than CPUs", "v6.1", "1n2c1t", "hackbench -g 2 -f 8 -l 30 -P", plain},
		{"SIS filter v1", "v5.17-tip", "2n4c2t", "hackbench -g 1 -l 60 -p -P", feature("SIS_FILTER_V1")},
		{"SIS filter v2", "v5.17-tip", "2n4c2t", "hackbench -g 1 -l 60 -p -P", feature("SIS_FILTER")},
		{"SIS filter v3", "v5.17-tip", "2n4c2t", "hackbench -g 1 -l 60 -p -P", feature("SIS_FILTER_V3")},
		{"SIS core", "v5.17-tip", "2n4c2t", "hackbench -g 1 -l 60 -p -P", feature("SIS_CORE")},
		{"sched-idle balance v1", "v5.17-tip", "2n4c2t", "hackbench -g 1 -l 60 -p -P", feature("SCHED_IDLE_BALANCE_V1")},
		{"sched-idle balance v2", "v5.17-tip", "2n4c2t", "hackbench -g 1 -l 60 -p -P", feature("SCHED_IDLE_BALANCE")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cell := &experiment.Cell{Seed: 7, Machine: c.machine, Kernel: c.kernel, Command: commandLine(c.command)}
			c.change(cell)
			got := explained(t, record(t, cell))
			total := got.Total()
			if total.Decisions < 20 || total.Agree != total.Decisions {
				t.Errorf("%d of %d decisions agree, want all of at least 20", total.Agree, total.Decisions)
				for _, d := range got.Kept[:min(3, len(got.Kept))] {
					t.Logf("%d ns, %s-%d: CPU %d, explained as %d by %s", d.Time, d.Comm, d.PID, d.Kernel, d.Record.CPU, d.Record.Rule)
				}
			}
			h := got.Hidden
			for _, check := range []struct {
				what  string
				count explain.Count
			}{{"wakee_flips", h.Flips}, {"recent_used_cpu", h.Recent}, {"task load", h.Load}, {"CPU load", h.CPULoad}} {
				if check.count.Agree != check.count.Decisions || check.count.Decisions != total.Decisions {
					t.Errorf("%s: %d of %d equal, want all of %d", check.what, check.count.Agree, check.count.Decisions, total.Decisions)
				}
			}
			if got.Unknown != 0 || got.Mended != 0 || got.Skipped != 0 {
				t.Errorf("unknown tasks %d, mended %d, skipped events %d, want none", got.Unknown, got.Mended, got.Skipped)
			}
		})
	}
}

// Recording must not change what happens.
func TestRecordingChangesNothing(t *testing.T) {
	run := func(recorded bool) (int64, string) {
		cell := &experiment.Cell{
			Seed: 3, Machine: "2n4c2t", Kernel: "v6.1", Preemption: "voluntary", HZ: 250,
			Command: commandLine("hackbench -g 2 -l 40 -p -P"),
		}
		s, err := experiment.NewSimulation(cell)
		if err != nil {
			t.Fatal(err)
		}
		if recorded {
			folder, err := bundle.Create(filepath.Join(t.TempDir(), "x"))
			if err != nil {
				t.Fatal(err)
			}
			s.Record(folder.Trace())
			defer func() { _ = folder.CloseTrace() }()
		}
		result, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return result.Events, cmp.Diff(result.Sched, result.WholeCounters()) + s.Benchmark.Report(&result.Observation).Text
	}
	plainEvents, plain := run(false)
	events, text := run(true)
	if events != plainEvents || text != plain {
		t.Errorf("recorded: %d events, %q; not recorded: %d, %q", events, text, plainEvents, plain)
	}
}

// The same run writes the same bytes.
func TestBundlesAreReproducible(t *testing.T) {
	cell := experiment.Cell{Seed: 5, Machine: "2n2c2t", Kernel: "v6.1", Command: commandLine("hackbench -g 1 -f 4 -l 20")}
	first, second := cell, cell
	a, b := record(t, &first), record(t, &second)
	for _, name := range []string{
		bundle.TraceFile, bundle.MachineFile, bundle.TunablesFile, bundle.GroupsFile, bundle.OutputFile, bundle.BeforeFile, bundle.AfterFile,
	} {
		x, y := mustRead(t, filepath.Join(a, name)), mustRead(t, filepath.Join(b, name))
		if len(x) == 0 || !slices.Equal(x, y) {
			t.Errorf("%s: %d bytes and %d bytes, want the same content", name, len(x), len(y))
		}
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// machine.txt tells everything that the scheduler asks about a machine.
func TestMachineTextRoundTrips(t *testing.T) {
	specs := []string{"2n2c2t", "2n4l6c2t", "1n8c1t"}
	for _, p := range machine.Presets() {
		specs = append(specs, p.Name)
	}
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) {
			want, err := machine.Resolve(spec)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), bundle.MachineFile)
			file, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := bundle.WriteMachine(file, want); err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := machine.Import(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.CPUs, got.Machine.CPUs); diff != "" {
				t.Errorf("CPUs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.Nodes, got.Machine.Nodes); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAbandonedBundleIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	folder, err := bundle.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	folder.Abandon()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s: %v, want it gone", dir, err)
	}
}

func TestCreateLeavesOtherFilesAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := bundle.Create(dir)
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "new folder") {
		t.Errorf("error %v, want one that names %s and asks for a new folder", err, dir)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d files, want 1", len(entries))
	}
}

// A recording of a limited group shows when its queues are throttled and set
// free, in turns on each CPU.
func TestThrottlingIsRecorded(t *testing.T) {
	cell := &experiment.Cell{Seed: 7, Machine: "2n2c2t", Kernel: "v6.1", Command: commandLine("while1 -n 4 --time 0.5"), Cgroup: "/service"}
	cell.Cgroups = []experiment.CgroupSetting{{Path: "/service", File: "cpu.max", Value: "100000 100000"}}
	dir := record(t, cell)
	throttled := map[string]bool{} // by CPU
	events := 0
	for _, line := range strings.Split(traceText(t, dir), "\n") {
		_, what, isThrottling := strings.Cut(line, " thr: ")
		if !isThrottling {
			var frees bool
			if _, what, frees = strings.Cut(line, " unthr: "); !frees {
				continue
			}
		}
		events++
		cpu := what[strings.LastIndex(what, "cpu="):]
		if throttled[cpu] == isThrottling {
			t.Fatalf("%s: twice the same: %s", cpu, line)
		}
		throttled[cpu] = isThrottling
	}
	if events < 20 { // four CPUs use up one CPU's quota in each of five periods
		t.Errorf("%d events of throttling, want at least 20", events)
	}
	stat := string(mustRead(t, filepath.Join(dir, bundle.GroupsFile)))
	if !strings.Contains(stat, "== /service idle=0 weight=100 max=100000 100000") || !strings.Contains(stat, "nr_throttled 5") {
		t.Errorf("cgroups.txt says\n%s", stat)
	}
}

func traceText(t *testing.T, dir string) string {
	t.Helper()
	packed, err := gzip.NewReader(bytes.NewReader(mustRead(t, filepath.Join(dir, bundle.TraceFile))))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(packed)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
