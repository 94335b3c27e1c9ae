package sched

import "testing"

// mechanisms.md 1.2: nice 5 weighs 335 beside the 1024 of nice 0. A running and
// a waiting task change their weight; the queue's load follows, and what a task
// gets of its CPU from then on.
func TestSetPriority(t *testing.T) {
	for _, kernel := range []string{"v4.14", "v6.1", "v7.2"} {
		l := newLab(t, uniprocessor(), kernel)
		a, b := l.hog(TaskSpec{}, 0), l.hog(TaskSpec{}, 0)
		l.advance(100_000_000)
		running, waiting := a, b
		if l.Current(0) == b {
			running, waiting = b, a
		}
		l.SetPriority(l.clock, running, PolicyNormal, 5)
		wantInt(t, kernel+": load of nice 0 and 5", l.Scheduler.rqs[0].cfs.load, (1024+335)<<weightShift)
		l.SetPriority(l.clock, waiting, PolicyNormal, -5)
		wantInt(t, kernel+": load of nice -5 and 5", l.Scheduler.rqs[0].cfs.load, (3121+335)<<weightShift)
		if err := l.CheckInvariants(); err != nil {
			t.Fatalf("%s: %v", kernel, err)
		}
		before := [2]int64{l.RunTime(l.clock, running), l.RunTime(l.clock, waiting)}
		l.advance(4_000_000_000)
		weak, strong := l.RunTime(l.clock, running)-before[0], l.RunTime(l.clock, waiting)-before[1]
		if share := float64(weak) / float64(weak+strong); share < 0.085 || share > 0.11 { // 335 / 3456 = 0.097
			t.Errorf("%s: nice 5 beside nice -5 has %.3f of the CPU, want 0.097", kernel, share)
		}
		l.SetPriority(l.clock, waiting, PolicyIdle, -5)
		wantInt(t, kernel+": load with a SCHED_IDLE task", l.Scheduler.rqs[0].cfs.load, (3+335)<<weightShift)
		if err := l.CheckInvariants(); err != nil {
			t.Fatalf("%s: %v", kernel, err)
		}
	}
}

// A sleeping task takes its new weight along when it wakes.
func TestSetPriorityOfASleeper(t *testing.T) {
	l := newLab(t, uniprocessor(), "v6.1")
	j := l.add(TaskSpec{}, 0, 1_000_000, 9_000_000)
	l.advance(5_000_000)
	if j.Queued() {
		t.Fatal("the task does not sleep")
	}
	l.SetPriority(l.clock, j.Task, PolicyNormal, -20)
	l.advance(5_500_000) // its nap of 9 ms is over
	wantInt(t, "load of nice -20", l.Scheduler.rqs[0].cfs.load, 88761<<weightShift)
	if err := l.CheckInvariants(); err != nil {
		t.Fatal(err)
	}
}
