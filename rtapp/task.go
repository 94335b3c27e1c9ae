package rtapp

import (
	"math"
	"strconv"
	"strings"
)

// Task is one entry of tasks: the pattern of Instances threads.
type Task struct {
	Name      string
	Pos       Pos
	Instances int
	Delay     int64 // µs before the first phase
	Loop      int64 // how often the phases run; negative: for ever
	Attributes
	Phases []Phase
}

// Phase is a sequence of events.
type Phase struct {
	Name string
	Pos  Pos
	Loop int64 // how often it runs before the next phase; 0 or less: for ever
	Attributes
	Events []Event
}

// Attributes are what a task or a phase sets of its thread. Those that are not
// given stay as they are.
type Attributes struct {
	CPUs         []int // nil: not given
	CPUsPos      Pos
	Policy       Policy // Same: not given
	PolicyPos    Pos
	Priority     Setting[int64] // the nice value in the fair class
	HasPriority  bool
	Taskgroup    string // "" not given, else an absolute path
	TaskgroupPos Pos
	Slice        Setting[int64] // dl-runtime in µs; 0: not given
	DeadlineKeys []Setting[string]
	UtilClamps   []Setting[string] // util_min and util_max
	NodesMembind Setting[[]int]
}

// The bounds of the tool.
const (
	maxInstances = 1 << 14
	maxLoop      = math.MaxInt32
	maxMicros    = math.MaxInt32
	maxUtil      = 1024
)

var attributeKeys = []string{
	"loop", "policy", "priority", "cpus", "taskgroup", "dl-runtime", "dl-period", "dl-deadline", "util_min", "util_max", "nodes_membind",
}

var taskKeys = append([]string{"instance", "delay", "phases", "period", "deadline"}, attributeKeys...)

func (p *parser) tasks(n *node) error {
	names := taskNames{taken: map[string]bool{}, next: map[string]int{}}
	for i := range n.members {
		m := &n.members[i]
		if err := p.want(object, m.key, m.value); err != nil {
			return err
		}
		t, err := p.task(names.unique(m.key), m)
		if err != nil {
			return err
		}
		p.file.Tasks = append(p.file.Tasks, *t)
	}
	if len(n.members) == 0 {
		p.remark(n.at, "there are no tasks: nothing runs")
	}
	return p.checkForks()
}

// taskNames numbers a name that has occurred already, as workgen does before
// rt-app sees the file.
type taskNames struct {
	taken map[string]bool
	next  map[string]int // the number to try, by name
}

func (n *taskNames) unique(name string) string {
	unique := name
	for n.taken[unique] {
		n.next[name]++
		unique = name + strconv.Itoa(n.next[name])
	}
	n.taken[unique] = true
	return unique
}

func (p *parser) task(name string, m *member) (*Task, error) {
	t := &Task{Name: name, Pos: Pos{m.at}, Instances: 1, Loop: -1}
	if strings.ContainsAny(name, "/\x00") || name == "" {
		return nil, p.errorAt(m.at, "%s: the task's name becomes part of a file's name, so it needs a letter and no slash", quote(name))
	}
	body := m.value
	if isLegacy(body) {
		return t, p.legacyTask(t, body)
	}
	var phases *member
	loops := false
	ps := p.properties()
	for i := range body.members {
		m := &body.members[i]
		if isEvent(m.key) {
			continue
		}
		if !ps.once(m) {
			return nil, ps.err
		}
		var err error
		switch m.key {
		case "instance":
			var n int64
			n, err = p.integer(m.key, m.value, 0, maxInstances)
			t.Instances = int(n)
		case "delay":
			t.Delay, err = p.integer(m.key, m.value, 0, maxMicros)
		case "loop":
			loops = true
			t.Loop, err = p.integer(m.key, m.value, -1, maxLoop)
		case "phases":
			phases = m
			err = p.want(object, m.key, m.value)
		case "period", "deadline":
			t.DeadlineKeys = append(t.DeadlineKeys, Setting[string]{m.key, Pos{m.at}})
			_, err = p.integer(m.key, m.value, 0, maxMicros)
		default:
			var known bool
			if known, err = p.attribute(&t.Attributes, m); !known {
				err = p.unknown(m, "task "+quote(name), append(taskKeys, eventNames()...))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if phases == nil {
		return t, p.onlyPhase(t, body, loops)
	}
	return t, p.phases(t, body, phases)
}

// onlyPhase is a task that lists its events itself. Its attributes are those of
// the task; a loop that is given counts for the phase, which then runs once
// through the task's own loop.
func (p *parser) onlyPhase(t *Task, body *node, loops bool) error {
	events, err := p.events(t, body)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		return p.errorAt(t.Pos.offset, "task %s has no events; give it a %s, %s or %s", quote(t.Name), quote("run"), quote("sleep"), quote("timer"))
	}
	phase := Phase{Name: t.Name, Pos: t.Pos, Loop: 1, Events: events}
	if loops {
		phase.Loop, t.Loop = t.Loop, 1
	}
	t.Phases = []Phase{phase}
	return nil
}

func (p *parser) phases(t *Task, body *node, phases *member) error {
	for i := range body.members {
		m := &body.members[i]
		switch {
		case m.key == "runtime": // what dl-runtime was called
			micros, err := p.integer(m.key, m.value, 0, maxMicros)
			if err != nil {
				return err
			}
			t.Slice = Setting[int64]{micros, Pos{m.at}}
		case isEvent(m.key):
			return p.errorAt(m.at, "%s stands beside %s and would never happen; move it into one of the phases", quote(m.key), quote("phases"))
		}
	}
	if len(phases.value.members) == 0 {
		return p.errorAt(phases.at, "task %s has no phases; list at least one", quote(t.Name))
	}
	for i := range phases.value.members {
		phase, err := p.phase(t, &phases.value.members[i])
		if err != nil {
			return err
		}
		t.Phases = append(t.Phases, *phase)
	}
	return nil
}

func (p *parser) phase(t *Task, m *member) (*Phase, error) {
	phase := &Phase{Name: m.key, Pos: Pos{m.at}, Loop: 1}
	if err := p.want(object, m.key, m.value); err != nil {
		return nil, err
	}
	ps := p.properties()
	for i := range m.value.members {
		m := &m.value.members[i]
		if isEvent(m.key) {
			continue
		}
		if !ps.once(m) {
			return nil, ps.err
		}
		if m.key == "loop" {
			var err error
			if phase.Loop, err = p.integer(m.key, m.value, -1, maxLoop); err != nil {
				return nil, err
			}
			continue
		}
		known, err := p.attribute(&phase.Attributes, m)
		if !known {
			err = p.unknown(m, "phase "+quote(phase.Name), append(eventNames(), attributeKeys...))
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	if phase.Events, err = p.events(t, m.value); err != nil {
		return nil, err
	}
	if len(phase.Events) == 0 {
		return nil, p.errorAt(m.at, "phase %s has no events; give it a %s, %s or %s", quote(phase.Name), quote("run"), quote("sleep"), quote("timer"))
	}
	return phase, nil
}

// attribute reads what both a task and a phase can set.
func (p *parser) attribute(a *Attributes, m *member) (known bool, err error) {
	at := Pos{m.at}
	switch m.key {
	case "policy":
		a.PolicyPos = at
		a.Policy, err = p.policy(m)
	case "priority":
		a.HasPriority, a.Priority.Pos = true, Pos{m.value.at}
		a.Priority.Value, err = p.integer(m.key, m.value, -20, 99)
	case "cpus":
		a.CPUsPos = Pos{m.value.at}
		a.CPUs, err = p.integers(m.key, m.value)
	case "nodes_membind":
		a.NodesMembind.Pos = at
		a.NodesMembind.Value, err = p.integers(m.key, m.value)
	case "taskgroup":
		a.TaskgroupPos = at
		err = p.taskgroup(a, m)
	case "dl-runtime":
		a.Slice.Pos = at
		a.Slice.Value, err = p.integer(m.key, m.value, 0, maxMicros)
	case "dl-period", "dl-deadline":
		a.DeadlineKeys = append(a.DeadlineKeys, Setting[string]{m.key, at})
		_, err = p.integer(m.key, m.value, 0, maxMicros)
	case "util_min", "util_max":
		a.UtilClamps = append(a.UtilClamps, Setting[string]{m.key, at})
		_, err = p.integer(m.key, m.value, -1, maxUtil)
	default:
		return false, nil
	}
	return true, err
}

func (p *parser) taskgroup(a *Attributes, m *member) (err error) {
	if a.Taskgroup, err = p.str(m.key, m.value); err != nil || a.Taskgroup == "" {
		return err
	}
	if !strings.HasPrefix(a.Taskgroup, "/") {
		return p.errorAt(m.value.at, "taskgroup %s must begin with a slash", quote(a.Taskgroup))
	}
	return nil
}
