package explain

import (
	"strings"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// task is one thread of the recording.
type task struct {
	sched.Task
	comm trace.Name
	// started: the hidden state has its start values, from the recording or,
	// for a child, from its parent.
	started bool
	// fresh: nothing of the task has been followed yet.
	fresh bool
	// pinned: it has been woken without being placed.
	pinned bool
	// dead: it has exited; its last switch removes it.
	dead bool
	// wakingOn is the CPU with an open sched_waking of the task.
	wakingOn *cpuState
	// arrived is when the task was last sent to a CPU: placed, woken or moved, ns.
	arrived int64
	// startingOn is the CPU that has placed it as a new task.
	startingOn *cpuState
	// doubtful: one of its wakee_flips was counted for a first wakeup, without
	// knowing whom the task, or its parent, had woken before.
	doubtful bool
	mask     uint64 // affinity as last recorded; 0: never
	boundTo  uint64 // affinity that it is supposed to have lost; 0: nothing is supposed
}

// taskTable finds tasks by PID. PIDs are used again: a fork replaces the task
// that had the PID before.
type taskTable struct {
	byPID map[int32]*task
}

// fairPrio is the kernel's priority number of nice 0; the fair class has 100 to
// 139, higher classes less.
const (
	fairPrio    = 120
	firstFair   = 100
	lastFair    = 139
	unknownPrio = -1
)

// lookup returns the task of an event, making it known when it is new. The idle
// task is nil, and so is a PID that the recording does not tell.
func (r *replay) lookup(t trace.Task, cpu int) *task {
	if t.PID <= 0 {
		return nil
	}
	k := r.tasks.byPID[t.PID]
	if k == nil {
		k = &task{fresh: true}
		r.f.Scheduler().InitTask(&k.Task, sched.TaskSpec{ID: t.PID, CPU: r.validCPU(cpu)})
		r.tasks.byPID[t.PID] = k
	}
	r.identify(k, t)
	return k
}

// sleeper is lookup for a task that is being woken. One that has not been seen
// before has slept since the recording began, or longer: it is taken to have no
// load left.
func (r *replay) sleeper(w trace.Wake) *task {
	known := r.tasks.byPID[w.PID] != nil
	k := r.lookup(w.Task, int(w.TargetCPU))
	if k != nil && !known {
		r.f.Rested(&k.Task)
	}
	return k
}

// identify takes over the name and the class that an event shows.
func (r *replay) identify(k *task, t trace.Task) {
	if t.Comm != trace.NoName && t.Comm != k.comm {
		k.comm = t.Comm
		if boundKthread(r.names.Text(t.Comm)) {
			r.f.SetKthread(&k.Task)
		}
	}
	switch {
	case t.Prio >= firstFair && t.Prio <= lastFair:
		r.f.SetClass(&k.Task, false, int8(t.Prio-fairPrio))
	case t.Prio != unknownPrio && t.Prio < firstFair:
		r.f.SetClass(&k.Task, true, 0)
	}
}

// boundKthread recognises kernel threads of one CPU by their names, such as
// "kworker/3:1H" and "ksoftirqd/3"; "kworker/u8:2" may run anywhere.
func boundKthread(comm string) bool {
	_, cpu, found := strings.Cut(comm, "/")
	if !found || cpu == "" || cpu[0] < '0' || cpu[0] > '9' {
		return false
	}
	for _, kind := range boundKthreads {
		if strings.HasPrefix(comm, kind) {
			return true
		}
	}
	return false
}

var boundKthreads = []string{"kworker/", "ksoftirqd/", "migration/", "cpuhp/", "rcuc/", "idle_inject/", "watchdog/", "stopper/"}

// validCPU replaces a CPU that the machine does not have.
func (r *replay) validCPU(cpu int) int {
	if cpu >= 0 && cpu < len(r.cpus) && r.bundle.Machine.CPUs[cpu].Online {
		return cpu
	}
	return r.firstCPU
}

// setAllowed takes over a recorded affinity.
func (r *replay) setAllowed(k *task, mask uint64, count int64) {
	if mask == 0 || mask == k.mask {
		return
	}
	k.mask = mask
	n := len(r.cpus)
	if n > 64 && count != int64(popCount(mask)) {
		return // the rest of the mask was not recorded
	}
	allowed, known := r.masks[mask]
	if !known {
		allowed = machine.NewCPUMask(n)
		for cpu := range min(n, 64) {
			if mask>>cpu&1 != 0 && r.bundle.Machine.CPUs[cpu].Online {
				allowed.Set(cpu)
			}
		}
		r.masks[mask] = allowed
	}
	if !allowed.Empty() {
		r.f.SetAllowed(&k.Task, allowed)
	}
}

func popCount(mask uint64) int {
	n := 0
	for ; mask != 0; mask &= mask - 1 {
		n++
	}
	return n
}
