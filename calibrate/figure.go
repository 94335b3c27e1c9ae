package calibrate

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/stats"
)

// Figure is something that was measured under an unpatched kernel, and the
// cell that simulates it. It has no place for a variant.
type Figure struct {
	Benchmark, Row string
	Shown          string  // what is compared, where that is not the row itself
	Measured       float64 // in the unit that the benchmark reports
	Unit           string
	Fitted         bool // the search may look at it; the others are predicted
	Cell           experiment.Cell
	read           reading // nil: the benchmark's first metric
}

// key tells simulations apart: figures of one key come from one run.
func (f *Figure) key() string {
	return fmt.Sprint(f.Cell.Machine, f.Cell.Kernel, f.Cell.Command, f.Cell.CPUs, f.Cell.Stretch)
}

// Measurement is one published figure of a baseline.
type Measurement struct {
	Benchmark, Statistic, Row, Unit string
	Value                           float64
}

// baselines are the columns that were measured without a patch, by table, and
// quiet is the environment without noise.
var baselines = map[string]string{Document: "vanilla", MapDocument: "prev"}

const quiet = "quiet"

// ReadBaseline reads a published table in the long form and keeps the quiet
// figures of its unpatched column. The others end here.
func ReadBaseline(name string, data []byte) ([]Measurement, error) {
	records, err := stats.ReadRecords(name, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	baseline, known := baselines[name]
	if !known {
		return nil, fmt.Errorf("which column of %s is its baseline is not known", name)
	}
	var kept []Measurement
	for i := range records {
		r := &records[i]
		if r.Variant == baseline && r.Environment == quiet && r.Value != nil {
			kept = append(kept, Measurement{r.Benchmark, r.Statistic, r.Row, r.Unit, *r.Value})
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%s has no quiet figures of a column %q", name, baseline)
	}
	return kept, nil
}

// Prediction is a figure beside what the simulation came to.
type Prediction struct {
	Figure    *Figure
	Simulated float64
}

// Ratio is simulated by measured.
func (p *Prediction) Ratio() float64 { return p.Simulated / p.Figure.Measured }

// badness is the square of the logarithm of the ratio: half and twice are
// equally wrong.
func (p *Prediction) badness() float64 {
	l := math.Log(p.Ratio())
	return float64(l * l) // the conversion forbids a fused multiply-add: same choice everywhere
}

// commandOf splits a command line without quotes.
func commandOf(line string) []string { return strings.Fields(line) }
