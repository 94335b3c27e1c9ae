package sched

import "github.com/schedlab/schedlab/machine"

// placementScratch is what placement keeps between calls: tables derived from
// the machine when the scheduler is built, and buffers.
type placementScratch struct {
	request     Placement       // the placement in progress
	set         machine.CPUMask // CPUs left to visit in a search for an idle core
	filtered    machine.CPUMask // what a filter leaves of a search
	inInterrupt bool

	smt       bool         // some core has several threads [sched_smt_present]
	clusters  bool         // some domain is a cluster's [sched_cluster_active]
	mixed     bool         // CPUs differ in capacity [sched_asym_cpucapacity]
	coreWords [][]maskWord // core by CPU
	siblings  [][]int32    // SMT siblings by CPU, itself included, in order
	llcWords  [][]maskWord // span of the LLC domain by CPU
	areas     [][]scanArea // what to scan around a target, by CPU
	nodeOf    []int32      // index into machine.Nodes by CPU, -1 when offline
	idleTasks []Task       // what wakes when an interrupt does on an idle CPU
}

// initPlacement builds the tables. The domains must be there.
func (s *Scheduler) initPlacement() {
	n := len(s.rqs)
	sc := &s.scratch
	sc.set, sc.filtered = machine.NewCPUMask(n), machine.NewCPUMask(n)
	sc.siblings = make([][]int32, n)
	sc.coreWords = make([][]maskWord, n)
	sc.llcWords = make([][]maskWord, n)
	sc.areas = make([][]scanArea, n)
	sc.nodeOf = make([]int32, n)
	sc.idleTasks = make([]Task, n)
	boot := s.online.First()
	for cpu := range s.rqs {
		rq := &s.rqs[cpu]
		s.initIdleTask(cpu, cpu == boot)
		if !rq.online {
			sc.nodeOf[cpu] = -1
			continue
		}
		sc.nodeOf[cpu] = int32(s.machine.CPUs[cpu].Node)
		if first := s.cores[cpu].First(); first < cpu {
			sc.siblings[cpu], sc.coreWords[cpu] = sc.siblings[first], sc.coreWords[first]
		} else {
			sc.coreWords[cpu] = wordsOf(s.cores[cpu])
			sc.siblings[cpu] = cpuNumbers(s.cores[cpu])
		}
		sc.smt = sc.smt || len(sc.siblings[cpu]) > 1
		sc.mixed = sc.mixed || rq.capacityOrig != s.rqs[boot].capacityOrig
		if rq.llc == nil {
			continue
		}
		if first := int(rq.llcID); first < cpu {
			sc.llcWords[cpu] = sc.llcWords[first]
		} else {
			sc.llcWords[cpu] = wordsOf(rq.llc.Span)
		}
		s.initScanAreas(rq)
	}
}

// initIdleTask makes the idle task of a CPU as a waker. It keeps the load with
// which every new task starts, because nothing ever ages it; only the boot
// CPU's is not the child of another task and has none.
// [M: from the way idle tasks are forked; no recording contradicts it]
func (s *Scheduler) initIdleTask(cpu int, boot bool) {
	idle := &s.scratch.idleTasks[cpu]
	s.InitTask(idle, TaskSpec{CPU: cpu, Kthread: true})
	if boot {
		idle.se.avg.loadAvg = 0
	}
}

func cpuNumbers(m machine.CPUMask) []int32 {
	cpus := make([]int32, 0, m.Count())
	for cpu := m.First(); cpu >= 0; cpu = m.Next(cpu + 1) {
		cpus = append(cpus, int32(cpu))
	}
	return cpus
}
