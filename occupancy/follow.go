package occupancy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlab/schedlab/timeline"
	"github.com/schedlab/schedlab/trace"
)

// Ground is what a recording does not tell by its events.
type Ground struct {
	CPUs       int
	IdleGroups []string // paths of the groups with cpu.idle
}

// Read follows a recording to its end.
//
// A task counts as waiting when it is runnable while another one runs on its
// CPU, may run on other CPUs (the kernel asks where to place only those), and its
// group is not throttled. A CPU that is outside the ground is an error.
func Read(r trace.Reader, g Ground) (*Map, error) {
	if g.CPUs < 1 {
		return nil, fmt.Errorf("a machine with %d CPUs", g.CPUs)
	}
	f := &follower{ground: g, names: r.Names(), canvas: newCanvas(g.CPUs), cpus: make([]cpu, g.CPUs),
		tasks: map[int32]*task{}, groups: map[string]uint64{}, throttled: map[uint64]bool{}, idle: g.CPUs, start: -1}
	f.threads = timeline.NewFollower()
	f.threads.OnChange = f.changed
	if err := trace.Each(r, f.event); err != nil {
		return nil, err
	}
	return f.finish(), nil
}

// nowhere is the CPU of a task that is not runnable.
const nowhere = -1

// policyIdle is the kernel's number of SCHED_IDLE.
const policyIdle = 5

type task struct {
	on        int // CPU where it is runnable, or nowhere
	running   bool
	movable   bool // it may run on several CPUs
	group     trace.Name
	idleGroup bool // it has cpu.idle, or one above it
	policy    bool // SCHED_IDLE by itself
	helper    bool // a migration thread, which does the scheduler's work
	throttled bool
}

type cpu struct {
	idle       int  // runnable SCHED_IDLE tasks
	others     int  // other runnable tasks
	busy       bool // one of them runs
	waiters    int  // those that could run elsewhere and do not run
	since      int64
	missedThen int64 // follower.missed at since
}

func (c *cpu) state() State {
	switch {
	case c.others > 1:
		return Overloaded
	case c.others == 1:
		return OneTask
	case c.idle > 0:
		return SchedIdle
	}
	return Idle
}

// waiting is how many tasks wait for the one that runs. Those that an idle CPU
// is about to wake up for do not.
func (c *cpu) waiting() int {
	if !c.busy {
		return 0
	}
	return c.waiters
}

// follower keeps who is runnable where, as a timeline tells it.
type follower struct {
	threads *timeline.Follower
	ground  Ground
	names   *trace.Names
	canvas  *canvas
	cpus    []cpu
	tasks   map[int32]*task

	groups    map[string]uint64 // numbers by path
	throttled map[uint64]bool   // queues

	start, now int64
	// waiting counts tasks that wait for another to leave its CPU, idle the CPUs
	// with nothing to do. missed is what one of these has missed up to missedAt,
	// in parts of a ns.
	waiting, idle    int
	missed, missedAt int64
	err              error // a CPU that the machine does not have
}

func (f *follower) event(e *trace.Event) error {
	if f.start < 0 {
		f.start = e.Time
	}
	f.advance(e.Time - f.start)
	switch e.Kind {
	case trace.KindSelect:
		if s := e.Select(); s.PID > 0 && s.NAllowed > 1 {
			f.change(f.task(s.PID), func(t *task) { t.movable = true })
		}
	case trace.KindFork:
		k := e.Fork()
		f.task(k.Child.PID).policy = f.task(k.Parent.PID).policy
	case trace.KindPolicy:
		p := e.Policy()
		f.change(f.task(p.PID), func(t *task) { t.policy = p.Number == policyIdle })
	case trace.KindAttach:
		if a := e.Attach(); a.Root == 0 {
			f.groups[f.names.Text(a.Path)] = uint64(a.ID)
		}
	case trace.KindThrottle, trace.KindUnthrottle:
		f.throttle(e.Queue(), e.Kind == trace.KindThrottle)
	}
	f.threads.Observe(e)
	return f.err
}

// changed takes over what a thread does now.
func (f *follower) changed(thread *timeline.Thread, _ int64) {
	if int(thread.CPU) >= len(f.cpus) {
		f.err = fmt.Errorf("thread %d is on CPU %d at %d ns, and the machine has %d CPUs", thread.PID, thread.CPU, f.now, len(f.cpus))
	}
	if f.err != nil || thread.Idle() {
		return
	}
	f.change(f.task(thread.PID), func(t *task) {
		t.on, t.running = nowhere, thread.State == timeline.Running
		if thread.Queued {
			t.on = int(thread.CPU)
		}
		t.helper = strings.HasPrefix(f.names.Text(thread.Comm), "migration/")
		if t.group != thread.Group {
			t.group, t.idleGroup = thread.Group, f.inIdleGroup(f.names.Text(thread.Group))
		}
	})
}

func (f *follower) task(pid int32) *task {
	t := f.tasks[pid]
	if t == nil {
		t = &task{on: nowhere}
		f.tasks[pid] = t
	}
	return t
}

// advance takes the time on, slice by slice.
func (f *follower) advance(to int64) {
	for f.canvas.end() <= to {
		f.now = f.canvas.end()
		for i := range f.cpus {
			f.settle(i)
		}
		f.canvas.next()
	}
	f.now = max(f.now, to)
}

// parts of a ns are told apart where fewer tasks wait than CPUs are idle.
const parts = 1 << 20

// missedSoFar is what each CPU that is idle has missed since the start: with W
// tasks waiting and I CPUs idle, W/I of the time, and all of it from W = I on.
// All CPUs together so miss what min(W, I) could have used.
func (f *follower) missedSoFar() int64 {
	if f.waiting == 0 || f.idle == 0 {
		return f.missed
	}
	return f.missed + (f.now-f.missedAt)*min(parts, int64(f.waiting)*parts/int64(f.idle))
}

// settle books what a CPU did since it was last looked at.
func (f *follower) settle(i int) {
	c := &f.cpus[i]
	state, slice := c.state(), &f.canvas.CPUs[i][f.canvas.at]
	slice.In[state] += f.now - c.since
	if state == Idle {
		slice.Missed += (f.missedSoFar() - c.missedThen + parts/2) / parts
	}
	c.since, c.missedThen = f.now, f.missedSoFar()
}

// change changes a task and what its CPU has to do thereby.
func (f *follower) change(t *task, apply func(t *task)) {
	f.count(t, -1)
	apply(t)
	t.throttled = t.on != nowhere && f.isThrottled(t)
	f.count(t, +1)
}

// count adds a task to what its CPU has to do, or takes it away.
func (f *follower) count(t *task, by int) {
	if t.on == nowhere || t.helper || t.throttled && !t.running {
		return
	}
	f.settle(t.on)
	f.missed, f.missedAt = f.missedSoFar(), f.now
	c := &f.cpus[t.on]
	f.addShares(c, -1)
	if t.policy || t.idleGroup {
		c.idle += by
	} else {
		c.others += by
	}
	switch {
	case t.running:
		c.busy = by > 0
	case t.movable:
		c.waiters += by
	}
	f.addShares(c, +1)
}

// addShares adds a CPU to those that are idle, or its tasks to those that wait.
func (f *follower) addShares(c *cpu, by int) {
	f.waiting += by * c.waiting()
	if c.state() == Idle {
		f.idle += by
	}
}

func (f *follower) inIdleGroup(group string) bool {
	return slices.ContainsFunc(f.ground.IdleGroups, func(path string) bool { return within(group, path) })
}

// within reports whether a path is that of a group or of one below it.
func within(path, group string) bool {
	return path == group || strings.HasPrefix(path, strings.TrimSuffix(group, "/")+"/")
}

// queueOf is the address that a simulated recording gives to a group's queue.
func queueOf(group uint64, cpu int) uint64 { return group<<16 | uint64(cpu) }

func (f *follower) throttle(q trace.Queue, on bool) {
	if on {
		f.throttled[q.Address] = true
	} else {
		delete(f.throttled, q.Address)
	}
	for _, t := range f.tasks { // in any order: what is counted is a sum
		if t.on == int(q.CPU) {
			f.change(t, func(*task) {})
		}
	}
}

// isThrottled reports whether a task's group, or one above it, waits for its
// next period.
func (f *follower) isThrottled(t *task) bool {
	if len(f.throttled) == 0 {
		return false
	}
	for path := f.names.Text(t.group); path != "" && path != "/"; path = parent(path) {
		if group, known := f.groups[path]; known && f.throttled[queueOf(group, t.on)] {
			return true
		}
	}
	return false
}

func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

func (f *follower) finish() *Map {
	for i := range f.cpus {
		f.settle(i)
	}
	return f.canvas.finish(f.now)
}
