package workload

import "fmt"

// Watching is how one task waits for several channels, as select(2) lets it: it
// marks the channels in question, sleeps until one of them is readable, and
// finds only the readable ones still marked. At most one task watches a channel.

// Watch marks channel i as watched by task t, or takes the mark away.
func (cs *Channels) Watch(i int32, t TaskID, on bool) {
	c := &cs.channels[i]
	switch {
	case on:
		c.watcher = refOf(t)
	case c.watcher == refOf(t):
		c.watcher = 0
	}
}

// Watched reports whether task t watches channel i.
func (cs *Channels) Watched(i int32, t TaskID) bool { return cs.channels[i].watcher == refOf(t) }

// CountWatched returns how many of n channels from first on task t watches.
func (cs *Channels) CountWatched(first int32, n int64, t TaskID) int64 {
	count := int64(0)
	for i := range int32(n) {
		if cs.Watched(first+i, t) {
			count++
		}
	}
	return count
}

// Select is one attempt of task t: it is over when Blocked is false, and then
// leaves the mark on the readable ones of the n channels from first on.
func (cs *Channels) Select(first int32, n int64, t TaskID, out *Outcome) {
	out.reset()
	node := &cs.nodes[refOf(t)]
	set := cs.channels[first : int64(first)+n]
	if !anyReadable(set, refOf(t)) {
		node.asleep, node.selecting = true, true
		out.Blocked = true
		return
	}
	node.asleep, node.selecting = false, false
	for i := range set {
		if c := &set[i]; c.watcher == refOf(t) && !c.Readable() {
			c.watcher = 0
		}
	}
}

func anyReadable(set []Channel, watcher nodeRef) bool {
	for i := range set {
		if set[i].watcher == watcher && set[i].Readable() {
			return true
		}
	}
	return false
}

// wakeWatcher wakes the task that sleeps in a select on the channel. It keeps
// its place on the other channels' queues until it runs, so a second message
// wakes nobody. The hint is passed on as the event has it
// (ipc-and-benchmarks.md 0.2).
func (c *Channel) wakeWatcher(out *Outcome) {
	if c.watcher == 0 {
		return
	}
	if node := &c.set.nodes[c.watcher]; node.selecting && node.asleep {
		node.asleep = false
		out.Wakes = append(out.Wakes, Wake{Task: c.watcher.task(), Sync: true})
	}
}

func (p Program) validateWatch(i int, in Instr, b Bounds) error {
	if err := within("channel", int64(in.Chan), b.Channels); err != nil {
		return err
	}
	switch in.Op {
	case OpWatch:
		if in.N != 0 && in.N != 1 {
			return fmt.Errorf("%d is neither 1 (watch) nor 0 (do not)", in.N)
		}
	case OpSelect:
		if in.N < 1 || int64(in.Chan)+in.N > int64(b.Channels) {
			return fmt.Errorf("%d channels from %d on: declared are 0 to %d", in.N, in.Chan, b.Channels-1)
		}
	case OpTryRead:
		if err := validateTransfer(in, b); err != nil {
			return err
		}
		return p.validateJump(i, in)
	case OpUnlessWatched:
		return p.validateJump(i, in)
	}
	return nil
}

// validateWatchers checks that what is watched are sockets, each by one task.
func (s *Scenario) validateWatchers() error {
	watchers := make([]int, len(s.Channels)) // task number + 1
	for i := range s.Tasks {
		for _, in := range s.Programs[s.Tasks[i].Program] {
			if in.Op != OpWatch {
				continue
			}
			if s.Channels[in.Chan].Kind != UnixStream {
				return fmt.Errorf("task %d watches channel %d, a pipe: only sockets can be watched", i, in.Chan)
			}
			if other := watchers[in.Chan]; other != 0 && other != i+1 {
				return fmt.Errorf("channel %d is watched by task %d and by task %d: one task may watch a channel", in.Chan, other-1, i)
			}
			watchers[in.Chan] = i + 1
		}
	}
	return nil
}
