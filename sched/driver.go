package sched

// Driver is what the scheduler wants from whoever drives it. The calls come
// from inside a scheduler call and must only take note; the driver acts after
// that call has returned.
type Driver interface {
	// Resched: cpu should call [Scheduler.Schedule] as soon as its preemption
	// model allows. The CPU's need_resched flag is set.
	Resched(cpu int)
	// WakeIPI: cpu has tasks on its wake list and should call
	// [Scheduler.HandleWakeList].
	WakeIPI(cpu int)
	// NohzKick: idle cpu should call [Scheduler.NohzBalance] on behalf of the
	// other tickless CPUs.
	NohzKick(cpu int)
	// StopperKick: cpu should interrupt its task and call
	// [Scheduler.ActiveBalance].
	StopperKick(cpu int)
	// BalanceSoftirq: cpu should call [Scheduler.BalanceSoftirq] when its
	// current interrupt ends.
	BalanceSoftirq(cpu int)
	// ArmTimer: cpu should call [Scheduler.ExpireTimer] at the time at, in ns, or
	// soon after. A timer is armed again only when it has expired.
	ArmTimer(cpu int, at int64, t *Timer)
	// UnthrottleIPI: cpu has queues that may run again and should call
	// [Scheduler.HandleUnthrottle].
	UnthrottleIPI(cpu int)
	// ThrottleWork: cpu should call [Scheduler.ThrottleCurrent] when its running
	// task next returns to user mode.
	ThrottleWork(cpu int)
	// ArmSliceEnd: cpu should call [Scheduler.SliceEnd] at the time at, in ns, and
	// not at the time that it was told before; 0: not at all (HRTICK).
	ArmSliceEnd(cpu int, at int64)
}
