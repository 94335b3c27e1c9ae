package cli

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/occupancy"
)

// What a recording shows is what the simulator counted beside it: the CPU time
// that was idle (here without the moments in which an idle CPU wakes up for a
// task), and what waiting tasks could have used of it, which the simulator
// samples at every jiffy.
func TestRecordingsShowWhatTheSimulatorCounted(t *testing.T) {
	cell := &experiment.Cell{Machine: "2n4c2t", Kernel: "v5.17", Preemption: experiment.DefaultPreemption, HZ: 1000, Seed: 1,
		Command: []string{"hackbench", "-p", "-g", "4", "-l", "200"}}
	s, err := experiment.NewSimulation(cell)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "recording")
	rec, err := beginTrace(s, dir)
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.finish(s, result, ""); err != nil {
		t.Fatal(err)
	}
	m, err := readOccupancy(dir)
	if err != nil {
		t.Fatal(err)
	}
	total := m.Total()
	idle, missed := float64(total.In[occupancy.Idle]), float64(total.Missed)
	if idle > float64(result.IdleNS) || idle < 0.9*float64(result.IdleNS) {
		t.Errorf("%v ns idle, the simulator counted %d", idle, result.IdleNS)
	}
	if math.Abs(missed-float64(result.UnconservedNS)) > 0.25*float64(result.UnconservedNS) {
		t.Errorf("%v ns beside waiting tasks, the simulator sampled %d", missed, result.UnconservedNS)
	}
}
