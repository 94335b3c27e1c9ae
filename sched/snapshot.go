package sched

import "github.com/schedlab/schedlab/machine"

// Snapshot is a copy of all counters at one moment. The difference of two is
// what happened between them.
type Snapshot struct {
	Now       int64 // ns
	Jiffies   int64
	NumCPUs   int           // CPU slots of the machine, offline ones included
	SchedIdle bool          // the kernel has the SCHED_IDLE balance type
	CPUs      []CPUSnapshot // one for each online CPU, in order
}

// CPUSnapshot is one CPU's part of a [Snapshot].
type CPUSnapshot struct {
	CPU     int
	LLC     int // first CPU of its last-level cache
	Stats   CPUStats
	Domains []DomainSnapshot // from the bottom up
}

// DomainSnapshot is what one CPU has counted in one of its domains.
type DomainSnapshot struct {
	Name       string
	Span       machine.CPUMask // shared with the scheduler; do not modify it
	Balance    BalanceStats
	WakeRemote int64 // wakeups placed on another CPU, the domain being the lowest that holds both
	MoveAffine int64 // wake_affine decisions for the waker's CPU in this domain
}

// Snapshot copies all counters as they are at a moment.
func (s *Scheduler) Snapshot(now int64) *Snapshot {
	s.setNow(now)
	snap := &Snapshot{Now: s.now, Jiffies: s.jiffies, NumCPUs: len(s.rqs), SchedIdle: s.variants.pull != nil}
	for cpu := s.online.First(); cpu >= 0; cpu = s.online.Next(cpu + 1) {
		rq := &s.rqs[cpu]
		c := CPUSnapshot{CPU: cpu, LLC: int(rq.llcID), Stats: rq.stats}
		for d := rq.sd; d != nil; d = d.Parent {
			c.Domains = append(c.Domains, DomainSnapshot{
				Name: d.Name, Span: d.Span, Balance: d.balanced, WakeRemote: d.wakeRemote, MoveAffine: d.moveAffine,
			})
		}
		snap.CPUs = append(snap.CPUs, c)
	}
	return snap
}
