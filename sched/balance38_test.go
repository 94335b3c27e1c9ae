package sched

import "testing"

// The busiest group as mechanisms.md 9.10 has it for v3.8, and what is moved.
func TestBusiestGroup38(t *testing.T) {
	for _, c := range []struct {
		name      string
		kernel    string
		spec      machineSpec
		tasks     map[int]int // by CPU; they may run anywhere
		cpu       int
		domain    string
		idle      IdleType
		busiest   string // "": balanced
		imbalance int64
	}{
		// Cores of 1178 have room for round(1178/1024) = 1 task. Domain average
		// 2048·1024/2356 = 890, the core's 2048·1024/1178 = 1780. Excess
		// (2−1)·1024·1024/1178 = 890, missing 890 here too: 890·1178/1024 = 1023,
		// under an average task. Small: 1780−0+890 >= 890·2.
		{"a core with two tasks", "v3.8", machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 2, adjacent: true},
			map[int]int{2: 1, 3: 1}, 0, "MC", Idle, "2-3", 1024},
		{"a core with one task", "v3.8", machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 2, adjacent: true},
			map[int]int{2: 1}, 0, "MC", Idle, "", 0},
		// Four cores count as round(4·1178/1024) = 5 slots: a fifth task stays,
		// a sixth does not. Average 6144·1024/9424 = 667; the node has
		// 6144·1024/4712 = 1335, so 668 too much, an excess of
		// (6−5)·1024·1024/4712 = 222; 222·4712/1024 = 1021 is less than a task,
		// 1335+217 >= 2·217.
		{"four cores with five tasks", "v3.8", machineSpec{nodes: 2, llcs: 1, cores: 4, threads: 2, adjacent: true},
			map[int]int{8: 1, 9: 1, 10: 1, 12: 1, 14: 1}, 0, "NUMA", Idle, "", 0},
		{"four cores with six tasks", "v3.8", machineSpec{nodes: 2, llcs: 1, cores: 4, threads: 2, adjacent: true},
			map[int]int{8: 1, 9: 1, 10: 1, 11: 1, 12: 1, 14: 1}, 0, "NUMA", Idle, "8-15", 1024},
		// 3072 against 0, average 1536: min(1536, (3−1)·1024), and 1536 missing.
		{"three tasks on one of two CPUs", "v3.8", machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1},
			map[int]int{1: 3}, 0, "MC", Idle, "1", 1536},
		// 100·2048 > 125·1024, but only 512 would even it out: a small imbalance,
		// and 2048−1024+1024 >= 1024·2, so one task moves. These kernels hand the
		// third task round.
		{"two tasks against one", "v3.8", machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1},
			map[int]int{0: 1, 1: 2}, 0, "MC", NotIdle, "1", 1024},
		// Two caches of two CPUs: two slots for two tasks, so v3.8 leaves them.
		// The caches of v3.2 prefer to share (there is room for one task then):
		// average 2048·1024/4096 = 512, (2−1)·1024·1024/2048 = 512 of excess,
		// 512 missing here, times 2048/1024.
		{"caches do not spread", "v3.8", machineSpec{nodes: 1, llcs: 2, cores: 2, threads: 1},
			map[int]int{2: 1, 3: 1}, 0, "CPU", Idle, "", 0},
		{"caches spread", "v3.2", machineSpec{nodes: 1, llcs: 2, cores: 2, threads: 1},
			map[int]int{2: 1, 3: 1}, 0, "CPU", Idle, "2-3", 1024},
		// Two tasks on one CPU and none on its neighbour: loads 2048 apart, more
		// than a task's 1024, tasks two apart, more than one. 2048·1024/2048 =
		// 1024 against an average of 512; 512·2048/1024 = 1024 to move.
		{"an uneven group", "v3.8", machineSpec{nodes: 1, llcs: 2, cores: 2, threads: 1},
			map[int]int{2: 2}, 0, "CPU", Idle, "2-3", 1024},
		// The same one task apart is no unevenness.
		{"an even group", "v3.8", machineSpec{nodes: 1, llcs: 2, cores: 2, threads: 1},
			map[int]int{2: 2, 3: 1}, 0, "CPU", NotIdle, "2-3", 1024},
	} {
		t.Run(c.kernel+" "+c.name, func(t *testing.T) {
			l := newBalanceLab(t, c.kernel, c.spec.build())
			for cpu := range l.rqs {
				for range c.tasks[cpu] {
					l.queue(cpu)
				}
				l.react38(cpu)
			}
			env := l.env(c.cpu, c.domain, c.idle)
			g := findBusiestGroup38(l.Scheduler, env)
			got := ""
			if g != nil {
				got = g.Span.String()
			}
			if got != c.busiest || (g != nil && env.imbalance != c.imbalance) {
				t.Errorf("busiest %q, imbalance %d; want %q, %d", got, env.imbalance, c.busiest, c.imbalance)
			}
		})
	}
}

// react38 lets a CPU take its first task and lets nothing else happen.
func (l *balanceLab) react38(cpu int) {
	l.driver.resched = l.driver.resched[:0]
	if l.rqs[cpu].nr > 0 {
		l.Schedule(l.now, cpu, false)
	}
	now := l.Load(cpu) // as it has been for long
	l.rqs[cpu].loadHistory.load = [3]int64{now, now, now}
}

// Newidle balancing goes by the CPU's usual idle time alone (9.8): whether any
// CPU has two tasks is not known to it. After a long idle time it is as if the
// CPU had always idled that long.
func TestIdleBalance38(t *testing.T) {
	l := newBalanceLab(t, "v3.8", balanceMachine(1, 2, 1))
	l.spin(1, 3, 1)
	for _, task := range l.tasksOf(1) {
		l.SetAffinity(task, l.online)
	}
	rq := &l.rqs[0]
	l.overload = false
	rq.avgIdle = 499_999
	if pulled := l.newidleBalance(rq); pulled != 0 || rq.idleStamp != l.now {
		t.Errorf("pulled %d with a usual idle time below the migration cost", pulled)
	}
	rq.avgIdle = 500_000
	if pulled := l.newidleBalance(rq); pulled == 0 || rq.idleStamp != 0 {
		t.Errorf("pulled %d, idle since %d", pulled, rq.idleStamp)
	}
	for kernel, want := range map[string]int64{"v3.8": 1_000_000, "v4.14": 250_000} {
		l := newBalanceLab(t, kernel, balanceMachine(1, 2, 1))
		rq := &l.rqs[0]
		rq.avgIdle, rq.idleStamp = 0, l.now-2_000_000
		l.endIdlePeriod(rq)
		wantInt(t, kernel+": average after 2 ms", rq.avgIdle, want)
	}
}

func (l *balanceLab) tasksOf(cpu int) []*Task {
	var tasks []*Task
	for t := l.rqs[cpu].lruHead; t != nil; t = t.lruNext {
		tasks = append(tasks, t)
	}
	return tasks
}

// v3.8 kicks for waiting tasks and for a core that is busy on both threads, not
// for two busy cores; each time the common due time moves by one jiffy (9.9).
func TestNohzKick38(t *testing.T) {
	for _, c := range []struct {
		name  string
		tasks []int // CPUs
		want  uint8
	}{
		{"one task", []int{0}, 0},
		{"two tasks on a CPU", []int{0, 0}, kickBalance},
		{"both threads of the core", []int{0, 2}, kickBalance}, // cores {0,2} {1,3}
		{"two cores", []int{0, 1}, 0},
	} {
		l := newBalanceLab(t, "v3.8", balanceMachine(1, 2, 2))
		for _, cpu := range c.tasks {
			l.spin(cpu, 1, cpu)
		}
		for _, cpu := range c.tasks {
			l.nohzExit(&l.rqs[cpu])
		}
		due := l.nohz.nextBalance
		if got := nohzKick38(l.Scheduler, &l.rqs[0]); got != c.want {
			t.Errorf("%s: kick %d, want %d", c.name, got, c.want)
		}
		wantInt(t, c.name+": due", l.nohz.nextBalance-due, int64(c.want))
	}
}

// Spinners spread over CPUs and cores, and stay spread, on both kernels.
func TestSpinnersSpread38(t *testing.T) {
	for _, kernel := range []string{"v3.2", "v3.8"} {
		l := newBalanceLab(t, kernel, balanceMachine(2, 4, 1))
		l.spin(0, 8)
		l.run(2000)
		wantString(t, kernel+": eight on eight CPUs", l.counts(), "1 1 1 1 1 1 1 1")
		l = newBalanceLab(t, kernel, balanceMachine(1, 4, 2))
		l.spin(0, 4)
		l.run(2000)
		if l.sharedBesideIdle() {
			t.Errorf("%s: four on four cores: %s", kernel, l.counts())
		}
	}
}
