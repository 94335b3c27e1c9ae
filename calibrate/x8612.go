package calibrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/published"
	"github.com/schedlab/schedlab/workload"
)

// MapMachine is the machine of the document of January 2013.
const MapMachine = "x86-12"

// MapDocument is the published table that it is fitted to.
const MapDocument = "schedule-balance-map.csv"

// mapKernel is the unpatched kernel of that document.
const mapKernel = "v3.8"

// mapScales are the scales of its databases, by what it calls them: 15 MB a
// unit, and a catalogue of 6.
var mapScales = map[string]int{"22 MB": 1, "7484 MB": 500, "15 GB": 1000}

// mapKnobs are fitted for that machine. Ranges are those of
// ipc-and-benchmarks.md 6.8 and 7, where it has them. The cache refill is not
// among them: what one or two clients lose by it in this column they could as
// well lose by leaving idle states, and of the two only idle states are a
// matter of the machine's settings.
var mapKnobs = []Knob{
	{Parameter: "idle_states", Start: 3, Low: 2, High: 4},
	{Parameter: "idle_medium", Start: 5000, Low: 2000, High: 10000},
	{Parameter: "idle_deep", Start: 40000, Low: 20000, High: 130000},
	{Parameter: "pg_plan", With: []string{"pg_execute"}, Start: 25000, Low: 15000, High: 35000},
	{Parameter: "pgbench_reply", Start: 3500, Low: 2000, High: 8000},
	{Parameter: "pg_page_read", Start: 4500, Low: 2000, High: 6000},
	{Parameter: "smt_speed", Start: 640, Low: 614, High: 666},
	{Parameter: "wakeup", Start: 600, Low: 400, High: 1000},
	{Parameter: "unix_send", Start: 1000, Low: 500, High: 4000},
	{Parameter: "unix_recv", Start: 800, Low: 400, High: 2000},
	{Parameter: "pgbench_query", Start: 3000, Low: 1000, High: 5000},
	{Parameter: "pgbench_scan", Start: 15, Low: 5, High: 60},
	{Parameter: "select_fd", Start: 80, Low: 40, High: 200},
}

// MapKnobs returns what may be fitted for the machine of the document.
func MapKnobs() []Knob { return slices.Clone(mapKnobs) }

// MapFigures reads the document's baseline, each run simulated over the given
// stretch.
func MapFigures(stretch workload.Stretch) ([]Figure, error) {
	data, err := published.Table(MapDocument)
	if err != nil {
		return nil, err
	}
	measured, err := ReadBaseline(MapDocument, data)
	if err != nil {
		return nil, err
	}
	return mapFigures(measured, stretch)
}

func mapFigures(measured []Measurement, stretch workload.Stretch) ([]Figure, error) {
	var figures []Figure
	for _, m := range measured {
		size, clients, _ := strings.Cut(m.Row, "/")
		scale, known := mapScales[size]
		if !known {
			return nil, fmt.Errorf("%s: there is no scale for a database of %q", MapDocument, size)
		}
		figures = append(figures, Figure{
			Benchmark: m.Benchmark, Row: m.Row, Measured: m.Value, Unit: m.Unit, Fitted: !coldRow(scale, clients),
			Cell: experiment.Cell{Machine: MapMachine, Kernel: mapKernel, Preemption: experiment.DefaultPreemption,
				HZ: experiment.DefaultHZ, Seed: experiment.DefaultSeed, Stretch: stretch,
				Command: commandOf(fmt.Sprintf("pgbench -S -T 60 -s %d -c %s", scale, clients))},
		})
	}
	return figures, nil
}

// coldRow says that a figure is not fitted to: one client of a large database
// does a fifth less than half of what two do in the same column, where with the
// small one it does half. Those were the first runs after the database was made;
// probably not all of it was in memory yet, and disks are not simulated.
func coldRow(scale int, clients string) bool { return scale > 1 && clients == "1" }
