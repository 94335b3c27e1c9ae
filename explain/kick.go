package explain

import "github.com/schedlab/schedlab/trace"

// The scheduler's softirq runs on an idle CPU for one of two reasons: its own
// tick found a domain due, then a pass of its own follows at once; or another
// CPU has woken it as the idle load balancer. That one makes passes for others,
// or, when nothing is due, none, and just decays loads.

// kicks are softirqs on idle CPUs of which the reason is not known yet.
type kicks struct {
	judgeable bool // balance passes are recorded
	open      int
}

// followsAtOnce is how soon a CPU's own pass begins after its softirq, in ns.
const followsAtOnce = 100_000

func (r *replay) noteKick(cpu int, now int64) {
	c := &r.cpus[cpu]
	if r.kicks.judgeable && c.kicked == 0 && r.f.Scheduler().Current(cpu) == nil {
		c.kicked = now
		r.kicks.open++
	}
}

// settleKicks looks whether the event is the pass that open softirqs wait for.
func (r *replay) settleKicks(e *trace.Event) {
	if r.kicks.open == 0 {
		return
	}
	for cpu := range r.cpus {
		c := &r.cpus[cpu]
		own := int(e.CPU) == cpu
		switch {
		case c.kicked == 0:
		case own && e.Kind == trace.KindBalance:
			r.settleKick(c)
		case own || r.turns.taken || e.Time-c.kicked > followsAtOnce:
			at := c.kicked
			r.settleKick(c)
			r.f.At(at, func() { r.f.WokenForLoads(cpu) })
		}
	}
}

func (r *replay) settleKick(c *cpuState) {
	c.kicked = 0
	r.kicks.open--
}
