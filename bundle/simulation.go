package bundle

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/schedlab/schedlab/report"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/sim"
)

// Simulation is what belongs to the trace of a simulated run.
type Simulation struct {
	Config sched.Config // as the run had it
	Groups []sim.Group
	// Before and After are the counters at both ends of the run.
	Before, After *sched.Snapshot
	Output        string // what the benchmark printed
}

// Finish completes the trace and writes the files beside it.
func (f *Folder) Finish(s *Simulation) error {
	if err := f.CloseTrace(); err != nil {
		return err
	}
	layout := schedstatLayout(s.Config.Profile.Name)
	files := []struct {
		name    string
		content func(io.Writer) error
	}{
		{MachineFile, func(w io.Writer) error { return WriteMachine(w, s.Config.Machine) }},
		{TunablesFile, s.writeTunables},
		{GroupsFile, s.writeGroups},
		{OutputFile, s.writeOutput},
		{BeforeFile, func(w io.Writer) error { return report.Schedstat(w, s.Before, layout) }},
		{AfterFile, func(w io.Writer) error { return report.Schedstat(w, s.After, layout) }},
	}
	for _, file := range files {
		if err := f.write(file.name, file.content); err != nil {
			return err
		}
	}
	return nil
}

// schedstatLayout is the layout of a kernel's /proc/schedstat.
func schedstatLayout(profile string) string {
	var major, minor int
	if _, err := fmt.Sscanf(profile, "v%d.%d", &major, &minor); err != nil {
		return "v15"
	}
	switch version := major*1000 + minor; {
	case version >= 6015:
		return "v17"
	case version >= 6009:
		return "v16"
	}
	return "v15"
}

// writeTunables writes features, tunables, the prices of scheduler work, and
// the version line, by which a reader knows that this is a simulation.
func (s *Simulation) writeTunables(out io.Writer) error {
	w := bufio.NewWriter(out)
	c := &s.Config
	on := c.Features.Names()
	for _, name := range c.Profile.Known.Names() {
		if !slices.Contains(on, name) {
			_, _ = w.WriteString("NO_")
		}
		_, _ = w.WriteString(name + " ")
	}
	_ = w.WriteByte('\n')
	c.EachTunable(func(name string, value int64) { _, _ = fmt.Fprintf(w, "%s: %d\n", name, value) })
	c.Prices.Each(func(name string, ns int64) { _, _ = fmt.Fprintf(w, "price_%s: %d\n", name, ns) })
	_, _ = fmt.Fprintf(w, "Linux version %s-schedlab profile=%s hz=%d\n", c.Profile.Name, c.Profile.Name, c.HZ)
	return w.Flush()
}

func (s *Simulation) writeGroups(out io.Writer) error {
	w := bufio.NewWriter(out)
	_, _ = fmt.Fprintln(w, "== / idle= weight= max= ")
	for _, g := range s.Groups {
		idle := 0
		if g.Idle {
			idle = 1
		}
		_, _ = fmt.Fprintf(w, "== %s idle=%d weight=%d max=%s \n", g.Path, idle, g.Weight, g.Limit.Max())
		if g.Limit.Quota != sched.Unlimited {
			_, _ = w.WriteString(g.CPUStat())
		}
	}
	return w.Flush()
}

func (s *Simulation) writeOutput(w io.Writer) error {
	_, err := io.WriteString(w, s.Output)
	return err
}
