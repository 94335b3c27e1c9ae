package sched

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
)

// balanceLab drives a scheduler in virtual time, one jiffy a step: ticks on
// every CPU that has one, in increasing order, and whatever the scheduler asks
// for at once. Tasks only spin.
type balanceLab struct {
	*Scheduler
	t      testing.TB
	driver *balanceDriver
	nextID int32
	kicks  int // of idle load balancers
	pushes int // by stoppers
}

// balanceDriver collects what the scheduler asks for.
type balanceDriver struct {
	resched, kick, stop []int
	softirq             bool
}

func (d *balanceDriver) Resched(cpu int)             { d.resched = append(d.resched, cpu) }
func (d *balanceDriver) WakeIPI(int)                 {}
func (d *balanceDriver) NohzKick(cpu int)            { d.kick = append(d.kick, cpu) }
func (d *balanceDriver) ArmTimer(int, int64, *Timer) {}
func (d *balanceDriver) UnthrottleIPI(int)           {}
func (d *balanceDriver) ThrottleWork(int)            {}
func (d *balanceDriver) ArmSliceEnd(int, int64)      {}
func (d *balanceDriver) StopperKick(cpu int)         { d.stop = append(d.stop, cpu) }
func (d *balanceDriver) BalanceSoftirq(int)          { d.softirq = true }

// balanceMachine has the numbering of x86: first threads node by node, then
// second threads; remote distance 21, one LLC a node.
func balanceMachine(nodes, cores, threads int) *machine.Machine {
	all := nodes * cores
	m := &machine.Machine{Name: "test", CPUs: make([]machine.CPU, all*threads), Nodes: make([]machine.Node, nodes)}
	for i := range m.Nodes {
		m.Nodes[i] = machine.Node{ID: i, CPUs: machine.NewCPUMask(len(m.CPUs)), Distance: make([]int, nodes)}
		for j := range m.Nodes[i].Distance {
			m.Nodes[i].Distance[j] = 21
		}
		m.Nodes[i].Distance[i] = 10
	}
	for cpu := range m.CPUs {
		core := cpu % all
		node := core / cores
		m.CPUs[cpu] = machine.CPU{Online: true, Core: core, Cluster: -1, LLC: node, Package: node, Node: node, Capacity: 1024}
		m.Nodes[node].CPUs.Set(cpu)
	}
	return m
}

const labStart = 10_000_000_000

func newBalanceLab(t testing.TB, kernel string, m *machine.Machine) *balanceLab {
	t.Helper()
	profile, err := LookupProfile(kernel)
	if err != nil {
		t.Fatal(err)
	}
	l := &balanceLab{t: t, driver: &balanceDriver{}}
	if l.Scheduler, err = New(NewConfig(m, profile), l.driver); err != nil {
		t.Fatal(err)
	}
	l.setNow(labStart)
	for cpu := range l.rqs {
		if l.rqs[cpu].online {
			l.StopTick(labStart, cpu)
		}
	}
	return l
}

// spin starts n tasks on cpu that never sleep; without allowed CPUs they may
// run anywhere.
func (l *balanceLab) spin(cpu, n int, allowed ...int) []*Task {
	l.t.Helper()
	tasks := make([]*Task, n)
	for i := range tasks {
		tasks[i] = l.queue(cpu, allowed...)
	}
	l.react()
	return tasks
}

// queue makes a task runnable on cpu without asking placement and without
// letting the CPU react yet.
func (l *balanceLab) queue(cpu int, allowed ...int) *Task {
	l.nextID++
	spec := TaskSpec{ID: l.nextID, CPU: cpu}
	if len(allowed) > 0 {
		spec.Allowed = machine.MaskOf(len(l.rqs), allowed...)
	}
	task := l.NewTask(spec)
	rq := &l.rqs[cpu]
	task.se.avg.last = neverUpdated
	l.initNewTask(task)
	l.activateTask(rq, task, 0)
	l.checkPreempt(rq, task, wakeNew)
	return task
}

// react does what the scheduler has asked for until it asks for nothing.
func (l *balanceLab) react() {
	d := l.driver
	for len(d.resched)+len(d.kick)+len(d.stop) > 0 {
		switch {
		case len(d.resched) > 0:
			cpu := pop(&d.resched)
			if !l.NeedResched(cpu) {
				continue
			}
			if l.Schedule(l.now, cpu, false) == nil {
				l.StopTick(l.now, cpu)
			}
		case len(d.stop) > 0:
			l.pushes++
			l.ActiveBalance(l.now, pop(&d.stop))
		default:
			l.kicks++
			l.NohzBalance(l.now, pop(&d.kick))
		}
	}
}

func pop(queue *[]int) int {
	first := (*queue)[0]
	*queue = append((*queue)[:0], (*queue)[1:]...)
	return first
}

// tick is one timer interrupt on one CPU and what follows from it.
func (l *balanceLab) tick(cpu int) {
	l.Tick(l.now, cpu)
	if l.driver.softirq {
		l.driver.softirq = false
		l.BalanceSoftirq(l.now, cpu)
	}
	l.react()
	l.checkCounts()
}

// run lets virtual time pass, jiffy by jiffy.
func (l *balanceLab) run(ms int64) {
	l.t.Helper()
	jiffy := 1_000_000_000 / l.hz
	for end := l.now + ms*1_000_000; l.now < end; {
		l.setNow(l.now + jiffy)
		for cpu := range l.rqs {
			if l.rqs[cpu].online && !(l.rqs[cpu].nohz.tickStopped && l.rqs[cpu].curr == nil) {
				l.tick(cpu)
			}
		}
	}
}

// checkCounts compares the counters with what they count.
func (l *balanceLab) checkCounts() {
	for cpu := range l.rqs {
		rq := &l.rqs[cpu]
		listed := int32(0)
		for t := rq.lruHead; t != nil; t = t.lruNext {
			listed++
			if int(t.cpu) != cpu || !t.queued {
				l.t.Fatalf("task %d is on the list of CPU %d but says CPU %d, queued %v", t.ID, cpu, t.cpu, t.queued)
			}
		}
		if listed != rq.nr || rq.nr != rq.cfs.h {
			l.t.Fatalf("CPU %d: %d tasks listed, nr %d, h %d", cpu, listed, rq.nr, rq.cfs.h)
		}
		if l.idle.Has(cpu) != rq.idleCPU() {
			l.t.Fatalf("CPU %d: idle mask says %v, it is %v", cpu, l.idle.Has(cpu), rq.idleCPU())
		}
	}
}

// counts lists the number of tasks on each CPU: "2 0 1".
func (l *balanceLab) counts() string {
	words := make([]string, len(l.rqs))
	for cpu := range l.rqs {
		words[cpu] = fmt.Sprint(l.NrRunning(cpu))
	}
	return strings.Join(words, " ")
}

// sharedBesideIdle reports whether a core runs two tasks while another core
// runs none.
func (l *balanceLab) sharedBesideIdle() bool {
	shared, idle := false, false
	for cpu := range l.rqs {
		core := l.cores[cpu]
		tasks := 0
		for c := core.First(); c >= 0; c = core.Next(c + 1) {
			tasks += l.NrRunning(c)
		}
		shared = shared || tasks > 1
		idle = idle || tasks == 0
	}
	return shared && idle
}

// env prepares a pass of cpu over its domain of the given name.
func (l *balanceLab) env(cpu int, domain string, idle IdleType) *balanceEnv {
	l.t.Helper()
	rq := &l.rqs[cpu]
	l.enterBalancing(rq)
	return l.beginPass(rq, l.domain(cpu, domain), idle)
}

func (l *balanceLab) domain(cpu int, name string) *Domain {
	l.t.Helper()
	for d := l.rqs[cpu].sd; d != nil; d = d.Parent {
		if d.Name == name {
			return d
		}
	}
	l.t.Fatalf("CPU %d has no domain %s:\n%s", cpu, name, l.DescribeDomains(cpu))
	return nil
}

// on names the CPUs of tasks: "0 0 3".
func on(tasks []*Task) string {
	words := make([]string, len(tasks))
	for i, t := range tasks {
		words[i] = fmt.Sprint(t.CPU())
	}
	return strings.Join(words, " ")
}
