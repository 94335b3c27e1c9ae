package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
)

// Each case of testdata/errors is a damaged experiment file and the error a
// user gets for it.
func TestBadFiles(t *testing.T) {
	datadriven.RunTest(t, "testdata/errors", func(t *testing.T, d *datadriven.TestData) string {
		_, err := Parse("x.yaml", []byte(d.Input))
		if err == nil {
			return "accepted\n"
		}
		var request *RequestError
		if !errors.As(err, &request) {
			t.Errorf("%s: %T is no *RequestError", d.Pos, err)
		}
		return err.Error() + "\n"
	})
}

func TestMissingFile(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"))
	var request *RequestError
	if !errors.As(err, &request) || !strings.HasSuffix(err.Error(), "none.yaml: cannot be read: no such file or directory") {
		t.Errorf("%v", err)
	}
}

func TestPathsBeginAtTheFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "box.yaml"), []byte("a machine"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(smallExperiment, "[2n4c2t, 4n2c1t]", "./box.yaml", 1)
	x, err := Parse(filepath.Join(dir, "e.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := x.Plan(Options{})
	if err != nil {
		t.Fatal(err)
	}
	cell := plan.Cells[0]
	if cell.Machine != filepath.Join(dir, "box.yaml") || cell.MachineName != "box" || !strings.HasPrefix(cell.Key, "box/pipes/") {
		t.Errorf("machine %q, name %q, key %q", cell.Machine, cell.MachineName, cell.Key)
	}
	files := x.Inputs()
	want := InputFile{"./box.yaml", "cf31bfe26667114540e9c28a9f75a406ed35b77add22336b7497f2dc5cabfe54"} // printf 'a machine' | sha256sum
	if len(files) != 2 || files[1] != want {
		t.Errorf("inputs %+v", files)
	}
}

// A benchmark's own file begins at the experiment's folder too, and is one of
// the inputs: a change of it makes other results.
func TestWorkloadFilesAreInputs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "w.json"), []byte("a machine"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(smallExperiment, "while1 -n 3", "rt-app w.json", 1)
	if text == smallExperiment {
		t.Fatalf("no benchmark to replace in\n%s", smallExperiment)
	}
	x, err := Parse(filepath.Join(dir, "e.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := InputFile{"w.json", "cf31bfe26667114540e9c28a9f75a406ed35b77add22336b7497f2dc5cabfe54"} // printf 'a machine' | sha256sum
	if files := x.Inputs(); len(files) != 2 || files[1] != want {
		t.Errorf("inputs %+v", files)
	}
	plan, err := x.Plan(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plan.Cells[len(plan.Cells)-1].Command[1], filepath.Join(dir, "w.json"); got != want {
		t.Errorf("the cell reads %s, want %s", got, want)
	}
	if _, err := Parse(filepath.Join(dir, "e.yaml"), []byte(strings.Replace(text, "w.json", "v.json", 1))); err == nil || !strings.Contains(err.Error(), `"v.json" cannot be read`) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func TestAliases(t *testing.T) {
	plan := mustPlan(t, `
machine: m
kernel: k
variants:
  - {name: a, features: &f [NO_SIS_PROP]}
  - {name: b, features: *f}
benchmarks: [{name: x, run: hackbench}]
`, Options{})
	if diff := cmp.Diff([]string{"NO_SIS_PROP"}, plan.Cells[5].Features); diff != "" {
		t.Error(diff)
	}
}

func TestShippedExperiments(t *testing.T) {
	x, err := Load("../experiments/wake-affine.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := x.Plan(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Check(&fakeRunner{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range plan.Cells {
		if c.Variant == "WA_IDLE" && (c.Kernel != "v4.14" || cmp.Diff([]string{"NO_WA_WEIGHT", "NO_WA_BIAS"}, c.Features) != "") {
			t.Errorf("%s: kernel %s, features %v", c.Key, c.Kernel, c.Features)
		}
	}
}

// The experiment of 2013 has the document's rows, in both forms, and knows which
// figures belong to them.
func TestShippedMapExperiment(t *testing.T) {
	x, err := Load("../experiments/schedule-balance-map.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := x.Plan(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Check(Simulator{}); err != nil {
		t.Fatal(err)
	}
	if want := 2 * 24 * 3 * 3; len(plan.Cells) != want {
		t.Errorf("%d cells, want %d: two forms, 24 rows, three variants, three repeats", len(plan.Cells), want)
	}
	commands := map[string]string{}
	for _, c := range plan.Cells {
		commands[c.Benchmark+" "+c.Row] = strings.Join(c.Command, " ")
	}
	for row, want := range map[string]string{
		"pgbench 22 MB/1":                      "pgbench -S -T 60 -s 1 -c 1",
		"pgbench 15 GB/32":                     "pgbench -S -T 60 -s 1000 -c 32",
		"pgbench-thread-per-client 7484 MB/12": "pgbench -S -T 60 -s 500 -c 12 -j 12",
	} {
		if commands[row] != want {
			t.Errorf("%s runs %q, want %q", row, commands[row], want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(smallExperiment)
	f.Add("a: &a [*a]\nmachine: *a")
	f.Add("{machine: {x: [1, 2}, ? - ")
	f.Add("%YAML 1.2\n--- !!map\nmachine: |\n  x\n...\n")
	shipped, err := os.ReadFile("../experiments/wake-affine.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(shipped))
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Parse("fuzz.yaml", []byte(text))
		if err != nil {
			var request *RequestError
			if !errors.As(err, &request) {
				t.Fatalf("%T is no *RequestError: %v", err, err)
			}
			return
		}
		plan, err := x.Plan(Options{})
		if err != nil {
			return
		}
		for i := range plan.Cells {
			if c := &plan.Cells[i]; c.Machine == "" || c.Kernel == "" || len(c.Command) == 0 {
				t.Fatalf("accepted, but cell %+v is incomplete", c)
			}
		}
	})
}
