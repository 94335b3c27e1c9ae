package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parseSchbench(t *testing.T, flags string) *schbench {
	t.Helper()
	b, err := Parse(append([]string{"schbench"}, strings.Fields(flags)...))
	if err != nil {
		t.Fatal(err)
	}
	return b.(*schbench)
}

// 6.3: what mmtests leaves to the tool.
func TestSchbenchDefaults(t *testing.T) {
	want := schbench{messageThreads: 2, workers: 16, runtime: 30, warmup: 5, interval: 10, sleep: 30_000, think: 30_000}
	if got := *parseSchbench(t, ""); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSchbenchStructure(t *testing.T) {
	s, err := parseSchbench(t, "-m 2 -t 3 -c 10000 -s 20000 -C 5").Build(Shape{CPUs: 8, Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(8); err != nil {
		t.Fatal(err)
	}
	if got, want := len(s.Tasks), 1+2*(1+3); got != want {
		t.Errorf("%d tasks, want %d: main and two message threads with three workers each", got, want)
	}
	for i := range s.Tasks {
		if s.Tasks[i].Process != 0 {
			t.Errorf("task %d is of process %d: all are threads of one", i, s.Tasks[i].Process)
		}
	}
	// Objects: 0 the stop flag, 1 the stack of the first message thread, 2 its
	// word, 3 to 5 those of its workers; then the second one's from 6 on. Its
	// workers are the tasks 6 to 8, itself task 5. The jitter of 20 ms of sleep
	// is 0 to 4999 us; -C does nothing.
	wantMessage := `	fork t6
	fork t7
	fork t8
L3:
	store s7 0
	take s6
	posttaken s6
	branch s0 1 L11
	await s7
	spin 30ms
	sleep 20ms..24.999ms
	loop L3 forever
L11:
	take s6
	posttaken s6
	post s8
	post s9
	post s10
	waitchildren
	exit
`
	if diff := cmp.Diff(wantMessage, s.Programs[5].String()); diff != "" {
		t.Errorf("message thread (-want +got):\n%s", diff)
	}
	wantWorker := `L0:
	branch s0 1 L10
	store s9 0
	stamp
	push s6 s9
	post s7
	branch s0 1 L7
	await s9
L7:
	spin 10ms
	sample r0 10ms
	loop L0 forever
L10:
	exit
`
	if diff := cmp.Diff(wantWorker, s.Programs[7].String()); diff != "" {
		t.Errorf("second worker of the second message thread (-want +got):\n%s", diff)
	}
}

// The main thread looks at the clock a little after each whole second.
func TestSchbenchPolls(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		// "." a poll that does nothing, w the end of the warm-up, r a report,
		// z samples forgotten.
		{"", "....." + "wz" + "...." + "r" + "........." + "r" + "........."},
		{"-r 12 -w 0 -i 5", ".....r....r."},
		{"-r 8 -w 2 -i 2", "..wzr.r.r"}, // the poll at 2 s is taken by the warm-up
		{"-r 7 -w 0 -z 3", "...z..z"},
		{"-r 7 -w 2 -z 3", "..wz..z."},
		{"-r 7 -w 0 -i 3 -z 3", "...rz..rz"},
	} {
		var got strings.Builder
		for _, p := range parseSchbench(t, c.flags).polls() {
			if p == (poll{}) {
				got.WriteByte('.')
			}
			for _, mark := range []struct {
				set  bool
				name string
			}{{p.warm, "w"}, {p.report, "r"}, {p.forget, "z"}} {
				if mark.set {
					got.WriteString(mark.name)
				}
			}
		}
		if got.String() != c.want {
			t.Errorf("%q: polls %s, want %s", c.flags, &got, c.want)
		}
	}
}

func TestSchbenchText(t *testing.T) {
	b := parseSchbench(t, "-t 4 -r 12 -w 5 -i 10")
	var r Recorder
	for v := range int64(200) {
		r.Samples.Add(v + 1)
	}
	r.Samples.Add(9130)
	var early Histogram
	early.Add(7)
	r.Snapshots = []Histogram{early}
	report := b.Report(&Observation{Recorders: []Recorder{r}})
	// 201 samples: half of them are 100.5, so the 101st; 99.5 % are 199.995, the
	// 200th; 99.9 % are 200.8, the last, shown as the middle of its bucket.
	want := `warmup done, zeroing stats
Latency percentiles (usec) runtime 10 (s) (1 total samples)
	  50.0th: 7          (1 samples)
	  75.0th: 7          (0 samples)
	  90.0th: 7          (0 samples)
	  95.0th: 7          (0 samples)
	* 99.0th: 7          (0 samples)
	  99.5th: 7          (0 samples)
	  99.9th: 7          (0 samples)
	  min=7, max=7
Latency percentiles (usec) runtime 12 (s) (201 total samples)
	  50.0th: 101        (101 samples)
	  75.0th: 151        (50 samples)
	  90.0th: 181        (30 samples)
	  95.0th: 191        (10 samples)
	* 99.0th: 199        (8 samples)
	  99.5th: 200        (1 samples)
	  99.9th: 9136       (1 samples)
	  min=1, max=9130
`
	if diff := cmp.Diff(want, report.Text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantLast := Metric{Statistic: "Lat", Label: "99.9th-qrtle-4", Unit: "microseconds", Better: "lower", Value: 9136}
	if got := report.Metrics[6]; got != wantLast {
		t.Errorf("last metric %+v, want %+v", got, wantLast)
	}
}

func TestSchbenchWithoutSamplesFails(t *testing.T) {
	b := parseSchbench(t, "")
	if r := b.Report(&Observation{Recorders: make([]Recorder, 1)}); r.Failure == "" {
		t.Error("no samples, no failure")
	}
}

func TestSchbenchStretch(t *testing.T) {
	b := parseSchbench(t, "-m 1 -t 1")
	b.SetStretch(Stretch{Warmup: 1e9, Measure: 2e9})
	s, err := b.Build(Shape{CPUs: 2, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := "\tfork t1\n\tmark 0\n\tsleep 1s\n\tforget r0\n\tsleep 2s\n\tstore s0 1\n\tpost s2\n\twaitchildren\n\texit\n"
	if diff := cmp.Diff(want, s.Programs[0].String()); diff != "" {
		t.Errorf("main thread (-want +got):\n%s", diff)
	}
	if s.Work.Lasts != 30e9 {
		t.Errorf("the whole run lasts %d ns, want the 30 s of -r", s.Work.Lasts)
	}
	b.SetStretch(Stretch{Warmup: 10e9, Measure: 20e9}) // no shorter than -r 30
	whole, err := b.Build(Shape{CPUs: 2, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(whole.Programs[0]); n < 30 {
		t.Errorf("the main thread of the whole run has %d instructions, want one sleep a second", n)
	}
}

func TestSchbenchRefuses(t *testing.T) {
	for flags, want := range map[string]string{
		"-R 10":              "-R/--rps: requests per second is not simulated",
		"-s 3":               `-s/--sleeptime: "3" is not a whole number from 4`,
		"-m 90000 -t 20":     "1890000 threads: at most 1000000 can be simulated",
		"--message-thread 2": "there is no flag --message-thread",
	} {
		_, err := Parse(append([]string{"schbench"}, strings.Fields(flags)...))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", flags, err, want)
		}
	}
}
