// Package occupancy reads from a recording what every CPU had to do at each
// moment: nothing, tasks that should not count, one task, or more than it can
// run at once.
package occupancy
