package serve

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/bundle"
	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/sim"
	"github.com/schedlab/schedlab/trace"
)

// recorded runs hackbench and returns its recording, with what the simulator
// itself counted.
func recorded(t *testing.T) (*Recording, *sim.Result, *trace.Stats) {
	t.Helper()
	s, err := experiment.NewSimulation(&experiment.Cell{
		Seed: 7, Machine: "2n4c2t", Kernel: "v6.1", Preemption: "voluntary", TieBreak: "number", HZ: 250,
		Command: strings.Fields("hackbench -g 2 -l 100 -p -P"),
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	folder, err := bundle.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Record(folder.Trace())
	result, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.CloseTrace(); err != nil {
		t.Fatal(err)
	}
	reader, err := trace.Open(filepath.Join(dir, bundle.TraceFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }() // read only
	rec, err := Build(context.Background(), reader, DefaultLimits, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rec, result, reader.Stats()
}

// The simulator counts what the timeline shows, by other means.
func TestTimelineAgreesWithTheSimulator(t *testing.T) {
	rec, result, stats := recorded(t)
	if got, want := int64(len(rec.wakes)), result.Wakeups+stats.ByKind[trace.KindWakeupNew]; got != want {
		t.Errorf("%d wakeups are shown, the simulator made %d, forks included", got, want)
	}
	var busy int64
	for i := range rec.cpus {
		out := make([]summary, 1)
		rec.cpus[i].summarise(out, 0, maxLevel)
		busy += out[0].busy
	}
	if busy != result.BusyNS {
		t.Errorf("CPUs are shown busy for %d ns, the simulator counted %d", busy, result.BusyNS)
	}
	if rec.Span != result.End+1 { // the moment of the last event belongs to it
		t.Errorf("the timeline spans %d ns, the simulation took %d", rec.Span, result.End)
	}
}
