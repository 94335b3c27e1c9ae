package workload

import "github.com/schedlab/schedlab/rtapp"

// rtBarrier is rt-app's own barrier: a count of those who are still expected
// besides the last one, with a mutex and a condition.
type rtBarrier struct {
	waiting, mutex, cond int32
}

// resources declares what the events name: a mutex, a condition and so on come
// into being where a name first stands.
func (b *rtBuilder) resources() error {
	b.always = b.sync(SyncSpec{Kind: Word})
	var err error
	b.eachEvent(func(_ *rtapp.Task, e *rtapp.Event) {
		if err == nil {
			err = b.pairCondition(e)
		}
	})
	if err != nil {
		return err
	}
	expected := map[string]int32{}
	b.eachEvent(func(t *rtapp.Task, e *rtapp.Event) {
		b.declare(e)
		if e.Kind == rtapp.Barrier {
			expected[e.Ref] += int32(t.Instances)
			b.s.Syncs[b.barriers[e.Ref].waiting].Value = expected[e.Ref] - 1
		}
	})
	return nil
}

func (b *rtBuilder) eachEvent(visit func(*rtapp.Task, *rtapp.Event)) {
	for i := range b.file.Tasks {
		t := &b.file.Tasks[i]
		for j := range t.Phases {
			events := t.Phases[j].Events
			for k := range events {
				visit(t, &events[k])
			}
		}
	}
}

// pairCondition notes the mutex that a condition is waited for with. POSIX
// leaves open what two of them do at once.
func (b *rtBuilder) pairCondition(e *rtapp.Event) error {
	mutex := e.Mutex
	switch e.Kind {
	case rtapp.Wait, rtapp.Sync:
	case rtapp.Suspend:
		mutex = e.Ref
	default:
		return nil
	}
	if have, known := b.condMutex[e.Ref]; known && have != mutex {
		return b.file.ErrorAt(e.Pos, "condition %q is waited for with mutex %q here and with %q elsewhere; one condition takes one mutex", e.Ref, mutex, have)
	}
	b.condMutex[e.Ref] = mutex
	return nil
}

func (b *rtBuilder) declare(e *rtapp.Event) {
	switch e.Kind {
	case rtapp.Lock, rtapp.Unlock:
		b.mutex(e.Ref)
	case rtapp.Wait, rtapp.Sync, rtapp.Signal, rtapp.Broadcast:
		b.cond(e.Ref)
	case rtapp.Suspend, rtapp.Resume:
		b.mutex(e.Ref)
		b.cond(e.Ref)
	case rtapp.SemPost, rtapp.SemWait:
		if _, known := b.sems[e.Ref]; !known {
			b.sems[e.Ref] = b.sync(SyncSpec{Kind: Semaphore})
		}
	case rtapp.Barrier:
		if _, known := b.barriers[e.Ref]; !known {
			mutex := b.sync(SyncSpec{Kind: Mutex})
			b.barriers[e.Ref] = rtBarrier{b.sync(SyncSpec{Kind: Word}), mutex, b.sync(SyncSpec{Kind: Cond, Mutex: mutex})}
		}
	}
}

func (b *rtBuilder) mutex(name string) int32 {
	i, known := b.mutexes[name]
	if !known {
		i = b.sync(SyncSpec{Kind: Mutex})
		b.mutexes[name] = i
	}
	return i
}

// cond is a condition; one that nobody waits for gets a mutex of its name.
func (b *rtBuilder) cond(name string) int32 {
	i, known := b.conds[name]
	if !known {
		mutex, waited := b.condMutex[name]
		if !waited {
			mutex = name
		}
		i = b.sync(SyncSpec{Kind: Cond, Mutex: b.mutex(mutex)})
		b.conds[name] = i
	}
	return i
}

// timer is the timer of an event: of all threads, or of this one.
func (b *rtBuilder) timer(e *rtapp.Event, own map[string]int32) int32 {
	names := b.shared
	if e.Unique {
		names = own
	}
	i, known := names[e.Ref]
	if !known {
		i = int32(len(b.s.Timers))
		b.s.Timers = append(b.s.Timers, TimerSpec{})
		names[e.Ref] = i
	}
	if e.Absolute {
		b.s.Timers[i].Absolute = true
	}
	return i
}

// group is the number of a control group.
func (b *rtBuilder) group(path string) int32 {
	i, known := b.groups[path]
	if !known {
		i = int32(len(b.s.Groups))
		b.s.Groups = append(b.s.Groups, path)
		b.groups[path] = i
	}
	return i
}

// cpuSet is the number of a set of CPUs; nil is where a thread may run at first.
func (b *rtBuilder) cpuSet(cpus []int) int32 {
	b.s.CPUSets = append(b.s.CPUSets, cpus)
	return int32(len(b.s.CPUSets) - 1)
}
