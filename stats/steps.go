package stats

// Step is a published change without a significance test beside the simulated
// one.
type Step struct {
	PredictedCell
	// Ratio is the simulated change by the published one.
	Ratio float64
}

// StepRow is a row of such changes, in the order of the document's columns.
type StepRow struct {
	Steps []Step
	// Kept says whether no column is worse than the one before it, as the
	// document lists them, in what was simulated. Published says it of the
	// document.
	Kept, Published bool
}

// UntestedSteps lists the rows that have no test and stand beside a published
// line, in the order of the tables.
func UntestedSteps(tables []Table) []StepRow {
	var rows []StepRow
	for t := range tables {
		for r := range tables[t].Rows {
			row := &tables[t].Rows[r]
			for b := range row.Beside {
				if beside := &row.Beside[b]; !row.Tested() && len(beside.Agreements) > 0 {
					rows = append(rows, stepRow(&tables[t], row, beside))
				}
			}
		}
	}
	return rows
}

func stepRow(t *Table, row *Row, b *Beside) StepRow {
	s := StepRow{Kept: true, Published: true}
	published, simulated := 0.0, 0.0 // the baseline is its own
	for _, c := range predictedCells(t, row, b) {
		s.Published = s.Published && c.Published >= published
		s.Kept = s.Kept && c.Simulated >= simulated
		published, simulated = c.Published, c.Simulated
		s.Steps = append(s.Steps, Step{PredictedCell: c, Ratio: c.Simulated / c.Published})
	}
	return s
}
