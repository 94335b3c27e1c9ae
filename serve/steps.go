package serve

import "sort"

// steps is a value that changes at moments: from times[i] up to times[i+1] it
// is values[i]. Before times[0] nothing is known.
type steps struct {
	times  []int64 // ns since the recording's start, increasing
	values []uint32
}

// set says that the value is v from t on. What comes late is moved to the last
// moment known, and a value that lasted no time leaves no trace.
func (s *steps) set(t int64, v uint32) {
	n := len(s.times)
	if n == 0 {
		s.times, s.values = append(s.times, t), append(s.values, v)
		return
	}
	if s.values[n-1] == v {
		return
	}
	if t > s.times[n-1] {
		s.times, s.values = append(s.times, t), append(s.values, v)
		return
	}
	s.values[n-1] = v
	if n > 1 && s.values[n-2] == v {
		s.times, s.values = s.times[:n-1], s.values[:n-1]
	}
}

// latest is the value now; nobody when nothing is known.
func (s *steps) latest() uint32 {
	if len(s.values) == 0 {
		return nobody
	}
	return s.values[len(s.values)-1]
}

// at is the index of the step that holds at t; -1 before the first.
func (s *steps) at(t int64) int {
	return sort.Search(len(s.times), func(i int) bool { return s.times[i] > t }) - 1
}

// end is when step i ends, in a recording that ends at last.
func (s *steps) end(i int, last int64) int64 {
	if i+1 < len(s.times) {
		return s.times[i+1]
	}
	return last
}

// within counts the steps that overlap [from, to).
func (s *steps) within(from, to int64) int {
	first := max(s.at(from), 0)
	return max(0, sort.Search(len(s.times), func(i int) bool { return s.times[i] >= to })-first)
}
