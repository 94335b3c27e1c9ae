package sched

import (
	"fmt"

	"github.com/schedlab/schedlab/machine"
)

// Config says which scheduler to build. Make one with [NewConfig], then change
// features and tunables by name.
type Config struct {
	Machine  *machine.Machine
	Profile  *Profile
	Features FeatureSet
	Tunables Tunables
	HZ       int64 // ticks a second: 100, 250, 300 or 1000
	// PreemptKernel: the kernel is fully preemptible; newidle balancing then
	// stops after one task (mechanisms.md 9.6).
	PreemptKernel bool
	Prices        Prices
	// Placement replaces the kernel's wakeup placement; nil keeps it.
	Placement PlacementRule
	// Dice returns random numbers for kernels whose newidle balancing rolls
	// dice (NI_RANDOM). A driver passes its own seeded source; nil is a fixed
	// sequence.
	Dice func() uint32
}

// NewConfig returns the defaults of a kernel on a machine: its feature bits,
// tunables scaled by the number of online CPUs, HZ 250, voluntary preemption.
func NewConfig(m *machine.Machine, p *Profile) Config {
	return Config{
		Machine:  m,
		Profile:  p,
		Features: p.Defaults | p.Implied,
		Tunables: p.Tunables.defaults(m.Online().Count()),
		HZ:       250,
		Prices:   DefaultPrices(),
	}
}

// Scheduler is the fair class of one machine: a pure state machine. It is not
// safe for concurrent use.
type Scheduler struct {
	profile       *Profile
	features      FeatureSet
	tun           Tunables
	hz            int64
	preemptKernel bool
	prices        Prices
	machine       *machine.Machine
	driver        Driver
	custom        PlacementRule
	dice          func() uint32
	observer      Observer // nil: nobody looks
	present       int64    // ns, newer than now while a recording's act is followed by an older clock
	time          *timeRules
	endsSlices    bool  // HRTICK: see hrtick.go
	blocked       *Task // the task that a Schedule call has just put to sleep, if that has not been told

	now        int64 // ns
	hooked     bool  // bandwidth control is asked at every turn (bandwidth.go)
	jiffies    int64
	jiffyEnd   int64 // ns at which jiffies must be recomputed
	jiffyPhase int64 // ns, when the first jiffy after time 0 began; 0 in a simulation
	jiffyShift int64 // number of that jiffy's predecessor; 0 in a simulation

	rqs       []runqueue
	online    machine.CPUMask
	idle      machine.CPUMask   // CPUs whose idleCPU() is true
	schedIdle machine.CPUMask   // CPUs whose schedIdle() is true
	cores     []machine.CPUMask // SMT siblings by CPU; shared slices
	scratch   placementScratch  // buffers of the placement path
	lines     []queueLines      // by CPU; nil: not counted

	root     *TaskGroup
	groups   []*TaskGroup
	overload bool // some CPU had more than one task: gate of newidle balancing
	nohz     nohzState
	lb       balanceState
	llcs     *llcPreferences // nil: no preferred caches
	variants patchVariants

	bandwidth     bandwidthRules
	limitedGroups int // groups with a limit

	work     Work
	charged  int64 // cost of the work that TakeCost has returned
	decision *Decision
}

// CheckHZ refuses ticks a second that no kernel can be built with.
func CheckHZ(hz int64) error {
	switch hz {
	case 100, 250, 300, 1000:
		return nil
	}
	return fmt.Errorf("HZ must be 100, 250, 300 or 1000, not %d", hz)
}

// New builds the scheduler: domains are made from the machine, every CPU idles.
func New(cfg Config, driver Driver) (*Scheduler, error) {
	if err := CheckHZ(cfg.HZ); err != nil {
		return nil, err
	}
	n := cfg.Machine.NumCPUs()
	s := &Scheduler{
		profile: cfg.Profile, features: cfg.Features, tun: cfg.Tunables, hz: cfg.HZ,
		preemptKernel: cfg.PreemptKernel, prices: cfg.Prices, machine: cfg.Machine,
		driver: driver, custom: cfg.Placement, dice: cfg.Dice, time: cfg.Profile.Time,
		rqs: make([]runqueue, n), online: cfg.Machine.Online(),
		idle: machine.NewCPUMask(n), schedIdle: machine.NewCPUMask(n),
	}
	s.endsSlices = s.time.eevdf != nil && s.features.Has(HRTick)
	if s.dice == nil {
		s.dice = fixedDice()
	}
	s.root = s.newRootGroup()
	s.groups = []*TaskGroup{s.root}
	for cpu := range s.rqs {
		s.initRunqueue(cpu)
	}
	s.idle.CopyFrom(s.online)
	if err := s.chooseVariants(); err != nil {
		return nil, err
	}
	s.initBandwidth()
	s.buildCores()
	s.initQueueLines()
	s.buildDomains()
	s.initPlacement()
	s.initPreferences()
	s.initNohz()
	return s, nil
}

func (s *Scheduler) initRunqueue(cpu int) {
	rq := &s.rqs[cpu]
	rq.cpu = int32(cpu)
	rq.online = s.online.Has(cpu)
	rq.maxIdleBalanceCost = s.tun.MigrationCost
	rq.avgIdle = 2 * s.tun.MigrationCost
	rq.wakeAvgIdle = rq.avgIdle
	rq.capacityOrig = s.fullCapacity(cpu)
	rq.capacity = rq.capacityOrig
	rq.llcSize, rq.llcID = 1, int32(cpu)
	rq.cfs.rq, rq.cfs.tg = rq, s.root
	rq.cfs.onLeafList = true
	rq.leaf = append(rq.leaf, &rq.cfs)
	s.root.queues[cpu] = &rq.cfs
}

// fullCapacity is the capacity of a CPU before its threads share any of it.
func (s *Scheduler) fullCapacity(cpu int) int64 {
	if c := int64(s.machine.CPUs[cpu].Capacity); c != 0 {
		return c
	}
	return capacityFull
}

// buildCores computes every CPU's set of SMT siblings once.
func (s *Scheduler) buildCores() {
	s.cores = make([]machine.CPUMask, len(s.rqs))
	byCore := make([]machine.CPUMask, len(s.rqs))
	for cpu := range s.rqs {
		if !s.rqs[cpu].online {
			continue
		}
		core := s.machine.CPUs[cpu].Core
		for core >= len(byCore) {
			byCore = append(byCore, nil)
		}
		if byCore[core] == nil {
			byCore[core] = machine.NewCPUMask(len(s.rqs))
		}
		byCore[core].Set(cpu)
		s.cores[cpu] = byCore[core]
	}
}

// setNow moves the scheduler's time forward; every exported call does it first.
func (s *Scheduler) setNow(now int64) {
	s.now = now
	if now >= s.jiffyEnd {
		n := (now - s.jiffyPhase) * s.hz / 1_000_000_000
		s.jiffies = n + s.jiffyShift
		s.jiffyEnd = s.jiffyPhase + ((n+1)*1_000_000_000+s.hz-1)/s.hz
	}
}

// msToJiffies rounds up, as the kernel does.
func (s *Scheduler) msToJiffies(ms int64) int64 { return (ms*s.hz + 999) / 1000 }

// NumCPUs returns the number of CPU slots of the machine.
func (s *Scheduler) NumCPUs() int { return len(s.rqs) }

// NewTask makes a task that is not yet runnable. See [Scheduler.Fork] and
// [Scheduler.Wake] for starting it.
func (s *Scheduler) NewTask(spec TaskSpec) *Task {
	t := &Task{}
	s.InitTask(t, spec)
	return t
}

// InitTask is [Scheduler.NewTask] for a task in the caller's slab.
func (s *Scheduler) InitTask(t *Task, spec TaskSpec) {
	*t = Task{
		ID: spec.ID, Ref: spec.Ref, cpu: int32(spec.CPU), policy: spec.Policy, nice: spec.Nice,
		kthread: spec.Kthread, allowed: spec.Allowed, group: spec.Group,
		recentUsed: int32(spec.CPU), flipDecay: s.jiffies,
		space: spec.Space, preferredLLC: noLLC,
	}
	if t.space != nil {
		t.space.threads++
	}
	if t.allowed == nil {
		t.allowed = s.online
	}
	t.nAllowed = int32(t.allowed.Count())
	if t.group == nil {
		t.group = s.root
	}
	t.se.task = t
	t.se.weight = taskWeight(t.policy, t.nice)
	t.se.slice = s.baseSlice()
	t.se.avg.last = neverUpdated
	t.se.avg.loadAvg = scaleDown(t.se.weight)
	s.attachToQueueOf(t, spec.CPU)
}

// Work returns what has been counted since the scheduler was built.
func (s *Scheduler) Work() Work { return s.work }

// TakeCost returns what the scheduler's work since the last call costs, in
// the nanoseconds of its price list.
func (s *Scheduler) TakeCost() int64 {
	total := s.spent()
	cost := total - s.charged
	s.charged = total
	return cost
}

// spent is the cost of all work so far: the clock by which the kernel measures
// its own scans and balance passes.
func (s *Scheduler) spent() int64 { return s.prices.Cost(&s.work) }

// elapsed returns the nanoseconds of work since spent() was mark.
func (s *Scheduler) elapsed(mark int64) int64 { return s.spent() - mark }

// Idle reports whether cpu is idle now [idle_cpu].
func (s *Scheduler) Idle(cpu int) bool { return s.idle.Has(cpu) }

// SchedIdle reports whether cpu runs only hierarchically idle tasks.
func (s *Scheduler) SchedIdle(cpu int) bool { return s.schedIdle.Has(cpu) }

// NrRunning returns the number of runnable tasks on cpu, the running one included.
func (s *Scheduler) NrRunning(cpu int) int { return int(s.rqs[cpu].nr) }

// Current returns the task that runs on cpu, nil when idle.
func (s *Scheduler) Current(cpu int) *Task { return s.rqs[cpu].curr }

// NeedResched reports whether cpu has been asked to call [Scheduler.Schedule].
func (s *Scheduler) NeedResched(cpu int) bool { return s.rqs[cpu].needResched }

// Load returns cpu's load as placement and balancing see it (nice-0 hog: 1024).
func (s *Scheduler) Load(cpu int) int64 { return s.cpuLoad(&s.rqs[cpu]) }

// Util returns cpu's utilization, 0 to its capacity.
func (s *Scheduler) Util(cpu int) int64 { return s.cpuUtil(&s.rqs[cpu]) }

// SharesCache reports whether two CPUs share their last-level cache.
func (s *Scheduler) SharesCache(a, b int) bool { return s.rqs[a].llcID == s.rqs[b].llcID }

// Stats returns cpu's counters.
func (s *Scheduler) Stats(cpu int) *CPUStats { return &s.rqs[cpu].stats }

// Domains returns cpu's lowest domain, nil for a CPU without one.
func (s *Scheduler) Domains(cpu int) *Domain { return s.rqs[cpu].sd }

// Machine returns the machine that the scheduler was built for.
func (s *Scheduler) Machine() *machine.Machine { return s.machine }

// refreshIdle keeps the idle masks equal to what they count; it is called
// whenever curr, nr, wakePending or hIdle of a CPU may have changed.
func (s *Scheduler) refreshIdle(rq *runqueue) {
	w, bit := uint(rq.cpu)>>6, uint64(1)<<(uint(rq.cpu)&63)
	if rq.online && rq.idleCPU() {
		s.idle[w] |= bit
	} else {
		s.idle[w] &^= bit
	}
	if rq.schedIdle() {
		s.schedIdle[w] |= bit
	} else {
		s.schedIdle[w] &^= bit
	}
}
