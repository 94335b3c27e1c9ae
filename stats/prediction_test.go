package stats

import (
	"math"
	"testing"
)

// Ranks of 10 20 20 40 are 1 2.5 2.5 4, of 1 3 2 4 they are 1 3 2 4. Around the
// mean 2.5: products (-1.5)(-1.5) + 0(0.5) + 0(-0.5) + 1.5·1.5 = 4.5, squares
// 4.5 and 5, so r = 4.5/√22.5 = 0.9487.
func TestRankCorrelation(t *testing.T) {
	r, known := RankCorrelation([]float64{10, 20, 20, 40}, []float64{1, 3, 2, 4})
	if !known || math.Abs(r-0.9486832980505138) > 1e-12 {
		t.Errorf("got %v %v, want 0.9487", r, known)
	}
	if r, _ := RankCorrelation([]float64{1, 2, 3}, []float64{9, 5, 1}); r != -1 {
		t.Errorf("reversed order: %v, want -1", r)
	}
	for _, few := range [][]float64{{1, 2}, {3, 3, 3}} {
		if _, known := RankCorrelation(few, few); known {
			t.Errorf("%v has no rank correlation", few)
		}
	}
}

func TestMedian(t *testing.T) {
	if m := Median([]float64{3, 1, 2}); m != 2 {
		t.Errorf("odd: %v, want 2", m)
	}
	if m := Median([]float64{4, 1, 2, 3}); m != 2.5 {
		t.Errorf("even: %v, want 2.5", m)
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("nothing has no median")
	}
}

// Four rows, three of them starred. Simulated signs: right, wrong, right; the
// best single sign, +, is right in two of three. Ratios 2/4, -1/2, -3/-6: the
// median of 0.5, -0.5, 0.5 is 0.5.
func TestScorePredictions(t *testing.T) {
	cells := []PredictedCell{
		{"b", "quiet", "filter", "1", 4, 2, true},
		{"b", "quiet", "filter", "2", 2, -1, true},
		{"b", "quiet", "filter", "3", -6, -3, true},
		{"b", "quiet", "filter", "4", 1, 5, false},
		{"b", "noisy", "filter", "1", 1, 1, false},
	}
	scores := ScorePredictions(cells)
	if len(scores) != 2 {
		t.Fatalf("%d columns, want 2", len(scores))
	}
	s := scores[0]
	if s.Rows != 4 || s.Starred != 3 || s.RightSign != 2 || s.Trivial != 2 || s.MedianRatio != 0.5 {
		t.Errorf("got %+v", s)
	}
	// Ranks published 4 3 1 2, simulated 3 2 1 4: differences 1 1 0 -2, so
	// 1 - 6·6/(4·15) = 0.4.
	if !s.Ranked || math.Abs(s.Rank-0.4) > 1e-12 {
		t.Errorf("rank %v %v, want 0.4", s.Rank, s.Ranked)
	}
	if n := scores[1]; n.Starred != 0 || n.Ranked || !math.IsNaN(n.MedianRatio) {
		t.Errorf("without stars: %+v", n)
	}
}

// The published baseline is 10; simulated 8 is within 25 %, 20 is off by two.
func TestBaselineFits(t *testing.T) {
	var table Table
	for _, simulated := range []float64{8, 20} {
		row := NewRow("Amean", "1", "seconds", Lower, [][]float64{{simulated}, {simulated}})
		row.Attach(Beside{Unit: "seconds", Better: Lower, Figures: []Published{
			{Column: 0, Value: 10, Baseline: true}, {Column: 1, Value: 5, Delta: 50, HasDelta: true}}})
		table.Rows = append(table.Rows, row)
	}
	fits := BaselineFits([]Table{table})
	if len(fits) != 1 || fits[0].Rows != 2 || fits[0].Close != 1 || fits[0].Worst != 2 {
		t.Errorf("got %+v", fits)
	}
}

// In a document without marks +4 % and -3.1 % count and 3 % does not; in one with
// marks the star alone says so.
func TestWhatCountsWithoutStars(t *testing.T) {
	for _, c := range []struct {
		published         float64
		starred, unmarked bool
		want              bool
	}{
		{4, false, true, true}, {-3.1, false, true, true}, {3, false, true, false},
		{0.5, true, false, true}, {40, false, false, false},
	} {
		table := Table{Columns: []Column{{Variant: "base"}, {Variant: "patched"}}, Rows: []Row{{Statistic: "Amean", Better: Lower, Beside: []Beside{{
			Figures:    []Published{{Column: 1, Significant: c.starred, Unmarked: c.unmarked}},
			Agreements: []Agreement{{Column: 1, Published: c.published, Simulated: 1}},
		}}}}}
		cells := PredictedCells([]Table{table})
		if len(cells) != 1 || cells[0].Starred != c.want {
			t.Errorf("%+v: %+v", c, cells)
		}
	}
}
