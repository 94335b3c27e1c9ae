package workload

const (
	pageSize  = 4096
	pipeSlots = 16
)

// pipe is the ring of a pipe: up to 16 slots of one page each. Slots, not
// bytes, are what fills it (ipc-and-benchmarks.md 1.1).
type pipe struct {
	slots [pipeSlots]pipeSlot
	first uint8 // index of the oldest used slot
	used  uint8
	spare uint8 // freed pages kept for later writes
	// polled is sticky: somebody once polled this pipe.
	polled bool
	// waitingWriters counts writers that have gone to sleep and have not run
	// since, woken or not.
	waitingWriters int32
}

// pipeSlot is the part of a page that holds unread bytes.
type pipeSlot struct {
	offset, length uint16
}

func (p *pipe) empty() bool { return p.used == 0 }
func (p *pipe) full() bool  { return p.used == pipeSlots }

// merge appends the part of a write that exceeds whole pages to the last slot
// if the page has room for it, and returns how many bytes that placed. It is
// allowed on a full pipe.
func (p *pipe) merge(n int32) int32 {
	rest := n % pageSize
	if rest == 0 || p.empty() {
		return 0
	}
	last := &p.slots[(p.first+p.used-1)%pipeSlots]
	if int32(last.offset)+int32(last.length)+rest > pageSize {
		return 0
	}
	last.length += uint16(rest)
	return rest
}

// fill places up to n bytes in new slots and returns the bytes placed and the
// pages that had to be allocated for them.
func (p *pipe) fill(n int32) (placed, newPages int32) {
	for placed < n && !p.full() {
		length := min(n-placed, pageSize)
		p.slots[(p.first+p.used)%pipeSlots] = pipeSlot{length: uint16(length)}
		p.used++
		placed += length
		if p.spare > 0 {
			p.spare--
		} else {
			newPages++
		}
	}
	return placed, newPages
}

// drain takes up to n bytes out of the oldest slots, frees those that become
// empty, and returns the bytes taken and the slots freed.
func (p *pipe) drain(n int32, maxSpare uint8) (taken int32, freed int) {
	for taken < n && !p.empty() {
		slot := &p.slots[p.first]
		length := min(n-taken, int32(slot.length))
		slot.offset += uint16(length)
		slot.length -= uint16(length)
		taken += length
		if slot.length > 0 {
			break
		}
		p.first = (p.first + 1) % pipeSlots
		p.used--
		p.spare = min(p.spare+1, maxSpare)
		freed++
	}
	return taken, freed
}

// put is the data movement of one attempt to write: merge, unless the writer
// has slept, then new slots.
func (p *pipe) put(n int32, resumed bool, out *Outcome) {
	if !resumed {
		out.Moved = p.merge(n)
	}
	if out.Moved < n {
		placed, newPages := p.fill(n - out.Moved)
		out.Moved += placed
		out.NewPages = newPages
	}
}
