// Package occupancy reads from a recording what every CPU had to do at each
// moment: nothing, tasks that should not count, one task, or more than it can
// run at once.
//
// Who is queued and who runs is told by package timeline. What is added here, and
// read from events of its own, is which of these tasks count: SCHED_IDLE by policy
// or group, allowed on several CPUs, in a throttled group. While a recording does
// not tell what a CPU runs, the CPU counts as idle.
package occupancy
