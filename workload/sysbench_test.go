package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSysbenchRefusals(t *testing.T) {
	for line, want := range map[string]string{
		"sysbench":                                                          "sysbench: a script is missing: write oltp_read_only",
		"sysbench oltp_read_only":                                           `command "": write run behind the script`,
		"sysbench oltp_read_only prepare":                                   "prepare is not needed",
		"sysbench cpu run":                                                  `script "cpu" is not simulated: choose oltp_read_only`,
		"sysbench oltp_read_only run now":                                   `unexpected argument "now"`,
		"sysbench oltp_read_only run --threads=0":                           `--threads: "0" is not a whole number from 1 to 1024`,
		"sysbench oltp_read_only run --time=0":                              "the run would not end",
		"sysbench oltp_read_only run --db-driver=oracle":                    `--db-driver: "oracle": choose mysql or pgsql`,
		"sysbench oltp_read_only run --rate=5":                              "a rate of events is not simulated",
		"sysbench oltp_read_only run --db_ps_mode=disable":                  `"disable": choose auto`,
		"sysbench oltp_read_only run --point-selects=0 --range-selects=off": "a transaction without statements",
	} {
		if _, err := Parse(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", line, err, want)
		}
	}
}

// 6.7: 20 statements a transaction, 16 of them read-only, with BEGIN and COMMIT.
func TestStatementsOfATransaction(t *testing.T) {
	for line, want := range map[string][3]int{
		"sysbench oltp_read_only run":                      {14, 0, 2},
		"sysbench oltp_read_write run":                     {14, 4, 2},
		"sysbench oltp_read_write.lua run --skip_trx=on":   {14, 4, 0},
		"sysbench oltp_read_only run --range_selects=off":  {10, 0, 2},
		"sysbench oltp_read_only run --range-selects off":  {10, 0, 2},
		"sysbench oltp_point_select run":                   {1, 0, 0},
		"sysbench oltp_read_write run --delete_inserts=3":  {14, 8, 2},
		"sysbench --table-size=5 oltp_read_only run":       {14, 0, 2},
		"sysbench oltp_read_only run --simple_ranges=7":    {20, 0, 2},
		"sysbench oltp_read_only run --db-driver=pgsql":    {14, 0, 2},
		"sysbench oltp_read_only run --mysql-socket=/tmp/": {14, 0, 2},
	} {
		b := mustParse(t, line).(*sysbench)
		if got := [3]int{b.reads(), b.writes(), b.others()}; got != want {
			t.Errorf("%s: reads, writes and others %v, want %v", line, got, want)
		}
		statements := 0
		for _, s := range b.transaction() {
			statements += s.times
		}
		if total := want[0] + want[1] + want[2]; statements != total {
			t.Errorf("%s: the program has %d statements, want %d", line, statements, total)
		}
	}
}

// Two threads with 3 and 1 transactions of 14 reads and 2 others in 2 s: 2 a
// second. Latencies of 1, 2, 3 and 4 ms; a bucket of 2.048 to 4.096 ms is 8 us
// wide, so that the 95th percentile, the fourth sample, is 3.996 to 4.004 ms.
// Events 2 on average with deviation 1; times of 6 and 4 ms, 5 and 1.
func TestSysbenchOutput(t *testing.T) {
	obs := &Observation{Marks: []int64{1e9, 3e9, -1, -1}, Recorders: make([]Recorder, 2)}
	for _, micros := range []int64{1000, 2000, 3000} {
		obs.Recorders[0].Samples.Add(micros)
	}
	obs.Recorders[1].Samples.Add(4000)
	report := mustParse(t, "sysbench oltp_read_only --threads=2 --time=2 run").Report(obs)
	want := `sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)

Running the test with following options:
Number of threads: 2
Initializing random number generator from current time


Initializing worker threads...

Threads started!

SQL statistics:
    queries performed:
        read:                            56
        write:                           0
        other:                           8
        total:                           64
    transactions:                        4      (2.00 per sec.)
    queries:                             64     (32.00 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          2.0000s
    total number of events:              4

Latency (ms):
         min:                                  1.00
         avg:                                  2.50
         max:                                  4.00
         95th percentile:                      4.00
         sum:                                 10.00

Threads fairness:
    events (avg/stddev):           2.0000/1.00
    execution time (avg/stddev):   0.0050/0.00

`
	if diff := cmp.Diff(want, report.Text); diff != "" {
		t.Error(diff)
	}
	if m := report.Metrics[0]; m.Value != 2 || m.Statistic != "transactions" || m.Better != "higher" {
		t.Errorf("metric %+v", m)
	}
	if text := mustParse(t, "sysbench oltp_read_only run --percentile=0").Report(obs).Text; !strings.Contains(text, "         percentile stats:               disabled\n") {
		t.Errorf("without a percentile:\n%s", text)
	}
}

// A stretch measures between its own marks.
func TestSysbenchStretch(t *testing.T) {
	b := mustParse(t, "sysbench oltp_read_only run --time=30").(*sysbench)
	b.SetStretch(Stretch{Warmup: 1e9, Measure: 5e8})
	obs := &Observation{Marks: []int64{0, 2e9, 1e9, 1.5e9}, Recorders: make([]Recorder, 1)}
	for range 10 {
		obs.Recorders[0].Samples.Add(1000)
	}
	if report := b.Report(obs); report.Metrics[0].Value != 20 || len(report.Notes) != 1 {
		t.Errorf("10 transactions in 0.5 s: %+v, notes %q", report.Metrics, report.Notes)
	}
	counted := mustParse(t, "sysbench oltp_read_only run --time=0 --events=5").(*sysbench)
	counted.SetStretch(Stretch{Warmup: 1e9, Measure: 5e8})
	if counted.shortened() {
		t.Error("a number of events was cut short")
	}
}

func TestSysbenchScenariosAreValid(t *testing.T) {
	for _, line := range []string{
		"sysbench oltp_read_write run --threads=3 --db-driver=pgsql", "sysbench oltp_read_only run --threads=2",
		"sysbench oltp_point_select run --time=0 --events=7",
	} {
		s, err := mustParse(t, line).Build(Shape{CPUs: 2, Nodes: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(2); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestMergedHistogram(t *testing.T) {
	var a, b, both Histogram
	for i := range int64(100) {
		a.Add(i * 10)
		b.Add(i * 1000)
		both.Add(i * 10)
		both.Add(i * 1000)
	}
	a.Merge(&b)
	a.Merge(&Histogram{})
	if a != both || a.Sum != 100*99/2*1010 {
		t.Errorf("merged: %d samples from %d to %d, sum %d", a.Count, a.Min, a.Max, a.Sum)
	}
}
