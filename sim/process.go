package sim

import (
	"math/rand/v2"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// addressSpaces returns what the threads of each process share, by process,
// for those that have several. Kernel threads share nothing.
func addressSpaces(s *sched.Scheduler, tasks []workload.TaskSpec) map[int32]*sched.AddressSpace {
	threads := map[int32]int{}
	spaces := map[int32]*sched.AddressSpace{}
	for i := range tasks {
		if t := &tasks[i]; !t.Kernel {
			threads[t.Process]++
			if threads[t.Process] == 2 {
				spaces[t.Process] = s.NewAddressSpace()
			}
		}
	}
	return spaces
}

// newidleDice is the randomness of kernels whose newidle balancing rolls dice:
// a stream of its own, like those of the tasks and of the tie order.
func newidleDice(seed uint64) func() uint32 { return rand.New(rand.NewPCG(seed, 0)).Uint32 }
