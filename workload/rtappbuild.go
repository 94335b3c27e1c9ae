package workload

import (
	"fmt"
	"math"

	"github.com/schedlab/schedlab/rtapp"
)

// rtThread is one thread of rt-app.
type rtThread struct {
	task   *rtapp.Task
	forked int // number of this fork of its task, -1: it begins with the others
	phases []rtPhase
}

// rtPhase is what each activation of a phase has in common.
type rtPhase struct {
	durationMicros int64 // configured, of run and runtime
	periodMicros   int64 // configured, of timers
	perf           int64 // thousands of loops, those of runtime left out
}

// rtBuilder makes a scenario of a file.
type rtBuilder struct {
	file   *rtapp.File
	cpus   int
	s      *Scenario
	loopNS int64 // pLoad: what one loop of work takes

	mutexes, conds, sems map[string]int32
	condMutex            map[string]string // the mutex that a condition is waited for with
	barriers             map[string]rtBarrier
	shared               map[string]int32 // timers of all threads
	groups               map[string]int32
	pools                map[string]int32
	always               int32 // a word that stays 0
	threads              []rtThread
	priorities           map[*rtapp.Task]*taskPriorities
}

const (
	// simulatedLoop is pLoad where a file has it measured: a loop of work is a
	// unit of our own choice, and 100 ns divide every number of µs.
	simulatedLoop = 100
	// rtFootprint is the part of its stack that a thread of rt-app works on.
	rtFootprint = 2 * pageSize
	// forkLimit is how often one task may be forked before rt-app gives up.
	forkLimit   = 1024
	rtStart     = 0
	maxRTTasks  = 1 << 16
	maxRTEvents = 1 << 20
)

// Build implements [Benchmark].
func (b *rtApp) Build(machine Shape) (*Scenario, error) {
	build := &rtBuilder{
		file: b.file, cpus: machine.CPUs, s: &Scenario{Marks: 1}, loopNS: b.file.Global.Calibration,
		mutexes: map[string]int32{}, conds: map[string]int32{}, sems: map[string]int32{},
		condMutex: map[string]string{}, barriers: map[string]rtBarrier{}, shared: map[string]int32{},
		groups: map[string]int32{}, pools: map[string]int32{},
	}
	if build.loopNS == 0 {
		build.loopNS = simulatedLoop
	}
	if err := build.checkAttributes(); err != nil {
		return nil, err
	}
	if err := build.resources(); err != nil {
		return nil, err
	}
	starts, err := build.listThreads()
	if err != nil {
		return nil, err
	}
	b.threads, b.starts = build.threads, starts
	build.tasks(starts)
	b.limited = b.file.Global.Duration <= 0
	if b.limited {
		b.stopped = b.stopTime(build)
		build.s.TimeLimit = b.stopped
	}
	return build.s, nil
}

// tasks declares rt-app itself and its threads, which meet at a barrier before
// they begin.
func (b *rtBuilder) tasks(starts int) {
	gate := b.sync(SyncSpec{Kind: Barrier, Value: int32(max(1, starts))})
	b.add(TaskSpec{Name: "rt-app", StartCPU: AnyCPU}, b.mainProgram(starts))
	for i := range b.threads {
		t := &b.threads[i]
		program := b.threadProgram(i, t, gate)
		b.add(TaskSpec{
			Name: threadComm(t, i), Forked: true, StartCPU: AnyCPU,
			Background: b.file.Global.Duration > 0, // rt-app itself ends the run
		}, program)
	}
}

func (b *rtBuilder) add(spec TaskSpec, p Program) {
	spec.Program, spec.Footprint = int32(len(b.s.Programs)), rtFootprint
	b.s.Programs = append(b.s.Programs, p)
	b.s.Tasks = append(b.s.Tasks, spec)
}

// threadComm is the name that a thread gives itself. That of a forked thread
// holds the order of all forks in reality, which is known only afterwards.
func threadComm(t *rtThread, i int) string {
	if t.forked >= 0 {
		return fmt.Sprintf("%s-%04d", t.task.Name, t.forked)
	}
	return fmt.Sprintf("%s-%d", t.task.Name, i)
}

// mainProgram starts the threads and waits, for the duration or for them.
func (b *rtBuilder) mainProgram(starts int) Program {
	p := Program{{Op: OpMark, N: rtStart}}
	for i := range starts {
		p = append(p, Instr{Op: OpFork, N: taskOfThread(i)})
	}
	if d := b.file.Global.Duration; d > 0 {
		p = append(p, Instr{Op: OpSleep, N: d * 1e9})
	} else {
		p = append(p, Instr{Op: OpWaitChildren})
	}
	return append(p, Instr{Op: OpExit})
}

// taskOfThread is the TaskID of a thread: task 0 is rt-app itself.
func taskOfThread(i int) int64 { return int64(i) + 1 }

// listThreads lists the threads that begin at once, then a pool for each task
// that is forked.
func (b *rtBuilder) listThreads() (starts int, err error) {
	forks := b.countForks()
	if err := b.checkSize(forks); err != nil {
		return 0, err
	}
	for i := range b.file.Tasks {
		t := &b.file.Tasks[i]
		for range t.Instances {
			b.threads = append(b.threads, rtThread{task: t, forked: -1})
		}
	}
	starts = len(b.threads)
	for i := range b.file.Tasks {
		t := &b.file.Tasks[i]
		if forks[i] == 0 {
			continue
		}
		b.pools[t.Name] = int32(len(b.s.Pools))
		b.s.Pools = append(b.s.Pools, Pool{TaskID(taskOfThread(len(b.threads))), TaskID(forks[i])})
		for n := range forks[i] {
			b.threads = append(b.threads, rtThread{task: t, forked: int(n)})
		}
	}
	return starts, nil
}

// checkSize refuses what would not fit into memory: each thread has a program
// of its own.
func (b *rtBuilder) checkSize(forks []int64) error {
	threads, events := int64(0), int64(0)
	for i := range b.file.Tasks {
		t := &b.file.Tasks[i]
		n := int64(t.Instances) + forks[i]
		threads += n
		for j := range t.Phases {
			events += n * int64(len(t.Phases[j].Events))
		}
	}
	switch {
	case threads > maxRTTasks:
		return fmt.Errorf("%s: %d threads: at most %d can be simulated", b.file.Name, threads, maxRTTasks)
	case events > maxRTEvents:
		return fmt.Errorf("%s: its threads list %d events together: at most %d can be simulated", b.file.Name, events, maxRTEvents)
	}
	return nil
}

// countForks returns how often each task can be forked at most, up to the
// tool's limit. A forked thread may fork in its turn, so each more is passed on;
// the counts only grow, and no further than the limit.
func (b *rtBuilder) countForks() []int64 {
	tasks := b.file.Tasks
	index := make(map[string]int, len(tasks))
	for i := range tasks {
		index[tasks[i].Name] = i
	}
	forks, more := make([]int64, len(tasks)), make([]int64, len(tasks))
	var pending []int
	for i := range tasks {
		more[i] = min(forkLimit, int64(tasks[i].Instances))
		pending = append(pending, i)
	}
	for len(pending) > 0 {
		i := pending[0]
		pending = pending[1:]
		threads := more[i]
		more[i] = 0
		if threads == 0 {
			continue
		}
		for _, f := range forksBy(&tasks[i]) {
			j := index[f.task]
			added := min(forkLimit-forks[j], threads*f.times)
			forks[j] += added
			more[j] += added
			pending = append(pending, j)
		}
	}
	return forks
}

// rtForks is how often one thread forks a task.
type rtForks struct {
	task  string
	times int64
}

func forksBy(t *rtapp.Task) []rtForks {
	var forks []rtForks
	for i := range t.Phases {
		phase := &t.Phases[i]
		turns := min(forkLimit, turnsOf(t.Loop, phase.Loop))
		for _, e := range phase.Events {
			if e.Kind == rtapp.Fork && turns > 0 {
				forks = append(forks, rtForks{e.Ref, turns})
			}
		}
		if phase.Loop <= 0 {
			break
		}
	}
	return forks
}

// turnsOf is how often a phase runs in a thread's life, Forever for no end.
func turnsOf(thread, phase int64) int64 {
	switch {
	case thread == 0:
		return 0
	case thread < 0 || phase <= 0:
		return Forever
	}
	return thread * phase
}

// stopTime is when a run without a duration is stopped: when it was asked for,
// by default after ten seconds if a thread never ends, else at a time before
// which every thread must have ended, unless it sleeps for ever: the sum of all
// that they do, twice for the CPUs that they share.
func (b *rtApp) stopTime(build *rtBuilder) int64 {
	if b.stop > 0 {
		return b.stop
	}
	total := 1.0
	for i := range build.threads {
		t := build.threads[i].task
		for j := range t.Phases {
			turns := turnsOf(t.Loop, t.Phases[j].Loop)
			if turns == Forever {
				return defaultStop
			}
			total += 2 * float64(turns) * secondsOf(&t.Phases[j])
		}
		total += float64(t.Delay) / 1e6
	}
	return int64(math.Min(total, 1e6) * 1e9)
}

// secondsOf is how long the events of a phase take when nothing is in the way.
func secondsOf(phase *rtapp.Phase) float64 {
	micros, bytes := int64(0), int64(0)
	for _, e := range phase.Events {
		micros += e.Micros
		bytes += e.Count
	}
	return float64(micros)/1e6 + float64(bytes)/1e8 // no access is slower than 10 ns
}

// sync declares a synchronisation object.
func (b *rtBuilder) sync(spec SyncSpec) int32 {
	b.s.Syncs = append(b.s.Syncs, spec)
	return int32(len(b.s.Syncs) - 1)
}
