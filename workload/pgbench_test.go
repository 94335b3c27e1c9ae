package workload

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The document of 2013 calls its databases 22 MB, 7484 MB and 15 GB, as
// pg_size_pretty rounds them; pgbench makes them with scales 1, 500 and 1000.
func TestDatabaseSizes(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ scale, least, most int64 }{
		{1, 21 * mib, 23 * mib},
		{500, 7480 * mib, 7488 * mib},
		{1000, 14_848 * mib, 15_872 * mib}, // 14.5 to 15.5 GiB
	} {
		if got := (pgDatabase{c.scale}).bytes(); got < c.least || got > c.most {
			t.Errorf("scale %d: %d bytes, want %d to %d", c.scale, got, c.least, c.most)
		}
	}
}

// 61 rows a page; 366 entries a leaf, 285 a page above it. 100,000 rows need 274
// leaves, which one page holds; 50 million 136,612, which 480 hold, which 2 hold.
func TestDatabasePages(t *testing.T) {
	if got := (pgDatabase{1}).heapPages(); got != 1640 {
		t.Errorf("scale 1: %d pages of rows, want 1640", got)
	}
	for scale, want := range map[int64][]int64{
		1:   {1, 274},
		500: {1, 2, 480, 136_613},
	} {
		if diff := cmp.Diff(want, (pgDatabase{scale}).indexLevels()); diff != "" {
			t.Errorf("scale %d: levels of the index: %s", scale, diff)
		}
	}
}

// Shared buffers have 4096 pages. All 1915 of scale 1 fit. Of scale 500 the 483
// pages above the leaves do, 3613 leaves of 136,613 (so 973 in a thousand are
// missing), and no page of rows.
func TestPagesReadFromThePageCache(t *testing.T) {
	for scale, want := range map[int64]int64{1: 0, 2: 0, 500: 973 + 1000} {
		if got := (pgDatabase{scale}).pagesRead(); got != want {
			t.Errorf("scale %d: %d thousandths of a page are read, want %d", scale, got, want)
		}
	}
	if got := (pgDatabase{1}).hotBytes(); got != (1640+275)*8192 {
		t.Errorf("scale 1: %d bytes are in use, want those of 1915 pages", got)
	}
	if got := (pgDatabase{500}).hotBytes(); got != 32<<20 {
		t.Errorf("scale 500: %d bytes are in use, want shared buffers", got)
	}
}

func TestPgbenchRefusals(t *testing.T) {
	for line, want := range map[string]string{
		"pgbench":                       "pgbench: the TPC-B script is not simulated: add -S",
		"pgbench -S -c 5 -j 2":          "pgbench: number of clients (5) must be a multiple of number of threads (2)",
		"pgbench -S -t 5 -T 2":          "not both",
		"pgbench -S -c 0":               `-c: "0" is not a whole number from 1 to 1024`,
		"pgbench -S -M extended":        "extended query mode: choose simple or prepared, or is not simulated: leave the flag out",
		"pgbench -S -M fast":            `"fast" is no query mode: choose simple or prepared`,
		"pgbench -i -s 10":              "-i",
		"pgbench -S -f script.sql":      "a script from a file is not simulated",
		"pgbench -S -P 1":               "there is no flag -P: there are -S, -c",
		"pgbench -S bench":              `unexpected argument "bench"`,
		"pgbench -S -s 200000":          "from 1 to 100000",
		"pgbench -S -c 4 -j 8":          "number of clients (4) must be a multiple of number of threads (8)",
		"pgbench -S -T 60 -c 8 -j 2 -C": "a connection for each transaction is not simulated",
	} {
		if _, err := Parse(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", line, err, want)
		}
	}
}

// 21,617 transactions in 2 s, of which the first half second went into
// connecting: 10808.5 a second with it, 14411.333 without.
func TestPgbenchOutput(t *testing.T) {
	obs := &Observation{Marks: []int64{1e9, 1.5e9, 3e9, -1, -1}, Recorders: []Recorder{{Tally: 21_617}}}
	report := mustParse(t, "pgbench -S -n -c 2 -T 2 -s 500").Report(obs)
	want := `transaction type: SELECT only
scaling factor: 500
query mode: simple
number of clients: 2
number of threads: 1
duration: 2 s
number of transactions actually processed: 21617
tps = 10808.500000 (including connections establishing)
tps = 14411.333333 (excluding connections establishing)
`
	if diff := cmp.Diff(want, report.Text); diff != "" {
		t.Error(diff)
	}
	if m := report.Metrics[0]; m.Value != 10808.5 || m.Statistic != "tps" || m.Better != "higher" {
		t.Errorf("metric %+v", m)
	}
	report = mustParse(t, "pgbench -S -c 4 -j 2 -t 5 -M prepared").Report(&Observation{Marks: []int64{0, 1e9, 2e9, -1, -1}, Recorders: []Recorder{{Tally: 20}}})
	for _, line := range []string{"query mode: prepared\n", "number of threads: 2\n", "number of transactions per client: 5\n", "number of transactions actually processed: 20/20\n", "tps = 10.000000 (including"} {
		if !strings.Contains(report.Text, line) {
			t.Errorf("%q is not in\n%s", line, report.Text)
		}
	}
}

// A stretch of a run of some time measures between its own marks.
func TestPgbenchStretch(t *testing.T) {
	b := mustParse(t, "pgbench -S -T 60").(*pgbench)
	b.SetStretch(Stretch{Warmup: 1e9, Measure: 2e9})
	report := b.Report(&Observation{Marks: []int64{0, 1e6, 3e9 + 1e6, 1e9, 3e9}, Recorders: []Recorder{{Tally: 200}}})
	if report.Metrics[0].Value != 100 || len(report.Notes) != 1 {
		t.Errorf("200 transactions in the 2 s that were measured: %+v, notes %q", report.Metrics, report.Notes)
	}
	counted := mustParse(t, "pgbench -S -t 60").(*pgbench)
	counted.SetStretch(Stretch{Warmup: 1e9, Measure: 2e9})
	if counted.shortened() {
		t.Error("a number of transactions was cut short")
	}
	report = b.Report(&Observation{Marks: []int64{0, 1e6, 3e9, 1e9, 2e9}, Recorders: []Recorder{{}}})
	if !strings.Contains(report.Failure, "no transaction was completed") {
		t.Errorf("no transaction: %q", report.Failure)
	}
}

// Clients 2 and 3 of 4 belong to the second of two threads.
func TestPgbenchTasks(t *testing.T) {
	s, err := mustParse(t, "pgbench -S -c 4 -j 2 -t 3").Build(Shape{CPUs: 4, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(4); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, task := range s.Tasks {
		names = append(names, task.Name)
	}
	if got := strings.Join(names, " "); got != "pgbench pgbench pgbench postgres postgres postgres postgres postgres" {
		t.Errorf("tasks %s: want the main thread, the alarm, a thread, the postmaster, four backends", got)
	}
	second := s.Programs[s.Tasks[2].Program].String()
	if !strings.Contains(second, "select c7 2\n") || strings.Contains(second, "c5 ") {
		t.Errorf("the second thread must look after clients 2 and 3 (channels 7 and 8) only:\n%s", second)
	}
}
