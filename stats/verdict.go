package stats

import (
	"fmt"
	"math"
)

// Judgement is what a verdict comes to.
type Judgement string

// The judgements. A variant is better (worse) when every significant row says
// so and the geometric mean does not contradict. Untested is for statistics that
// have no significance test, Unknown for nothing to compare.
const (
	IsBetter     Judgement = "better"
	IsWorse      Judgement = "worse"
	IsMixed      Judgement = "mixed"
	NoDifference Judgement = "no difference"
	Untested     Judgement = "untested"
	Unknown      Judgement = "unknown"
)

// Verdict sums up one variant against the baseline over the rows of a table
// that carry a test (the others when none does).
type Verdict struct {
	Machine, Benchmark, Environment, Variant, Baseline string
	Judgement                                          Judgement
	Rows, Better, Worse                                int     // compared rows, and those with a positive or negative percentage
	SignificantBetter, SignificantWorse                int     // rows with stars
	Missing                                            int     // rows that failed
	Mean, Min, Max                                     float64 // percent; Mean is of the geometric mean of the rows' ratios
	Tested                                             bool    // some row has more than one sample on each side
}

// Verdicts judges every column but the baseline.
func (t *Table) Verdicts() []Verdict {
	var verdicts []Verdict
	for column := 1; column < len(t.Columns); column++ {
		verdicts = append(verdicts, t.verdict(column))
	}
	return verdicts
}

func (t *Table) verdict(column int) Verdict {
	v := Verdict{Machine: t.Machine, Benchmark: t.Benchmark, Environment: t.Environment,
		Variant: t.Columns[column].Variant, Baseline: t.Columns[0].Variant}
	logSum, allLower, marked := 0.0, true, false
	for _, row := range t.judgedRows() {
		entry := &row.Entries[column]
		if !entry.Compared() {
			if entry.Failed || row.Entries[0].Failed {
				v.Missing++
			}
			continue
		}
		v.count(row, entry)
		logSum += logGain(row.Better, row.Entries[0].Summary.Mean, entry.Summary.Mean)
		allLower = allLower && row.Better == Lower
		marked = marked || row.Tested()
	}
	if v.Rows > 0 {
		v.Mean = percentOfGain(logSum/float64(v.Rows), allLower)
	}
	v.Judgement = v.judge(marked)
	return v
}

// judgedRows are the rows with a test; when there is none, those with a
// direction.
func (t *Table) judgedRows() []*Row {
	var tested, directed []*Row
	for i := range t.Rows {
		row := &t.Rows[i]
		if row.Tested() {
			tested = append(tested, row)
		}
		if row.Better != Neither {
			directed = append(directed, row)
		}
	}
	if len(tested) > 0 {
		return tested
	}
	return directed
}

func (v *Verdict) count(row *Row, e *Entry) {
	if v.Rows == 0 || e.Delta < v.Min {
		v.Min = e.Delta
	}
	if v.Rows == 0 || e.Delta > v.Max {
		v.Max = e.Delta
	}
	v.Rows++
	switch {
	case e.Delta > 0:
		v.Better++
	case e.Delta < 0:
		v.Worse++
	}
	if row.Tested() && row.Entries[0].Summary.N > 1 && e.Summary.N > 1 {
		v.Tested = true
	}
	if e.Significant && e.Delta > 0 {
		v.SignificantBetter++
	}
	if e.Significant && e.Delta < 0 {
		v.SignificantWorse++
	}
}

// logGain is the logarithm of the factor by which the entry is better than the
// baseline, held within 1/10,000 and 10,000 so that a zero has a logarithm.
func logGain(better Direction, base, value float64) float64 {
	const limit = 1e4
	gain := value / base
	if better == Lower {
		gain = base / value
	}
	if math.IsNaN(gain) { // 0/0: equal
		gain = 1
	}
	return math.Log(min(max(gain, 1/limit), limit))
}

// percentOfGain is the percent column's reading of a mean logarithmic gain. For
// rows where lower is better that column counts from the other end (a tenth of
// the time is +90 %, ten times the throughput +900 %).
func percentOfGain(meanLog float64, lower bool) float64 {
	if lower {
		return 100 - float64(100*math.Exp(-meanLog))
	}
	return float64(100*math.Exp(meanLog)) - 100
}

func (v *Verdict) judge(marked bool) Judgement {
	switch {
	case v.Rows == 0:
		return Unknown
	case !marked:
		return Untested
	case v.SignificantBetter == 0 && v.SignificantWorse == 0:
		return NoDifference
	case v.SignificantWorse == 0 && v.Mean > 0:
		return IsBetter
	case v.SignificantBetter == 0 && v.Mean < 0:
		return IsWorse
	}
	return IsMixed
}

// String is the verdict in one line of plain words.
func (v *Verdict) String() string {
	where := fmt.Sprintf("%s on %s", v.Benchmark, v.Machine)
	if v.Environment != "" {
		where += " [" + v.Environment + "]"
	}
	return where + ": " + v.claim() + v.evidence() + v.caveat()
}

func (v *Verdict) claim() string {
	switch v.Judgement {
	case IsBetter, IsWorse:
		return fmt.Sprintf("%s is %s than %s", v.Variant, v.Judgement, v.Baseline)
	case IsMixed:
		return fmt.Sprintf("%s against %s is mixed", v.Variant, v.Baseline)
	case Untested:
		return fmt.Sprintf("%s against %s, without a significance test", v.Variant, v.Baseline)
	case NoDifference:
		return fmt.Sprintf("no significant difference between %s and %s", v.Variant, v.Baseline)
	}
	return fmt.Sprintf("%s and %s cannot be compared", v.Variant, v.Baseline)
}

func (v *Verdict) evidence() string {
	if v.Rows == 0 {
		return ""
	}
	span := fmt.Sprintf("geometric mean %+.2f %% (%+.2f to %+.2f)", v.Mean, v.Min, v.Max)
	switch v.Judgement {
	case IsBetter:
		return fmt.Sprintf(": %d of %s, %s, %d significant", v.Better, plural(v.Rows, "row"), span, v.SignificantBetter)
	case IsWorse:
		return fmt.Sprintf(": %d of %s, %s, %d significant", v.Worse, plural(v.Rows, "row"), span, v.SignificantWorse)
	case IsMixed:
		return fmt.Sprintf(": %d of %s better (%d significant), %d worse (%d significant), %s",
			v.Better, plural(v.Rows, "row"), v.SignificantBetter, v.Worse, v.SignificantWorse, span)
	}
	return fmt.Sprintf(": %d of %s better, %d worse, %s", v.Better, plural(v.Rows, "row"), v.Worse, span)
}

func (v *Verdict) caveat() string {
	text := ""
	if v.Missing > 0 {
		text += fmt.Sprintf("; %s failed", plural(v.Missing, "row"))
	}
	if v.Rows > 0 && !v.Tested {
		text += "; one sample each, so chance is not ruled out"
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
