package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/schedlab/schedlab/machine"
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/stats"
)

// SISScope is the idle search of some CPUs, added up.
type SISScope struct {
	Name string // machine, LLC, a domain's name, CPU
	CPUs machine.CPUMask
	SIS  stats.SIS
}

// machineScope is the name of the scope that has all CPUs.
const machineScope = "machine"

// SISScopes adds up the counters of a snapshot: over the machine, over each
// last-level cache, over the span of each domain from the lowest level up, and
// of each CPU. A search is counted on the waker's CPU, wherever it looked.
func SISScopes(snap *sched.Snapshot) []SISScope {
	scopes := &sisScopes{cpus: snap.NumCPUs, index: map[string]int{}}
	for i := range snap.CPUs {
		c := &snap.CPUs[i]
		scopes.add(machineScope, "", c)
	}
	for i := range snap.CPUs {
		c := &snap.CPUs[i]
		scopes.add("LLC", strconv.Itoa(c.LLC), c)
	}
	for level, deeper := 0, true; deeper; level++ {
		deeper = false
		for i := range snap.CPUs {
			if c := &snap.CPUs[i]; level < len(c.Domains) {
				deeper = true
				d := &c.Domains[level]
				scopes.add(d.Name, d.Span.String(), c)
			}
		}
	}
	for i := range snap.CPUs {
		c := &snap.CPUs[i]
		scopes.add("CPU", strconv.Itoa(c.CPU), c)
	}
	return scopes.list
}

// sisScopes collects scopes in the order in which they are first met.
type sisScopes struct {
	cpus  int
	list  []SISScope
	index map[string]int
}

func (s *sisScopes) add(name, which string, c *sched.CPUSnapshot) {
	key := name + " " + which
	i, known := s.index[key]
	if !known {
		i = len(s.list)
		s.index[key] = i
		s.list = append(s.list, SISScope{Name: name, CPUs: machine.NewCPUMask(s.cpus)})
	}
	s.list[i].CPUs.Set(c.CPU)
	s.list[i].SIS = s.list[i].SIS.Add(stats.SISOf(&c.Stats))
}

// SISOverTime writes the idle search of every scope, interval by interval, as
// CSV: what was counted and what follows from it since the snapshot before, or
// since the start. Times are seconds.
func SISOverTime(w io.Writer, snaps []*sched.Snapshot) error {
	return writeSIS(w, snaps, func(*SISScope) bool { return true })
}

// writeSIS writes the scopes that are wanted.
func writeSIS(w io.Writer, snaps []*sched.Snapshot, wanted func(*SISScope) bool) error {
	out := csv.NewWriter(w)
	header := []string{"from", "to", "scope", "cpus"}
	for _, f := range (stats.SIS{}).Figures() {
		header = append(header, f.Name)
	}
	if err := out.Write(header); err != nil {
		return err
	}
	var before []SISScope
	from := int64(0)
	for _, snap := range snaps {
		scopes := SISScopes(snap)
		for i := range scopes {
			if !wanted(&scopes[i]) {
				continue
			}
			s := scopes[i].SIS
			if before != nil { // the scopes of one scheduler are always the same
				s = s.Since(before[i].SIS)
			}
			if err := out.Write(sisRecord(from, snap.Now, &scopes[i], s)); err != nil {
				return err
			}
		}
		before, from = scopes, snap.Now
	}
	out.Flush()
	return out.Error()
}

func sisRecord(from, to int64, scope *SISScope, s stats.SIS) []string {
	record := []string{seconds(from), seconds(to), scope.Name, scope.CPUs.String()}
	for _, f := range s.Figures() {
		decimals := 0
		if f.Ratio {
			decimals = 2
		}
		record = append(record, strconv.FormatFloat(f.Value, 'f', decimals, 64))
	}
	return record
}

// seconds prints nanoseconds as seconds, to the nanosecond.
func seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 9, 64) }
