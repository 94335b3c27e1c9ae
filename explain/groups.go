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
	quotas quotaQueues
}

func (r *replay) buildGroups() error {
	s := r.f.Scheduler()
	r.groups = groupTable{
		byPath: map[string]*sched.TaskGroup{}, quota: map[*sched.TaskGroup]bool{}}
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

// onThrottle follows what an attempt to throttle or unthrottle a queue led to.
func (r *replay) onThrottle(q trace.Queue) {
	path, throttled := r.groups.quotas.next(q.Address)
	g, cpu := r.groups.byPath[path], int(q.CPU)
	switch {
	case g == nil || cpu < 0 || cpu >= len(r.cpus):
	case throttled:
		r.f.Throttle(g, cpu)
	default:
		r.f.Unthrottle(g, cpu)
	}
}
