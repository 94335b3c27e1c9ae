// Package capture records what a real Linux kernel's scheduler does while a
// command runs, as a bundle that package explain reads: the trace with probes
// on placement and balancing, the machine, the settings in force, the control
// groups, and the scheduler's counters before and after.
//
// It works on the files of tracefs, debugfs, procfs and sysfs alone. All
// tracing happens in an instance of its own, so that nobody else's tracing is
// disturbed, and everything that is changed is changed back in reverse order,
// whatever fails in between. What a killed capture could not change back is
// found by the next one, by the name of its instance.
package capture
