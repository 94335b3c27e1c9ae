package explain

import (
	"github.com/schedlab/schedlab/sched"
	"github.com/schedlab/schedlab/trace"
)

// A CPU that loses its turn (see turns.go) between the entry and the return of
// a placement looks at the other CPUs partly before, as they were at the entry,
// and partly after, as they have become meanwhile.

// usualTimes is, by kind, how long the placements of a recording take that were
// not held up, in ns; 0: none has been seen.
type usualTimes [3]int64

// learn takes one placement into the moving average.
func (u *usualTimes) learn(kind sched.Kind, took int64) {
	if u[kind] == 0 {
		u[kind] = took
		return
	}
	u[kind] += (took - u[kind]) / 8
}

// mostlyAfter reports whether the larger part of a placement was done after the
// CPU had its turn back. It did not take longer than that since then, left; and it
// had gone on at least until the next tick, toTick after its entry, if the turn
// was lost then: a placement that was further from the tick would have been over.
func (u *usualTimes) mostlyAfter(kind sched.Kind, left, toTick int64) bool {
	usual := u[kind]
	return left > usual/2 && (toTick <= usual/2 || toTick >= usual)
}

// askLate asks again, at the return of a placement, when most of it was done
// just before.
func (r *replay) askLate(a *ask, e *trace.Event) {
	switch {
	case !r.turns.taken:
	case !a.lostTurn:
		r.usual.learn(a.Kind, e.Time-a.time)
	case r.usual.mostlyAfter(a.Kind, e.Time-r.turns.resumed, r.turns.tickAfter(a.time)-a.time):
		a.predicted = r.f.AskAgain(&a.Question, &a.record)
		a.event = r.result.Events - 1
		if a.story != nil {
			a.story = r.tell(a)
		}
	}
}
