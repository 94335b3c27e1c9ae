package experiment

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/schedlab/schedlab/experiments"
	"github.com/schedlab/schedlab/published"
	"github.com/schedlab/schedlab/stats"
)

// rowsOf lists the rows of each benchmark of a built-in experiment.
func rowsOf(t *testing.T, part string) map[string][]string {
	t.Helper()
	_, text, err := experiments.File(part)
	if err != nil {
		t.Fatal(err)
	}
	plan := mustPlan(t, string(text), Options{})
	rows := map[string][]string{}
	for i, b := range plan.experiment.benchmarks {
		rows[b.name.value] = rowLabels(plan.rows[i])
	}
	return rows
}

// series is seq's list: from first to last in steps.
func series(first, step, last int) (list []int) {
	for n := first; n <= last; n += step {
		list = append(list, n)
	}
	return list
}

// doubling is 1, 2, 4, ... below most, and most.
func doubling(most int) (list []int) {
	for n := 1; n < most; n *= 2 {
		list = append(list, n)
	}
	return append(list, most)
}

// mechanisms.md 13.1 and 13.5: how mmtests makes the lists of a machine with 96
// CPUs on 2 nodes. hackbench: seq 1 3 8, 12 9 32 and 48 31 up to the most, and
// that, min(4·96, 296); tbench: powers of two up to 4·96; netperf: its nine sizes;
// schbench: powers of two up to the CPUs of a node less one.
func TestRowsAreThoseOfMmtests(t *testing.T) {
	const cpus, nodes = 96, 2
	most := min(4*cpus, 296)
	groups := slices.Concat(series(1, 3, 8), series(12, 9, 32), series(48, 31, most))
	if !slices.Contains(groups, most) {
		groups = append(groups, most)
	}
	want := map[string][]int{
		"tbench4 Throughput": doubling(4 * cpus),
		"netperf-udp":        {64, 128, 256, 1024, 2048, 3312, 4096, 8192, 16384},
		"netperf-tcp":        {64, 128, 256, 1024, 2048, 3312, 4096, 8192, 16384},
		"schbench":           doubling(cpus/nodes - 1),
	}
	for _, way := range []string{"process-pipes", "process-sockets", "thread-pipes", "thread-sockets"} {
		want["hackbench-"+way] = groups
	}
	printed := publishedRows(t, "sched-idle-balance.csv")
	simulated := rowsOf(t, "sched-idle-balance")
	for name, rows := range rowsOf(t, "sched-idle-balance-net") {
		simulated[name] = rows
	}
	for name, numbers := range want {
		var list []string
		for _, n := range numbers {
			list = append(list, strconv.Itoa(n))
		}
		if !slices.Equal(simulated[name], list) {
			t.Errorf("%s: the experiment has %v, want %v", name, simulated[name], list)
		}
		if !slices.Equal(printed[name], list) {
			t.Errorf("%s: the document has %v, want %v", name, printed[name], list)
		}
	}
	if len(simulated) != len(want) {
		t.Errorf("%d benchmarks, want %d", len(simulated), len(want))
	}
}

// publishedRows lists the rows of each benchmark of a published table: the last
// part of "99.0th-qrtle-47" and "send-64", the whole of "296".
func publishedRows(t *testing.T, name string) map[string][]string {
	t.Helper()
	data, err := published.Table(name)
	if err != nil {
		t.Fatal(err)
	}
	records, err := stats.ReadRecords(name, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, r := range records {
		label := r.Row[strings.LastIndex(r.Row, "-")+1:]
		if _, err := strconv.Atoi(label); err == nil && !slices.Contains(rows[r.Benchmark], label) {
			rows[r.Benchmark] = append(rows[r.Benchmark], label)
		}
	}
	return rows
}
