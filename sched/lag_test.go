package sched

import "testing"

// lagQueue is a queue with waiting entities of the given virtual times and weights.
func lagQueue(at [][2]int64) (*cfsRQ, []*Entity) {
	cfs := &cfsRQ{}
	var all []*Entity
	for _, e := range at {
		se := &Entity{vruntime: e[0], weight: e[1], cfs: cfs, onRQ: true}
		cfs.line.insert(se)
		cfs.load += e[1]
		cfs.nr++
		all = append(all, se)
	}
	return cfs, all
}

// V = Σ v·w / Σ w, rounded down (mechanisms-modern.md 2.1).
func TestAverageVirtualTime(t *testing.T) {
	const w = nice0Stored
	for _, c := range []struct {
		at   [][2]int64
		want int64
	}{
		{[][2]int64{{100, w}}, 100},
		{[][2]int64{{100, w}, {300, w}}, 200},
		{[][2]int64{{100, 3 * w}, {300, w}}, 150},
		{[][2]int64{{0, w}, {0, w}, {1, w}}, 0},     // a third
		{[][2]int64{{-1, w}, {0, w}, {0, w}}, -1},   // minus a third
		{[][2]int64{{1 << 50, w}, {0, w}}, 1 << 49}, // products beyond 64 bits
	} {
		if cfs, _ := lagQueue(c.at); cfs.average() != c.want {
			t.Errorf("%v: %d, want %d", c.at, cfs.average(), c.want)
		}
	}
	cfs, all := lagQueue([][2]int64{{100, w}})
	cfs.average()
	cfs.line.remove(all[0])
	if cfs.average() != 100 {
		t.Errorf("the empty queue is at %d, want 100, where it was", cfs.average())
	}
}

// mechanisms.md 1.13, example 7: entities of one weight at 0, 10 and 20: V is 10;
// who is at 0 or at 10 may run, who is at 20 may not. Which of the two runs is a
// matter of deadlines, which nothing here has (DEVIATIONS.md, EEVDF).
func Test1_13_7_Eligibility(t *testing.T) {
	const w = nice0Stored
	cfs, all := lagQueue([][2]int64{{0, w}, {10, w}, {20, w}})
	wantInt(t, "V", cfs.average(), 10)
	for i, want := range []bool{true, true, false} {
		if got := cfs.eligible(all[i]); got != want {
			t.Errorf("at %d: eligible %v, want %v", all[i].vruntime, got, want)
		}
	}
	// By weight, example of 1.12: Σ(v-v0)·w >= (v-v0)·Σw: 0·1 + 30·2 = 60 of 3.
	cfs, all = lagQueue([][2]int64{{0, w}, {30, 2 * w}, {20, 0}})
	wantInt(t, "V with twice the weight at 30", cfs.average(), 20)
	if !cfs.eligible(all[2]) || cfs.eligible(all[1]) {
		t.Error("at V an entity may run, behind it not")
	}
}

// mechanisms.md 1.13, example 8: one runner, and one of the same weight with lag
// +1 ms: lag' = 1 ms · (1024+1024)/1024 = 2 ms, so it joins at V - 2 ms. V is then
// 1 ms earlier, and its lag 1 ms again.
func Test1_13_8_PlaceByLag(t *testing.T) {
	const w = nice0Stored
	s := newFollowed(t, "v7.2").s
	cfs, _ := lagQueue([][2]int64{{10 * msec, w}})
	joins := &Entity{weight: w, cfs: cfs, lag: msec}
	s.placeByLag(cfs, joins)
	wantInt(t, "placed at V - 2 ms", joins.vruntime, 8*msec)
	cfs.line.insert(joins)
	wantInt(t, "V afterwards", cfs.average(), 9*msec)
	wantInt(t, "lag afterwards", cfs.average()-joins.vruntime, msec)
}

// mechanisms-modern.md 2.3: two runners, a third of the same weight joins with lag
// +1 ms: it is placed 1.5 ms before V, and has a lag of 1 ms then.
func TestPlaceByLag(t *testing.T) {
	const w = nice0Stored
	s := newFollowed(t, "v7.2").s
	cfs, _ := lagQueue([][2]int64{{9 * msec, w}, {11 * msec, w}})
	joins := &Entity{weight: w, cfs: cfs, lag: msec}
	s.placeByLag(cfs, joins)
	if joins.vruntime != 8_500_000 {
		t.Errorf("placed at %d, want 8.5 ms", joins.vruntime)
	}
	cfs.line.insert(joins)
	if got := cfs.average() - joins.vruntime; got != msec {
		t.Errorf("lag %d, want 1 ms", got)
	}
}

// Who slept with negative lag waited for the average, in the queue: it has none
// left when that has passed it, and what is still missing otherwise (2.5).
func TestNegativeLagWanes(t *testing.T) {
	const w = nice0Stored
	s := newFollowed(t, "v7.2").s
	for _, c := range []struct {
		name         string
		v, lag, want int64 // V is 10 ms
		delayable    bool
	}{
		{"passed", 9 * msec, -2 * msec, 0, true},
		{"half way", 11 * msec, -2 * msec, -1 * msec, true},
		{"went back", 13 * msec, -2 * msec, -2 * msec, true},
		{"throttled", 9 * msec, -2 * msec, -2 * msec, false},
		{"positive", 9 * msec, 2 * msec, 2 * msec, true},
	} {
		cfs, _ := lagQueue([][2]int64{{10 * msec, w}})
		se := &Entity{weight: w, cfs: cfs, vruntime: c.v, lag: c.lag, delayable: c.delayable}
		s.placeByLag(cfs, se)
		if se.lag != c.want {
			t.Errorf("%s: lag %d, want %d", c.name, se.lag, c.want)
		}
	}
}

// The clamp of 2.4: a slice of 2.8 ms and a tick of 4 ms are 6.8 ms at nice 0.
func TestLagIsClamped(t *testing.T) {
	const w = nice0Stored
	s := newFollowed(t, "v7.2").s
	s.tun.MinGranularity, s.hz = 2_800_000, 250
	cfs, all := lagQueue([][2]int64{{0, w}, {100 * msec, w}})
	s.noteLag(cfs, all[0])
	s.noteLag(cfs, all[1])
	if all[0].lag != 6_800_000 || all[1].lag != -6_800_000 {
		t.Errorf("lags %d and %d, want ±6.8 ms", all[0].lag, all[1].lag)
	}
}

// 2.4: the clamp is of real time: at nice 5 6.8 ms·1024/335 are 20.79 ms of virtual
// time, and with a tick of 1 ms 2.8+1 ms are left.
func TestClampOfOtherWeights(t *testing.T) {
	for _, c := range []struct {
		nice, hz, want int64
	}{{0, 250, 6_800_000}, {5, 250, 20_785_671}, {0, 1000, 3_800_000}} {
		s := newFollowed(t, "v7.2").s
		s.tun.MinGranularity, s.hz = 2_800_000, c.hz
		w := taskWeight(PolicyNormal, int8(c.nice))
		cfs, all := lagQueue([][2]int64{{0, w}, {1_000 * msec, w}})
		s.noteLag(cfs, all[1])
		// The inverse of a weight is rounded to 32 bits: 335 to a part in a million.
		if got := -all[1].lag; got < c.want-c.want/1_000_000 || got > c.want+1 {
			t.Errorf("nice %d, HZ %d: lag %d, want -%d", c.nice, c.hz, all[1].lag, c.want)
		}
	}
}

// 2.5, the example: of two of one weight (W+w)/W is 2. Blocked with lag −2 ms, woken
// when that would have become −3 ms, it is placed at V+4 ms, and has −2 ms then;
// woken when it would be positive it is placed at V.
func TestReplacedByItsLag(t *testing.T) {
	const w = nice0Stored
	s := newFollowed(t, "v7.2").s
	for _, c := range []struct{ v, want, lag int64 }{
		{16 * msec, 14 * msec, -2 * msec}, // V of the others 10, with it 13: a lag of −3
		{8 * msec, 10 * msec, 0},          // V with it 9: a lag of +1
	} {
		cfs, _ := lagQueue([][2]int64{{10 * msec, w}})
		se := &Entity{weight: w, cfs: cfs, vruntime: c.v, lag: -2 * msec, delayable: true}
		s.placeByLag(cfs, se)
		if se.vruntime != c.want {
			t.Errorf("from %d: placed at %d, want %d", c.v, se.vruntime, c.want)
		}
		cfs.line.insert(se)
		if got := cfs.average() - se.vruntime; got != c.lag {
			t.Errorf("from %d: lag %d in the queue, want %d", c.v, got, c.lag)
		}
	}
}

// The example of 2.10.
func TestReweightKeepsLag(t *testing.T) {
	const w = nice0Stored
	s := newFollowed(t, "v7.2").s
	cfs, all := lagQueue([][2]int64{{10 * msec, w}, {14 * msec, w}})
	s.moveInTime(cfs, all[1], s.reweightLag(cfs, all[1], 2*w))
	if all[1].vruntime != 13*msec || all[1].lag != -msec {
		t.Errorf("v %d, lag %d, want 13 ms and -1 ms", all[1].vruntime, all[1].lag)
	}
	all[1].weight = 2 * w
	if cfs.average() != 12*msec {
		t.Errorf("V %d, want 12 ms, as before", cfs.average())
	}
}

// Only kernels whose balancer asks for eligibility are followed with lag, and a
// simulation is not.
func TestWhoKeepsLag(t *testing.T) {
	for kernel, want := range map[string]bool{"v6.1": false, "v6.12": false, "v7.2": true} {
		if got := newFollowed(t, kernel).s.time == &followedLag; got != want {
			t.Errorf("%s: %v", kernel, got)
		}
	}
}
