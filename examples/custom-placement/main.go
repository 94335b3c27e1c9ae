// Command custom-placement is schedlab with one more placement rule. It shows
// how to try an idea of your own: this file is all there is to it.
//
//	go run ./examples/custom-placement compare examples/custom-placement/experiment.yaml
package main

import (
	"os"

	"github.com/schedlab/schedlab/cli"
	"github.com/schedlab/schedlab/sched"
)

func init() {
	sched.RegisterPlacement("shortest-queue", func() sched.PlacementRule { return shortestQueue{} })
}

func main() { os.Exit(cli.Main(os.Args[1:])) }

// shortestQueue places a wakeup as the kernel does while the kernel finds an
// idle CPU. When it finds none, the kernel queues the task on the target of
// its search however long the queue there is; this rule takes the CPU of the
// same last-level cache with the fewest tasks.
type shortestQueue struct{}

// Place is asked for every wakeup, fork and exec.
func (shortestQueue) Place(s *sched.Scheduler, p *sched.Placement) int {
	kernels := s.KernelPlacement(p)
	if p.Kind != sched.KindWake || s.Idle(kernels) || !p.Task.AllowedOn(kernels) {
		return kernels
	}
	return shortest(s, p.Task, kernels)
}

// shortest returns the CPU with the fewest tasks among those that share a
// cache with home and that the task may use; home wins ties, then the lowest
// number.
func shortest(s *sched.Scheduler, t *sched.Task, home int) int {
	llc := cacheDomain(s, home)
	if llc == nil {
		return home
	}
	best, fewest := home, s.NrRunning(home)
	probes := int64(0)
	for cpu := llc.Span.First(); cpu >= 0; cpu = llc.Span.Next(cpu + 1) {
		if cpu == home || !t.AllowedOn(cpu) {
			continue
		}
		probes++
		if n := s.NrRunning(cpu); n < fewest {
			best, fewest = cpu, n
		}
	}
	s.AddWork(&sched.Work{Probes: probes}) // looking at a CPU costs time there too
	return best
}

// cacheDomain is the widest scheduling domain of cpu within its last-level
// cache, nil when it shares its cache with nobody.
func cacheDomain(s *sched.Scheduler, cpu int) *sched.Domain {
	var widest *sched.Domain
	for d := s.Domains(cpu); d != nil && d.Flags&sched.FlagShareLLC != 0; d = d.Parent {
		widest = d
	}
	return widest
}
