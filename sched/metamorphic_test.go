package sched

import (
	"fmt"
	"testing"

	"github.com/schedlab/schedlab/machine"
)

// What must not matter does not matter: the same life is lived twice, once with
// a difference, and ends the same.

// outcome is what became of a job.
type outcome struct {
	ran, vruntime int64
	load, util    int64
	wakes         int
	cpu           int
}

func (l *lab) outcomes() []outcome {
	out := make([]outcome, len(l.jobs))
	for i, j := range l.jobs {
		out[i] = outcome{l.RunTime(l.clock, j.Task), j.VRuntime(), j.LoadAvg(), j.UtilAvg(), j.wakes, j.CPU()}
	}
	return out
}

func compareOutcomes(t *testing.T, what string, got, want []outcome) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: job %d ended as %+v, want %+v", what, i, got[i], want[i])
		}
	}
}

// sixteen is two nodes of four cores with two threads each.
var sixteen = machineSpec{nodes: 2, llcs: 1, cores: 4, threads: 2}

// crowd starts jobs that run and sleep for all kinds of times: more than the
// machine can run at once, in groups and out of them.
func crowd(t *testing.T, l *lab) {
	t.Helper()
	a, b := l.NewGroup(l.Root(), "/a"), l.NewGroup(l.Root(), "/b")
	mustWeight(t, l.Scheduler, b, 300)
	for i := range 40 {
		spec := TaskSpec{Nice: int8(i % 7), Group: []*TaskGroup{l.Root(), a, b}[i%3]}
		if i%11 == 0 {
			spec.Policy = PolicyIdle
		}
		l.add(spec, i%l.NumCPUs(), int64(1+i)*370*microsecond, int64(1+i%5)*730*microsecond)
	}
}

// Recording decisions, asking questions and checking invariants change nothing.
func TestLookingOnChangesNothing(t *testing.T) {
	for _, p := range Profiles() {
		plain := newLab(t, sixteen.build(), p.Name)
		crowd(t, plain)
		plain.advance(300 * millisecond)

		watched := newLab(t, sixteen.build(), p.Name)
		crowd(t, watched)
		decisions := 0
		var d Decision
		watched.Record(&d)
		for range 300 {
			watched.advance(millisecond)
			decisions += ask(t, watched)
		}
		if decisions == 0 {
			t.Errorf("%s: nothing was recorded", p.Name)
		}
		compareOutcomes(t, p.Name, watched.outcomes(), plain.outcomes())
	}
}

// ask calls everything that only looks, and returns whether a decision has been
// recorded.
func ask(t *testing.T, l *lab) int {
	checkInvariants(t, l.Scheduler)
	l.IdleBesideWaiting()
	for cpu := range l.NumCPUs() {
		_, _, _, _ = l.Load(cpu), l.Util(cpu), l.Idle(cpu), l.NrRunning(cpu)
		l.DescribeDomains(cpu)
	}
	for _, j := range l.jobs {
		l.RunTime(l.clock, j.Task)
	}
	if l.decision.Rule == RuleNone {
		return 0
	}
	return 1
}

// Groups without tasks change nothing, whatever has been set on them. (Setting it
// on a child of a busy group would: that recomputes the weights of all above.)
func TestEmptyGroupsChangeNothing(t *testing.T) {
	plain := newLab(t, sixteen.build(), "v5.17")
	crowd(t, plain)
	plain.advance(300 * millisecond)

	cluttered := newLab(t, sixteen.build(), "v5.17")
	for i := range 10 {
		g := cluttered.NewGroup(cluttered.groups[i/2], fmt.Sprintf("/empty%d", i))
		if i%2 == 0 {
			mustIdle(t, cluttered.Scheduler, g, true)
		} else {
			mustWeight(t, cluttered.Scheduler, g, 10000)
		}
	}
	crowd(t, cluttered)
	cluttered.advance(300 * millisecond)
	compareOutcomes(t, "with empty groups", cluttered.outcomes(), plain.outcomes())
}

// The hour of the day does not matter: on one CPU the same life may start at any
// time that is a whole number of jiffies and PELT periods. With more CPUs it
// does matter, as in a kernel: every domain's first pass is due a fixed time
// after boot, not after the first task.
func TestStartTimeDoesNotMatter(t *testing.T) {
	const shift = 15625 << 20 // ns: 16.384 s = 4096 jiffies of 4 ms = 15625 periods
	for _, p := range Profiles() {
		var at [2][]outcome
		for i, start := range []int64{0, shift} {
			l := newLab(t, uniprocessor(), p.Name)
			l.clock = start
			crowd(t, l)
			l.advance(300 * millisecond)
			at[i] = l.outcomes()
		}
		compareOutcomes(t, p.Name, at[1], at[0])
	}
}

// renumbered returns the machine in which CPU c is called perm[c].
func renumbered(m *machine.Machine, perm []int) *machine.Machine {
	out := *m
	out.CPUs = make([]machine.CPU, len(m.CPUs))
	out.Nodes = append([]machine.Node(nil), m.Nodes...)
	for c, cpu := range m.CPUs {
		out.CPUs[perm[c]] = cpu
	}
	for i := range out.Nodes {
		mask := machine.NewCPUMask(len(m.CPUs))
		for _, c := range m.Nodes[i].CPUs.CPUs() {
			mask.Set(perm[c])
		}
		out.Nodes[i].CPUs = mask
	}
	return &out
}

// A CPU's number does not matter to what happens on it. It does matter to where
// tasks go, by design and as in the kernel: scans run from a CPU upwards, the
// first idle CPU of a group balances for it, the first idle CPU of all does so
// for those that sleep, equals are resolved for the lower number. So the tasks
// here stay where they are put. They are in no group either: a group's CPUs
// publish their load one after the other, in the order of their ticks.
func TestCPUNumbersDoNotMatterToPinnedTasks(t *testing.T) {
	perm := []int{11, 3, 7, 0, 14, 9, 1, 12, 5, 15, 2, 8, 13, 4, 10, 6}
	for _, p := range Profiles() {
		plain := newLab(t, sixteen.build(), p.Name)
		pinnedCrowd(plain, func(cpu int) int { return cpu })
		plain.advance(300 * millisecond)

		shuffled := newLab(t, renumbered(sixteen.build(), perm), p.Name)
		pinnedCrowd(shuffled, func(cpu int) int { return perm[cpu] })
		shuffled.advance(300 * millisecond)
		checkInvariants(t, shuffled.Scheduler)

		got := shuffled.outcomes()
		for i, o := range plain.outcomes() {
			o.cpu = perm[o.cpu]
			if got[i] != o {
				t.Errorf("%s: job %d ended as %+v, want %+v", p.Name, i, got[i], o)
			}
		}
	}
}

func pinnedCrowd(l *lab, number func(cpu int) int) {
	for i := range 40 {
		cpu := number(i % 16)
		l.add(TaskSpec{Nice: int8(i % 7), Allowed: maskOf(16, cpu)}, cpu,
			int64(1+i)*370*microsecond, int64(1+i%5)*730*microsecond)
	}
}

// More of the same does not change shares: doubling every weight leaves each
// task what it had, within the rounding of one turn.
func TestOnlyProportionsOfWeightsMatter(t *testing.T) {
	var ran [2][3]int64
	for i, factor := range []int64{1, 2} {
		l := newLab(t, uniprocessor(), "v5.17")
		for _, weight := range []int64{50, 100, 250} {
			g := l.NewGroup(l.Root(), fmt.Sprintf("/w%d", weight))
			mustWeight(t, l.Scheduler, g, weight*factor)
			l.hog(TaskSpec{Group: g}, 0)
		}
		l.advance(10 * second)
		for k, j := range l.jobs {
			ran[i][k] = l.RunTime(l.clock, j.Task) / millisecond
		}
	}
	for k, want := range []int64{1250, 2500, 6250} { // ms: 10 s * 50, 100 and 250 of 400
		wantNear(t, "weights as they are", ran[0][k], want, 20)
		wantNear(t, "doubled weights", ran[1][k], ran[0][k], 20)
	}
}
