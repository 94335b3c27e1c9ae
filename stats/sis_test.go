package stats

import (
	"math"
	"testing"

	"github.com/schedlab/schedlab/sched"
)

// mechanisms.md 11.3: one fast hit; one failed search with SMT2 and a budget of
// 4, which looks at 1 + 2 + 3 CPUs; nothing at all.
func TestSISRatios(t *testing.T) {
	for _, c := range []struct {
		name                             string
		sis                              SIS
		search, domain, fast, success    float64
		core, recent                     float64
		domainScanned, attempts, coreHit int64
	}{
		{"one fast hit", SIS{Search: 1, Scanned: 1}, 100, 100, 100, 100, 100, 0, 0, 0, 0},
		{"one failed search", SIS{Search: 1, Scanned: 6, DomainSearch: 1, Failed: 1}, 100.0 / 6, 100.0 / 6, 0, 0, 100, 0, 6, 0, 0},
		{"nothing", SIS{}, 100, 100, 100, 100, 100, 0, 0, 0, 0},
		// 3 of 4 hits; 10 searches for a core of which 4 in vain: 60 %, where
		// mmtests would print 6/(3+4).
		{"recent and cores", SIS{Search: 10, Scanned: 10, RecentHit: 3, RecentMiss: 1, CoreSearch: 10, CoreMiss: 4}, 100, 100, 100, 100, 60, 75, 0, 4, 6},
	} {
		s := c.sis
		for _, r := range []struct {
			name      string
			got, want float64
		}{
			{"search efficiency", s.SearchEfficiency(), c.search},
			{"domain search efficiency", s.DomainSearchEfficiency(), c.domain},
			{"fast success", s.FastSuccessRate(), c.fast},
			{"success", s.SuccessRate(), c.success},
			{"core efficiency", s.CoreSearchEfficiency(), c.core},
			{"recent success", s.RecentSuccessRate(), c.recent},
		} {
			if math.Abs(r.got-r.want) > 1e-9 {
				t.Errorf("%s: %s %v, want %v", c.name, r.name, r.got, r.want)
			}
		}
		if s.DomainScanned() != c.domainScanned || s.RecentAttempts() != c.attempts || s.CoreHit() != c.coreHit {
			t.Errorf("%s: domain scanned %d, attempts %d, core hits %d", c.name, s.DomainScanned(), s.RecentAttempts(), s.CoreHit())
		}
	}
}

// mechanisms.md 11.3: the figures of document 000 fit together as the formulas
// say, domain efficiency = (1-f)/(1/e-f). Published with two decimals, e and f
// leave an error of at most 0.01 in it.
func TestSISIdentityOfPublishedFigures(t *testing.T) {
	for _, c := range []struct {
		name                 string
		search, fast, domain float64 // percent, as printed
	}{
		{"hackbench-process-pipes vanilla", 16.51, 1.19, 16.35},
		{"hackbench-process-pipes filter", 27.35, 1.32, 27.08},
		{"hackbench-process-pipes balancer", 27.37, 1.58, 27.05},
		{"hackbench-process-sockets noisy filter", 27.21, 2.38, 26.74},
	} {
		// 10 million searches with these ratios.
		const searches = 10_000_000
		s := SIS{Search: searches}
		s.DomainSearch = searches - int64(math.Round(c.fast/100*searches))
		s.Scanned = int64(math.Round(searches * 100 / c.search))
		if got := s.DomainSearchEfficiency(); math.Abs(got-c.domain) > 0.015 {
			t.Errorf("%s: domain efficiency %.3f, published %.2f", c.name, got, c.domain)
		}
		if math.Abs(s.SearchEfficiency()-c.search) > 0.001 || math.Abs(s.FastSuccessRate()-c.fast) > 0.001 {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

// mechanisms.md 11.3, what lies between: vanilla hackbench looks at 1/0.1651 =
// 6.057 CPUs a search, at 6.057 - 0.0119 = 6.045 of them in the domain, and
// 0.9881/6.045 = 16.35 %. schbench, of whose searches 99.05 % end at once, comes to
// 0.0095/(1/0.8344-0.9905) = 4.57 %, published as 4.56: the last digit of 99.05
// alone is 0.024.
func TestSISIdentityStepByStep(t *testing.T) {
	const searches = 10_000_000
	of := func(efficiency, fast float64) SIS {
		return SIS{Search: searches, Scanned: int64(math.Round(searches / efficiency)),
			DomainSearch: int64(math.Round(searches * (1 - fast)))}
	}
	hackbench, schbench := of(0.1651, 0.0119), of(0.8344, 0.9905)
	near(t, "scanned a search", float64(hackbench.Scanned)/searches, 6.057, 0.0005)
	near(t, "scanned in the domain a search", float64(hackbench.DomainScanned())/searches, 6.045, 0.0005)
	near(t, "hackbench", hackbench.DomainSearchEfficiency(), 16.35, 0.005)
	near(t, "schbench", schbench.DomainSearchEfficiency(), 4.57, 0.005)
	near(t, "schbench as published", schbench.DomainSearchEfficiency(), 4.56, 0.005+0.024)
}

func TestSISAddAndSince(t *testing.T) {
	a := SIS{Search: 1, DomainSearch: 2, Scanned: 3, Failed: 4, RecentHit: 5, RecentMiss: 6, CoreSearch: 7, CoreMiss: 8}
	b := SIS{Search: 10, DomainSearch: 20, Scanned: 30, Failed: 40, RecentHit: 50, RecentMiss: 60, CoreSearch: 70, CoreMiss: 80}
	sum := a.Add(b)
	if want := (SIS{11, 22, 33, 44, 55, 66, 77, 88}); sum != want {
		t.Errorf("sum %+v, want %+v", sum, want)
	}
	if got := sum.Since(a); got != b {
		t.Errorf("difference %+v, want %+v", got, b)
	}
}

// Figures have mmtests' names; the four that document 000 prints are there.
func TestSISFigures(t *testing.T) {
	values := map[string]float64{}
	for _, f := range (SIS{Search: 4, DomainSearch: 3, Scanned: 16, Failed: 2}).Figures() {
		if _, twice := values[f.Name]; twice {
			t.Errorf("%s twice", f.Name)
		}
		values[f.Name] = f.Value
	}
	for name, want := range map[string]float64{
		"SIS Search Efficiency": 25, // 4/16
		"SIS Domain Search Eff": 20, // 3/(16-1)
		"SIS Fast Success Rate": 25, // 1/4
		"SIS Success Rate":      50, // 2/4
		"SIS Failures":          2, "SIS Domain Scanned": 15,
	} {
		if got, ok := values[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestSISOf(t *testing.T) {
	got := SISOf(&sched.CPUStats{
		SISSearch: 1, SISDomainSearch: 2, SISScanned: 3, SISFailed: 4,
		SISRecentHit: 5, SISRecentMiss: 6, SISCoreSearch: 7, SISCoreMiss: 8,
	})
	if want := (SIS{Search: 1, DomainSearch: 2, Scanned: 3, Failed: 4, RecentHit: 5, RecentMiss: 6, CoreSearch: 7, CoreMiss: 8}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
