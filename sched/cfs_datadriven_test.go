package sched

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// script is a lab whose tasks have names; testdata/cfs/README.md describes the
// commands.
type script struct {
	*lab
	t      *testing.T
	tasks  map[string]*Task
	names  map[*Task]string
	groups map[string]*TaskGroup
	log    strings.Builder
}

// TestCFSScripts runs the fixtures of testdata/cfs: small stories of one or a
// few CPUs whose outcome can be checked by eye against mechanisms.md 1 to 3.
func TestCFSScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/cfs", func(t *testing.T, path string) {
		if strings.HasSuffix(path, ".md") {
			return
		}
		sc := &script{t: t}
		datadriven.RunTest(t, path, sc.run)
	})
}

func (sc *script) run(t *testing.T, d *datadriven.TestData) string {
	sc.t = t
	sc.log.Reset()
	if d.Cmd != "machine" && sc.lab == nil {
		d.Fatalf(t, "the first command must be machine")
	}
	commands := map[string]func(*datadriven.TestData){
		"machine": sc.machine, "group": sc.group, "task": sc.task, "fork": sc.fork,
		"run": sc.runFor, "pass": sc.pass, "tick": sc.tick, "schedule": sc.schedule, "sleep": sc.sleep,
		"wake": sc.wake, "yield": sc.yield, "move": sc.move, "show": sc.show, "slice": sc.sliceOf,
	}
	do := commands[d.Cmd]
	if do == nil {
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	do(d)
	if err := sc.CheckInvariants(); err != nil {
		d.Fatalf(t, "%v", err)
	}
	if sc.log.Len() == 0 {
		return "ok"
	}
	return sc.log.String()
}

func (sc *script) machine(d *datadriven.TestData) {
	cpus, kernel := 1, "v5.17"
	d.MaybeScanArgs(sc.t, "cpus", &cpus)
	d.MaybeScanArgs(sc.t, "kernel", &kernel)
	settings := append([]string{}, eightWayTunables...)
	for _, arg := range d.CmdArgs {
		if arg.Key == "set" {
			settings = append(settings, arg.Vals...)
		}
	}
	sc.lab = newLab(sc.t, machineSpec{nodes: 1, llcs: 1, cores: cpus, threads: 1}.build(), kernel, settings...)
	sc.tasks, sc.names = map[string]*Task{}, map[*Task]string{}
	sc.groups = map[string]*TaskGroup{"/": sc.Root()}
	sc.switched = func(cpu int, _, to *Task) {
		fmt.Fprintf(&sc.log, "%s: CPU %d runs %s\n", ms(sc.clock), cpu, sc.name(to))
	}
}

func (sc *script) name(t *Task) string {
	if t == nil {
		return "nothing"
	}
	return sc.names[t]
}

func (sc *script) group(d *datadriven.TestData) {
	path := d.CmdArgs[0].Key
	parent := path[:max(1, strings.LastIndexByte(path, '/'))]
	g := sc.NewGroup(sc.groups[parent], path)
	sc.groups[path] = g
	var weight int64
	d.MaybeScanArgs(sc.t, "weight", &weight)
	if weight != 0 {
		mustWeight(sc.t, sc.Scheduler, g, weight)
	}
	if d.HasArg("idle") {
		mustIdle(sc.t, sc.Scheduler, g, true)
	}
}

func (sc *script) spec(d *datadriven.TestData) (TaskSpec, int) {
	var nice, cpu int
	policy, group := "normal", "/"
	d.MaybeScanArgs(sc.t, "nice", &nice)
	d.MaybeScanArgs(sc.t, "cpu", &cpu)
	d.MaybeScanArgs(sc.t, "policy", &policy)
	d.MaybeScanArgs(sc.t, "group", &group)
	policies := map[string]Policy{"normal": PolicyNormal, "batch": PolicyBatch, "idle": PolicyIdle}
	return TaskSpec{ID: int32(len(sc.tasks)), Policy: policies[policy], Nice: int8(nice), Group: sc.groups[group], CPU: cpu}, cpu
}

func (sc *script) newTask(name string, spec TaskSpec) *Task {
	task := sc.NewTask(spec)
	sc.tasks[name], sc.names[task] = task, name
	return task
}

func (sc *script) task(d *datadriven.TestData) {
	spec, cpu := sc.spec(d)
	sc.Start(sc.clock, sc.newTask(d.CmdArgs[0].Key, spec), cpu)
	sc.settle()
}

func (sc *script) fork(d *datadriven.TestData) {
	spec, cpu := sc.spec(d)
	sc.Fork(sc.clock, cpu, sc.Current(cpu), sc.newTask(d.CmdArgs[0].Key, spec))
	sc.settle()
}

func (sc *script) runFor(d *datadriven.TestData) { sc.advance(sc.duration(d)) }

func (sc *script) pass(d *datadriven.TestData) { sc.passTo(sc.clock + sc.duration(d)) }

func (sc *script) duration(d *datadriven.TestData) int64 {
	v, err := time.ParseDuration(d.CmdArgs[0].Key)
	if err != nil {
		d.Fatalf(sc.t, "%v", err)
	}
	return v.Nanoseconds()
}

func (sc *script) cpuArg(d *datadriven.TestData) int {
	cpu := 0
	d.MaybeScanArgs(sc.t, "cpu", &cpu)
	return cpu
}

func (sc *script) tick(d *datadriven.TestData) {
	cpu := sc.cpuArg(d)
	sc.Tick(sc.clock, cpu)
	fmt.Fprintf(&sc.log, "need_resched %v\n", sc.NeedResched(cpu))
}

func (sc *script) schedule(d *datadriven.TestData) { sc.switchCPU(sc.cpuArg(d), false) }

func (sc *script) sleep(d *datadriven.TestData) { sc.switchCPU(sc.cpuArg(d), true) }

func (sc *script) yield(d *datadriven.TestData) {
	cpu := sc.cpuArg(d)
	sc.Yield(sc.clock, cpu)
	sc.switchCPU(cpu, false)
}

// wake leaves a requested reschedule pending, so that the next command can
// look at it.
func (sc *script) wake(d *datadriven.TestData) {
	here := 0
	d.MaybeScanArgs(sc.t, "by", &here)
	task := sc.tasks[d.CmdArgs[0].Key]
	cpu := sc.Wake(sc.clock, here, task, d.HasArg("sync"))
	if sc.WakeListPending(cpu) {
		sc.HandleWakeList(sc.clock, cpu)
	}
	fmt.Fprintf(&sc.log, "on CPU %d, need_resched %v\n", cpu, sc.NeedResched(cpu))
}

func (sc *script) move(d *datadriven.TestData) {
	var group string
	d.ScanArgs(sc.t, "group", &group)
	sc.SetGroup(sc.clock, sc.tasks[d.CmdArgs[0].Key], sc.groups[group])
}

func (sc *script) sliceOf(d *datadriven.TestData) {
	for _, arg := range d.CmdArgs {
		se := &sc.tasks[arg.Key].se
		fmt.Fprintf(&sc.log, "%s %s\n", arg.Key, ms(sc.Scheduler.slice(se.cfs, se)))
	}
}

func (sc *script) show(d *datadriven.TestData) {
	cpu := sc.cpuArg(d)
	fmt.Fprintf(&sc.log, "CPU %d at %s runs %s", cpu, ms(sc.clock), sc.name(sc.Current(cpu)))
	if sc.SchedIdle(cpu) {
		sc.log.WriteString(", sched-idle")
	}
	sc.log.WriteByte('\n')
	sc.showQueue(&sc.rqs[cpu].cfs, "  ")
}

// showQueue prints a queue's running entity and then the others, next to run
// first.
func (sc *script) showQueue(q *cfsRQ, indent string) {
	fmt.Fprintf(&sc.log, "%smin_vruntime %s H %d Hidle %d\n", indent, ms(q.minVruntime), q.h, q.hIdle)
	if q.curr != nil {
		sc.showEntity(q, q.curr, indent, " running")
	}
	for i := len(q.line.slots) - 1; i >= 0; i-- {
		sc.showEntity(q, q.line.slots[i].se, indent, "")
	}
}

func (sc *script) showEntity(q *cfsRQ, se *Entity, indent, state string) {
	name := ""
	if se.isTask() {
		name = sc.names[se.task]
	} else {
		name = se.my.tg.name
	}
	for _, hint := range []struct {
		name string
		se   *Entity
	}{{"next", q.next}, {"last", q.last}, {"skip", q.skip}} {
		if hint.se == se {
			state += " " + hint.name
		}
	}
	fmt.Fprintf(&sc.log, "%s%s: vruntime %s, ran %s, weight %d%s\n",
		indent, name, ms(se.vruntime), ms(se.sumExec), scaleDown(se.weight), state)
	if !se.isTask() {
		sc.showQueue(se.my, indent+"  ")
	}
}

// ms prints nanoseconds as milliseconds, without trailing zeros.
func ms(ns int64) string {
	return strconv.FormatFloat(float64(ns)/1e6, 'f', -1, 64) + "ms"
}
