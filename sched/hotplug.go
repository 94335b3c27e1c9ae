package sched

import (
	"fmt"
	"slices"

	"github.com/schedlab/schedlab/machine"
)

// CPUs that go offline and come back while tasks run, as far as scheduling
// sees it: the tasks leave, the domains are built anew, and everything that is
// derived from them with them. Tunables that were scaled by the number of CPUs
// stay as they are.

// Offline takes a CPU away: its tasks, the running one too, move to CPUs that
// they may use, and all domains are built without it. The driver runs nothing
// on it and calls nothing for it until [Scheduler.Online]. It is an error if
// the CPU is not online or the only one, or if the kernel has preferred caches,
// of which tasks remember numbers.
func (s *Scheduler) Offline(now int64, cpu int) error {
	switch {
	case cpu < 0 || cpu >= len(s.rqs) || !s.online.Has(cpu):
		return fmt.Errorf("CPU %d cannot go offline: it is not online", cpu)
	case s.online.Count() == 1:
		return fmt.Errorf("CPU %d cannot go offline: it is the only one", cpu)
	case s.llcs != nil:
		return fmt.Errorf("CPU %d cannot go offline: with preferred caches (kernel %s) that is not modelled", cpu, s.profile.Name)
	}
	s.setNow(now)
	rq := &s.rqs[cpu]
	s.setOnline(cpu, false)
	s.freeLimited(rq)
	s.evacuate(rq)
	s.nohzExit(rq)
	rq.nohz.flags, rq.needResched, rq.activeBalance = 0, false, false
	s.idle.Clear(cpu)
	s.schedIdle.Clear(cpu)
	s.rebuildDomains()
	return nil
}

// Online brings a CPU back that [Scheduler.Offline] took. It is an error if the
// CPU is online, or was not when the scheduler was built.
func (s *Scheduler) Online(now int64, cpu int) error {
	switch {
	case cpu < 0 || cpu >= len(s.rqs) || s.machine.CPUs[cpu].Core < 0:
		return fmt.Errorf("CPU %d cannot go online: the machine does not have it", cpu)
	case s.online.Has(cpu):
		return fmt.Errorf("CPU %d cannot go online: it is online", cpu)
	}
	s.setNow(now)
	s.setOnline(cpu, true)
	s.limitQueues(&s.rqs[cpu])
	s.rebuildDomains()
	s.rqs[cpu].nextBalance = s.jiffies
	s.refreshIdle(&s.rqs[cpu])
	return nil
}

// setOnline changes what counts as online. Masks and machine are copied: tasks
// that may run anywhere, and whoever built the scheduler, hold the old ones.
func (s *Scheduler) setOnline(cpu int, online bool) {
	m := *s.machine
	m.CPUs, m.Nodes = slices.Clone(m.CPUs), slices.Clone(m.Nodes)
	s.rqs[cpu].online, m.CPUs[cpu].Online = online, online
	node := &m.Nodes[m.CPUs[cpu].Node]
	node.CPUs = withCPU(node.CPUs, cpu, online)
	s.online = withCPU(s.online, cpu, online)
	s.machine = &m
}

func withCPU(mask machine.CPUMask, cpu int, in bool) machine.CPUMask {
	mask = mask.Clone()
	if in {
		mask.Set(cpu)
	} else {
		mask.Clear(cpu)
	}
	return mask
}

// evacuate moves every task of a CPU, those on its wake list first, each to the
// CPU that it would fall back to.
func (s *Scheduler) evacuate(rq *runqueue) {
	if rq.wakePending {
		s.HandleWakeList(s.now, int(rq.cpu))
	}
	if rq.curr != nil {
		s.interruptCurrent(rq)
	}
	for rq.lruHead != nil {
		t := rq.lruHead
		s.moveQueued(rq, t, s.fallbackCPU(t))
	}
}

// rebuildDomains builds all domains anew, and the tables that are made from
// them. Nothing that the old domains had learned survives, nor does what their
// caches' records held.
func (s *Scheduler) rebuildDomains() {
	for cpu := range s.rqs {
		rq := &s.rqs[cpu]
		rq.sd, rq.llc, rq.numa, rq.llcShared, rq.sbm = nil, nil, nil, nil, nil
		rq.llcSize, rq.llcID, rq.clusterID = 1, int32(cpu), int32(cpu)
		rq.capacityOrig = s.fullCapacity(cpu)
		rq.capacity = rq.capacityOrig
	}
	s.buildCores()
	s.buildDomains()
	idle := s.scratch.idleTasks
	s.scratch = placementScratch{inInterrupt: s.scratch.inInterrupt}
	s.initPlacement()
	s.scratch.idleTasks = idle
	for cpu := s.nohz.idle.First(); cpu >= 0; cpu = s.nohz.idle.Next(cpu + 1) {
		s.setLLCBusy(&s.rqs[cpu], false)
	}
}
