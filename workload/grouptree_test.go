package workload

import (
	"slices"
	"strings"
	"testing"
)

func parsedScenario(t *testing.T, command string, cpus int) *Scenario {
	t.Helper()
	b, err := Parse(strings.Fields(command))
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.Build(Shape{CPUs: cpus, Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(cpus); err != nil {
		t.Fatal(err)
	}
	return s
}

// 32 tasks on 8 CPUs: each gets 8/32 of a CPU, 125 ms in 500 ms; the group of
// two gets 250 ms, and all five 4,000 ms, the machine.
func TestTreeSharesTheMachineByTasks(t *testing.T) {
	s := parsedScenario(t, "while1 --tree 2,2,4,8,16 --own --quota 100 --period 0.5", 8)
	if len(s.Tasks) != 32 || s.Tasks[0].Cgroup != "/l1/l2/l3/g1/t1" || s.Tasks[31].Cgroup != "/l1/l2/l3/g5/t16" {
		t.Fatalf("%d tasks from %s to %s", len(s.Tasks), s.Tasks[0].Cgroup, s.Tasks[len(s.Tasks)-1].Cgroup)
	}
	total := int64(0)
	for _, l := range s.Limits {
		switch strings.Count(l.Path, "/") {
		case 4:
			total += l.Quota
		default:
			if l.Quota != 125e6 || l.Period != 500e6 {
				t.Errorf("%+v, want 125 ms in 500 ms", l)
			}
		}
	}
	if s.Limits[0] != (CgroupLimit{"/l1/l2/l3/g1", 250e6, 500e6}) || total != 4000e6 {
		t.Errorf("first limit %+v, all groups %d ns; want 250 ms and 4 s", s.Limits[0], total)
	}
	half := parsedScenario(t, "while1 --tree 2,2,4,8,16 --quota 50", 8)
	if want := (CgroupLimit{"/l1/l2/l3/g5", 200e6, 100e6}); len(half.Limits) != 5 || half.Limits[4] != want {
		t.Errorf("%d limits, the last %+v; want 5, %+v", len(half.Limits), half.Limits[len(half.Limits)-1], want)
	}
}

// -s 1k is a matrix of 16 x 16 numbers of 4 bytes: 4,096 steps of 1 ns, 1,000
// times; at 50 percent the task sleeps as long.
func TestCPUMatrixRounds(t *testing.T) {
	s := parsedScenario(t, "perf sched cpu-matrix -s1k -i 1000 -p50 --tree 1,2", 4)
	want := Program{{Op: OpRun, N: 4_096_000}, {Op: OpStamp}, {Op: OpSleep, N: 4_096_000}, {Op: OpLoop, N: Forever}}
	if !slices.Equal(s.Programs[0], want) || len(s.Tasks) != 3 {
		t.Errorf("%d tasks run\n%swant\n%s", len(s.Tasks), s.Programs[0], want)
	}
	full := parsedScenario(t, "cpu-matrix", 4)
	if len(full.Programs[0]) != 3 {
		t.Errorf("at 100 percent no task sleeps:\n%s", full.Programs[0])
	}
}

// 8 CPUs for 10 s, of which 4 s idle: 5 %. Two groups with 1 and 3 of 4 s.
func TestBurnersReportIdleTimeAndShares(t *testing.T) {
	b, err := Parse(strings.Fields("cpu-matrix --tree 1,1"))
	if err != nil {
		t.Fatal(err)
	}
	report := b.Report(&Observation{Work: []int64{1e9, 3e9}, CPUTime: 80e9, IdleTime: 4e9, EndTime: 10e9})
	got := map[string]float64{}
	for _, m := range report.Metrics {
		got[m.Statistic] = m.Value
	}
	for statistic, want := range map[string]float64{
		"Average CPU Idle": 5, "Bandwidth shared with remaining non-Idle": 95, "Bandwidth of Group 1": 25, "Bandwidth of Group 2": 75,
	} {
		if got[statistic] != want {
			t.Errorf("%s is %g, want %g", statistic, got[statistic], want)
		}
	}
	if len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "reconstruction") {
		t.Errorf("notes %q do not say that it is a reconstruction", report.Notes)
	}
}

func TestBurnersRefuseWhatCannotBe(t *testing.T) {
	for command, want := range map[string]string{
		"while1 --tree 2,0":          "is not a list of numbers of tasks",
		"while1 --tree 2 -n 3":       "leave all but one out",
		"while1 --quota 100":         "need --tree",
		"while1 --tree 2 --under x":  "is not the path of a cgroup",
		"cpu-matrix -s 0":            "is not a size",
		"cpu-matrix -s 1g":           "is not a size",
		"cpu-matrix -p 0":            "is not a whole number from 1",
		"cpu-matrix -s64m -i 999999": "at most 1000 s",
	} {
		if _, err := Parse(strings.Fields(command)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", command, err, want)
		}
	}
}
