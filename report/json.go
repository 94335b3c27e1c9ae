package report

import (
	"encoding/json"
	"io"
	"math"

	"github.com/schedlab/schedlab/stats"
)

// CSV writes the tables in the long form.
func CSV(w io.Writer, tables []stats.Table) error {
	return stats.WriteRecords(w, Records(tables))
}

// Records lists the tables in the long form.
func Records(tables []stats.Table) []stats.Record {
	var records []stats.Record
	for i := range tables {
		records = append(records, tables[i].Records()...)
	}
	return records
}

// The JSON form. Results have the columns of the long form as keys; empty
// columns are null.
type (
	jsonDocument struct {
		Results   []jsonResult    `json:"results"`
		Verdicts  []jsonVerdict   `json:"verdicts"`
		Published []jsonPublished `json:"published"`
		Failures  []jsonIncident  `json:"failures"`
		Warnings  []jsonIncident  `json:"warnings"`
		Notes     []jsonNote      `json:"notes"`
	}
	jsonResult struct {
		Source      string   `json:"source"`
		Benchmark   string   `json:"benchmark"`
		Environment string   `json:"environment"`
		Statistic   string   `json:"statistic"`
		Row         string   `json:"row"`
		Variant     string   `json:"variant"`
		Unit        string   `json:"unit"`
		Better      string   `json:"better"`
		Value       *float64 `json:"value"`
		DeltaPct    *float64 `json:"delta_pct"`
		Significant *bool    `json:"significant"`
		N           int      `json:"n"`
		StdDev      *float64 `json:"stddev"`
		CILow       *float64 `json:"ci_low"`
		CIHigh      *float64 `json:"ci_high"`
		Machine     string   `json:"machine"`
		Kernel      string   `json:"kernel"`
	}
	jsonVerdict struct {
		Machine           string   `json:"machine"`
		Benchmark         string   `json:"benchmark"`
		Environment       string   `json:"environment"`
		Variant           string   `json:"variant"`
		Baseline          string   `json:"baseline"`
		Judgement         string   `json:"judgement"`
		Rows              int      `json:"rows"`
		Better            int      `json:"better"`
		Worse             int      `json:"worse"`
		SignificantBetter int      `json:"significant_better"`
		SignificantWorse  int      `json:"significant_worse"`
		Failed            int      `json:"failed"`
		Mean              *float64 `json:"geometric_mean_pct"`
		Min               *float64 `json:"min_pct"`
		Max               *float64 `json:"max_pct"`
		Text              string   `json:"text"`
	}
	jsonPublished struct {
		Machine     string            `json:"machine"`
		Benchmark   string            `json:"benchmark"`
		Environment string            `json:"environment"`
		Statistic   string            `json:"statistic"`
		Row         string            `json:"row"`
		Line        jsonPublishedLine `json:"line"`
		Agreements  []jsonAgreement   `json:"agreements"`
	}
	jsonPublishedLine struct {
		Source      string       `json:"source"`
		Benchmark   string       `json:"benchmark"`
		Environment string       `json:"environment"`
		Statistic   string       `json:"statistic"`
		Row         string       `json:"row"`
		Unit        string       `json:"unit"`
		Better      string       `json:"better"`
		Note        string       `json:"note"`
		Figures     []jsonFigure `json:"figures"`
	}
	jsonFigure struct {
		Variant   string   `json:"variant"`
		Beside    string   `json:"beside"`
		Value     float64  `json:"value"`
		DeltaPct  *float64 `json:"delta_pct"`
		StarGiven bool     `json:"significant"`
	}
	jsonAgreement struct {
		Variant       string  `json:"variant"`
		Against       string  `json:"against"`
		Published     float64 `json:"published_pct"`
		Simulated     float64 `json:"simulated_pct"`
		SameDirection bool    `json:"same_direction"`
	}
	jsonIncident struct {
		Machine     string `json:"machine"`
		Benchmark   string `json:"benchmark"`
		Environment string `json:"environment"`
		Row         string `json:"row"`
		Variant     string `json:"variant"`
		Repeats     []int  `json:"repeats"`
		Text        string `json:"text"`
	}
	jsonNote struct {
		Machine     string `json:"machine"`
		Benchmark   string `json:"benchmark"`
		Environment string `json:"environment"`
		Text        string `json:"text"`
	}
)

// JSON writes the tables as one object: the long form's lines, and everything
// the text form prints around them.
func JSON(w io.Writer, tables []stats.Table) error {
	doc := jsonDocument{Results: []jsonResult{}, Verdicts: []jsonVerdict{}, Published: []jsonPublished{},
		Failures: []jsonIncident{}, Warnings: []jsonIncident{}, Notes: []jsonNote{}}
	for i := range tables {
		doc.add(&tables[i])
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(doc)
}

func (d *jsonDocument) add(t *stats.Table) {
	for _, r := range t.Records() {
		d.Results = append(d.Results, jsonRecord(&r))
	}
	for _, v := range t.Verdicts() {
		d.Verdicts = append(d.Verdicts, jsonJudgement(&v))
	}
	for i := range t.Rows {
		for j := range t.Rows[i].Beside {
			d.Published = append(d.Published, jsonBeside(t, &t.Rows[i], &t.Rows[i].Beside[j]))
		}
	}
	for _, in := range t.Failures {
		d.Failures = append(d.Failures, jsonTrouble(t, &in))
	}
	for _, in := range t.Warnings {
		d.Warnings = append(d.Warnings, jsonTrouble(t, &in))
	}
	for _, n := range t.Notes {
		d.Notes = append(d.Notes, jsonNote{t.Machine, t.Benchmark, t.Environment, n})
	}
}

func jsonRecord(r *stats.Record) jsonResult {
	return jsonResult{r.Source, r.Benchmark, r.Environment, r.Statistic, r.Row, r.Variant, r.Unit, string(r.Better),
		r.Value, r.DeltaPct, r.Significant, r.N, r.StdDev, r.CILow, r.CIHigh, r.Machine, r.Kernel}
}

func jsonJudgement(v *stats.Verdict) jsonVerdict {
	j := jsonVerdict{Machine: v.Machine, Benchmark: v.Benchmark, Environment: v.Environment, Variant: v.Variant,
		Baseline: v.Baseline, Judgement: string(v.Judgement), Rows: v.Rows, Better: v.Better, Worse: v.Worse,
		SignificantBetter: v.SignificantBetter, SignificantWorse: v.SignificantWorse, Failed: v.Missing, Text: v.String()}
	if v.Rows > 0 {
		j.Mean, j.Min, j.Max = hundredths(v.Mean), hundredths(v.Min), hundredths(v.Max)
	}
	return j
}

// hundredths rounds a percentage as the text form does.
func hundredths(percent float64) *float64 {
	rounded := math.Round(percent*100) / 100
	return &rounded
}

func jsonBeside(t *stats.Table, row *stats.Row, b *stats.Beside) jsonPublished {
	p := jsonPublished{Machine: t.Machine, Benchmark: t.Benchmark, Environment: t.Environment,
		Statistic: row.Statistic, Row: row.Label, Agreements: []jsonAgreement{},
		Line: jsonPublishedLine{b.Source, b.Benchmark, b.Environment, b.Statistic, b.Label, b.Unit, string(b.Better), b.Note, nil}}
	for i := range b.Figures {
		f := &b.Figures[i]
		figure := jsonFigure{Variant: f.Variant, Beside: t.Columns[f.Column].Variant, Value: f.Value, StarGiven: f.Significant}
		if f.HasDelta {
			figure.DeltaPct = &f.Delta
		}
		p.Line.Figures = append(p.Line.Figures, figure)
	}
	for _, a := range b.Agreements {
		p.Agreements = append(p.Agreements, jsonAgreement{t.Columns[a.Column].Variant, t.Columns[a.Against].Variant,
			a.Published, *hundredths(a.Simulated), a.SameDirection()})
	}
	return p
}

func jsonTrouble(t *stats.Table, in *stats.Incident) jsonIncident {
	return jsonIncident{t.Machine, t.Benchmark, t.Environment, in.Row, in.Variant, in.Repeats, in.Text}
}
