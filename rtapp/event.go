package rtapp

import (
	"math"
	"strings"

	"github.com/schedlab/schedlab/internal/suggest"
)

// EventKind is what an event does.
type EventKind uint8

// The events.
const (
	Run     EventKind = iota // work that takes Micros µs on a free CPU
	Runtime                  // work until Micros µs have passed
	Sleep                    // for Micros µs
	Mem                      // write Count bytes to the thread's buffer
	IORun                    // write Count bytes to the device
	MemRun                   // access memory as Memory says
	Timer                    // sleep until the timer's next period
	Lock
	Unlock
	Wait      // for condition Ref, with Mutex
	Signal    // condition Ref
	Broadcast // condition Ref
	Sync      // signal condition Ref and wait for it, with Mutex
	Barrier
	Suspend // until somebody resumes the task's name
	Resume  // the threads that are suspended under the name Ref
	Yield
	Fork // one more thread of task Ref
	SemPost
	SemWait
)

// Event is one step of a phase.
type Event struct {
	Kind   EventKind
	Key    string // as the file spells it
	Pos    Pos
	Micros int64
	Count  int64
	Ref    string
	Mutex  string
	// Unique says that each thread has a timer Ref of its own.
	Unique bool
	// Absolute timers keep their grid after a period that was missed.
	Absolute bool
	Memory   Memory
}

// Memory is what a memrun event accesses.
type Memory struct {
	Type       string // read, write or chase
	Size       int64  // bytes of the buffer
	Stride     int64  // bytes between two places of a chase
	Sequential bool   // a chase in order of addresses
}

// eventSpec ties the beginning of a key to an event: "run1" is a run.
type eventSpec struct {
	prefix string
	read   func(*parser, *Task, *Event, *node) error
	kind   EventKind
}

// events are the kinds of keys. A key is looked up from the top, so a prefix of
// another one stands below it.
var events = []eventSpec{
	{"runtime", readMicros, Runtime},
	{"run", readMicros, Run},
	{"sleep", readMicros, Sleep},
	{"memrun", readMemory, MemRun},
	{"mem", readCount, Mem},
	{"iorun", readCount, IORun},
	{"lock", readRef, Lock},
	{"unlock", readRef, Unlock},
	{"signal", readRef, Signal},
	{"broad", readRef, Broadcast},
	{"wait", readCondition, Wait},
	{"sync", readCondition, Sync},
	{"barrier", readRef, Barrier},
	{"timer", readTimer, Timer},
	{"resume", readRef, Resume},
	{"suspend", readSuspend, Suspend},
	{"yield", readNothing, Yield},
	{"fork", readRef, Fork},
	{"sem_post", readRef, SemPost},
	{"sem_wait", readRef, SemWait},
}

func eventNames() []string {
	names := make([]string, len(events))
	for i := range events {
		names[i] = events[i].prefix
	}
	return names
}

func findEvent(key string) *eventSpec {
	for i := range events {
		if strings.HasPrefix(key, events[i].prefix) {
			return &events[i]
		}
	}
	return nil
}

func isEvent(key string) bool { return findEvent(key) != nil }

// events reads the events of an object in the order of the file.
func (p *parser) events(t *Task, body *node) ([]Event, error) {
	var list []Event
	for i := range body.members {
		m := &body.members[i]
		spec := findEvent(m.key)
		if spec == nil {
			continue
		}
		e := Event{Kind: spec.kind, Key: m.key, Pos: Pos{m.at}}
		if err := spec.read(p, t, &e, m.value); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func readMicros(p *parser, _ *Task, e *Event, n *node) (err error) {
	e.Micros, err = p.integer(e.Key, n, 0, maxMicros)
	return err
}

func readCount(p *parser, _ *Task, e *Event, n *node) (err error) {
	e.Count, err = p.integer(e.Key, n, 0, math.MaxInt32)
	return err
}

func readRef(p *parser, _ *Task, e *Event, n *node) (err error) {
	if e.Ref, err = p.str(e.Key, n); err == nil && e.Ref == "" {
		err = p.errorAt(n.at, "%s needs a name", quote(e.Key))
	}
	return err
}

// readSuspend takes any value and uses none: a thread is suspended under its own
// task's name.
func readSuspend(p *parser, t *Task, e *Event, n *node) error {
	e.Ref = t.Name
	if n.kind == text && n.literal != "" && n.literal != t.Name {
		p.remark(n.at, "%s: rt-app does not use %s; the thread is suspended as %s, its task's name", e.Key, quote(n.literal), quote(t.Name))
	}
	return nil
}

func readNothing(*parser, *Task, *Event, *node) error { return nil }

// unnamed is the resource that an event without a ref shares with all others
// without one.
const unnamed = "unknown"

// field is a key of the object that an event takes.
type field struct {
	key  string
	read func(*node) error
}

func (p *parser) fields(key string, n *node, fields ...field) error {
	if err := p.want(object, key, n); err != nil {
		return err
	}
	ps := p.properties()
	for i := range n.members {
		m := &n.members[i]
		if !ps.once(m) {
			return ps.err
		}
		if err := p.readField(key, m, fields); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) readField(key string, m *member, fields []field) error {
	names := make([]string, len(fields))
	for i, f := range fields {
		if f.key == m.key {
			return f.read(m.value)
		}
		names[i] = f.key
	}
	return p.unknown(m, quote(key), names)
}

func (p *parser) stringField(key string, target *string) field {
	return field{key, func(n *node) (err error) {
		*target, err = p.str(key, n)
		return err
	}}
}

func (p *parser) numberField(key string, target *int64, least int64) field {
	return field{key, func(n *node) (err error) {
		*target, err = p.integer(key, n, least, math.MaxInt32)
		return err
	}}
}

func readCondition(p *parser, _ *Task, e *Event, n *node) error {
	e.Ref, e.Mutex = unnamed, unnamed
	return p.fields(e.Key, n, p.stringField("ref", &e.Ref), p.stringField("mutex", &e.Mutex))
}

// timerModes are the values of a timer's mode.
var timerModes = []string{"relative", "absolute"}

// uniquePrefix begins the names of timers that each thread has for itself.
const uniquePrefix = "unique"

func readTimer(p *parser, _ *Task, e *Event, n *node) error {
	e.Ref = unnamed
	mode := field{"mode", func(n *node) error {
		name, err := p.str("mode", n)
		switch {
		case err != nil:
			return err
		case name == "absolute":
			e.Absolute = true
		case name != "relative":
			return p.errorAt(n.at, "there is no mode %s; %s", quote(name), suggest.DidYouMean(name, timerModes))
		}
		return nil
	}}
	err := p.fields(e.Key, n, p.stringField("ref", &e.Ref), p.numberField("period", &e.Micros, 0), mode)
	e.Unique = strings.HasPrefix(e.Ref, uniquePrefix)
	return err
}

var (
	memoryTypes    = []string{"read", "write", "chase"}
	memoryPatterns = []string{"random", "sequential"}
)

const defaultStride = 64

func readMemory(p *parser, _ *Task, e *Event, n *node) error {
	e.Count, e.Memory.Stride = -1, defaultStride
	pattern := field{"pattern", func(n *node) (err error) {
		e.Memory.Sequential, err = p.choice("pattern", n, memoryPatterns)
		return err
	}}
	kind := field{"type", func(n *node) (err error) {
		e.Memory.Type = n.literal
		_, err = p.choice("type", n, memoryTypes)
		return err
	}}
	err := p.fields(e.Key, n, kind, p.numberField("size", &e.Memory.Size, 1), p.numberField("count", &e.Count, 0),
		p.numberField("stride", &e.Memory.Stride, 1), pattern, p.stringField("ref", &e.Ref))
	switch {
	case err != nil:
		return err
	case e.Memory.Type == "" || e.Memory.Size == 0 || e.Count < 0:
		return p.errorAt(n.at, "%s needs a type, a size and a count", quote(e.Key))
	case e.Memory.Type == "chase" && e.Memory.Size < 2*e.Memory.Stride:
		return p.errorAt(n.at, "%s: a chase needs a size of at least two strides, %d bytes", quote(e.Key), 2*e.Memory.Stride)
	}
	return p.sharedBuffer(e, n)
}

// sharedBuffer demands that events which share a buffer by its name agree on it.
func (p *parser) sharedBuffer(e *Event, n *node) error {
	if e.Ref == "" {
		return nil
	}
	have, known := p.buffers[bufferName{e.Ref, e.Memory.Type}]
	if !known {
		p.buffers[bufferName{e.Ref, e.Memory.Type}] = e.Memory
		return nil
	}
	if e.Memory.Type != "chase" {
		have.Stride, have.Sequential = e.Memory.Stride, e.Memory.Sequential // of no account
	}
	if have != e.Memory {
		return p.errorAt(n.at, "%s: the buffer %s has another size, stride or pattern elsewhere; all who share it must agree", quote(e.Key), quote(e.Ref))
	}
	return nil
}

// choice refuses a string that is not among the names, and reports whether it
// is the last of them.
func (p *parser) choice(key string, n *node, names []string) (last bool, err error) {
	value, err := p.str(key, n)
	if err != nil {
		return false, err
	}
	for i, name := range names {
		if value == name {
			return i == len(names)-1, nil
		}
	}
	return false, p.errorAt(n.at, "there is no %s %s; %s", key, quote(value), suggest.DidYouMean(value, names))
}

// checkForks holds the names that events fork against the tasks.
func (p *parser) checkForks() error {
	var names []string
	known := map[string]bool{}
	for i := range p.file.Tasks {
		names = append(names, p.file.Tasks[i].Name)
		known[p.file.Tasks[i].Name] = true
	}
	for i := range p.file.Tasks {
		for j := range p.file.Tasks[i].Phases {
			for _, e := range p.file.Tasks[i].Phases[j].Events {
				if e.Kind == Fork && !known[e.Ref] {
					return p.errorAt(e.Pos.offset, "%s: there is no task %s; %s", quote(e.Key), quote(e.Ref), suggest.DidYouMean(e.Ref, names))
				}
			}
		}
	}
	return nil
}
