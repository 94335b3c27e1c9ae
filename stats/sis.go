package stats

import "github.com/schedlab/schedlab/sched"

// SIS are the counters of the idle search select_idle_sibling, as Mel Gorman's
// statistics patch of 2021 counts them (mechanisms.md 11.1): of one CPU, of all
// CPUs of a cache or a machine, since the start or between two moments.
type SIS struct {
	Search       int64 // searches
	DomainSearch int64 // those that the shortcuts did not settle
	Scanned      int64 // CPUs looked at; all shortcuts of a search are one
	Failed       int64 // searches without an idle CPU
	RecentHit    int64 // the recently used CPU was eligible and usable
	RecentMiss   int64 // it was eligible but not usable
	CoreSearch   int64 // searches for an idle core
	CoreMiss     int64 // those without one
}

// SISOf takes the counters of the idle search out of a CPU's.
func SISOf(c *sched.CPUStats) SIS {
	return SIS{
		Search: c.SISSearch, DomainSearch: c.SISDomainSearch, Scanned: c.SISScanned, Failed: c.SISFailed,
		RecentHit: c.SISRecentHit, RecentMiss: c.SISRecentMiss, CoreSearch: c.SISCoreSearch, CoreMiss: c.SISCoreMiss,
	}
}

// Add returns the sum of the counters of two sets of CPUs.
func (s SIS) Add(o SIS) SIS {
	return SIS{
		Search: s.Search + o.Search, DomainSearch: s.DomainSearch + o.DomainSearch,
		Scanned: s.Scanned + o.Scanned, Failed: s.Failed + o.Failed,
		RecentHit: s.RecentHit + o.RecentHit, RecentMiss: s.RecentMiss + o.RecentMiss,
		CoreSearch: s.CoreSearch + o.CoreSearch, CoreMiss: s.CoreMiss + o.CoreMiss,
	}
}

// Since returns what was counted after an earlier moment.
func (s SIS) Since(before SIS) SIS {
	return s.Add(SIS{
		-before.Search, -before.DomainSearch, -before.Scanned, -before.Failed,
		-before.RecentHit, -before.RecentMiss, -before.CoreSearch, -before.CoreMiss,
	})
}

// fast is how many searches the shortcuts settled.
func (s SIS) fast() int64 { return s.Search - s.DomainSearch }

// DomainScanned is how many CPUs were looked at in searches that the shortcuts
// did not settle; the shortcuts of such a search are one of them.
func (s SIS) DomainScanned() int64 { return s.Scanned - s.fast() }

// SearchEfficiency is searches per CPU looked at, in percent: 100 when the
// shortcuts settle every search, and when there was none.
func (s SIS) SearchEfficiency() float64 { return percent(s.Search, s.Scanned) }

// DomainSearchEfficiency is the same for the searches that the shortcuts did
// not settle. mmtests guards it by the count of all CPUs looked at and so
// divides by zero when every search was a fast one; here that is 100.
func (s SIS) DomainSearchEfficiency() float64 { return percent(s.DomainSearch, s.DomainScanned()) }

// FastSuccessRate is the share of searches that the shortcuts settled, in
// percent.
func (s SIS) FastSuccessRate() float64 { return percent(s.fast(), s.Search) }

// SuccessRate is the share of searches that found an idle CPU, in percent. A
// search on a machine without shared caches, which goes to the target
// unseen, counts as found.
func (s SIS) SuccessRate() float64 { return percent(s.Search-s.Failed, s.Search) }

// RecentAttempts is how often the recently used CPU was eligible.
func (s SIS) RecentAttempts() int64 { return s.RecentHit + s.RecentMiss }

// RecentSuccessRate is how often the recently used CPU was taken when it was
// eligible, in percent; 0, as mmtests has it, when it never was.
func (s SIS) RecentSuccessRate() float64 {
	if s.RecentAttempts() == 0 {
		return 0
	}
	return percent(s.RecentHit, s.RecentAttempts())
}

// CoreHit is how many searches for an idle core found one.
func (s SIS) CoreHit() int64 { return s.CoreSearch - s.CoreMiss }

// CoreSearchEfficiency is the share of searches for an idle core that found
// one, in percent. mmtests divides by the hits of the recently used CPU plus
// the missed cores instead, which have nothing to do with each other.
func (s SIS) CoreSearchEfficiency() float64 { return percent(s.CoreHit(), s.CoreSearch) }

// percent is a share; of nothing, it is all.
func percent(part, whole int64) float64 {
	if whole == 0 {
		return 100
	}
	return float64(part) * 100 / float64(whole)
}

// SISFigure is one line of mmtests' report on SIS counters.
type SISFigure struct {
	Name  string // mmtests' own
	Value float64
	Ratio bool // a percentage; otherwise a count
}

// Figures lists counts and ratios by the names and in the order of mmtests.
func (s SIS) Figures() []SISFigure {
	count := func(name string, n int64) SISFigure { return SISFigure{name, float64(n), false} }
	ratio := func(name string, x float64) SISFigure { return SISFigure{name, x, true} }
	return []SISFigure{
		count("SIS Search", s.Search),
		count("SIS Domain Search", s.DomainSearch),
		count("SIS Scanned", s.Scanned),
		count("SIS Domain Scanned", s.DomainScanned()),
		count("SIS Failures", s.Failed),
		count("SIS Core Search", s.CoreSearch),
		count("SIS Core Hit", s.CoreHit()),
		count("SIS Core Miss", s.CoreMiss),
		count("SIS Recent Used Hit", s.RecentHit),
		count("SIS Recent Used Miss", s.RecentMiss),
		count("SIS Recent Attempts", s.RecentAttempts()),
		ratio("SIS Search Efficiency", s.SearchEfficiency()),
		ratio("SIS Domain Search Eff", s.DomainSearchEfficiency()),
		ratio("SIS Core Search Eff", s.CoreSearchEfficiency()),
		ratio("SIS Fast Success Rate", s.FastSuccessRate()),
		ratio("SIS Success Rate", s.SuccessRate()),
		ratio("SIS Recent Success Rate", s.RecentSuccessRate()),
	}
}

// tableRatios are the ratios that documents print below their tables.
var tableRatios = map[string]bool{
	"SIS Search Efficiency": true, "SIS Domain Search Eff": true,
	"SIS Fast Success Rate": true, "SIS Success Rate": true,
}

// Ratios lists the four ratios that documents print below their tables.
func (s SIS) Ratios() []SISFigure {
	var ratios []SISFigure
	for _, f := range s.Figures() {
		if tableRatios[f.Name] {
			ratios = append(ratios, f)
		}
	}
	return ratios
}
