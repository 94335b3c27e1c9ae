package stats

// PredictionTotal is the score of all columns together.
type PredictionTotal struct {
	Starred, RightSign, Trivial int
	Ranked, WellRanked          int // columns with a rank correlation; those where it is at least 0.5
	// MedianRatio is over all starred cells, NaN without any.
	MedianRatio float64
}

// wellRanked is from which rank correlation on a column counts as ranked right.
const wellRanked = 0.5

// TotalPrediction adds up the scores of all columns.
func TotalPrediction(cells []PredictedCell) PredictionTotal {
	var t PredictionTotal
	for _, s := range ScorePredictions(cells) {
		t.Starred, t.RightSign, t.Trivial = t.Starred+s.Starred, t.RightSign+s.RightSign, t.Trivial+s.Trivial
		if s.Ranked {
			t.Ranked++
		}
		if s.Ranked && s.Rank >= wellRanked {
			t.WellRanked++
		}
	}
	var ratios []float64
	for i := range cells {
		if c := &cells[i]; c.Starred {
			ratios = append(ratios, c.Simulated/c.Published)
		}
	}
	t.MedianRatio = Median(ratios)
	return t
}

// TotalFit is the fit of all tables together.
func TotalFit(fits []BaselineFit) BaselineFit {
	total := BaselineFit{}
	for i := range fits {
		total.Rows, total.Close = total.Rows+fits[i].Rows, total.Close+fits[i].Close
		total.Worst = max(total.Worst, fits[i].Worst)
	}
	return total
}

// StepTotal counts changes without a significance test.
type StepTotal struct {
	Steps, Within         int // all, and those within a factor of 2 of the document's
	Rows, Kept, Published int // all, and those whose order is kept, here and in the document
}

// TotalSteps counts over all rows.
func TotalSteps(rows []StepRow) StepTotal {
	t := StepTotal{Rows: len(rows)}
	for i := range rows {
		for _, s := range rows[i].Steps {
			t.Steps++
			if s.Ratio >= 0.5 && s.Ratio <= 2 {
				t.Within++
			}
		}
		if rows[i].Kept {
			t.Kept++
		}
		if rows[i].Published {
			t.Published++
		}
	}
	return t
}
