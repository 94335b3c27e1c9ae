package calibrate

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlab/schedlab/workload"
)

// The column prev has 24 rows; of those two, one client of a large database,
// are not fitted to.
func TestMapFigures(t *testing.T) {
	figures, err := MapFigures(workload.Stretch{Warmup: 1e6, Measure: 1e6})
	check(t, err)
	fitted := 0
	for i := range figures {
		if figures[i].Fitted {
			fitted++
		}
	}
	if len(figures) != 24 || fitted != 22 {
		t.Errorf("%d figures, %d of them fitted to; want 24 and 22", len(figures), fitted)
	}
	f := figures[15]
	if f.Row != "7484 MB/32" || f.Measured != 36413 || strings.Join(f.Cell.Command, " ") != "pgbench -S -T 60 -s 500 -c 32" {
		t.Errorf("figure 15 is %s, %v, %q: the document has 36413 for 7484 MB, which is scale 500, and 32 clients", f.Row, f.Measured, f.Cell.Command)
	}
	if _, err := mapFigures([]Measurement{{Row: "1 TB/4"}}, workload.Stretch{}); err == nil || !strings.Contains(err.Error(), `a database of "1 TB"`) {
		t.Errorf("an unknown size: %v", err)
	}
	if _, err := ReadBaseline("other.csv", tableNamed(t, MapDocument)); err == nil || !strings.Contains(err.Error(), "is not known") {
		t.Errorf("a table without a known baseline: %v", err)
	}
}

// smallMapCalibration fits two parameters to four rows.
func smallMapCalibration(t *testing.T, data []byte) (costFile, predictions string) {
	t.Helper()
	measured, err := ReadBaseline(MapDocument, data)
	check(t, err)
	all, err := mapFigures(measured, workload.Stretch{Warmup: 1e7, Measure: 1e7})
	check(t, err)
	figures := all[:4]
	base, err := BaseCosts()
	check(t, err)
	knobs := []Knob{
		{Parameter: "pg_plan", Start: 20000, Low: 10000, High: 40000},
		{Parameter: "pgbench_reply", Start: 5000, Low: 1000, High: 10000},
	}
	search := Search{Knobs: knobs, Figures: figures, Evaluations: 8, Workers: 1, Log: t.Logf}
	costs, err := search.Fit(context.Background(), base)
	check(t, err)
	text, err := CostFile("", costs, knobs, "test", "calibrated")
	check(t, err)
	found, err := Predict(context.Background(), costs, []*Figure{&figures[0], &figures[3]}, 1)
	check(t, err)
	var out strings.Builder
	check(t, Print(&out, found))
	return string(text), out.String()
}

// With every patched figure of the table replaced the costs stay the same, byte
// for byte; with a baseline figure replaced they do not.
func TestNoPatchedFigureReachesTheCostsOfTheMapsMachine(t *testing.T) {
	published := tableNamed(t, MapDocument)
	file, predicted := smallMapCalibration(t, published)
	otherFile, otherPredicted := smallMapCalibration(t, mutatedTable(t, published, "prev", 24))
	if diff := cmp.Diff(file, otherFile); diff != "" {
		t.Errorf("the cost file depends on a patched figure: %s", diff)
	}
	if diff := cmp.Diff(predicted, otherPredicted); diff != "" {
		t.Errorf("the predictions depend on a patched figure: %s", diff)
	}
	slower := strings.Replace(string(published), "22 MB/1,prev,transactions/s,higher,10788", "22 MB/1,prev,transactions/s,higher,5000", 1)
	if file2, _ := smallMapCalibration(t, []byte(slower)); file2 == file {
		t.Error("with half the baseline figure the same costs were found")
	}
}
