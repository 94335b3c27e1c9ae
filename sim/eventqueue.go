package sim

import "math"

// never is the time of an event that is not going to happen.
const never = math.MaxInt64

// eventQueue is a tournament over the CPUs: each CPU has the time of its next
// event, and the root knows the earliest. Moving one CPU's event costs one
// comparison per level, which matters because SMT siblings move each other's
// all the time. Equal times are won by the CPU with the lower leaf.
type eventQueue struct {
	leaves int
	nodes  []contender // 1 is the root; leaf i is leaves+i
	leafOf []int32     // by CPU: the order that breaks ties
}

type contender struct {
	at  int64
	cpu int32
}

// newEventQueue makes a queue for len(order) CPUs; order[i] is the CPU that
// wins ties against all order[j>i].
func newEventQueue(order []int) *eventQueue {
	leaves := 1
	for leaves < len(order) {
		leaves *= 2
	}
	q := &eventQueue{leaves: leaves, nodes: make([]contender, 2*leaves), leafOf: make([]int32, len(order))}
	for i := range q.nodes {
		q.nodes[i] = contender{never, -1}
	}
	for i, cpu := range order {
		q.leafOf[cpu] = int32(i)
		q.nodes[leaves+i].cpu = int32(cpu)
	}
	for i := leaves - 1; i >= 1; i-- {
		q.nodes[i] = q.nodes[2*i]
	}
	return q
}

// next returns the CPU with the earliest event and its time.
func (q *eventQueue) next() (cpu int32, at int64) { return q.nodes[1].cpu, q.nodes[1].at }

// set moves the CPU's next event to at.
func (q *eventQueue) set(cpu int32, at int64) {
	i := q.leaves + int(q.leafOf[cpu])
	nodes := q.nodes
	if nodes[i].at == at {
		return
	}
	nodes[i].at = at
	for i > 1 {
		i >>= 1
		l, r := nodes[2*i], nodes[2*i+1]
		if r.at < l.at {
			l = r
		}
		if nodes[i] == l {
			return
		}
		nodes[i] = l
	}
}
