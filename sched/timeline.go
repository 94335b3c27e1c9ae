package sched

// timeline holds the queued entities of one queue, except the running one, in
// decreasing order of vruntime, or of deadline where EEVDF rules: the leftmost (next to run) is the last element,
// so that the common cases, taking the leftmost and inserting a fresh wakee
// near it, move few elements. Equal keys keep their order of insertion.
type timeline struct {
	slots []slot
}

type slot struct {
	key int64
	se  *Entity
}

func (t *timeline) leftmost() *Entity {
	if n := len(t.slots); n > 0 {
		return t.slots[n-1].se
	}
	return nil
}

// second returns the entity after the leftmost one, or nil.
func (t *timeline) second() *Entity {
	if n := len(t.slots); n > 1 {
		return t.slots[n-2].se
	}
	return nil
}

func (t *timeline) insert(se *Entity) { t.insertAt(se.vruntime, se) }

// insertAt inserts an entity by another key than its vruntime; removeAt takes it
// out with the same.
func (t *timeline) insertAt(key int64, se *Entity) {
	i := t.firstNotAfter(key)
	t.slots = append(t.slots, slot{})
	copy(t.slots[i+1:], t.slots[i:])
	t.slots[i] = slot{key, se}
}

func (t *timeline) remove(se *Entity) { t.removeAt(se.vruntime, se) }

func (t *timeline) removeAt(key int64, se *Entity) {
	i := t.firstNotAfter(key)
	for t.slots[i].se != se {
		i++
	}
	copy(t.slots[i:], t.slots[i+1:])
	n := len(t.slots) - 1
	t.slots[n] = slot{}
	t.slots = t.slots[:n]
}

// firstNotAfter returns the lowest index whose key is at most v: the place
// where a new entity of key v goes so that it runs after its equals.
func (t *timeline) firstNotAfter(v int64) int {
	lo, hi := 0, len(t.slots)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if t.slots[mid].key > v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
