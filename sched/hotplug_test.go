package sched

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// CPUs go and come while tasks run, on every kernel: no task is lost or runs on
// a CPU that is away, the invariants hold, and the map of v3.8 is that of the
// domains that there are now.
func TestHotplugWhileTasksRun(t *testing.T) {
	for _, p := range Profiles() {
		var settings []string
		if p.Known.Has(SchedBalanceMap) {
			settings = append(settings, "SCHED_BALANCE_MAP")
		}
		l := newLab(t, machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 2}.build(), p.Name, settings...)
		if l.llcs != nil {
			continue // refused: TestHotplugIsRefused
		}
		for i := range 12 {
			l.add(TaskSpec{}, i%8, int64(1+i)*millisecond, int64(i%3)*millisecond+microsecond)
		}
		l.advance(50 * millisecond)
		for _, step := range []struct {
			cpu    int
			online bool
		}{{3, false}, {0, false}, {7, false}, {3, true}, {1, false}, {0, true}, {7, true}, {1, true}} {
			l.plug(t, step.cpu, step.online)
			before := l.doneBy()
			l.advance(60 * millisecond)
			checkInvariants(t, l.Scheduler)
			l.checkAway(t, p.Name)
			for i, done := range l.doneBy() {
				if done <= before[i] {
					t.Errorf("%s: task %d did nothing after CPU %d went online=%v", p.Name, i, step.cpu, step.online)
				}
			}
			if p.Known.Has(SchedBalanceMap) {
				checkBalanceMaps(t, l.Scheduler)
			}
		}
	}
}

func (l *lab) plug(t *testing.T, cpu int, online bool) {
	t.Helper()
	change := l.Offline
	if online {
		change = l.Online
	}
	if err := change(l.clock, cpu); err != nil {
		t.Fatal(err)
	}
	l.settle()
}

// doneBy is how long each task has run.
func (l *lab) doneBy() []int64 {
	var done []int64
	for _, j := range l.jobs {
		done = append(done, l.RunTime(l.clock, j.Task))
	}
	return done
}

func (l *lab) checkAway(t *testing.T, kernel string) {
	t.Helper()
	for cpu := range l.rqs {
		if rq := &l.rqs[cpu]; !l.online.Has(cpu) && (rq.nr != 0 || rq.curr != nil || l.Idle(cpu) || rq.sd != nil) {
			t.Errorf("%s: CPU %d is offline but has %d tasks, idle %v, domain %v", kernel, cpu, rq.nr, l.Idle(cpu), rq.sd)
		}
	}
}

// A rebuild makes what a scheduler would have that never had the CPU.
func TestRebuiltDomainsAreThoseOfTheSmallerMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := randomMachine(t)
		p := rapid.SampledFrom(Profiles()).Draw(t, "kernel")
		s, err := New(NewConfig(m, p), nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.llcs != nil || s.online.Count() == 1 {
			t.Skip("refused") // hotplug.go refuses these; rapid draws another machine instead
		}
		cpu := rapid.SampledFrom(s.online.CPUs()).Draw(t, "cpu")
		before := describeAll(s)
		if err := s.Offline(0, cpu); err != nil {
			t.Fatal(err)
		}
		smaller, err := New(NewConfig(s.machine, p), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := describeAll(s), describeAll(smaller); got != want {
			t.Fatalf("without CPU %d:\n%swant\n%s", cpu, got, want)
		}
		if err := s.Online(0, cpu); err != nil {
			t.Fatal(err)
		}
		if got := describeAll(s); got != before {
			t.Fatalf("after CPU %d has come back:\n%swant\n%s", cpu, got, before)
		}
	})
}

func describeAll(s *Scheduler) string {
	var b strings.Builder
	for cpu := range s.rqs {
		b.WriteString(s.DescribeDomains(cpu))
	}
	return b.String()
}

func TestHotplugIsRefused(t *testing.T) {
	l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1, offline: []int{1}}.build(), "v3.8")
	wantError(t, l.Offline(0, 0), "CPU 0 cannot go offline: it is the only one")
	wantError(t, l.Offline(0, 1), "CPU 1 cannot go offline: it is not online")
	wantError(t, l.Offline(0, 9), "CPU 9 cannot go offline: it is not online")
	wantError(t, l.Online(0, 0), "CPU 0 cannot go online: it is online")
	wantError(t, l.Online(0, 1), "CPU 1 cannot go online: the machine does not have it")
	two := newLab(t, machineSpec{nodes: 2, llcs: 1, cores: 2, threads: 1}.build(), "v7.2")
	wantError(t, two.Offline(0, 0), "CPU 0 cannot go offline: with preferred caches (kernel v7.2) that is not modelled")
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
