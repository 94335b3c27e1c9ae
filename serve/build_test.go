package serve

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlab/schedlab/trace"
)

// smallTrace is a recording of two CPUs, times in us from 100 s on:
//
//	    0        10        20        30        40        50        60
//	0   a........a.........a.........b.........b.........b.........idle
//	1   idle.................................a.........a.........a
//	b   (unknown) .woken 10, waits on 0 until 30, runs .....sleeps 60
//	a   runs on 0 ......................30 waits on 0, 35 moved to 1, 40 runs
const smallTrace = `# tracer: nop
               a-1     [000] d....   100.000000: sched_waking: comm=x pid=9 prio=120 target_cpu=001
          <idle>-0     [001] d....   100.000005: softirq_entry: vec=7 [action=SCHED]
               a-1     [000] d....   100.000009: sched_waking: comm=b pid=2 prio=120 target_cpu=000
               a-1     [000] d....   100.000010: sched_wakeup: comm=b pid=2 prio=120 target_cpu=000
               a-1     [000] d....   100.000030: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=R+ ==> next_comm=b next_pid=2 next_prio=120
          <idle>-0     [001] d....   100.000035: sched_migrate_task: comm=a pid=1 prio=120 orig_cpu=0 dest_cpu=1
          <idle>-0     [001] d....   100.000040: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=1 next_prio=120
               b-2     [000] d....   100.000060: sched_switch: prev_comm=b prev_pid=2 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
               a-1     [001] d....   100.000070: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=X ==> next_comm=swapper/1 next_pid=0 next_prio=120
`

func build(t *testing.T, text string) *Recording {
	t.Helper()
	r, err := Build(context.Background(), trace.NewTextReader(strings.NewReader(text)), DefaultLimits, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func us(times ...int64) []int64 {
	for i := range times {
		times[i] *= 1000
	}
	return times
}

func TestBuildFollowsCPUsAndTasks(t *testing.T) {
	r := build(t, smallTrace)
	if r.Start != 100_000_000_000 || r.Span != 70_001 || r.Events != 9 {
		t.Errorf("start %d, span %d, events %d; want 100 s, 70001 ns (the last event included), 9", r.Start, r.Span, r.Events)
	}
	const a, x, b = 1, 2, 3 // by first appearance: a runs, x is woken, b
	for i, want := range []struct {
		pid  int32
		comm string
	}{{0, "idle"}, {1, "a"}, {9, "x"}, {2, "b"}} {
		if got := r.Tasks[i]; got.PID != want.pid || got.Comm != want.comm {
			t.Errorf("task %d is %s-%d, want %s-%d", i, got.Comm, got.PID, want.comm, want.pid)
		}
	}
	for _, c := range []struct {
		what string
		got  steps
		want steps
	}{
		{"CPU 0 runs", r.cpus[0].steps, steps{us(0, 30, 60), []uint32{a, b, idleTask}}},
		{"CPU 1 runs", r.cpus[1].steps, steps{us(0, 40, 70), []uint32{idleTask, a, idleTask}}},
		// b is queued at 10 beside a, which leaves at 35; b sleeps at 60.
		{"CPU 0 depth", r.cpus[0].depth, steps{us(0, 10, 35, 60), []uint32{1, 2, 1, 0}}},
		{"CPU 1 depth", r.cpus[1].depth, steps{us(35, 70), []uint32{1, 0}}},
		{"a", r.Tasks[a].steps, steps{us(0, 30, 35, 40, 70), []uint32{
			taskValue(running, 0), taskValue(runnable, 0), taskValue(runnable, 1), taskValue(running, 1), taskValue(absent, 1),
		}}},
		{"b", r.Tasks[b].steps, steps{us(10, 30, 60), []uint32{taskValue(runnable, 0), taskValue(running, 0), taskValue(sleeping, 0)}}},
	} {
		if diff := cmp.Diff(c.want, c.got, cmp.AllowUnexported(steps{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
	// One task waits behind another from 10, when b joins a, to 35, when a leaves b.
	if diff := cmp.Diff([][]int64{us(10), us(35)}, [][]int64{r.waits.from, r.waits.to}); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
	// a runs 30 + 30 us and waits 10; b runs 30 and waits 20.
	if r.Tasks[a].Ran != 60_000 || r.Tasks[a].Waited != 10_000 || r.Tasks[b].Ran != 30_000 || r.Tasks[b].Waited != 20_000 {
		t.Errorf("a ran %d and waited %d, b %d and %d; want 60000, 10000, 30000, 20000",
			r.Tasks[a].Ran, r.Tasks[a].Waited, r.Tasks[b].Ran, r.Tasks[b].Waited)
	}
	want := []wake{{time: 9000, wakee: b, waker: a, target: 0, from: 0}}
	if diff := cmp.Diff(want, r.wakes, cmp.AllowUnexported(wake{})); diff != "" {
		t.Errorf("wakeups (-want +got):\n%s", diff)
	}
}

// A whole recording at once is one bucket: the sums must be those of its parts.
func TestSummaryOfSmallTrace(t *testing.T) {
	r := build(t, smallTrace)
	out := make([]summary, 1)
	const level = 20 // 1 ms
	r.cpus[0].summarise(out, 0, level)
	// a runs 30 us, b 30: neither has more than half. Idle from 60, nobody waits then.
	if s := out[0]; s.busy != 60_000 || s.idle != 0 || s.depth != 2 {
		t.Errorf("CPU 0: %+v, want 60 us busy, nothing lost, depth 2", s)
	}
	out[0] = summary{}
	r.cpus[1].summarise(out, 0, level)
	// Idle from 0 to 40 while from 10 to 35 a task waits on CPU 0: 25 us lost.
	if s := out[0]; s.busy != 30_000 || s.idle != 25_000 || s.depth != 1 || s.key != 1 {
		t.Errorf("CPU 1: %+v, want 30 us busy with task 1, 25 us lost, depth 1", s)
	}
	out[0] = summary{}
	r.Tasks[1].summarise(out, 0, level)
	if s := out[0]; s.busy != 60_000 || s.idle != 10_000 || s.depth != 1 {
		t.Errorf("a: %+v, want 60 us running, 10 us waiting, there", s)
	}
}

func TestBuildRefusesWhatIsNoRecording(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing of the scheduler", "# tracer: nop\n#\n", "no event of the scheduler"},
		{"too many threads", smallTrace, "more than 2 threads"},
	} {
		limits := DefaultLimits
		if c.name == "too many threads" {
			limits.Tasks = 2
		}
		_, err := Build(context.Background(), trace.NewTextReader(strings.NewReader(c.text)), limits, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestLargeRecordingIsShownInPart(t *testing.T) {
	limits := DefaultLimits
	limits.Changes = 5
	r, err := Build(context.Background(), trace.NewTextReader(strings.NewReader(smallTrace)), limits, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "only the first") || r.Events >= 9 {
		t.Errorf("%d events, notes %q; want fewer than 9 and a note", r.Events, r.Notes)
	}
}

func TestBuildEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Build(ctx, trace.NewTextReader(strings.NewReader(smallTrace)), DefaultLimits, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// Events are lost on CPU 0 between 20 and 30 us, where b takes a's place: a is
// known to run until 10, the last event before, b from 30 on.
func TestALossIsNotDrawn(t *testing.T) {
	r := build(t, `# tracer: nop
               a-1     [000] d....   100.000000: sched_waking: comm=x pid=9 prio=120 target_cpu=001
               a-1     [000] d....   100.000010: sched_waking: comm=x pid=9 prio=120 target_cpu=001
CPU:0 [LOST 3 EVENTS]
               b-2     [000] d....   100.000030: sched_waking: comm=x pid=9 prio=120 target_cpu=001
               b-2     [000] d....   100.000040: sched_waking: comm=x pid=9 prio=120 target_cpu=001
`)
	const a, x, b = 1, 2, 3
	want := steps{us(0, 10, 30), []uint32{a, nobody, b}}
	if diff := cmp.Diff(want, r.cpus[0].steps, cmp.AllowUnexported(steps{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Tasks[a].Ran != 10_000 || r.Tasks[x].Ran != 0 || r.Tasks[b].Ran != 10_001 {
		t.Errorf("a ran %d, x %d, b %d; want 10000, 0 and, with the last moment, 10001", r.Tasks[a].Ran, r.Tasks[x].Ran, r.Tasks[b].Ran)
	}
}

// In the recordings of real kernels, too, CPUs and tasks account for the same
// time: also where events were lost, and where perf ended them on one CPU after
// the other while threads moved on.
func TestCPUsAndTasksAgreeOnCaptures(t *testing.T) {
	files, err := filepath.Glob("../explain/testdata/*/*/trace.txt.gz")
	if err != nil || len(files) != 20 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range []string{"perf-lost.data.gz", "perf-sched.data.gz", "perf-pipe.data.gz", "trace-cmd-v7-zlib.dat", "compact.pftrace", "trace-pipe-lost.txt.gz"} {
		files = append(files, filepath.Join("..", "trace", "testdata", name))
	}
	for _, file := range files {
		r := open(t, file)
		var byCPU, byTask int64
		for i := range r.cpus {
			out := make([]summary, 1)
			r.cpus[i].summarise(out, 0, 45)
			byCPU += out[0].busy
		}
		for i := range r.Tasks[1:] {
			byTask += r.Tasks[i+1].Ran
		}
		if byCPU != byTask || byCPU == 0 {
			t.Errorf("%s: CPUs were busy for %d ns, tasks ran for %d", file, byCPU, byTask)
		}
	}
}

// open builds a recording.
func open(t *testing.T, file string) *Recording {
	t.Helper()
	reader, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }() // read only
	r, err := Build(context.Background(), reader, DefaultLimits, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
