package stats

import (
	"fmt"
	"strings"
)

// Standing is how one variant fared against the baseline in all tables.
type Standing struct {
	Variant, Baseline string
	Verdicts          []Verdict // in the order of the tables
}

// Standings sums up the verdicts by variant, in the order in which variants
// first appear.
func Standings(tables []Table) []Standing {
	var list []Standing
	index := map[string]int{}
	for t := range tables {
		for _, v := range tables[t].Verdicts() {
			i, known := index[v.Variant]
			if !known {
				i = len(list)
				index[v.Variant] = i
				list = append(list, Standing{Variant: v.Variant, Baseline: v.Baseline})
			}
			list[i].Verdicts = append(list[i].Verdicts, v)
		}
	}
	return list
}

// count is how many tables came to a judgement.
func (s *Standing) count(j Judgement) int {
	n := 0
	for i := range s.Verdicts {
		if s.Verdicts[i].Judgement == j {
			n++
		}
	}
	return n
}

// Judgement sums up those of the tables: better (worse) when some say so and
// none says otherwise.
func (s *Standing) Judgement() Judgement {
	better, worse, mixed := s.count(IsBetter), s.count(IsWorse), s.count(IsMixed)
	switch {
	case len(s.Verdicts) == 1:
		return s.Verdicts[0].Judgement
	case mixed > 0 || better > 0 && worse > 0:
		return IsMixed
	case better > 0:
		return IsBetter
	case worse > 0:
		return IsWorse
	case s.count(NoDifference) > 0:
		return NoDifference
	case s.count(Untested) > 0:
		return Untested
	}
	return Unknown
}

// String is the standing in one sentence.
func (s *Standing) String() string {
	if len(s.Verdicts) == 1 {
		return s.Verdicts[0].String()
	}
	parts := []string{}
	for _, j := range []struct {
		judgement Judgement
		words     string
	}{
		{IsBetter, "better in %d"}, {IsWorse, "worse in %d"}, {IsMixed, "mixed in %d"},
		{NoDifference, "not significantly different in %d"}, {Untested, "untested in %d"}, {Unknown, "not comparable in %d"},
	} {
		if n := s.count(j.judgement); n > 0 {
			parts = append(parts, fmt.Sprintf(j.words, n))
		}
	}
	return fmt.Sprintf("%s against %s, of %d tables: %s", s.Variant, s.Baseline, len(s.Verdicts), strings.Join(parts, ", "))
}
