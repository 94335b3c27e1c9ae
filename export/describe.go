package export

import "github.com/schedlab/schedlab/trace"

// ColumnDescription is a column of a table for who reads about it.
type ColumnDescription struct {
	Name, Meaning string
	Type          trace.ColumnType
}

// Describe lists the columns of a table: of Events those that all events have.
func Describe(t Table) []ColumnDescription {
	columns, meanings := sliceColumns, sliceMeanings
	if t == Events {
		columns, meanings = eventColumns()[:eventFields], eventMeanings
	}
	out := make([]ColumnDescription, len(columns))
	for i, c := range columns {
		out[i] = ColumnDescription{c.name, meanings[c.name], c.kind}
	}
	return out
}

var eventMeanings = map[string]string{
	"time_ns":      "nanoseconds of the recording's clock",
	"common_cpu":   "CPU that recorded the event",
	"common_pid":   "thread that ran there; 0 is the idle thread",
	"common_tgid":  "its process",
	"common_comm":  "its name",
	"common_flags": "bits of the kernel's common_flags: 0x1 interrupts off, 0x4 need-resched, 0x8 hard interrupt, 0x10 softirq",
	"event":        "the kernel's name of the event",
	"site":         "where a probe was hit",
	"detail":       "the printed form of an event that has no columns of its own",
}

var sliceMeanings = map[string]string{
	"start_ns":        "nanoseconds of the recording's clock",
	"duration_ns":     "its length",
	"state":           "running, waiting (it could run and did not) or asleep",
	"cpu":             "where it ran, where a wait ended, or where it ran last",
	"pid":             "the thread; 0 is an idle thread",
	"incarnation":     "how many threads had the PID before; of an idle thread its CPU",
	"tgid":            "its process",
	"comm":            "its name at the end of the slice",
	"prio":            "the kernel's priority; 120 is nice 0",
	"cgroup":          "path of its cgroup, where the recording tells it",
	"before":          "the state before: a wait after running is a preemption, one after asleep or born a wakeup",
	"after":           "the state that followed; unseen where the recording ends or does not tell",
	"sleep":           "how it slept, in the kernel's letters",
	"waker_pid":       "who woke it, of a wait that began with a wakeup",
	"waker_comm":      "its name",
	"waker_cpu":       "where it ran",
	"waker_interrupt": "true: an interrupt on that CPU woke, not the thread",
	"behind_pid":      "who had the CPU for the longest unbroken part of the wait",
	"behind_comm":     "its name",
	"behind_ns":       "how long that part was",
}
