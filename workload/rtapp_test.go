package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rtParse is rt-app over a workload of these tasks and global settings.
func rtParse(t *testing.T, tasks, global string, flags ...string) *rtApp {
	t.Helper()
	text := `{"tasks": {` + tasks + `}`
	if global != "" {
		text += `, "global": {` + global + `}`
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("w.json", []byte(text+"}"), 0o644); err != nil {
		t.Fatal(err)
	}
	b, err := Parse(append([]string{"rt-app", "w.json"}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	return b.(*rtApp)
}

func rtBuild(t *testing.T, tasks, global string, flags ...string) *Scenario {
	t.Helper()
	s, err := rtParse(t, tasks, global, flags...).Build(Shape{CPUs: 4, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(4); err != nil {
		t.Fatal(err)
	}
	return s
}

// A thread meets the others, sets what its task sets, and does its phases.
func TestRTAppProgram(t *testing.T) {
	s := rtBuild(t, `"T": {"instance": 2, "delay": 50, "priority": -5, "taskgroup": "/g", "loop": 3, "phases": {
		"a": {"loop": 10, "run": 20, "timer": {"ref": "unique", "period": 30}},
		"b": {"cpus": [1], "policy": "SCHED_BATCH", "lock": "m", "runtime": 7, "unlock": "m"}}}`, `"duration": 2`)
	want := `	epoch
	meet s2
	due w0 50µs 0s L4
	sleepuntil w0
L4:
	priority -5 0
	group g0
L6:
	affinity a0
L7:
	activate
	clockin
	run 20µs
	clockout
	due w1 30µs 50µs L14
	sleepuntil w1
	late w1
L14:
	activated 0
	loop L7 10
	affinity a1
	priority 0 1
	activate
	lock s1
	clockin
	runwall 7µs 32µs
	unlock s1
	activated 1
	loop L6 3 slot 1
	exit
`
	if diff := cmp.Diff(want, s.Programs[1].String()); diff != "" {
		t.Error(diff)
	}
	if got := s.Programs[2].String(); strings.Contains(got, "epoch") || !strings.Contains(got, "due w3 30µs") {
		t.Errorf("the second thread reads no epoch and has a timer of its own:\n%s", got)
	}
	if got, want := s.Programs[0].String(), "\tmark 0\n\tfork t1\n\tfork t2\n\tsleep 2s\n\texit\n"; got != want {
		t.Errorf("rt-app itself:\n%s\nwant\n%s", got, want)
	}
	if diff := cmp.Diff([][]int{nil, {1}, nil, {1}}, s.CPUSets); diff != "" {
		t.Error(diff)
	}
}

// Two of three who use a barrier have to wait: instances count, and each event.
func TestRTAppBarrierCount(t *testing.T) {
	s := rtBuild(t, `"A": {"instance": 2, "loop": 1, "barrier": "b"}, "B": {"loop": 1, "barrier1": "b", "barrier2": "c"}`, "")
	var words []int32
	for _, spec := range s.Syncs {
		if spec.Kind == Word {
			words = append(words, spec.Value)
		}
	}
	if want := []int32{0, 2, 0}; !cmp.Equal(words, want) { // the word that stays 0; b of 3; c of 1
		t.Errorf("words %v, want %v", words, want)
	}
}

// Forks multiply: two parents fork three times each, and each of those children
// forks two grandchildren. What forks for ever is bounded by the tool's limit.
func TestRTAppForkPools(t *testing.T) {
	s := rtBuild(t, `"grandchild": {"instance": 0, "loop": 1, "run": 1},
		"child": {"instance": 0, "loop": 2, "fork": "grandchild"},
		"parent": {"instance": 2, "loop": 3, "sleep": 10, "fork": "child"}`, "")
	// Tasks: rt-app, 2 parents, then 2 * 3 children * 2 forks and 2 * 3 children.
	if want := []Pool{{First: 3, Count: 12}, {First: 15, Count: 6}}; !cmp.Equal(s.Pools, want) {
		t.Errorf("pools %v, want %v", s.Pools, want)
	}
	s = rtBuild(t, `"bomb": {"sleep": 10, "fork": "bomb"}`, "")
	if want := []Pool{{First: 2, Count: 1024}}; !cmp.Equal(s.Pools, want) {
		t.Errorf("pools %v, want %v", s.Pools, want)
	}
}

// A file without a duration is stopped after ten seconds if it never ends, else
// when all of it must be over: a second and twice the sum.
func TestRTAppStop(t *testing.T) {
	for _, c := range []struct {
		tasks, global string
		flags         []string
		want          int64
	}{
		{`"T": {"run": 1000}`, "", nil, 10e9},
		{`"T": {"loop": 1, "phases": {"p": {"loop": -1, "run": 1}}}`, "", nil, 10e9},
		{`"T": {"run": 1000}`, "", []string{"--stop", "0.5"}, 5e8},
		{`"T": {"run": 1000}`, `"duration": 7`, nil, 0}, // ends by itself
		{`"T": {"instance": 2, "loop": 100, "run": 1000, "sleep": 4000}`, "", nil, 1e9 + 2*2*100*5e6},
	} {
		if got := rtBuild(t, c.tasks, c.global, c.flags...).TimeLimit; got != c.want {
			t.Errorf("%s, %s, %v: stops at %d ns, want %d", c.tasks, c.global, c.flags, got, c.want)
		}
	}
}

func TestRTAppNamesWhatItLeavesOut(t *testing.T) {
	b := rtParse(t, `"T": {"policy": "SCHED_DEADLINE", "dl-runtime": 5, "nodes_membind": [0], "util_max": 9, "iorun": 1, "resume": "U"},
		"V": {"dl-runtime": 100, "run": 1}`,
		`"ftrace": "main", "gnuplot": true, "pi_enabled": true, "io_device": "/dev/sda", "frag": 1`)
	var got []string
	for _, gap := range unsimulated(b.file) {
		_, gap, _ = strings.Cut(gap, ": ")
		gap, _, _ = strings.Cut(gap, ":")
		got = append(got, gap)
	}
	want := []string{`"frag"`, "ftrace", "gnuplot", "pi_enabled", "io_device", "SCHED_DEADLINE", "util_max", "nodes_membind", "resume", "dl-runtime"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	b = rtParse(t, `"T": {"run": 1}`, `"default_policy": "SCHED_RR"`)
	if got, want := unsimulated(b.file), []string{"w.json:1:12: SCHED_RR: only the fair class is simulated; the thread runs as SCHED_OTHER with nice -20"}; !cmp.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	b = rtParse(t, `"T": {"run": 1, "sleep": 1}`, `"lock_pages": true`)
	if got := unsimulated(b.file); len(got) != 0 {
		t.Errorf("a workload that is simulated whole leaves out %v", got)
	}
}

func TestRTAppRefusesWhatTheKernelWould(t *testing.T) {
	for tasks, want := range map[string]string{
		`"T": {"cpus": [4], "run": 1}`:                                                  `w.json:1:26: there is no CPU 4: the machine has 0 to 3`,
		`"T": {"priority": 20, "run": 1}`:                                               `w.json:1:30: priority 20: SCHED_OTHER takes -20 to 19`,
		`"T": {"policy": "SCHED_FIFO", "priority": -1, "run": 1}`:                       `w.json:1:54: priority -1: SCHED_FIFO takes 0 to 99`,
		`"T": {"taskgroup": "/g", "policy": "SCHED_RR", "run": 1}`:                      `w.json:1:37: a taskgroup holds threads of the fair class only, not of SCHED_RR`,
		`"T": {"wait": {"ref": "c", "mutex": "m"}}, "U": {"suspend"}, "c": {"suspend"}`: `w.json:1:79: condition "c" is waited for with mutex "c" here and with "m" elsewhere; one condition takes one mutex`,
	} {
		_, err := rtParse(t, tasks, "").Build(Shape{CPUs: 4, Nodes: 1})
		if err == nil {
			t.Errorf("%s: accepted", tasks)
			continue
		}
		if got, _, _ := strings.Cut(err.Error(), "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tasks, got, want)
		}
	}
	tasks := `"T": {"instance": 16384, "run": 1}`
	for i := range 4 {
		tasks += fmt.Sprintf(`, "T%d": {"instance": 16384, "run": 1}`, i)
	}
	if _, err := rtParse(t, tasks, "").Build(Shape{CPUs: 4, Nodes: 1}); err == nil || err.Error() != "w.json: 81920 threads: at most 65536 can be simulated" {
		t.Errorf("81920 threads: %v", err)
	}
}

// Priorities follow the phases: one without a policy keeps that of the phase
// before it, one without a priority begins at nice 0.
func TestRTAppPriorityOfPhases(t *testing.T) {
	s := rtBuild(t, `"T": {"priority": 3, "phases": {"a": {"policy": "SCHED_BATCH", "run": 1}, "b": {"priority": 7, "run": 1}, "c": {"run": 1},
		"d": {"policy": "SCHED_IDLE", "priority": 1, "run": 1}, "e": {"policy": "SCHED_OTHER", "run": 1}}}`, "")
	var got [][2]int64
	for _, in := range s.Programs[1] {
		if in.Op == OpPriority {
			got = append(got, [2]int64{in.N, in.M})
		}
	}
	want := [][2]int64{{3, 0}, {0, int64(Batch)}, {7, int64(Batch)}, {7, int64(Idle)}, {0, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRTAppRunsBesideAnother(t *testing.T) {
	s := rtBuild(t, `"T": {"run": 1, "taskgroup": "/a", "cpus": [0], "timer": {"ref": "unique", "period": 5}, "fork": "U"}, "U": {"instance": 0, "loop": 1, "run": 1}`, `"duration": 1`)
	other := rtBuild(t, `"T": {"run": 1, "taskgroup": "/b", "cpus": [1], "timer": {"ref": "unique", "period": 5}, "sem_post": "s", "fork": "U"}, "U": {"instance": 0, "loop": 1, "run": 1}`, `"duration": 1`)
	mine := len(s.Tasks)
	s.AddBackground(other)
	if err := s.Validate(4); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range s.Programs[mine+1] {
		switch in.Op {
		case OpGroup, OpAffinity, OpSleepUntil, OpForkNext:
			got = append(got, in.String())
		}
	}
	if want := []string{"group g1", "affinity a1", "sleepuntil w1", "forknext p1"}; !cmp.Equal(got, want) {
		t.Errorf("operands %v, want %v", got, want)
	}
	if got := s.Pools[1].First; int(got) != mine+2 {
		t.Errorf("the second pool begins at task %d, want %d", got, mine+2)
	}
}

func TestInputFile(t *testing.T) {
	for command, want := range map[string]int{
		"rt-app a.json": 1, "rt-app --stop 3 a.json": 3, "rt-app a.json -l 50": 1,
		"rt-app": -1, "rt-app --stop": -1, "hackbench -g 1": -1, "nothing a.json": -1,
	} {
		if got := InputFile(strings.Fields(command)); got != want {
			t.Errorf("%s: word %d, want %d", command, got, want)
		}
	}
}

// The line of a log as the tool's printf makes it, with a negative slack.
func TestRTAppLogLine(t *testing.T) {
	b := rtParse(t, `"T": {"loop": 1, "run": 20000, "timer": {"ref": "unique", "period": 100000}}`, `"calibration": 217, "logdir": "logs", "log_basename": "base"`)
	if _, err := b.Build(Shape{CPUs: 1, Nodes: 1}); err != nil {
		t.Fatal(err)
	}
	files := b.Logs(&Observation{Marks: []int64{1_000}, Activations: []Activation{
		{Task: 1, Start: 504549567051499, End: 504549666016500, RunMicros: 19935, SlackMicros: -7, LateMicros: 266},
		{Task: 99, Start: 1, End: 2},
	}})
	if len(files) != 1 || files[0].Path != filepath.Join("logs", "base-T-0.log") || b.LogFolder() != "logs" {
		t.Fatalf("files %v in %s", files, b.LogFolder())
	}
	var text strings.Builder
	if err := files[0].Write(&text); err != nil {
		t.Fatal(err)
	}
	// Halves of a microsecond go up: 51.499 to 51, 16.5 to 17. perf is 20000 / 217.
	want := "#idx     perf      run   period           start             end          rel_st      slack c_duration   c_period     wu_lat\n" +
		"   0       92    19935    98965    504549567051    504549666017    504549567050         -7      20000     100000        266\n"
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
}

func TestMicrosRoundHalvesAway(t *testing.T) {
	for ns, want := range map[int64]int64{0: 0, 499: 0, 500: 1, 1499: 1, 1500: 2, -499: 0, -500: -1, -1500: -2} {
		if got := MicrosOf(ns); got != want {
			t.Errorf("%d ns: %d us, want %d", ns, got, want)
		}
	}
}

// Semaphores: posts are remembered, a wait that finds none sleeps, and who was
// woken may find that another one was faster.
func TestSemaphore(t *testing.T) {
	s := NewSyncs(&Scenario{Syncs: []SyncSpec{{Kind: Semaphore, Value: 1}}, Tasks: make([]TaskSpec, 3)})
	var out Outcome
	s.SemWait(0, 0, false, &out)
	if out.Blocked || s.Value(0) != 0 {
		t.Fatalf("the first wait takes the 1: blocked %v, value %d", out.Blocked, s.Value(0))
	}
	s.SemWait(0, 1, false, &out)
	if !out.Blocked || out.Calls != 1 {
		t.Fatalf("the second wait sleeps in one call: blocked %v, %d calls", out.Blocked, out.Calls)
	}
	s.SemPost(0, &out)
	if len(out.Wakes) != 1 || out.Wakes[0].Task != 1 || out.Calls != 1 {
		t.Fatalf("the post wakes task 1 in one call: %+v", out)
	}
	s.SemWait(0, 2, false, &out) // comes by before task 1 runs
	if out.Blocked || s.Value(0) != 0 {
		t.Fatalf("task 2 is faster: blocked %v, value %d", out.Blocked, s.Value(0))
	}
	s.SemWait(0, 1, true, &out)
	if !out.Blocked {
		t.Fatal("task 1 finds nothing and does not sleep")
	}
	s.SemPost(0, &out)
	s.SemWait(0, 1, true, &out)
	if out.Blocked || s.Value(0) != 0 {
		t.Fatalf("task 1 takes its post: blocked %v, value %d", out.Blocked, s.Value(0))
	}
	s.SemPost(0, &out)
	if out.Calls != 0 || s.Value(0) != 1 {
		t.Fatalf("nobody waits: %d calls, value %d, want 0 and 1", out.Calls, s.Value(0))
	}
}

func TestOperationsOfPeriodicTasksAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"runwall 1ms 0s\nexit":            "instruction 0 (runwall): 1000000 ns in pieces of 0 ns: want at least 0 in pieces of at least 1",
		"due w2 1ms 0s a\na: exit":        "instruction 0 (due): timer 2 does not exist: declared are 0 to 1",
		"late w5\nexit":                   "instruction 0 (late): timer 5 does not exist: declared are 0 to 1",
		"forknext p1\nexit":               "instruction 0 (forknext): pool 1 does not exist: declared are 0 to 0",
		"affinity a2\nexit":               "instruction 0 (affinity): CPU set 2 does not exist: declared are 0 to 1",
		"group g1\nexit":                  "instruction 0 (group): group 1 does not exist: declared are 0 to 0",
		"priority 20 0\nexit":             "instruction 0 (priority): nice 20 and policy 0: want -20 to 19 and a policy of the fair class",
		"syscalls 0\nexit":                "instruction 0 (syscalls): 0 calls: want at least 1",
		"touch 0 5 block\nexit":           "instruction 0 (touch): 0 bytes of a buffer of 5: want at least 1 of each, and a known way",
		"add s1 1\nexit":                  "instruction 0 (add): object 1 is a mutex, not a word",
		"semwait s0\nexit":                "instruction 0 (semwait): object 0 is a word, not a semaphore",
		"a: priority 1 0\nloop a 2\nexit": "instruction 1 (loop): the loop body takes no time: put a run, sleep, read, write or poll in it, where no branch skips it",
	} {
		p, err := ParseProgram(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if err := p.Validate(anyBounds); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
	for want, s := range map[string]Scenario{
		"pool 0: tasks 1 to 3: declared are 1":                 {Periodic: Periodic{Pools: []Pool{{First: 1, Count: 3}}}},
		"CPU set 0 is empty":                                   {Periodic: Periodic{CPUSets: [][]int{{}}}},
		"CPU set 0: CPU 4 does not exist: declared are 0 to 3": {Periodic: Periodic{CPUSets: [][]int{{4}}}},
	} {
		s.Programs = []Program{{{Op: OpExit}}}
		s.Tasks = []TaskSpec{{StartCPU: AnyCPU}}
		if err := s.Validate(4); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Every published example becomes a scenario that can run.
func TestPublishedRTAppFilesBuild(t *testing.T) {
	shared := os.Getenv("SCHEDLAB_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(shared, "inputs", "rt-app", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Logf("left out: no shared inputs at %s; set SCHEDLAB_SHARED", shared)
	}
	for _, file := range files {
		b, err := Parse([]string{"rt-app", file})
		if err != nil {
			t.Error(err)
			continue
		}
		s, err := b.Build(Shape{CPUs: 8, Nodes: 1})
		if err != nil {
			t.Error(err)
			continue
		}
		if err := s.Validate(8); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
