package sched

// How often newidle balancing of a domain finds something, and the dice that
// decide by it whether to look (NI_RANDOM, NI_RATE; stable trees of v6.1 and
// v6.12, and v7.2; mechanisms-modern.md 4.6). A domain where half of the passes
// pull a task is looked at every second time. Successes of passes that were
// left to chance count for the passes that were not made.

// newidleRate is a domain's record; halves of calls and successes survive each
// evaluation.
type newidleRate struct {
	calls, successes int64
	ratio            int64 // successes per diceSides calls, weighted
	since            int64 // ns of the last evaluation
}

// diceSides is the number of sides of the dice, and of calls to an evaluation.
const diceSides = 1024

var firstNewidleRate = newidleRate{calls: 512, successes: 256, ratio: 512}

// rateShift: with NI_RATE a domain that is asked for 512 calls in over 4.3 s
// (2^32 ns) counts as successful, because its passes cost next to nothing.
const rateShift = 22

// rollDice decides whether to leave a domain out, and returns what a success
// of the pass counts otherwise.
func (s *Scheduler) rollDice(d *Domain) (weight int64, skip bool) {
	rolls := s.profile.Balance.newidle.rollsDice
	if rolls == nil || !s.features.Has(NIRandom) || !rolls(d) {
		return 1, false
	}
	weight = 1 + d.newidle.ratio
	if int64(s.dice()%diceSides) > weight {
		s.countNewidle(d, 0)
		return 0, true
	}
	return (diceSides + weight/2) / weight, false
}

// countNewidle counts a call, and evaluates them now and then.
func (s *Scheduler) countNewidle(d *Domain, success int64) {
	r := &d.newidle
	r.calls++
	r.successes += success
	if r.calls < diceSides {
		return
	}
	r.ratio = r.successes
	if s.features.Has(NIRate) {
		r.ratio = min(diceSides, r.successes+(s.now-r.since)>>rateShift)
		r.since = s.now
	}
	r.calls /= 2
	r.successes /= 2
}

// fixedDice is the sequence of a scheduler whose driver brings no dice: the
// upper halves of a 64-bit linear congruence (Knuth's MMIX constants).
func fixedDice() func() uint32 {
	state := uint64(1)
	return func() uint32 {
		state = state*6364136223846793005 + 1442695040888963407
		return uint32(state >> 32)
	}
}
