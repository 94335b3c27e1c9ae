package sched

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/schedlab/schedlab/machine"
)

// chaos is a scheduler under random but legal orders: requests are served late
// or in any order, time passes in odd steps, and everything that may be changed
// is changed at any moment.
type chaos struct {
	*Scheduler
	asked requests
	clock int64
	whole bool // time passes in whole PELT periods
	tasks []*Task
	awake map[*Task]bool // what should be runnable, by our own book-keeping
	floor map[*cfsRQ]int64
}

func newChaos(t *rapid.T) *chaos {
	m := randomMachine(t)
	p := Profiles()[rapid.IntRange(0, len(Profiles())-1).Draw(t, "kernel")]
	if rapid.Bool().Draw(t, "other bandwidth rules") {
		p = randomBandwidth(t, p)
	}
	cfg := NewConfig(m, p)
	for _, name := range p.Known.Names() {
		if rapid.IntRange(0, 4).Draw(t, name) == 0 {
			toggle(&cfg, name)
		}
	}
	for _, versions := range []FeatureSet{filterVersions, pullVersions, balanceMapVersions} {
		if len((cfg.Features & versions).Names()) > 1 { // only one version of a patch at a time
			cfg.Features &^= versions
		}
	}
	cfg.HZ = rapid.SampledFrom([]int64{100, 250, 300, 1000}).Draw(t, "HZ")
	cfg.PreemptKernel = rapid.Bool().Draw(t, "preemptible")
	c := &chaos{asked: newRequests(m.NumCPUs()), awake: map[*Task]bool{}, floor: map[*cfsRQ]int64{}}
	s, err := New(cfg, &c.asked)
	if err != nil {
		t.Fatal(err)
	}
	c.Scheduler = s
	c.whole = rapid.Bool().Draw(t, "whole periods")
	c.buildGroups(t)
	return c
}

func toggle(cfg *Config, name string) {
	if cfg.Profile.HasDefault(name) {
		name = "NO_" + name
	}
	if err := cfg.SetFeature(name); err != nil {
		panic(err) // the name comes from the profile itself
	}
}

func (c *chaos) buildGroups(t *rapid.T) {
	parents := []*TaskGroup{c.Root()}
	for i := range rapid.IntRange(0, 4).Draw(t, "groups") {
		parent := parents[rapid.IntRange(0, len(parents)-1).Draw(t, "parent")]
		parents = append(parents, c.NewGroup(parent, fmt.Sprintf("/g%d", i)))
	}
}

func (c *chaos) group(t *rapid.T) *TaskGroup {
	return c.groups[rapid.IntRange(0, len(c.groups)-1).Draw(t, "group")]
}

func (c *chaos) cpu(t *rapid.T) int { return rapid.SampledFrom(c.online.CPUs()).Draw(t, "cpu") }

func (c *chaos) mask(t *rapid.T) machine.CPUMask {
	if rapid.Bool().Draw(t, "anywhere") {
		return nil
	}
	m := machine.NewCPUMask(c.NumCPUs())
	for _, cpu := range rapid.SliceOfN(rapid.SampledFrom(c.online.CPUs()), 1, 3).Draw(t, "allowed") {
		m.Set(cpu)
	}
	return m
}

func (c *chaos) spec(t *rapid.T) TaskSpec {
	return TaskSpec{
		ID: int32(len(c.tasks)), Allowed: c.mask(t),
		Policy: rapid.SampledFrom([]Policy{PolicyNormal, PolicyNormal, PolicyBatch, PolicyIdle}).Draw(t, "policy"),
		Nice:   int8(rapid.IntRange(-20, 19).Draw(t, "nice")),
		Group:  c.group(t),
	}
}

// some picks a task for which the condition holds, or gives the step up.
func (c *chaos) some(t *rapid.T, holds func(*Task) bool) *Task {
	var fit []*Task
	for _, task := range c.tasks {
		if holds(task) {
			fit = append(fit, task)
		}
	}
	if len(fit) == 0 {
		t.Skip("no such task") // rapid draws another step instead
	}
	return fit[rapid.IntRange(0, len(fit)-1).Draw(t, "task")]
}

func (c *chaos) running(t *rapid.T) *Task {
	return c.some(t, func(task *Task) bool { return c.Current(task.CPU()) == task })
}

func (c *chaos) start(t *rapid.T) {
	spec := c.spec(t)
	cpu := c.cpu(t)
	if spec.Allowed != nil {
		cpu = spec.Allowed.First()
	}
	task := c.NewTask(spec)
	c.Start(c.clock, task, cpu)
	c.remember(task)
}

func (c *chaos) fork(t *rapid.T) {
	parent := c.running(t)
	spec := c.spec(t)
	spec.CPU = parent.CPU()
	task := c.NewTask(spec)
	c.Fork(c.clock, parent.CPU(), parent, task)
	c.remember(task)
}

func (c *chaos) remember(task *Task) {
	c.tasks = append(c.tasks, task)
	c.awake[task] = true
}

func (c *chaos) wake(t *rapid.T) {
	task := c.some(t, func(task *Task) bool { return !c.awake[task] })
	c.Wake(c.clock, c.cpu(t), task, rapid.Bool().Draw(t, "sync"))
	c.awake[task] = true
}

func (c *chaos) block(t *rapid.T) {
	task := c.running(t)
	if rapid.IntRange(0, 9).Draw(t, "exits") == 0 {
		task.MarkExiting()
	}
	c.Schedule(c.clock, task.CPU(), true)
	c.awake[task] = false
}

func (c *chaos) setAffinity(t *rapid.T) {
	task := c.some(t, func(*Task) bool { return true })
	mask := c.mask(t)
	if mask == nil {
		mask = c.online
	}
	if !c.SetAffinity(task, mask) {
		return
	}
	if c.Current(task.CPU()) == task && task.queued {
		c.MigrateRunning(c.clock, task.CPU(), mask.First())
	} else {
		c.MigrateQueued(c.clock, task, mask.First())
	}
	if !mask.Has(task.CPU()) {
		t.Fatalf("task %d is still on CPU %d", task.ID, task.CPU())
	}
}

func (c *chaos) setIdle(t *rapid.T) {
	g := c.group(t)
	err := c.SetIdle(g, rapid.Bool().Draw(t, "idle"))
	if wanted := c.profile.GroupIdle && g.parent != nil; (err == nil) != wanted {
		t.Fatalf("cpu.idle of %s: %v", g.name, err)
	}
}

func (c *chaos) setWeight(t *rapid.T) {
	g := c.group(t)
	err := c.SetWeight(g, rapid.Int64Range(1, 10000).Draw(t, "weight"))
	if wanted := g.parent != nil && !g.idle; (err == nil) != wanted {
		t.Fatalf("cpu.weight of %s: %v", g.name, err)
	}
}

// exec comes right after a tick: the slow path brings a task up to its queue's
// time as if it had slept since its last update, which at exec it has not (all
// kernels), so that its averages would lose what it ran since.
func (c *chaos) exec(t *rapid.T) {
	task := c.running(t)
	c.Tick(c.clock, task.CPU())
	if to := c.Exec(c.clock, task.CPU()); to != task.CPU() {
		c.MigrateRunning(c.clock, task.CPU(), to)
	}
}

func (c *chaos) tick(t *rapid.T) {
	cpu := c.cpu(t)
	c.Tick(c.clock, cpu)
	if take(&c.asked.softirq[cpu]) {
		c.Scheduler.BalanceSoftirq(c.clock, cpu)
	}
	if c.Current(cpu) == nil && rapid.Bool().Draw(t, "stop tick") {
		c.StopTick(c.clock, cpu)
	}
}

// serve honours one CPU's requests.
func (c *chaos) serve(t *rapid.T) {
	cpu := c.cpu(t)
	if take(&c.asked.wakeIPI[cpu]) {
		c.HandleWakeList(c.clock, cpu)
	}
	if take(&c.asked.nohzKick[cpu]) {
		c.NohzBalance(c.clock, cpu)
	}
	if take(&c.asked.stopper[cpu]) {
		c.ActiveBalance(c.clock, cpu)
	}
	c.serveBandwidth(cpu)
}

func (c *chaos) pass(t *rapid.T) {
	if c.whole {
		c.clock += rapid.SampledFrom([]int64{1, 4, 57, 2000}).Draw(t, "periods") << 20
		return
	}
	c.clock += rapid.SampledFrom([]int64{1, 700, 50_000, 999_999, 4 * millisecond, 60 * millisecond, 2 * second}).Draw(t, "ns")
}

// push is active balancing without the failures that lead to it.
func (c *chaos) push(t *rapid.T) {
	src := &c.rqs[c.running(t).CPU()]
	src.activeBalance, src.pushCPU = true, int32(c.cpu(t))
	c.ActiveBalance(c.clock, int(src.cpu))
}

// plug takes a CPU away or brings one back; what it was asked for is lost.
func (c *chaos) plug(t *rapid.T) {
	cpu := rapid.IntRange(0, c.NumCPUs()-1).Draw(t, "cpu")
	away := c.online.Has(cpu)
	change, possible := c.Online, c.machine.CPUs[cpu].Core >= 0
	if away {
		change, possible = c.Offline, c.online.Count() > 1 && c.llcs == nil
	}
	if err := change(c.clock, cpu); (err == nil) != possible {
		t.Fatalf("CPU %d, online %v: %v", cpu, away, err)
	}
	c.asked.wakeIPI[cpu], c.asked.nohzKick[cpu], c.asked.stopper[cpu], c.asked.softirq[cpu] = false, false, false, false
}

func (c *chaos) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"start":     c.start,
		"fork":      c.fork,
		"wake":      c.wake,
		"block":     c.block,
		"tick":      c.tick,
		"serve":     c.serve,
		"exec":      c.exec,
		"push":      c.push,
		"schedule":  func(t *rapid.T) { c.Schedule(c.clock, c.cpu(t), false) },
		"pass":      c.pass,
		"yield":     func(t *rapid.T) { c.Yield(c.clock, c.cpu(t)) },
		"migrate":   func(t *rapid.T) { c.MigrateRunning(c.clock, c.cpu(t), c.cpu(t)) },
		"affinity":  c.setAffinity,
		"set group": c.setGroup,
		"idle":      c.setIdle,
		"weight":    c.setWeight,
		"plug":      c.plug,
		"limit":     c.setLimit,
		"timer":     c.expireTimer,
		"":          c.check,
	}
}

func (c *chaos) check(t *rapid.T) {
	if err := c.CheckInvariants(); err != nil {
		t.Fatal(err)
	}
	c.checkNobodyLost(t)
	for _, g := range c.groups {
		for cpu, q := range g.queues {
			if q.minVruntime < c.floor[q] {
				t.Fatalf("CPU %d, group %s: min_vruntime went back from %d to %d", cpu, g.name, c.floor[q], q.minVruntime)
			}
			c.floor[q] = q.minVruntime
			c.checkAverages(t, q)
		}
	}
}

// checkNobodyLost: whoever is awake is queued or on a wake list, once; nobody
// else is.
func (c *chaos) checkNobodyLost(t *rapid.T) {
	queued := int32(0)
	for _, task := range c.tasks {
		runnable := task.queued && !task.delayed
		if awake := c.awake[task]; (runnable || task.pending || task.limbo) != awake || (task.queued && task.pending) {
			t.Fatalf("task %d: awake %v, queued %v, pending %v", task.ID, awake, task.queued, task.pending)
		}
		if task.queued && !task.hidden() {
			queued++
		}
		if c.awake[task] && !c.online.Has(task.CPU()) {
			t.Fatalf("task %d is on CPU %d, which is offline", task.ID, task.CPU())
		}
	}
	pending := map[*Task]bool{}
	for cpu := range c.rqs {
		queued -= c.rqs[cpu].nr
		for w := c.rqs[cpu].wakeHead; w != nil; w = w.wakeNext {
			if pending[w] || !w.pending || w.CPU() != cpu {
				t.Fatalf("task %d is on the wake list of CPU %d: pending %v, there before %v", w.ID, cpu, w.pending, pending[w])
			}
			pending[w] = true
		}
	}
	for _, task := range c.tasks {
		if task.pending && !pending[task] {
			t.Fatalf("task %d is pending but on no wake list", task.ID)
		}
	}
	if queued != 0 {
		t.Fatalf("%d tasks too many or too few on the queues", queued)
	}
}

// checkAverages: a queue's averages are the sum of those of everything that is
// attached to it, asleep or not, less what waits to be removed. Without
// ATTACH_AGE_LOAD a group change takes a sleeper's averages as they were when it
// fell asleep, so that there the sum is off by design. Within a period it is off
// too: whoever is updated twice in it has an average without its second part.
func (c *chaos) checkAverages(t *rapid.T, q *cfsRQ) {
	if !c.whole || !c.features.Has(AttachAgeLoad) {
		return
	}
	var sum Avg
	n := int64(0)
	add := func(se *Entity) {
		if se.cfs != q || se.avg.last == neverUpdated {
			return
		}
		a := c.upTo(q, se)
		sum.loadAvg += a.loadAvg
		sum.utilAvg += a.utilAvg
		sum.runnableAvg += a.runnableAvg
		n++
	}
	for _, task := range c.tasks {
		add(&task.se)
	}
	for _, g := range c.groups[1:] {
		add(g.entities[q.rq.cpu])
	}
	near := func(what string, got, want, removed int64) {
		if diff := got - want - removed; diff > averageSlack(n, want) || -diff > averageSlack(n, want) {
			t.Fatalf("CPU %d, group %s: %s %d, Σ of its %d entities %d and %d to be removed",
				q.rq.cpu, q.tg.name, what, got, n, want, removed)
		}
	}
	near("load", q.avg.loadAvg, sum.loadAvg, q.removed.load)
	near("utilization", q.avg.utilAvg, sum.utilAvg, q.removed.util)
}

// averageSlack: each average is rounded on its own, and what one unit of a load
// sum counts at nice -20 is nearly 2. Whoever leaves may leave that much behind,
// which decays, but a task can come and go many times in a period.
func averageSlack(n, want int64) int64 { return 48 + 4*n + want/50 }

// upTo returns an entity's averages as they are at its queue's last update.
func (c *chaos) upTo(q *cfsRQ, se *Entity) Avg {
	a := se.avg
	load, factor := int64(0), seWeight(se)
	if se.onRQ {
		load = 1
	}
	if c.weightedSums() {
		load, factor = load*factor, 1
	}
	if a.accumulate(q.avg.last, load, runnableOf(se), q.curr == se) {
		a.refresh(factor)
	}
	return a
}

func scheduleAtRandom(t *rapid.T) {
	c := newChaos(t)
	for range 15 { // some 450 steps: tasks need time to spread and to pile up
		t.Repeat(c.actions())
	}
}

// Whatever happens in whatever order, the invariants hold on every machine and
// kernel, no task is lost, and averages stay sums.
func TestRandomLife(t *testing.T) { rapid.Check(t, scheduleAtRandom) }

func FuzzRandomLife(f *testing.F) { f.Fuzz(rapid.MakeFuzz(scheduleAtRandom)) }
