package workload

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func mustParse(t testing.TB, line string) Benchmark {
	t.Helper()
	b, err := Parse(strings.Fields(line))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustBuild(t testing.TB, line string) *Scenario {
	t.Helper()
	s, err := mustParse(t, line).Build(Shape{CPUs: 8, Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(8); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return s
}

func TestHackbenchRunsToItsEnd(t *testing.T) {
	for _, form := range []string{"-p", "-P", "-T", "-T -p"} {
		for _, kernel := range []string{"v3.2", "v4.14", "v5.17", "v7.2"} {
			for _, size := range []string{"100", "3000", "70000"} {
				line := "hackbench -g 2 -f 3 -l 50 -s " + size + " " + form
				r := newRunner(t, kernel, mustBuild(t, line))
				r.run()
				r.mustFinish(1) // the go byte is never read
				if r.marks[startMark] < 0 || r.marks[stopMark] <= r.marks[startMark] {
					t.Errorf("%s on %s: marks %v", line, kernel, r.marks)
				}
			}
		}
	}
}

func TestHackbenchMovesEveryMessage(t *testing.T) {
	r := newRunner(t, "v5.17", mustBuild(t, "hackbench -g 2 -l 10"))
	r.run()
	// 20·20 messages a round and group, and a byte for each of 80 children and
	// for the go.
	want := int64(2*10*20*20*100 + 80 + 1)
	if r.written != want {
		t.Errorf("%d bytes written, want %d", r.written, want)
	}
}

// U6 and 6.1: the go byte wakes all children in the reverse order of their
// going to sleep.
func TestGoWakesTheChildrenInReverseOrder(t *testing.T) {
	for _, line := range []string{"hackbench -g 3 -l 1", "hackbench -g 3 -l 1 -p", "messaging -g 3 -l 1 -t"} {
		r := newRunner(t, "v5.17", mustBuild(t, line))
		var woken []TaskID
		r.onWrite = func(_ TaskID, channel int32, wakes []Wake) {
			if channel != goChannel {
				return
			}
			for _, w := range wakes {
				woken = append(woken, w.Task)
			}
		}
		r.run()
		var want []TaskID
		for task := TaskID(120); task >= 1; task-- { // they went to sleep as they were started
			want = append(want, task)
		}
		if !slices.Equal(woken, want) {
			t.Errorf("%s: woken %v", line, woken)
		}
	}
}

// mechanisms.md 13.1: without flags a group is 20 senders and 20 receivers; a loop
// is one message of 100 bytes from each sender to each receiver.
func TestHackbenchDefaults(t *testing.T) {
	s := mustBuild(t, "hackbench -g 3 -l 5")
	got := map[string]int{}
	for _, task := range s.Tasks[1:] { // the first is the parent
		got[s.Programs[task.Program].String()]++
	}
	const start = "\twrite c0 1\n\tpoll c1\nL2:\n"
	want := map[string]int{}
	for group := range 3 {
		writes := ""
		for receiver := range 20 {
			channel := 2 + 20*group + receiver
			want[fmt.Sprintf("%s\tread c%d 100\n\tloop L2 100\n\texit\n", start, channel)] = 1 // 20 senders, 5 loops
			writes += fmt.Sprintf("\twrite c%d 100\n", channel)
		}
		want[start+writes+"\tloop L2 5\n\texit\n"] = 20
	}
	if !maps.Equal(got, want) {
		t.Errorf("programs and how many tasks run them:\n%v\nwant\n%v", got, want)
	}
}

func TestHackbenchStructure(t *testing.T) {
	s := mustBuild(t, "hackbench -g 2 -f 3 -l 7 -s 50 -T -p")
	if len(s.Tasks) != 1+12 || len(s.Channels) != 2+6 {
		t.Fatalf("%d tasks and %d channels, want 13 and 8", len(s.Tasks), len(s.Channels))
	}
	programOf := func(task int) string { return s.Programs[s.Tasks[task].Program].String() }
	receiver := "\twrite c0 1\n\tpoll c1\nL2:\n\tread c6 50\n\tloop L2 21\n\texit\n"
	if got := programOf(8); got != receiver { // second of the second group
		t.Errorf("receiver:\n%s", got)
	}
	sender := "\twrite c0 1\n\tpoll c1\nL2:\n\twrite c5 50\n\twrite c6 50\n\twrite c7 50\n\tloop L2 7\n\texit\n"
	for task := 10; task <= 12; task++ {
		if got := programOf(task); got != sender {
			t.Errorf("sender:\n%s", got)
		}
	}
	for i, task := range s.Tasks {
		if task.Process != 0 || task.Forked != (i > 0) || task.Name != "hackbench" {
			t.Errorf("task %d: %+v", i, task)
		}
	}
	processes := mustBuild(t, "hackbench -g 2 -f 3")
	for i, task := range processes.Tasks {
		if task.Process != int32(i) {
			t.Errorf("process mode: task %d belongs to process %d", i, task.Process)
		}
	}
}

// W6 and 6.2: two wakes a loop, and both always sleep.
func TestPerfPipeWakesTwiceALoop(t *testing.T) {
	for _, line := range []string{"perf bench sched pipe -l 1000", "perf bench sched pipe -l 1000 -T"} {
		for _, kernel := range pipeKernels {
			r := newRunner(t, kernel, mustBuild(t, line))
			r.run()
			r.mustFinish(0)
			if r.wakes < 1999 || r.wakes > 2000 {
				t.Errorf("%s on %s: %d wakes in 1000 loops", line, kernel, r.wakes)
			}
		}
	}
}

func TestPerfPipeStructure(t *testing.T) {
	// With processes the parent asks itself, with threads it has two threads.
	for line, want := range map[string][]string{
		"perf-pipe -l 9": {
			"\tmark 0\n\tfork t1\nL2:\n\twrite c0 4\n\tread c1 4\n\tloop L2 9\n\twaitchildren\n\tmark 1\n\texit\n",
			"L0:\n\tread c0 4\n\twrite c1 4\n\tloop L0 9\n\texit\n",
		},
		"perf-pipe -T -l 9": {
			"\tmark 0\n\tfork t1\n\tfork t2\n\twaitchildren\n\tmark 1\n\texit\n",
			"L0:\n\tread c0 4\n\twrite c1 4\n\tloop L0 9\n\texit\n",
			"L0:\n\twrite c0 4\n\tread c1 4\n\tloop L0 9\n\texit\n",
		},
	} {
		s := mustBuild(t, line)
		if len(s.Tasks) != len(want) {
			t.Fatalf("%s: %d tasks, want %d", line, len(s.Tasks), len(want))
		}
		for i, task := range s.Tasks {
			if got := s.Programs[task.Program].String(); got != want[i] {
				t.Errorf("%s: task %d is\n%s", line, i, got)
			}
			if threads := len(want) == 3; (task.Process == s.Tasks[0].Process) != (threads || i == 0) {
				t.Errorf("%s: task %d belongs to process %d", line, i, task.Process)
			}
		}
	}
}

// The texts are what hackbench 2.4 and perf 6.1 print, in the shared
// observation of 1.234567890 s.
func TestReportsAreTheToolsOwn(t *testing.T) {
	obs := &Observation{Marks: []int64{1e9, 2_234_567_890}, EndTime: 3e9}
	for line, want := range map[string]string{
		"hackbench": "Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)\n" +
			"Each sender will pass 100 messages of 100 bytes\nTime: 1.234\n",
		"hackbench -p -g 1 -l 10 -s 50 -f 3": "Running in process mode with 1 groups using 6 file descriptors each (== 6 tasks)\n" +
			"Each sender will pass 10 messages of 50 bytes\nTime: 1.234\n",
		"hackbench -g 2 -l 10 -T": "Running in threaded mode with 2 groups using 40 file descriptors each (== 80 tasks)\n" +
			"Each sender will pass 10 messages of 100 bytes\nTime: 1.234\n",
		"perf bench sched messaging -l 10 -g 2": "# Running 'sched/messaging' benchmark:\n" +
			"# 20 sender and receiver processes per group\n# 2 groups == 80 processes run\n\n     Total time: 1.234 [sec]\n",
		"messaging -g 2 -t -p": "# Running 'sched/messaging' benchmark:\n" +
			"# 20 sender and receiver threads per group\n# 2 groups == 80 threads run\n\n     Total time: 1.234 [sec]\n",
		// 1234567 µs / 1000 = 1234.567; 1000 / 1.234567 = 810.0005
		"perf bench sched pipe -l 1000": "# Running 'sched/pipe' benchmark:\n" +
			"# Executed 1000 pipe operations between two processes\n\n     Total time: 1.234 [sec]\n\n" +
			"    1234.567000 usecs/op\n            810 ops/sec\n",
		"perf-pipe -T -l 1000000": "# Running 'sched/pipe' benchmark:\n" +
			"# Executed 1000000 pipe operations between two threads\n\n     Total time: 1.234 [sec]\n\n" +
			"       1.234567 usecs/op\n         810000 ops/sec\n",
	} {
		report := mustParse(t, line).Report(obs)
		if report.Text != want || report.Failure != "" {
			t.Errorf("%s prints\n%s(%s)\nwant\n%s", line, report.Text, report.Failure, want)
		}
		main := report.Metrics[0]
		if main != (Metric{Statistic: "Amean", Unit: "seconds", Better: "lower", Value: 1.23456789}) {
			t.Errorf("%s: metric %+v", line, main)
		}
	}
}

func TestUnfinishedRunsHaveNoFigure(t *testing.T) {
	for _, line := range []string{"hackbench", "messaging", "perf-pipe"} {
		b := mustParse(t, line)
		for want, marks := range map[string][]int64{
			"clock has not started": {-1, -1},
			"clock has not stopped": {5, -1},
			"took no time":          {5, 5},
		} {
			r := b.Report(&Observation{Marks: marks, EndTime: 2e9})
			if !strings.Contains(r.Failure, want) || r.Metrics != nil || strings.Contains(r.Text, "ime:") {
				t.Errorf("%s with marks %v: %+v", line, marks, r)
			}
		}
	}
}

func TestWhile1(t *testing.T) {
	s := mustBuild(t, "while1 -n 10 --time 2.5 --nice 5 --pin")
	if len(s.Tasks) != 10 || s.TimeLimit != 2_500_000_000 {
		t.Fatalf("%d tasks until %d ns", len(s.Tasks), s.TimeLimit)
	}
	for i, task := range s.Tasks {
		if task.Nice != 5 || task.StartCPU != i%8 || !slices.Equal(task.Allowed, []int{i % 8}) {
			t.Errorf("loop %d: %+v", i, task)
		}
	}
	s = mustBuild(t, "while1")
	if len(s.Tasks) != 8 || s.Tasks[7].Allowed != nil || s.Tasks[7].StartCPU != AnyCPU {
		t.Errorf("by default: %d tasks, %+v", len(s.Tasks), s.Tasks[7])
	}
	report := mustParse(t, "while1 -n 2").Report(&Observation{EndTime: 2e9, Work: []int64{1e9, 2e9}})
	if want := "while1: 2 loops for 2.000 s; CPU seconds each: least 1.000, mean 1.500, most 2.000\n"; report.Text != want {
		t.Errorf("got %q, want %q", report.Text, want)
	}
}

func TestFlagsLikeTheRealTools(t *testing.T) {
	want := messaging{comm: "hackbench", groups: 12, pairs: 5, loops: 7, datasize: 64, pipes: true, threads: true}
	for _, line := range []string{
		"hackbench -g 12 -f 5 -l 7 -s 64 -p -T",
		"hackbench -g12 -f5 -l7 -s64 -pT",
		"hackbench -pTg12 -f 5 -l 7 -s 64",
		"hackbench --groups=12 --fds 5 --loops=7 --datasize 64 --pipe --threads",
		"hackbench -P -T -g 3 -g 12 -f 5 -l 7 -s 64 -p", // the last one counts
	} {
		if got := mustParse(t, line).(*hackbench).messaging; got != want {
			t.Errorf("%s: %+v", line, got)
		}
	}
	defaults := messaging{comm: "hackbench", groups: 10, pairs: 20, loops: 100, datasize: 100}
	if got := mustParse(t, "hackbench").(*hackbench).messaging; got != defaults {
		t.Errorf("defaults: %+v", got)
	}
	if got := mustParse(t, "perf bench sched pipe").(*perfPipe); got.loops != 1_000_000 || got.threads {
		t.Errorf("perf pipe defaults: %+v", got)
	}
	if got := mustParse(t, "perf bench sched messaging --group 3 --nr_loops=9 --pipe --thread").(*perfMessaging); got.groups != 3 ||
		got.loops != 9 || !got.pipes || !got.threads {
		t.Errorf("perf messaging: %+v", got)
	}
}

func TestWrongCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"":                          "no benchmark is named: there are hackbench, perf bench sched messaging, messaging, perf bench sched pipe, perf-pipe, rt-app, schbench, pgbench, netperf, tbench, sysbench, lu, while1",
		"hackbnch -g 1":             `there is no benchmark "hackbnch -g 1": there are hackbench`,
		"perf bench sched":          `there is no benchmark "perf bench sched"`,
		"hackbench -q":              "hackbench: there is no flag -q: there are -f/--fds, -F/--fifo, -g/--groups, -l/--loops, -p/--pipe, -i/--inet, -s/--datasize, -T/--threads, -P/--process",
		"hackbench --group 3":       "hackbench: there is no flag --group: there are",
		"hackbench -pz":             "hackbench: there is no flag -z:",
		"hackbench -g":              "hackbench: -g/--groups needs an argument: NUM",
		"hackbench -g 0":            `hackbench: -g/--groups: "0" is not a whole number from 1 to`,
		"hackbench -l abc":          `hackbench: -l/--loops: "abc" is not a whole number`,
		"hackbench -g 1 extra":      `hackbench: unexpected argument "extra": there are only flags:`,
		"hackbench --pipe=yes":      "hackbench: --pipe takes no argument",
		"hackbench -i":              "hackbench: -i/--inet: hackbench over TCP is not simulated: leave the flag out",
		"hackbench -g 50000":        "hackbench: 50000 groups of 40 tasks are 2000000 tasks: at most 1000000 can be simulated",
		"perf bench sched pipe -p":  "perf bench sched pipe: there is no flag -p: there are -l/--loop, -T/--threaded",
		"messaging -s 10":           "messaging: there is no flag -s: there are -g/--group, -l/--nr_loops, -p/--pipe, -t/--thread",
		"while1 --time 0":           `while1: --time: "0" is not a number of seconds`,
		"while1 --time nan":         `while1: --time: "nan" is not a number of seconds`,
		"while1 --nice 20":          `while1: --nice: "20" is not a whole number from -20 to 19`,
		"while1 -":                  `while1: unexpected argument "-"`,
		"while1 --":                 "while1: there is no flag --:",
		"hackbench -g 999999999999": "is not a whole number from 1 to",
	} {
		_, err := Parse(strings.Fields(line))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\n got %v\nwant %s", line, err, want)
		}
	}
}

func TestHelpAndList(t *testing.T) {
	_, err := Parse([]string{"hackbench", "--help"})
	var help *HelpError
	if !errors.As(err, &help) || !strings.Contains(help.Text, "-g/--groups NUM") {
		t.Errorf("help: %v", err)
	}
	for _, info := range List() {
		for _, name := range append([]string{info.Name}, info.Aliases...) {
			if _, b, _ := find(strings.Fields(name)); b == nil || b.Name() != info.Name {
				t.Errorf("%s means %v, is listed under %s", name, b, info.Name)
			}
		}
		if info.Summary == "" || info.Flags == "" {
			t.Errorf("%s: %+v", info.Name, info)
		}
	}
}
