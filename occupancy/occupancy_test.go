package occupancy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlab/schedlab/trace"
)

// recording builds a trace as ftrace text; times are in µs.
type recording struct{ b strings.Builder }

func (r *recording) at(us int64, cpu int, event string) {
	fmt.Fprintf(&r.b, "          <idle>-0       [%03d] d....  %4d.%06d: %s\n", cpu, us/1e6, us%1e6, event)
}

func (r *recording) wake(us int64, pid, target int) {
	r.at(us, 0, fmt.Sprintf("sched_wakeup: comm=t pid=%d prio=120 target_cpu=%03d", pid, target))
}

// placed says that the kernel asks where to put a task that may run on two CPUs.
func (r *recording) placed(us int64, pid int) {
	r.at(us, 0, fmt.Sprintf("sel: (select_task_rq_fair) prev=0 flags=0x8 pid=%d policy=0 nallowed=2 allowed=0x3", pid))
}

func (r *recording) runs(us int64, cpu, prev int, state string, next int) {
	r.at(us, cpu, fmt.Sprintf("sched_switch: prev_comm=t prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=t next_pid=%d next_prio=120", prev, state, next))
}

func (r *recording) read(t *testing.T, g Ground) (*Map, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "trace.txt")
	if err := os.WriteFile(name, []byte("# tracer: nop\n#\n"+r.b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	reader, err := trace.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	return Read(reader, g)
}

func (r *recording) mustRead(t *testing.T, g Ground) *Map {
	t.Helper()
	m, err := r.read(t, g)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// perCPU sums a map over time.
func perCPU(m *Map) []Slice {
	sums := make([]Slice, len(m.CPUs))
	for i := range m.CPUs {
		for j := range m.CPUs[i] {
			sums[i].add(&m.CPUs[i][j])
		}
	}
	return sums
}

const us = 1000

// Task 1 runs on CPU 0 from 10 to 40 µs. Task 2 waits there from 20 to 40 and
// runs to 50, while CPU 1 has nothing to do: one task from 10 to 20, two from 20
// to 40, one from 40 to 50, none for 10 µs; CPU 1 is idle for 50 µs, of which
// 20 were missed.
func TestStatesAndMissedTime(t *testing.T) {
	var r recording
	r.wake(0, 9, 1) // sets the start
	r.runs(0, 1, 0, "R", 9)
	r.runs(0, 1, 9, "S", 0)
	r.placed(10, 1)
	r.wake(10, 1, 0)
	r.runs(10, 0, 0, "R", 1)
	r.placed(20, 2)
	r.wake(20, 2, 0)
	r.runs(40, 0, 1, "S", 2)
	r.runs(50, 0, 2, "S", 0)
	m := r.mustRead(t, Ground{CPUs: 2})
	want := []Slice{{In: [NumStates]int64{10 * us, 0, 20 * us, 20 * us}}, {In: [NumStates]int64{50 * us, 0, 0, 0}, Missed: 20 * us}}
	if diff := cmp.Diff(want, perCPU(m)); diff != "" {
		t.Error(diff)
	}
	if m.Length != 50*us {
		t.Errorf("%d ns long", m.Length)
	}
	// From 20 to 40 µs one CPU of two was idle beside a waiting task.
	for _, at := range []struct {
		us   int
		want float64
	}{{15, 0}, {25, 1}, {45, 0}} {
		if got := m.MissedCPUs(at.us * us / int(m.Width)); got != at.want {
			t.Errorf("%v CPUs missed at %d us, want %v", got, at.us, at.want)
		}
	}
}

// Task 1 is met running: CPU 0 has it from the first event on, at 0, and not from
// the switch at 30. Task 2 is woken at 10 although it runs, as the kernel does when
// it has not got to sleep yet; it stays where it is.
func TestWhoRunsAlready(t *testing.T) {
	var r recording
	fmt.Fprintf(&r.b, "               t-1       [000] d....     0.000000: sched_waking: comm=t pid=9 prio=120 target_cpu=001\n")
	r.runs(0, 1, 0, "R", 2)
	r.wake(10, 2, 0)
	r.runs(30, 0, 1, "S", 0)
	r.runs(30, 1, 2, "S", 0)
	want := []Slice{{In: [NumStates]int64{0, 0, 30 * us, 0}}, {In: [NumStates]int64{0, 0, 30 * us, 0}}}
	if diff := cmp.Diff(want, perCPU(r.mustRead(t, Ground{CPUs: 2}))); diff != "" {
		t.Error(diff)
	}
}

// Behind a loss it is open what runs on CPU 0, and whether task 2 still waits there,
// until the next event tells: from 20 us on task 2 runs.
func TestALossIsForgotten(t *testing.T) {
	var r recording
	r.wake(0, 1, 0)
	r.runs(0, 0, 0, "R", 1)
	r.wake(0, 2, 0)
	r.at(10, 1, "tick: cpu=1")
	r.b.WriteString("CPU:0 [LOST 3 EVENTS]\n")
	fmt.Fprintf(&r.b, "               t-2       [000] d....     0.000020: tick: cpu=0\n")
	r.runs(30, 0, 2, "S", 0)
	want := []Slice{{In: [NumStates]int64{10 * us, 0, 10 * us, 10 * us}}, {In: [NumStates]int64{30 * us, 0, 0, 0}}}
	if diff := cmp.Diff(want, perCPU(r.mustRead(t, Ground{CPUs: 2}))); diff != "" {
		t.Error(diff)
	}
}

// A migration thread does the scheduler's work and is no task that a CPU has to
// do, from the moment at which it is woken.
func TestMigrationThreadsDoNotCount(t *testing.T) {
	var r recording
	r.wake(0, 1, 0)
	r.runs(0, 0, 0, "R", 1)
	r.at(10, 0, "sched_wakeup: comm=migration/0 pid=8 prio=0 target_cpu=000")
	r.runs(20, 0, 1, "S", 0)
	want := []Slice{{In: [NumStates]int64{0, 0, 20 * us, 0}}}
	if diff := cmp.Diff(want, perCPU(r.mustRead(t, Ground{CPUs: 1}))); diff != "" {
		t.Error(diff)
	}
}

// A task that may not run elsewhere, and one whose CPU is only waking up for it,
// make no CPU miss anything.
func TestWhoDoesNotWait(t *testing.T) {
	var pinned recording
	pinned.wake(0, 1, 0)
	pinned.runs(0, 0, 0, "R", 1)
	pinned.wake(10, 2, 0) // no sel: pinned
	pinned.runs(30, 0, 1, "S", 2)
	var waking recording
	waking.placed(0, 1)
	waking.wake(0, 1, 0)
	waking.runs(30, 0, 0, "R", 1) // nothing ran there before
	for name, r := range map[string]*recording{"pinned": &pinned, "waking": &waking} {
		total := r.mustRead(t, Ground{CPUs: 2}).Total()
		if total.Missed != 0 {
			t.Errorf("%s: %d ns missed", name, total.Missed)
		}
	}
}

// A migration moves a waiting task: from 20 µs on it is CPU 1 that has one.
func TestMigration(t *testing.T) {
	var r recording
	r.wake(0, 1, 0)
	r.runs(0, 0, 0, "R", 1)
	r.placed(0, 2)
	r.wake(0, 2, 0)
	r.at(20, 1, "sched_migrate_task: comm=t pid=2 prio=120 orig_cpu=0 dest_cpu=1")
	r.runs(20, 1, 0, "R", 2)
	r.runs(30, 1, 2, "S", 0)
	want := []Slice{{In: [NumStates]int64{0, 0, 10 * us, 20 * us}}, {In: [NumStates]int64{20 * us, 0, 10 * us, 0}, Missed: 20 * us}}
	if diff := cmp.Diff(want, perCPU(r.mustRead(t, Ground{CPUs: 2}))); diff != "" {
		t.Error(diff)
	}
}

// A task in a group below one with cpu.idle, and one of policy 5, are SCHED_IDLE;
// beside another task they do not make a CPU overloaded.
func TestSchedIdle(t *testing.T) {
	var r recording
	r.at(0, 0, "cgroup_attach_task: dst_root=0 dst_id=7 dst_level=2 dst_path=/noise/a pid=1 comm=t")
	r.at(0, 0, "policy: pid=2 policy=5")
	r.wake(0, 1, 0)
	r.runs(0, 0, 0, "R", 1)
	r.wake(10, 2, 0)
	r.wake(20, 3, 0)
	r.runs(30, 0, 1, "R", 3)
	r.runs(40, 0, 3, "S", 1)
	want := []Slice{{In: [NumStates]int64{0, 20 * us, 20 * us, 0}}}
	if diff := cmp.Diff(want, perCPU(r.mustRead(t, Ground{CPUs: 1, IdleGroups: []string{"/noise"}}))); diff != "" {
		t.Error(diff)
	}
}

// A task of a throttled group is not runnable. The queue of group 7 on CPU 0 is
// 7<<16.
func TestThrottledTasksDoNotWait(t *testing.T) {
	var r recording
	r.at(0, 0, "cgroup_attach_task: dst_root=0 dst_id=7 dst_level=1 dst_path=/pod pid=1 comm=t")
	r.placed(0, 1)
	r.wake(0, 1, 0)
	r.runs(0, 0, 0, "R", 1)
	r.at(10, 0, "thr: (throttle_cfs_rq) cfs=0x70000 cpu=0")
	r.runs(10, 0, 1, "R", 9)
	r.at(30, 0, "unthr: (unthrottle_cfs_rq) cfs=0x70000 cpu=0")
	r.runs(40, 0, 9, "S", 1)
	want := []Slice{{In: [NumStates]int64{0, 0, 30 * us, 10 * us}}, {In: [NumStates]int64{40 * us, 0, 0, 0}, Missed: 10 * us}}
	if diff := cmp.Diff(want, perCPU(r.mustRead(t, Ground{CPUs: 2}))); diff != "" {
		t.Error(diff)
	}
}

// One task waits and three CPUs are idle: each of them misses a third of the 30
// us, together they miss what one task could have used.
func TestIdleCPUsShareWhatTheyMiss(t *testing.T) {
	var r recording
	r.wake(0, 1, 0)
	r.runs(0, 0, 0, "R", 1)
	r.placed(0, 2)
	r.wake(0, 2, 0)
	r.runs(30, 0, 1, "S", 2)
	sums := perCPU(r.mustRead(t, Ground{CPUs: 4}))
	for cpu := 1; cpu < 4; cpu++ {
		if missed := sums[cpu].Missed; missed < 10*us-2*30 || missed > 10*us+2*30 { // a ns is rounded in each slice of 1 us
			t.Errorf("CPU %d missed %d ns, want 10 us", cpu, missed)
		}
	}
}

// However long a recording is, slices are at most 600 and the time stays: a CPU
// that is busy every other millisecond for 10 s is busy for 5 s.
func TestSlicesGrow(t *testing.T) {
	var r recording
	r.wake(0, 1, 0)
	for ms := int64(0); ms < 10_000; ms += 2 {
		r.runs(ms*1000, 0, 0, "R", 1)
		r.runs(ms*1000+1000, 0, 1, "S", 0)
	}
	r.runs(10_000_000, 0, 0, "R", 1)
	m := r.mustRead(t, Ground{CPUs: 1})
	total := m.Total()
	if total.In[OneTask] != 5e9 || total.In[Idle] != 5e9 {
		t.Errorf("%v", total)
	}
	if n := len(m.CPUs[0]); n > maxSlices || n < maxSlices/2 {
		t.Errorf("%d slices", n)
	}
	if covered := int64(len(m.CPUs[0])) * m.Width; covered < m.Length || covered-m.Width >= m.Length {
		t.Errorf("%d slices of %d ns for %d ns", len(m.CPUs[0]), m.Width, m.Length)
	}
}

func TestCPUsOutsideTheMachineAreRefused(t *testing.T) {
	var r recording
	r.wake(0, 1, 5)
	if _, err := r.read(t, Ground{CPUs: 2}); err == nil || !strings.Contains(err.Error(), "thread 1 is on CPU 5 at 0 ns, and the machine has 2 CPUs") {
		t.Errorf("%v", err)
	}
	if _, err := r.read(t, Ground{}); err == nil {
		t.Error("a machine without CPUs was taken")
	}
}
