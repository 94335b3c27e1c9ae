package serve

import "sort"

// The first entry of [Recording.Tasks] is the idle task of every CPU. nobody
// stands for "not known".
const (
	idleTask = 0
	nobody   = ^uint32(0)
)

// Task is a thread of a recording.
type Task struct {
	PID  int32  `json:"pid"`
	Comm string `json:"comm"`
	// Ran and Waited are its total times in ns, running and ready to run.
	Ran    int64 `json:"ran"`
	Waited int64 `json:"waited"`
	row
}

// The states of a task; a task's row has the state in the lowest two bits and
// above them the CPU plus 1.
const (
	absent = iota
	running
	runnable
	sleeping
)

func taskValue(state uint32, cpu int32) uint32 { return uint32(cpu+1)<<2 | state }

// taskMeaning reads the row of a task: busy is running (key: CPU plus 1), idle
// is waiting for a CPU, depth 1 is being there.
type taskMeaning struct{}

func (taskMeaning) count(s *summary, value uint32, from, to int64) {
	switch value & 3 {
	case absent:
		return
	case running:
		s.busy += to - from
		s.vote(value>>2, to-from)
	case runnable:
		s.idle += to - from
	}
	s.depth = 1
}

// cpuMeaning reads the row of a CPU: busy is running (key: task), idle is idling
// while elsewhere a task waits behind another.
type cpuMeaning struct{ waits *waiting }

func (m cpuMeaning) count(s *summary, value uint32, from, to int64) {
	switch value {
	case nobody:
	case idleTask:
		s.idle += m.waits.during(from, to)
	default:
		s.busy += to - from
		s.vote(value, to-from)
	}
}

// wake is a wakeup, a fork or an exec: a moment when a CPU was chosen.
type wake struct {
	time   int64 // ns since the start: when it was asked for
	wakee  uint32
	waker  uint32
	target int32 // the CPU chosen
	from   int32 // the waker's
}

// Recording is a trace made ready to be drawn. It does not change any more and
// may be used by several goroutines.
type Recording struct {
	// Start is the time of its first event in ns of the trace's clock; Span how
	// long it lasts.
	Start, Span int64
	Events      int64
	cpus        []row
	Tasks       []Task
	Notes       []string // what is missing or doubtful

	wakes []wake // by time
	waits waiting
}

// size is the number of changes it holds, a measure of its memory.
func (r *Recording) size() int64 {
	n := int64(len(r.wakes)) + 2*int64(len(r.waits.from))
	for i := range r.cpus {
		n += int64(len(r.cpus[i].times) + len(r.cpus[i].depth.times))
	}
	for i := range r.Tasks {
		n += int64(len(r.Tasks[i].times))
	}
	return n
}

// wakesFrom is the index of the first wakeup at or after t.
func (r *Recording) wakesFrom(t int64) int {
	return sort.Search(len(r.wakes), func(i int) bool { return r.wakes[i].time >= t })
}
