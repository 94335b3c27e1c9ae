// Package explain judges the scheduler's rules by recordings of real kernels.
//
// A recording is a folder, a [Bundle]: the trace, the machine, the features and
// tunables in force, the control groups. [Run] follows the trace event by event
// on a model of that machine ([sched.Follower]). At each placement that the
// kernel made it asks the model, in the state that the kernel saw, where it
// would have placed the task; counts whether both agree; and follows the
// kernel. What disagrees is sorted by cause: see cause.go. The same is done with
// the kernel's balance passes and its verdicts on single tasks: see balance.go.
package explain
