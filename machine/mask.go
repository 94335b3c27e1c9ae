package machine

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// CPUMask is a set of CPU numbers, one bit per CPU, 64 CPUs a word. Masks that
// meet in one operation have the same length: that of the machine they belong
// to (see [NewCPUMask]).
type CPUMask []uint64

// NewCPUMask returns an empty mask with room for CPUs 0 to n-1.
func NewCPUMask(n int) CPUMask { return make(CPUMask, (n+63)/64) }

// MaskOf returns a mask with room for n CPUs that holds the given ones.
func MaskOf(n int, cpus ...int) CPUMask {
	m := NewCPUMask(n)
	for _, c := range cpus {
		m.Set(c)
	}
	return m
}

// Set adds cpu.
func (m CPUMask) Set(cpu int) { m[uint(cpu)>>6] |= 1 << (uint(cpu) & 63) }

// Clear removes cpu.
func (m CPUMask) Clear(cpu int) { m[uint(cpu)>>6] &^= 1 << (uint(cpu) & 63) }

// Has reports whether cpu is in the set; a cpu beyond the mask is not.
func (m CPUMask) Has(cpu int) bool {
	w := uint(cpu) >> 6
	return w < uint(len(m)) && m[w]>>(uint(cpu)&63)&1 != 0
}

// Count returns the number of CPUs in the set.
func (m CPUMask) Count() int {
	n := 0
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether no CPU is in the set.
func (m CPUMask) Empty() bool {
	for _, w := range m {
		if w != 0 {
			return false
		}
	}
	return true
}

// First returns the lowest CPU in the set, or -1.
func (m CPUMask) First() int { return m.Next(0) }

// Next returns the lowest CPU in the set that is not below from, or -1.
func (m CPUMask) Next(from int) int {
	w := from >> 6
	if w >= len(m) {
		return -1
	}
	word := m[w] >> (uint(from) & 63) << (uint(from) & 63)
	for word == 0 {
		w++
		if w >= len(m) {
			return -1
		}
		word = m[w]
	}
	return w<<6 + bits.TrailingZeros64(word)
}

// Equal reports whether both sets hold the same CPUs.
func (m CPUMask) Equal(o CPUMask) bool {
	for i := range m {
		if m[i] != o[i] {
			return false
		}
	}
	return true
}

// SubsetOf reports whether every CPU of m is in o.
func (m CPUMask) SubsetOf(o CPUMask) bool {
	for i := range m {
		if m[i]&^o[i] != 0 {
			return false
		}
	}
	return true
}

// Intersects reports whether the sets share a CPU.
func (m CPUMask) Intersects(o CPUMask) bool {
	for i := range m {
		if m[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// CopyFrom makes m equal to o without allocating.
func (m CPUMask) CopyFrom(o CPUMask) { copy(m, o) }

// And keeps in m only the CPUs that are also in o.
func (m CPUMask) And(o CPUMask) {
	for i := range m {
		m[i] &= o[i]
	}
}

// Or adds the CPUs of o to m.
func (m CPUMask) Or(o CPUMask) {
	for i := range m {
		m[i] |= o[i]
	}
}

// AndNot removes the CPUs of o from m.
func (m CPUMask) AndNot(o CPUMask) {
	for i := range m {
		m[i] &^= o[i]
	}
}

// Clone returns a copy.
func (m CPUMask) Clone() CPUMask { return append(CPUMask(nil), m...) }

// CPUs returns the members in increasing order.
func (m CPUMask) CPUs() []int {
	out := make([]int, 0, m.Count())
	for c := m.First(); c >= 0; c = m.Next(c + 1) {
		out = append(out, c)
	}
	return out
}

// String prints the set as the kernel prints a CPU list: "0-3,8".
func (m CPUMask) String() string {
	var b strings.Builder
	for c := m.First(); c >= 0; {
		end := c
		for m.Has(end + 1) {
			end++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(c))
		if end > c {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(end))
		}
		c = m.Next(end + 1)
	}
	return b.String()
}

// maxCPUListLen bounds the text of a CPU list: every one of MaxCPUs numbers
// written out singly takes less than five bytes, so anything longer repeats
// itself and is not a list that a kernel or a person wrote.
const maxCPUListLen = 8 * MaxCPUs

// ParseCPUList reads a list such as "0-3,8" into increasing CPU numbers. Every
// number must be below limit; an empty list is legal.
func ParseCPUList(s string, limit int) ([]int, error) {
	m, err := parseMask(s, limit)
	if err != nil {
		return nil, err
	}
	return m.CPUs(), nil
}

// parseMask is ParseCPUList as a mask with room for limit CPUs.
func parseMask(s string, limit int) (CPUMask, error) {
	m := NewCPUMask(limit)
	s = strings.TrimSpace(s)
	if s == "" {
		return m, nil
	}
	if len(s) > maxCPUListLen {
		return nil, fmt.Errorf("CPU list of %d bytes: at most %d make sense", len(s), maxCPUListLen)
	}
	for part := range strings.SplitSeq(s, ",") {
		lo, hi, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %w", abbreviate(s), err)
		}
		if hi >= limit {
			return nil, fmt.Errorf("CPU list %q: CPU %d is beyond the limit of %d CPUs", abbreviate(s), hi, limit)
		}
		for c := lo; c <= hi; c++ {
			m.Set(c)
		}
	}
	return m, nil
}

// parseRange reads "8" or "0-3".
func parseRange(part string) (lo, hi int, err error) {
	first, last, isRange := strings.Cut(part, "-")
	if !isRange {
		last = first
	}
	lo, errLo := parseDecimal(first)
	hi, errHi := parseDecimal(last)
	if errLo != nil || errHi != nil || hi < lo {
		return 0, 0, fmt.Errorf("%q is not a CPU or a range such as 0-3", abbreviate(part))
	}
	return lo, hi, nil
}

// parseDecimal reads a number without sign.
func parseDecimal(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err
}

// parseHexMask reads a set as the kernel prints a bitmap, 32-bit words of hex
// digits with the highest first ("00000000,00000101"), and as hwloc prints it
// ("0x00000410,0x41041041"). Bits from limit on are an error.
func parseHexMask(s string, limit int) (CPUMask, error) {
	m := NewCPUMask(limit)
	words := strings.Split(strings.TrimSpace(s), ",")
	if len(words) > 2*MaxCPUs/32 {
		return nil, fmt.Errorf("CPU mask %q has %d words of 32 bits, at most %d make sense", abbreviate(s), len(words), 2*MaxCPUs/32)
	}
	for i, word := range words {
		v, err := strconv.ParseUint(strings.TrimPrefix(word, "0x"), 16, 32)
		if err != nil {
			return nil, fmt.Errorf("CPU mask %q: %q is not a word of up to 8 hex digits", abbreviate(s), abbreviate(word))
		}
		base := 32 * (len(words) - 1 - i)
		for ; v != 0; v &= v - 1 {
			cpu := base + bits.TrailingZeros64(v)
			if cpu >= limit {
				return nil, fmt.Errorf("CPU mask %q: CPU %d is beyond the limit of %d CPUs", abbreviate(s), cpu, limit)
			}
			m.Set(cpu)
		}
	}
	return m, nil
}

// abbreviate keeps a quoted piece of bad input short enough for one line.
func abbreviate(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}
