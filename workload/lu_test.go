package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLURefusals(t *testing.T) {
	for line, want := range map[string]string{
		"lu --class X":                  `--class: "X" is no class: choose S, W, A, B, C or D`,
		"lu 4":                          `unexpected argument "4": want NAME=VALUE of the environment, or --class`,
		"lu OMP_NUM_THREADS=0":          `OMP_NUM_THREADS: "0" is not a whole number from 1 to 1024`,
		"lu OMP_PLACES=cores":           "OMP_PLACES: not simulated; there are OMP_NUM_THREADS",
		"lu OMP_PROC_BIND=spread":       `OMP_PROC_BIND: "spread" is not simulated: choose true, close or false`,
		"lu OMP_PROC_BIND=maybe":        `OMP_PROC_BIND: "maybe": choose true, close or false`,
		"lu OMP_WAIT_POLICY=lazy":       `"lazy" is no policy`,
		"lu GOMP_SPINCOUNT=-5":          `GOMP_SPINCOUNT: "-5": want a number from 0 to 30G`,
		"lu GOMP_SPINCOUNT=31G":         "want a number from 0 to 30G",
		"lu GOMP_CPU_AFFINITY=3-1":      `"3-1": want CPUs such as 0, 1-2 or 4-15:2`,
		"lu GOMP_CPU_AFFINITY=":         "lists no CPU",
		"lu --class C GOMP_SPINCOUNT=x": "GOMP_SPINCOUNT",
	} {
		if _, err := Parse(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", line, err, want)
		}
	}
	if _, err := mustParse(t, "lu GOMP_CPU_AFFINITY=0-4").Build(Shape{CPUs: 4}); err == nil || !strings.Contains(err.Error(), "names CPU 4: the machine has CPUs 0 to 3") {
		t.Errorf("a CPU that does not exist: %v", err)
	}
}

// 6.9: with 144 threads 16 have two of the 160 rows and 128 have one; beyond 160
// threads some have none.
func TestStaticSchedule(t *testing.T) {
	rows := map[int64]int{}
	for i := range 144 {
		rows[staticTurns(160, i, 144)]++
	}
	if diff := cmp.Diff(map[int64]int{2: 16, 1: 128}, rows); diff != "" {
		t.Error(diff)
	}
	if staticTurns(160, 160, 200) != 0 || staticTurns(160, 159, 200) != 1 {
		t.Error("of 200 threads the first 160 have a row each")
	}
}

// 6.9: an iteration has 9 barrier episodes, and a thread in the middle two
// hand-overs for each of 160 planes, down and up.
func TestIterationOfLU(t *testing.T) {
	team := luTeamProgram{size: luClasses["C"], threads: 144, pipeline: 144, turns: 300_000}
	for thread, handOvers := range map[int]int{0: 1, 70: 2, 143: 1} {
		barriers, flags, planes := 0, 0, int64(0)
		for _, in := range team.iteration(thread) {
			switch in.Op {
			case OpTeamMeet:
				barriers++
			case OpHandOver:
				flags++
			case OpLoop:
				planes = max(planes, in.N)
			}
		}
		if barriers != 9 || flags != 2*handOvers || planes != 160 {
			t.Errorf("thread %d: %d barriers, %d hand-overs, loops of up to %d planes; want 9, %d and 160", thread, barriers, flags, planes, 2*handOvers)
		}
	}
}

// Class C: 1984.77*162^3 - 10923.3*162^2 + 27770.9*162 - 144010 = 8,155,989,000
// operations in each of 250 iterations; in 18 s 113,278 million a second, 786.65
// for each of 144 threads.
func TestLUOutput(t *testing.T) {
	b := mustParse(t, "lu OMP_NUM_THREADS=144").(*lu)
	report := b.Report(&Observation{Marks: []int64{1e9, -1, 19e9}, Recorders: []Recorder{{Tally: 250}}})
	want := `

 NAS Parallel Benchmarks (NPB3.3-OMP) - LU Benchmark

 Size:  162x 162x 162
 Iterations:                    250
 Number of available threads:   144

 Time step    1
 Time step   20
 Time step   40
 Time step   60
 Time step   80
 Time step  100
 Time step  120
 Time step  140
 Time step  160
 Time step  180
 Time step  200
 Time step  220
 Time step  240
 Time step  250


 LU Benchmark Completed.
 Class           =                        C
 Size            =            162x 162x 162
 Iterations      =                      250
 Time in seconds =                    18.00
 Total threads   =                      144
 Avail threads   =                      144
 Mop/s total     =                113277.63
 Mop/s/thread    =                   786.65
 Operation type  =           floating point
 Version         =                    3.3.1
`
	if diff := cmp.Diff(want, report.Text); diff != "" {
		t.Error(diff)
	}
	if m := report.Metrics[0]; m.Value != 18 || m.Statistic != "time" || m.Better != "lower" {
		t.Errorf("metric %+v", m)
	}
}

// 10 iterations in the 0.8 s that were measured stand for 250: 20 s.
func TestLUStretch(t *testing.T) {
	b := mustParse(t, "lu OMP_NUM_THREADS=4").(*lu)
	b.SetStretch(Stretch{Warmup: 1e8, Measure: 8e8})
	report := b.Report(&Observation{Marks: []int64{0, 1e8, 9e8}, Recorders: []Recorder{{Tally: 10}}})
	if report.Metrics[0].Value != 20 || len(report.Notes) != 2 || !strings.Contains(report.Notes[1], "10 of 250 iterations") {
		t.Errorf("%+v, notes %q", report.Metrics, report.Notes)
	}
	s, err := b.Build(Shape{CPUs: 4, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(4); err != nil {
		t.Error(err)
	}
}
