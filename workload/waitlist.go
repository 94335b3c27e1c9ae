package workload

// A waitList is a kernel wait queue as an intrusive doubly linked list: its
// entries are the wait nodes of the sleeping tasks, so that sleeping and waking
// allocate nothing. The order rules are those of ipc-and-benchmarks.md 0.1.
type waitList struct {
	head, tail nodeRef
}

// nodeRef names the wait node of a task: TaskID+1. The zero value is nobody,
// and node 0 of the slab is never used.
type nodeRef int32

func refOf(t TaskID) nodeRef    { return nodeRef(t + 1) }
func (r nodeRef) task() TaskID  { return TaskID(r) - 1 }
func (l *waitList) empty() bool { return l.head == 0 }

// waitMode is how a task waits, which decides its place in the list and what a
// wake call does to it.
type waitMode uint8

const (
	// waitAll: at the head, newest first; every wake call wakes it and unlinks
	// it, whatever the event.
	waitAll waitMode = iota
	// waitExclusive: at the tail, oldest first; a wake call wakes and unlinks
	// the first one and stops there.
	waitExclusive
	// waitPoll: at the head; woken by the data event only, and linked until
	// its poll returns.
	waitPoll
)

// waitNode is the wait queue entry of one task, which sleeps on one list at a
// time.
type waitNode struct {
	next, prev nodeRef
	mode       waitMode
	// asleep is false for a poller that was woken and has not run yet.
	asleep bool
	// linked is whether the node is on a list.
	linked bool
	// selecting: asleep in a select, on all channels that the task watches.
	selecting bool
	// partial is kept by a shared pipe: the reader that sleeps already has a
	// part of its bytes.
	partial bool
	// freed is kept by a shared pipe: the reader that sleeps has freed a slot.
	freed bool
}

// event is what a wake call announces.
type event uint8

const (
	dataReady event = iota
	spaceReady
)

// sleep puts a task to sleep on a list. A poller that is still linked keeps
// its place.
func (s *Channels) sleep(l *waitList, t TaskID, mode waitMode) {
	ref := refOf(t)
	node := &s.nodes[ref]
	node.asleep = true
	if node.linked {
		return
	}
	node.mode, node.linked = mode, true
	if mode == waitExclusive {
		node.prev, node.next = l.tail, 0
		if l.tail != 0 {
			s.nodes[l.tail].next = ref
		} else {
			l.head = ref
		}
		l.tail = ref
		return
	}
	node.prev, node.next = 0, l.head
	if l.head != 0 {
		s.nodes[l.head].prev = ref
	} else {
		l.tail = ref
	}
	l.head = ref
}

// unlink takes a task off its list, if it is on one.
func (s *Channels) unlink(l *waitList, t TaskID) {
	node := &s.nodes[refOf(t)]
	if !node.linked {
		return
	}
	if node.prev != 0 {
		s.nodes[node.prev].next = node.next
	} else {
		l.head = node.next
	}
	if node.next != 0 {
		s.nodes[node.next].prev = node.prev
	} else {
		l.tail = node.prev
	}
	node.linked, node.asleep = false, false
}

// wake performs one wake call with room for one exclusive waiter, appending
// the sleepers it wakes to out. Pipe and AF_UNIX wakes all carry the sync hint
// (ipc-and-benchmarks.md 0.2).
func (s *Channels) wake(l *waitList, ev event, out *Outcome) {
	for ref := l.head; ref != 0; {
		node := &s.nodes[ref]
		next := node.next
		switch node.mode {
		case waitPoll:
			if ev == dataReady && node.asleep {
				node.asleep = false
				out.Wakes = append(out.Wakes, Wake{Task: ref.task(), Sync: true})
			}
		case waitAll:
			s.unlink(l, ref.task())
			out.Wakes = append(out.Wakes, Wake{Task: ref.task(), Sync: true})
		case waitExclusive:
			s.unlink(l, ref.task())
			out.Wakes = append(out.Wakes, Wake{Task: ref.task(), Sync: true})
			return
		}
		ref = next
	}
}
