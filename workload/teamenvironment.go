package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// teamEnvironment is what the environment says about an OpenMP team of GCC's
// library (ipc-and-benchmarks.md 4.6).
type teamEnvironment struct {
	bound  bool
	places []int // CPUs, in the order in which threads get them; nil: all
	policy string
	spins  *int64 // GOMP_SPINCOUNT, nil if not given
}

// set reads one variable.
func (e *teamEnvironment) set(name, value string) error {
	switch name {
	case "OMP_PROC_BIND":
		return e.setBind(value)
	case "GOMP_CPU_AFFINITY":
		return e.setAffinity(value)
	case "OMP_WAIT_POLICY":
		policy := strings.ToLower(value)
		if policy != "active" && policy != "passive" {
			return fmt.Errorf("%q is no policy: choose active or passive, or leave it out", value)
		}
		e.policy = policy
		return nil
	case "GOMP_SPINCOUNT":
		return e.setSpins(value)
	}
	return fmt.Errorf("not simulated; there are OMP_NUM_THREADS, OMP_PROC_BIND, GOMP_CPU_AFFINITY, OMP_WAIT_POLICY and GOMP_SPINCOUNT")
}

func (e *teamEnvironment) setBind(value string) error {
	switch strings.ToLower(value) {
	case "true", "close":
		e.bound = true
	case "false":
		e.bound = false
	case "spread", "master", "primary":
		return fmt.Errorf("%q is not simulated: choose true, close or false", value)
	default:
		return fmt.Errorf("%q: choose true, close or false", value)
	}
	return nil
}

// setAffinity reads a list such as "0 3 1-2 4-15:2", with commas or blanks.
func (e *teamEnvironment) setAffinity(value string) error {
	var places []int
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		span, step, hasStep := strings.Cut(word, ":")
		first, last, hasLast := strings.Cut(span, "-")
		if !hasLast {
			last = first
		}
		if !hasStep {
			step = "1"
		}
		var from, to, by int
		for _, part := range []struct {
			text  string
			into  *int
			least int
		}{{first, &from, 0}, {last, &to, 0}, {step, &by, 1}} {
			if err := toInt(part.into, part.least, maxCPUNumber)(part.text); err != nil || from > to && part.into == &to {
				return fmt.Errorf("%q: want CPUs such as 0, 1-2 or 4-15:2", word)
			}
		}
		for cpu := from; cpu <= to; cpu += by {
			places = append(places, cpu)
		}
	}
	if len(places) == 0 {
		return fmt.Errorf("%q lists no CPU", value)
	}
	e.bound, e.places = true, places
	return nil
}

const maxCPUNumber = 65535

// setSpins reads a number with one of the library's suffixes, or infinity.
func (e *teamEnvironment) setSpins(value string) error {
	switch strings.ToLower(value) {
	case "infinite", "infinity":
		e.spins = new(int64)
		*e.spins = maxSpinTurns
		return nil
	}
	factor := int64(1)
	digits := value
	for _, suffix := range []struct {
		letter string
		factor int64
	}{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}} {
		if rest, found := strings.CutSuffix(value, suffix.letter); found {
			digits, factor = rest, suffix.factor
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > maxSpinTurns/factor {
		return fmt.Errorf("%q: want a number from 0 to 30G, with k, M or G behind it, or infinite", value)
	}
	n *= factor
	e.spins = &n
	return nil
}

// The library's numbers of turns.
const (
	spinTurns          = 300_000
	throttledTurns     = 100 // with more threads than CPUs
	throttledActive    = 1000
	activeSpinTurns    = maxSpinTurns
	passiveSpinTurns   = 0
	throttledPassively = 0
)

// turns is how often a thread looks before it sleeps.
func (e *teamEnvironment) turns(threads, cpus int) int64 {
	turns, throttled := int64(spinTurns), int64(throttledTurns)
	switch e.policy {
	case "active":
		turns, throttled = activeSpinTurns, throttledActive
	case "passive":
		turns, throttled = passiveSpinTurns, throttledPassively
	}
	if e.spins != nil {
		turns = *e.spins
	}
	if threads > cpus {
		return min(turns, throttled)
	}
	return turns
}

// allowed are the CPUs of thread i, nil for all.
func (e *teamEnvironment) allowed(i, cpus int) []int {
	switch {
	case !e.bound:
		return nil
	case e.places == nil:
		return []int{i % cpus}
	}
	return []int{e.places[i%len(e.places)]}
}
