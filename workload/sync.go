package workload

// SyncKind is the kind of a synchronisation object.
type SyncKind uint8

// The synchronisation objects. Each is one futex word, or a few, with the
// library code that uses it (ipc-and-benchmarks.md 4).
const (
	// Word is a bare futex word with a value.
	Word SyncKind = iota
	// Mutex is a normal pthread mutex: 0 free, 1 locked, 2 locked and perhaps
	// waited for.
	Mutex
	// Cond is a condition variable of glibc 2.25 or later: a broadcast wakes
	// every waiter, and they meet again at the mutex.
	Cond
	// RequeueCond is a condition variable of an older glibc: a broadcast wakes
	// one waiter and moves the others to the mutex.
	RequeueCond
	// Barrier is a pthread barrier.
	Barrier
	// Stack is a lock-free list of tasks that wait to be posted, newest first.
	Stack
	// Semaphore is a POSIX semaphore: see semaphore.go.
	Semaphore
	// SpinLock is a lock that is spun for (see OpSpinLocked).
	SpinLock
	// TeamBarrier is a barrier of an OpenMP team: see team.go.
	TeamBarrier
	// Flag is a word that threads spin for and pass on (see OpHandOver).
	Flag
	numSyncKinds
)

// SyncSpec declares one synchronisation object.
type SyncSpec struct {
	Kind SyncKind
	// Value is what a Word, a Flag or a Semaphore holds at first, and how many
	// tasks meet at a Barrier or a TeamBarrier.
	Value int32
	// Mutex is, for the two conditions, the object that protects them.
	Mutex int32
}

// The values of a mutex.
const (
	mutexFree      = 0
	mutexLocked    = 1
	mutexContended = 2
)

// The values of a word that is used with Post and Await.
const (
	wordBlocked = 0
	wordPosted  = 1
)

// Syncs is the state of all synchronisation objects of a scenario. Each method
// is one attempt of a running task, as those of [Channel] are: it changes the
// object, lists whom it wakes, and says whether the caller sleeps. A caller
// that slept repeats the same call, with resumed set, after its wake.
type Syncs struct {
	objects []syncObject
	nodes   []syncNode // of task i at i+1
}

type syncObject struct {
	value   int32 // of the word; how many have arrived at a barrier
	limit   int32 // how many meet at a barrier, wait for a semaphore
	mutex   int32 // of a condition
	round   int32 // of a team barrier: how many are over
	kind    SyncKind
	waiters fifo
	stack   taskStack
}

// NewSyncs returns the objects of s in their first state.
func NewSyncs(s *Scenario) *Syncs {
	set := &Syncs{objects: make([]syncObject, len(s.Syncs)), nodes: make([]syncNode, len(s.Tasks)+1)}
	for i, spec := range s.Syncs {
		o := &set.objects[i]
		*o = syncObject{kind: spec.Kind, mutex: spec.Mutex}
		switch spec.Kind {
		case Word, Semaphore, Flag:
			o.value = spec.Value
		case Barrier, TeamBarrier:
			o.limit = spec.Value
		}
	}
	return set
}

// Value returns what the word of object i holds.
func (s *Syncs) Value(i int32) int32 { return s.objects[i].value }

// Store sets a word without looking for waiters.
func (s *Syncs) Store(i int32, value int32) { s.objects[i].value = value }

// CountTo adds 1 to a word and reports whether it holds n then.
func (s *Syncs) CountTo(i int32, n int64) bool {
	s.objects[i].value++
	return int64(s.objects[i].value) == n
}

// FutexWait sleeps if the word still holds value. After its wake the call is
// over, whatever the word holds then.
func (s *Syncs) FutexWait(i int32, t TaskID, value int32, resumed bool, out *Outcome) {
	out.reset()
	if resumed {
		return
	}
	out.Calls++
	if o := &s.objects[i]; o.value == value {
		s.sleepOn(&o.waiters, t, out)
	}
}

// FutexWake wakes up to n tasks that sleep on the word, longest sleep first.
func (s *Syncs) FutexWake(i int32, n int64, out *Outcome) {
	out.reset()
	s.wakeUp(&s.objects[i].waiters, n, out)
}

// Post sets a blocked word and wakes its owner; a word that is already posted
// is left alone without a call into the kernel.
func (s *Syncs) Post(i int32, out *Outcome) {
	out.reset()
	s.post(i, out)
}

func (s *Syncs) post(i int32, out *Outcome) {
	if o := &s.objects[i]; o.value == wordBlocked {
		o.value = wordPosted
		s.wakeUp(&o.waiters, 1, out)
	}
}

// Await takes a post, sleeping until there is one.
func (s *Syncs) Await(i int32, t TaskID, out *Outcome) {
	out.reset()
	o := &s.objects[i]
	if o.value == wordPosted {
		o.value = wordBlocked
		return
	}
	out.Calls++
	s.sleepOn(&o.waiters, t, out)
}

// Lock takes a mutex. There is no hand-off: a task that was woken competes
// with whoever runs, and marks the mutex as contended for good measure, since
// it cannot know whether others still sleep.
func (s *Syncs) Lock(i int32, t TaskID, resumed bool, out *Outcome) {
	out.reset()
	o := &s.objects[i]
	if !resumed && o.value == mutexFree {
		o.value = mutexLocked
		return
	}
	s.lockContended(o, t, out)
}

func (s *Syncs) lockContended(o *syncObject, t TaskID, out *Outcome) {
	before := o.value
	o.value = mutexContended
	if before == mutexFree {
		return
	}
	out.Calls++
	s.sleepOn(&o.waiters, t, out)
}

// Unlock frees a mutex and wakes one task if any may wait.
func (s *Syncs) Unlock(i int32, out *Outcome) {
	out.reset()
	s.unlock(&s.objects[i], out)
}

func (s *Syncs) unlock(o *syncObject, out *Outcome) {
	before := o.value
	o.value = mutexFree
	if before == mutexContended {
		s.wakeUp(&o.waiters, 1, out)
	}
}

// CondWait frees the condition's mutex, sleeps until a signal, and takes the
// mutex again.
func (s *Syncs) CondWait(i int32, t TaskID, resumed bool, out *Outcome) {
	out.reset()
	o := &s.objects[i]
	if resumed {
		s.lockContended(&s.objects[o.mutex], t, out)
		return
	}
	s.unlock(&s.objects[o.mutex], out)
	out.Calls++
	s.sleepOn(&o.waiters, t, out)
}

// Signal wakes the condition's longest waiter.
func (s *Syncs) Signal(i int32, out *Outcome) {
	out.reset()
	if o := &s.objects[i]; !o.waiters.empty() {
		s.wakeUp(&o.waiters, 1, out)
	}
}

// Broadcast wakes all waiters of the condition, or, with the old library, one
// of them, and lets each unlock of the mutex wake the next.
func (s *Syncs) Broadcast(i int32, out *Outcome) {
	out.reset()
	o := &s.objects[i]
	if o.waiters.empty() {
		return
	}
	if o.kind == Cond {
		s.wakeUp(&o.waiters, everybody, out)
		return
	}
	s.wakeUp(&o.waiters, 1, out)
	s.moveAll(&s.objects[o.mutex].waiters, &o.waiters)
}

// Meet arrives at a barrier. The last of a round wakes the others, in the
// order in which they came.
func (s *Syncs) Meet(i int32, t TaskID, resumed bool, out *Outcome) {
	out.reset()
	if resumed {
		return
	}
	o := &s.objects[i]
	o.value++
	if o.value < o.limit {
		out.Calls++
		s.sleepOn(&o.waiters, t, out)
		return
	}
	o.value = 0
	if o.limit > 1 {
		s.wakeUp(&o.waiters, everybody, out)
	}
}
