package cli

import (
	"fmt"

	"github.com/schedlab/schedlab/bundle"
	"github.com/schedlab/schedlab/experiment"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/sim"
)

// runTrace is the recording of a run; nil when none was asked for.
type runTrace struct {
	folder *bundle.Folder
	before *sched.Snapshot
}

// checkTrace refuses what would fail only after the run has begun.
func (r *runRequest) checkTrace() error {
	if r.trace == "" {
		return nil
	}
	if r.cell.Placement != "" {
		return fmt.Errorf("--trace cannot be had together with --placement: nobody could explain a rule that only this program knows")
	}
	if err := bundle.CheckEmpty(r.trace); err != nil {
		return fmt.Errorf("--trace %w", err)
	}
	return nil
}

// beginTrace records the simulation in a new folder; without one it does nothing.
func beginTrace(s *experiment.Simulation, dir string) (*runTrace, error) {
	if dir == "" {
		return nil, nil
	}
	folder, err := bundle.Create(dir)
	if err != nil {
		return nil, err
	}
	s.Record(folder.Trace())
	return &runTrace{folder: folder, before: s.Counters()}, nil
}

func (t *runTrace) abandon() {
	if t != nil {
		t.folder.Abandon()
	}
}

func (t *runTrace) finish(s *experiment.Simulation, result *sim.Result, output string) error {
	if t == nil {
		return nil
	}
	return t.folder.Finish(&bundle.Simulation{
		Config: s.Config(), Groups: s.Groups(), Output: output,
		Before: t.before, After: result.Counters[len(result.Counters)-1],
	})
}
