package sched

import (
	"strings"
	"testing"

	"github.com/schedlab/schedlab/machine"
)

func splitWords(s string) []string { return strings.Fields(s) }

func TestWakeWide(t *testing.T) {
	for _, c := range []struct {
		name               string
		waker, wakee, size int32
		wide               bool
	}{
		// mechanisms-modern.md 1.3, an LLC of 4.
		{"wakee below the size", 40, 3, 4, false},   // 3 < 4
		{"both many", 40, 6, 4, true},               // 6 ≥ 4 and 40 ≥ 24
		{"waker not wide enough", 40, 11, 4, false}, // 40 < 44
		{"order does not matter", 6, 40, 4, true},
		{"at the threshold", 16, 4, 4, true}, // 4 ≥ 4 and 16 ≥ 16
		{"just below it", 15, 4, 4, false},
		{"48 CPUs: 48 and 2304", 2304, 48, 48, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := wakeWide(c.waker, c.wakee, c.size); got != c.wide {
				t.Errorf("wakeWide(%d, %d, %d) = %v", c.waker, c.wakee, c.size, got)
			}
		})
	}
}

// 6.3: a new wakee is a flip; after more than a second the count is halved,
// once, however long the gap was.
func TestRecordWakee(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", oneCache)
	waker, a, b := lab.task(0), lab.task(1), lab.task(1)
	for range 3 {
		lab.recordWakee(waker, a)
	}
	if waker.flips != 1 {
		t.Errorf("one wakee: %d flips, want 1", waker.flips)
	}
	for range 4 {
		lab.recordWakee(waker, b)
		lab.recordWakee(waker, a)
	}
	if waker.flips != 9 {
		t.Errorf("two wakees in turn: %d flips, want 9", waker.flips)
	}
	lab.setNow(1_000_000_000) // jiffy 250 = 0 + HZ: not yet over a second
	lab.recordWakee(waker, a)
	if waker.flips != 9 {
		t.Errorf("after exactly HZ jiffies: %d flips, want 9", waker.flips)
	}
	lab.setNow(30_000_000_000)
	lab.recordWakee(waker, a)
	if waker.flips != 4 || waker.flipDecay != lab.jiffies {
		t.Errorf("after 30 s: %d flips at jiffy %d, want 9>>1 = 4 at %d", waker.flips, waker.flipDecay, lab.jiffies)
	}
}

// An interrupt on an idle CPU wakes in the name of that CPU's idle task.
func TestIdleTaskIsTheWakerOnAnIdleCPU(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", oneCache)
	a, b := lab.task(1), lab.task(2)
	lab.wake(a, 0, false)
	lab.wake(b, 0, false)
	lab.wake(a, 0, false)
	if flips := lab.waker(0).flips; flips != 3 {
		t.Errorf("the idle task of CPU 0 has %d flips, want 3", flips)
	}
	if flips := lab.waker(1).flips; flips != 0 {
		t.Errorf("the idle task of CPU 1 has %d flips, want 0", flips)
	}
}

// 6.2: what keeps the wakee from being drawn to its waker. All CPUs but the
// waker's idle, so that select_idle_sibling returns where it starts.
func TestWhoIsDrawnToTheWaker(t *testing.T) {
	t.Run("same cache, sync", func(t *testing.T) {
		lab := newPlacementLab(t, "v5.17", xeon8260)
		lab.busy(1, 0)
		lab.busy(1, 5)
		lab.wake(lab.task(5), 0, true)
		lab.wantAffine(AffineSync)
		if lab.decision.Target != 0 {
			t.Errorf("target %d, want the waker's CPU 0", lab.decision.Target)
		}
	})
	t.Run("wide", func(t *testing.T) {
		lab := newPlacementLab(t, "v5.17", xeon8260)
		lab.busy(1, 0)
		task := lab.task(5)
		task.flips, lab.rqs[0].curr.flips = 48, 48*48
		lab.wantCPU(lab.wake(task, 0, true), 5)
		lab.wantAffine(AffineWide)
		if lab.Stats(0).AffineTries != 0 {
			t.Error("wake_affine was asked for a wide wakee")
		}
	})
	t.Run("waker's CPU not allowed", func(t *testing.T) {
		lab := newPlacementLab(t, "v5.17", xeon8260)
		lab.busy(1, 0)
		lab.wantCPU(lab.wake(lab.task(5, 5, 6), 0, true), 5)
		lab.wantAffine(AffineNotAllowed)
	})
	t.Run("prev beyond the reclaim distance", func(t *testing.T) {
		m := twoNodes.build()
		m.Nodes[0].Distance[1], m.Nodes[1].Distance[0] = 40, 40
		cfg := NewConfig(m, &v517)
		s, err := New(cfg, nullDriver{})
		if err != nil {
			t.Fatal(err)
		}
		lab := &placementLab{Scheduler: s, t: t}
		s.Record(&lab.decision)
		lab.busy(1, 0)
		lab.wantCPU(lab.wake(lab.task(5), 0, true), 5)
		lab.wantAffine(AffineNotAsked)
	})
	t.Run("waker and wakee on one CPU", func(t *testing.T) {
		lab := newPlacementLab(t, "v5.17", xeon8260)
		lab.busy(1, 5)
		lab.wake(lab.task(5), 5, true)
		lab.wantAffine(AffineNotAsked)
		if lab.decision.Target != 5 {
			t.Errorf("target %d, want 5", lab.decision.Target)
		}
	})
}

// 6.2: where a domain asks for balancing at wakeups (none does in mainline) a
// wakee goes down the slow path, unless wake_affine has a say.
func TestBalanceWakeDomain(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", twoNodes)
	lab.rqs[0].sd.Flags |= FlagBalanceWake // the node of CPUs 0 to 3
	lab.busy(1, 0)
	lab.busy(1, 5)
	lab.wake(lab.task(5), 0, true)
	lab.wantAffine(AffineSync)
	lab.wantRule(RuleIdleCPU)

	wide := lab.task(5)
	wide.flips, lab.rqs[0].curr.flips = 4, 16
	lab.wantCPU(lab.wake(wide, 0, true), 1)
	lab.wantAffine(AffineWide)
	lab.wantRule(RuleSlowIdlest)
}

// 6.1 step 4: a task that may use one CPU only is not placed.
func TestPinnedTaskIsNotPlaced(t *testing.T) {
	lab := newPlacementLab(t, "v5.17", xeon8260)
	lab.busy(1, 0)
	lab.wantCPU(lab.wake(lab.task(5, 7), 0, false), 7)
	lab.wantRule(RulePinned)
	if stats := lab.Stats(0); stats.SISSearch != 0 || lab.waker(0).flips != 0 {
		t.Errorf("searches %d, flips %d; want none", stats.SISSearch, lab.waker(0).flips)
	}
}

// An unlawful choice moves to the first allowed CPU of the old node, else to
// the first allowed one anywhere.
func TestFallback(t *testing.T) {
	for _, c := range []struct {
		name    string
		prev    int
		allowed []int
		want    int
	}{
		{"same node", 5, []int{0, 6, 7}, 6},
		{"other node only", 5, []int{1, 2}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			lab := newPlacementLab(t, "v5.17", twoNodes)
			lab.busy(1, 3) // the waker's CPU, outside the mask: target is prev, which idles
			lab.wantCPU(lab.wake(lab.task(c.prev, c.allowed...), 3, false), c.want)
		})
	}
}

func TestFallbackSkipsOfflineCPUs(t *testing.T) {
	m := twoNodes.build()
	m.CPUs[6] = machine.CPU{Core: -1, Cluster: -1, LLC: -1, Package: -1, Node: -1}
	m.Nodes[1].CPUs.Clear(6)
	s, err := New(NewConfig(m, &v517), nullDriver{})
	if err != nil {
		t.Fatal(err)
	}
	lab := &placementLab{Scheduler: s, t: t}
	lab.wantCPU(lab.wake(lab.task(5, 6), 0, false), 0) // pinned to the offline CPU: first online one
	lab.wantCPU(lab.wake(lab.task(5, 6, 7), 0, false), 7)
}

// 6.1 step 6, 6.7, mechanisms-modern.md 1.2. CPU 0 wakes; 1 is in its cache, 5
// is not.
func TestRemoteQueueing(t *testing.T) {
	for _, c := range []struct {
		kernel    string
		cpu, nr   int
		switching bool // the wakee is still on that CPU
		want      bool
	}{
		{"v4.14", 1, 0, false, false}, {"v4.14", 5, 3, false, true}, {"v4.14", 1, 1, true, false},
		{"v5.10", 1, 0, false, false}, {"v5.10", 5, 3, false, true}, {"v5.10", 1, 1, true, true}, {"v5.10", 1, 2, true, false},
		{"v5.17", 1, 0, false, false}, {"v5.17", 1, 1, true, true},
		{"v6.1", 1, 0, false, true}, {"v6.1", 1, 1, false, false}, {"v6.1", 0, 0, false, false}, {"v6.1", 5, 3, false, true},
	} {
		lab := newPlacementLab(t, c.kernel, twoNodes)
		task := lab.task(c.cpu)
		rq := &lab.rqs[c.cpu]
		if c.nr > 0 {
			lab.busy(c.nr, c.cpu)
		}
		if c.switching {
			rq.curr = task
		}
		if got := lab.profile.Wake.queueRemotely(lab.Scheduler, task, 0, c.cpu); got != c.want {
			t.Errorf("%s, CPU %d with %d tasks, switching %v: remote = %v", c.kernel, c.cpu, c.nr, c.switching, got)
		}
	}
}
