package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/workload"
)

// Preemption is the kernel's preemption model.
type Preemption uint8

// The preemption models. They differ in when a reschedule request is honoured
// inside a system call (ipc-and-benchmarks.md 0.6).
const (
	PreemptVoluntary Preemption = iota
	PreemptNone
	PreemptFull
	PreemptLazy
)

var preemptionNames = map[string]Preemption{
	"voluntary": PreemptVoluntary, "none": PreemptNone, "full": PreemptFull, "lazy": PreemptLazy,
}

// ParsePreemption reads none, voluntary, full or lazy.
func ParsePreemption(name string) (Preemption, error) {
	if p, ok := preemptionNames[name]; ok {
		return p, nil
	}
	return 0, fmt.Errorf("unknown preemption model %q; there are none, voluntary, full, lazy", name)
}

// CgroupSetting sets one file of one cgroup: cpu.weight or cpu.idle.
type CgroupSetting struct {
	Path  string // "/noise/batch"; parents are made as needed
	File  string
	Value int64
}

// Config is one run.
type Config struct {
	Sched      sched.Config
	Costs      *Costs
	Preemption Preemption
	Rules      workload.Rules
	Scenario   *workload.Scenario
	Cgroups    []CgroupSetting
	Limits     []GroupLimit
	Seed       uint64
	// ShuffleTies breaks ties in time by a seeded order of the CPUs instead of
	// by their number, to expose what depends on it.
	ShuffleTies bool
	// Turn is for comparisons with a machine that is emulated by a single thread:
	// its CPUs get turns of so many ns, one after the other, while the clock goes
	// on for all, and interrupts reach a CPU only in its turn (turn.go). 0: none.
	Turn int64
	// Check verifies the invariants of scheduler and simulator after every
	// event; it is slow, and always on with the build tag invariants.
	Check bool
}

// Sim is one simulation.
type Sim struct {
	sched      *sched.Scheduler
	costs      *Costs
	preemption Preemption
	hz         int64
	tickMicros int64 // between two ticks
	check      bool

	now    int64
	acting *cpu // the CPU whose event is being handled
	// beforeKick is the rest of a wakeup: the acting CPU does it before it tells
	// the task's CPU.
	beforeKick int64
	queue      *eventQueue
	cpus       []cpu
	governors  []idleGovernor // of the CPUs
	places     []place
	online     int
	tasks      []task
	taskSlab   []sched.Task
	channels   []channelState
	channelSet *workload.Channels
	spill      spill
	ownCache   []int64 // bytes of the last-level cache that each CPU uses; 0: not known
	syncs      *workload.Syncs
	objects    []objectState
	spins      []spin // of the tasks
	groups     map[string]*sched.TaskGroup
	groupList  []*sched.TaskGroup
	weights    map[string]int64 // cpu.weight of groups that have had it set
	periodic   periodic
	out        workload.Outcome

	dueTimers []*sched.Timer       // scratch: see fireTimers
	arrivals  []*workload.Requests // likewise
	requests  []workload.Requests
	// interrupted are the CPUs that requests interrupt: the online ones.
	interrupted []int

	queueFree  []int64 // when each run-queue lock is free again
	marks      []int64
	recorders  []workload.Recorder
	rules      workload.Rules
	turn       int64
	stretch    *stretch // nil: the whole run
	progress   int64    // completed writes of tasks in the foreground
	foreground int
	limit      int64
	pause      int64 // when the main loop must look up, at most limit
	sampledAt  int64

	countersEvery, countersAt int64

	checkAt int64           // events and wakeups at the next look at the context
	watcher func(now int64) // nil: nobody watches

	profile string    // the kernel's name
	comms   []string  // names of tasks, by task
	rec     *recorder // nil: nobody records

	result Result
}

// channelState is a channel with what the cost model remembers of it.
type channelState struct {
	ch                  *workload.Channel
	writeCost, readCost int64
	hold                int64 // how long a call keeps others out
	lines               int64 // that a call finds where the last one left them
	memoryLines         int64 // that a call touches of a message's memory
	freeAt              int64
	lastCPU             int32
	writerCPU           int32 // where its file for writing was used last, by a thread
	readerCPU           int32 // the same of the other end
	loopback            bool  // TCP or UDP
	segments, processed int64 // of the write under way: what its cost has foreseen
	fresh               bool  // something was sent that nobody has read of
}

// New builds a simulation; nothing has run yet.
func New(cfg Config) (*Sim, error) {
	sc := cfg.Scenario
	if err := sc.Validate(cfg.Sched.Machine.NumCPUs()); err != nil {
		return nil, err
	}
	if err := sched.CheckHZ(cfg.Sched.HZ); err != nil {
		return nil, err
	}
	cfg.Sched.Prices = cfg.Costs.Sched
	if cfg.Sched.Dice == nil {
		cfg.Sched.Dice = newidleDice(cfg.Seed)
	}
	cfg.Sched.PreemptKernel = cfg.Preemption == PreemptFull || cfg.Preemption == PreemptLazy
	m := &Sim{
		costs: cfg.Costs, preemption: cfg.Preemption, hz: cfg.Sched.HZ, tickMicros: 1_000_000 / cfg.Sched.HZ, check: cfg.Check || alwaysCheck,
		limit: sc.TimeLimit, result: newResult(), rules: cfg.Rules, groups: map[string]*sched.TaskGroup{},
		weights: map[string]int64{},
		profile: cfg.Sched.Profile.Name, turn: cfg.Turn,
	}
	if m.limit == 0 {
		m.limit = never
	}
	m.pause = m.limit
	m.spill = newSpill(cfg.Sched.Machine)
	m.ownCache = ownCaches(cfg.Sched.Machine)
	m.buildCPUs(cfg.Sched.Machine, tieOrder(&cfg))
	s, err := sched.New(cfg.Sched, driver{m})
	if err != nil {
		return nil, err
	}
	m.sched = s
	m.acting = &m.cpus[0]
	if err := m.buildGroups(cfg.Cgroups); err != nil {
		return nil, err
	}
	if err := m.buildLimits(append(scenarioLimits(sc), cfg.Limits...)); err != nil {
		return nil, err
	}
	m.buildChannels(sc, cfg.Rules)
	m.buildSyncs(sc)
	m.requests = workload.NewRequests(sc, cfg.Seed)
	m.interrupted = cfg.Sched.Machine.Online().CPUs()
	m.buildPeriodic(sc, cfg.Sched.Machine)
	m.buildTasks(sc, cfg.Seed)
	m.buildStretch(sc)
	return m, nil
}

func tieOrder(cfg *Config) []int {
	n := cfg.Sched.Machine.NumCPUs()
	if cfg.ShuffleTies {
		return rand.New(rand.NewPCG(cfg.Seed, 1)).Perm(n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

func (m *Sim) buildCPUs(mach *machine.Machine, order []int) {
	n := mach.NumCPUs()
	m.queue = newEventQueue(order)
	m.cpus = make([]cpu, n)
	m.governors = newIdleGovernors(n)
	m.places = make([]place, n)
	m.queueFree = make([]int64, n)
	byCore := map[int32][]*cpu{}
	for i := range m.cpus {
		c := &m.cpus[i]
		*c = cpu{id: int32(i), speed: fullSpeed, end: never, ipiAt: never, timerAt: never, sliceAt: never, nextTick: never}
		mc := &mach.CPUs[i]
		m.places[i] = place{int32(mc.Core), int32(mc.LLC), int32(mc.Node)}
		if mc.Online {
			m.online++
			byCore[int32(mc.Core)] = append(byCore[int32(mc.Core)], c)
		}
	}
	for i := range m.cpus {
		for _, sib := range byCore[m.places[i].core] {
			if sib != &m.cpus[i] {
				m.cpus[i].siblings = append(m.cpus[i].siblings, sib)
			}
		}
	}
}

func (m *Sim) buildGroups(settings []CgroupSetting) error {
	for _, set := range settings {
		g := m.group(set.Path)
		var err error
		switch set.File {
		case "cpu.weight":
			err = m.sched.SetWeight(g, set.Value)
			m.weights[g.Name()] = set.Value
		case "cpu.idle":
			if set.Value != 0 && set.Value != 1 {
				return fmt.Errorf("cpu.idle of %s must be 0 or 1, not %d", set.Path, set.Value)
			}
			err = m.sched.SetIdle(g, set.Value == 1)
		default:
			return fmt.Errorf("cgroup %s: unknown file %q; there are cpu.weight and cpu.idle", set.Path, set.File)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// group returns the cgroup of a path, making it and its parents.
func (m *Sim) group(path string) *sched.TaskGroup {
	path = "/" + strings.Trim(path, "/")
	if path == "/" {
		return m.sched.Root()
	}
	if g := m.groups[path]; g != nil {
		return g
	}
	parent := m.group(path[:strings.LastIndexByte(path, '/')])
	g := m.sched.NewGroup(parent, path)
	m.groups[path] = g
	m.groupList = append(m.groupList, g)
	return g
}

func (m *Sim) buildChannels(sc *workload.Scenario, rules workload.Rules) {
	set := workload.NewChannels(sc, rules)
	m.channelSet = set
	m.channels = make([]channelState, set.Len())
	for i := range m.channels {
		st := channelState{ch: set.At(int32(i)), lastCPU: -1, writerCPU: -1, readerCPU: -1, hold: never, lines: m.costs.LockLines, memoryLines: m.costs.PipeMemoryLines,
			writeCost: m.costs.PipeWrite, readCost: m.costs.PipeRead} // a pipe's mutex covers the whole call
		if sc.Channels[i].Kind == workload.UnixStream {
			st.hold, st.lines, st.memoryLines = m.costs.UnixHold, m.costs.UnixLines, m.costs.UnixMemoryLines
			st.writeCost, st.readCost = m.costs.UnixSend, m.costs.UnixRecv
		}
		m.priceLoopback(&st, sc.Channels[i].Kind)
		m.channels[i] = st
	}
}

func (m *Sim) buildTasks(sc *workload.Scenario, seed uint64) {
	m.tasks = make([]task, len(sc.Tasks))
	m.taskSlab = make([]sched.Task, len(sc.Tasks))
	m.marks = make([]int64, sc.Marks)
	for i := range m.marks {
		m.marks[i] = -1
	}
	m.comms = make([]string, len(sc.Tasks))
	forkCounts := make([]int32, len(sc.Tasks))
	spaces := addressSpaces(m.sched, sc.Tasks)
	pooled := m.periodic.pooled(len(sc.Tasks))
	for i := range sc.Tasks {
		spec := &sc.Tasks[i]
		t := &m.tasks[i]
		*t = task{
			sched: &m.taskSlab[i], prog: sc.Programs[spec.Program], id: workload.TaskID(i),
			background: spec.Background, deferrable: spec.Deferrable, process: spec.Process,
			footprintKiB: int64(spec.Footprint+1023) / 1024, lastCPU: -1, wokenAt: never,
		}
		if t.prog.Random() {
			t.rng = rand.New(rand.NewPCG(seed, uint64(i)+2)) // stream 1 is the tie order
		}
		m.comms[i] = commOf(spec.Name)
		if !t.background && !pooled[i] {
			m.foreground++
		}
		forkCounts[i] = t.prog.Forks()
		schedSpec := m.taskSpec(i, spec)
		if !spec.Kernel {
			schedSpec.Space = spaces[spec.Process]
			t.threaded = schedSpec.Space != nil
		}
		m.sched.InitTask(t.sched, schedSpec)
		m.periodic.allowed[i] = t.sched.Allowed()
	}
	m.buildChildLists(forkCounts)
}

// commOf cuts a name to what the kernel keeps of it.
func commOf(name string) string {
	if name == "" {
		name = "task"
	}
	return name[:min(len(name), 15)]
}

// buildChildLists gives every task room for its children, so that forking
// does not allocate.
func (m *Sim) buildChildLists(counts []int32) {
	total := 0
	for _, n := range counts {
		total += int(n)
	}
	slab := make([]*task, total)
	for i, n := range counts {
		m.tasks[i].children, slab = slab[:0:n], slab[n:]
	}
}

func (m *Sim) taskSpec(i int, spec *workload.TaskSpec) sched.TaskSpec {
	s := sched.TaskSpec{
		ID: int32(i), Ref: int32(i), Policy: sched.Policy(spec.Policy), Nice: int8(spec.Nice),
		Group: m.group(spec.Cgroup), Kthread: spec.Kernel, CPU: m.sched.Machine().Online().First(),
	}
	if spec.Allowed != nil {
		s.Allowed = machine.MaskOf(len(m.cpus), spec.Allowed...)
		s.CPU = spec.Allowed[0]
	}
	if spec.StartCPU != workload.AnyCPU {
		s.CPU = spec.StartCPU
	}
	return s
}

// checkInterval is how many events and wakeups pass between looks at the
// context. Wakeups count too: one event may wake every task there is.
const checkInterval = 1 << 10

// Watch has the virtual time (ns) told to watcher now and then while Run goes
// on, from Run's goroutine; it changes nothing.
func (m *Sim) Watch(watcher func(now int64)) { m.watcher = watcher }

// Run executes the scenario to its end, its time limit, or until the context
// is cancelled.
func (m *Sim) Run(ctx context.Context) (*Result, error) {
	m.start()
	for m.foreground > 0 {
		if done := m.result.Events + m.result.Wakeups; done >= m.checkAt {
			m.checkAt = done + checkInterval
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if m.watcher != nil {
				m.watcher(m.now)
			}
		}
		cpu, at := m.queue.next()
		if at > m.pause {
			if m.stretch.passes(m) {
				continue
			}
			m.now = m.limit
			break
		}
		if at == never {
			return nil, m.deadlock()
		}
		m.now = at
		m.result.Events++
		m.step(&m.cpus[cpu])
		if m.check {
			if err := m.checkInvariants(); err != nil {
				return nil, fmt.Errorf("at %d ns, after an event of CPU %d: %w", m.now, cpu, err)
			}
		}
	}
	if err := m.recordError(); err != nil {
		return nil, err
	}
	return m.finish(), nil
}

// start makes the tasks that nobody forks runnable at time 0.
func (m *Sim) start() {
	forked := m.periodic.pooled(len(m.tasks))
	for i := range m.tasks {
		for _, child := range m.tasks[i].prog.Children() {
			forked[child] = true
		}
	}
	for i := range m.tasks {
		if forked[i] {
			continue
		}
		t := &m.tasks[i]
		t.started = true
		c := &m.cpus[t.sched.CPU()]
		m.acting = c
		if m.rec != nil {
			m.rec.born(int(c.id), nil, t.sched)
		}
		m.sched.Start(0, t.sched, int(c.id))
		c.ipiAt = 0
		m.requeue(c)
	}
	for i := range m.cpus { // idle before the run: their ticks have long stopped
		switch {
		case !m.sched.Idle(i):
		case m.sched.StopsTicks():
			m.sched.StopTick(0, i)
			m.beginIdle(&m.cpus[i])
		default:
			m.cpus[i].nextTick = m.nextTickAfter(&m.cpus[i], 0)
			m.beginIdle(&m.cpus[i])
			m.requeue(&m.cpus[i])
		}
		m.cpus[i].debt = 0
	}
	m.sched.TakeCost()
	for i := range m.requests {
		m.armArrival(&m.requests[i])
	}
}

// deadlock says who sleeps on what when nothing can happen any more.
func (m *Sim) deadlock() error {
	var b strings.Builder
	shown := 0
	for i := range m.tasks {
		t := &m.tasks[i]
		if t.exited || t.background || !t.started || shown == 5 {
			continue
		}
		shown++
		fmt.Fprintf(&b, "; task %d sleeps at instruction %d (%s)", i, t.pc, t.prog[t.pc].Op)
	}
	return fmt.Errorf("deadlock at %d ns: %d tasks can never finish%s", m.now, m.foreground, b.String())
}
