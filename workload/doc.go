// Package workload holds what runs on a simulated machine: programs of tasks,
// the pipes and sockets through which tasks put each other to sleep and wake
// each other up, and the benchmarks written in them.
//
// The package knows neither scheduler nor simulator. A [Benchmark] builds a
// [Scenario] (programs, tasks, channels); a simulator executes the programs
// and asks the [Channels] of the scenario what each read, write and poll does:
// how many bytes move, who is woken in which order, and whether the caller
// must sleep. When the run has ended it hands an [Observation] back to the
// benchmark, which reports it the way the real tool does.
//
// Nothing here depends on time, goroutines or map order: the same calls give
// the same outcomes.
package workload
