package stats

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/schedlab/schedlab/published"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestMeans(t *testing.T) {
	near(t, "Hmean{2,6}", Hmean([]float64{2, 6}), 3, 1e-12) // 2/(1/2+1/6) = 2/(4/6) = 3
	near(t, "Amean{2,6}", Amean([]float64{2, 6}), 4, 0)
	near(t, "Hmean{2,0}", Hmean([]float64{2, 0}), -1, 0) // a sample that is not positive
	near(t, "Hmean{-2,6}", Hmean([]float64{-2, 6}), -1, 0)
	near(t, "StdDev{2,6}", StdDev([]float64{2, 6}), math.Sqrt(8), 1e-12) // ((−2)²+2²)/(2−1)
	near(t, "StdDev{7}", StdDev([]float64{7}), 0, 0)
}

func TestIntervals(t *testing.T) {
	// t(0.975, df 2) = 4.302653; s = 0.2, n = 3: 4.302653*0.2/√3 = 0.496828
	got := AmeanInterval([]float64{9.8, 10, 10.2})
	near(t, "low", got.Low, 10-0.496828, 1e-5)
	near(t, "high", got.High, 10+0.496828, 1e-5)
	if AmeanInterval([]float64{3}).Known {
		t.Error("one sample has no interval")
	}
	// Reciprocals 0.48 0.5 0.52: mean 0.5, s 0.02, half 0.0496828.
	inverted := HmeanInterval([]float64{1 / 0.48, 2, 1 / 0.52})
	near(t, "Hmean low", inverted.Low, 1/0.5496828, 1e-5)
	near(t, "Hmean high", inverted.High, 1/0.4503172, 1e-5)
	if HmeanInterval([]float64{1, 100}).Known {
		t.Error("reciprocals that reach zero have no interval")
	}
}

// The specials and examples of mechanisms.md 13.2.
func TestPercentChange(t *testing.T) {
	tests := []struct {
		better      Direction
		base, value float64
		want        float64
	}{
		{Lower, 0.9253, 0.9320, -0.72},
		{Lower, 0.3077, 0.2523, 18.00},
		{Higher, 100, 110, 10},
		{Higher, 100, 90, -10},
		{Higher, 5, 5, 0}, {Lower, 5, 5, 0}, {Lower, 0, 0, 0}, {Higher, 0, 0, 0},
		{Higher, 5, 0, 0},
		{Higher, 0, 5, 100},
		{Lower, 5, 0, 100},
		{Lower, 0, 5, -99},
		{Neither, 5, 6, 0},
	}
	for _, tt := range tests {
		near(t, string(tt.better), PercentChange(tt.better, tt.base, tt.value), tt.want, 0.005)
	}
}

// spread gives three samples with the given mean and sample standard deviation.
func spread(mean, s float64) []float64 { return []float64{mean - s, mean, mean + s} }

// The examples of mechanisms.md 13.3.
func TestSignificance(t *testing.T) {
	summary := func(mean, s float64) Summary { return Summarize(StatisticAmean, spread(mean, s)) }
	near(t, "p of 0.2", PValue(summary(10, 0.2), summary(9.5, 0.2)), 0.038, 0.0005)
	near(t, "p of 0.3", PValue(summary(10, 0.3), summary(9.5, 0.3)), 0.111, 0.0005)
	if !Significant(summary(10, 0.2), summary(9.5, 0.2)) {
		t.Error("10±0.2 against 9.5±0.2 has a star")
	}
	if Significant(summary(10, 0.3), summary(9.5, 0.3)) {
		t.Error("10±0.3 against 9.5±0.3 has parentheses")
	}
	if Significant(summary(10, 0), summary(10, 0)) || !Significant(summary(10, 0), summary(10.0001, 0)) {
		t.Error("without spread a difference is significant and equality is not")
	}
}

// mechanisms.md 13.3: the level is 0.10. t(0.95, df 4) = 2.131847; 10 and 9.5 are that
// far apart, 0.5/√(2s²/3), for s = 0.287248.
func TestSignificanceLevel(t *testing.T) {
	summary := func(mean, s float64) Summary { return Summarize(StatisticAmean, spread(mean, s)) }
	near(t, "p at the level", PValue(summary(10, 0.287248), summary(9.5, 0.287248)), 0.10, 1e-5)
	if !Significant(summary(10, 0.2872), summary(9.5, 0.2872)) {
		t.Error("p just below 0.10 has a star")
	}
	if Significant(summary(10, 0.2873), summary(9.5, 0.2873)) {
		t.Error("p just above 0.10 has parentheses")
	}
	// The degrees of freedom are pooled, n1+n2-2, for unequal sizes too: 4 and 2
	// samples, means 11 and 9, s² = 8/3 and 2, se = √(8/3/4 + 2/2) = 1.290994, t =
	// 2/1.290994 = 1.549193, df 4: p = 0.1963.
	a, b := Summarize(StatisticAmean, []float64{9, 11, 11, 13}), Summarize(StatisticAmean, []float64{8, 10})
	near(t, "p of unequal sizes", PValue(a, b), 0.1963, 5e-5)
}

func TestSignificanceUsesTheHarmonicMean(t *testing.T) {
	a, b := Summarize(StatisticHmean, []float64{2, 6}), Summarize(StatisticHmean, []float64{4, 4})
	// Hmean 3 against 4, s = √8 and 0, se = √(8/2) = 2, t = 0.5, df 2: p = 0.6667
	near(t, "p", PValue(a, b), 2.0/3, 1e-4)
}

func TestPercentInterval(t *testing.T) {
	base, value := Summarize(StatisticAmean, spread(10, 0.2)), Summarize(StatisticAmean, spread(9.5, 0.2))
	// se = √(0.04/3·2) = 0.163299; t(0.975, df 4) = 2.776445; half = 0.453390 of 10 = 4.53390 %
	got := PercentInterval(Lower, base, value)
	near(t, "low", got.Low, 5-4.53390, 1e-4)
	near(t, "high", got.High, 5+4.53390, 1e-4)
}

// Every percentage of the published mmtests tables follows from its two printed
// means within what their rounding allows.
func TestPercentagesOfPublishedTables(t *testing.T) {
	checked := 0
	for _, name := range published.Names() {
		records := readPublished(t, name)
		bases := map[string]float64{}
		for _, r := range records {
			if r.DeltaPct == nil || r.Better == Neither || !IsMean(r.Statistic) {
				continue
			}
			key := strings.Join([]string{r.Benchmark, r.Environment, r.Statistic, r.Row}, "\x00")
			base, known := bases[key]
			if !known {
				bases[key] = *r.Value
				near(t, key, *r.DeltaPct, 0, 0)
				continue
			}
			half := 0.00005 // printed with four decimals or two
			if r.Better == Higher {
				half = 0.005
			}
			rounding := 0.005 + 100*half/base*(1+*r.Value/base)
			near(t, name+" "+r.Benchmark+" "+r.Environment+" "+r.Row+" "+r.Variant,
				PercentChange(r.Better, base, *r.Value), *r.DeltaPct, rounding*1.01)
			checked++
		}
	}
	// (360 Amean + 222 Hmean records) of three variants: two thirds are compared, 388; 24 tps and 18 transactions
	// of two variants; 3 runs of LU and one time of hackbench.
	if checked != 388+24+18+4 {
		t.Errorf("checked %d percentages", checked)
	}
}

func readPublished(t *testing.T, name string) []Record {
	t.Helper()
	data, err := published.Table(name)
	if err != nil {
		t.Fatal(err)
	}
	records, err := ReadRecords(name, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestPublishedTablesAreComplete(t *testing.T) {
	want := map[string]int{"bandwidth-idle.csv": 26, "sched-idle-balance.csv": 1068, "schedule-balance-map.csv": 48, "wake-affine.csv": 121}
	got := map[string]int{}
	for _, name := range published.Names() {
		got[name] = len(readPublished(t, name))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadRecordsErrors(t *testing.T) {
	header := strings.Join(publishedHeader, ",") + "\n"
	tests := []struct{ text, want string }{
		{"", "f.csv: no header line"},
		{"a,b\n", "f.csv:1: the header is not the long form's"},
		{header + "s,b,e,Amean,1,v,s,down,1,0,0\n", `f.csv:2: better is "down"; write lower, higher or nothing`},
		{header + "s,b,e,Amean,1,v,s,lower,x,0,0\n", `f.csv:2: value is "x"; write a number or nothing`},
		{header + "s,b,e,Amean,1,v,s,lower,1,0,yes\n", `f.csv:2: significant is "yes"; write 1, 0 or nothing`},
		{header + "s,b\n", "f.csv:2: 2 fields where the header has 11"},
	}
	for _, tt := range tests {
		_, err := ReadRecords("f.csv", strings.NewReader(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		float := rapid.Float64Range(-1e12, 1e12)
		text := rapid.StringMatching(`[a-zA-Z0-9 "(),/_-]{0,12}`)
		value, low := float.Draw(t, "value"), float.Draw(t, "low")
		significant := rapid.Bool().Draw(t, "significant")
		record := Record{Source: SourceName, Benchmark: text.Draw(t, "benchmark"), Row: text.Draw(t, "row"),
			Statistic: StatisticAmean, Better: Lower, Value: &value, CILow: &low, Significant: &significant, N: 3, Machine: "m"}
		var buffer bytes.Buffer
		if err := WriteRecords(&buffer, []Record{record}); err != nil {
			t.Fatal(err)
		}
		back, err := ReadRecords("buffer", &buffer)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Record{record}, back); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestFailuresHaveNoPercentage(t *testing.T) {
	row := NewRow(StatisticAmean, "1", "seconds", Lower, [][]float64{nil, {1, 2}, nil})
	table := Table{Columns: []Column{{Variant: "base"}, {Variant: "a"}, {Variant: "b"}}, Rows: []Row{row}}
	records := table.Records()
	if records[0].Value != nil || records[0].DeltaPct != nil || records[0].N != 0 {
		t.Errorf("a failed baseline has no figures: %+v", records[0])
	}
	if records[1].Value == nil || records[1].DeltaPct != nil || records[1].Significant != nil {
		t.Errorf("without a baseline there is a value and no percentage: %+v", records[1])
	}
	if v := table.Verdicts()[0]; v.Judgement != Unknown || v.Missing != 1 {
		t.Errorf("verdict %+v", v)
	}
}

func tableOf(statistic string, better Direction, rows ...[2][]float64) *Table {
	t := &Table{Machine: "m", Benchmark: "b", Environment: "quiet", Columns: []Column{{Variant: "old"}, {Variant: "new"}}}
	for _, r := range rows {
		t.Rows = append(t.Rows, NewRow(statistic, "1", "u", better, r[:]))
	}
	return t
}

func TestVerdicts(t *testing.T) {
	base := spread(10, 0.1)
	faster, slower, same := spread(8, 0.1), spread(13, 0.1), spread(10.01, 0.1)
	tests := []struct {
		table *Table
		want  string
	}{
		{tableOf("Amean", Lower, [2][]float64{base, faster}, [2][]float64{base, same}),
			// √(0.8·1.001) = 0.894874: +10.51 %
			"b on m [quiet]: new is better than old: 1 of 2 rows, geometric mean +10.51 % (-0.10 to +20.00), 1 significant"},
		{tableOf("Hmean", Higher, [2][]float64{{10, 10}, {8, 8}}),
			"b on m [quiet]: new is worse than old: 1 of 1 row, geometric mean -20.00 % (-20.00 to -20.00), 1 significant"},
		{tableOf("Amean", Lower, [2][]float64{base, faster}, [2][]float64{base, slower}),
			// √(0.8·1.3) = 1.0198: -1.98 %
			"b on m [quiet]: new against old is mixed: 1 of 2 rows better (1 significant), 1 worse (1 significant), geometric mean -1.98 % (-30.00 to +20.00)"},
		{tableOf("Amean", Lower, [2][]float64{base, same}),
			"b on m [quiet]: no significant difference between new and old: 0 of 1 row better, 1 worse, geometric mean -0.10 % (-0.10 to -0.10)"},
		{tableOf("Lat", Lower, [2][]float64{{10}, {9}}),
			"b on m [quiet]: new against old, without a significance test: 1 of 1 row better, 0 worse, geometric mean +10.00 % (+10.00 to +10.00); one sample each, so chance is not ruled out"},
		{tableOf("Amean", Lower, [2][]float64{base, nil}),
			"b on m [quiet]: new and old cannot be compared; 1 row failed"},
	}
	for _, tt := range tests {
		if got := tt.table.Verdicts()[0].String(); got != tt.want {
			t.Errorf("\n got %s\nwant %s", got, tt.want)
		}
	}
}

func TestRegressed(t *testing.T) {
	base := spread(10, 0.1)
	if tableOf("Amean", Lower, [2][]float64{base, spread(8, 0.1)}).Regressed() {
		t.Error("an improvement is no regression")
	}
	if tableOf("Amean", Lower, [2][]float64{base, spread(10.01, 0.1)}).Regressed() {
		t.Error("an insignificant loss is no regression")
	}
	if !tableOf("Amean", Lower, [2][]float64{base, spread(8, 0.1)}, [2][]float64{base, spread(11, 0.1)}).Regressed() {
		t.Error("a significant loss in one row is a regression")
	}
}

func TestAgreementIsAgainstTheDocumentsBaseline(t *testing.T) {
	row := NewRow("Amean", "20", "seconds", Lower, [][]float64{{8, 8}, {10, 10}, {9, 9}})
	row.Attach(Beside{Figures: []Published{
		{Column: 1, Value: 7.36, Baseline: true, HasDelta: true},
		{Column: 2, Value: 6.45, Delta: 12.39, HasDelta: true}}})
	got := row.Beside[0].Agreements
	want := []Agreement{{Column: 2, Against: 1, Published: 12.39, Simulated: 10}} // 100−100·9/10
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !got[0].SameDirection() {
		t.Error("12.39 and 10 agree")
	}
}
