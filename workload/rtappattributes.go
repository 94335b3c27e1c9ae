package workload

import (
	"slices"

	"github.com/schedlab/schedlab/rtapp"
)

// rtPriority is a policy of the fair class with a nice value.
type rtPriority struct {
	policy Policy
	nice   int64
}

// taskPriorities are what a task sets at its start and at each phase; nil sets
// nothing.
type taskPriorities struct {
	task   *rtPriority
	phases []*rtPriority
}

// nearestToRealTime is what stands for a thread of a class above the fair one,
// which is not simulated: the strongest that the fair class has.
var nearestToRealTime = rtPriority{Normal, -20}

// checkAttributes resolves priorities and refuses what the kernel or rt-app
// would.
func (b *rtBuilder) checkAttributes() error {
	b.priorities = map[*rtapp.Task]*taskPriorities{}
	for i := range b.file.Tasks {
		t := &b.file.Tasks[i]
		policy := t.Policy
		if policy == rtapp.Same {
			policy = b.file.Global.DefaultPolicy
		}
		set := &taskPriorities{}
		b.priorities[t] = set
		var err error
		if set.task, err = b.priority(policy, 0, &t.Attributes, t.Taskgroup != ""); err != nil {
			return err
		}
		nice := set.task.nice
		grouped := t.Taskgroup != ""
		for j := range t.Phases {
			a := &t.Phases[j].Attributes
			if err := b.checkCPUs(a); err != nil {
				return err
			}
			grouped = grouped || a.Taskgroup != ""
			var change *rtPriority
			if a.Policy != rtapp.Same || a.HasPriority {
				if a.Policy != rtapp.Same {
					policy = a.Policy
				}
				if change, err = b.priority(policy, nice, a, grouped); err != nil {
					return err
				}
				nice = change.nice
			} else if grouped && !policy.Fair() {
				return b.file.ErrorAt(a.TaskgroupPos, "a taskgroup holds threads of the fair class only, not of %s", policy)
			}
			set.phases = append(set.phases, change)
		}
		if err := b.checkCPUs(&t.Attributes); err != nil {
			return err
		}
	}
	return nil
}

// priority is what a policy and a priority come to. Without a priority that of
// the policy counts: nice 0 in the fair class.
func (b *rtBuilder) priority(policy rtapp.Policy, nice int64, a *rtapp.Attributes, grouped bool) (*rtPriority, error) {
	least, most := int64(-20), int64(19)
	if !policy.Fair() {
		least, most = 0, 99
	}
	if p := a.Priority.Value; a.HasPriority && (p < least || p > most) {
		return nil, b.file.ErrorAt(a.Priority.Pos, "priority %d: %s takes %d to %d", p, policy, least, most)
	}
	if !policy.Fair() {
		if grouped {
			return nil, b.file.ErrorAt(a.PolicyPos, "a taskgroup holds threads of the fair class only, not of %s", policy)
		}
		change := nearestToRealTime
		return &change, nil
	}
	switch policy {
	case rtapp.Idle: // rt-app sets no nice value there
		return &rtPriority{Idle, nice}, nil
	case rtapp.Batch:
		return &rtPriority{Batch, a.Priority.Value}, nil
	}
	return &rtPriority{Normal, a.Priority.Value}, nil
}

func (b *rtBuilder) checkCPUs(a *rtapp.Attributes) error {
	if a.CPUs == nil {
		return nil
	}
	if most := slices.Max(a.CPUs); most >= b.cpus {
		return b.file.ErrorAt(a.CPUsPos, "there is no CPU %d: the machine has 0 to %d", most, b.cpus-1)
	}
	return nil
}
