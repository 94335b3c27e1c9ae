package sched

import (
	"fmt"

	"github.com/schedlab/schedlab/machine"
)

// Follower drives a [Scheduler] along what a real kernel did instead of letting
// it decide. The events of a recording tell which task runs where, which is
// queued, woken, moved or throttled; the follower repeats that on the model's
// own queues, so that everything a placement looks at (idle CPUs, load
// averages, wakee_flips, scan budgets, idle-core hints) is what the kernel had.
// At each decision of the kernel [Follower.Select] asks the model what it would
// have done; then the kernel's own choice is followed.
//
// What a recording does not show is emulated: the ticks of busy CPUs, the wake
// lists of remote wakeups, the decay of idle CPUs' load.
//
// Events may be incomplete or contradict the model. The newest event is right:
// a task that runs where the model has not queued it is moved there.
type Follower struct {
	s        *Scheduler
	manual   bool  // the driver calls Tick
	exact    bool  // see followexact.go
	nextTick int64 // ns
	tickNS   int64
	// offset is when jiffy 0 would have begun, in ns; known after SetJiffies.
	offset   int64
	offsetOK bool

	before  memory          // what Remember keeps
	clocks  []queueClock    // by CPU: see followclock.go
	ticked  []int64         // ns, by CPU: the last sign of a tick while it idled
	stamped machine.CPUMask // CPUs whose search for work has set their idle stamp
	hidden  []*Task         // runnable, but throttled: see hideRunnable
}

// followDriver ignores what the model wants: the kernel has decided already.
type followDriver struct{}

func (followDriver) Resched(int)        {}
func (followDriver) WakeIPI(int)        {}
func (followDriver) NohzKick(int)       {}
func (followDriver) StopperKick(int)    {}
func (followDriver) BalanceSoftirq(int) {}

// A recording tells what bandwidth control did (followthrottle.go).
func (followDriver) ArmTimer(int, int64, *Timer) {}
func (followDriver) UnthrottleIPI(int)           {}
func (followDriver) ThrottleWork(int)            {}

// A recording tells when tasks switch.
func (followDriver) ArmSliceEnd(int, int64) {}

// NewFollower builds the scheduler of a recorded machine: every CPU idle, every
// last-level cache with an idle core and the widest scan budget, as on a
// machine that has been idle for a while.
func NewFollower(cfg Config) (*Follower, error) {
	s, err := New(cfg, followDriver{})
	if err != nil {
		return nil, fmt.Errorf("following a recording: %w", err)
	}
	s.time = &cfsTime
	if s.profile.Balance.detach.keepsIneligible {
		s.time = &followedLag
	}
	f := &Follower{s: s, tickNS: 1_000_000_000 / s.hz, stamped: machine.NewCPUMask(len(s.rqs)), clocks: make([]queueClock, len(s.rqs)), ticked: make([]int64, len(s.rqs))}
	for cpu := range s.rqs {
		if shared := s.rqs[cpu].llcShared; shared != nil {
			shared.HasIdleCores = s.scratch.smt
			shared.NrIdleScan = s.rqs[cpu].llcSize
		}
	}
	return f, nil
}

// stillTicking is the idle stamp of a CPU of which nothing is known but that it
// has not stopped its tick; that of one that has is 0.
const stillTicking = 1

// idlesUnknown reports whether nothing has shown yet since when a CPU idles.
func (f *Follower) idlesUnknown(rq *runqueue) bool { return rq.idleStamp <= stillTicking }

// Scheduler returns the followed scheduler, for its exported questions.
func (f *Follower) Scheduler() *Scheduler { return f.s }

// Now returns the newest time in ns.
func (f *Follower) Now() int64 { return f.s.now }

// TickByHand leaves the ticks to the driver, which calls [Follower.Tick];
// otherwise every busy CPU ticks at each jiffy.
func (f *Follower) TickByHand() { f.manual = true }

// Advance moves time to now (ns of the recording's clock), running the ticks of
// busy CPUs on the way. Time does not run back: an older now counts as the
// newest.
func (f *Follower) Advance(now int64) {
	if f.manual {
		f.s.setNow(max(now, f.s.now))
		return
	}
	if f.nextTick == 0 {
		f.nextTick = f.JiffyAfter(now)
	}
	for f.nextTick <= now {
		f.s.setNow(max(f.nextTick, f.s.now))
		for cpu := range f.s.rqs {
			f.Tick(cpu)
		}
		f.nextTick += f.tickNS
	}
	f.s.setNow(max(now, f.s.now))
}

// At runs act at an earlier time than the newest: that at which a CPU read its
// clock before it came to record the event.
func (f *Follower) At(then int64, act func()) {
	newest := f.s.now
	if then < newest {
		f.s.now = then
	}
	act()
	f.s.now = newest
}

// JiffyAfter returns when the first jiffy behind t begins, in ns.
func (f *Follower) JiffyAfter(t int64) int64 {
	return t - floorMod(t-f.s.jiffyPhase, f.tickNS) + f.tickNS
}

// Tick follows the timer interrupt on a CPU: a busy one charges its running
// task and refreshes the averages of the queues above. Idle ones have stopped
// their tick.
func (f *Follower) Tick(cpu int) {
	s := f.s
	rq := &s.rqs[cpu]
	if rq.curr == nil {
		return
	}
	f.readClock(cpu)
	s.nohzExit(rq)
	if rq.curr.other {
		return
	}
	for se := &rq.curr.se; se != nil; se = se.parent {
		s.updateCurr(se.cfs)
		s.updateLoadAvg(se.cfs, se, updateGroupLoad)
		s.updateGroupWeight(se)
	}
}

// SetJiffies tells that the kernel's jiffies were j at now. Jiffies can lag
// behind time but never lead, so the observation with the smallest distance
// gives the moment when each of them begins.
func (f *Follower) SetJiffies(now, j int64) {
	s := f.s
	if offset := now - j*f.tickNS; !f.offsetOK || offset < f.offset {
		f.offset, f.offsetOK = offset, true
		s.jiffyPhase = floorMod(offset, f.tickNS)
		s.jiffyShift = (s.jiffyPhase - offset) / f.tickNS
		f.nextTick = f.JiffyAfter(s.now)
		s.jiffyEnd = 0
		s.setNow(s.now)
	}
	s.jiffies = j
}

func floorMod(a, m int64) int64 {
	if r := a % m; r >= 0 {
		return r
	} else {
		return r + m
	}
}
