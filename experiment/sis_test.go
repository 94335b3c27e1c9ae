package experiment

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/published"
	"github.com/schedlab/schedlab/stats"
)

const sisExperiment = `machine: 2n4c2t
kernel: v5.17
variants: [{name: old}, {name: new}]
benchmarks: [{name: pipes, run: hackbench -p -l 10, rows: {-g: [1, 2]}}]
repeats: 2
`

// Row 1: 10 searches look at 100 CPUs; row 2: 90 at 300. Over the whole run
// that is 100 of 400, 25 %, and not the mean of 10 and 30.
func TestSISRatiosAreOfTheWholeRun(t *testing.T) {
	runner := &fakeRunner{run: func(_ context.Context, c *Cell) (*Outcome, error) {
		o := fakeOutcome(c)
		o.SIS = &stats.SIS{Search: 10, DomainSearch: 10, Scanned: 100}
		if c.Row == "2" {
			o.SIS = &stats.SIS{Search: 90, DomainSearch: 90, Scanned: 300}
		}
		return o, nil
	}}
	tables := mustExecute(t, mustPlan(t, sisExperiment, Options{}), runner, RunOptions{}).Tables()
	found := 0
	for _, row := range tables[0].Rows {
		if row.Statistic != "Ops" || row.Label != "SIS Search Efficiency" {
			continue
		}
		found++
		for _, e := range row.Entries {
			if e.Summary.Mean != 25 || e.Summary.N != 2 {
				t.Errorf("efficiency %v of %d repeats, want 25 of 2", e.Summary.Mean, e.Summary.N)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d rows of the search efficiency, want 1 for the whole run", found)
	}
}

// What is printed beside the results is not known to what is simulated: with
// every published figure another one the cells and their outcomes are the same.
func TestPublishedFiguresDoNotReachTheCells(t *testing.T) {
	data, err := published.Table("sched-idle-balance.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for i := range lines[1:] {
		fields := strings.Split(lines[i+1], ",")
		if fields[5] != "vanilla" {
			fields[8] = "12345"
		}
		lines[i+1] = strings.Join(fields, ",")
	}
	var shown [2]string
	for i, text := range []string{string(data), strings.Join(lines, "\n") + "\n"} {
		shown[i] = outcomesBeside(t, text)
	}
	if shown[0] != shown[1] {
		t.Errorf("outcomes depend on a published figure:\n%s\n%s", shown[0], shown[1])
	}
}

func outcomesBeside(t *testing.T, table string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "table.csv"), []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	x, err := Parse(filepath.Join(folder, "x.yaml"), []byte(`machine: xeon-8260
kernel: v5.17-tip
variants: [{name: vanilla}, {name: filter, features: [SIS_FILTER]}]
benchmarks: [{name: hackbench-process-pipes, run: hackbench -P -p -l 20, rows: {-g: [1]}}]
repeats: 1
published: table.csv
`))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := x.Plan(Options{})
	if err != nil {
		t.Fatal(err)
	}
	results := mustExecute(t, plan, Simulator{}, RunOptions{Workers: 1})
	text := ""
	for i, o := range results.Outcomes {
		if o.Failed != "" {
			t.Fatal(o.Failed)
		}
		text += string(lineOf(&plan.Cells[i], o))
	}
	return text
}
