package sched

import (
	"testing"
)

// Two tasks share CPU 0: A runs 0-5 ms while B waits, B 5-7 ms while A waits,
// then B blocks and A runs 7-10 ms; a yield of A changes nothing for it.
//
//	RunTime  5 + 2 = 7 ms, and 3 ms when A has gone
//	RunDelay 5 (B) + 2 (A) = 7 ms
//	Slices   A, B, A = 3
func TestTimesOnAndBeforeTheCPU(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 1, 1))
	a := l.start(0, TaskSpec{})
	b := l.start(0, TaskSpec{})
	if l.Current(0) != a {
		t.Fatal("A does not run")
	}
	ms := int64(1_000_000)
	b.se.vruntime = a.se.vruntime - 1 // B is next
	l.rqs[0].cfs.line = timeline{}
	l.rqs[0].cfs.line.insert(&b.se)
	if l.Schedule(labStart+5*ms, 0, false) != b {
		t.Fatal("B does not run")
	}
	if l.Schedule(labStart+7*ms, 0, true) != a {
		t.Fatal("A does not run again")
	}
	l.Yield(labStart+8*ms, 0)
	stats := *l.Stats(0)
	if stats.RunTime != 7*ms || stats.RunDelay != 7*ms || stats.Slices != 3 || stats.Yields != 1 {
		t.Errorf("run %d, delay %d, slices %d, yields %d; want 7 ms, 7 ms, 3, 1", stats.RunTime, stats.RunDelay, stats.Slices, stats.Yields)
	}
	if l.Schedule(labStart+10*ms, 0, true); l.Stats(0).RunTime != 10*ms {
		t.Errorf("run time %d at the end, want 10 ms", l.Stats(0).RunTime)
	}
}

// A task that the balancer takes off a queue has waited there in vain, and
// waits on from now on the other CPU.
func TestDelayOfMovedTask(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 2, 1))
	l.start(0, TaskSpec{})
	waiting := l.start(0, TaskSpec{})
	l.start(1, TaskSpec{})
	l.MigrateQueued(labStart+3_000_000, waiting, 1)
	if got := l.Stats(0).RunDelay; got != 3_000_000 {
		t.Errorf("delay on CPU 0: %d, want 3 ms", got)
	}
	if waiting.queuedAt != labStart+3_000_000 {
		t.Errorf("waits since %d", waiting.queuedAt-labStart)
	}
}

// A snapshot keeps what was counted, domain by domain: a wakeup of CPU 0 that
// goes to CPU 3 crosses MC, one that goes to the other node NUMA.
func TestSnapshot(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(2, 4, 1))
	for _, cpu := range []int{3, 5} {
		task := l.NewTask(TaskSpec{CPU: cpu})
		l.Start(l.now, task, cpu)
		l.react()
		l.Schedule(l.now, cpu, true)
		if got := l.Wake(l.now, 0, task, false); got != cpu {
			t.Fatalf("woken on CPU %d, not %d", got, cpu)
		}
		l.HandleWakeList(l.now, cpu)
		l.react()
	}
	snap := l.Snapshot(l.now)
	if len(snap.CPUs) != 8 || snap.Jiffies != labStart/4_000_000 {
		t.Fatalf("%d CPUs at jiffy %d", len(snap.CPUs), snap.Jiffies)
	}
	c := &snap.CPUs[0]
	if c.CPU != 0 || c.LLC != 0 || snap.CPUs[5].LLC != 4 || c.Stats.Wakeups != 2 {
		t.Errorf("%+v", c)
	}
	want := []struct {
		name   string
		remote int64
	}{{"MC", 1}, {"NUMA", 1}}
	for i, d := range c.Domains {
		if d.Name != want[i].name || d.WakeRemote != want[i].remote {
			t.Errorf("domain %d: %s, %d remote wakeups; want %+v", i, d.Name, d.WakeRemote, want[i])
		}
	}
	l.Schedule(l.now, 3, true)
	if again := l.Snapshot(l.now); again.CPUs[3].Stats.Schedules != snap.CPUs[3].Stats.Schedules+1 {
		t.Error("the snapshot changes with the scheduler")
	}
}

// What a pass finds is counted where schedstat counts it: no busy group on an
// idle machine; an imbalance of 1 task and a task moved beside three spinners
// on one CPU.
func TestPassCounters(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 2, 1))
	d := l.domain(0, "MC")
	l.enterBalancing(&l.rqs[0])
	l.balancePass(&l.rqs[0], d, Idle)
	if d.balanced.NoBusyGroup[Idle] != 1 || d.balanced.Balanced[Idle] != 1 {
		t.Errorf("idle machine: %+v", d.balanced)
	}
	l.spin(1, 3)
	l.driver.kick = nil
	l.ages(10)
	l.enterBalancing(&l.rqs[0])
	l.balancePass(&l.rqs[0], d, Idle)
	sum := int64(0)
	for _, v := range d.balanced.Imbalance[Idle] {
		sum += v
	}
	if d.balanced.Moved[Idle] == 0 || sum == 0 || d.balanced.Passes[Idle] != 2 {
		t.Errorf("after a pull: %+v", d.balanced)
	}
}
