package sched

import (
	"strings"
	"testing"
)

// sameCPU is the simplest rule: stay where you were; forks go to the kernel.
type sameCPU struct{ asked int }

func (r *sameCPU) Place(s *Scheduler, p *Placement) int {
	r.asked++
	if p.Kind == KindFork {
		return s.KernelPlacement(p)
	}
	return p.Prev
}

func newRuleLab(t *testing.T, rule PlacementRule) *placementLab {
	cfg := NewConfig(oneCache.build(), &v517)
	cfg.Placement = rule
	s, err := New(cfg, nullDriver{})
	if err != nil {
		t.Fatal(err)
	}
	lab := &placementLab{Scheduler: s, t: t}
	s.Record(&lab.decision)
	return lab
}

func TestCustomRuleReplacesTheKernels(t *testing.T) {
	rule := &sameCPU{}
	lab := newRuleLab(t, rule)
	lab.busy(3, 2)
	lab.wantCPU(lab.wake(lab.task(2), 0, false), 2) // the kernel would not
	lab.wantRule(RuleCustom)
	if lab.Stats(0).SISSearch != 0 {
		t.Error("the kernel's search ran although the rule did not ask for it")
	}
	lab.selectCPU(lab.task(0), 0, 0, KindFork, false)
	if lab.decision.Rule == RuleCustom || lab.decision.Rule == RuleNone {
		t.Errorf("a fork left to the kernel is recorded as %q", lab.decision.Rule)
	}
	lab.wake(lab.task(2, 3), 0, false)
	lab.wantRule(RulePinned)
	if rule.asked != 2 {
		t.Errorf("the rule was asked %d times, want 2: a pinned task has no choice", rule.asked)
	}
}

// answer is a rule that always says the same CPU.
type answer int

func (a answer) Place(*Scheduler, *Placement) int { return int(a) }

func TestUnlawfulAnswerIsReplaced(t *testing.T) {
	for _, cpu := range []int{-1, 0, 4, 64, 1 << 30} {
		lab := newRuleLab(t, answer(cpu))
		lab.wantCPU(lab.wake(lab.task(1, 2, 3), 0, false), 2)
		lab.wantRule(RuleFallback)
	}
}

func TestPlacementRegistry(t *testing.T) {
	defer func(rules map[string]func() PlacementRule) { registry.rules = rules }(registry.rules)
	registry.rules = map[string]func() PlacementRule{}

	if _, err := LookupPlacement("same-cpu"); err == nil || !strings.Contains(err.Error(), "none is registered") {
		t.Errorf("lookup in an empty registry: %v", err)
	}
	RegisterPlacement("same-cpu", func() PlacementRule { return &sameCPU{} })
	RegisterPlacement("first", func() PlacementRule { return answer(0) })
	if got := strings.Join(Placements(), " "); got != "first same-cpu" {
		t.Errorf("names %q, want them in alphabetical order", got)
	}
	a, errA := LookupPlacement("same-cpu")
	b, errB := LookupPlacement("same-cpu")
	if errA != nil || errB != nil || a == b {
		t.Errorf("two lookups must give two rules: %v %v", errA, errB)
	}
	if _, err := LookupPlacement("sam-cpu"); err == nil || !strings.Contains(err.Error(), `"sam-cpu"`) || !strings.Contains(err.Error(), "first, same-cpu") {
		t.Errorf("the error should name what was asked for and what there is: %v", err)
	}
	for name, register := range map[string]func(){
		"duplicate": func() { RegisterPlacement("first", func() PlacementRule { return answer(1) }) },
		"no name":   func() { RegisterPlacement("", func() PlacementRule { return answer(1) }) },
		"no rule":   func() { RegisterPlacement("nothing", nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			register()
		}()
	}
}
