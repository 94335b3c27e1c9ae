package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/experiments"
	"github.com/schedlab/schedlab/stats"
)

// anyRunner runs the cells of every document: a figure drawn from the cell's
// seed, a tenth better with WA_WEIGHT.
type anyRunner struct {
	ran  atomic.Int64
	stop func(ran int64) // called before each cell; may be nil
}

func (*anyRunner) Check(*experiment.Cell) error { return nil }

func (r *anyRunner) Run(ctx context.Context, c *experiment.Cell) (*experiment.Outcome, error) {
	if ran := r.ran.Add(1); r.stop != nil {
		r.stop(ran)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	value := 1 + float64(c.Seed%1000)/3000
	if c.Variant == "WA_WEIGHT" {
		value *= 1.1
	}
	return &experiment.Outcome{Samples: []experiment.Sample{{Statistic: "Hmean", Unit: "MB/s", Better: "higher", Value: value}}}, nil
}

func reproduceIn(t *testing.T, ctx context.Context, runner experiment.Runner, args ...string) (stdout string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	root := &cobra.Command{Use: "schedlab", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(newReproduceCommand(runner))
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(append([]string{"reproduce"}, args...))
	err = root.ExecuteContext(ctx)
	return out.String(), err
}

// inEmptyFolder moves the test and its cache into a folder of its own.
func inEmptyFolder(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Chdir(dir)
}

// All four parts are on one page with one score: the first column of each part's
// own benchmarks is there, and the summary once.
func TestWholeDocumentIsOnePage(t *testing.T) {
	inEmptyFolder(t)
	text, err := reproduceIn(t, t.Context(), &anyRunner{}, "--whole", "--quick", "--traces=false", "--out", "out", "wake-affine")
	if err != nil {
		t.Fatal(err)
	}
	for _, title := range []string{"hackbench-process-pipes on ivb-ep [quiet]", "tbench on ivb-ep [quiet]", "sysbench-psql on ivb-ep [quiet]", "lu.C-unbound on hsw-ex [quiet]"} {
		if !strings.Contains(text, "\n"+title) && !strings.HasPrefix(text, title) {
			t.Errorf("no table %q", title)
		}
	}
	if n := strings.Count(text, "How well is the published predicted?"); n != 1 {
		t.Errorf("%d summaries, want 1", n)
	}
	_, summary, _ := strings.Cut(text, "How well is the published predicted?")
	for _, benchmark := range []string{"tbench [quiet]", "sysbench-mysql [quiet]", "netperf TCP_RR [quiet]"} {
		if !strings.Contains(summary, benchmark) {
			t.Errorf("the summary lacks %s", benchmark)
		}
	}
	html, err := os.ReadFile(filepath.Join("out", "report.html"))
	if err != nil || !bytes.Contains(html, []byte("<title>wake-affine")) || !bytes.Contains(html, []byte("tbench")) || !bytes.Contains(html, []byte("lu.C-bound")) {
		t.Errorf("report.html is not of the whole document: %v", err)
	}
	manifest, err := os.ReadFile(filepath.Join("out", "manifest.json"))
	if err != nil || !bytes.Contains(manifest, []byte(`"--whole"`)) || !bytes.Contains(manifest, []byte(`"wake-affine-lu.yaml"`)) {
		t.Errorf("the manifest is not of the whole document: %v\n%.400s", err, manifest)
	}
}

// The tables of a run, and those that are rebuilt from its results.csv, are the
// same in every form: the published lines and the score are there again.
func TestResultsAreReadAgain(t *testing.T) {
	inEmptyFolder(t)
	if _, err := reproduceIn(t, t.Context(), &anyRunner{}, "--whole", "--quick", "--traces=false", "--out", "out", "sched-idle-balance"); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "csv", "json", "markdown"} {
		run, err := reproduceIn(t, t.Context(), &anyRunner{}, "--whole", "--quick", "--format", format, "sched-idle-balance")
		if err != nil {
			t.Fatal(err)
		}
		again, err := reproduceIn(t, t.Context(), &anyRunner{stop: func(int64) { t.Error("--from simulates") }}, "--whole", "--from", "out", "--format", format, "sched-idle-balance")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run, again); diff != "" {
			t.Errorf("%s: run (-) and read again (+):\n%s", format, diff)
		}
	}
}

// A whole document that is interrupted in its second part is continued: no cell
// runs twice.
func TestWholeDocumentIsContinued(t *testing.T) {
	inEmptyFolder(t)
	cells := map[string]int{}
	for _, part := range []string{"sched-idle-balance", "sched-idle-balance-net"} {
		name, text, err := experiments.File(part)
		if err != nil {
			t.Fatal(err)
		}
		x, err := experiment.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := x.Plan(experiment.Options{Quick: true})
		if err != nil {
			t.Fatal(err)
		}
		cells[part] = len(plan.Cells)
	}
	first, all := int64(cells["sched-idle-balance"]), int64(cells["sched-idle-balance"]+cells["sched-idle-balance-net"])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopped := &anyRunner{stop: func(ran int64) {
		if ran == first+11 {
			cancel()
		}
	}}
	args := []string{"--whole", "--quick", "--workers", "1", "sched-idle-balance"}
	_, err := reproduceIn(t, ctx, stopped, args...)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "sched-idle-balance-net: interrupted: 10 of ") {
		t.Fatalf("interrupted: %v", err)
	}
	rest := &anyRunner{}
	if _, err := reproduceIn(t, t.Context(), rest, args...); err != nil {
		t.Fatal(err)
	}
	if want := all - first - 10; rest.ran.Load() != want {
		t.Errorf("%d cells ran again or for the first time, want %d of %d", rest.ran.Load(), want, all)
	}
}

// A benchmark of one part leaves the others out; one of none is refused.
func TestWholeDocumentWithSomeBenchmarks(t *testing.T) {
	inEmptyFolder(t)
	text, err := reproduceIn(t, t.Context(), &anyRunner{}, "--whole", "--quick", "--benchmark", "tbench", "--format", "csv", "wake-affine")
	if err != nil {
		t.Fatal(err)
	}
	records, err := stats.ReadRecords("stdout", strings.NewReader(text))
	if err != nil || len(records) == 0 {
		t.Fatal(len(records), err)
	}
	for i := range records {
		if records[i].Benchmark != "tbench" {
			t.Errorf("there is %s", records[i].Benchmark)
		}
	}
	_, err = reproduceIn(t, t.Context(), &anyRunner{}, "--whole", "--benchmark", "tbanch", "wake-affine")
	if err == nil || !strings.Contains(err.Error(), `there is no benchmark "tbanch" in wake-affine, wake-affine-net, wake-affine-apps or wake-affine-lu; did you mean "tbench"?`) {
		t.Errorf("got %v", err)
	}
}

// Without --whole a document's name runs what it always did: its first part.
func TestDocumentNameIsItsFirstPart(t *testing.T) {
	inEmptyFolder(t)
	text, err := reproduceIn(t, t.Context(), &anyRunner{}, "--quick", "--format", "csv", "wake-affine")
	if err != nil || strings.Contains(text, "tbench") || !strings.Contains(text, "hackbench-process-pipes") {
		t.Errorf("%v\n%s", err, text)
	}
}
