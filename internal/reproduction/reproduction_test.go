package reproduction

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/stats"
)

// The page is what its results make.
func TestPageIsUpToDate(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	var want bytes.Buffer
	if err := WritePage(&want, filepath.Join(docs, "reproduction")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(docs, "reproduction.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/reproduction.md is not what docs/reproduction makes; run go generate ./internal/reproduction")
	}
}

// tps is a result of pgbench in the experiment of 2013: the document has 10788
// transactions a second for prev with one client of 22 MB, and +0.86 % for post.
func tps(variant string, value float64) stats.Record {
	return stats.Record{Source: stats.SourceName, Benchmark: "pgbench", Environment: "quiet", Statistic: "tps", Row: "22 MB/1",
		Variant: variant, Unit: "transactions/s", Better: stats.Higher, Value: &value, N: 3, Machine: "x86-12", Kernel: "v3.8"}
}

func TestRebuildPutsThePublishedBeside(t *testing.T) {
	results, err := Rebuild([]string{"schedule-balance-map"}, []stats.Record{tps("prev", 10000), tps("post", 10100)})
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Tables) != 1 || len(results.Tables[0].Rows) != 1 || len(results.Tables[0].Rows[0].Beside) != 1 {
		t.Fatalf("got %+v", results.Tables)
	}
	beside := results.Tables[0].Rows[0].Beside[0]
	if len(beside.Agreements) != 1 {
		t.Fatalf("got %+v", beside)
	}
	if a := beside.Agreements[0]; beside.Figures[0].Value != 10788 || a.Published != 0.86 || a.Simulated != 1 {
		t.Errorf("got %+v, %+v; want 10788, +0.86 published, +1 simulated", beside.Figures[0], a)
	}
	var gaps []string
	for i := range results.NotRun {
		gaps = append(gaps, results.NotRun[i].String())
	}
	if want := []string{"of schedule-balance-map: pgbench-thread-per-client"}; !slices.Equal(gaps, want) {
		t.Errorf("not run: %q, want %q", gaps, want)
	}
}

func TestRebuildNamesPartsThatWereNotRun(t *testing.T) {
	results, err := Rebuild([]string{"wake-affine-lu", "sched-idle-balance-net"}, nil)
	if err != nil || len(results.NotRun) != 2 || results.NotRun[0].String() != "wake-affine-lu" || !results.NotRun[1].Whole {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestRebuildRefuses(t *testing.T) {
	elsewhere := tps("prev", 1)
	elsewhere.Machine = "ivb-ep"
	for _, c := range []struct {
		records []stats.Record
		part    string
		want    string
	}{
		{[]stats.Record{tps("prev", 1)}, "bandwidth-idle", `results of "pgbench" on x86-12 [quiet], which is not in bandwidth-idle`},
		{[]stats.Record{elsewhere}, "schedule-balance-map", `results of "pgbench" on ivb-ep [quiet], which is not in`},
		{[]stats.Record{tps("prev", 1), tps("pots", 1)}, "schedule-balance-map", `has a variant "pots", which schedule-balance-map.yaml has not; did you mean "post"?`},
		{[]stats.Record{tps("prev", 1), tps("prev", 2)}, "schedule-balance-map", "two figures of x86-12, pgbench, quiet, tps, 22 MB/1, prev"},
		{nil, "schedule-balance-mop", `there is no document "schedule-balance-mop"; did you mean "schedule-balance-map"?`},
	} {
		if _, err := Rebuild([]string{c.part}, c.records); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRuns(t *testing.T) {
	dir := t.TempDir()
	if runs, err := readRuns(dir); err != nil || runs != nil {
		t.Errorf("an empty folder: %v, %v", runs, err)
	}
	write(t, filepath.Join(dir, "a.csv"), "")
	if _, err := readRuns(dir); err == nil || !strings.Contains(err.Error(), "a.csv is not listed in runs.csv") {
		t.Errorf("unlisted results: %v", err)
	}
	write(t, filepath.Join(dir, "runs.csv"), "results,command,version\n")
	if _, err := readRuns(dir); err == nil || !strings.Contains(err.Error(), "runs.csv:1: the header is not") {
		t.Errorf("another header: %v", err)
	}
	write(t, filepath.Join(dir, "runs.csv"), "results,command,version,took\na.csv,schedlab reproduce --quick d,v1,5 s\nb.csv,schedlab reproduce d,v1,50 s\n")
	runs, err := readRuns(dir)
	if err != nil || len(runs) != 2 || runs[0].Rows() != "quick" || runs[1].Rows() != "full" {
		t.Errorf("got %+v, %v", runs, err)
	}
}
