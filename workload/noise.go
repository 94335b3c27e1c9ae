package workload

import (
	"fmt"
	"math/rand/v2"
)

// Kernel-thread noise: each CPU has a thread of its own that wakes at random
// times and works a little, as kworkers do.
const (
	noiseMeanSleep = 50e6 // ns; drawn uniformly from zero to twice that
	noiseLeastWork = 10e3 // ns
	noiseMostWork  = 40e3 // ns
	noiseFootprint = 8 << 10
)

// AddNoise adds one kernel thread for each of the CPUs 0 to cpus-1, pinned
// there, in the background. The seed decides when each one first wakes; what
// follows it draws from its task's own random stream.
func AddNoise(s *Scenario, seed uint64, cpus int) {
	all := make([]int, cpus)
	for cpu := range all {
		all[cpu] = cpu
	}
	AddNoiseOn(s, seed, all)
}

// AddNoiseOn is [AddNoise] for a machine whose CPU numbers have gaps. A CPU's
// thread behaves the same whichever others are listed.
func AddNoiseOn(s *Scenario, seed uint64, cpus []int) {
	for _, cpu := range cpus {
		first := rand.New(rand.NewPCG(seed, uint64(cpu))).Int64N(2 * noiseMeanSleep)
		s.Programs = append(s.Programs, Program{
			{Op: OpSleep, N: first},
			{Op: OpRunRandom, N: noiseLeastWork, M: noiseMostWork},
			{Op: OpSleepRandom, N: 0, M: 2 * noiseMeanSleep},
			{Op: OpLoop, Target: 1, N: Forever},
		})
		s.Tasks = append(s.Tasks, TaskSpec{
			Name:       fmt.Sprintf("kworker/%d:0", cpu),
			Program:    int32(len(s.Programs) - 1),
			Process:    kernelProcess,
			Allowed:    []int{cpu},
			StartCPU:   cpu,
			Footprint:  noiseFootprint,
			Kernel:     true,
			Background: true,
		})
	}
}

// AddDeferrableNoiseOn is [AddNoiseOn] with deferrable work, as that of vmstat
// and of the slab caches is: an idle CPU sleeps on, and its thread works when
// the CPU has become busy for another reason.
func AddDeferrableNoiseOn(s *Scenario, seed uint64, cpus []int) {
	first := len(s.Tasks)
	AddNoiseOn(s, seed, cpus)
	for i := range s.Tasks[first:] {
		s.Tasks[first+i].Deferrable = true
	}
}

// kernelProcess is the process number of kernel threads: they share the
// kernel's address space, and no user task has it.
const kernelProcess = -1
