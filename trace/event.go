package trace

import "math"

// Values that stand for what a recording does not tell.
const (
	UnknownCPU int32 = -1
	UnknownPID int32 = -1
	Unknown    int64 = math.MinInt64
)

// maxCPU is one more than the largest CPU number a reader accepts. Linux is
// built for at most 8192 CPUs; a larger number in a file is damage.
const maxCPU = 1 << 14

// maxFields is the largest number of fields in any schema (the probe "sel").
const maxFields = 16

// Event is one entry of a recording. A reader reuses it: after the next call of
// Next only the copied values remain valid, Detail does not.
type Event struct {
	Time   int64 // nanoseconds of the recording's clock
	Offset int64 // byte offset in the (decompressed) input where the entry starts
	CPU    int32 // CPU that recorded it, or UnknownCPU
	PID    int32 // thread that ran there, or UnknownPID; 0 is the idle task
	TGID   int32 // its process, or UnknownPID
	Comm   Name  // its name; NoName when unknown
	Name   Name  // the kernel's name of the event, such as sched_switch
	Site   Name  // where a probe was hit, such as "load_balance+0x0/0xe50"; else NoName
	Kind   Kind
	Marks  Mark
	Context
	// Detail is the printed form of an event of KindOther. It is valid until the
	// next call of Next.
	Detail []byte

	has  uint32 // bit i: args[i] is known
	args [maxFields]int64
}

// Mark tells what a reader noticed about an event.
type Mark uint8

const (
	// MarkReordered is set on an event older than one delivered before it.
	MarkReordered Mark = 1 << iota
	// MarkDuplicate is set on an event equal in every field to the one before
	// it on the same CPU, where that cannot happen twice.
	MarkDuplicate
	// MarkMalformed is set on an event of a known kind with a field that was
	// missing or could not be read; that field is unknown.
	MarkMalformed
)

// Context is the state of the CPU when it recorded an event: the columns of
// ftrace's text called irqs-off, need-resched, hardirq/softirq, preempt-depth
// and migrate-disable.
type Context struct {
	Known   bool
	Flags   ContextFlag
	Preempt uint8 // low 4 bits: preemption depth; high 4 bits: migrate-disable depth
}

// ContextFlag has the bits of the kernel's common_flags.
type ContextFlag uint8

// The bits of common_flags, by linux/trace_events.h of 6.13 (before it, bit 1
// meant that the architecture could not tell).
const (
	ContextIRQsOff ContextFlag = 1 << iota
	ContextLazyResched
	ContextNeedResched
	ContextHardIRQ
	ContextSoftIRQ
	ContextPreemptResched
	ContextNMI
	ContextBHOff
)

// InInterrupt reports whether the event was recorded in a hard interrupt, a
// softirq or an NMI, so that the current task is not the one that acted.
func (c Context) InInterrupt() bool {
	return c.Flags&(ContextHardIRQ|ContextSoftIRQ|ContextNMI) != 0
}

// reset makes e an event of which nothing is known.
func (e *Event) reset() {
	e.Time, e.Offset = 0, 0
	e.CPU, e.PID, e.TGID = UnknownCPU, UnknownPID, UnknownPID
	e.Comm, e.Name, e.Site = NoName, NoName, NoName
	e.Kind, e.Marks, e.Context = KindOther, 0, Context{}
	e.Detail = nil
	e.has = 0
}

// set stores a field by its slot in the schema.
func (e *Event) set(slot int, value int64) {
	e.args[slot&(maxFields-1)] = value
	e.has |= 1 << slot
}

// value returns a field, or Unknown.
func (e *Event) value(slot int) int64 {
	if e.has&(1<<slot) == 0 {
		return Unknown
	}
	return e.args[slot&(maxFields-1)]
}

// Value returns a field by the name that the kernel prints, such as "load" of
// the probe sel; ok is false when this kind has no such field or the recording
// did not tell it. Texts are returned as the number of a Name.
func (e *Event) Value(name string) (value int64, ok bool) {
	slot := e.Kind.schema().slot(name)
	if slot < 0 || e.has&(1<<slot) == 0 {
		return Unknown, false
	}
	return e.args[slot], true
}
