package sched

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// overloads puts CPUs into the mask of their cache, as ticks with n running
// normal tasks on each would.
func (l *placementLab) overloads(cpus ...int) {
	l.busy(2, cpus...)
	for _, cpu := range cpus {
		l.updateOverloaded(&l.rqs[cpu])
	}
}

func newFilterLab(t testing.TB, tp topo, features ...string) *placementLab {
	return newPlacementLab(t, "v5.17-tip", tp, features...)
}

// sisCounts are the counters of a CPU by the names of mechanisms.md 11.
type sisCounts struct{ S, X, D, F int64 }

func countsOf(s *CPUStats) sisCounts {
	return sisCounts{s.SISSearch, s.SISScanned, s.SISDomainSearch, s.SISFailed}
}

// mechanisms.md 10.5 example 1: LLC 48, 48 - 48/16 = 45: with 45 overloaded
// CPUs there is a scan, with 46 the search fails at once. Of the counters only
// those of the search itself change: 1 for the fast path, 2 siblings of prev.
func TestExample1BailOut(t *testing.T) {
	for _, c := range []struct {
		overloaded int
		want       sisCounts
	}{
		// Least budget 4: 3 CPUs are tested, which are not overloaded.
		{45, sisCounts{S: 1, X: 1 + 2 + 3, D: 1, F: 1}},
		{46, sisCounts{S: 1, X: 1 + 2, D: 1, F: 1}},
	} {
		lab := newFilterLab(t, xeon8260, "SIS_FILTER")
		lab.allBusy()
		llc := lab.rqs[0].llc.Span.CPUs()
		lab.overloads(llc[:c.overloaded]...)
		rq := &lab.rqs[0]
		rq.llc.avgScanCost, rq.wakeAvgIdle = 1_000_000, 1000
		probes := lab.work.Probes
		lab.wantCPU(lab.wake(lab.task(0), 0, false), 0)
		if got := countsOf(lab.Stats(0)); got != c.want {
			t.Errorf("%d overloaded: counted %+v, want %+v", c.overloaded, got, c.want)
		}
		if scanned := lab.work.Probes - probes; (scanned > 0) != (c.overloaded == 45) {
			t.Errorf("%d overloaded: %d CPUs scanned", c.overloaded, scanned)
		}
		learned := rq.llc.avgScanCost != 1_000_000 || rq.wakeAvgIdle != 1000
		// 3 allowed CPUs are left and all are tested, so the scan ends by
		// itself and is learned from; an early failure teaches nothing.
		if learned != (c.overloaded == 45) {
			t.Errorf("%d overloaded: scan cost %d, wake_avg_idle %d", c.overloaded, rq.llc.avgScanCost, rq.wakeAvgIdle)
		}
	}
}

// The early failure looks neither at the hint of an idle core nor at the
// wakee's affinity, and leaves the hint as it is.
func TestBailOutLeavesIdleCoreHint(t *testing.T) {
	lab := newFilterLab(t, xeon8260, "SIS_FILTER")
	lab.allBusy()
	llc := lab.rqs[0].llc.Span.CPUs()
	lab.overloads(llc[:46]...)
	lab.idles(llc[46], llc[47]) // CPUs 70 and 71
	shared := lab.rqs[0].llcShared
	shared.HasIdleCores = true
	lab.wantCPU(lab.wake(lab.task(0, 0, llc[46], llc[47]), 0, false), 0)
	if !shared.HasIdleCores {
		t.Error("the hint was taken back without a search")
	}
}

// mechanisms.md 10.5 example 4: target LLC {0..7}, overloaded {1,2,3}, budget 4
// (3 tests), CPU 5 idle, target 0: vanilla looks at 1, 2, 3 and fails; with the
// filter at 4 and 5.
func TestExample4FilteredScan(t *testing.T) {
	for _, c := range []struct {
		features []string
		want     int
		scanned  []int
	}{
		{nil, 0, []int{1, 2, 3}},
		{[]string{"SIS_FILTER"}, 5, []int{4, 5}},
		{[]string{"SIS_FILTER_V1"}, 5, []int{4, 5}},
		{[]string{"SIS_FILTER_V3"}, 5, []int{4, 5}},
	} {
		lab := newFilterLab(t, topo{1, 1, 8, 1}, c.features...)
		lab.allBusy()
		if c.features == nil {
			lab.busy(2, 1, 2, 3)
		} else {
			lab.overloads(1, 2, 3)
		}
		lab.idles(5)
		lab.rqs[0].llc.avgScanCost = 10_000_000
		lab.wantCPU(lab.wake(lab.task(0), 0, false), c.want)
		if got := lab.scanned(); !slices.Equal(got, c.scanned) {
			t.Errorf("%v: looked at %v, want %v", c.features, got, c.scanned)
		}
	}
}

// mechanisms.md 10.1: at saturation a vanilla search costs 1 + 2 + 3 = 6, one
// that the filter ends early 1 + 2 = 3.
func TestSaturatedSearchEfficiency(t *testing.T) {
	for _, c := range []struct {
		features []string
		scanned  int64
	}{{nil, 6}, {[]string{"SIS_FILTER"}, 3}} {
		lab := newFilterLab(t, xeon8260, c.features...)
		lab.busy(2, lab.online.CPUs()...)
		for cpu := range lab.rqs {
			if lab.variants.overload != nil {
				lab.updateOverloaded(&lab.rqs[cpu])
			}
		}
		lab.rqs[0].llc.avgScanCost = 10_000_000
		lab.wake(lab.task(0), 0, false)
		if got := lab.Stats(0).SISScanned; got != c.scanned {
			t.Errorf("%v: scanned %d, want %d", c.features, got, c.scanned)
		}
	}
}

// mechanisms.md 10.1, update: the mask is written when a CPU's state changes and
// not at each look; without a cache to share not even the CPU's own note is.
func TestMaskIsWrittenOnChange(t *testing.T) {
	lab := newFilterLab(t, topo{1, 1, 4, 1}, "SIS_FILTER")
	rq := &lab.rqs[1]
	for _, c := range []struct {
		tasks         int
		writes, count int64
	}{{1, 0, 0}, {2, 1, 1}, {2, 1, 1}, {5, 1, 1}, {1, 2, 0}, {1, 2, 0}, {2, 3, 1}} {
		lab.busy(c.tasks, 1)
		lab.updateOverloaded(rq)
		wantInt(t, "writes", lab.work.MaskUpdates, c.writes)
		wantInt(t, "count", int64(rq.llcShared.Overload.Count), c.count)
		if in := rq.llcShared.Overload.CPUs.Has(1); in != (c.count == 1) || rq.overloaded != in {
			t.Errorf("%d tasks: in the mask %v, noted %v", c.tasks, in, rq.overloaded)
		}
	}
	alone := newFilterLab(t, topo{1, 2, 1, 1}, "SIS_FILTER")
	alone.busy(3, 0)
	alone.updateOverloaded(&alone.rqs[0])
	if alone.rqs[0].llcShared != nil || alone.rqs[0].overloaded || alone.work.MaskUpdates != 0 {
		t.Errorf("without a cache domain: noted %v, %d writes", alone.rqs[0].overloaded, alone.work.MaskUpdates)
	}
}

// Siblings of a core that is entered are looked at even when filtered: core 1
// is {1, 5}; CPU 1 is in the mask but idle by now, CPU 5 is not in it.
func TestIdleCoreOfFilteredSibling(t *testing.T) {
	lab := newFilterLab(t, topo{1, 1, 4, 2}, "SIS_FILTER")
	lab.allBusy()
	lab.overloads(1)
	lab.idles(1, 5)
	lab.rqs[0].llcShared.HasIdleCores = true
	lab.wantCPU(lab.wake(lab.task(0), 0, false), 5)
	lab.wantRule(RuleIdleCore)
}

// When each version gives up, on an LLC of 32: v2 beyond 32 - 32/16 = 30
// overloaded CPUs; v3 when fewer than a sixteenth of what the wakee may use are
// left, or none at all; v1 never, it just has nothing left to test.
func TestVersionsGiveUp(t *testing.T) {
	for _, c := range []struct {
		feature    string
		overloaded int
		core       bool // the hint of an idle core is set
		allowed    int  // CPUs that the wakee may use, 0: all
		scans      bool
		hintStays  bool
	}{
		{"SIS_FILTER_V1", 32, false, 0, false, false}, // nothing left in the set
		{"SIS_FILTER", 30, false, 0, true, false},     // 32 - 2 = 30: not more than that
		{"SIS_FILTER", 31, false, 0, false, false},
		{"SIS_FILTER", 31, true, 0, false, true},
		{"SIS_FILTER_V3", 30, false, 0, true, false},  // 2 < 32/16: no
		{"SIS_FILTER_V3", 31, false, 0, false, false}, // 1 < 2
		{"SIS_FILTER_V3", 31, false, 31, true, false}, // 1 < 31/16 = 1: no
		{"SIS_FILTER_V3", 31, true, 0, true, false},   // the hint: it looks, and fails
		{"SIS_FILTER_V3", 32, true, 0, false, false},  // full: fails and takes the hint back
	} {
		lab := newFilterLab(t, topo{1, 1, 16, 2}, c.feature)
		lab.allBusy()
		all := lab.online.CPUs()
		lab.overloads(all[:c.overloaded]...)
		shared := lab.rqs[0].llcShared
		shared.HasIdleCores = c.core
		var allowed []int
		if c.allowed > 0 {
			allowed = all[len(all)-c.allowed:]
		}
		task := lab.task(31, allowed...)
		lab.work = Work{}
		lab.wake(task, 31, false)
		looks := lab.work.Probes + lab.work.SiblingProbes
		if !c.core {
			looks -= 2 // prev and its sibling, before the search
		}
		if (looks > 0) != c.scans {
			t.Errorf("%+v: looked at %d CPUs", c, looks)
		}
		if shared.HasIdleCores != c.hintStays {
			t.Errorf("%+v: the hint of an idle core is %v", c, shared.HasIdleCores)
		}
	}
}

// v3 leaves a single overloaded CPU in the set.
func TestV3KeepsSingleOverloadedCPU(t *testing.T) {
	for _, c := range []struct {
		feature string
		first   int
	}{{"SIS_FILTER", 2}, {"SIS_FILTER_V3", 1}} {
		lab := newFilterLab(t, topo{1, 1, 8, 1}, c.feature)
		lab.allBusy()
		lab.overloads(1)
		lab.wake(lab.task(0), 0, false)
		if got := lab.scanned(); len(got) == 0 || got[0] != c.first {
			t.Errorf("%s looked at %v, want CPU %d first", c.feature, got, c.first)
		}
	}
}

// Without SIS_PROP a v3 scan ends one CPU early: 7 of 8 candidates.
func TestV3LimitWithoutSISProp(t *testing.T) {
	for _, c := range []struct {
		feature string
		scanned int
	}{{"SIS_FILTER", 8}, {"SIS_FILTER_V3", 7}} {
		lab := newFilterLab(t, topo{1, 1, 8, 1}, c.feature, "NO_SIS_PROP")
		lab.allBusy()
		lab.wake(lab.task(0), 0, false)
		if got := len(lab.scanned()); got != c.scanned {
			t.Errorf("%s tested %d CPUs, want %d", c.feature, got, c.scanned)
		}
	}
}

// SIS_CORE: the mask starts full; a busy machine's failed idle-core search
// empties it; CPUs come back one a core when they go idle.
func TestSISCoreMask(t *testing.T) {
	lab := newFilterLab(t, topo{1, 1, 4, 2}, "SIS_CORE") // cores {0,4} {1,5} {2,6} {3,7}
	mask := lab.rqs[0].llcShared.IdleCPUs.CPUs
	if got := mask.Count(); got != 8 {
		t.Fatalf("the new mask holds %d CPUs, want 8", got)
	}
	lab.allBusy()
	lab.rqs[0].llcShared.HasIdleCores = true
	lab.wake(lab.task(0), 0, false)
	if !mask.Empty() {
		t.Fatalf("the mask is %v after a search in vain", mask)
	}
	for _, cpu := range []int{6, 2, 3} { // 2 is of 6's core, which is recorded already
		lab.idles(cpu)
		lab.recordIdleCPU(&lab.rqs[cpu])
	}
	if got := mask.CPUs(); !slices.Equal(got, []int{3, 6}) {
		t.Errorf("recorded %v, want [3 6]", got)
	}
}

// SIS_CORE: the plain scan tests only recorded CPUs. After a scan that failed
// the next one from the same target looks at whole cores and so finds CPU 2,
// for which only its busy sibling 6 stands; the one after is plain again.
func TestSISCoreScansWholeCoresAfterFailure(t *testing.T) {
	lab := newFilterLab(t, topo{1, 1, 4, 2}, "SIS_CORE")
	lab.allBusy()
	mask := lab.rqs[0].llcShared.IdleCPUs.CPUs
	clear(mask)
	mask.Set(6)
	mask.Set(3)
	lab.idles(2)
	task := lab.task(0)
	lab.wantCPU(lab.wake(task, 0, false), 0)
	if got := lab.scanned(); !slices.Equal(got, []int{3, 6}) {
		t.Errorf("the plain scan looked at %v, want [3 6]", got)
	}
	lab.wantCPU(lab.wake(task, 0, false), 2)
	if got := mask.CPUs(); !slices.Equal(got, []int{6}) {
		t.Errorf("recorded %v: busy core 3 should be out, core 6 in", got)
	}
	lab.wantCPU(lab.wake(task, 0, false), 0)
}

// Two versions of one patch cannot both be in force.
func TestPatchVersionsExcludeEachOther(t *testing.T) {
	for _, pair := range []string{"SIS_FILTER SIS_FILTER_V3", "SIS_FILTER_V1 SIS_CORE", "SCHED_IDLE_BALANCE SCHED_IDLE_BALANCE_V1"} {
		cfg := NewConfig(xeon8260.build(), &v517tip)
		names := strings.Fields(pair)
		for _, f := range names {
			if err := cfg.SetFeature(f); err != nil {
				t.Fatal(err)
			}
		}
		_, err := New(cfg, nullDriver{})
		if err == nil || !strings.Contains(err.Error(), names[0]) || !strings.Contains(err.Error(), names[1]) {
			t.Errorf("%s: %v", pair, err)
		}
	}
}

// The patches exist on v5.17-tip only and are off unless asked for.
func TestPatchesKnownToTipOnly(t *testing.T) {
	for _, p := range Profiles() {
		if known := p.Known & features2022; (known == features2022) != (p == &v517tip) || (known != 0 && p != &v517tip) {
			t.Errorf("%s knows %v", p.Name, known.Names())
		}
		if on := p.Defaults & features2022; on != 0 {
			t.Errorf("%s has %v on by default", p.Name, on.Names())
		}
	}
}

// The word-wise scans and the CPU-by-CPU ones agree under every filter; the
// masks are whatever random ticks have made of them.
func TestFilteredScanFormsAgree(t *testing.T) {
	machines := []topo{{1, 1, 8, 1}, {1, 1, 4, 2}, {2, 2, 5, 2}, {2, 1, 24, 2}, {1, 1, 70, 2}, {2, 1, 80, 1}}
	for _, feature := range []string{"SIS_FILTER", "SIS_FILTER_V1", "SIS_FILTER_V3", "SIS_CORE"} {
		t.Run(feature, func(t *testing.T) {
			pairs := make([][2]*placementLab, len(machines))
			for i, tp := range machines {
				pairs[i] = [2]*placementLab{newFilterLab(t, tp, feature), newFilterLab(t, tp, feature)}
				pairs[i][0].Record(nil)
			}
			rapid.Check(t, func(r *rapid.T) {
				pair := pairs[rapid.IntRange(0, len(pairs)-1).Draw(r, "machine")]
				drawMasks(r, pair[:])
				checkTwins(r, pair[0], pair[1])
				if diff := cmp.Diff(masks(pair[0]), masks(pair[1])); diff != "" {
					r.Fatalf("different masks are left (-words +probing):\n%s", diff)
				}
			})
		})
	}
}

// drawMasks gives both schedulers the same random masks, with what belongs to
// them.
func drawMasks(r *rapid.T, labs []*placementLab) {
	n := labs[0].NumCPUs()
	share := rapid.SampledFrom([]int{0, 20, 90, 97, 100}).Draw(r, "masked share")
	for cpu, roll := range rapid.SliceOfN(rapid.IntRange(0, 99), n, n).Draw(r, "mask") {
		for _, lab := range labs {
			rq := &lab.rqs[cpu]
			rq.scanCores = roll%3 == 0
			switch {
			case rq.llcShared == nil:
			case lab.variants.core:
				rq.llcShared.IdleCPUs.CPUs.Clear(cpu)
				if roll < share {
					rq.llcShared.IdleCPUs.CPUs.Set(cpu)
				}
			default:
				rq.nr, rq.cfs.h, rq.cfs.hIdle = 0, 0, 0
				if roll < share {
					rq.nr, rq.cfs.h = 2, 2
				}
				lab.updateOverloaded(rq)
			}
			lab.work = Work{}
		}
	}
}

func masks(lab *placementLab) []LLCShared {
	var out []LLCShared
	for c := range lab.rqs {
		if rq := &lab.rqs[c]; rq.llcShared != nil && c == int(rq.llcID) {
			out = append(out, *rq.llcShared)
		}
	}
	return out
}

// A search with a filter allocates nothing.
func TestFilteredPlacementDoesNotAllocate(t *testing.T) {
	for _, feature := range []string{"SIS_FILTER", "SIS_FILTER_V3", "SIS_CORE"} {
		lab := newFilterLab(t, xeon8260, feature)
		lab.Record(nil)
		lab.allBusy()
		if lab.variants.overload != nil {
			lab.overloads(1, 2, 3, 30)
		}
		task := lab.task(10)
		if n := testing.AllocsPerRun(100, func() {
			lab.rqs[3].llcShared.HasIdleCores = true
			lab.wake(task, 3, true)
			lab.wake(task, 3, true)
		}); n != 0 {
			t.Errorf("%s: %v allocations a placement", feature, n)
		}
	}
}

// A look at a mask is free of line moves until an update takes the line away.
func TestMaskLineMoves(t *testing.T) {
	lab := newFilterLab(t, xeon8260, "SIS_FILTER")
	lab.allBusy()
	lab.overloads(5)
	task := lab.task(0)
	lab.work = Work{}
	lab.wake(task, 0, false) // fetches the line that CPU 5 wrote
	lab.wake(task, 0, false) // has it
	lab.overloads(6)         // takes it away again
	lab.wake(task, 0, false)
	want := Work{MaskUpdates: 1, MaskLookups: 3, MaskFetches: 2}
	got := Work{MaskUpdates: lab.work.MaskUpdates, MaskLookups: lab.work.MaskLookups,
		MaskFetches: lab.work.MaskFetches, MaskFetchesRemote: lab.work.MaskFetchesRemote}
	if got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}
