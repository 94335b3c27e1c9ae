package rtapp

import (
	"fmt"

	"github.com/schedlab/schedlab/internal/suggest"
)

// File is a workload file.
type File struct {
	Name   string
	Global Global
	Tasks  []Task // in the order of the file
	// Remarks are what the file says that is not in the grammar any more or
	// that rt-app reads and does not use.
	Remarks []Remark
	src     *source
}

// Pos is a place in a file.
type Pos struct{ offset int }

// Remark is a sentence about a place.
type Remark struct {
	Pos  Pos
	Text string
}

// Policy is a scheduling policy by the name that the files use.
type Policy string

// The policies. Same as a phase's policy keeps the one before.
const (
	Same     Policy = ""
	Other    Policy = "SCHED_OTHER"
	Batch    Policy = "SCHED_BATCH"
	Idle     Policy = "SCHED_IDLE"
	RR       Policy = "SCHED_RR"
	FIFO     Policy = "SCHED_FIFO"
	Deadline Policy = "SCHED_DEADLINE"
)

// Fair reports whether the policy belongs to the fair class.
func (p Policy) Fair() bool { return p == Other || p == Batch || p == Idle }

var policies = []string{string(Other), string(Batch), string(Idle), string(RR), string(FIFO), string(Deadline)}

// Parse reads a file's text; name is for messages. The error is an [*Error].
func Parse(name string, text []byte) (*File, error) {
	p := &parser{source: newSource(name, text), buffers: map[bufferName]Memory{}}
	p.file = &File{Name: name, Global: defaultGlobal(), src: p.source}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	if err := p.root(root); err != nil {
		return nil, err
	}
	return p.file, nil
}

// ErrorAt is a mistake at a place of the file.
func (f *File) ErrorAt(at Pos, format string, args ...any) error {
	return f.src.errorAt(at.offset, format, args...)
}

// At writes a place as file:line:column.
func (f *File) At(at Pos) string {
	line, column := f.src.place(at.offset)
	return fmt.Sprintf("%s:%d:%d", f.Name, line, column)
}

type parser struct {
	*source
	file    *File
	buffers map[bufferName]Memory
}

// bufferName names a buffer that several memrun events share: each way of
// access has its own.
type bufferName struct{ ref, kind string }

func (p *parser) remark(at int, format string, args ...any) {
	p.file.Remarks = append(p.file.Remarks, Remark{Pos{at}, fmt.Sprintf(format, args...)})
}

// properties are the keys of an object that may stand once each.
type properties struct {
	p    *parser
	seen map[string]int // offset of the first
	err  error
}

// once reports whether the key is new here; a second one is a mistake, since
// the tools disagree which of the two counts.
func (ps *properties) once(m *member) bool {
	if first, again := ps.seen[m.key]; again && ps.err == nil {
		line, _ := ps.p.place(first)
		ps.err = ps.p.errorAt(m.at, "%s is already set in line %d; keep one of the two", quote(m.key), line)
		return false
	}
	ps.seen[m.key] = m.at
	return ps.err == nil
}

// keep takes a value's error; the first one counts.
func (ps *properties) keep(err error) {
	if ps.err == nil {
		ps.err = err
	}
}

func (p *parser) properties() *properties { return &properties{p: p, seen: map[string]int{}} }

func (p *parser) unknown(m *member, where string, known []string) error {
	return p.errorAt(m.at, "there is no %s in %s; %s", quote(m.key), where, suggest.DidYouMean(m.key, known))
}

var rootKeys = []string{"tasks", "global", "resources"}

func (p *parser) root(root *node) error {
	if root.kind != object {
		return p.errorAt(root.at, "a workload is an object in { } with %s, not %s", quote("tasks"), root.kind)
	}
	ps := p.properties()
	var tasks *node
	for i := range root.members {
		m := &root.members[i]
		if !ps.once(m) {
			return ps.err
		}
		switch m.key {
		case "global":
			ps.keep(p.global(m.value))
		case "tasks":
			tasks = m.value
			ps.keep(p.want(object, m.key, m.value))
		case "resources":
			ps.keep(p.want(object, m.key, m.value)) // resources come into being where events name them
		default:
			ps.keep(p.unknown(m, "a workload file", rootKeys))
		}
	}
	if ps.err != nil {
		return ps.err
	}
	if len(ps.seen) == 0 {
		return p.errorAt(root.at, "nothing in it; a workload needs %s", quote("tasks"))
	}
	if tasks == nil {
		p.remark(root.at, "there are no tasks: nothing runs")
		return nil
	}
	return p.tasks(tasks)
}
