package stats

import "testing"

// Two columns. filter: starred 4 and -6, simulated 2 and 3, so one sign of two is
// right, either single sign has one, ratios 0.5 and -0.5; over its three rows the
// ranks 2 1 3 and 2 3 1 give 1 - 6·8/(3·8) = -1. balancer: ranks alike, one
// starred cell of ratio 2. All: 2 of 3, trivial 2, the median of -0.5, 0.5, 2.
func TestTotalPrediction(t *testing.T) {
	total := TotalPrediction([]PredictedCell{
		{"b", "quiet", "filter", "1", 4, 2, true},
		{"b", "quiet", "filter", "2", -6, 3, true},
		{"b", "quiet", "filter", "3", 5, 1, false},
		{"b", "quiet", "balancer", "1", 1, 2, true},
		{"b", "quiet", "balancer", "2", 2, 3, false},
		{"b", "quiet", "balancer", "3", 3, 4, false},
	})
	want := PredictionTotal{Starred: 3, RightSign: 2, Trivial: 2, Ranked: 2, WellRanked: 1, MedianRatio: 0.5}
	if total != want {
		t.Errorf("got %+v, want %+v", total, want)
	}
}

func TestTotalFit(t *testing.T) {
	total := TotalFit([]BaselineFit{{"a", "quiet", 4, 3, 1.3}, {"b", "quiet", 2, 2, 1.1}})
	if total.Rows != 6 || total.Close != 5 || total.Worst != 1.3 {
		t.Errorf("got %+v, want 5 of 6 and 1.3", total)
	}
}

func TestTotalSteps(t *testing.T) {
	total := TotalSteps([]StepRow{
		{Steps: []Step{{Ratio: 0.5}, {Ratio: 2.1}}, Kept: true, Published: true},
		{Steps: []Step{{Ratio: -1}}, Published: true},
	})
	if want := (StepTotal{Steps: 3, Within: 1, Rows: 2, Kept: 1, Published: 2}); total != want {
		t.Errorf("got %+v, want %+v", total, want)
	}
}
