package report

import (
	"bytes"
	"encoding/csv"
	"slices"
	"testing"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
)

// twoCaches is 4 CPUs: MC domains {0,1} and {2,3} are the LLCs, NUMA spans all.
// CPU c has counted c+1 searches, of which all but one were fast, times n.
func twoCaches(now, n int64) *sched.Snapshot {
	snap := &sched.Snapshot{Now: now, NumCPUs: 4}
	for cpu := range 4 {
		llc := cpu / 2 * 2
		searches := int64(cpu+1) * n
		snap.CPUs = append(snap.CPUs, sched.CPUSnapshot{
			CPU: cpu, LLC: llc,
			Stats: sched.CPUStats{SISSearch: searches, SISDomainSearch: n, SISScanned: searches + 3*n, SISFailed: n},
			Domains: []sched.DomainSnapshot{
				{Name: "MC", Span: machine.MaskOf(4, llc, llc+1)}, {Name: "NUMA", Span: machine.MaskOf(4, 0, 1, 2, 3)},
			},
		})
	}
	return snap
}

func TestSISScopes(t *testing.T) {
	type want struct {
		name, cpus string
		search     int64
	}
	var got []want
	for _, s := range SISScopes(twoCaches(0, 1)) {
		got = append(got, want{s.Name, s.CPUs.String(), s.SIS.Search})
	}
	// 1 + 2 + 3 + 4 = 10 on the machine.
	if w := []want{
		{"machine", "0-3", 10}, {"LLC", "0-1", 3}, {"LLC", "2-3", 7},
		{"MC", "0-1", 3}, {"MC", "2-3", 7}, {"NUMA", "0-3", 10},
		{"CPU", "0", 1}, {"CPU", "1", 2}, {"CPU", "2", 3}, {"CPU", "3", 4},
	}; !slices.Equal(got, w) {
		t.Errorf("scopes %v, want %v", got, w)
	}
}

// The second interval holds the difference: 20 of the 30 searches.
func TestSISOverTime(t *testing.T) {
	var out bytes.Buffer
	if err := SISOverTime(&out, []*sched.Snapshot{twoCaches(1e9, 1), twoCaches(3e9, 3)}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 1+2*10 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	second := map[string]string{}
	for i, name := range rows[0] {
		second[name] = rows[11][i]
	}
	for name, want := range map[string]string{
		"from": "1.000000000", "to": "3.000000000", "scope": "machine", "cpus": "0-3",
		"SIS Search": "20", "SIS Domain Search": "8",
		"SIS Search Efficiency": "45.45", // 20 of 20 + 4·6 = 44
	} {
		if second[name] != want {
			t.Errorf("%s is %q, want %q", name, second[name], want)
		}
	}
}
