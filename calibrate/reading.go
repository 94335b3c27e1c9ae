package calibrate

import (
	"fmt"

	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/stats"
	"github.com/schedlab/schedlab/workload"
)

// outcome is what one run came to.
type outcome struct {
	metrics  []workload.Metric
	sis      stats.SIS // over the whole run
	switches int64     // of context, to and from idle included
}

func outcomeOf(report *workload.Report, result *sim.Result) *outcome {
	counters := result.WholeCounters()
	return &outcome{metrics: report.Metrics, sis: stats.SISOf(&counters), switches: result.Switches}
}

// reading finds a figure in what a run came to.
type reading func(*outcome) (float64, error)

// metric reads what the benchmark reports under a label.
func metric(label string) reading {
	return func(o *outcome) (float64, error) {
		for _, m := range o.metrics {
			if m.Label == label {
				return m.Value, nil
			}
		}
		return 0, fmt.Errorf("the benchmark does not report %q", label)
	}
}

// firstMetric reads the benchmark's own figure.
func firstMetric(o *outcome) (float64, error) {
	if len(o.metrics) == 0 {
		return 0, fmt.Errorf("the benchmark reports nothing")
	}
	return o.metrics[0].Value, nil
}

// sisRatio reads a ratio of the idle search, percent.
func sisRatio(name string) reading {
	return func(o *outcome) (float64, error) {
		for _, r := range o.sis.Ratios() {
			if r.Name == name {
				return r.Value, nil
			}
		}
		return 0, fmt.Errorf("there is no ratio %q", name)
	}
}

// sisShortfall reads what a ratio of the idle search lacks to 100 percent.
func sisShortfall(name string) reading {
	return func(o *outcome) (float64, error) {
		value, err := sisRatio(name)(o)
		return 100 - value, err
	}
}

// contextSwitches reads how many there were.
func contextSwitches(o *outcome) (float64, error) { return float64(o.switches), nil }
