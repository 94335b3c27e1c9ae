package experiment

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlanOrder(t *testing.T) {
	plan := mustPlan(t, smallExperiment, Options{})
	var keys []string
	for i := range plan.Cells {
		keys = append(keys, plan.Cells[i].Key)
	}
	want := strings.Fields(`
		2n4c2t/pipes/quiet/1/old/1  2n4c2t/pipes/quiet/1/old/2  2n4c2t/pipes/quiet/1/fast/1  2n4c2t/pipes/quiet/1/fast/2
		2n4c2t/pipes/quiet/12/old/1 2n4c2t/pipes/quiet/12/old/2 2n4c2t/pipes/quiet/12/fast/1 2n4c2t/pipes/quiet/12/fast/2
		2n4c2t/alone/quiet/-/old/1  2n4c2t/alone/quiet/-/old/2  2n4c2t/alone/quiet/-/fast/1  2n4c2t/alone/quiet/-/fast/2
		4n2c1t/pipes/quiet/1/old/1  4n2c1t/pipes/quiet/1/old/2  4n2c1t/pipes/quiet/1/fast/1  4n2c1t/pipes/quiet/1/fast/2
		4n2c1t/pipes/quiet/12/old/1 4n2c1t/pipes/quiet/12/old/2 4n2c1t/pipes/quiet/12/fast/1 4n2c1t/pipes/quiet/12/fast/2
		4n2c1t/alone/quiet/-/old/1  4n2c1t/alone/quiet/-/old/2  4n2c1t/alone/quiet/-/fast/1  4n2c1t/alone/quiet/-/fast/2`)
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
	for i, o := range plan.origins {
		if got := plan.index(o); got != i {
			t.Errorf("index of cell %d is %d", i, got)
		}
	}
}

func TestCell(t *testing.T) {
	plan := mustPlan(t, `
machine: 2n4c2t
kernel: v5.17
hz: 1000
preemption: full
costs: fast-ipi
variants:
  - {name: a, features: [NO_SIS_PROP], tunables: {z_ns: 2, a_ns: -1}, placement: mine}
environments:
  - name: noisy
    cgroup: /bench
    cgroups: {/noise: {cpu.idle: 1, cpu.max: max 100000}, /bench: {}}
    background: [{benchmark: messaging -g 1, cgroup: /noise}]
benchmarks: [{name: "x/y", run: hackbench -P, rows: {-g: [1, 2], -l: [30]}}]
repeats: 1
seed: 7
`, Options{})
	want := Cell{Key: "2n4c2t/x%2Fy/noisy/2%2F30/a/1", Seed: cellSeed(7, "2n4c2t", "x/y", "noisy", "2/30", 1),
		Machine: "2n4c2t", MachineName: "2n4c2t", Kernel: "v5.17", Preemption: "full", Placement: "mine", Costs: "fast-ipi", HZ: 1000,
		Features: []string{"NO_SIS_PROP"}, Tunables: []Tunable{{"a_ns", -1}, {"z_ns", 2}},
		Command:    []string{"hackbench", "-P", "-g", "2", "-l", "30"},
		Cgroup:     "/bench",
		Cgroups:    []CgroupSetting{{"/noise", "cpu.idle", "1"}, {"/noise", "cpu.max", "max 100000"}, {"/bench", "", ""}},
		Background: []BackgroundJob{{Command: []string{"messaging", "-g", "1"}, Cgroup: "/noise"}},
		Variant:    "a", Benchmark: "x/y", Environment: "noisy", Row: "2/30", Repeat: 1}
	if diff := cmp.Diff(want, plan.Cells[1]); diff != "" {
		t.Error(diff)
	}
}

// Values may have names, by which the tables know them, and more flags behind
// them.
func TestNamedRowValues(t *testing.T) {
	plan := mustPlan(t, strings.Replace(smallExperiment, "rows: {-g: [1, 12]}",
		"rows: {-g: {22 MB: 1, 7484 MB: 500}, -s: {1: 1 -f 1, 2: 2 -f 2}}", 1), Options{})
	rows := map[string]string{}
	for i := range plan.Cells {
		rows[plan.Cells[i].Row] = strings.Join(plan.Cells[i].Command, " ")
	}
	want := map[string]string{
		"22 MB/1": "hackbench -p -l 10 -g 1 -s 1 -f 1", "22 MB/2": "hackbench -p -l 10 -g 1 -s 2 -f 2",
		"7484 MB/1": "hackbench -p -l 10 -g 500 -s 1 -f 1", "7484 MB/2": "hackbench -p -l 10 -g 500 -s 2 -f 2",
	}
	for row, command := range want {
		if rows[row] != command {
			t.Errorf("row %s runs %q, want %q", row, rows[row], command)
		}
	}
}

func TestSeedsAreCommonToVariantsOnly(t *testing.T) {
	plan := mustPlan(t, smallExperiment, Options{})
	variants := map[uint64][]string{}
	for i := range plan.Cells {
		variants[plan.Cells[i].Seed] = append(variants[plan.Cells[i].Seed], plan.Cells[i].Variant)
	}
	if len(variants) != len(plan.Cells)/2 {
		t.Errorf("%d seeds for %d cells of 2 variants", len(variants), len(plan.Cells))
	}
	for seed, names := range variants {
		if diff := cmp.Diff([]string{"old", "fast"}, names); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
	other := uint64(2)
	if mustPlan(t, smallExperiment, Options{Seed: &other}).Cells[0].Seed == plan.Cells[0].Seed {
		t.Error("another seed gives the same cell seed")
	}
}

func TestQuick(t *testing.T) {
	plan := mustPlan(t, smallExperiment, Options{Quick: true})
	var keys []string
	for i := range plan.Cells[:4] {
		keys = append(keys, plan.Cells[i].Key)
	}
	want := []string{"2n4c2t/pipes/quiet/4/old/1", "2n4c2t/pipes/quiet/4/fast/1", "2n4c2t/alone/quiet/-/old/1", "2n4c2t/alone/quiet/-/fast/1"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
	_, err := mustParse(t, strings.Replace(smallExperiment, "quick:", "#", 1)).Plan(Options{Quick: true})
	if err == nil || !strings.Contains(err.Error(), "small.yaml: --quick, but the experiment has no quick section") {
		t.Errorf("%v", err)
	}
}

func TestVariantsWithMachinesOfTheirOwn(t *testing.T) {
	plan := mustPlan(t, `
kernel: v5.17
variants: [{name: a, machine: 1n4c1t}, {name: b, machine: 2n2c1t}]
benchmarks: [{name: x, run: hackbench}]
repeats: 1
`, Options{})
	results := mustExecute(t, plan, &fakeRunner{}, RunOptions{})
	table := results.Tables()[0]
	if plan.Cells[1].Key != "1n4c1t/x/quiet/-/b/1" || plan.Cells[1].Machine != "2n2c1t" || table.Columns[1].Machine != "2n2c1t" {
		t.Errorf("cell %+v, columns %+v", plan.Cells[1], table.Columns)
	}
}

// Every field a runner may refuse is attributed to its place in the file.
func TestCheckPointsAtTheField(t *testing.T) {
	const text = `machine: 2n4c2t
kernel: v5.17
variants:
  - name: a
    features: [SIS_PROP, NO_SIS_UTL]
    tunables:
      {x_ns: 1, migration_cost_nss: 2}
  - {name: b, kernel: v9.9}
environments:
  - name: noisy
    cgroups: {/n: {cpu.idle: 7}}
    background: [{benchmark: mesaging}]
benchmarks:
  - {name: x, run: hackbench -q,
     rows: {-g: [1, -4]}}
hz: 100
`
	tests := []struct {
		variant, row, field, want string
	}{
		{"a", "1", "machine", "small.yaml:1:10: no"},
		{"a", "1", "kernel", "small.yaml:2:9: no"},
		{"b", "1", "kernel", "small.yaml:8:23: no"},
		{"a", "1", "features[1]", "small.yaml:5:26: no"},
		{"a", "1", "tunables.migration_cost_nss", "small.yaml:7:17: no"},
		{"a", "1", "run", "small.yaml:14:20: no"},
		{"a", "-4", "rows", "small.yaml:15:21: no"},
		{"a", "1", "cgroups[0]", "small.yaml:11:30: no"},
		{"a", "1", "background[0]", "small.yaml:12:30: no"},
		{"a", "1", "hz", "small.yaml:16:5: no"},
		{"b", "1", "preemption", "small.yaml:8:12: no"}, // a default: the variant is all there is to show
		{"b", "1", "features[9]", "small.yaml:8:12: no"},
	}
	plan := mustPlan(t, text, Options{})
	for _, tt := range tests {
		refuse := &fakeRunner{check: func(c *Cell) error {
			if c.Variant == tt.variant && c.Row == tt.row {
				return &FieldError{Field: tt.field, Err: errors.New("no")}
			}
			return nil
		}}
		err := plan.Check(refuse)
		var request *RequestError
		if !errors.As(err, &request) || !strings.HasPrefix(err.Error(), tt.want+"\n") {
			t.Errorf("%s of %s: %v, want %s", tt.field, tt.variant, err, tt.want)
		}
	}
	err := plan.Check(&fakeRunner{check: func(*Cell) error { return errors.New("just no") }})
	if err == nil || !strings.HasPrefix(err.Error(), "small.yaml:4:11: just no\n") {
		t.Errorf("without a field: %v", err)
	}
}
