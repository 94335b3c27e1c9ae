package export

import (
	"github.com/schedlab/schedlab/timeline"
	"github.com/schedlab/schedlab/trace"
)

// sliceColumns are the columns of the slices. What ended a slice is in after: a
// running one that was preempted is followed by waiting.
var sliceColumns = []column{
	{"start_ns", trace.ColumnInt},
	{"duration_ns", trace.ColumnInt},
	{"state", trace.ColumnText}, // running, waiting or asleep
	{"cpu", trace.ColumnInt},
	{"pid", trace.ColumnInt},
	{"incarnation", trace.ColumnInt}, // how many threads had the PID before; of an idle thread its CPU
	{"tgid", trace.ColumnInt},
	{"comm", trace.ColumnText},
	{"prio", trace.ColumnInt},
	{"cgroup", trace.ColumnText},
	{"before", trace.ColumnText},
	{"after", trace.ColumnText},
	{"sleep", trace.ColumnText}, // letters of the kernel's state
	{"waker_pid", trace.ColumnInt},
	{"waker_comm", trace.ColumnText},
	{"waker_cpu", trace.ColumnInt},
	{"waker_interrupt", trace.ColumnBool}, // an interrupt woke, not the thread
	{"behind_pid", trace.ColumnInt},       // who had the CPU for the longest part of the wait
	{"behind_comm", trace.ColumnText},
	{"behind_ns", trace.ColumnInt},
}

// sliceSink writes a row for each stretch of time that a thread, idle ones
// included, was in one state, in the order in which they end.
type sliceSink struct {
	table    table
	names    *trace.Names
	follower *timeline.Follower
	longest  map[trace.Thread]blocker // by waiter, over the present wait
	cells    []cell
	err      error
}

// blocker is who was waited for longest at a stretch.
type blocker struct {
	pid  int32
	comm trace.Name
	ns   int64
}

func newSliceSink(t table, names *trace.Names) *sliceSink {
	s := &sliceSink{
		table: t, names: names, follower: timeline.NewFollower(),
		longest: make(map[trace.Thread]blocker), cells: make([]cell, len(sliceColumns)),
	}
	s.follower.OnWait = s.part
	s.follower.OnInterval = s.interval
	return s
}

func (s *sliceSink) part(p *timeline.WaitPart) {
	if p.Behind != nil && p.Duration() > s.longest[p.Waiter.Thread].ns {
		s.longest[p.Waiter.Thread] = blocker{p.Behind.PID, p.Behind.Comm, p.Duration()}
	}
}

func (s *sliceSink) interval(i *timeline.Interval) {
	row := append(s.cells[:0],
		number(i.From), number(i.Duration()), text(i.State.String()), known(int64(i.CPU), int64(trace.UnknownCPU)),
		number(int64(i.PID)), number(int64(i.Incarnation)), known(int64(i.TGID), int64(trace.UnknownPID)),
		text(s.names.Text(i.Comm)), known(int64(i.Prio), -1), text(s.names.Text(i.Group)),
		text(i.Before.String()), text(i.After.String()))
	row = append(row, s.sleep(i))
	row = s.waker(row, i)
	row = s.behind(row, i)
	if s.err == nil {
		s.err = s.table.row(row)
	}
}

func (s *sliceSink) sleep(i *timeline.Interval) cell {
	if i.State != timeline.Asleep {
		return cell{}
	}
	return text(i.Sleep.String())
}

func (s *sliceSink) waker(row []cell, i *timeline.Interval) []cell {
	if !i.Woken {
		return append(row, cell{}, cell{}, cell{}, cell{})
	}
	interrupt := cell{set: true}
	if i.Waker.Interrupt {
		interrupt.number = 1
	}
	return append(row, known(int64(i.Waker.PID), int64(trace.UnknownPID)), text(s.names.Text(i.Waker.Comm)),
		number(int64(i.Waker.CPU)), interrupt)
}

func (s *sliceSink) behind(row []cell, i *timeline.Interval) []cell {
	b, known := s.longest[i.Thread]
	if i.State != timeline.Waiting || !known {
		return append(row, cell{}, cell{}, cell{})
	}
	delete(s.longest, i.Thread)
	return append(row, number(int64(b.pid)), text(s.names.Text(b.comm)), number(b.ns))
}

func (s *sliceSink) write(e *trace.Event) error {
	s.follower.Observe(e)
	return s.err
}

func (s *sliceSink) close() error {
	s.follower.Finish()
	if s.err != nil {
		return s.err
	}
	return s.table.close()
}
