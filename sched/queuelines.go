package sched

import (
	"math/bits"

	"github.com/schedlab/schedlab/machine"
)

// queueLines says who holds the cache lines of one run queue that a look at a
// busy CPU reads. From v5.4 on, idle_cpu and sched_idle_cpu read three of them:
// rq->curr, beside the clock; rq->nr_running, beside the lock; and the root
// queue's idle_h_nr_running, beside its other counters. Every wakeup, switch and
// tick of that CPU writes all three, so they move together here.
//
// A look takes a copy, and the CPU has to get its lines back before it can
// write them again. That is what a failing search costs others.
type queueLines struct {
	writer  int32           // core that wrote last
	read    bool            // by another core since then
	readers machine.CPUMask // those cores; left over from before while nobody has read
}

// initQueueLines prepares for counting; without a price for lines nobody
// counts them.
func (s *Scheduler) initQueueLines() {
	p := &s.prices
	if p.ProbeShared|p.ProbeModified|p.ProbeRemote|p.ProbeReturn == 0 {
		return
	}
	s.lines = make([]queueLines, len(s.rqs))
	for cpu := range s.lines {
		s.lines[cpu] = queueLines{writer: s.coreOf(cpu), readers: machine.NewCPUMask(len(s.rqs))}
	}
}

// coreOf names a CPU's core by its first CPU; siblings share its caches.
func (s *Scheduler) coreOf(cpu int) int32 { return int32(s.cores[cpu].First()) }

// lookAt counts that CPU by reads the run queue of another one.
func (s *Scheduler) lookAt(by, cpu int) {
	l, core := &s.lines[cpu], s.coreOf(by)
	switch {
	case core == l.writer, l.read && l.readers.Has(int(core)):
		return // in its own cache
	case s.rqs[by].llcID != s.rqs[cpu].llcID:
		s.work.ProbesRemote++
	case l.read:
		s.work.ProbesShared++
	default:
		s.work.ProbesModified++
	}
	if !l.read {
		clear(l.readers)
		l.read = true
	}
	l.readers.Set(int(core))
}

// writeQueue counts that CPU by has taken a run queue's lock and written its
// fields. What it costs to take them from the CPU that wrote them before is
// part of a wakeup and of a switch; what a look adds is that a CPU must
// get its own lines back.
func (s *Scheduler) writeQueue(by, cpu int) {
	if s.lines == nil {
		return
	}
	l, core := &s.lines[cpu], s.coreOf(by)
	if l.read && l.writer == core {
		s.work.ProbesReturned++
	}
	l.writer, l.read = core, false
}

// lookAtTested counts the looks of a scan that has tested so many CPUs of set
// around the target, from `from` on.
func (s *Scheduler) lookAtTested(by int, set machine.CPUMask, target, from, tested int) {
	for i := range s.scratch.areas[target] {
		for walk := wrapFrom(s.scratch.areas[target][i].words, from); walk.next(); {
			for testable := walk.bits & set[walk.index]; testable != 0; testable &= testable - 1 {
				if tested == 0 {
					return
				}
				tested--
				s.lookAt(by, walk.index<<6+bits.TrailingZeros64(testable))
			}
		}
	}
}
