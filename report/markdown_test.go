package report

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlab/schedlab/stats"
)

// Two rows over three variants. Row 4: 1.0 s to 0.8 s is +20 %, published +10 %
// with a star; its other published line is against the second column: 0.8 s to 1.2 s
// is -50 %, published +4 % for what is called WA_WEIGHT here.
func markdownTable() stats.Table {
	t := stats.Table{Machine: "ivb-ep", Benchmark: "hack|bench", Environment: "quiet",
		Columns: []stats.Column{{Variant: "pre", Kernel: "v4.14"}, {Variant: "WA_IDLE", Kernel: "v4.14"}, {Variant: "WA_WEIGHT", Kernel: "v4.14"}},
		Rows: []stats.Row{
			stats.NewRow("Amean", "4", "seconds", stats.Lower, [][]float64{{1, 1.02, 0.98}, {0.8, 0.82, 0.78}, {1.2, 1.22, 1.18}}),
			stats.NewRow("Amean", "20", "seconds", stats.Lower, [][]float64{{2}, nil, {2}}),
			stats.NewRow("Ops", "migrations", "count", stats.Neither, [][]float64{{7}, {8}, {}}),
		},
		Failures: []stats.Incident{{Row: "20", Variant: "WA_IDLE", Repeats: []int{1}, Text: "not finished"}},
		Notes:    []string{"a stretch of 400 ms stands for the rest"},
	}
	t.Rows[0].Attach(stats.Beside{Benchmark: "hack|bench", Environment: "quiet", Unit: "seconds", Better: stats.Lower, Figures: []stats.Published{
		{Column: 0, Variant: "pre", Value: 0.9, Baseline: true},
		{Column: 1, Variant: "WA_IDLE", Value: 0.81, Delta: 10, HasDelta: true, Significant: true}}})
	t.Rows[0].Attach(stats.Beside{Benchmark: "hackbench", Unit: "ms", Better: stats.Lower, Note: "form not stated", Figures: []stats.Published{
		{Column: 1, Variant: "NO_WA_WEIGHT", Value: 810, Baseline: true},
		{Column: 2, Variant: "WA_WEIGHT", Value: 777.6, Delta: 4, HasDelta: true}}})
	return t
}

func TestMarkdownTable(t *testing.T) {
	const want = `**hack\|bench on ivb-ep [quiet], kernel v4.14**, simulated / published

|  | pre | WA_IDLE | change, % | WA_WEIGHT | change, % |
|---|--:|--:|--:|--:|--:|
| Amean 4 | 1.0000 / 0.9000 | 0.8000 / 0.8100 | **+20.00** / **+10.00** | 1.2000 | **-20.00** |
| Amean 20 | 2.0000 | failed |  | 2.0000 | +0.00 |
| Ops migrations | 7.00 | 8.00 |  | - |  |

Published against WA_IDLE, simulated / published

|  | WA_IDLE | WA_WEIGHT | change, % |
|---|--:|--:|--:|
| Amean 4 | 0.8000 / 810.00 ms | 1.2000 / 777.60 ms | -50.00 / +4.00 |
`
	var out bytes.Buffer
	if err := Markdown(&out, []stats.Table{markdownTable()}, MarkdownOptions{}); err != nil {
		t.Fatal(err)
	}
	tables, remarks, _ := bytes.Cut(out.Bytes(), []byte("\n* "))
	if diff := cmp.Diff(want, string(tables)); diff != "" {
		t.Errorf("wanted (-) and written (+):\n%s", diff)
	}
	for _, line := range []string{
		`* hack\|bench on ivb-ep [quiet]: WA_WEIGHT is worse than pre: `,
		"* published as \"hackbench\", its NO_WA_WEIGHT is WA_IDLE here; form not stated\n",
		"* failed: row 20, WA_IDLE, repeat 1: not finished\n",
		"* note: a stretch of 400 ms stands for the rest\n",
	} {
		if !bytes.Contains(append([]byte("* "), remarks...), []byte(line)) {
			t.Errorf("no line %q in\n%s", line, remarks)
		}
	}
}

// Published with a star +10, simulated +20: right, ratio 2; without a mark +4,
// simulated -50: not counted, for the line has marks. The baselines 1.0 : 0.9 s
// is within 25 %; 0.8 s : 810 ms are of two units and not compared.
func TestMarkdownScore(t *testing.T) {
	const want = `Of the document's 1 significant changes (above 3 % where it marks none) 1 have the published sign here (100 %); a predictor that knows one sign per column has 1.

**Changes, simulated beside published**

|  | variant | right sign of starred | one sign for all | rank corr. | median ratio |
|---|--:|--:|--:|--:|--:|
| hack\|bench [quiet] | WA_IDLE | 1/1 100% | 1/1 100% | - | +2.00 |
| hack\|bench [quiet] | WA_WEIGHT | none | none | - | - |
| all |  | 1/1 100% | 1/1 100% | 0 of 0 | +2.00 |

**Baseline, simulated beside published**

|  | rows within 25 % | worst factor |
|---|--:|--:|
| hack\|bench [quiet] | 1 of 1 | 1.11 |

**The largest misses**

|  | row | variant | published | simulated |
|---|--:|--:|--:|--:|
| hack\|bench [quiet] | 4 | WA_WEIGHT | +4.00 % | -50.00 % |
| hack\|bench [quiet] | 4 | WA_IDLE | \*+10.00 % | +20.00 % |

`
	var out bytes.Buffer
	if err := MarkdownScore(&out, []stats.Table{markdownTable()}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("wanted (-) and written (+):\n%s", diff)
	}
}

// A document that was not run has its name and nothing else.
func TestMarkdownOverview(t *testing.T) {
	var out bytes.Buffer
	err := MarkdownOverview(&out, []DocumentScore{{"one", "whole", []stats.Table{markdownTable()}}, {"two", "not run", nil}})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| one | whole | 1/1 100% | 1/1 100% | 0 of 0 columns | +2.00 | 1 of 1 rows | 1.11 |\n",
		"| two | not run |  |  |  |  |  |  |\n",
	} {
		if !bytes.Contains(out.Bytes(), []byte(line)) {
			t.Errorf("no line %q in\n%s", line, out.String())
		}
	}
}
