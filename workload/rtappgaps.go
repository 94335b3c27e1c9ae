package workload

import (
	"fmt"
	"slices"

	"github.com/schedlab/schedlab/rtapp"
)

// rtGaps collects what a file asks for and a simulation leaves out.
type rtGaps struct {
	file  *rtapp.File
	list  []string
	wakes map[string]bool // the names under which threads sleep until a resume
}

func (g *rtGaps) add(at rtapp.Pos, format string, args ...any) {
	g.list = append(g.list, g.file.At(at)+": "+fmt.Sprintf(format, args...))
}

// unsimulated names, in the order of the grammar, what is left out.
func unsimulated(file *rtapp.File) []string {
	g := &rtGaps{file: file, wakes: sleepers(file)}
	for _, r := range file.Remarks {
		g.add(r.Pos, "%s", r.Text)
	}
	g.global(&file.Global)
	for i := range file.Tasks {
		t := &file.Tasks[i]
		g.attributes(&t.Attributes, file.Global.DefaultPolicy, t)
		for j := range t.Phases {
			g.attributes(&t.Phases[j].Attributes, rtapp.Same, nil)
			g.events(t.Phases[j].Events)
		}
	}
	return g.list
}

func (g *rtGaps) global(global *rtapp.Global) {
	if global.Ftrace.Value != "" {
		g.add(global.Ftrace.Pos, "ftrace: no markers are written; --trace records what the scheduler does")
	}
	if global.Gnuplot.Value {
		g.add(global.Gnuplot.Pos, "gnuplot: its scripts are not written; the logs that they draw are")
	}
	if global.PIEnabled.Value {
		g.add(global.PIEnabled.Pos, "pi_enabled: mutexes are without priority inheritance")
	}
	if device := global.IODevice; device.Value != "/dev/null" && g.uses(rtapp.IORun) {
		g.add(device.Pos, "io_device: %q is written to as /dev/null is, which keeps nothing", device.Value)
	}
}

func (g *rtGaps) uses(kind rtapp.EventKind) bool {
	for i := range g.file.Tasks {
		for j := range g.file.Tasks[i].Phases {
			if slices.ContainsFunc(g.file.Tasks[i].Phases[j].Events, func(e rtapp.Event) bool { return e.Kind == kind }) {
				return true
			}
		}
	}
	return false
}

// attributes looks at a task, or with nil at a phase. The policy is the one
// that counts where none is given.
func (g *rtGaps) attributes(a *rtapp.Attributes, policy rtapp.Policy, task *rtapp.Task) {
	at := a.PolicyPos
	if a.Policy != rtapp.Same {
		policy = a.Policy
	} else if task != nil {
		at = task.Pos
	}
	if policy != rtapp.Same && !policy.Fair() {
		g.add(at, "%s: only the fair class is simulated; the thread runs as SCHED_OTHER with nice -20", policy)
	} else {
		g.slice(a)
	}
	for _, clamp := range a.UtilClamps {
		g.add(clamp.Pos, "%s: utilization clamping is not simulated", clamp.Value)
	}
	if a.NodesMembind.Value != nil {
		g.add(a.NodesMembind.Pos, "nodes_membind: memory has no place in the simulation")
	}
}

// slice looks at what asks for a slice in the fair class, which kernels do from
// v6.12 on.
func (g *rtGaps) slice(a *rtapp.Attributes) {
	if a.Slice.Value > 0 {
		g.add(a.Slice.Pos, "dl-runtime: a slice of one's own (v6.12 and later) is not simulated: virtual time is CFS")
	}
}

func (g *rtGaps) events(events []rtapp.Event) {
	for _, e := range events {
		if e.Kind == rtapp.Resume && !g.wakes[e.Ref] {
			g.add(e.Pos, "%s: no thread is ever suspended as %q, so this wakes nobody", e.Key, e.Ref)
		}
	}
}

// sleepers are the names under which a thread sleeps where a resume wakes it:
// suspended, or waiting for the condition of that name.
func sleepers(file *rtapp.File) map[string]bool {
	names := map[string]bool{}
	for i := range file.Tasks {
		for j := range file.Tasks[i].Phases {
			for _, e := range file.Tasks[i].Phases[j].Events {
				switch e.Kind {
				case rtapp.Suspend, rtapp.Wait, rtapp.Sync:
					names[e.Ref] = true
				}
			}
		}
	}
	return names
}
