package sched

import "testing"

// mechanisms.md 6.4, v3.8: four CPUs of one cache, pct 125, so prev counts 112
// to here's 100. The wakee weighs 1024 and is not part of prev's load.
func TestAffine38(t *testing.T) {
	for _, c := range []struct {
		name       string
		here, prev []int8 // nice values; the first one of here wakes
		sync       bool
		want       int
		why        AffineReason
	}{
		// (1024+1024)·100 = 204800 against 1024·112 = 114688; 1024+1024 > 1024.
		{"one task each", []int8{0}, []int8{0}, false, 1, AffineUndecided},
		// 204800 against 2048·112 = 229376.
		{"prev has two", []int8{0}, []int8{0, 0}, false, 0, AffineBalanced},
		// The waker does not count: nothing is left here.
		{"sync, waker alone", []int8{0}, []int8{0}, true, 0, AffineSyncBalanced},
		{"sync, waker and another", []int8{0, 0}, []int8{0}, true, 1, AffineUndecided},
		// Without the waker (3121) 15 are left: 1039·100 against 110·112, no;
		// but 15 <= 110, and 15+110 is no more than (3121+15)/2 = 1568.
		{"sync, little on either", []int8{-5, 19}, []int8{10}, true, 0, AffineLight},
		// Not sync: 3136 is more than prev has.
		{"a heavy waker", []int8{-5, 19}, []int8{10}, false, 1, AffineUndecided},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newMapScheduler(t, machineSpec{nodes: 1, llcs: 1, cores: 4, threads: 1}.build())
			for cpu, nices := range [][]int8{c.here, c.prev} {
				for i, nice := range nices {
					s.Start(0, s.NewTask(TaskSpec{CPU: cpu, Nice: nice}), cpu)
					if i == 0 {
						s.Schedule(0, cpu, false)
					}
				}
			}
			var d Decision
			s.Record(&d)
			p := &Placement{Task: s.NewTask(TaskSpec{CPU: 1}), Prev: 1, Here: 0, Sync: c.sync}
			cpu := s.wakeAffine(s.Domains(0), p)
			if cpu != c.want || d.Affine != c.why {
				t.Errorf("CPU %d (%s), want %d (%s)", cpu, d.Affine, c.want, c.why)
			}
			// A sync wakeup that stays balanced is not counted.
			tries := int64(1)
			if c.why == AffineSyncBalanced {
				tries = 0
			}
			wantInt(t, "attempts", s.Stats(0).AffineTries, tries)
		})
	}
}

// effective_load: what a task adds to a CPU is what its group's weight there
// grows by, from 2, the weight of a group without tasks on the CPU.
func TestEffectiveLoad(t *testing.T) {
	s := newMapScheduler(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build())
	g := s.NewGroup(s.Root(), "/g")
	wantInt(t, "task of the root group", effectiveLoad(s.Root(), 0, 1024, 1024), 1024)
	wantInt(t, "first task of a group", effectiveLoad(g, 0, 1024, 1024), 1024-2)
	// 1024 of the group are on CPU 1: here it would be 1024·1024/2048.
	g.loadAvg, g.queues[1].tgContrib = 1024, 1024
	wantInt(t, "second task of a group", effectiveLoad(g, 0, 1024, 1024), 512-2)
	// One level up the total is not raised by what comes: 1022·1024/1024.
	inner := s.NewGroup(g, "/g/h")
	wantInt(t, "first task of a group in it", effectiveLoad(inner, 0, 1024, 1024), 1022-2)
}

// mechanisms.md 3.1, tests: loads of 1024 and 3072 of a group with shares 1024
// weigh 256 and 768.
func TestWholeGroupWeight(t *testing.T) {
	for _, kernel := range []string{"v3.2", "v3.8"} {
		l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 2, threads: 1}.build(), kernel)
		g := l.NewGroup(l.Root(), "/g")
		for cpu, tasks := range []int64{1, 3} {
			q := g.queues[cpu]
			q.load, q.tgContrib = tasks*nice0Stored, tasks*1024
		}
		g.loadAvg = 4096
		for cpu, want := range []int64{256, 768} {
			wantInt(t, kernel, wholeGroupWeight(g.queues[cpu]), want<<weightShift)
		}
		g.queues[0].load = 0
		wantInt(t, kernel+": least", wholeGroupWeight(g.queues[0]), 2<<weightShift)
	}
}

// Loads are weights: two tasks that have just started count 2048, one that has
// gone to sleep nothing; and a task of a group counts its part of what the
// group weighs.
func TestWeightLoad(t *testing.T) {
	l := newLab(t, machineSpec{nodes: 1, llcs: 1, cores: 1, threads: 1}.build(), "v3.8")
	l.hog(TaskSpec{}, 0)
	l.add(TaskSpec{}, 0, 10*millisecond, 1000*millisecond)
	wantInt(t, "two tasks", l.Load(0), 2048)
	l.advance(100 * millisecond)
	wantInt(t, "one asleep", l.Load(0), 1024)
	g := l.NewGroup(l.Root(), "/g")
	first := l.hog(TaskSpec{Group: g}, 0)
	l.hog(TaskSpec{Group: g}, 0)
	wantInt(t, "a group beside a task", l.Load(0), 2048)
	// 1024 · h / (2048+1) with h = 2048 · 1024/(2048+1) = 1023: 511.
	l.advance(8 * millisecond)
	wantInt(t, "task of the group", l.taskHLoad(first), 511)
}
