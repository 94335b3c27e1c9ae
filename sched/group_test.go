package sched

import (
	"strings"
	"testing"
)

func mustIdle(t *testing.T, s *Scheduler, g *TaskGroup, idle bool) {
	t.Helper()
	if err := s.SetIdle(g, idle); err != nil {
		t.Fatal(err)
	}
}

func mustWeight(t *testing.T, s *Scheduler, g *TaskGroup, weight int64) {
	t.Helper()
	if err := s.SetWeight(g, weight); err != nil {
		t.Fatal(err)
	}
}

// Worked example of mechanisms.md 3.5: root with G (normal, t1) and I (idle, t2
// and t3).
func Test3_5_IdleCounts(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	g, idle := l.NewGroup(l.Root(), "/G"), l.NewGroup(l.Root(), "/I")
	mustIdle(t, l.Scheduler, idle, true)
	t1 := l.hog(TaskSpec{Group: g}, 0)
	l.hog(TaskSpec{Group: idle}, 0)
	l.hog(TaskSpec{Group: idle}, 0)
	l.settle()
	rq := &l.rqs[0]
	wantInt(t, "root H", int64(rq.cfs.h), 3)
	wantInt(t, "root Hidle", int64(rq.cfs.hIdle), 2)
	wantInt(t, "I's own Hidle: the group's idleness counts above it", int64(idle.queues[0].hIdle), 0)
	if l.SchedIdle(0) || l.Current(0) != t1 {
		t.Fatal("a normal task runs, so the CPU is not sched-idle")
	}
	l.advance(5 * millisecond)
	rq.nextBalance = 1 << 40
	l.Schedule(l.clock, 0, true)
	wantInt(t, "root Hidle when t1 sleeps", int64(rq.cfs.hIdle), 2)
	wantInt(t, "nr when t1 sleeps", int64(rq.nr), 2)
	if !l.SchedIdle(0) {
		t.Error("with nothing but idle tasks the CPU is sched-idle")
	}
	wantInt(t, "next_balance is now, jiffy 5 ms * 250 Hz", rq.nextBalance, 1)
	checkInvariants(t, l.Scheduler)
}

// Before sched-idle CPUs were known nothing is balanced early.
func Test3_5_V414KnowsNoSchedIdleCPU(t *testing.T) {
	l := newLab(t, uniprocessor(), "v4.14")
	l.hog(TaskSpec{}, 0)
	l.hog(TaskSpec{Policy: PolicyIdle}, 0)
	l.advance(millisecond)
	l.rqs[0].nextBalance = 1 << 40
	l.Schedule(l.clock, 0, true)
	wantInt(t, "next_balance", l.rqs[0].nextBalance, 1<<40)
}

// mechanisms.md 3.4 and 3.5: toggling cpu.idle moves a queue's normal tasks
// between the counts above it, up to the first idle ancestor.
func Test3_5_TogglingIdle(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	outer := l.NewGroup(l.Root(), "/o")
	inner := l.NewGroup(outer, "/o/i")
	l.hog(TaskSpec{Group: inner}, 0)
	l.hog(TaskSpec{Group: inner, Policy: PolicyIdle}, 0)
	l.hog(TaskSpec{Group: outer}, 0)
	counts := func(when string, root, o, i int64) {
		t.Helper()
		wantInt(t, when+": root", int64(l.rqs[0].cfs.hIdle), root)
		wantInt(t, when+": outer", int64(outer.queues[0].hIdle), o)
		wantInt(t, when+": inner", int64(inner.queues[0].hIdle), i)
		checkInvariants(t, l.Scheduler)
	}
	counts("all normal", 1, 1, 1)
	mustIdle(t, l.Scheduler, inner, true)
	counts("inner idle: its two tasks are, above it", 2, 2, 1)
	mustIdle(t, l.Scheduler, outer, true)
	counts("outer idle too: all three are, above that", 3, 2, 1)
	mustIdle(t, l.Scheduler, inner, false)
	counts("inner normal again: seen in outer only", 3, 1, 1)
	mustIdle(t, l.Scheduler, outer, false)
	counts("all normal again", 1, 1, 1)
}

// mechanisms.md 3.4: an idle group has the weight of a SCHED_IDLE task and takes
// no other; afterwards it has the default.
func Test3_4_IdleGroupHasWeight3(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	g := l.NewGroup(l.Root(), "/g")
	mustWeight(t, l.Scheduler, g, 500)
	mustIdle(t, l.Scheduler, g, true)
	l.hog(TaskSpec{Group: g}, 0)
	wantInt(t, "weight of the idle group", g.entities[0].weight, 3<<weightShift)
	if err := l.SetWeight(g, 100); err == nil || !strings.Contains(err.Error(), "cpu.idle is 1") {
		t.Errorf("setting the weight of an idle group: %v", err)
	}
	mustIdle(t, l.Scheduler, g, false)
	wantInt(t, "weight afterwards", g.entities[0].weight, 1024<<weightShift)
}

func TestGroupSettingsThatCannotBe(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	old := newLab(t, uniprocessor(), "v5.10")
	g, oldGroup := l.NewGroup(l.Root(), "/g"), old.NewGroup(old.Root(), "/g")
	for _, c := range []struct {
		err  error
		want string
	}{
		{l.SetWeight(g, 0), "between 1 and 10000"},
		{l.SetWeight(g, 10001), "between 1 and 10000"},
		{l.SetWeight(l.Root(), 100), "root group"},
		{l.SetIdle(l.Root(), true), "root group"},
		{old.SetIdle(oldGroup, true), "v5.15"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", c.err, c.want)
		}
	}
}

// mechanisms.md 3.1: cgroup v2 weights map to shares by w*1024/100, rounded.
func Test3_1_WeightToShares(t *testing.T) {
	for _, c := range []struct{ weight, shares int64 }{
		{1, 10}, {50, 512}, {100, 1024}, {133, 1362}, {200, 2048}, {10000, 102400},
	} {
		l := newLab(t, uniprocessor(), "v5.17")
		g := l.NewGroup(l.Root(), "/g")
		mustWeight(t, l.Scheduler, g, c.weight)
		wantInt(t, "shares", g.shares, c.shares<<weightShift)
	}
}

// Worked example of mechanisms.md 3.5: shares 1024, two CPUs with group loads
// 1024 and 3072: the entities weigh 256 and 768.
func Test3_5_SharesFollowLoad(t *testing.T) {
	for _, kernel := range []string{"v5.17", "v6.12", "v7.2"} {
		l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), kernel)
		g := l.NewGroup(l.Root(), "/g")
		for cpu, load := range []int64{1024, 3072} {
			q := g.queues[cpu]
			q.avg.loadAvg, q.tgContrib = load, load
			g.loadAvg += load
		}
		wantInt(t, kernel+": 1024 * 1024/4096", l.groupWeight(g.queues[0]), 256<<weightShift)
		wantInt(t, kernel+": 1024 * 3072/4096", l.groupWeight(g.queues[1]), 768<<weightShift)

		// What is queued here counts at once, before the average has grown.
		g.queues[0].load = 5120 << weightShift
		wantInt(t, kernel+": 1024 * 5120/(3072+5120)", l.groupWeight(g.queues[0]), 640<<weightShift)
	}
}

// The floor and the ceiling of mechanisms.md 3.1.
func Test3_1_WeightIsBounded(t *testing.T) {
	l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), "v5.17")
	g := l.NewGroup(l.Root(), "/g")
	q := g.queues[0]
	g.loadAvg = 1 << 40
	q.avg.loadAvg = 1
	wantInt(t, "next to no share: the floor of 2 in stored scale", l.groupWeight(q), 2)
	q.avg.loadAvg, g.loadAvg, q.tgContrib = 5000, 4000, 4000
	wantInt(t, "all of the group is here", l.groupWeight(q), g.shares)
	q.avg.loadAvg, g.loadAvg, q.tgContrib = 0, 0, 0
	wantInt(t, "no load anywhere", l.groupWeight(q), 2)
}

// mechanisms.md 3.1: a throttled group keeps its weight, but where its tasks are
// throttled one by one. Half of the group's load is here: 512 of 1024.
func Test3_1_ThrottledGroupKeepsItsWeight(t *testing.T) {
	for _, c := range []struct {
		kernel    string
		throttled int32
		want      int64
	}{{"v5.17", 0, 512}, {"v5.17", 1, 1024}, {"v7.2", 1, 512}} {
		l := newLab(t, uniprocessor(), c.kernel)
		g := l.NewGroup(l.Root(), "/g")
		q := g.queues[0]
		q.load, q.tgContrib, g.loadAvg, q.throttledCnt = nice0Stored, 1024, 2048, c.throttled
		l.updateGroupWeight(g.entities[0])
		wantInt(t, c.kernel, g.entities[0].weight, c.want<<weightShift)
	}
}

// mechanisms.md 3.1: a queue publishes its load only when it has changed by more
// than 1/64.
func Test3_1_PublishedLoadLags(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	g := l.NewGroup(l.Root(), "/g")
	q := g.queues[0]
	for _, c := range []struct{ load, published int64 }{
		{640, 640}, {650, 640}, {651, 651}, {641, 651}, {640, 640},
	} {
		q.avg.loadAvg = c.load
		l.publishLoad(q)
		wantInt(t, "published", q.tgContrib, c.published)
		wantInt(t, "group's sum", g.loadAvg, c.published)
	}
}

// shareOf runs two hogs on one CPU for 20 s and returns what the first got, in
// thousandths.
func shareOf(l *lab, a, b *Task) int64 {
	l.advance(20 * second)
	ra, rb := l.RunTime(l.clock, a), l.RunTime(l.clock, b)
	return ra * 1000 / (ra + rb)
}

// One CPU is shared by weight: nice 5 against nice 0 is 335:1024 within 2 %, so
// nice 5 has 335/1359 = 24.65 %; cpu.weight 100 against 200 a third; an idle
// task or group 3/1027 = 0.29 %, so that the other has 99.7 %.
func TestOneCPUIsSharedByWeight(t *testing.T) {
	plain := func(*lab, *testing.T) *TaskGroup { return nil }
	weight := func(w int64) func(*lab, *testing.T) *TaskGroup {
		return func(l *lab, t *testing.T) *TaskGroup {
			g := l.NewGroup(l.Root(), "/w")
			mustWeight(t, l.Scheduler, g, w)
			return g
		}
	}
	idle := func(l *lab, t *testing.T) *TaskGroup {
		g := l.NewGroup(l.Root(), "/idle")
		mustIdle(t, l.Scheduler, g, true)
		return g
	}
	type side struct {
		spec  TaskSpec
		group func(*lab, *testing.T) *TaskGroup
	}
	for _, c := range []struct {
		name     string
		a, b     side
		want     int64 // thousandths of a
		permille int64
		idleOnly bool
	}{
		{"nice 5 and nice 0", side{TaskSpec{Nice: 5}, plain}, side{TaskSpec{}, plain}, 246, 20, false},
		{"nice -5 and nice 0: 3121/4145", side{TaskSpec{Nice: -5}, plain}, side{TaskSpec{}, plain}, 753, 20, false},
		{"weights 100 and 200", side{TaskSpec{}, weight(100)}, side{TaskSpec{}, weight(200)}, 333, 20, false},
		{"nice 10 in weight 100 and nice 0 in weight 200", side{TaskSpec{Nice: 10}, weight(100)}, side{TaskSpec{}, weight(200)}, 333, 20, false},
		{"normal and SCHED_IDLE", side{TaskSpec{}, plain}, side{TaskSpec{Policy: PolicyIdle}, plain}, 997, 2, false},
		{"normal and idle group", side{TaskSpec{}, plain}, side{TaskSpec{}, idle}, 997, 2, true},
		{"batch and normal", side{TaskSpec{Policy: PolicyBatch}, plain}, side{TaskSpec{}, plain}, 500, 20, false},
	} {
		for _, p := range Profiles() {
			if c.idleOnly && !p.GroupIdle {
				continue
			}
			l := newLab(t, uniprocessor(), p.Name, eightWayOf(p)...)
			sa, sb := c.a.spec, c.b.spec
			sa.Group, sb.Group = c.a.group(l, t), c.b.group(l, t)
			a, b := l.hog(sa, 0), l.hog(sb, 0)
			wantNear(t, p.Name+", "+c.name, shareOf(l, a, b), c.want, c.permille)
			checkInvariants(t, l.Scheduler)
		}
	}
}

// A group gets its share however many tasks it holds: 1 against 5.
func TestGroupsShareNotTasks(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17", eightWayTunables...)
	one, five := l.NewGroup(l.Root(), "/one"), l.NewGroup(l.Root(), "/five")
	single := l.hog(TaskSpec{Group: one}, 0)
	for range 5 {
		l.hog(TaskSpec{Group: five}, 0)
	}
	l.advance(20 * second)
	wantNear(t, "the single task's half of 20 s, in ms", l.RunTime(l.clock, single)/millisecond, 10_000, 20)
}

// sched_move_task on a running, a waiting and a sleeping task: the counters
// follow, and with them the averages, at once.
func TestSetGroupMovesEverything(t *testing.T) {
	for _, p := range Profiles() {
		l := newLab(t, uniprocessor(), p.Name)
		from, to := l.NewGroup(l.Root(), "/from"), l.NewGroup(l.Root(), "/to")
		sleeper := l.add(TaskSpec{Group: from}, 0, millisecond, 10*second)
		running, waiting := l.hog(TaskSpec{Group: from}, 0), l.hog(TaskSpec{Group: from}, 0)
		l.advance(100 * millisecond)
		if l.Current(0) != running {
			running, waiting = waiting, running
		}
		for _, task := range []*Task{running, waiting, sleeper.Task} {
			l.SetGroup(l.clock, task, to)
			checkInvariants(t, l.Scheduler)
		}
		wantInt(t, p.Name+": tasks left behind", int64(from.queues[0].h), 0)
		wantInt(t, p.Name+": tasks that moved", int64(to.queues[0].h), 2)
		if left := from.queues[0].avg.loadAvg; left > 3 { // each average is rounded on its own
			t.Errorf("%s: load left behind: %d", p.Name, left)
		}
		wantNear(t, p.Name+": load that moved", to.queues[0].avg.loadAvg,
			running.LoadAvg()+waiting.LoadAvg()+sleeper.LoadAvg(), 5)
		if l.Current(0) != running || !l.NeedResched(0) {
			t.Errorf("%s: the running task goes on and the CPU thinks again", p.Name)
		}
	}
}

// A sleeper keeps its distance to the virtual time of the queue, so that a group
// with an earlier clock does not make it wait.
func TestSetGroupKeepsASleepersDistance(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	from, to := l.NewGroup(l.Root(), "/from"), l.NewGroup(l.Root(), "/to")
	sleeper := l.add(TaskSpec{Group: from}, 0, 50*millisecond, 10*second)
	l.advance(60 * millisecond)
	from.queues[0].minVruntime = 100 * millisecond
	to.queues[0].minVruntime = 7 * millisecond
	sleeper.se.vruntime = 102 * millisecond
	l.SetGroup(l.clock, sleeper.Task, to)
	wantInt(t, "2 ms ahead: still 2 ms ahead", sleeper.VRuntime(), 9*millisecond)

	to.queues[0].minVruntime = 500 * millisecond
	from.queues[0].minVruntime = 20 * millisecond
	l.SetGroup(l.clock, sleeper.Task, from)
	wantInt(t, "491 ms behind: as after a wakeup, half of 6 ms behind", sleeper.VRuntime(), 17*millisecond)
}

// A task that waits on another CPU's wake list is relative to no queue.
func TestSetGroupOfAPendingTask(t *testing.T) {
	l := newLab(t, machineSpec{nodes: 2, llcs: 1, cores: 1, threads: 1}.build(), "v5.17")
	g := l.NewGroup(l.Root(), "/g")
	task := l.hog(TaskSpec{Allowed: maskOf(2, 0, 1)}, 0)
	l.advance(50 * millisecond)
	l.Schedule(l.clock, 0, true)
	l.SetAffinity(task, maskOf(2, 1))
	l.rqs[1].cfs.minVruntime = 900 * millisecond
	if cpu := l.Wake(l.clock, 0, task, false); cpu != 1 || !l.WakeListPending(1) {
		t.Fatalf("woken on CPU %d, pending %v", cpu, l.WakeListPending(1))
	}
	relative := task.VRuntime()
	l.SetGroup(l.clock, task, g)
	wantInt(t, "vruntime while pending", task.VRuntime(), relative)
	l.settle()
	checkInvariants(t, l.Scheduler)
	if l.Current(1) != task {
		t.Error("the task does not run in its new group")
	}
}
