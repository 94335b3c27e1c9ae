package trace

// Thread is a thread of a recording. PIDs are reused, so a thread is a PID and
// the number of threads that had it before. The idle tasks all have PID 0; their
// incarnation is their CPU.
type Thread struct {
	PID         int32
	Incarnation int32
}

// Threads tells which thread a PID means at each point of a recording.
type Threads struct {
	lives map[int32]*threadLife
}

// threadLife is what is known of the present holder of a PID.
type threadLife struct {
	incarnation int32
	forked      bool // its birth was seen, and not yet its first wakeup
	gone        bool // its end was seen
}

// NewThreads returns an empty table.
func NewThreads() *Threads { return &Threads{lives: make(map[int32]*threadLife)} }

// Observe follows births and deaths. Call it with every event, in order, before
// asking for the threads that the event names.
func (t *Threads) Observe(e *Event) {
	switch e.Kind {
	case KindFork:
		t.born(e.small(3), true)
	case KindWakeupNew:
		t.firstWakeup(e.small(1))
	case KindExit, KindFree:
		if life := t.lives[e.small(1)]; life != nil {
			life.gone = true
		} else {
			t.meet(e.small(1)).gone = true
		}
	}
}

// Of returns the thread that has pid now; cpu tells the idle tasks apart.
func (t *Threads) Of(pid, cpu int32) Thread {
	if pid == 0 {
		return Thread{PID: 0, Incarnation: cpu}
	}
	return Thread{PID: pid, Incarnation: t.meet(pid).incarnation}
}

// Len returns how many PIDs have been met.
func (t *Threads) Len() int { return len(t.lives) }

func (t *Threads) meet(pid int32) *threadLife {
	life := t.lives[pid]
	if life == nil {
		life = &threadLife{}
		t.lives[pid] = life
	}
	return life
}

// born starts a new holder of a PID. A PID that is met for the first time has
// incarnation 0; so has a child whose fork is the first that one sees of it.
func (t *Threads) born(pid int32, forked bool) {
	if pid <= 0 {
		return
	}
	life := t.lives[pid]
	if life == nil {
		t.meet(pid).forked = forked
		return
	}
	*life = threadLife{incarnation: life.incarnation + 1, forked: forked}
}

// firstWakeup belongs to the fork before it; without one, the fork was lost.
func (t *Threads) firstWakeup(pid int32) {
	if life := t.lives[pid]; life != nil && life.forked {
		life.forked = false
		return
	}
	t.born(pid, false)
}
