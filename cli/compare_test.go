package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/experiment"
)

// formulaRunner computes hackbench's time from the cell: 0.05 s a group and
// some noise by seed, better or worse by variant and row.
type formulaRunner struct {
	ran  atomic.Int64
	stop func(ran int64) // called before each cell; may be nil
}

func (f *formulaRunner) Check(c *experiment.Cell) error {
	for i, feature := range c.Features {
		if feature != "NO_WA_WEIGHT" && feature != "NO_WA_BIAS" {
			return &experiment.FieldError{Field: fmt.Sprintf("features[%d]", i), Err: fmt.Errorf("no feature %q in %s", feature, c.Kernel)}
		}
	}
	return nil
}

func (f *formulaRunner) Run(ctx context.Context, c *experiment.Cell) (*experiment.Outcome, error) {
	if ran := f.ran.Add(1); f.stop != nil {
		f.stop(ran)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if c.Variant == "stuck" && c.Row == "20" {
		return &experiment.Outcome{Failed: "not finished after 600 s of virtual time"}, nil
	}
	groups, err := strconv.ParseFloat(c.Row, 64)
	if err != nil {
		return nil, err
	}
	seconds := 0.05 * groups * (1 + 0.02*float64(c.Seed%1000)/1000)
	switch c.Variant {
	case "WA_WEIGHT":
		seconds *= 0.9
	case "slow":
		seconds *= 1.2
	}
	outcome := &experiment.Outcome{Samples: []experiment.Sample{
		{Statistic: "Amean", Unit: "seconds", Better: "lower", Value: seconds},
		{Statistic: "Ops", Label: "migrations-" + c.Row, Unit: "count", Value: groups * 100},
	}}
	if c.Variant == "WA_WEIGHT" && c.Repeat == 2 {
		outcome.Warnings = []string{"3 work-conservation violations, the longest 4.1 ms"}
	}
	return outcome, nil
}

const experimentText = `machine: ivb-ep
kernel: v4.14
variants:
  - {name: pre, kernel: v4.14-numa}
  - {name: WA_IDLE, features: [NO_WA_WEIGHT, NO_WA_BIAS]}
  - {name: WA_WEIGHT}
benchmarks:
  - {name: hackbench-process-sockets, run: hackbench -P, rows: {-g: [4, 20]}}
repeats: 3
quick: {repeats: 2, rows: {-g: [4]}}
published:
  file: wake-affine.csv
  match:
    - benchmark: hackbench
      row: "20"
      beside: hackbench-process-sockets
      at: "20"
      variants: {NO_WA_WEIGHT: WA_IDLE}
      note: "form, loops and machine are not stated in the document"
`

// compareIn runs the command in a folder of its own with a cache of its own.
type compareIn struct {
	dir string
}

func inFolder(t *testing.T, text string) *compareIn {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Chdir(dir)
	if err := os.WriteFile("e.yaml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return &compareIn{dir}
}

func (c *compareIn) run(ctx context.Context, runner experiment.Runner, args ...string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	root := &cobra.Command{Use: "schedlab", SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newCompareCommand(runner))
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(append([]string{"compare"}, args...))
	err = root.ExecuteContext(ctx)
	return out.String(), errs.String(), err
}

func (c *compareIn) unfinished(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(c.dir, "cache", "schedlab", "unfinished", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(repository, "cli/testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (UPDATE_GOLDEN=1 accepts):\n%s", name, diff)
	}
}

// repository is where the tests began, before they change folder.
var repository = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return filepath.Dir(dir)
}()

func TestCompareText(t *testing.T) {
	c := inFolder(t, experimentText)
	stdout, stderr, err := c.run(context.Background(), &formulaRunner{}, "e.yaml")
	if err != nil || stderr != "" {
		t.Fatalf("%v, stderr %q", err, stderr)
	}
	golden(t, "compare.txt", stdout)
	if files := c.unfinished(t); len(files) != 0 {
		t.Errorf("a complete run leaves %v", files)
	}
}

func TestCompareFormats(t *testing.T) {
	c := inFolder(t, experimentText)
	for _, format := range []string{"csv", "json"} {
		stdout, stderr, err := c.run(context.Background(), &formulaRunner{}, "e.yaml", "--format", format, "--quick")
		if err != nil || stderr != "" {
			t.Fatalf("%v, stderr %q", err, stderr)
		}
		golden(t, "compare."+format, stdout)
	}
}

func TestCompareOutputDoesNotDependOnWorkers(t *testing.T) {
	c := inFolder(t, experimentText)
	var first string
	for _, workers := range []string{"1", "2", "7"} {
		if _, _, err := c.run(context.Background(), &formulaRunner{}, "e.yaml", "--workers", workers, "--out", "out"+workers); err != nil {
			t.Fatal(err)
		}
		all := everyFile(t, "out"+workers)
		for _, name := range []string{"cells.jsonl", "manifest.json", "report.html", "results.csv", "results.parquet", ".svg", ".png",
			"trace.txt.gz", "sis.csv"} {
			if !strings.Contains(all, name+"\n") {
				t.Fatalf("there is no file %s", name)
			}
		}
		if first == "" {
			first = all
		}
		if all != first {
			t.Errorf("--workers %s writes other bytes than --workers 1", workers)
		}
	}
}

// everyFile is all files below a folder, each its name on a line and its bytes.
func everyFile(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if len(data) == 0 {
			t.Errorf("%s is empty", path)
		}
		all.WriteString(strings.TrimPrefix(path, dir) + "\n")
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// A recording of the same cells is used again; one of other cells is made anew;
// what somebody else put there stays and is not shown.
func TestCompareUsesItsRecordingsOnly(t *testing.T) {
	c := inFolder(t, experimentText)
	run := func(seed string) {
		t.Helper()
		if _, _, err := c.run(context.Background(), &formulaRunner{}, "e.yaml", "--quick", "--out", "out", "--seed", seed); err != nil {
			t.Fatal(err)
		}
	}
	recordings := func() []string {
		t.Helper()
		names, err := filepath.Glob("out/traces/*/*/trace.txt.gz")
		if err != nil || len(names) == 0 {
			t.Fatalf("no recordings, %v", err)
		}
		return names
	}
	run("1")
	name := recordings()[0]
	if err := os.Chtimes(name, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	old := func() bool {
		info, err := os.Stat(name)
		return err == nil && info.ModTime().Unix() == 1
	}
	run("1")
	if !old() {
		t.Error("a recording of the same cell was made again")
	}
	run("2")
	if old() {
		t.Error("a recording of another seed was taken")
	}
	foreign := filepath.Dir(name)
	if err := errors.Join(os.RemoveAll(foreign), os.MkdirAll(foreign, 0o755), os.WriteFile(filepath.Join(foreign, "mine"), []byte("x"), 0o644)); err != nil {
		t.Fatal(err)
	}
	run("2")
	if entries, err := os.ReadDir(foreign); err != nil || len(entries) != 1 {
		t.Errorf("somebody else's folder has %d files now, %v", len(entries), err)
	}
}

func TestCompareContinuesAfterInterrupt(t *testing.T) {
	for _, args := range [][]string{{"e.yaml"}, {"e.yaml", "--out", "out"}} {
		c := inFolder(t, experimentText)
		ctx, cancel := context.WithCancel(context.Background())
		stdout, _, err := c.run(ctx, &formulaRunner{stop: func(ran int64) {
			if ran == 6 {
				cancel()
			}
		}}, append(args, "--workers", "1")...)
		if !errors.Is(err, context.Canceled) || stdout != "" {
			t.Fatalf("%v, stdout %q", err, stdout)
		}
		if want := "interrupted: 5 of 18 cells are finished and kept; the same command continues"; err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
		runner := &formulaRunner{}
		stdout, stderr, err := c.run(context.Background(), runner, args...)
		if err != nil || stderr != "schedlab: continuing: 5 finished cells at hand, 18 wanted\n" {
			t.Fatalf("%v, stderr %q", err, stderr)
		}
		if ran := runner.ran.Load(); ran != 13 {
			t.Errorf("%d cells ran", ran)
		}
		golden(t, "compare.txt", stdout)
	}
}

func TestCompareExitErrors(t *testing.T) {
	slow := strings.Replace(experimentText, "name: WA_WEIGHT", "name: slow", 1)
	stuck := strings.Replace(experimentText, "name: WA_WEIGHT", "name: stuck", 1)
	tests := []struct {
		name, text string
		args       []string
		code       int
		want       string
	}{
		{"regression", slow, []string{"--fail-on-regression"}, exitRegression, "significantly worse"},
		{"no regression", experimentText, []string{"--fail-on-regression"}, 0, ""},
		{"regression not asked for", slow, nil, 0, ""},
		{"failed cells", stuck, nil, exitFailed, "3 of 18 cells failed"},
		{"format", experimentText, []string{"--format", "xml"}, exitRequest, `--format is "xml"; choose text, json, csv`},
		{"workers", experimentText, []string{"--workers", "-1"}, exitRequest, "--workers is -1"},
		{"flag", experimentText, []string{"--wrokers", "1"}, exitRequest, `there is no flag --wrokers; did you mean "--workers"?`},
		{"seed", experimentText, []string{"--seed", "x"}, exitRequest, `--seed is "x"; it takes a whole number, 0 or more`},
		{"two files", experimentText, []string{"f.yaml"}, exitRequest, "schedlab compare takes one argument, an experiment file such as experiments/wake-affine.yaml; there are 2"},
		{"feature", strings.Replace(experimentText, "NO_WA_BIAS", "NO_WA_BAIS", 1), nil, exitRequest, `e.yaml:5:46: no feature "NO_WA_BAIS" in v4.14`},
		{"out is a file", experimentText, []string{"--out", "e.yaml"}, exitRequest, "--out: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := inFolder(t, tt.text)
			_, _, err := c.run(context.Background(), &formulaRunner{}, append([]string{"e.yaml"}, tt.args...)...)
			if exitCode(err) != tt.code || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%T %v", err, err)
			}
		})
	}
}

func TestCompareShowsFailures(t *testing.T) {
	c := inFolder(t, strings.Replace(experimentText, "name: WA_WEIGHT", "name: stuck", 1))
	stdout, _, err := c.run(context.Background(), &formulaRunner{}, "e.yaml")
	if !errors.Is(err, experiment.ErrFailedCells) {
		t.Fatal(err)
	}
	golden(t, "failed.txt", stdout)
}
