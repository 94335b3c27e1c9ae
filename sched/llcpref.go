package sched

// Preferred caches (v7.2, mechanisms-modern.md 4.5): the threads of a process
// share data, so they should run below one last-level cache. Where a process
// has run most of late is its preferred cache; load balancing moves its threads
// there and keeps them there while that cache has room (llcbalance.go). Wakeup,
// fork and exec do not look at it.
//
// Only processes with several threads have a preference, and only as few as fit
// into the cache. NUMA balancing, which adds the size of a process's memory to
// this, is not modelled.

// What debugfs has under llc_balancing, at its defaults.
const (
	// epochTimeout is after how many epochs without a scan a preference is
	// forgotten.
	epochTimeout = 5
	// epochsPerSecond: an epoch takes HZ/100 jiffies.
	epochsPerSecond = 100
)

// noLLC is the preference of a task that has none.
const noLLC = -1

// AddressSpace is a process as the balancer of v7.2 sees it: what its threads
// share. It may be given to tasks on any kernel.
type AddressSpace struct {
	threads int32
	cpus    []spaceCPU // by CPU; nil where nobody asks
	epoch   int64      // of the last scan
	cpu     int32      // where it prefers to run, -1: nowhere
	// runningAvg is how many CPUs run its threads at once, on average.
	runningAvg int64
	nextScan   int64 // jiffies
}

// spaceCPU is how long a process has run on one CPU, halved every epoch.
type spaceCPU struct {
	runtime int64 // ns
	epoch   int64
}

// preferenceCPU is a CPU's part of it.
type preferenceCPU struct {
	runtime   int64 // ns that user tasks ran here, halved every epoch
	epoch     int64
	nextEpoch int64 // jiffies

	having    int32   // queued tasks that have a preference
	satisfied int32   // those that prefer this CPU's cache and are not delayed
	byLLC     []int32 // queued tasks by what they prefer; index from llcPreferences.index
}

// llcPreferences exists where the kernel has preferred caches and the machine
// several of them with more than one CPU.
type llcPreferences struct {
	period int64 // of an epoch, in jiffies
	cpus   []preferenceCPU
	index  []int32 // a dense number for every LLC, by its first CPU
	first  []int   // first CPUs of the LLCs, in order
}

// NewAddressSpace returns what the threads of a new process have in common;
// see [TaskSpec].
func (s *Scheduler) NewAddressSpace() *AddressSpace {
	space := &AddressSpace{cpu: noLLC}
	if s.llcs != nil {
		space.cpus = make([]spaceCPU, len(s.rqs))
	}
	return space
}

func (s *Scheduler) initPreferences() {
	if !s.profile.PreferredLLC || !s.hasLLCsToChoose() {
		return
	}
	l := &llcPreferences{
		period: max(1, s.hz/epochsPerSecond),
		cpus:   make([]preferenceCPU, len(s.rqs)), index: make([]int32, len(s.rqs)),
	}
	for cpu := s.online.First(); cpu >= 0; cpu = s.online.Next(cpu + 1) {
		if int(s.rqs[cpu].llcID) == cpu {
			l.index[cpu] = int32(len(l.first))
			l.first = append(l.first, cpu)
		}
	}
	for cpu := range l.cpus {
		l.cpus[cpu].byLLC = make([]int32, len(l.first))
	}
	s.llcs = l
}

// hasLLCsToChoose: some cache of several CPUs lies below a domain that spans
// more.
func (s *Scheduler) hasLLCsToChoose() bool {
	for cpu := range s.rqs {
		if llc := s.rqs[cpu].llc; llc != nil && llc.Parent != nil {
			return true
		}
	}
	return false
}

// chargeSpace accounts d ns of a running user task to its process and sees
// whether the preference still stands.
func (s *Scheduler) chargeSpace(rq *runqueue, t *Task, d int64) {
	if s.llcs == nil || t.kthread {
		return
	}
	space := t.space
	c, own := s.atCurrentEpoch(space, int(rq.cpu))
	c.runtime += d
	own.runtime += d
	if space.cpu != noLLC && (c.epoch-space.epoch > epochTimeout || s.tooManyThreads(space, int(space.cpu))) {
		space.cpu = noLLC
	}
	s.setPreference(rq, t, s.preferredBy(space))
}

// atCurrentEpoch halves what lies back, once for each epoch since.
func (s *Scheduler) atCurrentEpoch(space *AddressSpace, cpu int) (*preferenceCPU, *spaceCPU) {
	c, own := &s.llcs.cpus[cpu], &space.cpus[cpu]
	if late := s.jiffies - c.nextEpoch; late > 0 {
		n := (late + s.llcs.period - 1) / s.llcs.period
		c.epoch += n
		c.nextEpoch += n * s.llcs.period
		c.runtime >>= uint64(n)
	}
	own.runtime >>= uint64(c.epoch - own.epoch)
	own.epoch = c.epoch
	return c, own
}

// tooManyThreads reports whether a process is not worth gathering in the cache
// of a CPU: it has one thread, or so many running at once that they would use
// more than 4/5 of the cores.
func (s *Scheduler) tooManyThreads(space *AddressSpace, cpu int) bool {
	if space.threads <= 1 {
		return true
	}
	threadsPerCore := int64(len(s.scratch.siblings[cpu]))
	return space.runningAvg*threadsPerCore*1280 >= int64(s.rqs[cpu].llcSize)*capacityFull
}

func (s *Scheduler) preferredBy(space *AddressSpace) int32 {
	if space.cpu == noLLC {
		return noLLC
	}
	return s.rqs[space.cpu].llcID
}

// setPreference changes what a queued task prefers.
func (s *Scheduler) setPreference(rq *runqueue, t *Task, llc int32) {
	if t.preferredLLC == llc {
		return
	}
	if t.se.onRQ {
		s.countPreference(rq, t, -1)
	}
	t.preferredLLC = llc
	if t.se.onRQ {
		s.countPreference(rq, t, 1)
	}
}

// countPreference counts a task on a CPU's queue, or off it.
func (s *Scheduler) countPreference(rq *runqueue, t *Task, sign int32) {
	if s.llcs == nil || t.preferredLLC == noLLC {
		return
	}
	c := &s.llcs.cpus[rq.cpu]
	c.having += sign
	c.byLLC[s.llcs.index[t.preferredLLC]] += sign
	if t.preferredLLC == rq.llcID && !t.delayed {
		c.satisfied += sign
	}
}

// tickSpace lets one thread of a process per epoch look where the process runs.
func (s *Scheduler) tickSpace(rq *runqueue) {
	t := rq.curr
	if s.llcs == nil || t == nil || t.space == nil || t.kthread {
		return
	}
	space := t.space
	if c, _ := s.atCurrentEpoch(space, int(rq.cpu)); space.epoch < c.epoch {
		space.epoch = c.epoch
		s.scanSpace(rq, space)
	}
}

// scanSpace finds the cache below which a process has occupied its CPUs most.
// Another one than so far must be more than twice as good.
func (s *Scheduler) scanSpace(rq *runqueue, space *AddressSpace) {
	if s.jiffies < space.nextScan {
		return
	}
	space.nextScan = s.jiffies + s.llcs.period
	if s.tooManyThreads(space, int(rq.cpu)) {
		space.cpu = noLLC
		return
	}
	var best, current llcOccupancy
	running := int64(0)
	for _, first := range s.llcs.first {
		occ := s.occupancyOf(space, first)
		running += occ.running
		if occ.sum > best.sum {
			best = occ
		}
		if space.cpu != noLLC && s.rqs[space.cpu].llcID == int32(first) {
			current = occ
		}
	}
	if best.sum > 2*current.sum {
		space.cpu = int32(best.cpu)
	}
	space.runningAvg += (running - space.runningAvg) / min(8, max(2, int64(rq.llcSize)/4))
}

// llcOccupancy is what a process has of a cache.
type llcOccupancy struct {
	sum     int64 // of the shares of its CPUs, 2^20 = all of one
	cpu     int   // the CPU with the largest share
	running int64 // CPUs that run one of the threads now
}

func (s *Scheduler) occupancyOf(space *AddressSpace, first int) llcOccupancy {
	occ := llcOccupancy{cpu: first}
	largest := int64(-1)
	for cpu := first; cpu < len(s.rqs); cpu++ {
		rq := &s.rqs[cpu]
		if !rq.online || int(rq.llcID) != first {
			continue
		}
		c, own := s.atCurrentEpoch(space, cpu)
		share := own.runtime << 20 / (c.runtime + 1)
		occ.sum += share
		if share > largest {
			largest, occ.cpu = share, cpu
		}
		if rq.curr != nil && rq.curr.space == space {
			occ.running++
		}
	}
	return occ
}
