package sched

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
)

const (
	microsecond = int64(1_000)
	millisecond = int64(1_000_000)
	second      = int64(1_000_000_000)
)

// requests is a driver that only takes note.
type requests struct {
	wakeIPI, nohzKick, stopper, softirq []bool
	unthrottle, work                    []bool
	timers                              []armedTimer // in the order of arming
	sliceEnd                            []int64      // by CPU; 0: none
}

// armedTimer is a timer of bandwidth control on its CPU.
type armedTimer struct {
	cpu int
	at  int64
	*Timer
}

func (r *requests) Resched(int)                   {}
func (r *requests) WakeIPI(cpu int)               { r.wakeIPI[cpu] = true }
func (r *requests) NohzKick(cpu int)              { r.nohzKick[cpu] = true }
func (r *requests) StopperKick(cpu int)           { r.stopper[cpu] = true }
func (r *requests) BalanceSoftirq(cpu int)        { r.softirq[cpu] = true }
func (r *requests) UnthrottleIPI(cpu int)         { r.unthrottle[cpu] = true }
func (r *requests) ThrottleWork(cpu int)          { r.work[cpu] = true }
func (r *requests) ArmSliceEnd(cpu int, at int64) { r.sliceEnd[cpu] = at }
func (r *requests) ArmTimer(cpu int, at int64, t *Timer) {
	r.timers = append(r.timers, armedTimer{cpu, at, t})
}

// takeDue returns the earliest timer that is due, and forgets it.
func (r *requests) takeDue(now int64) (armedTimer, bool) {
	due := -1
	for i, t := range r.timers {
		if t.at <= now && (due < 0 || t.at < r.timers[due].at) {
			due = i
		}
	}
	if due < 0 {
		return armedTimer{}, false
	}
	t := r.timers[due]
	r.timers = slices.Delete(r.timers, due, due+1)
	return t, true
}

// take returns a request and forgets it.
func take(flag *bool) bool {
	was := *flag
	*flag = false
	return was
}

// lab drives a scheduler in the plainest way there is: every request is
// honoured at once, nothing costs time, and ticks come at every jiffy.
type lab struct {
	*Scheduler
	asked requests
	clock int64
	jobs  []*job
	// switched, when set, hears of every change of a running task.
	switched func(cpu int, from, to *Task)
}

// job is a task that runs for burst, then sleeps for nap, and so on; a burst
// of 0 never ends.
type job struct {
	*Task
	burst, nap int64
	left       int64
	wakeAt     int64 // 0: not asleep
	wakes      int
}

// newLab builds a lab; each setting is a feature ("NO_BASE_SLICE") or a
// tunable ("latency_ns=24000000").
func newLab(t testing.TB, m *machine.Machine, kernel string, settings ...string) *lab {
	t.Helper()
	p, err := LookupProfile(kernel)
	if err != nil {
		t.Fatal(err)
	}
	cfg := NewConfig(m, p)
	for _, set := range settings {
		if err := applySetting(&cfg, set); err != nil {
			t.Fatal(err)
		}
	}
	l := &lab{asked: newRequests(m.NumCPUs())}
	if l.Scheduler, err = New(cfg, &l.asked); err != nil {
		t.Fatal(err)
	}
	return l
}

func newRequests(n int) requests {
	flags := func() []bool { return make([]bool, n) }
	return requests{
		wakeIPI: flags(), nohzKick: flags(), stopper: flags(), softirq: flags(),
		unthrottle: flags(), work: flags(), sliceEnd: make([]int64, n),
	}
}

func applySetting(cfg *Config, set string) error {
	name, number, isTunable := strings.Cut(set, "=")
	if !isTunable {
		return cfg.SetFeature(set)
	}
	v, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return err
	}
	if name == "hz" {
		cfg.HZ = v
		return nil
	}
	return cfg.SetTunable(name, v)
}

// eightWayTunables are the defaults of a machine with eight or more CPUs
// (f = 4), for labs with fewer.
var eightWayTunables = []string{"latency_ns=24000000", "min_granularity_ns=3000000", "wakeup_granularity_ns=4000000"}

// uniprocessor is a machine with one CPU.
func uniprocessor() *machine.Machine {
	return machineSpec{nodes: 1, llcs: 1, cores: 1, threads: 1}.build()
}

// add makes a job of a new task and starts it.
func (l *lab) add(spec TaskSpec, cpu int, burst, nap int64) *job {
	spec.ID, spec.CPU = int32(len(l.jobs)), cpu
	j := &job{Task: l.NewTask(spec), burst: burst, nap: nap, left: burst}
	l.jobs = append(l.jobs, j)
	l.Start(l.clock, j.Task, cpu)
	return j
}

// hog adds a task that never sleeps.
func (l *lab) hog(spec TaskSpec, cpu int) *Task { return l.add(spec, cpu, 0, 0).Task }

// advance lets d nanoseconds pass.
func (l *lab) advance(d int64) {
	end := l.clock + d
	l.settle()
	for {
		next := l.nextEvent()
		if next > end {
			break
		}
		l.passTo(next)
		l.handleEvents()
	}
	l.passTo(end)
}

func (l *lab) nextEvent() int64 {
	next := l.nextTick()
	for _, t := range l.asked.timers {
		next = min(next, t.at)
	}
	for _, at := range l.asked.sliceEnd {
		if at != 0 {
			next = min(next, at)
		}
	}
	for _, j := range l.jobs {
		switch {
		case j.wakeAt != 0:
			next = min(next, j.wakeAt)
		case j.burst != 0 && l.Current(j.CPU()) == j.Task:
			next = min(next, l.clock+j.left)
		}
	}
	return next
}

func (l *lab) nextTick() int64 { return ((l.clock*l.hz/second+1)*second + l.hz - 1) / l.hz }

func (l *lab) isTick() bool { return l.clock == (l.clock*l.hz/second*second+l.hz-1)/l.hz }

// passTo moves the clock; whoever runs gets that much of its burst done.
func (l *lab) passTo(now int64) {
	for _, j := range l.jobs {
		if j.burst != 0 && l.Current(j.CPU()) == j.Task {
			j.left -= now - l.clock
		}
	}
	l.clock = now
}

func (l *lab) handleEvents() {
	for _, j := range l.jobs {
		if j.wakeAt != 0 && j.wakeAt <= l.clock {
			j.wakeAt, j.left = 0, j.burst
			j.wakes++
			l.Wake(l.clock, j.CPU(), j.Task, false)
		}
	}
	for t, due := l.asked.takeDue(l.clock); due; t, due = l.asked.takeDue(l.clock) {
		l.ExpireTimer(l.clock, t.cpu, t.Timer)
	}
	for cpu, at := range l.asked.sliceEnd {
		if at != 0 && at <= l.clock {
			l.asked.sliceEnd[cpu] = 0
			l.SliceEnd(l.clock, cpu)
		}
	}
	l.settle()
	if l.isTick() {
		for cpu := range l.rqs {
			if l.rqs[cpu].online {
				l.tickCPU(cpu)
			}
		}
	}
	for _, j := range l.jobs {
		if j.burst != 0 && j.wakeAt == 0 && j.left <= 0 && l.Current(j.CPU()) == j.Task {
			j.wakeAt = l.clock + j.nap
			l.switchCPU(j.CPU(), true)
		}
	}
	l.settle()
}

func (l *lab) tickCPU(cpu int) {
	l.Tick(l.clock, cpu)
	if take(&l.asked.softirq[cpu]) {
		l.Scheduler.BalanceSoftirq(l.clock, cpu)
	}
	if l.Current(cpu) == nil && !l.NeedResched(cpu) && l.StopsTicks() {
		l.StopTick(l.clock, cpu)
	}
}

// settle serves requests until there are none.
func (l *lab) settle() {
	for busy := true; busy; {
		busy = false
		for cpu := range l.rqs {
			busy = l.serve(cpu) || busy
		}
	}
}

func (l *lab) serve(cpu int) bool {
	switch {
	case take(&l.asked.wakeIPI[cpu]):
		l.HandleWakeList(l.clock, cpu)
	case take(&l.asked.nohzKick[cpu]):
		l.NohzBalance(l.clock, cpu)
	case take(&l.asked.stopper[cpu]):
		l.ActiveBalance(l.clock, cpu)
	case take(&l.asked.unthrottle[cpu]):
		l.HandleUnthrottle(l.clock, cpu)
	case take(&l.asked.work[cpu]):
		l.ThrottleCurrent(l.clock, cpu)
	case l.NeedResched(cpu):
		l.switchCPU(cpu, false)
	default:
		return false
	}
	return true
}

func (l *lab) switchCPU(cpu int, block bool) {
	from := l.Current(cpu)
	if to := l.Schedule(l.clock, cpu, block); l.switched != nil && to != from {
		l.switched(cpu, from, to)
	}
}

// wantNear fails unless got is within permille/1000 of want.
func wantNear(t *testing.T, what string, got, want, permille int64) {
	t.Helper()
	if diff := got - want; diff*1000 > want*permille || -diff*1000 > want*permille {
		t.Errorf("%s: got %d, want %d within %d/1000", what, got, want, permille)
	}
}

func checkInvariants(t testing.TB, s *Scheduler) {
	t.Helper()
	if err := s.CheckInvariants(); err != nil {
		t.Fatal(err)
	}
}

// eightWayOf is eightWayTunables for kernels that may not have these.
func eightWayOf(p *Profile) []string {
	if p.hasTunable("base_slice_ns") {
		return []string{"base_slice_ns=2800000"}
	}
	return eightWayTunables
}
