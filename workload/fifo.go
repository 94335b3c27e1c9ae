package workload

import "math"

// A fifo is the list of the tasks that sleep on one futex word, longest sleep
// first: all tasks of the fair class count as equal there (ipc-and-benchmarks.md
// 4.1). Its links are nodes that the tasks own, so sleeping allocates nothing.
type fifo struct {
	head, tail nodeRef
}

// syncNode is a task's place on a fifo or a stack.
type syncNode struct {
	next nodeRef // on the fifo of the word it sleeps on
	// below and word belong to a stack, on which a task can be while it sleeps.
	below nodeRef
	word  int32
}

// everybody as a number of tasks to wake means all there are.
const everybody = math.MaxInt32

func (l *fifo) empty() bool { return l.head == 0 }

func (s *Syncs) sleepOn(l *fifo, t TaskID, out *Outcome) {
	ref := refOf(t)
	s.nodes[ref].next = 0
	if l.tail == 0 {
		l.head = ref
	} else {
		s.nodes[l.tail].next = ref
	}
	l.tail = ref
	out.Blocked = true
}

// wakeUp is one FUTEX_WAKE call. Its wakes do not carry the sync hint.
func (s *Syncs) wakeUp(l *fifo, n int64, out *Outcome) {
	out.Calls++
	for ; n > 0 && l.head != 0; n-- {
		ref := l.head
		l.head = s.nodes[ref].next
		out.Wakes = append(out.Wakes, Wake{Task: ref.task()})
	}
	if l.head == 0 {
		l.tail = 0
	}
}

// moveAll appends the sleepers of one list to another without waking them.
func (s *Syncs) moveAll(to, from *fifo) {
	if from.head == 0 {
		return
	}
	if to.tail == 0 {
		to.head = from.head
	} else {
		s.nodes[to.tail].next = from.head
	}
	to.tail = from.tail
	*from = fifo{}
}
