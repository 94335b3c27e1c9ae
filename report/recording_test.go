package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlab/schedlab/occupancy"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/stats"
)

// snapshots are two moments of a machine with two CPUs: 10 searches that look at
// 40 CPUs in the first second, then none.
func snapshots() []*sched.Snapshot {
	at := func(now int64) *sched.Snapshot {
		s := &sched.Snapshot{Now: now, NumCPUs: 2, CPUs: make([]sched.CPUSnapshot, 2)}
		for i := range s.CPUs {
			s.CPUs[i].CPU = i
			s.CPUs[i].Stats = sched.CPUStats{SISSearch: 5, SISDomainSearch: 5, SISScanned: 20}
		}
		return s
	}
	return []*sched.Snapshot{at(1e9), at(2e9)}
}

// 10 searches by 40 CPUs looked at are 25 %. The second interval has no search
// and is left out.
func TestSISOfMachineReadsBack(t *testing.T) {
	var b bytes.Buffer
	if err := SISOfMachine(&b, snapshots()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 3 {
		t.Errorf("%d lines, want the header and one an interval", n)
	}
	moments, err := ReadSISOfMachine("sis.csv", &b)
	if err != nil {
		t.Fatal(err)
	}
	if len(moments) != 1 || moments[0].From != 0 || moments[0].To != 1 || moments[0].Searches != 10 || moments[0].Ratios[0].Value != 25 {
		t.Errorf("%+v", moments)
	}
}

func TestDamagedSISFilesAreNamed(t *testing.T) {
	var b bytes.Buffer
	if err := SISOfMachine(&b, snapshots()); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	for text, want := range map[string]string{
		"":                                      "sis.csv: no header line",
		"from,to\n0,1\n":                        `sis.csv:2: there is no column "SIS Search"`,
		strings.Replace(good, ",10,", ",x,", 1): "sis.csv:2: ",
		good + "1,2\n":                          "sis.csv: record on line 4",
	} {
		if _, err := ReadSISOfMachine("sis.csv", strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// recorded is a table with latencies and recordings of two of its variants.
func recorded() (stats.Table, *Recording) {
	table := documentTable()
	l := &stats.Latency{}
	l.Add(1000, 99)
	l.Add(50_000, 1)
	table.Latencies = []stats.LatencyRow{{Label: "1", ByColumn: []*stats.Latency{l, nil, nil}}, {Label: "12", ByColumn: []*stats.Latency{l, l, nil}}}
	busy := occupancy.Slice{In: [occupancy.NumStates]int64{0, 0, 1000, 0}}
	idle := occupancy.Slice{In: [occupancy.NumStates]int64{1000, 0, 0, 0}, Missed: 500}
	m := &occupancy.Map{Width: 1000, Length: 2000, CPUs: [][]occupancy.Slice{{busy, busy}, {idle, idle}}}
	sis := []SISMoment{{From: 0, To: 1e-6, Searches: 1, Ratios: (stats.SIS{}).Ratios()}, {From: 1e-6, To: 2e-6, Searches: 1, Ratios: (stats.SIS{}).Ratios()}}
	return table, &Recording{Row: "12", Variants: []RecordedVariant{{Column: 0, Map: m, SIS: sis}, {Column: 1, Map: m}}}
}

// A recorded table has every chart; the latencies are those of the recorded row;
// of two CPUs one was idle, half of that time beside a waiting task.
func TestPageShowsRecordings(t *testing.T) {
	table, recording := recorded()
	p := Page("e.yaml", []stats.Table{table}, []*Recording{recording})
	var names []string
	for _, picture := range p.Pictures() {
		names = append(names, strings.TrimPrefix(picture.Name, "xeon-8260_hackbench-process-pipes_quiet_"))
	}
	if diff := cmp.Diff([]string{"change", "repeats", "wakeup-latency", "cpus", "sis"}, names); diff != "" {
		t.Error(diff)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"vanilla: 50.0 % of the CPU time idle, 25.0 % that tasks waiting on other CPUs could have used",
		"Wakeup latency, row 12", "vanilla: median 1.02 µs, 99 % within 1.02 µs, longest 50 µs of 100",
		"Every repeat: hackbench-process-pipes on xeon-8260 [quiet]",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Count(b.String(), `data-variant="balancer"`) != 4 {
		t.Error("the third variant is not in every row")
	}
}

// Of 1, 2 and 9 the median is 2, of 1, 2, 3 and 9 it is 2.5.
func TestMedian(t *testing.T) {
	if median([]float64{9, 1, 2}) != 2 || median([]float64{9, 1, 3, 2}) != 2.5 {
		t.Error("not the middle")
	}
}
