package sim

import "math"

// How deep an idle CPU sleeps (mechanisms.md 15.9). A CPU chooses its state when
// it goes idle and again after each interrupt that leaves it idle, by the guess
// that the menu governor makes from the next timer and the last idle periods. A
// deeper state is worth its way in and out only for a long sleep.

// The idle states, from the shallowest. A machine has the first so many of them
// (cost idle_states).
const (
	idlePoll    = iota // a loop that looks at the flag
	idleShallow        // C1
	idleMedium         // C1E
	idleDeep           // C6
	maxIdleStates
)

// The governor counts in whole microseconds.
const (
	rememberedPeriods = 8
	timerBuckets      = 6       // by the power of ten of the time to the next timer
	unityFactor       = 8 << 10 // a timer that has always been waited for to its end
	factorUnit        = 1 << 10 // what one such period adds to the factor
	factorDecay       = 8
	perfectPeriod     = 50_000    // a longer period counts as one that lasted until its timer
	longestTimer      = 4_000_000 // every CPU has a timer by then: the lockup detector's
)

// idleGovernor is what a CPU remembers of its idle periods.
type idleGovernor struct {
	periods [rememberedPeriods]int32 // the last ones, us
	next    int32                    // where the next one goes
	factors [timerBuckets]int32      // how much of the time to the next timer was really idle
	timer   int64                    // at the last choice: time to the next timer, us
	since   int64                    // of the last choice
	state   int32
}

// newIdleGovernors are those of CPUs that have been idle for long.
func newIdleGovernors(cpus int) []idleGovernor {
	governors := make([]idleGovernor, cpus)
	for i := range governors {
		g := &governors[i]
		for p := range g.periods {
			g.periods[p] = perfectPeriod
		}
		for f := range g.factors {
			g.factors[f] = unityFactor
		}
	}
	return governors
}

// idleResidency is the sleep from which on a state is worth it, ns.
func (c *Costs) idleResidency(state int32) int64 {
	switch state {
	case idleShallow:
		return c.ShallowResidency
	case idleMedium:
		return c.MediumResidency
	case idleDeep:
		return c.DeepResidency
	}
	return 0
}

// idleExit is how long a CPU takes to leave a state, ns.
func (c *Costs) idleExit(state int32) int64 {
	switch state {
	case idleShallow:
		return c.IdleShallow
	case idleMedium:
		return c.IdleMedium
	case idleDeep:
		return c.IdleDeep
	}
	return c.IdlePoll
}

// choiceOfIdleStates reports whether the governor's guess can matter: between
// polling and C1 the next timer alone decides.
func (c *Costs) choiceOfIdleStates() bool { return c.IdleStates > idleShallow+1 }

// beginIdle chooses the state of an idle CPU.
func (m *Sim) beginIdle(c *cpu) {
	g := &m.governors[c.id]
	timer := min(c.timerAt-m.now, longestTimer*1000)
	g.since, g.timer = m.now, timer/1000
	state := int32(idlePoll)
	if m.costs.IdleStates > idleShallow && timer >= m.costs.ShallowResidency {
		state = idleShallow
		if m.costs.choiceOfIdleStates() {
			state = m.chooseIdleState(g, c.nextTick)
		}
	}
	if state == g.state {
		return
	}
	g.state = state
	m.sched.SetIdleState(int(c.id), int64(state))
	if m.rec != nil {
		m.rec.idleState(int(c.id), int64(state))
	}
}

// endIdle learns from an idle period; tick says that the tick ended it.
func (m *Sim) endIdle(c *cpu, tick bool) {
	if !m.costs.choiceOfIdleStates() {
		return
	}
	g := &m.governors[c.id]
	period := g.period(m.now, m.costs.idleExit(g.state)/1000)
	if tick && g.timer > m.tickMicros {
		period = perfectPeriod * 9 / 10 // it could have gone on, but the guess had kept the tick
	}
	period = min(period, g.timer)
	factor := &g.factors[bucketOf(g.timer)]
	*factor -= *factor / factorDecay
	if g.timer > 0 && period < perfectPeriod {
		*factor += int32(factorUnit * period / g.timer)
	} else {
		*factor += factorUnit
	}
	g.periods[g.next] = int32(period)
	g.next = (g.next + 1) % rememberedPeriods
}

// period is how long the CPU was idle, without its way out.
func (g *idleGovernor) period(now, exit int64) int64 {
	period := (now - g.since) / 1000
	if period > 2*exit {
		return period - exit
	}
	return period / 2
}

func bucketOf(timer int64) int {
	bucket := 0
	for limit := int64(10); timer >= limit && bucket < timerBuckets-1; limit *= 10 {
		bucket++
	}
	return bucket
}

// chooseIdleState is the governor's choice among all states. nextTick is never
// when the tick is stopped: then nothing mends a guess that was too short, so
// none shorter than a tick is trusted.
func (m *Sim) chooseIdleState(g *idleGovernor, nextTick int64) int32 {
	guess := g.guess()
	stopped := nextTick == never
	if stopped && guess < m.tickMicros {
		guess = g.timer
	}
	state := int32(idleShallow)
	for deeper := state + 1; deeper < int32(m.costs.IdleStates); deeper++ {
		residency := m.costs.idleResidency(deeper) / 1000
		if residency > guess {
			if stopped && guess >= m.tickMicros && residency <= g.timer {
				state = deeper
			}
			break
		}
		state = deeper
	}
	if !stopped && guess < m.tickMicros {
		for state > idleShallow && m.costs.idleResidency(state) > nextTick-m.now {
			state-- // the tick goes on and comes first
		}
	}
	return state
}

// guess is how long the CPU will be idle, us: what is left of the time to the
// next timer after the experience with such times, or what the last periods
// have been, if they were alike.
func (g *idleGovernor) guess() int64 {
	guess := (g.timer*int64(g.factors[bucketOf(g.timer)]) + unityFactor/2) / unityFactor
	return min(guess, g.typicalPeriod(guess))
}

// typicalPeriod is the mean of the last periods when they scatter little, once
// the longest ones, at most a quarter, are left out. It is unbounded when there
// is none or it could not be below the given one.
func (g *idleGovernor) typicalPeriod(below int64) int64 {
	longest := int64(math.MaxInt64)
	for {
		n, sum, squares := int64(0), int64(0), int64(0)
		least, most := int64(math.MaxInt64), int64(0)
		for _, p := range g.periods {
			period := int64(p)
			if period > longest {
				continue
			}
			n++
			sum += period
			squares += period * period
			least, most = min(least, period), max(most, period)
		}
		if n == 0 || least >= below {
			return math.MaxInt64
		}
		mean := sum / n
		variance := (squares - 2*mean*sum + n*mean*mean) / n
		enough := 4*n >= 3*rememberedPeriods
		if variance <= 400 || enough && mean*mean > 36*variance {
			return mean
		}
		if 4*n <= 3*rememberedPeriods {
			return math.MaxInt64
		}
		longest = most - 1
	}
}
