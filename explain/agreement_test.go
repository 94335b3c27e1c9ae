package explain

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// explainAll explains every capture below a path.
func explainAll(t testing.TB, path string, workers int) *Result {
	t.Helper()
	result, err := explainPath(path, workers)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func explainPath(path string, workers int) (*Result, error) {
	dirs, err := Find(path)
	if err != nil {
		return nil, err
	}
	var bundles []*Bundle
	for _, dir := range dirs {
		b, err := Open(dir)
		if err != nil {
			return nil, err
		}
		bundles = append(bundles, b)
	}
	return RunAll(context.Background(), bundles, Options{}, workers)
}

// committed explains testdata once for all tests.
var committed = sync.OnceValue(func() *Result {
	result, err := explainPath("testdata", 2)
	if err != nil {
		panic(err)
	}
	return result
})

// floors are the lowest agreements, in percent, that may come out: those that
// were reached when this was written, rounded down. Raise them with the rules.
type floors struct {
	total, fork, exec, flips, recent, load, util, plain float64
	least                                               float64 // of any one capture
}

// committedFloors are for the beginnings of captures in testdata, where more
// of the state is unknown than in a long recording.
var committedFloors = map[string]floors{
	"5.10": {total: 99.4, fork: 97.9, exec: 100, flips: 100, recent: 100, load: 90.4, util: 69.9, plain: 90.4, least: 97.8},
	"6.1":  {total: 99.5, fork: 98, exec: 100, flips: 100, recent: 100, load: 80.8, util: 60.7, plain: 99.2, least: 98.6},
	"6.12": {total: 99, fork: 95, exec: 99.2, flips: 99.7, recent: 100, load: 79.3, util: 60, plain: 90.3, least: 94.2},
	"7.2":  {total: 98.9, fork: 94.1, exec: 100, flips: 99.8, recent: 100, load: 81.6, util: 54.7, plain: 93.4, least: 96.2},
}

func TestAgreementWithCommittedCaptures(t *testing.T) {
	checkFloors(t, committed(), committedFloors)
}

// sharedFloors are for the whole captures.
var sharedFloors = map[string]floors{
	"5.10": {total: 98.7, fork: 97.6, exec: 100, flips: 99.9, recent: 100, load: 81.6, util: 62.6, plain: 92.9, least: 97.1},
	"6.1":  {total: 99.5, fork: 97.7, exec: 99.8, flips: 100, recent: 99.9, load: 78.8, util: 59.8, plain: 98.8, least: 98.5},
	"6.12": {total: 99.2, fork: 97.5, exec: 99.7, flips: 99.8, recent: 99.9, load: 75.2, util: 58.5, plain: 90.7, least: 94.8},
	"7.2":  {total: 99.3, fork: 96.6, exec: 99.7, flips: 99, recent: 99.9, load: 71.9, util: 56.3, plain: 91.6, least: 96.9},
}

func TestAgreementWithSharedCaptures(t *testing.T) {
	result := sharedResult()
	if result == nil {
		t.Log("left out: neither $SCHEDLAB_SHARED nor ../shared holds captures")
		return
	}
	checkFloors(t, result, sharedFloors)
}

// sharedResult explains all captures once for all tests, where there are any.
var sharedResult = sync.OnceValue(func() *Result {
	path := sharedCaptures()
	if path == "" {
		return nil
	}
	result, err := explainPath(path, 2)
	if err != nil {
		panic(err)
	}
	return result
})

func sharedCaptures() string {
	for _, dir := range []string{os.Getenv("SCHEDLAB_SHARED"), filepath.Join("..", "..", "shared")} {
		path := filepath.Join(dir, "captures")
		if info, err := os.Stat(path); dir != "" && err == nil && info.IsDir() {
			return path
		}
	}
	return ""
}

func checkFloors(t *testing.T, result *Result, want map[string]floors) {
	t.Helper()
	kernels, sums := result.byKernel()
	if len(kernels) != len(want) {
		t.Fatalf("kernels %v, floors are for %d", kernels, len(want))
	}
	for _, k := range kernels {
		s, f := sums[k], want[k]
		atLeast(t, k+" total", s.all(), f.total)
		atLeast(t, k+" forks", s.byKind[1], f.fork)
		atLeast(t, k+" execs", s.byKind[2], f.exec)
		atLeast(t, k+" wakee_flips", s.hidden.Flips, f.flips)
		atLeast(t, k+" recent_used_cpu", s.hidden.Recent, f.recent)
		atLeast(t, k+" loads", s.hidden.Load, f.load)
		atLeast(t, k+" utilizations", s.hidden.Util, f.util)
		atLeast(t, k+" without hidden state", s.plain, f.plain)
		if prev, ours := float64(s.prev), float64(s.all().Agree); prev >= ours {
			t.Errorf("%s: staying on the previous CPU explains %.0f placements, the rules %.0f", k, prev, ours)
		}
	}
	for _, c := range result.Captures {
		atLeast(t, c.Bundle.Dir, c.Total(), want[c.Bundle.Kernel].least)
		if c.Unknown > 0 || c.Skipped > 0 {
			t.Errorf("%s: %d placements of unknown tasks, %d events skipped", c.Bundle.Dir, c.Unknown, c.Skipped)
		}
	}
}

func atLeast(t *testing.T, what string, c Count, percent float64) {
	t.Helper()
	if c.Decisions == 0 {
		t.Errorf("%s: nothing was decided", what)
	} else if got := 100 * c.Share(); got < percent {
		t.Errorf("%s: %.2f %% of %d, at least %.2f %% before", what, got, c.Decisions, percent)
	}
}

func TestRaceOnlyWherePlacementsOverlap(t *testing.T) {
	for _, c := range committed().Captures {
		for _, d := range c.Kept {
			if d.Cause == CauseRace && !d.Overlaps {
				t.Errorf("%s at %s: a race without overlap", c.Bundle.Dir, seconds(d.Time))
			}
			if d.Cause == CauseNone {
				t.Errorf("%s at %s: a disagreement without cause", c.Bundle.Dir, seconds(d.Time))
			}
		}
	}
}

func TestSameResultWithAnyNumberOfWorkers(t *testing.T) {
	var texts [2]bytes.Buffer
	for i := range texts {
		result := explainAll(t, filepath.Join("testdata", "6.1"), i+1)
		for _, write := range []func(*Result) error{
			func(r *Result) error { return r.WriteText(&texts[i]) },
			func(r *Result) error { return r.WriteJSON(&texts[i]) },
			func(r *Result) error { return r.WriteCSV(&texts[i]) },
			func(r *Result) error { return r.WriteDisagreementsText(&texts[i]) },
		} {
			if err := write(result); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !bytes.Equal(texts[0].Bytes(), texts[1].Bytes()) {
		t.Error("one and two workers give different results")
	}
}

// TestBaselinePrevIsCountedByHand counts the placements that stayed at prev in the
// trace's own text.
func TestBaselinePrevIsCountedByHand(t *testing.T) {
	dir := filepath.Join("testdata", "6.1", "forks")
	decisions, stayed := countPlacements(t, filepath.Join(dir, "trace.txt.gz"))
	c := explainAll(t, dir, 1).Captures[0]
	if c.Total().Decisions != decisions || c.Prev != stayed {
		t.Errorf("%d decisions, %d of them at prev; the text has %d and %d", c.Total().Decisions, c.Prev, decisions, stayed)
	}
}

func BenchmarkExplain(b *testing.B) {
	bundle, err := Open(filepath.Join("testdata", "6.1", "hb-pipe"))
	if err != nil {
		b.Fatal(err)
	}
	var events int64
	b.ReportAllocs()
	for b.Loop() {
		c, err := Run(context.Background(), bundle, Options{})
		if err != nil {
			b.Fatal(err)
		}
		events += c.Events
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
