package stats

// Beside is a published line that belongs next to a simulated row.
type Beside struct {
	Source, Benchmark, Environment, Statistic, Label, Unit string
	Better                                                 Direction
	Note                                                   string // what the document leaves open
	Figures                                                []Published
	Agreements                                             []Agreement
}

// Published is one figure of a published line, under the column of the variant
// it stands for.
type Published struct {
	Column      int
	Variant     string // the document's own name
	Value       float64
	Delta       float64
	HasDelta    bool
	Baseline    bool // the document's percentages are against this figure
	Significant bool
	Unmarked    bool // the document marks no figure of this statistic as significant or not
}

// Agreement sets a published percentage against the simulated one of the same
// two variants, whatever the table's own baseline.
type Agreement struct {
	Column, Against      int
	Published, Simulated float64
}

// SameDirection says whether both percentages are on the same side of zero.
func (a *Agreement) SameDirection() bool {
	return (a.Published > 0) == (a.Simulated > 0) && (a.Published < 0) == (a.Simulated < 0)
}

// Attach puts a published line beside the row and works out the agreements.
func (r *Row) Attach(b Beside) {
	if base := baselineFigure(b.Figures); base != nil {
		for i := range b.Figures {
			if f := &b.Figures[i]; f != base && f.HasDelta {
				b.addAgreement(r, base, f)
			}
		}
	}
	r.Beside = append(r.Beside, b)
}

func (b *Beside) addAgreement(r *Row, base, f *Published) {
	from, to := &r.Entries[base.Column], &r.Entries[f.Column]
	if !from.HasValue() || !to.HasValue() {
		return
	}
	b.Agreements = append(b.Agreements, Agreement{
		Column: f.Column, Against: base.Column,
		Published: f.Delta,
		Simulated: PercentChange(r.Better, from.Summary.Mean, to.Summary.Mean),
	})
}

func baselineFigure(figures []Published) *Published {
	for i := range figures {
		if figures[i].Baseline {
			return &figures[i]
		}
	}
	return nil
}
