package sched

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

// PlacementRule is a placement rule of one's own: it replaces the choice of
// the CPU for wakeups, forks and execs of one scheduler. It is asked only for
// tasks that may run on more than one CPU and must answer with an online CPU;
// an answer outside the task's affinity mask is replaced by an allowed CPU, as
// the kernel does with its own rules.
//
// The rule sees the scheduler through its exported methods (Idle, NrRunning,
// Load, Domains, ...) and must not change it.
// [Scheduler.KernelPlacement] falls back to the profile's own rule, so that a
// rule can cover one case and leave the rest.
type PlacementRule interface {
	Place(s *Scheduler, p *Placement) int
}

// Placement is one request to choose a CPU. It is valid during the call only.
type Placement struct {
	Task *Task
	Prev int // CPU the task last ran on
	Here int // CPU that executes the wakeup
	Kind Kind
	Sync bool // the waker is about to sleep
	// StayHere asks for the waker's CPU whatever else would do (v6.6 and later:
	// WF_CURRENT_CPU, the wakeups of seccomp notification).
	StayHere bool
}

// AddWork counts work that a [PlacementRule] did outside the scheduler's own
// methods: the CPUs that it looked at, the locks that it would take. What is
// not counted is free, and a comparison with the kernel's rule then means
// nothing.
func (s *Scheduler) AddWork(w *Work) { s.work.add(w) }

// customPlacement asks the configured rule. In the record it counts as the
// kernel's choice when the rule took what [Scheduler.KernelPlacement] said.
func (s *Scheduler) customPlacement(p *Placement) int {
	cpu := s.custom.Place(s, p)
	if d := s.decision; d != nil && (d.Rule == RuleNone || int(d.CPU) != cpu) {
		s.note(cpu, RuleCustom, VerdictTaken)
		s.settle(cpu, RuleCustom)
	}
	return cpu
}

// registry holds the placement rules that programs have registered by name.
var registry = struct {
	sync.RWMutex
	rules map[string]func() PlacementRule
}{rules: map[string]func() PlacementRule{}}

// RegisterPlacement makes a rule known by name, usually from an init function;
// an experiment then names it like a kernel feature. rule makes a fresh rule
// for each scheduler, so that a rule may keep state. It panics when the name
// is empty or taken, or rule is nil.
func RegisterPlacement(name string, rule func() PlacementRule) {
	registry.Lock()
	defer registry.Unlock()
	if name == "" || rule == nil {
		panic("sched: RegisterPlacement needs a name and a rule")
	}
	if _, taken := registry.rules[name]; taken {
		panic(fmt.Sprintf("sched: placement rule %q is registered twice", name))
	}
	registry.rules[name] = rule
}

// LookupPlacement returns a fresh rule of that name. The error lists the rules
// that there are.
func LookupPlacement(name string) (PlacementRule, error) {
	registry.RLock()
	rule, ok := registry.rules[name]
	registry.RUnlock()
	if ok {
		return rule(), nil
	}
	known := "none is registered"
	if names := Placements(); len(names) > 0 {
		known = "there are " + strings.Join(names, ", ")
	}
	return nil, fmt.Errorf("unknown placement rule %q; %s", name, known)
}

// Placements returns the names of the registered rules in alphabetical order.
func Placements() []string {
	registry.RLock()
	defer registry.RUnlock()
	names := make([]string, 0, len(registry.rules))
	for name := range registry.rules {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
