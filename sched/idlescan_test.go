package sched

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/schedlab/schedlab/machine"
)

// The word-wise and the CPU-by-CPU form of the searches must be twins: the
// same CPU, the same counters, the same work, the same state left behind. Two
// schedulers are put into the same random state; one records decisions and so
// takes the slow form.
func TestScanFormsAgree(t *testing.T) {
	shapes := []topo{
		{1, 1, 1, 1}, {1, 1, 8, 1}, {1, 1, 4, 2}, {2, 1, 3, 4}, {2, 2, 5, 2},
		{2, 1, 24, 2}, // siblings and the LLC spread over two words
		{1, 1, 70, 2}, // an LLC of three words
		{2, 1, 80, 1}, // the second LLC starts within a word
		{1, 40, 2, 2}, // many small LLCs
	}
	machines := []*machine.Machine{
		clusterMachine(),
		machineSpec{nodes: 2, llcs: 1, cores: 12, threads: 2, clusterCores: 3}.build(),
		machineSpec{nodes: 1, llcs: 1, cores: 72, threads: 2, clusterCores: 8}.build(), // clusters within and across words
	}
	for _, tp := range shapes {
		machines = append(machines, tp.build())
	}
	for _, profile := range Profiles() {
		t.Run(profile.Name, func(t *testing.T) {
			pairs := make([][2]*placementLab, len(machines))
			for i, m := range machines {
				pairs[i] = [2]*placementLab{newPlacementLabOn(t, profile.Name, m), newPlacementLabOn(t, profile.Name, m)}
				pairs[i][0].Record(nil)
			}
			rapid.Check(t, func(r *rapid.T) {
				pair := pairs[rapid.IntRange(0, len(pairs)-1).Draw(r, "machine")]
				checkTwins(r, pair[0], pair[1])
			})
		})
	}
}

func checkTwins(r *rapid.T, fast, slow *placementLab) {
	state := drawState(r, fast)
	tasks := [2]*Task{state.applyTo(fast), state.applyTo(slow)}
	for i := range rapid.IntRange(1, 4).Draw(r, "wakeups") {
		here := rapid.IntRange(0, fast.NumCPUs()-1).Draw(r, "here")
		sync := rapid.Bool().Draw(r, "sync")
		a := fast.wake(tasks[0], here, sync)
		b := slow.wake(tasks[1], here, sync)
		if a != b {
			r.Fatalf("wakeup %d from %d: words say %d, probing says %d: %+v", i, here, a, b, slow.decision)
		}
		if last := int(slow.decision.CPU); last != b {
			r.Fatalf("the record says %d, the answer was %d", last, b)
		}
		if diff := cmp.Diff(hiddenState(fast, tasks[0], here), hiddenState(slow, tasks[1], here)); diff != "" {
			r.Fatalf("wakeup %d from %d leaves different traces (-words +probing):\n%s", i, here, diff)
		}
	}
}

// randomState is what the idle search looks at.
type randomState struct {
	cpus     []uint8 // idle, busy, idle-class
	hints    map[int]LLCShared
	avgIdle  int64
	scanCost int64
	prev     int
	recent   int
	allowed  []int
	policy   Policy
	features FeatureSet
}

func drawState(r *rapid.T, lab *placementLab) *randomState {
	n := lab.NumCPUs()
	cpu := rapid.IntRange(0, n-1)
	st := &randomState{hints: map[int]LLCShared{}, features: lab.profile.Known}
	// Mostly busy machines are where budgets and words matter.
	busyShare := rapid.SampledFrom([]int{0, 50, 90, 98, 100}).Draw(r, "busy share")
	for range n {
		st.cpus = append(st.cpus, 0)
	}
	for i, roll := range rapid.SliceOfN(rapid.IntRange(0, 99), n, n).Draw(r, "cpus") {
		if roll < busyShare {
			st.cpus[i] = 1
		} else if roll%4 == 0 {
			st.cpus[i] = 2
		}
	}
	for c := range lab.rqs {
		if c == int(lab.rqs[c].llcID) {
			st.hints[c] = LLCShared{
				HasIdleCores: rapid.Bool().Draw(r, "idle cores"),
				NrIdleScan:   int32(rapid.IntRange(0, int(lab.rqs[c].llcSize)).Draw(r, "nr_idle_scan")),
			}
		}
	}
	st.avgIdle = rapid.Int64Range(0, 1_000_000).Draw(r, "avg idle")
	st.scanCost = rapid.SampledFrom([]int64{0, 100, 2000, 40_000, 1_000_000}).Draw(r, "scan cost")
	st.prev, st.recent = cpu.Draw(r, "prev"), cpu.Draw(r, "recent")
	st.policy = rapid.SampledFrom([]Policy{PolicyNormal, PolicyIdle}).Draw(r, "policy")
	if rapid.Bool().Draw(r, "restricted") {
		st.allowed = rapid.SliceOfNDistinct(cpu, 1, n, rapid.ID[int]).Draw(r, "allowed")
	}
	for f := Feature(0); f < numFeatures; f++ {
		if st.features.Has(f) && !rapid.Bool().Draw(r, f.String()) {
			st.features = st.features.Without(f)
		}
	}
	return st
}

func (st *randomState) applyTo(lab *placementLab) *Task {
	lab.features = st.features
	lab.work = Work{}
	for cpu, kind := range st.cpus {
		rq := &lab.rqs[cpu]
		rq.stats = CPUStats{}
		rq.avgIdle, rq.wakeAvgIdle, rq.wakeStamp = st.avgIdle, st.avgIdle, lab.jiffies
		if rq.llc != nil {
			rq.llc.avgScanCost = st.scanCost
		}
		if hint, ok := st.hints[int(rq.llcID)]; ok && rq.llcShared != nil {
			rq.llcShared.HasIdleCores, rq.llcShared.NrIdleScan = hint.HasIdleCores, hint.NrIdleScan
		}
		lab.scratch.idleTasks[cpu].flips = 0
		switch kind {
		case 0:
			lab.idles(cpu)
		case 1:
			lab.busy(1+cpu%2, cpu)
		case 2:
			lab.runsIdleClass(cpu)
		}
	}
	task := lab.task(st.prev, st.allowed...)
	task.recentUsed, task.policy = int32(st.recent), st.policy
	return task
}

// traces is what a search leaves behind.
type traces struct {
	Stats                 CPUStats
	Work                  Work
	WakeAvgIdle, ScanCost int64
	Recent                int32
	Hints                 []LLCShared
}

func hiddenState(lab *placementLab, task *Task, here int) traces {
	rq := &lab.rqs[here]
	tr := traces{Stats: rq.stats, Work: lab.work, WakeAvgIdle: rq.wakeAvgIdle, Recent: task.recentUsed}
	if rq.llc != nil {
		tr.ScanCost = rq.llc.avgScanCost
	}
	for c := range lab.rqs {
		if shared := lab.rqs[c].llcShared; shared != nil && c == int(lab.rqs[c].llcID) {
			tr.Hints = append(tr.Hints, *shared)
		}
	}
	return tr
}

// A wrapped walk meets every CPU of the set once, in order from its start.
func TestWordWalkOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.SampledFrom([]int{1, 8, 64, 65, 200}).Draw(r, "CPUs")
		cpus := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, rapid.ID[int]).Draw(r, "set")
		from := rapid.IntRange(0, n).Draw(r, "from")
		set := machine.MaskOf(n, cpus...)
		var got, want []int
		for walk := wrapFrom(wordsOf(set), from); walk.next(); {
			for b := walk.bits; b != 0; b &= b - 1 {
				got = append(got, walk.index<<6+bits.TrailingZeros64(b))
			}
		}
		for i := range n {
			if cpu := (from + i) % n; set.Has(cpu) {
				want = append(want, cpu)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("order (-want +got):\n%s", diff)
		}
	})
}

func TestLowest(t *testing.T) {
	for _, c := range []struct {
		word uint64
		n    int
		want uint64
	}{{0b1011, 2, 0b0011}, {0b1011, 0, 0}, {0b1011, 3, 0b1011}, {1 << 63, 1, 1 << 63}} {
		if got := lowest(c.word, c.n); got != c.want {
			t.Errorf("lowest(%b, %d) = %b, want %b", c.word, c.n, got, c.want)
		}
	}
}

// Placement allocates nothing while nothing is recorded.
func TestPlacementDoesNotAllocate(t *testing.T) {
	for _, profile := range Profiles() {
		lab := newPlacementLab(t, profile.Name, xeon8260)
		lab.Record(nil)
		lab.allBusy()
		task := lab.task(30)
		if n := testing.AllocsPerRun(100, func() {
			lab.rqs[3].llcShared.HasIdleCores = true
			lab.wake(task, 3, true)
			lab.selectCPU(task, 3, 3, KindFork, false)
		}); n != 0 {
			t.Errorf("%s: %v allocations a placement", profile.Name, n)
		}
	}
}

// BenchmarkWakeup places one wakeup on the machine of document 000: with the
// previous CPU idle, with everything busy, and with a stale hint of an idle
// core (the most that a search can look at).
func BenchmarkWakeup(b *testing.B) {
	for _, profile := range Profiles() {
		for _, state := range []string{"prev idle", "all busy", "stale idle core", "one idle"} {
			b.Run(fmt.Sprintf("%s/%s", profile.Name, state), func(b *testing.B) {
				lab := newPlacementLab(b, profile.Name, xeon8260)
				lab.Record(nil)
				lab.allBusy()
				switch state {
				case "prev idle":
					lab.idles(10)
				case "one idle":
					lab.idles(2)
					lab.rqs[3].llcShared.NrIdleScan = 48
				}
				stale := state == "stale idle core"
				lab.rqs[3].llcShared.NrIdleScan = 48
				task := lab.task(10)
				b.ReportAllocs()
				for b.Loop() {
					if stale {
						lab.rqs[3].llcShared.HasIdleCores = true
					}
					lab.wake(task, 3, true)
				}
			})
		}
	}
}
