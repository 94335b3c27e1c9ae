package trace

import "strings"

// State is a thread's state as sched_switch reports it for the thread that
// leaves the CPU. Kernels number states differently; this type has one
// numbering, that of 4.14 and later, plus the older flags above it.
type State uint32

// The states. Several may be set at once; none set means runnable ("R").
const (
	StateSleeping     State = 0x0001 // S, interruptible
	StateBlocked      State = 0x0002 // D, uninterruptible
	StateStopped      State = 0x0004 // T
	StateTraced       State = 0x0008 // t
	StateDead         State = 0x0010 // X
	StateZombie       State = 0x0020 // Z
	StateParked       State = 0x0040 // P
	StateIdle         State = 0x0080 // I, an idle kernel thread
	StatePreempted    State = 0x0100 // +, still runnable
	StateTaskDead     State = 0x0200 // x, before 4.14
	StateWakeKill     State = 0x0400 // K, before 4.14
	StateWaking       State = 0x0800 // W, before 4.14
	StateNoLoad       State = 0x1000 // N, before 4.14
	StateNew          State = 0x2000 // n, before 4.14
	UnknownState      State = 1 << 31
	runnableRemainder       = StatePreempted
)

// stateLetters is in the order in which the kernel prints flags.
var stateLetters = []struct {
	letter byte
	state  State
}{
	{'S', StateSleeping}, {'D', StateBlocked}, {'T', StateStopped}, {'t', StateTraced},
	{'X', StateDead}, {'Z', StateZombie}, {'P', StateParked}, {'I', StateIdle},
	{'x', StateTaskDead}, {'K', StateWakeKill}, {'W', StateWaking}, {'N', StateNoLoad}, {'n', StateNew},
}

// Known reports whether the recording told the state.
func (s State) Known() bool { return s&UnknownState == 0 }

// Runnable reports whether the thread stays runnable; it is false when the
// state is unknown.
func (s State) Runnable() bool { return s&^runnableRemainder == 0 }

// Gone reports whether the thread has ended and will not run again.
func (s State) Gone() bool {
	return s.Known() && s&(StateDead|StateZombie|StateTaskDead) != 0
}

// String returns the kernel's letters: R, R+, S, D|W, or ? when unknown.
func (s State) String() string { return string(s.append(nil)) }

func (s State) append(out []byte) []byte {
	if !s.Known() {
		return append(out, '?')
	}
	if s.Runnable() {
		out = append(out, 'R')
	}
	sep := false
	for _, l := range stateLetters {
		if s&l.state == 0 {
			continue
		}
		if sep {
			out = append(out, '|')
		}
		out = append(out, l.letter)
		sep = true
	}
	if s&StatePreempted != 0 {
		out = append(out, '+')
	}
	return out
}

// parseState reads letters ("R+", "D|W") or a number.
func parseState(text []byte) (State, bool) {
	if len(text) == 0 {
		return UnknownState, false
	}
	if text[0] >= '0' && text[0] <= '9' {
		raw, ok := parseInt(text)
		return stateOfBareNumber(raw), ok
	}
	var state State
	for i, c := range text {
		switch c {
		case '|':
			if i == 0 || i == len(text)-1 {
				return UnknownState, false
			}
		case '+':
			if i != len(text)-1 {
				return UnknownState, false
			}
			state |= StatePreempted
		case 'R':
			if i != 0 {
				return UnknownState, false
			}
		case '?':
			return UnknownState, len(text) == 1
		default:
			bit := stateOfLetter(c)
			if bit == 0 {
				return UnknownState, false
			}
			state |= bit
		}
	}
	return state, true
}

func stateOfLetter(c byte) State {
	for _, l := range stateLetters {
		if l.letter == c {
			return l.state
		}
	}
	return 0
}

// stateOfBareNumber reads a number of which the kernel version is unknown. Only
// the bits up to 8 mean the same in every version (16 and 32 changed places in
// 3.19, the rest in 4.14).
func stateOfBareNumber(raw int64) State {
	if raw >= 0 && raw < 0x10 {
		return State(raw)
	}
	return UnknownState
}

// stateCode is one kernel's numbering of states, taken from the print format of
// its sched_switch.
type stateCode struct {
	bits  []stateBit
	known int64 // all bits that mean something
}

type stateBit struct {
	raw   int64
	state State
}

// modernStates is the numbering since 4.14.
var modernStates = stateCode{
	bits: []stateBit{
		{0x01, StateSleeping}, {0x02, StateBlocked}, {0x04, StateStopped}, {0x08, StateTraced}, {0x10, StateDead},
		{0x20, StateZombie}, {0x40, StateParked}, {0x80, StateIdle}, {0x100, StatePreempted},
	},
	known: 0x1ff,
}

// oldStates is the numbering of 3.19 to 4.13, which Perfetto assumes when a
// trace does not name its kernel.
var oldStates = stateCode{
	bits: []stateBit{
		{0x01, StateSleeping}, {0x02, StateBlocked}, {0x04, StateStopped}, {0x08, StateTraced}, {0x10, StateDead},
		{0x20, StateZombie}, {0x40, StateTaskDead}, {0x80, StateWakeKill}, {0x100, StateWaking},
		{0x200, StateParked}, {0x400, StateNoLoad}, {0x800, StatePreempted}, {0x1000, StatePreempted},
	},
	known: 0x1fff,
}

func (c *stateCode) decode(raw int64) State {
	if raw&^c.known != 0 {
		return UnknownState
	}
	var state State
	for _, b := range c.bits {
		if raw&b.raw != 0 {
			state |= b.state
		}
	}
	return state
}

// encode is the inverse of decode; a state that c cannot tell is lost bits.
func (c *stateCode) encode(state State) int64 {
	var raw int64
	for _, b := range c.bits {
		if state&b.state != 0 {
			raw |= b.raw
		}
	}
	return raw
}

// parseStateCode reads the numbering from a print format: the pairs
// { 0x1, "S" } and the mask that prints "+". ok is false when there are none.
func parseStateCode(printFormat string) (code stateCode, ok bool) {
	rest := printFormat
	for {
		_, after, found := strings.Cut(rest, "{")
		if !found {
			break
		}
		pair, tail, closed := strings.Cut(after, "}")
		rest = tail
		number, letter, twoParts := strings.Cut(pair, ",")
		if !closed || !twoParts {
			continue
		}
		raw, numberOK := parseInt([]byte(strings.TrimSpace(number)))
		letter = strings.Trim(letter, ` "`)
		if !numberOK || len(letter) != 1 || stateOfLetter(letter[0]) == 0 {
			continue
		}
		code.bits = append(code.bits, stateBit{raw, stateOfLetter(letter[0])})
		code.known |= raw
	}
	if len(code.bits) == 0 {
		return stateCode{}, false
	}
	if mask, found := preemptedMask(printFormat); found {
		code.bits = append(code.bits, stateBit{mask, StatePreempted})
		code.known |= mask
	}
	return code, true
}

// preemptedMask finds the mask in `REC->prev_state & MASK ? "+"`.
func preemptedMask(printFormat string) (mask int64, ok bool) {
	before, _, found := strings.Cut(printFormat, `? "+"`)
	if !found {
		return 0, false
	}
	const operand = "prev_state &"
	at := strings.LastIndex(before, operand)
	if at < 0 {
		return 0, false
	}
	mask, ok = evalConstant(before[at+len(operand):])
	return mask, ok && mask > 0
}
