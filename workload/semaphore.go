package workload

// A POSIX semaphore as glibc 2.21 and later have it: a count, and how many wait
// for it to be more than 0. A post is remembered: it adds 1 and enters the
// kernel only if somebody waits. Who was woken competes with whoever comes by
// meanwhile, and sleeps again if that one was faster.

// SemPost adds 1 to a semaphore and wakes the longest sleeper.
func (s *Syncs) SemPost(i int32, out *Outcome) {
	out.reset()
	o := &s.objects[i]
	o.value++
	if o.limit > 0 {
		s.wakeUp(&o.waiters, 1, out)
	}
}

// SemWait takes 1 from a semaphore, sleeping until it has any.
func (s *Syncs) SemWait(i int32, t TaskID, resumed bool, out *Outcome) {
	out.reset()
	o := &s.objects[i]
	if !resumed {
		o.limit++
	}
	if o.value > 0 {
		o.value--
		o.limit--
		return
	}
	out.Calls++
	s.sleepOn(&o.waiters, t, out)
}
