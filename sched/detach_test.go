package sched

import "testing"

// hotCase is a source with a running task and a waiting one that ran there
// until 0.3 ms ago, in a domain of one cache (tries 1).
type hotCase struct {
	*balanceLab
	env     *balanceEnv
	waiting *Task
}

func newHotCase(t *testing.T, kernel string) *hotCase {
	t.Helper()
	l := newBalanceLab(t, kernel, balanceMachine(1, 4, 2))
	tasks := l.spin(1, 2)
	c := &hotCase{balanceLab: l, waiting: tasks[0]}
	if l.Current(1) == c.waiting {
		c.waiting = tasks[1]
	}
	c.waiting.se.cfs.next, c.waiting.se.cfs.last = nil, nil
	c.waiting.se.execStart = l.now - 300_000
	c.env = l.env(0, "MC", Idle)
	c.env.src = &l.rqs[1]
	return c
}

func (c *hotCase) want(name string, want migrateVerdict) {
	c.t.Helper()
	flags, work := c.env.flags, c.work
	if got := c.canMigrate(c.env, c.waiting); got != want {
		c.t.Errorf("%s: %s, want %s", name, got, want)
	}
	if c.env.flags != flags || c.work != work {
		c.t.Errorf("%s: the verdict left traces", name)
	}
}

// 9.11: the task ran 0.3 ms ago, which is less than migration_cost (0.5 ms).
// Tries are 1: after one failure it stays, after two it goes.
func TestCacheHotTaskGoesAfterFailures(t *testing.T) {
	for _, kernel := range balanceKernels {
		c := newHotCase(t, kernel)
		c.env.d.nrBalanceFailed = 1
		c.want(kernel+", failed once", migrateHot)
		c.env.d.nrBalanceFailed = 2
		c.want(kernel+", failed twice", migrateForced)
	}
}

func TestMigrationVerdicts(t *testing.T) {
	for _, v := range []struct {
		name   string
		change func(c *hotCase)
		want   migrateVerdict
	}{
		{"ran 0.5 ms ago", func(c *hotCase) { c.waiting.se.execStart = c.now - 500_000 }, migrateCold},
		{"SCHED_IDLE", func(c *hotCase) { c.waiting.policy = PolicyIdle }, migrateCold},
		{"threads of one core", func(c *hotCase) { c.env.d = c.domain(0, "SMT") }, migrateCold},
		{"migration_cost 0", func(c *hotCase) { c.tun.MigrationCost = 0 }, migrateCold},
		{"migration_cost -1", func(c *hotCase) { c.tun.MigrationCost = -1; c.waiting.se.execStart = 0 }, migrateHot},
		{"running", func(c *hotCase) { c.waiting = c.Current(1) }, migrateRunning},
		{"not allowed", func(c *hotCase) { c.waiting.allowed = c.cores[1] }, migratePinned},
		{"kernel thread", func(c *hotCase) { c.waiting.kthread = true; c.waiting.allowed = c.cores[1] }, migrateKthread},
		{"stopper", func(c *hotCase) { c.env.flags |= envActive }, migrateActive},
		{"stopper, not allowed", func(c *hotCase) { c.env.flags |= envActive; c.waiting.allowed = c.cores[1] }, migratePinned},
		{"next buddy, idle destination", func(c *hotCase) {
			c.waiting.se.execStart = 0
			c.waiting.se.cfs.next = &c.waiting.se
		}, migrateCold},
		{"next buddy, busy destination", func(c *hotCase) {
			c.waiting.se.execStart = 0
			c.waiting.se.cfs.next = &c.waiting.se
			c.rqs[0].nr = 1
		}, migrateHot},
		{"last buddy, busy destination", func(c *hotCase) {
			c.waiting.se.execStart = 0
			c.waiting.se.cfs.last = &c.waiting.se
			c.rqs[0].nr = 1
		}, migrateHot},
		{"buddy without CACHE_HOT_BUDDY", func(c *hotCase) {
			c.waiting.se.execStart = 0
			c.waiting.se.cfs.last = &c.waiting.se
			c.rqs[0].nr = 1
			c.features = c.features.Without(CacheHotBuddy)
		}, migrateCold},
		{"throttled at the source", func(c *hotCase) { c.throttle(1) }, migrateThrottled},
		{"throttled at the destination", func(c *hotCase) { c.throttle(0) }, migrateThrottled},
		{"throttled elsewhere", func(c *hotCase) { c.throttle(2) }, migrateHot},
	} {
		c := newHotCase(t, "v5.17")
		v.change(c)
		c.want(v.name, v.want)
	}
}

// throttle puts the waiting task into a group that is throttled on cpu.
func (c *hotCase) throttle(cpu int) {
	g := c.NewGroup(c.Root(), "/g")
	c.SetGroup(c.now, c.waiting, g)
	c.waiting.se.execStart = c.now - 300_000
	c.waiting.se.cfs.next, c.waiting.se.cfs.last = nil, nil
	g.queues[cpu].throttledCnt = 1
}

// v4.14 does not know that threads of a core share its cache, nor kernel
// threads, nor the stopper's licence.
func TestMigrationVerdictsOf414(t *testing.T) {
	c := newHotCase(t, "v4.14")
	c.env.flags |= envActive
	c.want("stopper", migrateHot)
	c.waiting.kthread = true
	c.want("kernel thread that may run here", migrateHot)
	c.env.d = c.domain(0, "SMT") // tries 0
	c.want("threads of one core", migrateHot)
	c.env.d.nrBalanceFailed = 1
	c.want("threads of one core, failed once", migrateForced)
}

// What a refusal means for the pass: pinned tasks are noted, anything that was
// refused for another reason than affinity shows that not all are pinned.
func TestVerdictsChangeTheFlags(t *testing.T) {
	for _, v := range []struct {
		name   string
		change func(c *hotCase)
		want   envFlag
	}{
		{"pinned, sibling allowed", func(c *hotCase) { c.waiting.allowed = c.cores[0].Clone(); c.waiting.allowed.Clear(0) }, envAllPinned | envSomePinned | envDstPinned},
		{"pinned elsewhere", func(c *hotCase) { c.waiting.allowed = c.cores[1] }, envAllPinned | envSomePinned},
		{"pinned, newidle", func(c *hotCase) {
			c.waiting.allowed = c.cores[0].Clone()
			c.waiting.allowed.Clear(0)
			c.env.idle = NewlyIdle
		}, envAllPinned | envSomePinned},
		{"hot", func(*hotCase) {}, 0},
		{"running", func(c *hotCase) { c.waiting = c.Current(1) }, 0},
		{"kernel thread", func(c *hotCase) { c.waiting.kthread = true }, envAllPinned},
	} {
		c := newHotCase(t, "v5.17")
		v.change(c)
		c.env.flags = envAllPinned
		c.consider(c.env, c.waiting)
		if c.env.flags != v.want {
			t.Errorf("%s: flags %04b, want %04b", v.name, c.env.flags, v.want)
		}
		if c.env.has(envDstPinned) && c.env.newDst != 4 {
			t.Errorf("%s: other destination %d, want CPU 4", v.name, c.env.newDst)
		}
	}
}

// pulling prepares a pull of n waiting tasks from CPU 1 to CPU 0; none of them
// has run yet.
func pulling(t *testing.T, kernel string, n int, allowed ...int) (*balanceLab, *balanceEnv, []*Task) {
	t.Helper()
	l := newBalanceLab(t, kernel, balanceMachine(1, 4, 1))
	tasks := make([]*Task, n)
	for i := range tasks {
		tasks[i] = l.queue(1, allowed...)
	}
	env := l.env(0, "MC", Idle)
	env.src = &l.rqs[1]
	env.move = moveTask
	return l, env, tasks
}

// 9.11: the least recently picked first; of tasks never picked that is the one
// queued first. v4.14 takes the one queued last.
func TestDetachOrder(t *testing.T) {
	for _, c := range []struct{ kernel, want string }{
		{"v5.17", "0 0 1 1"}, {"v5.10", "0 0 1 1"}, {"v4.14", "1 1 0 0"},
	} {
		l, env, tasks := pulling(t, c.kernel, 4)
		env.imbalance = 2
		env.move = moveTask
		if moved := l.pull(env); moved != 2 || on(tasks) != c.want {
			t.Errorf("%s: moved %d, tasks on CPUs %s, want %s", c.kernel, moved, on(tasks), c.want)
		}
	}
}

// A picked task goes to the front of the list: the running one is asked last.
func TestPickedTaskIsAskedLast(t *testing.T) {
	l, env, tasks := pulling(t, "v5.17", 3)
	l.react()
	running := l.Current(1)
	if l.rqs[1].lruHead != running {
		t.Fatal("the running task is not in front")
	}
	env.imbalance = 2
	l.pull(env)
	if running.CPU() != 1 || l.counts() != "2 1 0 0" {
		t.Errorf("tasks on CPUs %s", on(tasks))
	}
}

// The task detached last is attached first, so it is older on its new CPU.
func TestAttachOrder(t *testing.T) {
	l, env, tasks := pulling(t, "v5.17", 3)
	env.imbalance = 2
	l.pull(env)
	if dst := &l.rqs[0]; dst.lruTail != tasks[1] || dst.lruHead != tasks[0] {
		t.Errorf("oldest on CPU 0 is task %d, want %d", dst.lruTail.ID, tasks[1].ID)
	}
}

// A moved task takes its load along at once: 4 new tasks of 1024.
func TestLoadMovesWithTheTask(t *testing.T) {
	for _, kernel := range balanceKernels {
		l, env, _ := pulling(t, kernel, 4)
		env.imbalance = 1
		if before := l.Load(1); before != 4096 {
			t.Fatalf("%s: load %d before, want 4096", kernel, before)
		}
		l.pull(env)
		if l.Load(0) != 1024 || l.Load(1) != 3072 {
			t.Errorf("%s: loads %d and %d, want 1024 and 3072", kernel, l.Load(0), l.Load(1))
		}
	}
}

// An idle destination leaves the source its last task.
func TestLastTaskStays(t *testing.T) {
	for _, c := range []struct {
		idle IdleType
		want int
	}{{Idle, 2}, {NewlyIdle, 2}, {NotIdle, 3}} {
		l, env, _ := pulling(t, "v5.17", 3)
		env.idle, env.imbalance = c.idle, 10
		if moved := l.pull(env); moved != c.want {
			t.Errorf("%s: moved %d, want %d", c.idle, moved, c.want)
		}
	}
}

// A fully preemptible kernel moves one task in a newidle pass.
func TestPreemptibleKernelMovesOneTaskWhenNewlyIdle(t *testing.T) {
	for _, c := range []struct {
		idle IdleType
		want int
	}{{NewlyIdle, 1}, {Idle, 3}} {
		l, env, _ := pulling(t, "v5.17", 4)
		l.preemptKernel = true
		env.idle, env.imbalance = c.idle, 10
		if moved := l.pull(env); moved != c.want {
			t.Errorf("%s: moved %d, want %d", c.idle, moved, c.want)
		}
	}
}

// Load: four new nice-0 tasks have h_load 1024·4096/4097 = 1023 each. When the
// first has left, the queue's share of the CPU's load is the one computed
// earlier in the jiffy, so the others have 1024·4096/3073 = 1364. Of an
// imbalance of 1500 the first leaves 477: no other fits until failures halve
// their loads, 1364>>2 = 341. v4.14 lets a task go when half of it fits: 682
// fits 1705-1023 but not 1704-1023.
func TestDetachByLoad(t *testing.T) {
	for _, c := range []struct {
		kernel    string
		imbalance int64
		failed    int32
		want      int
	}{
		{"v5.17", 1500, 0, 1}, {"v5.17", 1500, 1, 1}, {"v5.17", 1500, 2, 2}, {"v5.17", 1022, 0, 0},
		{"v4.14", 1704, 0, 1}, {"v4.14", 1705, 0, 2}, {"v4.14", 511, 0, 1}, {"v4.14", 510, 0, 0},
	} {
		l, env, tasks := pulling(t, c.kernel, 4)
		env.move, env.imbalance = moveLoad, c.imbalance
		env.d.nrBalanceFailed = c.failed
		if h := l.taskHLoad(tasks[0]); h != 1023 {
			t.Fatalf("h_load %d, want 1023", h)
		}
		if moved := l.pull(env); moved != c.want {
			t.Errorf("%s, imbalance %d, %d failures: moved %d, want %d", c.kernel, c.imbalance, c.failed, moved, c.want)
		}
	}
}

// Utilization: estimates 300, 200, 100 against an imbalance of 350, in the
// order of the list: 300 goes, 200 does not fit 50, nor does 100; 40 does. In
// v6.1 failures halve what is compared: after two, 200>>2 = 50 fits.
func TestDetachByUtilization(t *testing.T) {
	for _, c := range []struct {
		kernel string
		failed int32
		want   string
		left   int64
	}{
		{"v5.17", 0, "0 1 1 0", 10}, {"v5.17", 2, "0 1 1 0", 10},
		{"v6.1", 0, "0 1 1 0", 10}, {"v6.1", 2, "0 0 1 1", -150},
	} {
		l, env, tasks := pulling(t, c.kernel, 4)
		for i, util := range []int64{300, 200, 100, 40} {
			tasks[i].se.avg.utilAvg = util
			tasks[i].utilEstEWMA, tasks[i].utilEstEnqueued = util, util
		}
		env.move, env.imbalance, env.d.nrBalanceFailed = moveUtil, 350, c.failed
		if moved := l.pull(env); moved != 2 || on(tasks) != c.want || env.imbalance != c.left {
			t.Errorf("%s, %d failures: moved %d, tasks on CPUs %s, left %d", c.kernel, c.failed, moved, on(tasks), env.imbalance)
		}
	}
}

// LB_MIN keeps tasks of load below 16 from moving until a pass has failed.
func TestLBMin(t *testing.T) {
	for failed, want := range []int{0, 3} {
		l, env, tasks := pulling(t, "v5.17", 4)
		l.features = l.features.With(LBMin)
		for _, task := range tasks {
			task.se.avg.loadAvg = 15
		}
		env.move, env.imbalance, env.d.nrBalanceFailed = moveLoad, 1000, int32(failed)
		if moved := l.pull(env); moved != want {
			t.Errorf("%d failures: moved %d, want %d", failed, moved, want)
		}
	}
}

// At most nr_migrate (32) tasks are examined; all of those are pinned here.
func TestExaminationIsLimited(t *testing.T) {
	for _, c := range []struct {
		pinned, want int
	}{{31, 1}, {32, 0}} {
		l, env, _ := pulling(t, "v5.17", c.pinned, 1)
		l.queue(1)
		l.queue(1)
		env.flags |= envAllPinned
		env.imbalance = 1
		if moved := l.pull(env); moved != c.want || env.has(envAllPinned) != (c.want == 0) {
			t.Errorf("%d pinned: moved %d, want %d; flags %04b", c.pinned, moved, c.want, env.flags)
		}
	}
}

// nr_migrate above 32 is worked off in batches, with the lock given back in
// between: 40 tasks, the first 35 pinned; 36 examined, two locks. The step at
// which the batch ends counts as examined in the limit.
func TestExaminationTakesBreaks(t *testing.T) {
	l, env, _ := pulling(t, "v5.17", 35, 1)
	for i := 0; i < 5; i++ {
		l.queue(1)
	}
	l.tun.NrMigrate = 100
	env.imbalance = 1
	locks, examined := l.work.RemoteLocks, l.work.TasksExamined
	if moved := l.pull(env); moved != 1 {
		t.Errorf("moved %d, want 1", moved)
	}
	if got := l.work.RemoteLocks - locks; got != 2 {
		t.Errorf("%d locks of the source, want 2", got)
	}
	if got := l.work.TasksExamined - examined; got != 36 {
		t.Errorf("%d tasks examined, want 36", got)
	}
}
