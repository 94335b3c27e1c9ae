package explain

import (
	"strings"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// groupTable knows the control groups of a capture. Only those that
// cgroups.txt lists have the cpu controller; a task attached to another one
// belongs to its nearest listed ancestor.
type groupTable struct {
	byPath map[string]*sched.TaskGroup
	quota  map[*sched.TaskGroup]bool
	queues map[uint64]*sched.TaskGroup // by the address of a queue
}

func (r *replay) buildGroups() error {
	s := r.f.Scheduler()
	r.groups = groupTable{
		byPath: map[string]*sched.TaskGroup{}, quota: map[*sched.TaskGroup]bool{}, queues: map[uint64]*sched.TaskGroup{},
	}
	for _, g := range r.bundle.Groups {
		tg := s.NewGroup(r.groups.nearest(s, parentPath(g.Path)), g.Path)
		r.groups.byPath[g.Path] = tg
		r.groups.quota[tg] = g.Quota
		if g.Weight > 0 && g.Weight != 100 {
			if err := s.SetWeight(tg, g.Weight); err != nil {
				return err
			}
		}
		if g.Idle {
			if err := s.SetIdle(tg, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func parentPath(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/"
	}
	return path[:i]
}

func (t *groupTable) nearest(s *sched.Scheduler, path string) *sched.TaskGroup {
	for path != "/" && path != "" {
		if g := t.byPath[path]; g != nil {
			return g
		}
		path = parentPath(path)
	}
	return s.Root()
}

func (r *replay) onAttach(a trace.Attach, cpu int) {
	k := r.lookup(a.Task, cpu)
	if k == nil || a.Root != 0 {
		return
	}
	r.f.SetGroup(&k.Task, r.groups.nearest(r.f.Scheduler(), r.names.Text(a.Path)))
}

// onThrottle finds out whose queue it is: that of the running task's group, or
// of the first one above it that has a quota.
func (r *replay) onThrottle(q trace.Queue) {
	cpu := int(q.CPU)
	if cpu < 0 || cpu >= len(r.cpus) {
		return
	}
	g := r.groups.queues[q.Address]
	if g == nil {
		curr := r.f.Scheduler().Current(cpu)
		if curr == nil {
			return
		}
		for g = curr.Group(); g != nil && !r.groups.quota[g]; g = g.Parent() {
		}
		if g == nil {
			return
		}
		r.groups.queues[q.Address] = g
	}
	r.f.Throttle(g, cpu)
}

func (r *replay) onUnthrottle(q trace.Queue) {
	if g := r.groups.queues[q.Address]; g != nil && q.CPU >= 0 && int(q.CPU) < len(r.cpus) {
		r.f.Unthrottle(g, int(q.CPU))
	}
}
