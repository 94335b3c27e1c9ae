// Package timeline derives from the events of a recording what threads and CPUs
// did over time: when each thread ran, waited for a CPU (and behind whom) and
// slept, how many were queued on each CPU and cache, and how deep idle CPUs
// slept.
//
// What a switch, a wakeup, a migration, a fork, an end and a loss mean is said here
// once for those who show it: package export writes intervals, waits and depths;
// from changes, package occupancy counts what each CPU has to do and package serve
// draws.
//
// It is a stream: a [Follower] is shown one event after the other and calls back
// with what has become certain. It holds as much as there are threads and CPUs,
// never the events.
//
//	f := timeline.NewFollower()
//	f.OnInterval = func(i *timeline.Interval) { ... }
//	err := trace.Each(reader, func(e *trace.Event) error { f.Observe(e); return nil })
//	f.Finish()
//
// What a recording does not tell is left open and not guessed: a thread is
// [Unseen] until an event says what it does, after events were lost, and from
// where two events contradict each other.
package timeline
