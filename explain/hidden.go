package explain

import (
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// The kernel's policy numbers.
const (
	policyBatch = 3
	policyIdle  = 5
)

// takeHidden uses what a sel tells about the task: policy and affinity, which
// no event shows, as they are; wakee_flips, recent_used_cpu and averages as
// start values once, and from then on as a check of what was rebuilt.
func (r *replay) takeHidden(k *task, sel *trace.Select, kind sched.Kind) {
	switch sel.Policy {
	case policyBatch:
		r.f.SetPolicy(&k.Task, sched.PolicyBatch)
	case policyIdle:
		r.f.SetPolicy(&k.Task, sched.PolicyIdle)
	case 0:
		r.f.SetPolicy(&k.Task, sched.PolicyNormal)
	}
	r.setAllowed(k, sel.Allowed, sel.NAllowed)
	if r.bundle.Simulated {
		r.checkHidden(k, sel)
		return
	}
	c := &r.cpus[r.validCPU(int(sel.PrevCPU))]
	if sel.PrevLoad != trace.Unknown && !c.loadSet {
		c.loadSet = true
		r.f.SetLoad(int(sel.PrevCPU), sel.PrevLoad)
		r.f.SetAvgIdle(int(sel.PrevCPU), max(0, sel.PrevIdle))
	} else if sel.PrevLoad != trace.Unknown {
		have := r.f.Scheduler().Load(int(sel.PrevCPU))
		r.result.Hidden.CPULoad.check(near(have, sel.PrevLoad))
		r.result.Calibration.CPULoad.add(have, sel.PrevLoad)
	}
	if sel.Flips == trace.Unknown {
		return
	}
	told := sched.Hidden{Flips: sel.Flips, Decay: sel.Decay, Recent: sel.RecentCPU, Load: sel.Load, Util: sel.Util}
	if !k.started {
		r.f.SetHidden(&k.Task, told, k.fresh)
		k.started = true
		if sel.QueueLoad != trace.Unknown {
			// Of the queue, too, the part that is the task's was a guess.
			r.f.SetQueueLoad(&k.Task, sel.QueueLoad)
		}
		return
	}
	r.mendNice(k, told, kind)
	have := r.f.Hidden(&k.Task)
	if k.doubtful && have.Flips == told.Flips+1 {
		k.doubtful = false
		r.f.TakeBackFlip(&k.Task)
		have.Flips--
	}
	h := &r.result.Hidden
	h.Flips.check(have.Flips == told.Flips)
	h.Recent.check(have.Recent == told.Recent)
	h.Load.check(near(have.Load, told.Load))
	h.Util.check(near(have.Util, told.Util))
	r.result.Calibration.Load.add(have.Load, told.Load)
	r.result.Calibration.Util.add(have.Util, told.Util)
}

// leastTelling is a load below which rounding makes the weight a guess.
const leastTelling = 64

// mendNice finds out about a change of nice that no event has shown yet. A
// task's load average is its weight times the share of time that it was
// runnable, its utilization 1024 times the share that it ran; so the weight is
// at least the load and at most load·1024/utilization. A new child has its
// whole weight as load, and its parent, which runs, the same.
func (r *replay) mendNice(k *task, told sched.Hidden, kind sched.Kind) {
	if told.Load < leastTelling && kind != sched.KindFork {
		return
	}
	least, most := told.Load, told.Load*(1024+20)/max(told.Util, 1)+2
	if kind == sched.KindFork {
		most = least
	}
	if w := r.f.Weight(&k.Task); least <= w && w <= most {
		return
	}
	nice, ok := sched.NiceWithin(least, most)
	if !ok {
		return
	}
	r.f.SetClass(&k.Task, false, nice)
	if kind != sched.KindFork {
		return
	}
	if parent := r.f.Scheduler().Current(k.CPU()); parent != nil {
		r.f.SetClass(parent, false, nice)
	}
}

// near reports whether a rebuilt average is within 2 % of the recorded one;
// averages are integers, so a difference of one is none.
func near(have, told int64) bool {
	d := have - told
	if d < 0 {
		d = -d
	}
	return d <= 1 || d*50 <= told
}

// noteFirstWakee notes a waker whose last wakee is not known: the model counts
// a flip, which is wrong when it had woken the same task last.
func (r *replay) noteFirstWakee(q *sched.Question) {
	if q.Kind != sched.KindWake {
		return
	}
	waker := r.f.Waker(q.Here)
	if k := r.tasks.byPID[waker.ID]; k != nil && &k.Task == waker && !r.f.KnowsWakee(waker) {
		k.doubtful = true
	}
}
