package sched

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/schedlab/schedlab/machine"
)

// randomBandwidth returns a kernel with the bandwidth rules of another, and the
// patches of 2011 or not.
func randomBandwidth(t *rapid.T, p *Profile) *Profile {
	q := *p
	q.Bandwidth = rapid.SampledFrom([]bandwidthRules{
		bandwidth32, bandwidth38, bandwidth414, bandwidth418, bandwidth54, bandwidth510, bandwidth517, bandwidth612,
	}).Draw(t, "bandwidth rules")
	q.ThrottlesTasks = q.Bandwidth.remoteByIPI && rapid.Bool().Draw(t, "throttles tasks")
	q.Bandwidth = q.Bandwidth.withPatches(0)
	if !q.Bandwidth.throttlesAtPick {
		q.Bandwidth.states = rapid.Bool().Draw(t, "throttle states")
		q.Bandwidth.returnsWhileBusy = rapid.Bool().Draw(t, "inverted return")
	}
	return &q
}

// randomLimit draws from values around what the rules compare with.
func randomLimit(t *rapid.T) Limit {
	ms := func(name string, values ...int64) int64 {
		return rapid.SampledFrom(values).Draw(t, name) * millisecond
	}
	l := Limit{Quota: ms("quota", 1, 2, 5, 6, 20, 50, 100, 400), Period: ms("period", 1, 10, 50, 100, 1000)}
	if rapid.IntRange(0, 4).Draw(t, "unlimited") == 0 {
		l.Quota = Unlimited
	}
	return l
}

func (c *chaos) setLimit(t *rapid.T) {
	g, l := c.group(t), randomLimit(t)
	if c.bandwidth.burst && l.Quota != Unlimited {
		l.Burst = rapid.Int64Range(0, l.Quota).Draw(t, "burst")
	}
	before := g.Limit()
	if err := c.SetLimit(c.clock, g, l); err != nil && g.Limit() != before {
		t.Fatalf("%v, but the limit has changed", err)
	}
}

// setGroup reschedules at once when the running task has joined a throttled
// group, as the kernel does: until then it runs although it is on no queue.
func (c *chaos) setGroup(t *rapid.T) {
	task := c.some(t, func(*Task) bool { return true })
	c.SetGroup(c.clock, task, c.group(t))
	if c.Current(task.CPU()) == task && task.hidden() {
		c.Schedule(c.clock, task.CPU(), false)
	}
}

// expireTimer fires one timer that is due, late or not.
func (c *chaos) expireTimer(*rapid.T) {
	if timer, due := c.asked.takeDue(c.clock); due {
		c.ExpireTimer(c.clock, timer.cpu, timer.Timer)
	}
}

func (c *chaos) serveBandwidth(cpu int) {
	if take(&c.asked.unthrottle[cpu]) {
		c.HandleUnthrottle(c.clock, cpu)
	}
	if take(&c.asked.work[cpu]) && c.ThrottleCurrent(c.clock, cpu) {
		c.Schedule(c.clock, cpu, false)
	}
}

// quotaLab is a machine with a random tree of limited groups under random
// load, driven as exactly as a lab can.
type quotaLab struct {
	*lab
	groups []*TaskGroup
	jobs   map[*TaskGroup][]*Task // directly in the group
}

func newQuotaLab(t *rapid.T) *quotaLab {
	p := Profiles()[rapid.IntRange(0, len(Profiles())-1).Draw(t, "kernel")]
	if rapid.Bool().Draw(t, "other bandwidth rules") {
		p = randomBandwidth(t, p)
	}
	m := machineSpec{nodes: 1, llcs: 1, cores: rapid.IntRange(1, 4).Draw(t, "cores"), threads: 1}.build()
	l := &lab{asked: newRequests(m.NumCPUs())}
	var err error
	if l.Scheduler, err = New(NewConfig(m, p), &l.asked); err != nil {
		t.Fatal(err)
	}
	q := &quotaLab{lab: l, jobs: map[*TaskGroup][]*Task{}}
	parents := []*TaskGroup{l.Root()}
	for i := range rapid.IntRange(1, 5).Draw(t, "groups") {
		parent := parents[rapid.IntRange(0, len(parents)-1).Draw(t, "parent")]
		g := l.NewGroup(parent, fmt.Sprintf("%s%d/", parent.Name(), i))
		parents, q.groups = append(parents, g), append(q.groups, g)
		limit := Limit{
			Quota:  rapid.SampledFrom([]int64{10, 25, 50, 120, 300}).Draw(t, "quota") * millisecond,
			Period: rapid.SampledFrom([]int64{20, 100}).Draw(t, "period") * millisecond,
		}
		if l.bandwidth.burst {
			limit.Burst = rapid.Int64Range(0, limit.Quota).Draw(t, "burst")
		}
		_ = l.SetLimit(0, g, limit) // one above its parent's leaves the group without a limit
	}
	for range rapid.IntRange(1, 10).Draw(t, "tasks") {
		g := q.groups[rapid.IntRange(0, len(q.groups)-1).Draw(t, "group")]
		burst := rapid.SampledFrom([]int64{0, 1, 3, 17}).Draw(t, "burst") * millisecond
		nap := rapid.SampledFrom([]int64{1, 9, 70}).Draw(t, "nap") * millisecond
		cpu := rapid.IntRange(0, m.NumCPUs()-1).Draw(t, "cpu")
		q.jobs[g] = append(q.jobs[g], l.add(TaskSpec{Group: g}, cpu, burst, nap).Task)
	}
	return q
}

// used is the CPU time of a group's tasks and of those below it.
func (q *quotaLab) used(g *TaskGroup) int64 {
	total := int64(0)
	for _, below := range q.groups {
		if below.within(g) {
			for _, t := range q.jobs[below] {
				total += q.RunTime(q.clock, t)
			}
		}
	}
	return total
}

func checkQuotas(t *rapid.T) {
	q := newQuotaLab(t)
	cpus := machine.CPUMask.Count(q.online)
	before := map[*TaskGroup]int64{}
	const window = 100 * millisecond // a multiple of all periods
	for range 15 {
		q.advance(window)
		if err := q.CheckInvariants(); err != nil {
			t.Fatalf("at %d ns: %v", q.clock, err)
		}
		for _, g := range q.groups {
			used, l := q.used(g), g.Limit()
			if l.Quota != Unlimited {
				// Periods begin at multiples of their length, as windows do; where their
				// phase is random a window touches one more.
				periods := window / l.Period
				if q.bandwidth.randomPhase {
					periods++
				}
				// Besides its quota, and what it has saved: what its queues held when
				// the window began, a slice each, and what was not charged yet, a tick
				// each.
				most := periods*l.Quota + l.Burst + int64(cpus)*(q.bandwidthSlice()+q.tickNS())
				if got := used - before[g]; got > most {
					t.Fatalf("%s %s: group %s used %d ns in %d periods, at most %d", q.profile.Name, l.Max(), g.Name(), got, periods, most)
				}
			}
			before[g] = used
		}
	}
	q.checkAllComeBack(t)
}

// checkAllComeBack: without load, whatever is throttled is set free by the next
// refills.
func (q *quotaLab) checkAllComeBack(t *rapid.T) {
	for _, j := range q.lab.jobs {
		j.burst, j.left, j.nap = 1, 0, 1000*second // asleep at its next turn
	}
	q.advance(20 * second)
	for _, g := range q.groups {
		for cpu := range q.rqs {
			if g.Throttled(cpu) {
				t.Fatalf("%s: group %s is still throttled on CPU %d after 20 s without load", q.profile.Name, g.Name(), cpu)
			}
		}
	}
	for _, j := range q.lab.jobs {
		if j.Queued() || j.limbo {
			t.Fatalf("%s: task %d of group %s has never got its turn", q.profile.Name, j.ID, j.Group().Name())
		}
	}
	if len(q.asked.timers) != 0 {
		t.Fatalf("%s: %d timers still run on an idle machine", q.profile.Name, len(q.asked.timers))
	}
}

// Random trees of limits under random loads: nobody gets more than the quota,
// nothing is lost, and everybody comes back.
func TestQuotasHold(t *testing.T) { rapid.Check(t, checkQuotas) }

func FuzzQuotas(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkQuotas)) }
