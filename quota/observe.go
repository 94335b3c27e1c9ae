package quota

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/schedlab/schedlab/trace"
	"github.com/schedlab/schedlab/workload"
)

// Observed is a service as a recording shows it.
type Observed struct {
	Threads   int // that were woken and slept again
	Requests  int
	Span      time.Duration // from the first arrival to the last
	Intervals workload.Series
	Sizes     workload.Series // both in the order of arrival
}

// Which says whose threads in a recording are the service's: those of a name or
// a process, or those in a cgroup.
type Which struct {
	Task  string // a thread's name (comm), or the number of a process
	Group string // a path
}

// leastObserved requests are needed, to have a distribution at all.
const leastObserved = 20

// Observe takes a service from a recording, a file or the folder of a bundle.
// What a thread does between a wakeup and its next sleep is one request: it
// arrives with the wakeup, and its size is the CPU time until the sleep. A
// thread that waits for a lock in between makes two requests of one.
func Observe(path string, which Which) (*Observed, error) {
	file, err := traceFile(path)
	if err != nil {
		return nil, err
	}
	reader, err := trace.Open(file)
	if err != nil {
		return nil, err
	}
	o := observer{names: reader.Names(), which: which, threads: map[int32]*observedThread{}}
	if pid, err := strconv.ParseInt(which.Task, 10, 32); err == nil {
		o.pid = int32(pid)
	}
	err = trace.Each(reader, func(e *trace.Event) error {
		o.event(e)
		return nil
	})
	if err = errors.Join(err, reader.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return o.observed(file)
}

// traceFile is the recording in a bundle's folder.
func traceFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, err
	}
	names := []string{"trace.txt.gz", "trace.txt", "trace.dat"}
	for _, name := range names {
		if file := filepath.Join(path, name); fileExists(file) {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s is a folder without a recording; name the file, or a folder with one of %v", path, names)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

type observedThread struct {
	belongs bool
	awake   bool  // its wakeup was seen
	arrived int64 // when
	running bool
	since   int64 // it runs since then
	ran     int64 // in this request
	served  bool
}

type observer struct {
	names    *trace.Names
	which    Which
	pid      int32
	threads  map[int32]*observedThread
	requests []workload.Request
}

func (o *observer) thread(pid int32) *observedThread {
	t := o.threads[pid]
	if t == nil {
		t = &observedThread{}
		o.threads[pid] = t
	}
	return t
}

func (o *observer) event(e *trace.Event) {
	if o.pid > 0 && e.TGID == o.pid && e.PID > 0 {
		o.thread(e.PID).belongs = true
	}
	switch e.Kind {
	case trace.KindFork:
		f := e.Fork()
		if o.thread(f.Parent.PID).belongs {
			o.thread(f.Child.PID).belongs = true
		}
	case trace.KindAttach:
		a := e.Attach()
		if o.which.Group != "" && a.PID > 0 {
			o.thread(a.PID).belongs = o.names.Text(a.Path) == o.which.Group
		}
	case trace.KindWaking, trace.KindWakeup, trace.KindWakeupNew:
		o.wakes(e.Wake().Task, e.Time)
	case trace.KindSwitch:
		s := e.Switch()
		o.stops(s, e.Time)
		o.starts(s.Next, e.Time)
	}
}

// known is the thread of a task, nil when it is none of the service's.
func (o *observer) known(task trace.Task) *observedThread {
	if task.PID <= 0 {
		return nil
	}
	t := o.thread(task.PID)
	if o.which.Task != "" && (o.names.Text(task.Comm) == o.which.Task || (o.pid > 0 && task.PID == o.pid)) {
		t.belongs = true
	}
	if !t.belongs {
		return nil
	}
	return t
}

func (o *observer) wakes(task trace.Task, now int64) {
	if t := o.known(task); t != nil && !t.awake && !t.running {
		t.awake, t.arrived, t.ran = true, now, 0
	}
}

func (o *observer) starts(task trace.Task, now int64) {
	if t := o.known(task); t != nil {
		t.running, t.since = true, now
	}
}

func (o *observer) stops(s trace.Switch, now int64) {
	t := o.known(s.Prev)
	if t == nil {
		return
	}
	if t.running {
		t.ran += now - t.since
	}
	t.running = false
	if s.PrevState.Known() && s.PrevState.Runnable() {
		return
	}
	if t.awake {
		t.served = true
		o.requests = append(o.requests, workload.Request{Arrived: t.arrived, Work: t.ran})
	}
	t.awake = false
}

func (o *observer) observed(file string) (*Observed, error) {
	if len(o.requests) < leastObserved {
		return nil, fmt.Errorf("%s: %d wakeups of %s that end in a sleep; at least %d are needed to know a service by", file, len(o.requests), o.which, leastObserved)
	}
	slices.SortStableFunc(o.requests, func(a, b workload.Request) int {
		switch {
		case a.Arrived < b.Arrived:
			return -1
		case a.Arrived > b.Arrived:
			return 1
		}
		return 0
	})
	first, last := o.requests[0].Arrived, o.requests[len(o.requests)-1].Arrived
	if last == first {
		return nil, fmt.Errorf("%s: all wakeups of %s are at the same time", file, o.which)
	}
	result := &Observed{Requests: len(o.requests), Span: time.Duration(last - first)}
	result.Intervals.InOrder, result.Sizes.InOrder = true, true
	before := first - (last-first)/int64(len(o.requests)-1) // the first comes a mean interval after the last
	for _, q := range o.requests {
		result.Intervals.Table = append(result.Intervals.Table, q.Arrived-before)
		result.Sizes.Table = append(result.Sizes.Table, q.Work)
		before = q.Arrived
	}
	for _, t := range o.threads {
		if t.served {
			result.Threads++
		}
	}
	return result, nil
}

// String names the threads in errors.
func (w Which) String() string {
	if w.Group != "" {
		return "threads in cgroup " + w.Group
	}
	return "threads of " + w.Task
}

// Rate is the requests a second.
func (o *Observed) Rate() float64 { return 1e9 / o.Intervals.Mean() }

// Describe is the service in a few words.
func (o *Observed) Describe() string {
	return fmt.Sprintf("%.0f wakeups/s of %d threads, mean %.3f ms of CPU time (%d in %s of recording, over and over)",
		o.Rate(), o.Threads, o.Sizes.Mean()/1e6, o.Requests, o.Span.Round(time.Millisecond))
}
