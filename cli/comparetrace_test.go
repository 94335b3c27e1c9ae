package cli

import (
	"testing"

	"github.com/schedlab/schedlab/stats"
)

// The largest difference is looked for among tested rows with figures, in
// either direction.
func TestLargestDifference(t *testing.T) {
	entry := func(delta float64) stats.Entry { return stats.Entry{Delta: delta} }
	table := stats.Table{Rows: []stats.Row{
		{Statistic: "Amean", Label: "1", Better: stats.Lower, Entries: []stats.Entry{{}, entry(3), entry(-8)}},
		{Statistic: "Amean", Label: "4", Better: stats.Lower, Entries: []stats.Entry{{}, entry(5), {Failed: true, Delta: 90}}},
		{Statistic: "Ops", Label: "SIS", Better: stats.Neither, Entries: []stats.Entry{{}, entry(70), entry(70)}},
		{Statistic: "Amean", Label: "7", Better: stats.Lower, Entries: []stats.Entry{{Failed: true}, entry(50), entry(50)}},
	}}
	row, column := largestDifference(&table)
	if row == nil || row.Label != "1" || column != 2 {
		t.Errorf("found %v, column %d; want row 1, column 2 (-8 %%)", row, column)
	}
	if row, _ := largestDifference(&stats.Table{Rows: table.Rows[2:]}); row != nil {
		t.Errorf("found row %s where no tested row has figures", row.Label)
	}
}
