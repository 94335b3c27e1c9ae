package export

import (
	"fmt"
	"io"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/timeline"
	"github.com/schedlab/schedlab/trace"
)

// perfettoSink writes the events as they are, and counters beside them: how many
// threads each CPU and each last-level cache has queued, and the idle states.
type perfettoSink struct {
	writer   *trace.PerfettoWriter
	follower *timeline.Follower
	caches   *timeline.Caches // nil without a machine

	queues    gauges // by CPU
	idle      gauges // by CPU
	lastLevel gauges // by cache
	err       error  // the first of a callback
}

func newPerfettoSink(out io.Writer, names *trace.Names, m *machine.Machine) *perfettoSink {
	s := &perfettoSink{
		writer: trace.NewPerfettoWriter(out, names, trace.PerfettoOptions{}), follower: timeline.NewFollower(),
		queues:    gauges{group: "Run queues", unit: "threads", name: func(cpu int) string { return fmt.Sprintf("CPU %d queued", cpu) }},
		idle:      gauges{group: "Idle states", unit: "depth", name: func(cpu int) string { return fmt.Sprintf("CPU %d idle state", cpu) }},
		lastLevel: gauges{group: "Last-level caches", unit: "threads"},
	}
	if m != nil {
		s.caches = timeline.NewCaches(m)
		s.lastLevel.name = func(cache int) string {
			return fmt.Sprintf("LLC of CPUs %s queued", m.LLCMask(s.caches.First(cache)))
		}
	}
	s.follower.OnDepth = s.depth
	s.follower.OnIdle = func(cpu int32, at, state int64) { s.keep(s.idle.set(s.writer, int(cpu), at, state)) }
	return s
}

func (s *perfettoSink) depth(cpu int32, at int64, queued int) {
	s.keep(s.queues.set(s.writer, int(cpu), at, int64(queued)))
	if s.caches == nil {
		return
	}
	if cache, total, ok := s.caches.Depth(cpu, queued); ok {
		s.keep(s.lastLevel.set(s.writer, cache, at, int64(total)))
	}
}

func (s *perfettoSink) keep(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *perfettoSink) write(e *trace.Event) error {
	if err := s.writer.Write(e); err != nil {
		return err
	}
	s.follower.Observe(e)
	return s.err
}

func (s *perfettoSink) close() error {
	for _, g := range []*gauges{&s.queues, &s.lastLevel, &s.idle} {
		if err := g.flush(s.writer); err != nil {
			return err
		}
	}
	return s.writer.Close()
}

// gauges are a group of counters, each defined when it is first set. A gauge
// that changes more than once at the same time is written with its last value.
type gauges struct {
	group, unit string
	name        func(i int) string

	parent trace.Track
	all    []gauge
}

type gauge struct {
	track     trace.Track // 0: not defined yet
	at, value int64
	pending   bool
}

func (g *gauges) set(w *trace.PerfettoWriter, i int, at, value int64) error {
	for i >= len(g.all) {
		g.all = append(g.all, gauge{})
	}
	if g.all[i].pending && g.all[i].at != at {
		if err := g.write(w, i); err != nil {
			return err
		}
	}
	g.all[i].at, g.all[i].value, g.all[i].pending = at, value, true
	return nil
}

func (g *gauges) write(w *trace.PerfettoWriter, i int) (err error) {
	one := &g.all[i]
	if g.parent == 0 {
		if g.parent, err = w.DefineGroup(g.group); err != nil {
			return err
		}
	}
	if one.track == 0 {
		if one.track, err = w.DefineCounter(g.parent, g.name(i), g.unit, int32(i)); err != nil {
			return err
		}
	}
	one.pending = false
	return w.Count(one.track, one.at, one.value)
}

func (g *gauges) flush(w *trace.PerfettoWriter) error {
	for i := range g.all {
		if g.all[i].pending {
			if err := g.write(w, i); err != nil {
				return err
			}
		}
	}
	return nil
}
