package timeline

import "github.com/schedlab/schedlab/trace"

// maxCPU is one more than the largest number of a CPU that is followed; Linux is
// built for at most 8192.
const maxCPU = 1 << 14

// cpu is what is known of a CPU now.
type cpu struct {
	number  int32
	seen    bool    // it is known what runs, or has been since the last loss
	running *Thread // nil when not known
	waiting []*Thread
	idler   *Thread // its idle thread, once met
	depth   int
	idle    int64 // depth of the idle state; awake when it runs something

	confirmed int64 // time of its last event
}

// awake is the idle state of a CPU that does not idle.
const awake = -1

// cpu returns the CPU of a number, nil when there can be none.
func (f *Follower) cpu(number int32) *cpu {
	if number < 0 || number >= maxCPU {
		return nil
	}
	for int(number) >= len(f.cpus) {
		f.cpus = append(f.cpus, &cpu{number: int32(len(f.cpus)), idle: awake})
	}
	return f.cpus[number]
}

func (f *Follower) cpuOf(t *Thread) *cpu { return f.cpu(t.CPU) }

// enqueue counts a thread on a CPU.
func (f *Follower) enqueue(t *Thread, cpu int32) {
	if t.Queued && t.CPU == cpu || t.Idle() {
		return
	}
	f.dequeue(t)
	t.Queued, t.CPU = true, cpu
	f.count(f.cpuOf(t), +1)
}

// dequeue takes a thread out of the count of its CPU.
func (f *Follower) dequeue(t *Thread) {
	if t.Queued {
		t.Queued = false
		f.count(f.cpuOf(t), -1)
	}
}

func (f *Follower) count(c *cpu, by int) {
	if c == nil {
		return
	}
	c.depth += by
	if f.OnDepth != nil {
		f.OnDepth(c.number, f.now, c.depth)
	}
}

// startWaiting puts a thread on the list of those that wait on its CPU.
func (f *Follower) startWaiting(t *Thread) {
	t.partFrom = f.now
	if c := f.cpuOf(t); c != nil {
		t.place = len(c.waiting)
		c.waiting = append(c.waiting, t)
	}
}

// stopWaiting takes a thread off that list; one that does not wait is left alone.
func (f *Follower) stopWaiting(t *Thread) {
	if c := f.cpuOf(t); c != nil && t.State == Waiting {
		f.unlist(c, t, f.now)
	}
}

// unlist takes a waiting thread off the list of its CPU and tells the last part
// of its wait.
func (f *Follower) unlist(c *cpu, t *Thread, end int64) {
	f.part(c, t, end)
	last := len(c.waiting) - 1
	c.waiting[t.place] = c.waiting[last]
	c.waiting[t.place].place = t.place
	c.waiting[last] = nil
	c.waiting = c.waiting[:last]
}

// move makes a waiting thread wait on another CPU.
func (f *Follower) move(t *Thread, cpu int32) {
	if t.CPU == cpu {
		return
	}
	waits := t.State == Waiting
	f.stopWaiting(t)
	if t.Queued {
		f.enqueue(t, cpu)
	}
	t.CPU = cpu
	if waits {
		f.startWaiting(t)
	}
}

// cut ends a part of every wait on a CPU: another thread is about to have it.
func (f *Follower) cut(c *cpu, end int64) {
	for _, t := range c.waiting {
		f.part(c, t, end)
		t.partFrom = max(t.partFrom, end)
	}
}

// part tells the part of a wait that ends.
func (f *Follower) part(c *cpu, t *Thread, end int64) {
	if f.OnWait == nil || end <= t.partFrom {
		return
	}
	f.waitPart = WaitPart{Waiter: &t.Identity, CPU: c.number, From: t.partFrom, To: end}
	if c.running != nil {
		f.waitPart.Behind = &c.running.Identity
	}
	f.OnWait(&f.waitPart)
}

// sleepAs notes the idle state of a CPU; awake is none.
func (f *Follower) sleepAs(c *cpu, state int64) {
	if c == nil || c.idle == state {
		return
	}
	c.idle = state
	if f.OnIdle != nil {
		f.OnIdle(c.number, f.now, state)
	}
}

// lose forgets what is known of a CPU of which events are missing: also the
// threads that waited there may have run.
func (f *Follower) lose(c *cpu) {
	if c.running != nil {
		f.forget(c.running)
	}
	for len(c.waiting) > 0 {
		f.forget(c.waiting[len(c.waiting)-1])
	}
	c.seen = false
}

// learn takes from a CPU's first event, and from the first behind a loss, what
// runs there.
func (f *Follower) learn(c *cpu, e *trace.Event) {
	if c.seen || e.PID < 0 {
		return
	}
	if t := f.named(trace.Task{Comm: e.Comm, PID: e.PID, Prio: -1}, c.number); t != nil {
		if t.State != Unseen {
			f.forget(t)
		}
		f.run(c, t)
	}
}
