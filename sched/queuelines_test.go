package sched

import "testing"

// lineCounts are the counters of queuelines.go.
type lineCounts struct{ shared, modified, remote, returned int64 }

func (l *placementLab) lineCounts() lineCounts {
	w := &l.work
	return lineCounts{w.ProbesShared, w.ProbesModified, w.ProbesRemote, w.ProbesReturned}
}

// newLineLab is a lab in which lines have prices, so that they are counted.
func newLineLab(t *testing.T, tp topo) *placementLab {
	lab := newPlacementLab(t, "v5.17", tp)
	lab.prices.ProbeModified = 75
	lab.initQueueLines()
	lab.allBusy()
	return lab
}

// Two caches of four cores with two threads: CPUs 0-3 and 8-11 share the first
// one, 0 and 8 the first core.
var linesTopo = topo{2, 1, 4, 2}

// A line is taken from its writer once, copied from then on, and at hand for a
// core that has a copy; its writer gets it back once.
func TestLinesOfALook(t *testing.T) {
	lab := newLineLab(t, linesTopo)
	want := lineCounts{}
	expect := func(what string, change func(*lineCounts)) {
		t.Helper()
		change(&want)
		if got := lab.lineCounts(); got != want {
			t.Errorf("%s: counted %+v, want %+v", what, got, want)
		}
	}
	nothing := func(*lineCounts) {}

	lab.lookAt(9, 1)
	expect("a look from a thread of the core", nothing)
	lab.writeQueue(1, 1)
	expect("a write that nobody has looked at", nothing)
	lab.lookAt(0, 1)
	expect("the first look", func(c *lineCounts) { c.modified++ })
	lab.lookAt(8, 1)
	expect("the next from the same core", nothing)
	lab.lookAt(2, 1)
	expect("the next from another core", func(c *lineCounts) { c.shared++ })
	lab.lookAt(4, 1)
	expect("and from another cache", func(c *lineCounts) { c.remote++ })
	lab.writeQueue(9, 1)
	expect("the core's own write", func(c *lineCounts) { c.returned++ })
	lab.writeQueue(1, 1)
	expect("and the next", nothing)
	lab.lookAt(2, 1)
	expect("copies are worth nothing after a write", func(c *lineCounts) { c.modified++ })

	// Who takes a queue's lock from another CPU pays for the lines in any case,
	// and so does the owner when it comes after that one.
	lab.writeQueue(3, 1)
	expect("a write by another core", nothing)
	lab.lookAt(0, 1)
	expect("a look", func(c *lineCounts) { c.modified++ })
	lab.writeQueue(1, 1)
	expect("the owner's write after another core's", nothing)
}

// A failing search looks at target, prev and prev's siblings, here one core, and
// at three CPUs behind the target (least budget 4). The core's own lines are at
// hand; 3 are taken. The same search again finds them all at hand.
func TestFailingSearchTakesThreeQueues(t *testing.T) {
	for _, recorded := range []bool{true, false} { // both forms of the scan
		lab := newLineLab(t, linesTopo)
		if !recorded {
			lab.Record(nil)
		}
		lab.rqs[0].llc.avgScanCost = 10_000_000
		for range 2 {
			lab.selectCPU(lab.task(0), 0, 0, KindWake, false)
			if got, want := lab.lineCounts(), (lineCounts{modified: 3}); got != want {
				t.Errorf("recorded %v: counted %+v, want %+v", recorded, got, want)
			}
		}
		// CPU 1 runs its scheduler: its lines were taken by core 0.
		lab.writeQueue(1, 1)
		if got := lab.lineCounts().returned; got != 1 {
			t.Errorf("CPU 1 got its lines back %d times, want 1", got)
		}
	}
}

// Of 3 looks and one return the price is 3·(5+75) + 150 = 390 ns.
func TestPriceOfLooks(t *testing.T) {
	p := Prices{Probe: 5, ProbeModified: 75, ProbeReturn: 150}
	w := Work{Probes: 3, ProbesModified: 3, ProbesReturned: 1}
	if got := p.Cost(&w); got != 390 {
		t.Errorf("cost %d ns, want 390", got)
	}
}
