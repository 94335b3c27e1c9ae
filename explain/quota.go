package explain

import (
	"sort"

	"github.com/schedlab/schedlab/trace"
)

// quotaQueues is what a whole recording tells about the queues of groups with a
// quota. The events name a queue by its address, and are attempts: throttling
// fails when the group has runtime left for the queue, and (v7.2) so does
// unthrottling a queue whose debt is larger than what it was given.
type quotaQueues struct {
	groupOf map[uint64]string // path of the group, by the queue's address
	// throttled says of each event, in their order, whether the queue is throttled
	// from then on. The next event of the same queue tells: a kernel throttles only
	// queues that are not throttled and unthrottles only those that are.
	throttled []bool
	seen      int // events followed so far
}

// next tells whose queue the next event is about, and whether it is throttled
// from then on.
func (q *quotaQueues) next(queue uint64) (group string, throttled bool) {
	if q.seen >= len(q.throttled) {
		return "", false
	}
	q.seen++
	return q.groupOf[queue], q.throttled[q.seen-1]
}

// survey reads a recording for its queues with quotas. One without such groups
// is not read.
func (b *Bundle) survey() (quotaQueues, error) {
	s := quotaSurvey{
		quotaOf: map[string]string{}, groups: map[int32]string{}, running: map[int32]int32{},
		votes: map[quotaVote]int{}, last: map[uint64]int{},
	}
	quotas := false
	for _, g := range b.Groups {
		s.quotaOf[g.Path] = s.quotaOf[parentPath(g.Path)]
		if g.Quota {
			s.quotaOf[g.Path], quotas = g.Path, true
		}
	}
	if !quotas || b.Simulated {
		return quotaQueues{}, nil
	}
	if err := b.eachEvent(s.add); err != nil {
		return quotaQueues{}, err
	}
	return quotaQueues{groupOf: s.elect(), throttled: s.throttled}, nil
}

// quotaSurvey follows who is in which group and who runs where.
type quotaSurvey struct {
	quotaOf   map[string]string // the group itself or the nearest one above with a quota
	groups    map[int32]string  // by thread
	running   map[int32]int32   // thread by CPU
	votes     map[quotaVote]int
	last      map[uint64]int // newest event of a queue
	throttled []bool
}

// quotaVote is the guess that a queue is that of the group whose task ran on
// its CPU. It is wrong when a task was queued by another one, or when the next
// task was being picked.
type quotaVote struct {
	queue uint64
	cpu   int32
	group string
}

func (s *quotaSurvey) add(e *trace.Event, names *trace.Names) {
	switch e.Kind {
	case trace.KindSwitch:
		s.running[e.CPU] = e.Switch().Next.PID
	case trace.KindFork:
		f := e.Fork()
		s.groups[f.Child.PID] = s.groups[f.Parent.PID]
	case trace.KindAttach:
		if a := e.Attach(); a.Root == 0 {
			s.groups[a.Task.PID] = s.nearest(names.Text(a.Path))
		}
	case trace.KindThrottle:
		q := e.Queue()
		s.note(q.Address, false)
		if g := s.groups[s.running[q.CPU]]; g != "" {
			s.votes[quotaVote{q.Address, q.CPU, g}]++
		}
	case trace.KindUnthrottle:
		s.note(e.Queue().Address, true)
	}
}

// nearest returns the group with a quota that limits the group at a path.
func (s *quotaSurvey) nearest(path string) string {
	for ; path != "/" && path != ""; path = parentPath(path) {
		if g, listed := s.quotaOf[path]; listed {
			return g
		}
	}
	return ""
}

// note appends an event; release says that it is an unthrottling, so that the
// queue has been throttled since its event before. Of the last one of a queue
// its kind is believed.
func (s *quotaSurvey) note(queue uint64, release bool) {
	if i, known := s.last[queue]; known {
		s.throttled[i] = release
	}
	s.last[queue] = len(s.throttled)
	s.throttled = append(s.throttled, !release)
}

// elect gives each queue the group with most votes; a group has one queue on
// each CPU.
func (s *quotaSurvey) elect() map[uint64]string {
	all := make([]quotaVote, 0, len(s.votes))
	for v := range s.votes {
		all = append(all, v)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		switch {
		case s.votes[a] != s.votes[b]:
			return s.votes[a] > s.votes[b]
		case a.queue != b.queue:
			return a.queue < b.queue
		}
		return a.group < b.group
	})
	type place struct {
		cpu   int32
		group string
	}
	taken := map[place]bool{}
	groupOf := map[uint64]string{}
	for _, v := range all {
		if at := (place{v.cpu, v.group}); groupOf[v.queue] == "" && !taken[at] {
			groupOf[v.queue], taken[at] = v.group, true
		}
	}
	return groupOf
}
