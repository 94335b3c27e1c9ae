package sched

import "testing"

// smtPair is the case that only active balancing solves: both threads of core
// 0 run one task each, core 1 idles.
func smtPair(t *testing.T, kernel string) (*balanceLab, *Domain) {
	t.Helper()
	l := newBalanceLab(t, kernel, balanceMachine(1, 2, 2)) // cores {0,2} {1,3}
	l.spin(0, 1)
	l.spin(2, 1)
	return l, l.domain(1, "MC")
}

// 9.7: needed when nr_balance_failed > cache_nice_tries+2 = 3, so at the fourth
// failure. The stopper then moves the task that was running.
func TestActiveBalanceAfterFourFailures(t *testing.T) {
	l, d := smtPair(t, "v5.17")
	for i := 0; i < 3; i++ {
		if res := l.balancePass(&l.rqs[1], d, Idle); res.outcome != passFailed || res.imbalance != 1 || res.move != moveTask {
			t.Fatalf("pass %d: %+v, want one task wanted and none moved", i+1, res)
		}
	}
	res := l.balancePass(&l.rqs[1], d, Idle)
	if res.outcome != passActive || res.src != 0 || len(l.driver.stop) != 1 || l.driver.stop[0] != 0 {
		t.Fatalf("fourth pass %+v, stoppers %v", res, l.driver.stop)
	}
	if !l.rqs[0].activeBalance || l.rqs[0].pushCPU != 1 {
		t.Errorf("CPU 0 is to push to %d", l.rqs[0].pushCPU)
	}
	task := l.Current(0)
	l.ActiveBalance(l.now, 0)
	if task.CPU() != 1 || !l.NeedResched(0) || !l.NeedResched(1) || l.rqs[0].activeBalance {
		t.Errorf("task on CPU %d, resched %v %v", task.CPU(), l.NeedResched(0), l.NeedResched(1))
	}
	if d.nrBalanceFailed != 0 || d.balanced.ActivePushes != 1 {
		t.Errorf("failures %d, pushes %d after the push", d.nrBalanceFailed, d.balanced.ActivePushes)
	}
	l.react()
	if l.counts() != "0 1 1 0" || l.Current(1) != task || l.Current(0) != nil {
		t.Errorf("CPUs run %s", l.counts())
	}
}

// In virtual time: a lone task leaves the shared core, in every kernel.
func TestLoneTaskLeavesSharedCore(t *testing.T) {
	for _, kernel := range balanceKernels {
		l, _ := smtPair(t, kernel)
		l.run(500)
		if l.sharedBesideIdle() || l.pushes == 0 {
			t.Errorf("%s: CPUs run %s after %d pushes", kernel, l.counts(), l.pushes)
		}
	}
}

// The stopper takes the task that was running although it is cache hot; before
// v5.13 the failures had to allow it.
func TestStopperAndHeat(t *testing.T) {
	for _, c := range []struct {
		kernel string
		failed int32
		want   string
	}{{"v5.17", 0, "0 1 1 0"}, {"v5.10", 1, "1 0 1 0"}, {"v5.10", 2, "0 1 1 0"}} {
		l, d := smtPair(t, c.kernel)
		l.rqs[0].activeBalance, l.rqs[0].pushCPU = true, 1
		d.nrBalanceFailed = c.failed
		l.ActiveBalance(l.now, 0)
		if l.counts() != c.want {
			t.Errorf("%s, %d failures: CPUs run %s, want %s", c.kernel, c.failed, l.counts(), c.want)
		}
	}
}

// A CPU that has not yet picked its only task runs the idle task, which may
// not be moved.
func TestActiveBalanceOfIdleCurrent(t *testing.T) {
	l := newBalanceLab(t, "v5.17", balanceMachine(1, 2, 2))
	l.queue(0)
	l.spin(2, 1)
	l.rqs[0].curr = nil
	env := l.env(1, "MC", Idle)
	env.src, env.move, env.d.nrBalanceFailed = &l.rqs[0], moveTask, 3
	res := passResult{outcome: passFailed}
	l.afterFailure(env, &res)
	if res.outcome != passCurrentPinned {
		t.Errorf("outcome %s", res.outcome)
	}
}

// Starting it resets the interval (MC of 4: 4 ms) or, up to v5.10 and when only
// failures called for it, doubles it.
func TestActiveBalanceAndTheInterval(t *testing.T) {
	for _, c := range []struct {
		kernel string
		want   int64
	}{{"v5.17", 4}, {"v5.10", 8}, {"v4.14", 8}} {
		l, d := smtPair(t, c.kernel)
		d.nrBalanceFailed = 3
		if res := l.balancePass(&l.rqs[1], d, Idle); res.outcome != passActive || d.balanceInterval != c.want {
			t.Errorf("%s: %s, interval %d ms, want %d", c.kernel, res.outcome, d.balanceInterval, c.want)
		}
	}
}

// While a stopper is on its way no second one is started.
func TestOneStopperAtATime(t *testing.T) {
	l, d := smtPair(t, "v5.17")
	for i := 0; i < 6; i++ {
		l.balancePass(&l.rqs[1], d, Idle)
	}
	if len(l.driver.stop) != 1 {
		t.Errorf("%d stoppers", len(l.driver.stop))
	}
}

// Not when the running task may not run here: then only the interval grows,
// MC of 4 CPUs: from 4 to 8 ms, its maximum, and on towards 512 because no
// task was even asked.
func TestActiveBalanceRefusedForPinnedTask(t *testing.T) {
	for _, kernel := range []string{"v5.17", "v5.10"} {
		l := newBalanceLab(t, kernel, balanceMachine(1, 2, 2))
		l.spin(0, 1, 0)
		l.spin(2, 1, 2)
		d := l.domain(1, "MC")
		d.nrBalanceFailed = 3
		for _, want := range []int64{8, 16} {
			res := l.balancePass(&l.rqs[1], d, Idle)
			if res.outcome != passCurrentPinned || len(l.driver.stop) != 0 || d.balanceInterval != want {
				t.Errorf("%s: %s, stoppers %v, interval %d ms, want %d", kernel, res.outcome, l.driver.stop, d.balanceInterval, want)
			}
		}
	}
}

// v5.10 starts it for any kind of move and then sets the failures to tries+1
// so that heat does not stop the stopper; v5.17 only when tasks are spread.
func TestActiveBalanceByMoveType(t *testing.T) {
	for _, c := range []struct {
		kernel string
		move   moveType
		want   bool
	}{
		{"v5.17", moveTask, true}, {"v5.17", moveLoad, false}, {"v5.17", moveUtil, false},
		{"v5.10", moveTask, true}, {"v5.10", moveLoad, true}, {"v4.14", moveLoad, true},
	} {
		l, d := smtPair(t, c.kernel)
		env := l.env(1, "MC", Idle)
		env.src, env.move = &l.rqs[0], c.move
		d.nrBalanceFailed = 3 // the failure that is counted now makes it 4
		res := passResult{outcome: passFailed}
		l.afterFailure(env, &res)
		if got := res.outcome == passActive; got != c.want {
			t.Errorf("%s, %s: %s", c.kernel, c.move, res.outcome)
		}
		if c.want && c.kernel != "v5.17" && d.nrBalanceFailed != 2 {
			t.Errorf("%s: failures set to %d, want tries+1 = 2", c.kernel, d.nrBalanceFailed)
		}
	}
}

// 9.7: v3.8 sets the failures to tries+1 = 2 when it starts, and its push leaves
// them there; later kernels reset them.
func TestFailuresAfterAPush(t *testing.T) {
	for kernel, want := range map[string]int64{"v3.2": 2, "v3.8": 2, "v4.14": 0, "v5.10": 0} {
		l, d := smtPair(t, kernel)
		env := l.env(1, "MC", Idle)
		env.src, env.move = &l.rqs[0], moveLoad
		d.nrBalanceFailed = 3
		res := passResult{outcome: passFailed}
		l.afterFailure(env, &res)
		wantInt(t, kernel+": failures while the stopper is on its way", int64(d.nrBalanceFailed), 2)
		l.ActiveBalance(l.now, 0)
		if l.counts() != "0 1 1 0" {
			t.Fatalf("%s: nothing was pushed: %s", kernel, l.counts())
		}
		wantInt(t, kernel+": failures after the push", int64(d.nrBalanceFailed), want)
	}
}

// 9.7: an idle CPU takes the single task of one whose capacity is reduced:
// 800·117 < 1024·100, without waiting for failures. 900·117 is not.
func TestActiveBalanceOffReducedCPU(t *testing.T) {
	for _, c := range []struct {
		capacity int64
		idle     IdleType
		want     bool
	}{{800, Idle, true}, {900, Idle, false}, {800, NotIdle, false}} {
		l := newBalanceLab(t, "v5.17", balanceMachine(1, 4, 1))
		l.spin(1, 1)
		l.rqs[1].capacity = c.capacity
		env := l.env(0, "MC", c.idle)
		env.src = &l.rqs[1]
		if got := activeNeeded517(l.Scheduler, env); got != c.want {
			t.Errorf("capacity %d, %s: %v, want %v", c.capacity, c.idle, got, c.want)
		}
	}
}

// A stopper that finds the CPU empty does nothing.
func TestStopperFindsNothing(t *testing.T) {
	l, _ := smtPair(t, "v5.17")
	l.ActiveBalance(l.now, 0) // nobody asked
	if l.counts() != "1 0 1 0" || l.NeedResched(0) {
		t.Errorf("CPUs run %s without a request", l.counts())
	}
	l.rqs[3].activeBalance, l.rqs[3].pushCPU = true, 1
	l.ActiveBalance(l.now, 3)
	if l.counts() != "1 0 1 0" || l.rqs[3].activeBalance {
		t.Errorf("CPUs run %s", l.counts())
	}
}
