package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// Recordings of schedlab's own simulations. They begin with the first task and
// tell everything that a real kernel's trace leaves out, so nothing is guessed:
// no start values are taken over, and every disagreement would be a mistake.

// simulatedVersion begins what follows the kernel's version in tunables.txt:
// "v6.1-schedlab profile=v6.1 hz=250".
const simulatedVersion = "-schedlab "

// recogniseSimulation reads the version line of a simulation.
func (b *Bundle) recogniseSimulation(version string) error {
	_, settings, found := strings.Cut(version, simulatedVersion)
	if !found {
		return nil
	}
	b.Simulated, b.HZ = true, 250
	for _, word := range strings.Fields(settings) {
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch key {
		case "profile":
			b.Profile, err = sched.LookupProfile(value)
		case "hz":
			b.HZ, err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return fmt.Errorf("the version line says %q: %w", word, err)
		}
	}
	if b.Profile == nil {
		return fmt.Errorf("the version line of a simulation must name its profile, such as profile=v6.1")
	}
	return nil
}

// pricePrefix begins the names of prices among the tunables.
const pricePrefix = "price_"

// setPrices takes over what the simulated scheduler's own work cost: kernels
// that bound a search by its time depend on it.
func (b *Bundle) setPrices(cfg *sched.Config) {
	if !b.Simulated {
		return
	}
	for _, t := range b.Tunables {
		if name, isPrice := strings.CutPrefix(t.Name, pricePrefix); isPrice {
			_ = cfg.Prices.Set(name, t.Value) // one that this version does not know is none of its work
		}
	}
}

// stepExactly follows one event of a simulation.
func (r *replay) stepExactly(cpu int, c *cpuState, e *trace.Event) {
	r.settleUnplaced(c, e)
	switch e.Kind {
	case trace.KindTick:
		r.f.TickExactly(cpu)
	case trace.KindDecay:
		r.f.Decay(r.validCPU(int(e.Place())))
	case trace.KindNewidle:
		r.f.LooksForWork(cpu)
		c.newidle = true
	case trace.KindIdleAgain:
		r.f.IdleAgain(cpu)
		c.newidle = false
	case trace.KindIdleCost:
		cost := e.IdleCost()
		r.f.SetIdleCost(r.validCPU(int(cost.CPU)), cost.Cost)
	case trace.KindIdleState:
		s := e.IdleState()
		r.f.Scheduler().SetIdleState(r.validCPU(int(s.CPU)), s.Depth)
	case trace.KindOverload:
		o := e.Overload()
		r.f.SetOverloaded(r.validCPU(int(o.CPU)), o.On)
	case trace.KindSwitch:
		s := e.Switch()
		if c.newidle && s.Next.PID > 0 {
			r.f.FoundWork(cpu)
		}
		r.onSwitch(cpu, c, s)
	case trace.KindWaking:
		r.onWaking(cpu, c, e)
		r.lastWoke, r.lastFrom = c.waking, cpu
	case trace.KindSelect:
		r.onSelect(cpu, c, e)
	case trace.KindSelectReturn:
		r.onSelectReturn(cpu, c, e)
	case trace.KindWakeup:
		r.onWakeup(cpu, c, e)
	case trace.KindWakeupNew:
		r.onWakeupNew(e.Wake())
	case trace.KindMigrate:
		m := e.Migration()
		if k := r.lookup(m.Task, int(m.From)); k != nil {
			r.f.Leave(&k.Task, r.validCPU(int(m.To)))
		}
	case trace.KindDelay:
		r.onDelay(e.Delay())
	case trace.KindArrive:
		if k := r.tasks.byPID[e.Arrival().PID]; k != nil {
			r.f.Arrive(&k.Task)
		}
	case trace.KindFork:
		r.onFork(cpu, c, e)
	case trace.KindExit:
		r.onExit(e.Exit(), cpu)
	case trace.KindPolicy:
		r.onPolicy(cpu, e.Policy())
	case trace.KindAttach:
		r.onJoin(e.Attach(), cpu)
	case trace.KindBalance:
		b := e.Balance()
		r.f.PassExactly(r.validCPU(int(b.DestCPU)), int(b.Span), r.idleOf.typeOf(b.Idle))
	case trace.KindCanMigrate:
		r.onJudged(e.CanMigrate())
	case trace.KindCanMigrateReturn:
		if r.judged != nil && e.Return() == 1 {
			r.f.Weighed(&r.judged.Task)
		}
	}
}

// settleUnplaced puts a task that was woken without being placed on the wake
// list of its CPU, unless the next event says that it is queued.
func (r *replay) settleUnplaced(c *cpuState, e *trace.Event) {
	k := r.lastWoke
	r.lastWoke = nil
	if k == nil || settlesWaking(e.Kind) {
		return
	}
	r.f.Pending(&k.Task, r.lastFrom)
	r.cpus[r.lastFrom].waking = nil
}

func (r *replay) onPolicy(cpu int, p trace.Policy) {
	k := r.lookup(trace.Task{PID: p.PID, Prio: unknownPrio}, cpu)
	if k == nil {
		return
	}
	switch p.Number {
	case policyBatch:
		r.f.SetPolicy(&k.Task, sched.PolicyBatch)
	case policyIdle:
		r.f.SetPolicy(&k.Task, sched.PolicyIdle)
	default:
		r.f.SetPolicy(&k.Task, sched.PolicyNormal)
	}
}

func (r *replay) onJoin(a trace.Attach, cpu int) {
	k := r.lookup(a.Task, cpu)
	if k != nil {
		r.f.Join(&k.Task, r.groups.nearest(r.f.Scheduler(), r.names.Text(a.Path)))
	}
}

// measureLoad is the number of a pass that moves load.
const measureLoad = 0

// onJudged notes a task that will be weighed if it may go: when it is load that
// is to move.
func (r *replay) onJudged(cm trace.CanMigrate) {
	r.judged = nil
	if cm.Type == measureLoad && cm.Imbalance > 0 {
		r.judged = r.tasks.byPID[cm.PID]
	}
}

// checkHidden compares the state that was rebuilt with the simulation's.
func (r *replay) checkHidden(k *task, sel *trace.Select) {
	have, h := r.f.Hidden(&k.Task), &r.result.Hidden
	h.Flips.check(have.Flips == sel.Flips)
	h.Recent.check(have.Recent == sel.RecentCPU)
	h.Load.check(have.Load == sel.Load)
	h.Util.check(have.Util == sel.Util)
	h.CPULoad.check(r.f.RootLoad(int(sel.PrevCPU)) == sel.PrevLoad)
	c := &r.result.Calibration
	c.Load.add(have.Load, sel.Load)
	c.Util.add(have.Util, sel.Util)
	c.CPULoad.add(r.f.RootLoad(int(sel.PrevCPU)), sel.PrevLoad)
}

// onDelay follows a sleeper, or a group without tasks, that stays queued.
func (r *replay) onDelay(d trace.Delay) {
	if d.PID == 0 {
		r.f.EmptyDelayEnds(r.groups.nearest(r.f.Scheduler(), r.names.Text(d.Path)), r.validCPU(int(d.CPU)))
		return
	}
	k := r.tasks.byPID[d.PID]
	switch {
	case k == nil:
	case d.Stage == trace.DelayEnds:
		r.f.DelayEnds(&k.Task)
	default:
		r.f.Blocks(&k.Task, d.Stage == trace.DelayBegins)
	}
}
