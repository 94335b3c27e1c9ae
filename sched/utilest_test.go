package sched

import (
	"testing"

	"github.com/schedlab/schedlab/machine"
)

func maskOf(n int, cpus ...int) machine.CPUMask { return machine.MaskOf(n, cpus...) }

// util_est by the rules of mechanisms.md 2, one sample after the other. A sample
// is the utilization at the moment the task goes to sleep.
func Test2_UtilEstimate(t *testing.T) {
	type step struct {
		name                 string
		sample               int64
		wantLast, wantSmooth int64
	}
	for _, c := range []struct {
		settings []string
		steps    []step
	}{
		{nil, []step{
			{"a rise is followed at once", 400, 400, 400},
			{"a fall with weight 1/4: 400 + (200-400)/4", 200, 200, 350},
			{"and on: 350 + (200-350)/4, rounded down", 200, 200, 312},
			{"within 1 % of the average, but not of the last", 303, 303, 312},
			{"within 1 % of both: ignored", 304, 303, 312},
			{"just outside 1 % of the average: 312 + (302-312)/4, rounded down", 302, 302, 309},
		}},
		{[]string{"NO_UTIL_EST_FASTUP"}, []step{
			{"a rise with weight 1/4", 400, 400, 100},
			{"and on: 100 + (400-100)/4", 400, 400, 175},
		}},
		{[]string{"NO_UTIL_EST"}, []step{{"off", 400, 0, 0}}},
	} {
		l := newLab(t, uniprocessor(), "v5.17", c.settings...)
		task := l.NewTask(TaskSpec{})
		for _, st := range c.steps {
			task.se.avg.utilAvg = st.sample
			task.se.utilSampled = false
			l.utilEstUpdate(task)
			wantInt(t, st.name+": last", task.utilEstEnqueued, st.wantLast)
			wantInt(t, st.name+": smoothed", task.utilEstEWMA, st.wantSmooth)
		}
	}
}

// A task that decayed asleep and is put to sleep again before its averages move
// has shown nothing new.
func TestUtilEstimateNeedsANewAverage(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	task := l.NewTask(TaskSpec{})
	task.se.avg.utilAvg = 400
	l.utilEstUpdate(task)
	task.se.avg.utilAvg = 100
	l.utilEstUpdate(task)
	wantInt(t, "smoothed", task.utilEstEWMA, 400)
	wantInt(t, "last", task.utilEstEnqueued, 400)
}

// A CPU's utilization is that of its averages or what its queued tasks used
// when they last ran, if that is more; never more than the CPU has.
func Test2_CPUUtilUsesTheEstimate(t *testing.T) {
	l := newLab(t, uniprocessor(), "v5.17")
	j := l.add(TaskSpec{}, 0, 20*millisecond, 2*second)
	l.advance(20 * millisecond)
	estimate := j.utilEstimate()
	if estimate < 512 {
		t.Fatalf("estimate %d after 20 ms from 512", estimate)
	}
	l.advance(second)
	l.updateBlockedAverages(&l.rqs[0])
	wantInt(t, "asleep for a second", l.Util(0), 0)
	l.Wake(l.clock, 0, j.Task, false)
	wantInt(t, "woken", l.Util(0), estimate)
	wantInt(t, "without it", l.cpuUtilWithout(&l.rqs[0], j.Task), 0)
	wantInt(t, "the task's own", l.taskUtilEst(j.Task), estimate)
	l.rqs[0].utilEst = 5000
	wantInt(t, "limited to the CPU", l.Util(0), 1024)
}
