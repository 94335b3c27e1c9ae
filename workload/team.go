package workload

// Threads that wait by spinning: the barrier of GCC's OpenMP library, and words
// that two threads pass back and forth (ipc-and-benchmarks.md 4.6, 4.7).
//
// A team barrier counts who has arrived. The last one begins the next round and
// then always calls FUTEX_WAKE. The others look at the round so many times, and
// sleep on it if it has not changed by then; how long they look is work of
// their own, not time of the clock, so being preempted meanwhile costs no turns.
//
// A flag is spun for without end.

// TeamArrive counts a thread in and reports whether it was the last. If not,
// round is what it waits to see changed.
func (s *Syncs) TeamArrive(i int32, out *Outcome) (round int32, last bool) {
	out.reset()
	o := &s.objects[i]
	round = o.round
	o.value++
	if o.value < o.limit {
		return round, false
	}
	o.value = 0
	o.round++
	s.wakeUp(&o.waiters, everybody, out)
	return round, true
}

// TeamReleased reports whether a round is over.
func (s *Syncs) TeamReleased(i, round int32) bool { return s.objects[i].round != round }

// TeamWait sleeps until a round is over, if it is not. After its wake it is.
func (s *Syncs) TeamWait(i, round int32, t TaskID, out *Outcome) {
	out.reset()
	out.Calls++
	if !s.TeamReleased(i, round) {
		s.sleepOn(&s.objects[i].waiters, t, out)
	}
}

// HandOver sets a flag that holds one value to another, and reports whether it
// did.
func (s *Syncs) HandOver(i int32, from, to int64) bool {
	o := &s.objects[i]
	if int64(o.value) != from {
		return false
	}
	o.value = int32(to)
	return true
}

// Spins reports whether the operation waits by spinning on an object.
func (op Op) Spins() bool { return op == OpTeamMeet || op == OpHandOver }

const (
	// maxSpinTurns is what the library spins with OMP_WAIT_POLICY=active.
	maxSpinTurns = 30_000_000_000
)
