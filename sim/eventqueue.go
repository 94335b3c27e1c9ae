package sim

import "math"

// never is the time of an event that is not going to happen.
const never = math.MaxInt64

// Times share a word with the CPU they belong to: 51 bits of nanoseconds (26
// days) above 12 bits of rank.
const (
	rankBits   = 12
	latestTime = 1<<(63-rankBits) - 1
)

// eventQueue is a tournament over the CPUs: each CPU has the time of its next
// event, and the root knows the earliest. A CPU's rank, which breaks ties,
// stands in the low bits of its key, so that a match is one minimum of two
// words. Moving one CPU's event costs one match per level; that matters
// because SMT siblings move each other's all the time.
type eventQueue struct {
	leaves int
	keys   []int64 // 1 is the root; the leaf of rank r is leaves+r
	rankOf []int32 // by CPU
	cpuOf  []int32 // by rank
}

// newEventQueue makes a queue for len(order) CPUs; order[i] is the CPU that
// wins ties against all order[j>i].
func newEventQueue(order []int) *eventQueue {
	leaves := 2
	for leaves < len(order) {
		leaves *= 2
	}
	q := &eventQueue{
		leaves: leaves, keys: make([]int64, 2*leaves),
		rankOf: make([]int32, len(order)), cpuOf: make([]int32, leaves),
	}
	for i := range q.keys {
		q.keys[i] = never
	}
	for rank, cpu := range order {
		q.rankOf[cpu], q.cpuOf[rank] = int32(rank), int32(cpu)
	}
	return q
}

// next returns the CPU with the earliest event and its time, never if there
// is none.
func (q *eventQueue) next() (cpu int32, at int64) {
	key := q.keys[1]
	if key == never {
		return 0, never
	}
	return q.cpuOf[key&(1<<rankBits-1)], key >> rankBits
}

// set moves the CPU's next event to at. Times beyond latestTime count as never.
func (q *eventQueue) set(cpu int32, at int64) {
	rank := q.rankOf[cpu]
	key := int64(never)
	if at <= latestTime {
		key = at<<rankBits | int64(rank)
	}
	keys := q.keys
	i := q.leaves + int(rank)
	for ; i > 1; i >>= 1 {
		keys[i] = key
		key = min(key, keys[i^1])
	}
	keys[1] = key
}
