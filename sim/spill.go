package sim

import "github.com/schedlab/schedlab/machine"

// spill is what the machine's last-level caches cannot hold of the messages
// that wait in channels. A queue that is longer than the cache is read where
// it no longer is: with a few hundred full socket queues each message comes
// from memory, with a few of them none does.
type spill struct {
	capacity int64 // of all last-level caches, bytes; 0: not known, all fits
	queued   int64 // memory that holds waiting messages, bytes
}

func newSpill(mach *machine.Machine) spill {
	last := 0
	for _, c := range mach.Caches {
		last = max(last, c.Level)
	}
	s := spill{}
	for _, c := range mach.Caches {
		if c.Level == last {
			s.capacity += c.Size
		}
	}
	return s
}

// of is the part of a price that is paid on average: the share of the waiting
// memory that no cache holds.
func (s *spill) of(price int64) int64 {
	if s.capacity == 0 || s.queued <= s.capacity {
		return 0
	}
	return mulDiv(price, s.queued-s.capacity, s.queued)
}
